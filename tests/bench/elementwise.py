#!/usr/bin/env python3
"""Element-wise kernels against the best copy and the peers, on one GPU.

    python3 tests/bench/elementwise.py [--rounds N] [--json FILE]

Needs torch and triton. One process; in every round each contestant is timed
by events over a batch of launches, one after the other, so that all see the
same clock and power. A figure is a contestant's GB/s over that of the best
copy in the same round; the table shows the median over the rounds and the
least and greatest ratio. Bytes: every input and every output once.
"""
import argparse
import json
import os
import statistics

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

import cutejit

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../examples")
N = 1 << 28


@triton.jit
def k_copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def k_unary(x, y, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    if OP == 0:
        v = tl.maximum(v, 0.0)
    else:
        u = 1.5957691216057308 * (v + 0.044715 * v * v * v)
        v = v * tl.sigmoid(u)
    tl.store(y + i, v.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def k_binary(a, b, y, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(a + i, mask=i < n)
    v = tl.load(b + i, mask=i < n)
    if OP == 0:
        r = u + v
    else:
        f = u.to(tl.float32)
        r = (f * tl.sigmoid(f) * v.to(tl.float32)).to(y.dtype.element_ty)
    tl.store(y + i, r, mask=i < n)


def timed(run, batch):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(batch):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / batch


def blocks(kernel, args, **meta):
    """Triton's kernel at its best block size: tried once, the best kept."""
    best = None
    for block, warps in ((1024, 4), (2048, 4), (4096, 8), (8192, 8)):
        run = (lambda B, W: lambda: kernel[(triton.cdiv(N, B),)](*args, N, BLOCK=B, num_warps=W, **meta))(block, warps)
        run()
        ms = timed(run, 8)
        if best is None or ms < best[0]:
            best = (ms, run)
    return best[1]


def contest(name, bytes_moved, runs, copies, copy_bytes, rounds, rows):
    for run in list(runs.values()) + list(copies.values()):
        for _ in range(3):
            run()
    ratios = {k: [] for k in runs}
    rates = {k: [] for k in runs}
    ceiling = []
    batch = 12
    for _ in range(rounds):
        best = max(copy_bytes / timed(run, batch) for run in copies.values())
        ceiling.append(best / 1e6)
        for k, run in runs.items():
            rate = bytes_moved / timed(run, batch)
            rates[k].append(rate / 1e6)
            ratios[k].append(rate / best)
    row = {"work": name, "copy": statistics.median(ceiling)}
    line = "%-16s copy %5.0f |" % (name, row["copy"])
    for k in runs:
        row[k] = {"gbps": statistics.median(rates[k]), "ratio": statistics.median(ratios[k]),
                  "least": min(ratios[k]), "most": max(ratios[k])}
        line += " %s %5.0f %.3f [%.3f, %.3f] |" % (k, row[k]["gbps"], row[k]["ratio"], row[k]["least"], row[k]["most"])
    print(line, flush=True)
    rows.append(row)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--json")
    a = p.parse_args()
    ctx = cutejit.Context()
    rows = []
    print("GB/s and ratio to the best copy of the same round [least, most]; 2^28 elements; %s" %
          torch.cuda.get_device_name())
    for dt, t in ((torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16")):
        x, u = (torch.randn(N, device="cuda").to(dt) for _ in range(2))
        y = torch.empty_like(x)
        es = dt.itemsize
        stream = torch.cuda.current_stream().cuda_stream
        copies = {"torch": lambda: y.copy_(x), "triton": blocks(k_copy, (x, y))}

        def cute(file, kernel, args, **consts):
            launch = ctx.prepare(os.path.join(EXAMPLES, file, file + ".cute"), kernel, args, dict(consts, T=t))
            return lambda: launch(stream)

        unary = {"x": x, "y": y}
        todo = [
            ("add", 3, {"cutec": cute("add", "add", {"a": x, "b": u, "c": y}),
                        "torch": lambda: torch.add(x, u, out=y),
                        "triton": blocks(k_binary, (x, u, y), OP=0)}),
            ("relu", 2, {"cutec": cute("relu", "relu", unary), "torch": lambda: torch.clamp_min(x, 0, out=y),
                         "triton": blocks(k_unary, (x, y), OP=0)}),
            ("gelu", 2, {"cutec exact": cute("gelu", "gelu", unary, exact="true"),
                         "cutec tanh": cute("gelu", "gelu", unary, exact="false"),
                         "torch tanh": lambda: F.gelu(x, approximate="tanh"),
                         "triton tanh": blocks(k_unary, (x, y), OP=1)}),
            ("swiglu", 3, {"cutec": cute("swiglu", "swiglu", {"gate": x, "up": u, "y": y}),
                           "triton": blocks(k_binary, (x, u, y), OP=1)}),
        ]
        for name, streams, runs in todo:
            contest("%s %s" % (name, t), streams * N * es, runs, copies, 2 * N * es, a.rounds, rows)
        del x, u, y, copies, todo, runs, unary
        torch.cuda.empty_cache()
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"schema": 1, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
