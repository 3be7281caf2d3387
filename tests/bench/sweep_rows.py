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


def variants(op, N, size):
    """(label, kernel, constants) for rows of N elements of `size` bytes."""
    out, vector, late = [], 16 // size, 1 if op else 0

    def add(kernel, **consts):
        short = " ".join("%s=%s" % (k[:3] if k != "late" else k, v) for k, v in consts.items())
        out.append(("%s %s" % (kernel, short), kernel, {k: str(v) for k, v in consts.items()}))

    for lanes in (4, 8, 16, 32):
        each = -(-N // (lanes * vector)) * vector
        if each <= 32 and each * lanes < 2 * N:
            add("lanes_row", lanes=lanes, per=each, hints=3, late=0)
            for threads in (128, 256, 512):
                add("dependent_lanes", lanes=lanes, per=each, threads=threads, hints=0, late=late)
    for each in (8, 16, 32):
        threads = split(N, each)
        if not 64 <= threads <= 1024 or N > 65536:
            continue
        add("block_row", threads=threads, per=each, hints=0, late=late)
        add("dependent_row", threads=threads, per=each, hints=0, late=late)
        if N <= 1024:
            add("block_row", threads=threads, per=each, hints=3, late=0)
            add("dependent_row", threads=threads, per=each, hints=3, late=0)
            add("pair_row", threads=threads, per=each, hints=3, late=0)
        for kept in (1024, 1536, 2048):
            if each * kept <= 32768 and kept % threads == 0 and threads >= 256:
                add("dependent_row", threads=threads, per=each, hints=0, late=late, blocks=kept // threads)
    for n in (2, 4, 8, 16):
        for threads in (256, 512, 1024):
            each = -(-N // (n * threads * vector)) * vector
            if N < LONG or each > 32 or each * n * threads >= 2 * N:
                continue
            add("cluster_row", n=n, threads=threads, per=each, hints=0, late=late)
            for kept in (1024, 1536):
                if each * kept <= 32768 and kept > threads and kept % threads == 0:
                    add("cluster_row", n=n, threads=threads, per=each, hints=0, late=late, blocks=kept // threads)
            if op == 0:
                add("cluster_row", op=3, n=n, threads=threads, per=each, hints=0, blocks=max(1, 1024 // threads))
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


def over_rows(S, name, t, R, N):
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
    for label, kernel, consts in variants(op, N, dt.itemsize):
        runs[label] = S.kernel(kernel, sets, dict({"T": t, "op": str(op)}, **consts))
    if N <= 32768:
        def peer(q):
            if op == 0:
                return lambda i: rows.k_softmax[(R,)](xs[i], ys[i], N, BLOCK=wide, num_warps=q)
            return lambda i: rows.k_norm[(R,)](xs[i], w, b, ys[i], N, 1e-5 if op == 2 else 1e-6, LN=op == 2,
                                               BLOCK=wide, num_warps=q)
        wide = rows.triton.next_power_of_2(N)
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


def contests(S):
    """Those of rows for clusters in one process, the others in another: one that fails leaves the other be."""
    if S.o.part == "long":
        for N, R in ((131072, 8192), (32768, 32768), (262144, 2048), (65536, 8192)):
            for name, t in (("softmax", "bf16"), ("layernorm", "bf16"), ("rmsnorm", "bf16"), ("softmax", "f32"),
                            ("layernorm", "f32")):
                yield lambda: over_rows(S, name, t, R, N)
    else:
        for N, R in ((4096, 32768), (1024, 32768), (8192, 32768), (16384, 16384), (2048, 65536), (5000, 16384),
                     (256, 1 << 19), (64, 1 << 20)):
            for name, t in (("layernorm", "bf16"), ("softmax", "bf16"), ("rmsnorm", "bf16"), ("layernorm", "f32")):
                yield lambda: over_rows(S, name, t, R, N)


def run(command):
    print(command[1:], subprocess.run([sys.executable] + command).returncode, flush=True)


def test(out):
    """Do blocks of clusters find each other's memory here?"""
    cutec = os.path.join(HERE, "../../build/cutec")
    r = subprocess.run([cutec, "test", os.path.join(HERE, "../kernels/cluster.cute")], capture_output=True, text=True)
    with open(out, "a") as f:
        f.write("".join(line + "\n" for line in r.stdout.split("\n") if line and not line.startswith("pass")))


def everything(o):
    """What the examples reach (rows.py), then both parts; all tables in one file."""
    out = o.out or os.devnull
    test(out)
    table = out + ".table" if o.out else os.devnull
    only = ["--only", o.only] if o.only else []
    for part, share in (("long", 0.25), ("table", 0.55), ("short", 0.2)):
        seconds = ["--seconds", str(share * o.seconds), "--rounds", str(o.rounds)] + only
        if part != "table":
            run([os.path.abspath(__file__), "--part", part, "--out", out] + seconds)
            continue
        run([os.path.join(HERE, "rows.py"), "--markdown", table] + seconds)
        if o.out and os.path.exists(table):
            with open(table) as t, open(out, "a") as f:
                f.write(t.read())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", help="contests whose name contains this")
    p.add_argument("--seconds", type=float, default=300, help="begin no contest after this time")
    p.add_argument("--part", choices=("short", "long"), help="rows below or from %d elements on; else all" % LONG)
    p.add_argument("--out", help="a file for the table, which grows")
    o = p.parse_args()
    if o.out and not o.part:
        open(o.out, "w").close()
    if not o.part:
        return everything(o)
    S = Sweep(o)
    S.say("GB/s, ratio to the best copy of the same round [least, greatest]; %s" % torch.cuda.get_device_name())
    for contest in contests(S):
        try:
            contest()
        except Exception as e:
            S.say("FAILED: %s: %s" % (type(e).__name__, " ".join(str(e).split())[:300]))


if __name__ == "__main__":
    main()
