#!/usr/bin/env python3
"""How time and memory grow with what is written: near 1 is linear.

    python3 tests/bench/scale.py CUTEC [--only PART,...] [--runs N] [--limit SECONDS] [--least MS] [--enough MS]
    python3 tests/bench/scale.py CUTEC --text DIMENSION N     (the text that it gives to the command)

Each dimension is a text in which one thing is there n times, given to the command with n doubled until it takes long
enough. Printed are time of the processor (least of the runs) and peak memory, without those of the command with n = 1,
their exponents from the last doubling (1: twice as much for twice the text; 2: four times), and those of the stages
that `--time` tells, where they take a while. "-" is too little to tell. A refusal ends the doubling and is shown.
"""
import argparse
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

DIMENSIONS = {}
MOST = 1 << 17     # of anything
IR = ("compile", "--emit=ir=/dev/null", "--time")
PTX = ("compile", "--emit=ptx=/dev/null", "--time")
AST = ("compile", "--emit=ast=/dev/null")
TEST = ("test", "--device=cpu")
LAYOUT = ("layout", "--check")


def dimension(command, n, args=()):
    """A dimension of the name of the function: text of n things, by `command`, from n on."""
    def add(f):
        DIMENSIONS[f.__name__] = (f, command, n, tuple(args))
        return f
    return add


def each(n, line, sep="\n"):
    """line for 0 ... n - 1, with {i}, and {p} for i - 1."""
    return sep.join(line.replace("{i}", str(i)).replace("{p}", str(i - 1)) for i in range(n))


def kernel(body, host="", params="x: tensor(f32, N)", block=128, head="", grid="8", target=""):
    return "%s\nkernel k(%s) %s\n{\n%s\nlaunch grid(%s) block(%s)\n{\nlet t = thread_idx.x;\n%s\n}\n}\n" % (
        head, params, target, host, grid, block, body)


# ---- texts ------------------------------------------------------------------------------------------------------------

@dimension(AST, 20000)
def comment_bytes(n):
    return "/* " + "x" * 10 * n + " */" + kernel("x[t] = 1;")


@dimension(IR, 20000)
def comments(n):
    return each(n, "// number {i}") + kernel("x[t] = 1;")


@dimension(IR, 20000)
def string_bytes(n):
    return kernel("assert(size(x) > 0, \"%s\"); x[t] = 1;" % ("y" * 10 * n))


@dimension(IR, 2000)
def strings(n):
    return kernel(each(n, "assert(size(x) > {i}, \"number {i}\");") + "x[t] = 1;")


@dimension(AST, 2000)
def one_line(n):
    return kernel(each(n, "let a{i} = t + {i};", " ") + "x[t] = 1;")


@dimension(IR, 2000)
def digits(n):
    return kernel("x[t] = 0.%s1;" % ("0" * 10 * n))


@dimension(("fmt",), 5000)
def format(n):
    return kernel(each(n, "let a{i}  =  t+{i} ; // number {i}") + "x[t] = 1;")


@dimension(IR, 1000)
def errors_syntax(n):
    return kernel(each(n, "let = {i};") + "x[t] = 1;")


@dimension(IR, 1000)
def errors_names(n):
    return kernel(each(n, "let a{i} = nobody{i};") + "x[t] = 1;")


@dimension(IR, 1000)
def errors_types(n):
    return kernel(each(n, "let a{i} = f32(t) + f16(t);") + "x[t] = 1;")


@dimension(IR, 500)
def errors_one_line(n):
    return kernel(each(n, "let a{i} = nobody{i};", " ") + "x[t] = 1;")


@dimension(IR + ("-Wunused",), 1000)
def warnings(n):
    return kernel(each(n, "let a{i} = {i};") + "x[t] = 1;")


# ---- declarations -----------------------------------------------------------------------------------------------------

@dimension(IR, 2000)
def functions(n):
    return each(n, "fn g{i}(a) => a + {i};") + kernel("x[g%d(t)] = 1;" % (n - 1))


@dimension(IR, 2000)
def functions_called(n):
    return each(n, "fn g{i}(a) => a + {i};") + kernel(each(n, "x[g{i}(t)] = 1;"))


@dimension(IR, 20)
def calls_nested(n):
    return "fn f0(a) => a;\n" + each(n, "fn g{i}(a) => %s;") % tuple(
        ["f0(a) + 1"] + ["g%d(a) + 1" % i for i in range(n - 1)]) + kernel("x[g%d(t)] = 1;" % (n - 1))


@dimension(IR, 2000)
def consts(n):
    return each(n, "const c{i} = {i} * 2;") + kernel("x[t] = c%d;" % (n - 1))


@dimension(IR, 2000)
def consts_used(n):
    return each(n, "const c{i} = {i} * 2;") + kernel(each(n, "x[t + {i}] = c{i};"))


