#!/usr/bin/env python3
"""Products of 1 to 128 rows with a large matrix (examples/gemv, gemm_skinny) against cuBLAS, on one GPU.

    python3 tests/bench/gemv.py [--rounds N] [--only TEXT] [--seconds S] [--sweep] [--json FILE] [--markdown FILE]

As rows.py, but launches of all contestants are in CUDA graphs, so that what the host does for each is not measured;
matrices rotate there. GB/s of the matrix, and the median ratio to the best read of the same round. "early" says that
the matrix was there before the launch in front. --sweep tries other constants too.
"""
import os

import torch

import gemm
import rows

COUNT = 24
SHAPES = ((28672, 8192), (14336, 4096), (4096, 14336))
SWEEP = [{"split": s, "step": p} for s in ("4", "8", "16") for p in ("32", "64", "128")]
# (rows of the matrix, steps along K, stages) of gemm_skinny
SKINNY = ((224, 128, 3), (224, 64, 6), (112, 64, 10), (112, 128, 5), (64, 128, 6), (64, 64, 13))


def skinny(m):
    """Constants of gemm_skinny for m rows of x, by columns."""
    for rows, step, stages in SKINNY:
        yield {"tile": "(%d,64,%d)" % (rows, step), "stages": str(stages)}


def prepared(B, kernel, sets, consts):
    """A run over the argument sets on the stream that is current then; None and a line if it is refused."""
    path = os.path.join(rows.EXAMPLES, kernel, kernel + ".cute")
    try:
        launches = [B.ctx.prepare(path, kernel, a, dict(consts, T="bf16")) for a in sets]
    except RuntimeError as e:
        print("    (%s %s: %s)" % (kernel, consts, " ".join(str(e).split())[:160]))
        return None
    return lambda i: launches[i](torch.cuda.current_stream().cuda_stream)


def in_graph(run, turns):
    """A contestant's 24 launches, by turns, as one graph; None stays None."""
    if run is None:
        return None
    at = iter(range(1 << 30))
    return gemm.graph_of(lambda: run(next(at) % turns), COUNT).replay


def products(B):
    for n, k in SHAPES:
        turns = 2 if n * k > 1 << 27 else 4
        ws = [torch.randn((n, k), device="cuda").bfloat16() for _ in range(turns)]
        for m in (1, 2, 4, 8, 16, 32, 64, 128):
            name = "gemv bf16 %d x %dx%d" % (m, n, k)
            if not B.wanted(name):
                continue
            x = torch.randn((m, k), device="cuda").bfloat16()
            y = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
            want = x.double() @ ws[0][-64:].double().t()
            sets = [dict(W=w, x=x, y=y) for w in ws]
            runs = {"cutec": prepared(B, "gemv", sets, {})} if m <= 16 else {}
            rows_of = [dict(A=x, B=w, C=y) for w in ws]
            runs["cutec skinny"] = prepared(B, "gemm_skinny", rows_of, {})
            runs["cutec skinny early"] = prepared(B, "gemm_skinny", rows_of, {"early": "true"})
            for consts in SWEEP if B.o.sweep and m <= 16 else ():
                label = "cutec[%s]" % " ".join("%s=%s" % c for c in consts.items())
                runs[label] = prepared(B, "gemv", sets, consts)
            for consts in skinny(m) if B.o.sweep else ():
                label = "skinny[%s]" % " ".join(consts.values())
                runs[label] = prepared(B, "gemm_skinny", rows_of, consts)
            runs["cuBLAS"] = lambda i: torch.mm(x, ws[i].t(), out=y)

            def check(label):
                runs[label](0)
                torch.cuda.synchronize()
                got = y[:, -64:].double()
                y.fill_(float("nan"))
                return bool(((got - want).abs() <= 8e-3 * want.abs() + 1e-3 * k ** 0.5).all())
            graphs = {label: in_graph(run, turns) for label, run in runs.items()}
            B.contest(name, "read", COUNT * 2 * n * k, {label: (lambda g: lambda i: g())(g) if g else None
                                                        for label, g in graphs.items()}, check=check)
        del ws
        torch.cuda.empty_cache()


if __name__ == "__main__":
    p = rows.parser()
    p.add_argument("--sweep", action="store_true")
    B = rows.Bench(p.parse_args())
    rows.run(B, (lambda: products(B),))
