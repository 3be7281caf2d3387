#!/usr/bin/env python3
"""Kernels over rows and other memory-bound kernels against peers, on one GPU.

    python3 tests/bench/rows.py [--rounds N] [--only TEXT] [--seconds S] [--inductor] [--json FILE]
                                [--markdown FILE]

Needs torch and triton. One process; in every round each contestant is timed
by events over a batch of launches, one after the other, so that all see the
same clock and power, after two launches that are not timed: what the one in
front has left in L2 to be written is not for the next to pay. Buffers rotate
where they would stay in L2. A figure is a contestant's GB/s over that of the
best copy (for what only reads: the best read) in the same round: the median
over the rounds, the least and greatest.
Bytes: every input and every output once. Every result is compared with torch
before it is timed; `!` marks one that differs.

"cutec" is the member of the family that the contract chooses; others that
take the same arguments run as "cutec[member constants]".
"""
import argparse
import json
import os
import re
import statistics
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

import cub_peers
import cutejit
import moves

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../examples")
L2 = 64 << 20


@triton.jit
def k_copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def k_read(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.jit
def k_softmax(x, y, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r + c, mask=c < N, other=-float("inf")).to(tl.float32)
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(y + r + c, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=c < N)


@triton.jit
def k_norm(x, w, b, y, N, eps, LN: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    m = c < N
    v = tl.load(x + r + c, mask=m, other=0.0).to(tl.float32)
    g = tl.load(w + c, mask=m, other=0.0).to(tl.float32)
    if LN:
        mu = tl.sum(v, 0) / N
        v = tl.where(m, v - mu, 0.0)
    rs = 1.0 / tl.sqrt(tl.sum(v * v, 0) / N + eps)
    v = v * rs * g
    if LN:
        v = v + tl.load(b + c, mask=m, other=0.0).to(tl.float32)
    tl.store(y + r + c, v.to(y.dtype.element_ty), mask=m)


@triton.jit
def k_xent(x, t, out, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    mx = tl.full([BLOCK], -1.0e30, tl.float32)
    s = tl.zeros([BLOCK], tl.float32)
    for o in range(0, N, BLOCK):
        c = o + tl.arange(0, BLOCK)
        v = tl.load(x + r * N + c, mask=c < N, other=-1.0e30).to(tl.float32)
        mn = tl.maximum(mx, v)
        s = s * tl.exp(mx - mn) + tl.exp(v - mn)
        mx = mn
    big = tl.max(mx, 0)
    tot = tl.sum(s * tl.exp(mx - big), 0)
    xt = tl.load(x + r * N + tl.load(t + r)).to(tl.float32)
    tl.store(out + r, big + tl.log(tot) - xt)


@triton.jit
def k_transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + rm[:, None] * N + rn[None, :])
    tl.store(y + rn[:, None] * M + rm[None, :], tl.trans(v))


@triton.jit
def k_row_sum(x, y, N, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    a = tl.zeros([BLOCK], tl.float32)
    for o in range(0, N, BLOCK):
        c = o + tl.arange(0, BLOCK)
        a += tl.load(x + r * N + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(y + r, tl.sum(a, 0))


def timed(run, batch, turns=1):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for i in range(batch):
        run(i % turns)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / batch


class Bench:
    def __init__(self, options):
        self.o = options
        self.end = time.time() + options.seconds
        self.ctx = cutejit.Context()
        self.cub = cub_peers.Cub()
        self.stream = torch.cuda.current_stream().cuda_stream
        self.rows = []
        n = 1 << 28
        self.a, self.b = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
        part = torch.empty(n // 1024, device="cuda")
        self.copies, self.reads = [lambda i: self.b.copy_(self.a)], [lambda i: torch.sum(self.a)]
        for B, w in ((1024, 4), (2048, 4), (4096, 8)):
            self.copies.append((lambda B, w: lambda i: k_copy[(triton.cdiv(n, B),)](
                self.a, self.b, n, BLOCK=B, num_warps=w))(B, w))
        for B, w in ((2048, 4), (4096, 8), (8192, 8)):
            self.reads.append((lambda B, w: lambda i: k_read[(triton.cdiv(n, B),)](
                self.a, part, n, BLOCK=B, num_warps=w))(B, w))
        self.ceilings = {"copy": (self.best(self.copies), 8 * n), "read": (self.best(self.reads), 4 * n)}

    def best(self, runs, turns=1):
        """The fastest of them; those that do not run are out."""
        found = None
        for run in runs:
            try:
                run(0)
                torch.cuda.synchronize()
                ms = timed(run, 6, turns)
            except Exception as e:
                print("    (left out: %s)" % str(e).split("\n")[0][:100])
                continue
            if found is None or ms < found[0]:
                found = (ms, run)
        return found[1] if found else None

    def cute(self, file, kernel, args, consts, member=None):
        """A run over the argument sets of `args`; None and a line if it is refused."""
        path = os.path.join(EXAMPLES, file, file + ".cute")
        try:
            launches = [self.ctx.prepare(path, kernel, a, consts, member) for a in args]
        except RuntimeError as e:
            print("    (%s %s %s: %s)" % (kernel, member, consts, " ".join(str(e).split())[:160]))
            return None
        return lambda i: launches[i](self.stream)

    def wanted(self, name):
        only = (self.o.only or "").split(",")
        return any(text in name for text in only) and time.time() < self.end

    def contest(self, name, ceiling, nbytes, runs, turns=1, check=None):
        """runs: name -> run(i). check(name): does the output agree with torch, after that contestant ran?"""
        runs = {k: r for k, r in runs.items() if r}
        bad = set()
        for k in list(runs):
            try:
                for i in range(turns):
                    runs[k](i)
                torch.cuda.synchronize()
            except Exception as e:
                print("    (%s: %s)" % (k, str(e).split("\n")[0][:160]))
                del runs[k]
                continue
            if check and not check(k):
                bad.add(k)
        top, top_bytes = self.ceilings[ceiling]
        rate, ratio, top_rate = {k: [] for k in runs}, {k: [] for k in runs}, []
        batch = {k: max(turns, min(24, int(6 / timed(r, 2, turns)) + 1)) for k, r in runs.items()}
        for _ in range(self.o.rounds):
            timed(top, 2)
            best = top_bytes / timed(top, 6)
            top_rate.append(best / 1e6)
            for k, r in runs.items():
                timed(r, max(turns, 2), turns)
                v = nbytes / timed(r, batch[k], turns)
                rate[k].append(v / 1e6)
                ratio[k].append(v / best)
        row = {"work": name, "ceiling": ceiling, "ceiling_gbps": statistics.median(top_rate), "bytes": nbytes}
        print("%-34s %s %5.0f" % (name, ceiling, row["ceiling_gbps"]))
        for k in runs:
            row[k] = {"gbps": statistics.median(rate[k]), "ratio": statistics.median(ratio[k]),
                      "least": min(ratio[k]), "most": max(ratio[k]), "agrees": k not in bad}
            print("    %-30s %6.0f GB/s  %.3f [%.3f, %.3f]%s" % (
                k, row[k]["gbps"], row[k]["ratio"], row[k]["least"], row[k]["most"], "  !" if k in bad else ""),
                flush=True)
        self.rows.append(row)

    def triton(self, launches, turns=1):
        return self.best(launches, turns)


def agree(y, want, rel):
    return torch.allclose(y.float(), want.float(), rtol=rel, atol=rel)


def tolerance(dt):
    return 1e-4 if dt == torch.float32 else 2e-2


DTYPES = (("bf16", torch.bfloat16), ("f32", torch.float32))


def over_rows(B, name, file, kernel, make, torch_run, triton_runs, members, shapes, types=DTYPES):
    """softmax and norms: the same contest for each shape; make(dt, R, N, y) gives what goes in besides x and y."""
    for t, dt in types:
        for R, N in shapes:
            full = "%s %s %dx%d" % (name, t, R, N)
            size = R * N * dt.itemsize
            if not B.wanted(full) or size > 20 << 30:
                continue
            turns = 1 if 2 * size > 4 * L2 else 3
            xs = [torch.randn(R, N, device="cuda", dtype=dt) for _ in range(turns)]
            ys = [torch.empty_like(x) for x in xs]
            more = make(dt, N)
            sets = [dict(x=x, **more, y=y) for x, y in zip(xs, ys)]
            runs = {"cutec": B.cute(file, kernel, sets, {"T": t})}
            for member, consts in members(N, dt.itemsize):
                label = "cutec[%d%s]" % (member, "".join(" %s=%s" % c for c in consts.items()))
                runs[label] = B.cute(file, kernel, sets, dict(consts, T=t), member)
            results = {}
            runs["torch"] = lambda i: results.__setitem__("y", torch_run(xs[i], more))
            if N <= 65536:
                runs["triton"] = B.triton(triton_runs(xs, ys, R, N, more), turns)
            if B.o.inductor and N >= 4096 and t == "bf16":
                c = torch.compile(lambda x: torch_run(x, more), dynamic=False)
                runs["inductor"] = lambda i: c(xs[i])
            few = slice(0, 64)
            want = torch_run(xs[0][few].float(), {k: v.float() for k, v in more.items()})
            last = torch_run(xs[0][-4:].float(), {k: v.float() for k, v in more.items()})

            def check(k):
                if k in ("torch", "inductor"):
                    return True
                ok = agree(ys[0][few], want, tolerance(dt)) and agree(ys[0][-4:], last, tolerance(dt))
                if name.endswith("softmax"):
                    ok = ok and agree(ys[0][few] / want.clamp_min(1e-30), torch.ones_like(want), 2e-2)
                ys[0].zero_()
                return ok
            B.contest(full, "copy", 2 * size, runs, turns, check)
            del xs, ys, sets, runs
            results.clear()
            torch.cuda.empty_cache()


SHAPES = ((32768, 1024), (32768, 4096), (32768, 8192), (32768, 32768), (8192, 131072))
LENGTHS = ((1 << 20, 64), (1 << 19, 256), (65536, 2048), (16384, 5000), (16384, 16384), (8192, 65536), (2048, 262144))


def members(N, size):
    """Another member that takes rows of N elements of `size` bytes, to be compared with the one that is chosen."""
    return []


def between(low, high):
    """Every power of two and, after each, a length of half as much again that is no multiple of any vector."""
    n = low
    while n <= high:
        yield n
        if n < high:
            yield n + n // 2 + 1
        n *= 2


def lengths(B):
    """What the families reach at every length, without peers: is there a cliff?"""
    for t, dt in DTYPES:
        for N in between(64, 1 << 18):
            R = (1 << 28) // N
            if not B.wanted("lengths %s %d" % (t, N)):
                continue
            x = torch.randn(R, N, device="cuda", dtype=dt)
            y, w, b = torch.empty_like(x), torch.randn(N, device="cuda", dtype=dt), torch.randn(N, device="cuda", dtype=dt)
            for name, args in (("softmax", dict(x=x, y=y)), ("rmsnorm", dict(x=x, w=w, y=y)),
                               ("layernorm", dict(x=x, w=w, b=b, y=y))):
                few = x[-64:].float()
                want = (torch.softmax(few, -1) if name == "softmax" else F.rms_norm(few, (N,), w.float(), 1e-6)
                        if name == "rmsnorm" else F.layer_norm(few, (N,), w.float(), b.float(), 1e-5))
                B.contest("lengths %s %s %d" % (name, t, N), "copy", 2 * R * N * dt.itemsize,
                          {"cutec": B.cute(name, name, [args], {"T": t})},
                          check=lambda k: agree(y[-64:], want, tolerance(dt)))
            del x, y, few, want
            torch.cuda.empty_cache()


def softmax(B, shapes):
    def triton_runs(xs, ys, R, N, more):
        ws = (4, 8, 16) if N <= 8192 else (16, 32)
        return [(lambda w: lambda i: k_softmax[(R,)](xs[i], ys[i], N, BLOCK=triton.next_power_of_2(N), num_warps=w))(w)
                for w in ws]
    over_rows(B, "softmax", "softmax", "softmax", lambda dt, N: {}, lambda x, m: torch.softmax(x, -1), triton_runs,
              members, shapes)


def norms(B, shapes):
    for name, ln in (("rmsnorm", False), ("layernorm", True)):
        def make(dt, N):
            m = {"w": torch.randn(N, device="cuda", dtype=dt)}
            if ln:
                m["b"] = torch.randn(N, device="cuda", dtype=dt)
            return m

        def torch_run(x, m):
            n = (x.shape[-1],)
            return F.layer_norm(x, n, m["w"], m["b"], 1e-5) if ln else F.rms_norm(x, n, m["w"], 1e-6)

        def triton_runs(xs, ys, R, N, m):
            ws = (4, 8) if N <= 4096 else (8, 16) if N <= 8192 else (16, 32)
            return [(lambda q: lambda i: k_norm[(R,)](xs[i], m["w"], m.get("b", m["w"]), ys[i], N,
                     1e-5 if ln else 1e-6, LN=ln, BLOCK=triton.next_power_of_2(N), num_warps=q))(q) for q in ws]
        over_rows(B, name, name, name, make, torch_run, triton_runs, members, shapes,
                  DTYPES[:1] if shapes is SHAPES else DTYPES)


def cross_entropy(B):
    for t, dt in DTYPES:
        for R, V in ((32768, 32768), (8192, 131072), (32768, 1024)):
            name = "cross_entropy %s %dx%d" % (t, R, V)
            if not B.wanted(name):
                continue
            x = torch.randn(R, V, device="cuda", dtype=dt)
            g = torch.randint(0, V, (R,), device="cuda")
            loss, lse, out = (torch.empty(R, device="cuda") for _ in range(3))
            args = [{"x": x, "target": g, "loss": loss, "lse": lse}]
            runs = {"cutec": B.cute("cross_entropy", "cross_entropy", args, {"T": t, "I": "i64"})}
            for member, threads in ((1, 128), (2, 128), (2, 256), (2, 512), (2, 1024)):
                if member == 2 or V <= 16384:
                    runs["cutec[%d threads=%d]" % (member, threads)] = B.cute(
                        "cross_entropy", "cross_entropy", args, {"T": t, "I": "i64", "threads": str(threads)}, member)
            runs["torch"] = lambda i: F.cross_entropy(x, g, reduction="none")
            runs["triton"] = B.triton([(lambda b, q: lambda i: k_xent[(R,)](x, g, out, V, BLOCK=b, num_warps=q))(b, q)
                                       for b, q in ((4096, 8), (8192, 8), (8192, 16), (16384, 16)) if b <= max(V, 4096)])
            want = F.cross_entropy(x[:64].float(), g[:64], reduction="none")

            def check(k):
                ok = not k.startswith("cutec") or agree(loss[:64], want, 1e-3)
                loss.zero_()
                return ok
            B.contest(name, "read", R * V * dt.itemsize, runs, check=check)
            del x, runs
            torch.cuda.empty_cache()


def transposes(B):
    for t, dt in DTYPES:
        for n in (16384, 8192):
            name = "transpose %s %d" % (t, n)
            if not B.wanted(name):
                continue
            x = torch.randn(n, n, device="cuda", dtype=dt)
            y = torch.empty_like(x)
            runs = {"cutec": B.cute("transpose", "transpose", [{"x": x, "y": y}], {"T": t}),
                    "cutec[1]": B.cute("transpose", "transpose", [{"x": x, "y": y}], {"T": t}, 1),
                    "torch": lambda i: y.copy_(x.t())}
            for group in ("1", "2", "8", "16"):
                runs["cutec[0 group=%s]" % group] = B.cute("transpose", "transpose", [{"x": x, "y": y}],
                                                           {"T": t, "group": group}, 0)
            runs["triton"] = B.triton([(lambda a, b, w: lambda i: k_transpose[(n // a, n // b)](
                x, y, n, n, BM=a, BN=b, num_warps=w))(*z)
                for z in ((32, 32, 4), (64, 64, 4), (64, 64, 8), (128, 64, 8), (64, 128, 8))])

            def check(k):
                ok = torch.equal(y, x.t())
                y.zero_()
                return ok
            B.contest(name, "copy", 2 * n * n * dt.itemsize, runs, check=check)
            del x, y, runs
            torch.cuda.empty_cache()


def sums(B):
    for t, dt in DTYPES:
        x = torch.randn(1 << 28, device="cuda", dtype=dt)
        m = x.view(1 << 14, 1 << 14)
        one, y, cub_out = (torch.empty(k, device="cuda") for k in (1, 1 << 14, 1 << 14))
        nbytes = x.numel() * dt.itemsize
        for name, args, out, torch_run, want in (
                ("total", {"x": x, "y": one}, one, lambda i: torch.sum(x, dtype=torch.float32), lambda: x.double().sum().view(1)),
                ("row_sums", {"x": m, "y": y}, y, lambda i: torch.sum(m, 1, dtype=torch.float32), lambda: m.double().sum(1)),
                ("column_sums", {"x": m, "y": y}, y, lambda i: torch.sum(m, 0, dtype=torch.float32),
                 lambda: m.double().sum(0))):
            if not B.wanted("%s %s" % (name, t)):
                continue
            w = want()
            runs = {"cutec": B.cute("reduce", name, [args], {"T": t, "A": "f32"}), "torch": torch_run}
            if name == "total":
                runs["CUB"] = B.cub.run("cub_total_" + t, x, cub_out, x.numel())
            elif name == "row_sums" and t == "f32":
                runs["CUB"] = B.cub.run("cub_row_sums_f32", m, cub_out, 1 << 14, 1 << 14)
            if name != "column_sums":
                for n in ("256", "1024"):
                    runs["cutec[%d threads=%s]" % (0 if name == "total" else 1, n)] = B.cute(
                        "reduce", name, [args], {"T": t, "A": "f32", "threads": n}, 0 if name == "total" else 1)
            if name == "row_sums":
                runs["triton"] = B.triton([(lambda b, q: lambda i: k_row_sum[(1 << 14,)](m, y, 1 << 14, BLOCK=b, num_warps=q))
                                           (b, q) for b, q in ((4096, 4), (4096, 8), (8192, 8))])

            def check(k):
                ok = not k.startswith("cutec") or torch.allclose(out.double(), w, rtol=1e-3, atol=0.5)
                out.zero_()
                return ok
            B.contest("%s %s 2^28" % (name, t), "read", nbytes, runs, check=check)
            del w, runs
        if B.wanted("argmax " + t):
            at = torch.empty(1 << 14, device="cuda", dtype=torch.int64)
            runs = {"cutec": B.cute("reduce", "argmax", [{"x": m, "y": at}], {"T": t}),
                    "torch": lambda i: torch.argmax(m, 1)}
            w = m.max(1).values
            B.contest("argmax %s 16384x16384" % t, "read", nbytes, runs,
                      check=lambda k: k == "torch" or torch.equal(m.gather(1, at.view(-1, 1)).view(-1), w))
        del x, m
        torch.cuda.empty_cache()


def others(B):
    n = 1 << 28
    if B.wanted("scan i32"):
        x = torch.randint(-9, 10, (n,), device="cuda", dtype=torch.int32)
        y = torch.empty_like(x)
        want = torch.cumsum(x, 0, dtype=torch.int32)
        runs = {"cutec": B.cute("scan", "scan", [{"x": x, "y": y}], {"T": "i32"})}
        for th, chunks, stages in ((512, 8, 1), (512, 8, 3), (1024, 4, 2)):
            consts = {"threads": str(th), "chunks": str(chunks), "stages": str(stages)}
            runs["cutec[0 %d x %d, %d]" % (th, chunks, stages)] = B.cute("scan", "scan", [{"x": x, "y": y}],
                                                                       dict(consts, T="i32"), 0)
        runs["torch"] = lambda i: torch.cumsum(x, 0, dtype=torch.int32, out=y)
        runs["CUB"] = B.cub.run("cub_scan_i32", x, y, n)

        def check(k):
            ok = torch.equal(y, want)
            y.zero_()
            return ok
        B.contest("scan i32 2^28", "copy", 8 * n, runs, check=check)
        del x, y, want, runs
        torch.cuda.empty_cache()
    if B.wanted("histogram"):
        x = torch.randint(0, 256, (1 << 30,), device="cuda", dtype=torch.uint8)
        count = torch.empty(256, device="cuda", dtype=torch.int32)
        runs = {}
        for th in (None, "256", "1024"):
            runs["cutec" + ("[0 threads=%s]" % th if th else "")] = B.cute(
                "histogram", "histogram", [{"x": x, "count": count.view(torch.uint32)}], {"threads": th} if th else {},
                0 if th else None)
        small = x[:1 << 26]
        cub_out = torch.empty(257, device="cuda", dtype=torch.int32)
        runs["CUB"] = B.cub.run("cub_histogram_u8", x, cub_out, 1 << 30)
        want = sum(torch.bincount(p, minlength=256) for p in x.view(16, -1)).int()

        def check(k):
            ok = not k.startswith("cutec") or torch.equal(count, want)
            count.zero_()
            return ok
        B.contest("histogram u8 2^30", "read", 1 << 30, runs, check=check)
        count2 = torch.empty(256, device="cuda", dtype=torch.int32)
        B.contest("histogram u8 2^26", "read", 1 << 26, {
            "cutec": B.cute("histogram", "histogram", [{"x": small, "count": count2.view(torch.uint32)}], {}),
            "torch.bincount": lambda i: torch.bincount(small, minlength=256),
            "CUB": B.cub.run("cub_histogram_u8", small, cub_out, 1 << 26)})
        del x, small, runs
        torch.cuda.empty_cache()
    for N in (1024, 65536):
        for t, dt in DTYPES:
            if not B.wanted("topk %s %d" % (t, N)):
                continue
            R = n // N
            x = torch.randn(R, N, device="cuda", dtype=dt)
            v = torch.empty(R, 8, device="cuda", dtype=dt)
            at = torch.empty(R, 8, device="cuda", dtype=torch.int32)
            want = torch.topk(x, 8).values
            runs = {"cutec": B.cute("topk", "topk", [{"x": x, "value": v, "index": at}], {"T": t, "k": "8"}),
                    "cutec[3]": B.cute("topk", "topk", [{"x": x, "value": v, "index": at}], {"T": t, "k": "8"}, 3),
                    "torch": lambda i: torch.topk(x, 8)}
            if t == "f32":
                ordered = torch.empty_like(x)
                column = torch.arange(N, device="cuda", dtype=torch.int32).repeat(R, 1)
                order = torch.empty_like(column)
                runs["CUB (sort)"] = B.cub.run("cub_sort_rows_f32", x, ordered, column, order, R, N)
            B.contest("topk 8 %s %dx%d" % (t, R, N), "read", n * dt.itemsize, runs,
                      check=lambda k: not k.startswith("cutec") or torch.equal(v, want))
            ordered = column = order = None
            del x, runs
            torch.cuda.empty_cache()


def table_of_lengths(B):
    """Lines of what lengths() found: a row of the table for each length."""
    found = {}
    for r in B.rows:
        if r["work"].startswith("lengths ") and "cutec" in r:
            _, name, t, N = r["work"].split()
            found.setdefault(int(N), {})[name + " " + t] = "%.2f%s" % (
                r["cutec"]["ratio"], "" if r["cutec"]["agrees"] else " wrong")
    if not found:
        return []
    columns = ["%s %s" % (name, t) for t, _ in DTYPES for name in ("softmax", "rmsnorm", "layernorm")]
    return ["| length | %s |" % " | ".join(columns), "|---" * (len(columns) + 1) + "|"] + [
        "| %d | %s |" % (N, " | ".join(found[N].get(c, "-") for c in columns)) for N in sorted(found)]


def place_of(row):
    """Rows stand by kernel and types, small problems in front."""
    *names, sizes = row["work"].split()
    return names, int(re.findall(r"\d+", sizes)[-1])


def table_of_rows(B):
    """Lines of what the family chose itself and the best peer."""
    lines = ["| work | ceiling | cutec | ratio | best peer | ratio |", "|---|---|---|---|---|---|"]
    for r in sorted((r for r in B.rows if not r["work"].startswith("lengths ")), key=place_of):
        own = r.get("cutec")
        peers = [(v["ratio"], k) for k, v in r.items() if isinstance(v, dict) and not k.startswith("cutec")]
        best = max(peers) if peers else None
        lines.append("| %s | %s %.0f | %s | %s |" % (
            r["work"], r["ceiling"], r["ceiling_gbps"], "%.0f | %.3f%s" % (
                own["gbps"], own["ratio"], "" if own["agrees"] else " wrong") if own else "- | -",
            "%s %.0f | %.3f" % (best[1], r[best[1]]["gbps"], best[0]) if best else "- | -"))
    return lines


def with_table(lines, table):
    """The lines of a text with this table in the place of the one that has its head, else at the end."""
    if table and table[0] not in lines:
        return lines + [""] + table
    at = lines.index(table[0]) if table else len(lines)
    behind = at
    while behind < len(lines) and lines[behind].startswith("|"):
        behind += 1
    return lines[:at] + table + lines[behind:]


def markdown(B, path):
    """Both tables and when they were made, in the place of those in the file; what stands around them stays."""
    made = "Made on %s, %s." % (torch.cuda.get_device_name(), time.strftime("%Y-%m-%d"))
    lines = [made]
    if os.path.exists(path):
        with open(path) as f:
            lines = [made if line.startswith("Made on ") else line for line in f.read().split("\n")]
    with open(path, "w") as f:
        f.write("\n".join(with_table(with_table(lines, table_of_rows(B)), table_of_lengths(B))))


def more(B):
    """Kernels that no bar is set for: torch as it comes is the peer."""
    for kernel, back in (("softmax_backward", torch._softmax_backward_data),
                         ("log_softmax_backward", torch._log_softmax_backward_data)):
        for R, N in ((32768, 4096), (8192, 32768)):
            name = "%s bf16 %dx%d" % (kernel, R, N)
            if not B.wanted(name):
                continue
            x, dy = (torch.randn(R, N, device="cuda", dtype=torch.bfloat16) for _ in range(2))
            y = torch.softmax(x, 1) if kernel == "softmax_backward" else torch.log_softmax(x, 1)
            dx = torch.empty_like(x)
            want = back(dy[:64].float(), y[:64].float(), 1, torch.float32)
            B.contest(name, "copy", 6 * R * N, {
                "cutec": B.cute("softmax_backward", kernel, [dict(y=y, dy=dy, dx=dx)], {"T": "bf16"}),
                "torch": lambda i: back(dy, y, 1, torch.bfloat16)},
                check=lambda k: k == "torch" or agree(dx[:64], want, 2e-2))
            del x, dy, y, dx
            torch.cuda.empty_cache()
    for R, N in ((32768, 4096), (32768, 8192), (8192, 32768), (2048, 131072)):
        if B.wanted("rmsnorm_backward %d" % N):
            x, dy = (torch.randn(R, N, device="cuda", dtype=torch.bfloat16) for _ in range(2))
            w = torch.randn(N, device="cuda", dtype=torch.bfloat16)
            dx, dw = torch.empty_like(x), torch.empty_like(w)
            xg, wg = x.clone().requires_grad_(), w.clone().requires_grad_()
            y = F.rms_norm(xg, (N,), wg, 1e-6)
            want = torch.autograd.grad(y, (xg, wg), dy, retain_graph=True)

            def check(k):
                return k == "torch" or agree(dx[:64], want[0][:64], 5e-2) and (
                    (dw.float() - want[1].float()).abs().max() < 2e-2 * want[1].float().abs().max())
            B.contest("rmsnorm_backward bf16 %dx%d" % (R, N), "copy", 6 * R * N, {
                "cutec": B.cute("rmsnorm_backward", "rmsnorm_backward", [dict(x=x, w=w, dy=dy, dx=dx, dw=dw)], {"T": "bf16"}),
                "torch": lambda i: torch.autograd.grad(y, (xg, wg), dy, retain_graph=True)}, check=check)
            del x, dy, dx, xg, y, want
            torch.cuda.empty_cache()
    for R, N in ((32768, 4096), (32768, 8192), (8192, 32768), (2048, 131072)):
        if B.wanted("layernorm_backward %d" % N):
            x, dy = (torch.randn(R, N, device="cuda", dtype=torch.bfloat16) for _ in range(2))
            w, b = (torch.randn(N, device="cuda", dtype=torch.bfloat16) for _ in range(2))
            dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
            xg, wg, bg = (t.clone().requires_grad_() for t in (x, w, b))
            y = F.layer_norm(xg, (N,), wg, bg, 1e-5)
            want = torch.autograd.grad(y, (xg, wg, bg), dy, retain_graph=True)

            def check(k):
                return k == "torch" or agree(dx[:64], want[0][:64], 5e-2) and all(
                    (got.float() - v.float()).abs().max() < 2e-2 * v.float().abs().max()
                    for got, v in ((dw, want[1]), (db, want[2])))
            B.contest("layernorm_backward bf16 %dx%d" % (R, N), "copy", 6 * R * N, {
                "cutec": B.cute("layernorm_backward", "layernorm_backward",
                                [dict(x=x, w=w, dy=dy, dx=dx, dw=dw, db=db)], {"T": "bf16"}),
                "torch": lambda i: torch.autograd.grad(y, (xg, wg, bg), dy, retain_graph=True)}, check=check)
            del x, dy, dx, xg, y, want
            torch.cuda.empty_cache()


def families(B):
    """One contest each of what else moves memory; torch as it comes is the peer."""
    bf16, dev = torch.bfloat16, "cuda"

    def once(name, file, kernel, ceiling, make, nbytes, consts, torch_run, out, exact=True, cub=None):
        if not B.wanted(name):
            return
        a = make()
        want = torch_run(a)

        def check(k):
            y = a[out]
            ok = k == "torch" or (torch.equal(y.view(want.shape), want) if exact else agree(y, want, 2e-2))
            y.zero_()
            return ok
        runs = {"cutec": B.cute(file, kernel, [a], consts), "torch": lambda i: torch_run(a)}
        if cub:
            runs["CUB"] = B.cub.run(cub, *(a[k] for k in ("x", "value", "index")), a["x"].numel())
        B.contest(name, ceiling, nbytes, runs, check=check)
        del a, want
        torch.cuda.empty_cache()

    n = 1 << 28
    x4 = (16, 4096, 32, 128)
    once("permute bf16 16x4096x32x128", "permute", "permute", "copy",
         lambda: dict(x=torch.randn(x4, device=dev, dtype=bf16),
                      y=torch.empty((16, 32, 4096, 128), device=dev, dtype=bf16)),
         4 * n, {"T": "bf16"}, lambda a: a["x"].permute(0, 2, 1, 3).contiguous(), "y")
    once("concat bf16 32768x(4096+2048)", "concat", "concat", "copy",
         lambda: dict(a=torch.randn(32768, 4096, device=dev, dtype=bf16),
                      b=torch.randn(32768, 2048, device=dev, dtype=bf16),
                      y=torch.empty(32768, 6144, device=dev, dtype=bf16)),
         4 * 32768 * 6144, {"T": "bf16"}, lambda a: torch.cat((a["a"], a["b"]), 1), "y")
    once("gather f32 4096x32768 by 8192", "gather", "gather", "copy",
         lambda: dict(x=torch.randn(4096, 32768, device=dev), index=torch.randint(0, 32768, (4096, 8192), device=dev),
                      y=torch.empty(4096, 8192, device=dev)),
         4096 * 8192 * 12 + 4096 * 32768 * 4, {"T": "f32", "I": "i64"},
         lambda a: torch.gather(a["x"], 1, a["index"]), "y")
    for t, dt in DTYPES:
        once("extreme %s 2^28" % t, "extremes", "extreme", "read",
             lambda: dict(x=torch.randn(n, device=dev).to(dt), value=torch.empty(1, device=dev, dtype=dt),
                          index=torch.empty(1, device=dev, dtype=torch.int64)),
             n * dt.itemsize, {"T": t}, lambda a: torch.max(a["x"]).view(1), "value",
             cub="cub_extreme_f32" if t == "f32" else None)
    if B.wanted("segmented_scan"):
        x = torch.randint(-9, 10, (n // 2,), device=dev, dtype=torch.int32)
        b = (torch.rand(n // 2, device=dev) < 1e-3).to(torch.uint8)
        y = torch.empty_like(x)
        c = torch.cumsum(x, 0, dtype=torch.int32)
        first = torch.cummax(torch.where(b != 0, torch.arange(n // 2, device=dev), 0), 0).values
        before = torch.where(b[first] != 0, c[first] - x[first], torch.zeros_like(c))
        want = c - before
        del c, first, before
        B.contest("segmented_scan i32 2^27", "copy", 9 * (n // 2), {
            "cutec": B.cute("segmented_scan", "segmented_scan", [dict(x=x, begins=b, y=y)], {"T": "i32"}),
            "CUB (no segments)": B.cub.run("cub_scan_i32", x, y, n // 2)},
            check=lambda k: k != "cutec" or torch.equal(y, want))
        del x, b, y, want
        torch.cuda.empty_cache()


def parser():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--only", help="contests whose name contains this, or one of several with commas between")
    p.add_argument("--seconds", type=float, default=420, help="begin no contest after this time")
    p.add_argument("--inductor", action="store_true")
    p.add_argument("--json")
    p.add_argument("--markdown")
    return p


def run(B, parts):
    print("GB/s and ratio to the best copy or read of the same round [least, most]; %s" % torch.cuda.get_device_name())
    for part in parts:
        try:
            part()
        except Exception as e:
            print("FAILED: %s: %s" % (type(e).__name__, str(e)[:300]), flush=True)
        if B.o.json:
            with open(B.o.json, "w") as f:
                json.dump({"schema": 1, "device": torch.cuda.get_device_name(), "rows": B.rows}, f, indent=1)
        if B.o.markdown:
            markdown(B, B.o.markdown)


def main():
    B = Bench(parser().parse_args())
    run(B, (lambda: softmax(B, SHAPES), lambda: norms(B, SHAPES), lambda: cross_entropy(B), lambda: transposes(B),
            lambda: sums(B), lambda: others(B), lambda: more(B), lambda: families(B), lambda: moves.moves(B),
            lambda: softmax(B, LENGTHS),
            lambda: norms(B, LENGTHS), lambda: lengths(B)))


if __name__ == "__main__":
    main()