@dimension(IR, 50)
def consts_chained(n):
    return "const c0 = 1;\n" + "\n".join("const c%d = c%d + 1;" % (i, i - 1) for i in range(1, n)) + kernel(
        "x[t] = c%d;" % (n - 1))


@dimension(IR, 50)
def kernels(n):
    return "\n".join(kernel("x[t] = %d;" % i).replace("kernel k", "kernel k%d" % i) for i in range(n))


@dimension(IR, 1000, ("-k", "k0"))
def kernels_one_made(n):
    return "\n".join(kernel("x[t] = %d;" % i).replace("kernel k", "kernel k%d" % i) for i in range(n))


@dimension(PTX, 25)
def kernels_ptx(n):
    return "\n".join(kernel("x[t] = %d;" % i).replace("kernel k", "kernel k%d" % i) for i in range(n))


@dimension(IR, 25)
def members(n):
    return "\n".join(kernel("x[t] = %d;" % i, params="x: tensor(f32, N)", target="where N %% %d == 0" % (n + 1 - i))
                     for i in range(n))


@dimension(TEST, 25)
def members_tried(n):
    return "\n".join(kernel("x[t] = %d;" % i, grid="1", block="1", params="x: tensor(f32, N)",
                            target="where N %% %d == 0" % (n - i)) for i in range(n)) + (
        'test "t" { let x = empty(f32, 1); launch k(x); expect(x[0] == %d); }' % (n - 1))


@dimension(IR, 25)
def tensors(n):
    return kernel(each(n, "x{i}[t] = {i};"), params=each(n, "x{i}: tensor(f32, N{i})", ", "), block=32)


@dimension(PTX, 25)
def tensors_ptx(n):
    return tensors(n)


@dimension(IR, 25)
def tensors_alike(n):
    return kernel(each(n, "x{i}[t] = {i};"), params=each(n, "x{i}: tensor(f32, (N, M):(_, 1))", ", "), block=32)


@dimension(TEST, 25)
def tensors_test(n):
    return kernel(each(n, "x{i}[t] = {i};"), params=each(n, "x{i}: tensor(f32, N)", ", "), block=32, grid="1") + (
        'test "t" { %s launch k(%s); }' % (each(n, "let x{i} = empty(f32, 32);"), each(n, "x{i}", ", ")))


@dimension(IR, 50)
def scalars(n):
    return kernel("x[t] = %s;" % each(n, "a{i}", " + "), params=each(n, "a{i}: f32", ", ") + ", x: tensor(f32, N)")


@dimension(IR, 50)
def const_parameters(n):
    return kernel("x[t] = %s;" % each(n, "a{i}", " + "), params=each(n, "const a{i} = {i}", ", ") + ", x: tensor(f32, N)")


@dimension(IR, 100)
def facts(n):
    return kernel("x[t] = 1;", target="where " + each(n, "N + M <= {i} + 100000", ", "), params="x: tensor(f32, (N, M))")


@dimension(IR, 50)
def facts_symbols(n):
    return kernel("x0[t] = 1;", params=each(n, "x{i}: tensor(f32, N{i})", ", "),
                  target="where " + ", ".join("N%d <= N%d" % (i, i + 1) for i in range(n - 1)))


@dimension(TEST, 200)
def tests(n):
    return each(n, 'test "t{i}" { expect({i} == {i}); }')


@dimension(TEST, 500)
def tests_over(n):
    return 'test "t" over i in 0..%d { expect(i == i); }' % n


@dimension(TEST, 12)
def tests_over_two(n):
    return 'test "t" over i in 0..%d, k in 0..%d { expect(i + k >= i); }' % (n, 12)


@dimension(TEST, 25)
def tests_launching(n):
    return kernel("x[t] = 1;", grid="1") + each(
        n, 'test "t{i}" { let x = empty(f32, 128); launch k(x); expect(x == 1); }')


@dimension(TEST, 25)
def tests_launching_over(n):
    return kernel("x[t] = i;", grid="1", params="const i = 0, x: tensor(f32, N)") + (
        'test "t" over i in 0..%d { let x = empty(f32, 128); launch k(i = i, x); expect(x == i); }' % n)


@dimension(TEST, 200)
def test_statements(n):
    return 'test "t" { %s }' % each(n, "let a{i} = f32({i}); expect(a{i} == {i});")


@dimension(TEST, 100)
def test_arrays(n):
    return 'test "t" { %s }' % each(n, "let a{i} = full(f32, 100:1, {i}); expect(a{i} == {i});")


@dimension(TEST, 1000)
def array_values(n):
    return 'test "t" { let a = array(i32, (%s)); expect(a[0] == 0); }' % each(n, "{i}", ", ")


@dimension(IR, 100)
def tune_rows(n):
    return kernel("x[t] = a;", params="const a = 1, x: tensor(f32, N)") + "tune k over a in {%s};" % each(n, "{i}", ", ")


