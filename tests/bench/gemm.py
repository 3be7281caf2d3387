#!/usr/bin/env python3
"""Matrix products and attention against torch (cuBLAS, FLASH, cuDNN), on one GPU.

    python3 tests/bench/gemm.py [--only TEXT]... [--seconds S] [--rounds N] [--json FILE] [--set NAME=VALUE]...
                                [--try "NAME=VALUE; ..."]... [--markdown FILE]

Needs torch. One process, random data. In every round each contestant runs
for S / N seconds without a pause, in graphs of some calls, one after the
other, so that all see the same clock and power. The clock follows the power
only after a while: the first third of each turn is what the one in front has
left, and does not count; and the order turns from round to round. A figure is
the contestant's TFLOP/s over that of the first peer in the same round: the
median over the rounds, the least and greatest. Every result is compared with float64 on a
sample of its rows before it is timed; `!` marks one that is wrong, and is not
timed. Behind a figure stand the median clock (MHz) and power (W) of
its rounds, and how much of the tensor cores' rate at that clock it is.
--set gives a constant of the kernels another value ("tile=(128, 256, 64)");
--try adds a contestant with such constants; "member=N" is one, too.
"""
import argparse
import ctypes
import json
import os
import statistics
import threading
import time

import torch
import torch.nn.functional as F

import cutejit

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../examples")
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
SHAPES = ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (6144, 6144, 6144),
          (16384, 8192, 8192), (4096, 14336, 4096), (4096, 4096, 14336), (8192, 28672, 8192), (8192, 8192, 28672),
          (4096, 7168, 2048), (5632, 3072, 8192))

# Constants to try beside the usual ones.
SWEEP = {
    "sgemm": (("tile", "stages"), (
        ("(128, 128, 16)", "2"), ("(128, 128, 16)", "3"), ("(256, 128, 16)", "3"), ("(128, 256, 8)", "4"))),
    "gemm_sm80": (("tile", "warps", "stages"), (
        ("(128, 256, 64)", "(2, 4)", "4"), ("(256, 128, 64)", "(4, 2)", "3"), ("(128, 128, 64)", "(2, 2)", "3"),
        ("(128, 128, 32)", "(2, 2)", "4"), ("(128, 256, 32)", "(2, 4)", "4"))),
    "gemm_sm90": (("tile", "stages", "group", "columns", "blocks"), (
        ("(128, 256, 64)", "4", "8", "64", "1"), ("(128, 128, 64)", "3", "16", "32", "2"),
        ("(192, 192, 64)", "4", "8", "32", "1"), ("(128, 192, 64)", "5", "16", "32", "1"),
        ("(256, 128, 64)", "4", "8", "32", "1"))),
    "flash_attention_2": (("tile", "warps"), (("(64, 64)", "4"), ("(128, 64)", "4"), ("(128, 128)", "8"))),
}


# What a multiprocessor's tensor cores do in a clock, by the first of these that a contest's name contains.
PER_CLOCK = (("gemm_mixed", 4096), ("tf32", 2048), ("fp8", 8192), ("int8 8", 8192), ("gemm_sm", 4096), ("gemm_", 4096), ("flash", 4096))


def variants(table):
    """Constants of a table (names, rows of values)."""
    names, rows = table or ((), ())
    return [dict(zip(names, row)) for row in rows]


def label(constants):
    return " ".join(["cutec"] + ["%s=%s" % c for c in constants.items()]).replace(", ", ",")


