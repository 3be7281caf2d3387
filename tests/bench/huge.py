#!/usr/bin/env python3
"""Kernels on more than 2^31 elements, compared with torch on one GPU.

    python3 tests/bench/huge.py [--only TEXT]

Needs torch. Each kernel gets a tensor of more than 2^31 elements, so that an
offset kept in 32 bits would show, and an output full of a value that it must
replace. What torch says of the same data is the measure, part by part where
it would not fit in memory; rows at both ends and around element 2^31 are
among the parts. What needs more memory than is free is skipped. Ends with the
usual count; the status is 1 if anything failed.
"""
import argparse
import os
import sys

import torch
import torch.nn.functional as F

import cutejit

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../examples")
OVER = (1 << 31) + (1 << 20)      # elements; a multiple of every vector
bf16, f32 = torch.bfloat16, torch.float32


class Huge:
    def __init__(self, only):
        self.only = only or ""
        self.ctx = cutejit.Context()
        self.count = {"passed": 0, "failed": 0, "skipped": 0}

    def say(self, word, name, why=""):
        self.count[word] += 1
        print("%-7s %s%s" % (word[:4].replace("fail", "FAIL"), name, " (%s)" % why if why else ""), flush=True)

    def launch(self, file, kernel, args, consts, member=None):
        path = os.path.join(EXAMPLES, file, file + ".cute")
        self.ctx.prepare(path, kernel, args, consts, member)(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()

    def case(self, name, gigabytes, run):
        """run() gives pairs of tensors and tolerances: what came, what should have."""
        if not any(text in name for text in self.only.split(",")):
            return
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0] / 1e9
        if free < gigabytes:
            self.say("skipped", name, "wants %d GB, %d are free" % (gigabytes, free))
            return
        try:
            for what, got, want, rel in run():
                if not same(got, want, rel):
                    self.say("failed", name, what)
                    return
            self.say("passed", name)
        except Exception as e:
            self.say("failed", name, " ".join(str(e).split())[:200])


def same(got, want, rel):
    if rel == 0:
        return torch.equal(got, want)
    return torch.allclose(got.double(), want.double(), rtol=rel, atol=rel)


def noise(shape, dt=bf16, seed=1):
    """Random numbers made in place: torch.randn of f32 would need twice the memory."""
    torch.manual_seed(seed)
    return torch.empty(shape, device="cuda", dtype=dt).normal_()


def poisoned(shape, dt=bf16):
    return torch.full((shape,) if isinstance(shape, int) else shape, 77, device="cuda", dtype=dt)


def pieces(rows, each):
    """Some rows at the start, at the end and around element 2^31 of rows of `each` elements."""
    middle = (1 << 31) // each
    yield slice(0, 8)
    yield slice(max(middle - 4, 0), min(middle + 4, rows))
    yield slice(rows - 8, rows)


def by_rows(h, name, N, torch_rows, more=lambda N: {}, rel=2e-2, dt=bf16, t="bf16", **consts):
    def run():
        M = OVER // N + 1
        x, y, args = noise((M, N), dt), poisoned((M, N), dt), more(N)
        h.launch(name[0], name[1], dict(x=x, **args, y=y), dict(T=t, **consts))
        for p in pieces(M, N):
            yield "rows %s" % p, y[p].float(), torch_rows(x[p].float(), args), rel
    h.case("%s %s %d" % (name[1], t, N), 12, run)


