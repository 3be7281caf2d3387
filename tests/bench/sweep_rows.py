#!/usr/bin/env python3
"""Which shape of a kernel over rows is fastest: all of them against a copy.

    python3 tests/bench/sweep_rows.py [--seconds S] [--only TEXT] [--rounds N] [--part short|long] [--out FILE]

Contests as in rows.py, whose table says how far the members of the examples
are; this one runs sweep_rows.cute, where threads, elements per thread, hints
and so on are constants, to find what those members should be. A line per
contest and variant, best first: GB/s, median ratio to the best copy of the
same round, least and greatest; `!` marks a result that is wrong.
"""
import argparse
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

import rows

HERE = os.path.dirname(os.path.abspath(__file__))
SWEEP = os.path.join(HERE, "sweep_rows.cute")
TYPES = dict(rows.DTYPES)
LONG = 32768        # rows for clusters
OPS = {"softmax": 0, "rmsnorm": 1, "layernorm": 2}


def split(N, each):
    """Threads that hold N elements, `each` of them per thread: whole warps."""
    return -(-N // (32 * each)) * 32


def variants(op, N, size, thorough):
    """(label, kernel, constants) for rows of N elements of `size` bytes."""
    out = []

    def add(kernel, **consts):
        short = " ".join("%s=%s" % (k[:3] if k != "late" else k, v) for k, v in consts.items())
        out.append(("%s %s" % (kernel.split("_")[0], short), kernel, {k: str(v) for k, v in consts.items()}))
    hints = (0, 1, 2, 3) if thorough else (0, 3)
    vector = 16 // size
    for each in (8, 16, 32, 64):
        threads = split(N, each)
        if each < vector or not 64 <= threads <= 1024 or N > 65536:
            continue
        for h in hints:
            add("block_row", threads=threads, per=each, hints=h)
        if op and each < 64:
            add("block_row", threads=threads, per=each, hints=0, late=1)
        if op == 2 and each < 64:
            add("block_row", op=3, threads=threads, per=each, hints=0, late=1)
        if each in (16, 32):
            blocks = max(1, (2048 if each == 16 else 1024) // threads)
            add("block_row", threads=threads, per=each, hints=0, late=1 if op else 0, blocks=blocks)
            add("dependent_row", threads=threads, per=each, hints=0, late=1 if op else 0)
            add("ahead_row", threads=threads, per=each, hints=0, blocks=max(1, 1024 // threads))
            add("copy_row", threads=threads, per=each, hints=0)
        if each in (8, 16) and threads <= 512:
            add("pair_row", threads=threads, per=each, hints=0)
    for n in (2, 4, 8, 16):
        for threads in (256, 512, 1024):
            each = -(-N // (n * threads * vector)) * vector
            if N < LONG or each > (64 if threads < 1024 and size == 2 else 32) or each * n * threads >= 2 * N:
                continue
            late = 1 if op else 0
            if op != 2:
                add("cluster_row", n=n, threads=threads, per=each, hints=0, late=late)
            if op == 2 or op == 0:
                add("cluster_row", op=3 if op else 4, n=n, threads=threads, per=each, hints=0, late=late)
            if each <= 16 and threads < 1024:
                add("cluster_row", op=(4, 1, 3)[op], n=n, threads=threads, per=each, hints=3, late=late)
            if each == 32 and threads < 1024:
                add("cluster_row", op=(0, 1, 2)[op], n=n, threads=threads, per=each, hints=0, late=late,
                    blocks=1024 // threads)
    for lanes in (4, 8, 16, 32):
        each = -(-N // (lanes * vector)) * vector
        if each <= 64 and each * lanes < 2 * N:
            for h in hints:
                add("lanes_row", lanes=lanes, per=each, hints=h)
            add("lanes_row", lanes=lanes, per=each, threads=256, hints=0, late=1 if op else 0)
    return out


class Sweep(rows.Bench):
    def __init__(self, options):
        options.inductor = False
        super().__init__(options)

    def kernel(self, kernel, sets, consts):
        try:
            launches = [self.ctx.prepare(SWEEP, kernel, a, consts) for a in sets]
        except RuntimeError as e:
            self.say("    (%s %s: %s)" % (kernel, consts, " ".join(str(e).split())[:200]))
            return None
        return lambda i: launches[i](self.stream)

    def say(self, line):
        print(line, flush=True)
        if self.o.out:
            with open(self.o.out, "a") as f:
                f.write(line + "\n")

    def compare(self, name, nbytes, runs, turns, check):
        began = time.time()
        self.contest(name, "copy", nbytes, runs, turns, check)
        row = self.rows[-1]
        self.say("%s  copy %.0f GB/s, %.1f s" % (name, row["ceiling_gbps"], time.time() - began))
        ranked = sorted(((v["ratio"], k) for k, v in row.items() if isinstance(v, dict)), reverse=True)
        for ratio, k in ranked:
            v = row[k]
            self.say("  %-44s %5.0f %.3f [%.3f, %.3f]%s" % (
                k, v["gbps"], ratio, v["least"], v["most"], "" if v["agrees"] else " !"))


def over_rows(S, name, t, R, N, thorough=False):
    full = "%s %s %dx%d" % (name, t, R, N)
    if not S.wanted(full):
        return
    dt, op = TYPES[t], OPS[name]
    size = R * N * dt.itemsize
    turns = 1 if 2 * size > 4 * rows.L2 else 3
    xs = [torch.randn(R, N, device="cuda", dtype=dt) for _ in range(turns)]
    ys = [torch.empty_like(x) for x in xs]
    w, b = torch.randn(N, device="cuda", dtype=dt), torch.randn(N, device="cuda", dtype=dt)
    sets = [dict(x=x, w=w, b=b, y=y) for x, y in zip(xs, ys)]
    more = ({}, {"w": w}, {"w": w, "b": b})[op]
    own = [dict(x=x, **more, y=y) for x, y in zip(xs, ys)]
    runs = {"cutec": S.cute(name, name, own, {"T": t})}
    for label, kernel, consts in variants(op, N, dt.itemsize, thorough):
        runs[label] = S.kernel(kernel, sets, dict({"T": t, "op": str(op)}, **consts))
    if N <= 32768:
        def peer(q):
            if op == 0:
                return lambda i: rows.k_softmax[(R,)](xs[i], ys[i], N, BLOCK=rows.triton.next_power_of_2(N), num_warps=q)
            return lambda i: rows.k_norm[(R,)](xs[i], w, b, ys[i], N, 1e-5 if op == 2 else 1e-6, LN=op == 2,
                                               BLOCK=rows.triton.next_power_of_2(N), num_warps=q)
        runs["triton"] = S.triton([peer(q) for q in ((4, 8, 16) if N <= 8192 else (16, 32))], turns)
    few = xs[0][:64].float()
    want = (torch.softmax(few, -1), F.rms_norm(few, (N,), w.float(), 1e-6),
            F.layer_norm(few, (N,), w.float(), b.float(), 1e-5))[op]

    def check(k):
        y, right = ys[0][:64].float(), xs[0][:64].float() if k.startswith("copy") else want
        ok = rows.agree(y, right, rows.tolerance(dt))
        if op == 0 and not k.startswith("copy"):
            ok = ok and rows.agree(y / right.clamp_min(1e-30), torch.ones_like(right), 2e-2)
        ys[0].zero_()
        return ok
    S.compare(full, 2 * size, runs, turns, check)
    del xs, ys, sets, own, runs
    torch.cuda.empty_cache()


def transposes(S, t, n):
    name = "transpose %s %d" % (t, n)
    if not S.wanted(name):
        return
    x = torch.randn(n, n, device="cuda", dtype=TYPES[t])
    y = torch.empty_like(x)
    sets = [{"x": x, "y": y}]
    runs = {"cutec": S.cute("transpose", "transpose", sets, {"T": t})}
    for kernel, group, hints, threads in (
            [("transpose", g, h, 256) for g in (2, 4, 8) for h in (0, 1, 2, 3)] +
            [("transpose", g, 0, th) for g in (4, 8) for th in (128, 64)] +
            [("dependent_transpose", g, h, 256) for g in (4, 8) for h in (0, 3)]):
        runs["%s gro=%d hin=%d thr=%d" % (kernel, group, hints, threads)] = S.kernel(
            kernel, sets, {"T": t, "group": str(group), "hints": str(hints), "threads": str(threads)})
    runs["triton"] = S.triton([(lambda a, b, w: lambda i: rows.k_transpose[(n // a, n // b)](
        x, y, n, n, BM=a, BN=b, num_warps=w))(*z) for z in ((64, 64, 8), (64, 128, 8))])

    def check(k):
        ok = torch.equal(y, x.t())
        y.zero_()
        return ok
    S.compare(name, 2 * n * n * TYPES[t].itemsize, runs, 1, check)
    del x, y, sets, runs
    torch.cuda.empty_cache()


def contests(S):
    """Those of rows for clusters in one process, the others in another: one that fails leaves the other be."""
    def row(name, t, R, N, thorough=False):
        if (N >= LONG) == (S.o.part == "long"):
            return lambda: over_rows(S, name, t, R, N, thorough)
        return lambda: None

    def square(t, n):
        return (lambda: transposes(S, t, n)) if S.o.part != "long" else lambda: None
    K = 32768
    yield row("softmax", "bf16", K, 4096, True)
    yield row("softmax", "bf16", 8192, 131072)
    yield square("bf16", 8192)
    yield row("layernorm", "bf16", K, 8192)
    yield row("softmax", "f32", K, 4096)
    yield row("softmax", "f32", 8192, 131072)
    yield row("rmsnorm", "bf16", K, 4096)
    yield row("softmax", "bf16", K, 1024)
    yield square("f32", 8192)
    for name in ("rmsnorm", "layernorm"):
        yield row(name, "bf16", 8192, 131072)
    for t in ("bf16", "f32"):
        yield row("softmax", t, K, 32768)
        yield row("softmax", t, K, 8192)
        yield square(t, 16384)
    yield row("softmax", "f32", K, 1024)
    for name in ("layernorm", "rmsnorm"):
        for N in (4096, 1024, 32768) if name == "layernorm" else (8192, 1024, 32768):
            yield row(name, "bf16", K, N)
    for N, R in ((262144, 2048), (65536, 8192), (64, 1 << 20), (2048, 65536), (5000, 16384), (16384, 16384), (256, 1 << 19)):
        for name, t in (("softmax", "bf16"), ("layernorm", "f32"), ("softmax", "f32"), ("layernorm", "bf16"),
                        ("rmsnorm", "bf16")):
            yield row(name, t, R, N)


def both(o):
    """The two parts one after the other, their tables in one file."""
    for part, share in (("short", 0.6), ("long", 0.4)):
        command = [sys.executable, os.path.abspath(__file__), "--part", part, "--seconds", str(share * o.seconds),
                   "--rounds", str(o.rounds)]
        command += ["--only", o.only] if o.only else []
        command += ["--out", o.out] if o.out else []
        print(part, subprocess.run(command).returncode, flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", help="contests whose name contains this")
    p.add_argument("--seconds", type=float, default=300, help="begin no contest after this time")
    p.add_argument("--part", choices=("short", "long"), help="rows below or from %d elements on; else both" % LONG)
    p.add_argument("--out", help="a file for the table, which grows")
    o = p.parse_args()
    if o.out and not o.part:
        open(o.out, "w").close()
    if not o.part:
        return both(o)
    S = Sweep(o)
    S.say("GB/s, ratio to the best copy of the same round [least, greatest]; %s" % torch.cuda.get_device_name())
    for contest in contests(S):
        try:
            contest()
        except Exception as e:
            S.say("FAILED: %s: %s" % (type(e).__name__, " ".join(str(e).split())[:300]))


if __name__ == "__main__":
    main()
