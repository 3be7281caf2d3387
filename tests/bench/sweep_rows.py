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
import concurrent.futures
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

    def __init__(self, op, N, size, rings_only=False):
        self.op, self.N, self.size, self.vector = op, N, size, 16 // size
        self.late = 1 if op else 0
        self.out = []
        self.rings()
        if rings_only:
            return
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

    def rings(self):
        row = self.N * self.size
        if 512 <= row <= 4096:
            count = -(-row // 512)
            for warps, blocks in ((4, 5), (8, 2), (8, 3), (16, 1), (4, 4)):
                for stages in (1, 2, 3):
                    if blocks * warps * stages * count * 512 <= 220 << 10:
                        self.add("ring_warp", warps=warps, count=count, stages=stages, blocks=blocks)
        if row < 32768:
            return
        for n in (1, 2, 4, 8):
            for rows in (1, 2, 4) if self.op else (1, 2):
                for threads, blocks in ((1024, 1), (512, 2), (512, 1), (256, 4)):
                    if rows == 4 and (n < 4 or threads < 1024) or threads == 256 and n < 4:
                        continue
                    count = -(-row // (n * threads * 16))
                    if n * threads * count * 16 > 1.3 * row or count * rows > (16 if blocks * threads < 1024 else 8):
                        continue
                    self.ring(n, rows, threads, count, blocks)

    def ring(self, n, rows, threads, count, blocks):
        block = threads * count * 16
        for keep in (1, 2, 0) if self.op else (1,):
            weights = (self.op * block if keep == 2 else 0)
            if keep == 1 and self.op and (self.op + rows) * count > 12 * (2 if blocks * threads < 1024 else 1):
                continue
            if keep == 0 and (rows * n < 4 or n * rows < 8 and self.op == 1):
                continue
            stages = min(4, (222 * 1024 // blocks - 1024 - weights) // (rows * block))
            if stages < 1 or blocks * rows * block * (stages + 1) < 96 << 10:
                continue
            most = 65536 // (threads * blocks)      # registers of a thread
            once = 1 if self.op == 0 and rows * count * self.vector <= (64 if most >= 128 else 32) else 0
            for far in (0,) if n * threads < 1024 or n == 1 else (1,) if rows == 1 else (0, 1):
                self.add("ring_row", n=n, rows=rows, threads=threads, count=count, stages=stages, blocks=blocks,
                         keep=keep, once=once, tickets=1, far=far)
                if self.op == 2 and rows == 1:
                    self.add("ring_row", n=n, rows=rows, threads=threads, count=count, stages=stages, blocks=blocks,
                             keep=keep, once=1, tickets=1, far=far)

    def pieces(self):
        row = self.N * self.size
        for n in (1, 2, 4, 8):
            if row > n * 147456:
                continue
            last = 16 * 512 * self.size
            kept = -(-(row // n - last) // last) * last >> 10
            if 16 <= kept <= 113:
                self.add("piece_row", n=n, threads=512, kept=kept, blocks=max(1, min(227 // (kept + 1), 3)))


def variants(op, N, size, rings_only):
    return Ways(op, N, size, rings_only).out


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

    def compile_ahead(self, sets, ways, consts):
        """All of them on several cores at once; what they are refused for is said when they are prepared."""
        def one(way):
            try:
                self.ctx.compile(SWEEP, way[1], sets[0], dict(consts, **way[2]))
            except RuntimeError:
                pass
        self.ctx.module(SWEEP)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(one, ways))

    def say(self, line):
        print(line, flush=True)
        if self.o.out:
            with open(self.o.out, "a") as f:
                f.write(line + "\n")

    def promising(self, runs, turns, nbytes):
        """The best dozen by a short look at each, and what is not of the sweep; the others by a line."""
        looks = {}
        for k, r in list(runs.items()):
            if r is None or k in ("cutec", "triton"):
                continue
            try:
                rows.timed(r, max(turns, 2), turns)
                looks[k] = min(rows.timed(r, max(turns, 4), turns) for _ in range(2))
            except Exception as e:
                self.say("    (%s: %s)" % (k, str(e).split("\n")[0][:160]))
                del runs[k]
        ranked = sorted(looks, key=looks.get)
        for k in ranked[12:]:
            self.say("  %-44s %5.0f" % (k, nbytes / looks[k] / 1e6))
            del runs[k]

    def compare(self, name, nbytes, runs, turns, check):
        began = time.time()
        self.promising(runs, turns, nbytes)
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
    ways = variants(op, N, dt.itemsize, S.o.rings)
    S.compile_ahead(sets, ways, {"T": t, "op": str(op)})
    for label, kernel, consts in ways:
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
        for N, R, which in ((131072, 8192, "lsr"), (65536, 8192, "lrsL"), (262144, 2048, "lrsLR"), (32768, 32768, "lrsS"),
                            (131072, 4096, "LRS"), (16384, 16384, "lLR"), (32768, 16384, "LR")):
            for one in which:
                name = {"l": "layernorm", "r": "rmsnorm", "s": "softmax"}[one.lower()]
                t = "bf16" if one.islower() else "f32"
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
    p.add_argument("--rings", action="store_true", help="rings of rows only")
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