@dimension(IR, 200)
def externs(n):
    return each(n, "extern fn e{i}(x: f32) -> f32 => x + {i};") + kernel("x[t] = 1;")


# ---- statements -------------------------------------------------------------------------------------------------------

@dimension(IR, 1000)
def lets(n):
    return kernel("let a0 = t;\n" + "\n".join("let a%d = a%d + t;" % (i, i - 1) for i in range(1, n)) +
                  "x[a%d] = 1;" % (n - 1))


@dimension(IR, 500)
def lets_apart(n):
    return kernel(each(n, "let a{i} = t * {i} + 1;") + each(n, "x[a{i}] = 1;"))


@dimension(IR, 500)
def scopes(n):
    return kernel(each(n, "{ let a = t + {i}; x[a] = 1; }"))


@dimension(PTX, 250)
def stores(n):
    return kernel(each(n, "x[t + {i}] = {i};"))


@dimension(PTX, 250)
def loads(n):
    return kernel("var s = f32(0);" + each(n, "s += x[t + {i}];") + "x[t] = s;")


@dimension(PTX, 250)
def loads_by_index(n):
    return kernel("var s = f32(0);" + each(n, "if i + {i} < N { s += x[i + {i}]; }") + "x[t] = s;",
                  host="").replace("let t = thread_idx.x;", "let t = thread_idx.x; let i = block_idx.x * 128 + t;")


@dimension(PTX, 100)
def vars(n):
    return kernel(each(n, "var a{i} = f32({i});") + "for j in 0..N {" + each(n, "a{i} += x[j + {i}];") + "}" +
                  each(n, "x[t + {i}] = a{i};"))


@dimension(PTX, 100)
def ifs(n):
    return kernel("var s = f32(0);" + each(n, "if x[t] > {i} { s += {i}; }") + "x[t] = s;")


@dimension(PTX, 10)
def ifs_nested(n):
    return kernel("var s = f32(0);" + each(n, "if x[t + {i}] > {i} { s += {i};", " ") + "}" * n + "x[t] = s;")


@dimension(PTX, 100)
def else_ifs(n):
    return kernel("var s = f32(0);" + each(n, "if x[t] > {i} { s += {i}; }", " else ") + "x[t] = s;")


@dimension(IR, 100)
def else_ifs_known(n):
    return kernel("const i = %d;" % (n - 1) + "const " + each(n, "if i == {i} { x[t] = {i}; }", " else "))


@dimension(IR, 100)
def else_ifs_of_values(n):
    return kernel("x[t] = f32(%s else { 0 });" % each(n, "if t == {i} { {i} }", " else "))


@dimension(PTX, 50)
def loops(n):
    return kernel("var s = f32(0);" + each(n, "for j in 0..N { s += x[j + {i}]; }") + "x[t] = s;")


@dimension(PTX, 5)
def loops_nested(n):
    return kernel("var s = f32(0);" + each(n, "for j{i} in 0..N {", " ") + "s += x[t + j%d];" % (n - 1) + "}" * n +
                  "x[t] = s;")


@dimension(IR, 1000)
def turns(n):
    return kernel("const for i in 0..%d { x[t + i] = i; }" % n)


@dimension(PTX, 500)
def turns_ptx(n):
    return kernel("const for i in 0..%d { x[t + i] = i; }" % n)


@dimension(IR, 1000)
def turns_empty(n):
    return kernel("const for i in 0..%d { const a = i * 2; } x[t] = 1;" % n)


@dimension(IR, 16)
def turns_nested(n):
    return kernel("const for i in 0..%d { const for j in 0..64 { x[t + i * 64 + j] = 1; } }" % n)


@dimension(IR, 500)
def turns_summing(n):
    return kernel("var s = f32(0); const for i in 0..%d { s += x[t + i]; } x[t] = s;" % n)


@dimension(PTX, 500)
def unroll(n):
    return kernel("var s = f32(0); for i in 0..N unroll(%d) { s += x[i]; } x[t] = s;" % n)


@dimension(IR, 50)
def recursion(n):
    return "fn f(const n, a) { const if n == 0 { return a; } else { return f(n - 1, a + 1); } }" + kernel(
        "x[f(%d, t)] = 1;" % n)


@dimension(IR, 4)
def recursion_branching(n):
    return "fn f(const n, a) { const if n <= 1 { return a; } else { return f(n / 2, a) + f(n - n / 2, a + 1); } }" + kernel(
        "x[f(%d, t)] = 1;" % (n * 100))


@dimension(IR, 50)
def closures(n):
    return kernel(each(n, "fn g{i}(a) => a + %s;") % tuple(
        ["t"] + ["g%d(a)" % i for i in range(n - 1)]) + "x[g%d(t)] = 1;" % (n - 1))


@dimension(IR, 500)
def closures_apart(n):
    return kernel(each(n, "fn g{i}(a) => a + t + {i};") + each(n, "x[g{i}(t)] = 1;"))


