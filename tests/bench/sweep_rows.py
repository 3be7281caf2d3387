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


class Ways:
    """(label, kernel, constants) of what could be tried for rows of N elements of `size` bytes."""

    def __init__(self, op, N, size):
        self.op, self.N, self.size, self.vector = op, N, size, 16 // size
        self.late = 1 if op else 0
        self.out = []
        if N * size <= 4096:
            self.lanes()
        if 512 <= N <= 16384:
            self.registers()
        if N * size >= 8192:
            self.memory()
        if op == 0 and N * size >= 32768:
            self.pieces()

    def add(self, kernel, **consts):
        short = " ".join("%s=%s" % (k, v) for k, v in consts.items())
        self.out.append(("%s %s" % (kernel, short), kernel, {k: str(v) for k, v in consts.items()}))

    def lanes(self):
        for lanes in (4, 8, 16, 32):
            each = -(-self.N // (lanes * self.vector)) * self.vector
            if each <= 32 and each * lanes < 2 * self.N:
                for threads in (128, 256):
                    for hints in (0, 2) if self.N >= 512 else (0,):
                        for ahead in (0, 1):
                            self.add("dependent_lanes", lanes=lanes, per=each, threads=threads, hints=hints,
                                     late=self.late, ahead=ahead)

    def registers(self):
        for each in (16, 24, 32):
            threads = split(self.N, each)
            if 64 <= threads <= 1024 and each % self.vector == 0:
                for ahead in (0, 1):
                    self.add("dependent_row", threads=threads, per=each, hints=0, late=self.late, ahead=ahead)

    def memory(self):
        row = self.N * self.size
        for n in (1, 2, 4, 8, 16):
            if 2 * row < n * 65536 and n > 1 or row > n * 131072:
                continue
            for many in (1, 2) if self.op and row <= n * 65536 else (1,):
                for threads in (256, 512, 1024):
                    count = -(-row // (n * threads * 16))
                    count += count % 2
                    held = many * count * threads * 16
                    if threads == 256 and (n < 4 or count != 8 or many > 1):
                        continue
                    if held < 48 << 10 and threads > 256 or n * threads * count * 16 >= 1.5 * row or count * many > 16:
                        continue
                    blocks = max(1, min(227 * 1024 // (held + 1280), 2048 // threads, 6 if threads == 256 else 3))
                    self.add("async_row", n=n, rows=many, threads=threads, count=count, blocks=blocks)
                    self.add("bulk_row", n=n, rows=many, threads=threads, count=count, blocks=blocks)

    def pieces(self):
        row = self.N * self.size
        for n in (1, 2, 4, 8):
            if row > n * 147456:
                continue
            last = 16 * 512 * self.size
            kept = -(-(row // n - last) // last) * last >> 10
            if 16 <= kept <= 113:
                self.add("piece_row", n=n, threads=512, kept=kept, blocks=max(1, min(227 // (kept + 1), 3)))


def variants(op, N, size):
    return Ways(op, N, size).out


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
    if S.o.peers and N <= 32768:
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
        for N, R in ((32768, 32768), (131072, 8192), (65536, 8192), (262144, 2048)):
            for name, t in (("softmax", "bf16"), ("layernorm", "bf16"), ("rmsnorm", "bf16"), ("softmax", "f32"),
                            ("layernorm", "f32")):
                yield lambda: over_rows(S, name, t, R, N)
    else:
        for N, R in ((1024, 32768), (5000, 16384), (256, 1 << 19), (64, 1 << 20), (16384, 16384), (4096, 32768),
                     (8192, 32768), (2048, 65536)):
            for name, t in (("layernorm", "bf16"), ("softmax", "bf16"), ("rmsnorm", "bf16"), ("softmax", "f32")):
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
    p.add_argument("--peers", action="store_true", help="triton, too")
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