def rows(h):
    def weights(N):
        return dict(w=noise(N, seed=2))

    def both(N):
        return dict(w=noise(N, seed=2), b=noise(N, seed=3))
    for N in (64, 1024, 8192, 32768, 131072, 97, 1001, 12289, 98305):
        by_rows(h, ("softmax", "softmax"), N, lambda x, a: torch.softmax(x, 1))
        by_rows(h, ("rmsnorm", "rmsnorm"), N, lambda x, a: F.rms_norm(x, (x.shape[1],), a["w"].float(), 1e-6), weights)
        by_rows(h, ("layernorm", "layernorm"), N,
                lambda x, a: F.layer_norm(x, (x.shape[1],), a["w"].float(), a["b"].float(), 1e-5), both)
    by_rows(h, ("softmax", "log_softmax"), 4096, lambda x, a: torch.log_softmax(x, 1))

    def cross_entropy():
        M, N = OVER // 32768 + 1, 32768
        x, dx = noise((M, N)), poisoned((M, N))
        target = torch.randint(0, N, (M,), device="cuda")
        loss, lse = poisoned(M, f32), poisoned(M, f32)
        g = torch.ones(M, device="cuda")
        h.launch("cross_entropy", "cross_entropy", dict(x=x, target=target, loss=loss, lse=lse), dict(T="bf16", I="i64"))
        h.launch("cross_entropy", "cross_entropy_backward", dict(x=x, target=target, lse=lse, dloss=g, dx=dx),
                 dict(T="bf16", I="i64"))
        for p in pieces(M, N):
            v = x[p].float()
            yield "loss %s" % p, loss[p], F.cross_entropy(v, target[p], reduction="none"), 1e-3
            want = torch.softmax(v, 1)
            want[torch.arange(want.shape[0]), target[p]] -= 1
            yield "dx %s" % p, dx[p].float(), want, 1e-2
    h.case("cross_entropy, and backward", 12, cross_entropy)

    def backward(kernel, names, forward):
        def run():
            M, N = OVER // 8192 + 1, 8192
            x, dy, dx = noise((M, N)), noise((M, N), seed=2), poisoned((M, N))
            w = noise(N, seed=3)
            sums = {n: poisoned(N) for n in names}
            h.launch(kernel, kernel, dict(x=x, w=w, dy=dy, dx=dx, **sums), dict(T="bf16"))
            for p in pieces(M, N):
                v = x[p].float().requires_grad_()
                yield "dx %s" % p, dx[p].float(), torch.autograd.grad(forward(v, w.float()), v, dy[p].float())[0], 2e-2
            want = {n: torch.zeros(N, device="cuda", dtype=torch.float64) for n in names}
            for i in range(0, M, 8192):
                v, d = x[i:i + 8192].float(), dy[i:i + 8192].float()
                ones = torch.ones(N, device="cuda")
                want["dw"] += (forward(v, ones) * d).double().sum(0)
                if "db" in want:
                    want["db"] += d.double().sum(0)
            for n in names:
                off = (sums[n].double() - want[n]).abs().max() / want[n].abs().max()
                yield n, off, torch.zeros_like(off), 1e-2
        h.case(kernel, 16, run)
    backward("rmsnorm_backward", ("dw",), lambda v, w: F.rms_norm(v, (8192,), w, 1e-6))
    backward("layernorm_backward", ("dw", "db"), lambda v, w: F.layer_norm(v, (8192,), w, None, 1e-5))

    def softmax_backward(call, forward, want):
        def run():
            M, N = OVER // 4096 + 1, 4096
            y, dy, dx = noise((M, N)), noise((M, N), seed=2), poisoned((M, N))
            for i in range(0, M, 8192):
                y[i:i + 8192] = forward(y[i:i + 8192].float(), 1).to(bf16)
            h.launch(*call, dict(y=y, dy=dy, dx=dx), dict(T="bf16"))
            for p in pieces(M, N):
                v, d = y[p].float(), dy[p].float()
                yield "dx %s" % p, dx[p].float(), want(v, d), 3e-2
        h.case(call[1], 16, run)
    softmax_backward(("softmax_backward", "softmax_backward"), lambda x, d: x.abs(),
                     lambda v, d: v * (d - (v * d).sum(1, keepdim=True)))
    softmax_backward(("softmax_backward", "log_softmax_backward"), torch.log_softmax,
                     lambda v, d: d - torch.exp(v) * d.sum(1, keepdim=True))

    def add_rmsnorm():
        M, N = OVER // 4096 + 1, 4096
        x, r, w = noise((M, N)), noise((M, N), seed=2), noise(N, seed=3)
        s, y = poisoned((M, N)), poisoned((M, N))
        h.launch("add_rmsnorm", "add_rmsnorm", dict(x=x, residual=r, w=w, h=s, y=y), dict(T="bf16"))
        for p in pieces(M, N):
            v = (x[p].float() + r[p].float()).to(bf16)
            yield "h", s[p], v, 0
            yield "y", y[p].float(), F.rms_norm(v.float(), (N,), w.float(), 1e-6), 3e-2
    h.case("add_rmsnorm", 20, add_rmsnorm)

    def quantize():
        M, N = OVER // 4096 + 1, 4096
        x, q, s = noise((M, N)), poisoned((M, N), torch.uint8), poisoned(M, f32)
        e4 = torch.float8_e4m3fn
        h.launch("quantize", "quantize_rows", dict(x=x, q=q.view(e4), scale=s), dict(T="bf16", Q="f8e4m3"))
        for p in pieces(M, N):
            yield "q %s" % p, q[p].view(e4).float() * s[p][:, None], x[p].float(), 7e-2
        y = poisoned((M, N))
        h.launch("quantize", "dequantize_rows", dict(q=q.view(e4), scale=s, x=y), dict(T="bf16", Q="f8e4m3"))
        for p in pieces(M, N):
            yield "x %s" % p, y[p].float(), q[p].view(e4).float() * s[p][:, None], 1e-2
    h.case("quantize_rows, dequantize_rows", 14, quantize)

    def blocks():
        M, N = OVER // 4096 + 1, 4096
        x, q, s = noise((M, N)), poisoned((M, N), torch.uint8), poisoned((M, N // 128), f32)
        e4 = torch.float8_e4m3fn
        h.launch("quantize", "quantize_blocks", dict(x=x, q=q.view(e4), scale=s), dict(T="bf16", Q="f8e4m3"))
        y = poisoned((M, N))
        h.launch("quantize", "dequantize_blocks", dict(q=q.view(e4), scale=s, x=y), dict(T="bf16", Q="f8e4m3"))
        for p in pieces(M, N):
            v = q[p].view(e4).float().view(-1, 32, 128) * s[p][:, :, None]
            yield "q %s" % p, v.view(-1, N), x[p].float(), 7e-2
            yield "x %s" % p, y[p].float(), v.view(-1, N), 1e-2
    h.case("quantize_blocks, dequantize_blocks", 14, blocks)

    def whole():
        x, q, s = noise(OVER).clamp_(-4, 4), poisoned(OVER, torch.uint8), poisoned(1, f32)
        x[OVER - 3] = 5
        e4 = torch.float8_e4m3fn
        h.launch("quantize", "quantize", dict(x=x, q=q.view(e4), scale=s), dict(T="bf16", Q="f8e4m3"))
        yield "scale", s, torch.full_like(s, 5 / 448), 1e-6
        y = poisoned(OVER)
        h.launch("quantize", "dequantize", dict(q=q.view(e4), scale=s, x=y), dict(T="bf16", Q="f8e4m3"))
        for i in range(0, OVER, 1 << 28):
            p = slice(i, i + (1 << 28))
            v = q[p].view(e4).float() * s
            yield "q from %d" % i, v, x[p].float(), 7e-2
            yield "x from %d" % i, y[p].float(), v, 1e-2
    h.case("quantize, dequantize", 20, whole)

    def topk():
        M, N = OVER // 4096 + 1, 4096
        x, v, at = noise((M, N)), poisoned((M, 8)), poisoned((M, 8), torch.int32)
        h.launch("topk", "topk", dict(x=x, value=v, index=at), dict(T="bf16", k="8"))
        for p in pieces(M, N):
            yield "values %s" % p, v[p], torch.topk(x[p], 8).values, 0
            yield "places %s" % p, x[p].gather(1, at[p].long()), v[p], 0
    h.case("topk", 6, topk)


def sums(h):
    M, N = 1 << 16, (1 << 15) + 16

    def matrix(name, out):
        def run():
            x = noise((M, N))
            y = poisoned(M if out == "rows" else N if out == "columns" else 1, f32)
            h.launch("reduce", name, dict(x=x.view(-1) if out == "all" else x, y=y), dict(T="bf16", A="f32"))
            w = torch.zeros_like(y, dtype=torch.float64)
            for i in range(0, M, 4096):
                part = x[i:i + 4096].double()
                if out == "rows":
                    w[i:i + 4096] = part.sum(1)
                else:
                    w += part.sum(0) if out == "columns" else part.sum()
            off = (y.double() - w) / (M * N // y.numel()) ** 0.5
            yield out, off, torch.zeros_like(off), 1e-5
        h.case(name, 14, run)
    matrix("total", "all")
    matrix("row_sums", "rows")
    matrix("column_sums", "columns")

    def argmax():
        x, y = noise((M, N)), poisoned(M, torch.int64)
        h.launch("reduce", "argmax", dict(x=x, y=y), dict(T="bf16"))
        yield "largest", x.gather(1, y[:, None])[:, 0], x.max(1).values, 0
    h.case("argmax", 12, argmax)

    def extreme():
        n = OVER
        x, value, at = noise(n).clamp_(-4, 4), poisoned(1), poisoned(1, torch.int64)
        x[n - 5] = 9
        h.launch("extremes", "extreme", dict(x=x, value=value, index=at), dict(T="bf16"))
        yield "place", at, torch.full_like(at, n - 5), 0
    h.case("extreme", 10, extreme)

    def scan():
        n = OVER
        x = torch.randint(-9, 10, (n,), device="cuda", dtype=torch.int32)
        y = poisoned(n, torch.int32)
        h.launch("scan", "scan", dict(x=x, y=y), dict(T="i32"))
        so_far = 0  # by parts: torch 2.11 reads outside of what it adds up where there are more than 2^31
        for p in range(0, n, 1 << 28):
            want = torch.cumsum(x[p:p + (1 << 28)], 0, dtype=torch.int32) + so_far
            so_far = want[-1].item()
            yield "from %d" % p, y[p:p + (1 << 28)], want, 0
    h.case("scan", 40, scan)

    def segmented():
        n = OVER
        x = torch.randint(-9, 10, (n,), device="cuda", dtype=torch.int32)
        y, begins = poisoned(n, torch.int32), torch.zeros(n, device="cuda", dtype=torch.uint8)
        begins[::1 << 20] = 1
        h.launch("segmented_scan", "segmented_scan", dict(x=x, begins=begins, y=y), dict(T="i32"))
        yield "all", y.view(-1, 1 << 20), torch.cumsum(x.view(-1, 1 << 20), 1, dtype=torch.int32), 0
    h.case("segmented_scan", 50, segmented)

    def histogram():
        n = (1 << 32) + (1 << 20)
        x, count = torch.randint(0, 256, (n,), device="cuda", dtype=torch.uint8), poisoned(256, torch.int32)
        h.launch("histogram", "histogram", dict(x=x, count=count.view(torch.uint32)), {})
        want = sum(torch.bincount(p, minlength=256) for p in x.split(1 << 26))
        yield "all", count.long(), want, 0
    h.case("histogram of 2^32", 20, histogram)


def moves(h):
    def transpose(t, dt, n):
        def run():
            x = torch.randint(-99, 99, (n, n), device="cuda", dtype=torch.int8).to(dt)
            y = poisoned((n, n), dt)
            h.launch("transpose", "transpose", dict(x=x, y=y), dict(T=t))
            yield "all", y, x.t(), 0
        h.case("transpose %s %d" % (t, n), 40, run)
    transpose("bf16", bf16, 46368)
    transpose("f32", f32, 46368)
    transpose("i8", torch.int8, 46341)

    def permute():
        x = noise((16, 4104, 32, 1024))
        y = poisoned((16, 32, 4104, 1024))
        h.launch("permute", "permute", dict(x=x, y=y), dict(T="bf16"))
        yield "all", y, x.permute(0, 2, 1, 3), 0
    h.case("permute", 16, permute)

    def concat():
        a, b = noise((1 << 17, 16384)), noise((1 << 17, 16), seed=2)
        y = poisoned((1 << 17, 16400))
        h.launch("concat", "concat", dict(a=a, b=b, y=y), dict(T="bf16"))
        yield "left", y[:, :16384], a, 0
        yield "right", y[:, 16384:], b, 0
    h.case("concat", 16, concat)

    def gather():
        x = noise((65536, 32784))
        index = torch.randint(0, 32784, (65536, 512), device="cuda")
        y = poisoned((65536, 512))
        h.launch("gather", "gather", dict(x=x, index=index, y=y), dict(T="bf16", I="i64"))
        yield "all", y, x.gather(1, index), 0
        z = poisoned((65536, 32784))
        order = torch.stack([torch.randperm(32784, device="cuda")[:512] for _ in range(64)]).repeat(1024, 1)
        h.launch("gather", "scatter", dict(y=y, index=order, x=z), dict(T="bf16", I="i64"))
        yield "back", z.gather(1, order), y, 0
        yield "the rest", (z == 77).sum(), torch.tensor(65536 * (32784 - 512), device="cuda"), 1e-6
    h.case("gather, scatter", 20, gather)

    def scatter_add():
        x = torch.zeros(65536, 32784, device="cuda")
        index = torch.randint(0, 32784, (65536, 512), device="cuda")
        y = torch.randint(-9, 10, (65536, 512), device="cuda").float()
        h.launch("gather", "scatter_add", dict(y=y, index=index, x=x), dict(T="f32", I="i64"))
        for i in range(0, 65536, 8192):
            p = slice(i, i + 8192)
            yield "rows from %d" % i, x[p], torch.zeros_like(x[p]).scatter_add_(1, index[p], y[p]), 0
    h.case("scatter_add", 12, scatter_add)

    def embedding_backward():
        dy = torch.randint(-9, 10, (1 << 19, 4104), device="cuda", dtype=torch.int8).to(bf16)
        index = torch.arange(1 << 19, device="cuda") // 2 * 2      # each even row twice, sums exact
        gradient = torch.zeros(1 << 19, 4104, device="cuda")
        h.launch("embedding", "embedding_backward", dict(dy=dy, index=index, gradient=gradient), dict(T="bf16", I="i64"))
        for i in range(0, 1 << 19, 1 << 16):
            d = dy[i:i + (1 << 16)].float()
            yield "even rows from %d" % i, gradient[i:i + (1 << 16):2], d[::2] + d[1::2], 0
            yield "odd rows from %d" % i, gradient[i + 1:i + (1 << 16):2], torch.zeros_like(d[::2]), 0
    h.case("embedding_backward", 24, embedding_backward)

    def embedding():
        table = noise((1 << 19, 4104))
        index = torch.randint(0, 1 << 19, (1 << 19,), device="cuda")
        index[-1] = (1 << 19) - 1
        y = poisoned((1 << 19, 4104))
        h.launch("embedding", "embedding", dict(table=table, index=index, y=y), dict(T="bf16", I="i64"))
        for i in range(0, 1 << 19, 1 << 16):
            yield "rows from %d" % i, y[i:i + (1 << 16)], table[index[i:i + (1 << 16)]], 0
    h.case("embedding", 14, embedding)

    def rope():
        R = OVER // 4096 + 8
        x, y = noise((R, 32, 128)), poisoned((R, 32, 128))
        a = torch.rand(R, 64, device="cuda")
        c, s = torch.cos(a), torch.sin(a)
        h.launch("rope", "rope", dict(x=x, cos=c, sin=s, y=y), dict(T="bf16"))
        for p in pieces(R, 4096):
            u, v = x[p, :, :64].float(), x[p, :, 64:].float()
            k, m = c[p, None], s[p, None]
            yield "rows %s" % p, y[p].float(), torch.cat((u * k - v * m, v * k + u * m), -1), 2e-2
    h.case("rope", 14, rope)

    def elements(name, kernel, inputs, consts, want, rel=2e-2):
        def run():
            args = {k: noise(OVER, seed=i + 1) for i, k in enumerate(inputs)}
            out = "c" if kernel == "add" else "y"
            y = poisoned(OVER)
            h.launch(name, kernel, dict(**args, **{out: y}), dict(T="bf16", **consts))
            for i in range(0, OVER, 1 << 28):
                p = slice(i, i + (1 << 28))
                yield "from %d" % i, y[p], want(*(args[k][p].float() for k in inputs)).to(bf16), rel
        h.case(kernel, 22, run)
    elements("add", "add", ("a", "b"), {}, lambda a, b: a + b)
    elements("relu", "relu", ("x",), {}, F.relu)
    elements("gelu", "gelu", ("x",), {"exact": "true"}, F.gelu)
    elements("silu", "silu", ("x",), {}, F.silu)
    elements("swiglu", "swiglu", ("gate", "up"), {}, lambda g, u: F.silu(g) * u)
    elements("geglu", "geglu", ("gate", "up"), {}, lambda g, u: F.gelu(g, approximate="tanh") * u)

    def dropout():
        x, y = torch.ones(OVER, device="cuda", dtype=bf16), poisoned(OVER)
        h.launch("dropout", "dropout", dict(x=x, y=y, p=0.5, seed=7), dict(T="bf16"))
        yield "0 or 2", ((y == 0) | (y == 2)).all(), torch.tensor(True, device="cuda"), 0
        for i in (0, OVER // 2, OVER - (1 << 26)):
            part = y[i:i + (1 << 26)].float().mean()
            yield "share from %d" % i, part, torch.ones_like(part), 2e-3
        yield "far parts differ", (y[:1 << 20] == y[1 << 31:(1 << 31) + (1 << 20)]).float().mean() < 0.6, \
            torch.tensor(True, device="cuda"), 0
    h.case("dropout", 14, dropout)


# Where A, B and C of a product have more than 2^31 elements: rows, columns, steps.
SIDES = {"A": ((1 << 20) + 1032, 72, 2048), "B": (72, (1 << 20) + 1032, 2048), "C": ((1 << 16) + 8, (1 << 15) + 8, 64)}


def products(h):
    def batch(t):
        return t.as_strided((*t.shape, 1), (*t.stride(), t.numel()))

    def matrices(a, b, c):
        return dict(A=a, B=b, C=c)

    def batches(a, b, c):
        return dict(A=batch(a), B=batch(b), C=batch(c))

    def product(file, kernel, sides="ABC", args=matrices, member=None, dt=bf16, rows=None, make=noise, out=None,
                want=lambda sums: sums, **consts):
        """args(a, b, c): what the kernel is given; want(sums): what it makes of them."""
        t = consts.get("T", str(dt)[6:])

        def case(side):
            M, N, K = SIDES[side]
            M = min(M, rows or M)

            def run():
                a, b, c = make((M, K), dt), make((N, K), dt, 2), poisoned((M, N), out or dt)
                h.launch(file, kernel, args(a, b, c), consts, member)
                for p in pieces(M, K if side == "A" else N):
                    sums = torch.cat([a[p].float() @ q.float().t() for q in b.split(1 << 17)], 1)
                    yield "rows %s" % p, c[p].float(), want(sums), 2e-2
            name = file if kernel == file else "%s %s" % (file, kernel)
            h.case("%s%s %s of %s" % (name, "" if member is None else "[%d]" % member, t, side), 20, run)
        for side in sides:
            case(side)

    def grouped(a, b, c):
        ends = torch.tensor([a.shape[0]], device="cuda", dtype=torch.int32)
        return dict(A=a, B=b.unsqueeze(2), C=c, ends=ends)

    def gathered(a, b, c):
        return dict(grouped(a, b, c), index=torch.arange(a.shape[0], device="cuda", dtype=torch.int32))

    def dual(a, b, c):
        return dict(A=batch(a), B0=batch(b), B1=batch(b), C=batch(c))

    def small(shape, dt, seed=1):
        torch.manual_seed(seed)
        return torch.randint(-4, 5, shape, device="cuda", dtype=torch.int8).to(dt)

    def scaled(a, b, c):
        blocks = -(-a.shape[1] // 128)
        one = torch.ones((blocks, a.shape[0] + -a.shape[0] % 4), device="cuda").t()[:a.shape[0]]
        return dict(A=a, B=b, C=c, scale_a=one, scale_b=torch.ones((-(-b.shape[0] // 128), blocks), device="cuda"))

    def mixed(a, b, c):
        return dict(A=a, B=b.to(torch.int8), C=c, scale=torch.ones((b.shape[0], -(-b.shape[1] // 128)), device="cuda"))

    for member in (None, 3):
        product("gemm_sm90", "gemm", args=batches, member=member)
    product("gemm_sm90", "gemm", args=batches, dt=f32, T="tf32", TB="tf32", make=small)
    product("gemm_sm90", "gemm", args=batches, dt=torch.float8_e4m3fn, out=bf16, make=small, TC="bf16")
    product("gemm_sm90_roles", "gemm")
    product("gemm_sm90_roles", "ping_pong")
    product("gemm_streamk", "gemm_streamk")
    product("gemm_grouped", "gemm_grouped", args=grouped)
    product("gemm_gather", "gemm_gather", args=gathered)
    product("gemm_dual", "gemm_dual", args=dual, want=lambda x: F.silu(x) * x, make=lambda *a: noise(*a) * 0.1)
    product("gemm_fp8_blockscaled", "gemm_fp8_blockscaled", args=scaled, dt=torch.float8_e4m3fn, out=bf16, make=small)
    product("gemm_mixed", "gemm_mixed", args=mixed, make=small)
    product("gemm_skinny", "gemm_skinny", sides="B")
    product("gemv", "gemv", sides="B", rows=16, args=lambda a, b, c: dict(W=b, x=a, y=c))
    product("gemm_sm80", "gemm", args=batches)
    product("sgemm", "sgemm", dt=f32, make=small)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--only", help="cases whose name contains this, or one of several with commas between")
    h = Huge(p.parse_args().only)
    for part in (rows, sums, moves, products):
        part(h)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % h.count)
    sys.exit(h.count["failed"] != 0)


if __name__ == "__main__":
    main()