# ---- expressions ------------------------------------------------------------------------------------------------------

@dimension(IR, 1000)
def sum_known(n):
    return kernel("x[t] = %s;" % each(n, "1", " + "))


@dimension(IR, 1000)
def sum_of_int(n):
    return kernel("x[%s] = 1;" % each(n, "t", " + "))


@dimension(IR, 50)
def sum_of_symbols(n):
    return kernel("x[%s] = 1;" % each(n, "a{i}", " + "), params=each(n, "a{i}: int", ", ") + ", x: tensor(f32, N)")


@dimension(IR, 4)
def product_of_sums(n):
    return kernel("x[%s] = 1;" % each(n, "(a{i} + b{i})", " * "),
                  params=each(n, "a{i}: int, b{i}: int", ", ") + ", x: tensor(f32, N)")


@dimension(IR, 4)
def power_of_sum(n):
    return kernel("x[%s] = 1;" % each(n, "(a + b)", " * "), params="a: int, b: int, x: tensor(f32, N)")


@dimension(IR, 25)
def quotients(n):
    return kernel("let a0 = t * N;\n" + "\n".join("let a%d = (a%d + %d) / 3 %% 1000 + a%d;" % (i, i - 1, i, i - 1)
                                                 for i in range(1, n)) + "x[a%d] = 1;" % (n - 1))


@dimension(IR, 500)
def sum_of_float(n):
    return kernel("x[t] = %s;" % each(n, "x[t + {i}]", " + "))


@dimension(IR, 500)
def conjunction(n):
    return kernel("if %s { x[t] = 1; }" % each(n, "t + {i} < N", " && "))


@dimension(AST, 40)
def parentheses(n):
    return kernel("x[t] = %s1%s;" % ("(" * n, ")" * n))


@dimension(IR, 20)
def depth(n):
    return kernel("x[t] = %s1%s;" % ("(1 + " * n, ")" * n))


@dimension(IR, 1000)
def selects(n):
    return kernel("x[t] = %s;" % each(n, "where(t > {i}, x[t], x[t + {i}])", " + "))


# ---- values -----------------------------------------------------------------------------------------------------------

@dimension(IR, 1000)
def tuple_rank(n):
    return kernel("const a = (%s); x[t] = get(a, %d);" % (each(n, "{i}", ", "), n - 1))


@dimension(IR, 250)
def tuple_reads(n):
    return kernel("const a = (%s); const for i in 0..%d { x[t + i] = get(a, i); }" % (each(n, "{i}", ", "), n))


@dimension(IR, 250)
def fields(n):
    return kernel("const a = (%s); %s" % (each(n, "f{i} = {i}", ", "), each(n, "x[t + {i}] = a.f{i};")))


@dimension(IR, 100)
def layout_rank(n):
    return kernel("const a = (%s):(%s); x[t] = size(a);" % (each(n, "1", ", "), each(n, "{i}", ", ")))


@dimension(IR, 10)
def layout_depth(n):
    return kernel("const a = %s2%s; x[t] = size(a);" % ("(" * n, ", 1)" * n))


def algebra(expression):
    return lambda n: kernel("const a = %s; x[t] = size(a);" % expression(n))


def ones(n):
    return "(%s):(%s)" % (each(n, "2" if n <= 60 else "1", ", "), ", ".join(str(min(i, 60)) for i in range(n)))


def packed(n):
    """n modes that are not coalesced, of extent 2 at even powers."""
    return "(%s):(%s)" % (", ".join(["2"] * n), ", ".join(str(1 << i * 2) for i in range(n)))


for name, text, start in (
        ("layout_coalesce", "coalesce(%s)", 7), ("layout_complement", "complement(%s, 1073741824)", 3),
        ("layout_inverse", "right_inverse(%s)", 7), ("layout_left_inverse", "left_inverse(%s)", 7),
        ("layout_compose", "composition(%s, 64:2)", 7), ("layout_divide", "zipped_divide(%s, 2:1)", 7)):
    DIMENSIONS[name] = (lambda n, text=text: kernel("const a = %s; x[t] = size(a);" % (text % packed(n))), IR, start, ())


@dimension(IR, 250)
def layout_unit_modes(n):
    return kernel("const a = coalesce(%s); x[t] = size(a);" % ones(60 + n))


@dimension(IR, 1024)
def layout_compose_size(n):
    return kernel("const a = composition((%d, 8):(8, 1), (8, %d):(%d, 1)); x[t] = size(a);" % (n, n, n))


@dimension(IR, 25)
def views(n):
    return kernel("let a0 = x;\n" + "\n".join("let a%d = a%d[1..size(a%d)];" % (i, i - 1, i - 1) for i in range(1, n)) +
                  "a%d[t] = 1;" % (n - 1))