def graph_of(run, count):
    """`count` calls as one graph: what the host does for a call is not measured."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        run()
        side.synchronize()
        with torch.cuda.graph(graph, stream=side):
            for _ in range(count):
                run()
    torch.cuda.current_stream().wait_stream(side)
    return graph


def burst(run, count):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / count


def turned(names, n):
    """Names in the order of round n: each is in front, and behind each other one, about as often."""
    k = n // 2 % len(names)
    names = names[k:] + names[:k]
    return names[::-1] if n % 2 else names


class Field(ctypes.Structure):
    """nvmlFieldValue_t, of a value of 32 bits."""
    _fields_ = [("field", ctypes.c_uint), ("scope", ctypes.c_uint), ("time", ctypes.c_longlong),
                ("latency", ctypes.c_longlong), ("type", ctypes.c_int), ("status", ctypes.c_int),
                ("value", ctypes.c_uint), ("rest", ctypes.c_uint)]


POWER_INSTANT = 186  # NVML_FI_DEV_POWER_INSTANT


class Gauge:
    """Clock and power of the GPU while something runs; without NVML nothing."""

    def __init__(self):
        self.nvml, self.device, self.seen, self.on = None, ctypes.c_void_p(), [], False
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            name = "GPU-%s" % torch.cuda.get_device_properties(torch.cuda.current_device()).uuid
            if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(self.device)):
                self.nvml = None
        except (OSError, AttributeError):
            self.nvml = None
        if self.nvml is not None:
            threading.Thread(target=self.watch, daemon=True).start()

    def power(self):
        """Watts now, or where NVML does not know them of the last second; None: not known."""
        now = Field(POWER_INSTANT)
        if not self.nvml.nvmlDeviceGetFieldValues(self.device, 1, ctypes.byref(now)) and not now.status:
            return now.value / 1e3
        mean = ctypes.c_uint()
        return None if self.nvml.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(mean)) else mean.value / 1e3

    def watch(self):
        clock = ctypes.c_uint()
        while True:
            time.sleep(0.01)
            if self.on and not self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(clock)):
                power = self.power()
                if power is not None:
                    self.seen.append((clock.value, power))

    def measure(self, run):
        """What run() gives, and the (clock, power) seen meanwhile."""
        self.seen, self.on = [], True
        result = run()
        self.on = False
        return result, self.seen


class Contest:
    def __init__(self, options):
        self.options, self.rows = options, []
        self.ctx, self.gauge = cutejit.Context(), Gauge()
        self.consts = dict(s.split("=", 1) for s in options.set)
        self.tries = [dict(v.strip().split("=", 1) for v in t.split(";")) for t in options.tries]

    def prepared(self, file, kernel, args, consts):
        path = os.path.join(EXAMPLES, file, file + ".cute")
        if not os.path.exists(path):
            return None
        consts = dict(consts)
        member = consts.pop("member", None)
        try:
            launch = self.ctx.prepare(path, kernel, args, consts, None if member is None else int(member))
        except RuntimeError as e:
            text = " ".join(str(e).split())
            print("    %s: %s" % (file, text[max(text.find("error: "), 0):][:300]), flush=True)
            return None
        return lambda: launch(torch.cuda.current_stream().cuda_stream)

    def ours(self, file, kernel, args, consts):
        """{label: run} for the usual constants, and for what else is to be tried."""
        ways = [{}] + (variants(SWEEP.get(file)) if self.options.sweep else []) + self.tries
        return {label(w): self.prepared(file, kernel, args, dict(consts, **self.consts, **w)) for w in ways}

    def wanted(self, name):
        return not self.options.only or any(o in name for o in self.options.only)

    def use(self, name, tflops, clock):
        """Of the tensor cores' rate at that clock."""
        rate = next((r for part, r in PER_CLOCK if part in name), 0)
        sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        return tflops * 1e6 / (rate * sms * clock) if rate and clock else 0

    def run(self, name, flops, peers, ours, wrong):
        """peers, ours: {name: run}; wrong(): None or what is."""
        ours = {k: r for k, r in ours.items() if r is not None}
        runs = dict(peers, **ours)
        bad = {}
        for k, r in list(runs.items()):
            try:
                r()
            except (RuntimeError, ValueError) as e:
                if k in ours:
                    raise
                print("    %s: %s" % (k, " ".join(str(e).split())[:300]), flush=True)
                del runs[k], peers[k]
                continue
            torch.cuda.synchronize()
            bad[k] = wrong()
        if not peers or not ours:
            print("%-34s %s" % (name, "no peer" if ours else "not there"), flush=True)
            return
        line = "%-34s" % name
        for k in [k for k in ours if bad[k] is not None]:
            print("%s ! %s: %s" % (line, k, bad[k]), flush=True)
            del ours[k], runs[k]
        if not ours:
            return
        each = self.options.each
        if each > 1:
            runs = {k: graph_of(r, each).replay for k, r in runs.items()}
        counts = {k: max(1, int(self.options.seconds / self.options.rounds * 1e3 / max(burst(r, 3), 1e-3)))
                  for k, r in runs.items()}
        flops *= each
        first = next(iter(peers))
        rates, ratios, seen = {k: [] for k in runs}, {k: [] for k in runs}, {k: [] for k in runs}
        for n in range(self.options.rounds):
            now = {}
            for k in turned(list(runs), n):
                r = runs[k]
                burst(r, max(1, counts[k] // 3))
                ms, gauged = self.gauge.measure(lambda: burst(r, counts[k] - counts[k] // 3))
                now[k] = flops / ms / 1e9
                seen[k] += gauged
            for k in runs:
                rates[k].append(now[k])
                ratios[k].append(now[k] / now[first])
        row = {"work": name}
        for k in runs:
            clock, power = (statistics.median(x[i] for x in seen[k]) if seen[k] else 0 for i in (0, 1))
            row[k] = {"tflops": statistics.median(rates[k]), "ratio": statistics.median(ratios[k]),
                      "least": min(ratios[k]), "most": max(ratios[k]), "clock": clock, "power": power,
                      "use": self.use(name, statistics.median(rates[k]), clock)}
            line += " %s %6.1f" % (k, row[k]["tflops"])
            if k != first:
                line += " %.3f [%.3f, %.3f]" % (row[k]["ratio"], row[k]["least"], row[k]["most"])
            line += " @%d %dW %.0f%% |" % (clock, power, 100 * row[k]["use"])
        print(line, flush=True)
        self.rows.append(row)


def product(c, file, dtype, shapes, majors="kk", kernel="gemm", batched=False):
    """C = A B with A (M, K), B (N, K), each with K or M (N) next to itself."""
    for m, n, k in shapes:
        name = "%s %s %s %dx%dx%d" % (file, NAMES[dtype], majors, m, n, k)
        if not c.wanted(name):
            continue
        a = torch.randn((m, k), device="cuda").to(dtype)
        b = torch.randn((n, k), device="cuda").to(dtype)
        out = torch.empty((m, n), device="cuda", dtype=dtype)
        if majors[0] != "k":
            a = a.t().contiguous().t()
        if majors[1] != "k":
            b = b.t().contiguous().t()
        rows = torch.randint(m, (16,), device="cuda")
        ref = a[rows].double() @ b.double().t()
        scale = (a[rows].double().abs() @ b.double().abs().t())
        eps = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]

        def wrong():
            got = out[rows].double()
            out.fill_(float("nan"))
            off = (got - ref).abs() > eps * ref.abs() + 2e-7 * k ** 0.5 * scale + 1e-6
            if bool(torch.isnan(got).any()) or bool(off.any()):
                return "%d of %d elements differ" % (int((off | torch.isnan(got)).sum()), got.numel())
            return None

        args = {k: v.as_strided((*v.shape, 1), (*v.stride(), v.numel())) if batched else v
                for k, v in (("A", a), ("B", b), ("C", out))}
        ours = c.ours(file, kernel, args, {})
        with torch.no_grad():
            c.run(name, 2.0 * m * n * k, {"cuBLAS": lambda: torch.mm(a, b.t(), out=out)}, ours, wrong)


def near(got, want, rel, scale, poison):
    """None or what is wrong; `scale`: sums of magnitudes, which bound the rounding of sums."""
    got = got.double()
    bad = ~((got - want).abs() <= rel * want.abs() + 1e-6 * scale + 1e-6)
    poison()
    return "%d of %d elements differ" % (int(bad.sum()), bad.numel()) if bool(bad.any()) else None


def batch(t):
    """A matrix as a batch of one."""
    return t.as_strided((*t.shape, 1), (*t.stride(), t.numel()))


def tf32(c, shapes):
    for m, n, k in shapes:
        name = "gemm_sm90 tf32 %dx%dx%d" % (m, n, k)
        if not c.wanted(name):
            continue
        a, b = torch.randn((m, k), device="cuda"), torch.randn((n, k), device="cuda")
        out = torch.empty((m, n), device="cuda")
        rows = torch.randint(m, (16,), device="cuda")
        want = a[rows].double() @ b.double().t()
        scale = a[rows].double().abs() @ b.double().abs().t()
        ours = c.ours("gemm_sm90", "gemm", {"A": batch(a), "B": batch(b), "C": batch(out)},
                      {"T": "tf32", "TB": "tf32"})
        torch.backends.cuda.matmul.allow_tf32 = True
        c.run(name, 2.0 * m * n * k, {"cuBLAS": lambda: torch.mm(a, b.t(), out=out)}, ours,
              lambda: near(out[rows], want, 1e-3, 1e3 * scale, lambda: out.fill_(float("nan"))))
        torch.backends.cuda.matmul.allow_tf32 = False


def narrow(c, shapes):
    """fp8 with one scale for all."""
    one = torch.tensor(1.0, device="cuda")
    for m, n, k in shapes:
        name = "gemm_sm90 fp8 %dx%dx%d" % (m, n, k)
        if not c.wanted(name):
            continue
        a, b = (torch.randn(s, device="cuda").to(torch.float8_e4m3fn) for s in ((m, k), (n, k)))
        out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
        rows = torch.randint(m, (16,), device="cuda")
        want = a[rows].double() @ b.double().t()
        scale = a[rows].double().abs() @ b.double().abs().t()
        ours = c.ours("gemm_sm90", "gemm", {"A": batch(a), "B": batch(b), "C": batch(out)},
                      {"T": "f8e4m3", "TC": "bf16"})
        c.run(name, 2.0 * m * n * k, {"cuBLASLt": lambda: torch._scaled_mm(
            a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True, out=out)}, ours,
            lambda: near(out[rows], want, 8e-3, 1e3 * scale, lambda: out.fill_(float("nan"))))


def blockwise(c, shapes):
    """fp8 with a scale for each 1 x 128 of A and 128 x 128 of B; beside it, as the most that can be had at that power,
    gemm_sm90 with one scale for all."""
    for m, n, k in shapes:
        name = "gemm_fp8_blockscaled %dx%dx%d" % (m, n, k)
        if not c.wanted(name):
            continue
        a, b = (torch.randn(s, device="cuda").to(torch.float8_e4m3fn) for s in ((m, k), (n, k)))
        sa = (torch.rand((k // 128, m), device="cuda") + 0.5).t()
        sb = (torch.rand((n // 128, k // 128), device="cuda") + 0.5).t()
        out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
        rows = torch.randint(m, (16,), device="cuda")
        fa = a[rows].double() * sa[rows].double().repeat_interleave(128, 1)
        fb = b.double() * sb.t().double().repeat_interleave(128, 0).repeat_interleave(128, 1)
        want, scale = fa @ fb.t(), 1e2 * (fa.abs() @ fb.abs().t())
        fa, fb = a[rows].double(), b.double()
        plain, plain_scale = fa @ fb.t(), 1e3 * (fa.abs() @ fb.abs().t())
        ours = c.ours("gemm_fp8_blockscaled", "gemm_fp8_blockscaled",
                      {"A": a, "B": b, "C": out, "scale_a": sa, "scale_b": sb.t()}, {})
        without = c.prepared("gemm_sm90", "gemm", {"A": batch(a), "B": batch(b), "C": batch(out)},
                             {"T": "f8e4m3", "TC": "bf16"})
        held = {}

        def one_scale():
            held["plain"] = True
            without()

        def wrong():
            is_plain = held.pop("plain", False)
            return near(held.pop("out", out)[rows], plain if is_plain else want, 8e-3,
                        plain_scale if is_plain else scale, lambda: out.fill_(float("nan")))

        def peer():
            held["out"] = torch._scaled_mm(a, b.t(), sa, sb, out_dtype=torch.bfloat16)
        if without is not None:
            ours["one scale"] = one_scale
        c.run(name, 2.0 * m * n * k, {"torch": peer}, ours, wrong)


def whole(c, shapes):
    """Products of bytes."""
    for m, n, k in shapes:
        name = "gemm_sm90 int8 %dx%dx%d" % (m, n, k)
        if not c.wanted(name):
            continue
        a, b = (torch.randint(-127, 128, s, device="cuda", dtype=torch.int8) for s in ((m, k), (n, k)))
        out = torch.empty((m, n), device="cuda", dtype=torch.int32)
        rows = torch.randint(m, (16,), device="cuda")
        want = a[rows].double() @ b.double().t()
        ours = c.ours("gemm_sm90", "gemm", {"A": batch(a), "B": batch(b), "C": batch(out)}, {"T": "i8", "TC": "i32"})
        c.run(name, 2.0 * m * n * k, {"torch": lambda: torch._int_mm(a, b.t(), out=out)}, ours,
              lambda: near(out[rows], want, 0, 0 * want, lambda: out.fill_(-7)))


def grouped(c, shapes):
    """G groups of R rows; with `gather` rows by number, for which torch copies them together first."""
    for g, r, n, k in shapes:
        m = g * r
        a = torch.randn((m, k), device="cuda").bfloat16()
        b = torch.randn((g, n, k), device="cuda").bfloat16()
        out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
        ends = torch.arange(r, m + 1, r, device="cuda", dtype=torch.int32)
        index = torch.randint(m, (m,), device="cuda", dtype=torch.int32)
        rows = torch.randint(m, (16,), device="cuda")
        held = {}
        for kernel in ("gemm_grouped", "gemm_gather"):
            name = "%s bf16 %d x %d x%dx%d" % (kernel, g, r, n, k)
            if not c.wanted(name):
                continue
            gathers = kernel == "gemm_gather"
            part = (a[index[rows].long()] if gathers else a[rows]).double()
            want = torch.einsum("rk,rnk->rn", part, b[rows // r].double())
            args = {"A": a, "B": b.permute(1, 2, 0), "C": out, "ends": ends}
            if gathers:
                args["index"] = index

            def peer():
                held["out"] = torch._grouped_mm(a[index] if gathers else a, b.transpose(1, 2), offs=ends)
            c.run(name, 2.0 * m * n * k, {"torch": peer}, c.ours(kernel, kernel, args, {}), lambda: near(
                held.pop("out", out)[rows], want, 1.6e-2, 0 * want + k, lambda: out.fill_(float("nan"))))


def dual(c, shapes):
    for m, n, k in shapes:
        name = "gemm_dual bf16 %dx%dx%d" % (m, n, k)
        if not c.wanted(name):
            continue
        a = torch.randn((m, k), device="cuda").bfloat16()
        b = (torch.randn((2, n, k), device="cuda") * k ** -0.5).bfloat16()
        out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
        both = torch.empty((m, 2 * n), device="cuda", dtype=torch.bfloat16)
        rows = torch.randint(m, (16,), device="cuda")
        gate, up = (a[rows].double() @ x.double().t() for x in b)
        want = F.silu(gate) * up
        ours = c.ours("gemm_dual", "gemm_dual", {"A": batch(a), "B0": batch(b[0]), "B1": batch(b[1]),
                                                 "C": batch(out)}, {})

        def peer():
            torch.mm(a, b.view(2 * n, k).t(), out=both)
            torch.mul(F.silu(both[:, :n]), both[:, n:], out=out)
        c.run(name, 4.0 * m * n * k, {"cuBLAS": peer}, ours, lambda: near(
            out[rows], want, 3e-2, 0 * want + 1e3, lambda: out.fill_(float("nan"))))


def weights(kind, n, k):
    """(as they are kept, as numbers, constants)"""
    if kind == "fp8":
        b = torch.randn((n, k), device="cuda").to(torch.float8_e4m3fn)
        return b, b.float(), {"TB": "f8e4m3"}
    if kind == "int8":
        b = torch.randint(-127, 128, (n, k), device="cuda", dtype=torch.int8)
        return b, b.float(), {}
    b = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
    halves = torch.stack((b & 15, b >> 4), 2).view(n, k).to(torch.int8)
    return b, torch.where(halves > 7, halves - 16, halves).float(), {"TB": "u8", "nibbles": "true"}


def mixed(c, shapes):
    """B of 8 or 4 bits with scales, beside cuBLAS with B of bf16."""
    for kind in ("int8", "fp8", "int4"):
        for m, n, k in shapes:
            name = "gemm_mixed bf16 %s %dx%dx%d" % (kind, m, n, k)
            if not c.wanted(name):
                continue
            a = torch.randn((m, k), device="cuda").bfloat16()
            b, fb, constants = weights(kind, n, k)
            scale = torch.rand((n, k // 128), device="cuda") + 0.5
            fb = fb * scale.repeat_interleave(128, 1)
            wide = fb.bfloat16()
            out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
            rows = torch.randint(m, (16,), device="cuda")
            fb = fb.double()
            want, size = a[rows].double() @ fb.t(), a[rows].double().abs() @ fb.abs().t()
            ours = c.ours("gemm_mixed", "gemm_mixed", {"A": a, "B": b, "scale": scale, "C": out}, constants)
            c.run(name, 2.0 * m * n * k, {"cuBLAS": lambda: torch.mm(a, wide.t(), out=out)}, ours, lambda: near(
                out[rows], want, 8e-3, 1e3 * size, lambda: out.fill_(float("nan"))))


def attention(c, file, peer="FLASH", dims=(64, 128), lengths=(8192, 16384), dtype=torch.bfloat16):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backend = {"FLASH": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}[peer]
    for d in dims:
        for n in lengths:
            for causal in (False, True):
                name = "%s %s d%d %d%s" % (file, NAMES[dtype], d, n, " causal" if causal else "")
                if not c.wanted(name):
                    continue
                b, h = max(1, 16384 // n), 2048 // d
                q, k, v = (torch.randn((b, n, h, d), device="cuda").to(dtype) for _ in range(3))
                o = torch.empty_like(q)
                qt, kt, vt = (t.transpose(1, 2) for t in (q, k, v))
                rows = torch.randint(n, (8,), device="cuda")
                s = torch.einsum("rhd,nhd->hrn", q[0, rows].double(), k[0].double()) * d ** -0.5
                if causal:
                    s.masked_fill_(torch.arange(n, device="cuda")[None, None] > rows[None, :, None], float("-inf"))
                ref = torch.einsum("hrn,nhd->rhd", s.softmax(-1), v[0].double())
                held = {}

                def others():
                    with sdpa_kernel(backend):
                        held["o"] = F.scaled_dot_product_attention(qt, kt, vt, is_causal=causal)

                def wrong():
                    got = (held.pop("o").transpose(1, 2) if "o" in held else o)[0, rows].double()
                    o.fill_(float("nan"))
                    bad = not bool(((got - ref).abs() <= 2e-2 * ref.abs() + 2e-3).all())
                    return "differs" if bad else None

                flops = 4.0 * b * h * n * n * d * (0.5 if causal else 1.0)
                with torch.no_grad():
                    c.run(name, flops, {peer: others}, c.ours(
                        file, "flash_attention", {"Q": q, "K": k, "V": v, "O": o},
                        {"causal": "true" if causal else "false"}), wrong)


def table(rows):
    for row in rows:
        first, *others = (k for k in row if k != "work")
        for k in others:
            r = row[k]
            work = row["work"] + ("" if k == "cutec" else ", " + k)
            yield "| %s | %s %.1f | %.1f | %.3f | %.3f, %.3f | %.0f, %.0f |\n" % (
                work, first, row[first]["tflops"], r["tflops"], r["ratio"], r["least"], r["most"], row[first]["clock"],
                r["clock"])


def contests(c):
    """All of them, or those that are wanted."""
    torch.backends.cuda.matmul.allow_tf32 = False
    product(c, "sgemm", torch.float32, SHAPES[1:4], kernel="sgemm")
    product(c, "gemm_sm80", torch.bfloat16, SHAPES[1:4], batched=True)
    product(c, "gemm_sm80", torch.float16, SHAPES[2:3], batched=True)
    product(c, "gemm_sm90", torch.bfloat16, SHAPES, batched=True)
    product(c, "gemm_sm90", torch.float16, SHAPES, batched=True)
    product(c, "gemm_streamk", torch.bfloat16, ((2304, 4096, 8192), (1536, 3072, 16384), (4352, 4352, 4096)),
            kernel="gemm_streamk")
    tf32(c, ((4096,) * 3, (8192,) * 3))
    narrow(c, ((4096,) * 3, (8192,) * 3, (4096, 7168, 16384)))
    blockwise(c, ((4096, 7168, 16384), (4096, 4096, 7168), (4096, 24576, 1536), (64, 7168, 16384), (8192,) * 3))
    whole(c, ((8192,) * 3,))
    grouped(c, ((4, 8192, 4096, 7168), (8, 4096, 4096, 7168), (64, 512, 4096, 2048), (128, 16, 2048, 7168)))
    dual(c, ((4096, 14336, 4096), (8192, 11008, 4096)))
    for kernel in ("gemm", "ping_pong"):
        product(c, "gemm_sm90_roles", torch.bfloat16, SHAPES[:6], kernel=kernel)
    mixed(c, ((16, 14336, 4096), (64, 14336, 4096), (4096, 14336, 4096)))
    attention(c, "flash_attention_2")
    attention(c, "flash_attention_3", "cuDNN")


def options(text):
    """What every program that holds contests can be told."""
    p = argparse.ArgumentParser(description=text)
    p.add_argument("--only", action="append", default=[], help="contests whose name contains this")
    p.add_argument("--seconds", type=float, default=3, help="of each contestant of a contest")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--each", type=int, default=20, help="calls in a graph; 1: no graphs, the host's time counts")
    p.add_argument("--sweep", action="store_true", help="other tiles too")
    p.add_argument("--set", action="append", default=[], help="a constant of the kernels")
    p.add_argument("--try", action="append", default=[], dest="tries", help="constants of one more contestant")
    return p


def main():
    p = options(__doc__.splitlines()[0])
    p.add_argument("--json")
    p.add_argument("--markdown", help="a table for examples/bench.md")
    c = Contest(p.parse_args())
    print("TFLOP/s and ratio to the first peer of the same round [least, most]; %s" % torch.cuda.get_device_name())
    contests(c)
    if c.options.json:
        with open(c.options.json, "w") as f:
            json.dump(c.rows, f, indent=1)
    if c.options.markdown:
        with open(c.options.markdown, "w") as f:
            f.writelines(table(c.rows))


if __name__ == "__main__":
    main()