@dimension(IR, 5)
def tiles(n):
    return kernel("let a0 = x;\n" + "\n".join("let a%d = zipped_divide(a%d, 2)[_, t + %d];" % (i, i - 1, i) if i % 2 else
                                             "let a%d = zipped_divide(a%d, 1)[0, _];" % (i, i - 1)
                                             for i in range(1, n)) + "a%d[0] = 1;" % (n - 1))


@dimension(IR, 6)
def rank_of_tensor(n):
    names = ["E%d" % i for i in range(n)]
    return kernel("x[%s] = 1;" % ", ".join(["t"] + ["0"] * (n - 1)), params="x: tensor(f32, (%s))" % ", ".join(names))


@dimension(TEST, 6)
def rank_of_array(n):
    return 'test "t" { let a = full(f32, (%s), 1); expect(a == 1); }' % ", ".join(["2"] + ["1"] * (n - 1))


# ---- registers, memory, roles -----------------------------------------------------------------------------------------

@dimension(PTX, 128)
def registers(n):
    return kernel("var a = zeros(f32, %d); for j in 0..N { a += x[j]; } x[t] = sum(a);" % n)


@dimension(IR, 64)
def registers_ir(n):
    return kernel("var a = zeros(f32, %d); for j in 0..N { a += x[j]; } x[t] = sum(a);" % n)


@dimension(PTX, 64)
def registers_turns(n):
    return kernel("var a = zeros(f32, %d); const for i in 0..%d { a[i] = x[t + i] + i; } for j in 0..N { a *= x[j]; }"
                  " const for i in 0..%d { x[t + i] = a[i]; }" % (n, n, n))


@dimension(PTX, 64)
def vector_loads(n):
    return kernel("let v = load(local_tile(x, %d, t)); local_tile(x, %d, t) = v * 2;" % (n, n), params="x: tensor(f32, N:1) align(16)",
                  target="where N % 4 == 0")


@dimension(IR, 32)
def reduce_by(n):
    return kernel("let v = load(local_tile(x, %d, t)); x[t] = reduce(fn(a, b) => a * b + 1, v);" % n,
                  params="x: tensor(f32, N:1)")


def product_of(m, n, k, steps):
    return kernel("""
       shared sa: tensor(f16, smem_layout(f16, (%(m)d, 64)));
       shared sb: tensor(f16, smem_layout(f16, (%(n)d, 64)));
       const c = tiled_copy(cp_async(f16, 8), (16, 8):(8, 1), (1, 8));
       let gA = guard(local_tile(A, (%(m)d, 64), (block_idx.x, _)), fill = 0);
       let gB = guard(local_tile(B, (%(n)d, 64), (block_idx.y, _)), fill = 0);
       var acc = fragment_c(mma, (%(m)d, %(n)d), fill = 0);
       for k in 0..ceil_div(K, 64) {
           copy(c, partition_s(c, gA[_, _, k], t), partition_d(c, sa, t));
           copy(c, partition_s(c, gB[_, _, k], t), partition_d(c, sb, t));
           sync();
           gemm(mma, partition_a(mma, sa, t), partition_b(mma, sb, t), acc);
           sync();
       }
       partition_c(mma, guard(local_tile(C, (%(m)d, %(n)d), (block_idx.x, block_idx.y))), t) = acc;
       """ % dict(m=m, n=n), "const mma = tiled_mma(mma_sync(16, 8, 16, f16, f16, f32), (2, 2, 1), (_, 32, _));",
                  "A: tensor(f16, (M, K):(_, 1)) align(16), B: tensor(f16, (N, K):(_, 1)) align(16), "
                  "C: tensor(f32, (M, N):(_, 1))", grid="ceil_div(M, %d), ceil_div(N, %d)" % (m, n), target="where K % 8 == 0")


@dimension(PTX, 32)
def fragments(n):
    return product_of(n, 128, 64, 1)


@dimension(TEST, 16)
def product_depth(n):
    return product_of(64, 64, 64, 1) + """
        test "t" { let a = full(f16, row_major(64, %d), 1); let b = full(f16, row_major(64, %d), 1);
        let c = empty(f32, row_major(64, 64)); launch k(a, b, c); }""" % (n * 64, n * 64)


@dimension(TEST, 4)
def product_rows(n):
    return product_of(64, 64, 64, 1) + """
        test "t" { let a = full(f16, row_major(%d, 256), 1); let b = full(f16, row_major(64, 256), 1);
        let c = empty(f32, row_major(%d, 64)); launch k(a, b, c); }""" % (n * 64, n * 64)


@dimension(PTX, 25)
def shared(n):
    return kernel(each(n, "shared s{i}: tensor(f32, 128); s{i}[t] = x[t + {i}];") + "sync();" +
                  each(n, "x[t + {i}] = s{i}[127 - t];"))


@dimension(PTX, 25)
def shared_in_turn(n):
    return kernel(each(n, "{ shared s: tensor(f32, 128); s[t] = x[t + {i}]; sync(); x[t + {i}] = s[127 - t]; sync(); }"))


@dimension(PTX, 50)
def syncs(n):
    return kernel("shared s: tensor(f32, 128);" + each(n, "s[t] = x[t + {i}]; sync(); x[t] = s[127 - t]; sync();"))


@dimension(IR, 50)
def mbarriers(n):
    return kernel("shared b: tensor(mbarrier, %d:1);\n if t == 0 { const for i in 0..%d { mbarrier_init(b[i], 1); } fence(.mbarrier_init); }"
                  "sync(); const for i in 0..%d { if t == 0 { mbarrier_arrive(b[i]); } mbarrier_wait(b[i], 0); }" % (n, n, n),
                  target="target sm_90")


def ring(stages, ahead, pipelines=1, uses=1, element="f32"):
    return kernel(
        each(pipelines, "pipeline r{i}(%d) { a: tensor(f32, 128); }" % stages) + """
        const c = tiled_copy(cp_async(f32, 4), 32:1, 4:1);
        var total = zeros(f32, 4);
        for k in 0..N { """ + each(pipelines, """
            produce r{i} as s ahead(%d) { copy(c, partition_s(c, x[_, k], t), partition_d(c, s.a, t)); }
        """ % ahead + """
            consume r{i} as s { total += local_tile(s.a, 4, t); }
        """ * uses) + "} local_tile(y, 4, t) = total;",
        params="x: tensor(f32, (128, N):(1, _)) align(16), y: tensor(f32, 128:1) align(16)", block=32)


@dimension(PTX, 8)
def stages(n):
    return ring(n, n - 1)


@dimension(PTX, 4)
def pipelines(n):
    return ring(3, 2, n)


def roles_text(stages, roles, turns, body="", blocks=1):
    return kernel(
        "pipeline ring(%d) { a: tensor(f16, lay); }" % stages +
        "role loader warps(0) { for i in 0..rows { %s } }" % (
            "produce ring as s { copy(load, local_tile(x, (32, 64), (i, block_idx.x)), s.a); }" * blocks) +
        "\n".join("""
        role math%d warps(%d..%d) {
            var v = zeros(f32, 16);
            for i in 0..rows { %s }
            local_tile(y, 16, math%d.thread + 128 * %d) = v;
        }""" % (r, 4 * r + 4, 4 * r + 8, "consume ring as s { const for c in 0..16 { v[c] += f32(s.a[c, math%d.thread %% 64]); } }" % r * blocks,
                r, r) for r in range(roles)),
        host="const lay = smem_layout(f16, (32, 64)); let load = tma_load(x, lay); let rows = ceil_div(M, 32);",
        params="x: tensor(f16, (M, N):(_, 1)) align(16), y: tensor(f32, K:1)", grid="ceil_div(N, 64)",
        block=128 + 128 * roles, target="target sm_90").replace("let t = thread_idx.x;", "")


@dimension(PTX, 4)
def stages_of_roles(n):
    return roles_text(n, 1, 1)


@dimension(PTX, 1)
def roles(n):
    return roles_text(4, n, 1)


@dimension(IR, 4)
def blocks_of_roles(n):
    return roles_text(4, 1, 1, blocks=n)


@dimension(IR, 16)
def row_depth(n):
    return kernel("""
        fn use(part, has, at, wait) {
            const for k in 0..%d {
                const if k %% 2 == 0 { wait(k); }
                if has(k) { local_tile(y[block_idx.x, _], 8, at(k) / 8) = part(k); }
            }
        }
        row_in_memory(1, 128, %d, 0, x[block_idx.x, _], use);""" % (n, n), head='import "cute/rings.cute";', grid="M",
                  params="x: tensor(bf16, (M, N):(_, 1)) align(16), y: tensor(bf16, (M, N):(_, 1)) align(16)",
                  target="where N % 8 == 0")


RINGS = """
import "cute/rows.cute";
import "cute/rings.cute";
kernel k(x: tensor(bf16, (M, N):(_, 1)) align(16), z: tensor(bf16, (M, N):(_, 1)) align(16), y: tensor(bf16, (M, N):(_, 1)) align(16))
where N <= 8192, N % 8 == 0
target sm_90
{
    let counter = workspace(u32, 1:1, fill = 0, restored = true);
    launch grid(ring_clusters(1, M)) block(32) min_blocks(1)
    {
        fn use(v, part, meet, mine)
        {
            let (_, following) = meet(added_and_next(), (f32(0), mine));
            part.put_all(fn(k, w) => v[_, k, 0] - v[_, k, 1]);
            return following;
        }
        rows_in_ring(false, 1, 32, COUNT, STAGES, 0, (x, z), y, (), counter, 0, use);
    }
}
"""


@dimension(IR, 2)
def ring_stages(n):
    return RINGS.replace("COUNT", "1").replace("STAGES", str(n))


@dimension(IR, 2)
def ring_count(n):
    return RINGS.replace("COUNT", str(n)).replace("STAGES", "2")


# ---- the executor -----------------------------------------------------------------------------------------------------

def run(body, launches="launch k(x);", elements="1024", **how):
    how.setdefault("grid", "1")
    return kernel(body, **how) + 'test "t" { let x = zeros(f32, %s); %s }' % (elements, launches)


@dimension(TEST, 2000)
def steps(n):
    return run("var s = f32(0); for j in 0..%d { s = s * 0.5 + 1; } x[t] = s;" % n)


@dimension(TEST, 256)
def grid(n):
    return run("x[block_idx.x * 128 + t] = 1;", grid=str(n), elements=str(128 * n))


@dimension(TEST, 16384)
def array_elements(n):
    return 'test "t" { let a = normal(f32, %d, seed = 1); expect(a + 1 == 1 + a); }' % n


@dimension(TEST, 100)
def launches(n):
    return run("x[t] += 1;", each(n, "launch k(x);"))


@dimension(TEST, 500)
def launches_in_loop(n):
    return run("x[t] += 1;", "for i in 0..%d { launch k(x); }" % n)


@dimension(TEST, 100)
def launches_of_host(n):
    return kernel("x[t] = 0;", grid="1", host="for i in 0..%d { launch grid(1) block(32) { x[thread_idx.x] += 1; } }" % n) + (
        'test "t" { let x = zeros(f32, 1024); launch k(x); }')


@dimension(IR, 25)
def launch_blocks(n):
    return kernel("x[t] = 0;", grid="1", host=each(n, "launch grid(1) block(32) { x[thread_idx.x] += {i}; }"))


@dimension(TEST, 50)
def barriers_run(n):
    return run("shared s: tensor(f32, 128); s[t] = 0; for j in 0..%d { sync(); let v = s[127 - t]; sync(); s[t] = v + 1; }" % n,
               grid="4")


@dimension(TEST, 2000)
def atomics(n):
    return run("for j in 0..%d { atomic_add(x[0], f32(1)); }" % n)


@dimension(TEST, 500)
def readers(n):
    return run("shared s: tensor(f32, 128); s[t] = 0; sync(); var a = f32(0); for j in 0..%d { a += s[(t + j) %% 128]; } x[t] = a;" % n)


@dimension(TEST, 100)
def prints(n):
    return run("for j in 0..%d { print(t, j); }" % n, block=32)


@dimension(TEST, 500)
def faults(n):
    return run("for j in 0..%d { x[t + 5000 + j] = 1; }" % n, block=32)


@dimension(TEST, 64)
def matmul(n):
    return ('test "t" { let a = normal(f32, (%d, 64), seed = 1); let b = normal(f32, (64, 64), seed = 2);'
            ' expect(matmul(a, b) == matmul(a, b)); }' % n)


@dimension(TEST, 2000)
def test_loop(n):
    return 'test "t" { var s = 0; for i in 0..%d { s += i %% 7; expect(s >= 0); } }' % n


# ---- other parts ------------------------------------------------------------------------------------------------------

@dimension("lsp", 50)
def lsp_edits(n):
    return kernel(each(100, "let a{i} = t + {i};") + "x[t] = 1;")


@dimension("lsp", 20)
def lsp_text(n):
    return kernel(each(n * 50, "let a{i} = t + {i};") + "x[t] = 1;")


@dimension("imports", 25)
def imports(n):
    return each(n, 'import "m{i}.cute";') + kernel(each(n, "x[t + {i}] = f{i}(t);"))


@dimension("imports", 25)
def imports_chained(n):
    return 'import "m0.cute";' + kernel("x[g0(t)] = 1;")


@dimension(LAYOUT, 1000)
def layout_checks(n):
    return each(n, "composition\t(4, {i}):(1, 4)\t4:1\t=>\t4:1")


@dimension(("layout",), 100)
def layout_expressions(n):
    return ""


# ---- running ----------------------------------------------------------------------------------------------------------

def message(kind, method, **params):
    m = dict(jsonrpc="2.0", method=method, params=params)
    if kind:
        m["id"] = kind
    b = json.dumps(m).encode()
    return b"Content-Length: %d\r\n\r\n" % len(b) + b


def lsp_session(name, text, n):
    uri = "file:///tmp/scale.cute"
    out = [message(1, "initialize", capabilities={}, processId=None, rootUri=None), message(0, "initialized"),
           message(0, "textDocument/didOpen", textDocument=dict(uri=uri, languageId="cute", version=1, text=text))]
    changes = n if name == "lsp_edits" else 10
    for i in range(changes):
        at = dict(line=3, character=0)
        out.append(message(0, "textDocument/didChange", textDocument=dict(uri=uri, version=i + 2),
                           contentChanges=[dict(range=dict(start=at, end=at), text="\n")]))
        out.append(message(2 + i, "textDocument/hover", textDocument=dict(uri=uri), position=dict(line=3, character=3)))
    out += [message(100000, "textDocument/documentSymbol", textDocument=dict(uri=uri)), message(100001, "shutdown"),
            message(0, "exit")]
    return b"".join(out)


def import_texts(folder, name, n):
    for i in range(n):
        with open(os.path.join(folder, "m%d.cute" % i), "w") as f:
            if name == "imports_chained" and i < n - 1:
                f.write('import "m%d.cute";\nfn g%d(a) => g%d(a) + 1;\n' % (i + 1, i, i + 1))
            else:
                f.write("fn g%d(a) => a + %d;\n" % (i, i))


def prepare(folder, name, n):
    """The arguments of the command, and what it reads from standard input."""
    f, command, _, args = DIMENSIONS[name]
    text, path = f(n), os.path.join(folder, "text.cute")
    with open(path, "w") as out:
        out.write(text)
    if command == "lsp":
        return ["lsp"], lsp_session(name, text, n)
    if command == "imports":
        import_texts(folder, name, n)
        command = IR
    if name == "layout_expressions":
        return ["layout"] + ["(4, %d):(1, 4)" % (i + 1) for i in range(n)], b""
    return [*command, path, *args], b""


def once(cutec, argv, stdin, folder, limit):
    """(milliseconds of user time, MB at the peak, what it said, status) of one run."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        p = subprocess.Popen([cutec] + argv, stdin=source, stdout=out, stderr=subprocess.STDOUT, preexec_fn=limits,
                             env=dict(os.environ, CUTEJIT_CACHE="off", NO_COLOR="1"))
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = status
        out.seek(0)
        said = out.read().decode(errors="replace")
    return (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss / 1024, said, status


def measure(a, name, n):
    with tempfile.TemporaryDirectory() as folder:
        argv, stdin = prepare(folder, name, n)
        best = None
        for _ in range(a.runs):
            r = once(a.cutec, argv, stdin, folder, a.limit)
            if best is None or r[0] < best[0]:
                best = r
            if r[0] > 2000:
                break
        return best


def phases(said):
    found = {}
    for line in said.splitlines():
        if re.match(r"\S+ sm_\w+: ", line):
            for phase, ms in re.findall(r"([A-Za-z][A-Za-z ]*?) ([\d.]+) ms", line.split(": ", 1)[1]):
                found[phase] = found.get(phase, 0) + float(ms)
    return found


def exponent(small, large, least):
    return "%.2f" % math.log2(large / small) if small > 0 and large > least else "-"


def verdict(status, said):
    if os.WIFSIGNALED(status):
        return "LATE" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "CRASH %d" % os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    lines = [x for x in said.splitlines() if "error" in x] or [""]
    return "" if code == 0 else "exit %d: %s" % (code, re.sub(r"^\S*text.cute:", "", lines[0])[:110])


def report(a, name):
    """Twice as many, and twice again, until a run takes long enough to tell."""
    n, rest, before = DIMENSIONS[name][2], measure(a, name, 1), None
    while True:
        ms, mb, said, status = measure(a, name, n)
        wrong = verdict(status, said)
        now = (n, ms - rest[0], mb - rest[1], phases(said))
        if before and (ms > a.enough or n >= MOST) or wrong and not name.startswith("errors_"):
            break
        n, before = 2 * n, now
    if before is None:
        before = (0, 0, 0, {})
    stages = ["%s %s" % (p, exponent(before[3].get(p, 0), v, a.least)) for p, v in now[3].items() if v > a.least]
    print("%-22s %7d %9.1f %6s %8.1f %6s  %s" % (
        name, n, now[1], exponent(before[1], now[1], a.least), now[2], exponent(before[2], now[2], 20),
        " ".join(filter(None, (", ".join(stages), wrong)))), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cutec")
    p.add_argument("--only", default="", help="dimensions whose name contains one of these, with commas between")
    p.add_argument("--runs", type=int, default=2)
    p.add_argument("--limit", type=int, default=60, help="seconds of a run")
    p.add_argument("--least", type=float, default=15, help="milliseconds of which nothing is told")
    p.add_argument("--enough", type=float, default=500, help="milliseconds that are enough")
    p.add_argument("--text", nargs=2, metavar=("DIMENSION", "N"))
    a = p.parse_args()
    if a.text:
        sys.stdout.write(DIMENSIONS[a.text[0]][0](int(a.text[1])))
        return
    print("%-22s %7s %9s %6s %8s %6s  %s" % ("", "n", "ms", "time^", "MB", "mem^", "stages^"))
    for name in DIMENSIONS:
        if any(part in name for part in a.only.split(",")):
            report(a, name)


if __name__ == "__main__":
    main()
