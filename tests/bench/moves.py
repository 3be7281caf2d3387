"""Contests of rows.py: kernels that take each element once, on their way through memory.

Peers are torch as it comes and, where torch has no such kernel or takes several, kernels in Triton, at the best of a
few block sizes.
"""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

bf16, f32, e4m3 = torch.bfloat16, torch.float32, torch.float8_e4m3fn
DEV = "cuda"
N = 1 << 28


@triton.jit
def k_gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    v = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    tl.store(y + i, v.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def k_silu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(y + i, (v * tl.sigmoid(v)).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def k_gate(gate, up, y, n, GELU: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + i, mask=i < n).to(tl.float32)
    u = tl.load(up + i, mask=i < n).to(tl.float32)
    if GELU:
        v = g * tl.sigmoid(1.5957691216057308 * (g + 0.044715 * g * g * g))
    else:
        v = g * tl.sigmoid(g)
    tl.store(y + i, (v * u).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def k_dropout(x, y, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    v = tl.where(tl.rand(seed, i) > p, v / (1 - p), 0.0)
    tl.store(y + i, v.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def k_add_rmsnorm(x, r, w, h, y, N, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    m = c < N
    v = tl.load(x + at + c, mask=m, other=0.0).to(tl.float32) + tl.load(r + at + c, mask=m, other=0.0).to(tl.float32)
    s = v.to(h.dtype.element_ty)
    tl.store(h + at + c, s, mask=m)
    v = s.to(tl.float32)
    v = v / tl.sqrt(tl.sum(v * v, 0) / N + eps) * tl.load(w + c, mask=m, other=0.0).to(tl.float32)
    tl.store(y + at + c, v.to(y.dtype.element_ty), mask=m)


@triton.jit
def k_rope(x, cos, sin, y, H, D: tl.constexpr, HEADS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    e = tl.arange(0, D // 2)
    a = row * H * D + h[:, None] * D + e[None, :]
    u, v = tl.load(x + a).to(tl.float32), tl.load(x + a + D // 2).to(tl.float32)
    c, s = tl.load(cos + row * (D // 2) + e)[None, :], tl.load(sin + row * (D // 2) + e)[None, :]
    tl.store(y + a, (u * c - v * s).to(y.dtype.element_ty))
    tl.store(y + a + D // 2, (v * c + u * s).to(y.dtype.element_ty))


@triton.jit
def k_xent_backward(x, target, lse, dloss, dx, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N).to(tl.float32)
    p = tl.exp(v - tl.load(lse + row))
    p = tl.where(c == tl.load(target + row), p - 1.0, p) * tl.load(dloss + row)
    tl.store(dx + row * N + c, p.to(dx.dtype.element_ty), mask=c < N)


@triton.jit
def k_quantize_rows(x, q, scale, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=0.0).to(tl.float32)
    s = tl.max(tl.abs(v), 0) / 448.0
    tl.store(q + row * N + c, (v * tl.where(s == 0, 0.0, 1.0 / s)).to(q.dtype.element_ty), mask=c < N)
    tl.store(scale + row, s)


@triton.jit
def k_quantize_blocks(x, q, scale, B: tl.constexpr):
    b = tl.program_id(0) * B + tl.arange(0, B)
    i = b[:, None] * 128 + tl.arange(0, 128)[None, :]
    v = tl.load(x + i).to(tl.float32)
    s = tl.max(tl.abs(v), 1) / 448.0
    tl.store(q + i, (v * tl.where(s == 0, 0.0, 1.0 / s)[:, None]).to(q.dtype.element_ty))
    tl.store(scale + b, s)


@triton.jit
def k_largest(x, part, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + tl.program_id(0), tl.max(tl.abs(tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)), 0))


@triton.jit
def k_quantize(x, q, most, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32) * (448.0 / tl.load(most))
    tl.store(q + i, v.to(q.dtype.element_ty), mask=i < n)


@triton.jit
def k_dequantize(q, scale, x, n, PER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(q + i, mask=i < n).to(tl.float32) * tl.load(scale + i // PER, mask=i < n)
    tl.store(x + i, v.to(x.dtype.element_ty), mask=i < n)


def flat(kernel, n, *args, **meta):
    """Runs of a kernel over n elements, in blocks of some sizes."""
    return [(lambda b, w: lambda i: kernel[(triton.cdiv(n, b),)](*args, BLOCK=b, num_warps=w, **meta))(b, w)
            for b, w in ((1024, 4), (2048, 4), (4096, 8))]


def rand(*shape, dt=bf16):
    return torch.randn(shape, device=DEV, dtype=dt)


def close(y, want, rel=2e-2):
    return torch.allclose(y.float(), want.float(), rtol=rel, atol=rel)


def contest(B, name, kernel, make, nbytes, consts, peers, check, ceiling="copy"):
    """make() gives the arguments; peers(a) what runs beside; check(a) looks at what has been written, if by one whose
    name is not torch. kernel: (file, kernel)."""
    if not B.wanted(name):
        return
    a = make()
    runs = {"cutec": B.cute(kernel[0], kernel[1], [a], consts)}
    for k, run in peers(a).items():
        runs[k] = B.triton(run) if isinstance(run, list) else run
    B.contest(name, ceiling, nbytes, runs, check=lambda k: k.startswith("torch") or check(a))
    del a, runs
    torch.cuda.empty_cache()


def elements(B):
    def gate(name, gelu, want):
        contest(B, "%s bf16 2^28" % name, (name, name), lambda: dict(gate=rand(N), up=rand(N), y=rand(N)), 6 * N,
                {"T": "bf16"}, lambda a: {"torch": lambda i: want(a["gate"]) * a["up"],
                                          "triton": flat(k_gate, N, a["gate"], a["up"], a["y"], N, GELU=gelu)},
                lambda a: close(a["y"], want(a["gate"].float()) * a["up"].float()))
    gate("geglu", True, lambda g: F.gelu(g, approximate="tanh"))
    gate("swiglu", False, F.silu)

    def unary(name, consts, triton_kernel, want):
        contest(B, "%s bf16 2^28" % name, (name, name), lambda: dict(x=rand(N), y=rand(N)), 4 * N, consts,
                lambda a: {"torch": lambda i: want(a["x"]), "triton": flat(triton_kernel, N, a["x"], a["y"], N)},
                lambda a: close(a["y"], want(a["x"].float())))
    unary("gelu", {"T": "bf16", "exact": "false"}, k_gelu, lambda x: F.gelu(x, approximate="tanh"))
    unary("silu", {"T": "bf16", "approx": "true"}, k_silu, F.silu)
    contest(B, "dropout bf16 2^28", ("dropout", "dropout"), lambda: dict(x=torch.ones(N, device=DEV, dtype=bf16), y=rand(N),
                                                                       p=0.25, seed=7),
            4 * N, {"T": "bf16"}, lambda a: {"torch": lambda i: F.dropout(a["x"], 0.25),
                                             "triton": flat(k_dropout, N, a["x"], a["y"], N, 0.25, 7)},
            lambda a: abs((a["y"] == 0).float().mean().item() - 0.25) < 1e-2)


def rows(B):
    def add_rmsnorm(R, C):
        def make():
            return dict(x=rand(R, C), residual=rand(R, C), w=rand(C), h=rand(R, C), y=rand(R, C))

        def peers(a):
            def run(i):
                torch.add(a["x"], a["residual"], out=a["h"])
                return F.rms_norm(a["h"], (C,), a["w"], 1e-6)
            return {"torch": run, "triton": [
                (lambda w: lambda i: k_add_rmsnorm[(R,)](a["x"], a["residual"], a["w"], a["h"], a["y"], C, 1e-6, BLOCK=C,
                                                         num_warps=w))(w) for w in (4, 8, 16)]}

        def check(a):
            h = a["x"][:64] + a["residual"][:64]
            return torch.equal(a["h"][:64], h) and close(
                a["y"][:64], F.rms_norm(h.float(), (C,), a["w"].float(), 1e-6), 3e-2)
        contest(B, "add_rmsnorm bf16 %dx%d" % (R, C), ("add_rmsnorm", "add_rmsnorm"), make, 8 * R * C, {"T": "bf16"},
                peers, check)
    add_rmsnorm(32768, 4096)
    add_rmsnorm(65536, 1024)

    R, C = 32768, 4096
    contest(B, "log_softmax bf16 32768x4096", ("softmax", "log_softmax"), lambda: dict(x=rand(R, C), y=rand(R, C)), 4 * R * C,
            {"T": "bf16"}, lambda a: {"torch": lambda i: torch.log_softmax(a["x"], 1)},
            lambda a: close(a["y"][:64], torch.log_softmax(a["x"][:64].float(), 1)))

    def xent_backward():
        R, C = 8192, 131072
        x = rand(R, C)
        return dict(x=x, target=torch.randint(0, C, (R,), device=DEV), lse=torch.logsumexp(x, 1).float(),
                    dloss=torch.ones(R, device=DEV), dx=torch.empty_like(x))

    def xent_check(a):
        want = torch.softmax(a["x"][:16].float(), 1)
        want[torch.arange(16), a["target"][:16]] -= 1
        return close(a["dx"][:16], want)
    contest(B, "cross_entropy_backward bf16 8192x131072", ("cross_entropy", "cross_entropy_backward"), xent_backward,
            4 * 8192 * 131072, {"T": "bf16", "I": "i64"}, lambda a: {"triton": [
                (lambda b, w: lambda i: k_xent_backward[(8192, 131072 // b)](
                    a["x"], a["target"], a["lse"], a["dloss"], a["dx"], 131072, BLOCK=b, num_warps=w))(b, w)
                for b, w in ((2048, 4), (4096, 8), (8192, 8))]}, xent_check)

    def turn():
        angle = rand(16384, 64, dt=f32)
        return dict(x=rand(16384, 32, 128), cos=torch.cos(angle), sin=torch.sin(angle), y=rand(16384, 32, 128))

    def turned(a):
        x, c, s = a["x"][:8].float(), a["cos"][:8, None], a["sin"][:8, None]
        u, v = x[..., :64], x[..., 64:]
        return close(a["y"][:8], torch.cat((u * c - v * s, v * c + u * s), -1))
    contest(B, "rope bf16 16384x32x128", ("rope", "rope"), turn, 16384 * (32 * 128 * 4 + 64 * 8), {"T": "bf16"},
            lambda a: {"triton": [(lambda h, w: lambda i: k_rope[(16384, 32 // h)](
                a["x"], a["cos"], a["sin"], a["y"], 32, D=128, HEADS=h, num_warps=w))(h, w)
                for h, w in ((8, 4), (16, 4), (32, 4), (32, 8))]}, turned)


def tables(B):
    """By numbers: rows of tables, and elements of rows."""
    R, C, K = 4096, 32768, 8192

    def places():
        return torch.rand(R, C, device=DEV).argsort(1)[:, :K].contiguous()
    contest(B, "scatter f32 4096x32768 by 8192", ("gather", "scatter"),
            lambda: dict(y=rand(R, K, dt=f32), index=places(), x=torch.zeros(R, C, device=DEV)), R * K * 16,
            {"T": "f32", "I": "i64"}, lambda a: {"torch": lambda i: a["x"].scatter_(1, a["index"], a["y"])},
            lambda a: torch.equal(a["x"].gather(1, a["index"]), a["y"]))

    def added(a):
        a["x"].zero_()
        return True
    contest(B, "scatter_add f32 4096x32768 by 8192", ("gather", "scatter_add"),
            lambda: dict(y=rand(R, K, dt=f32), index=torch.randint(0, C, (R, K), device=DEV),
                         x=torch.zeros(R, C, device=DEV)), R * K * 20,
            {"T": "f32", "I": "i64"}, lambda a: {"torch": lambda i: a["x"].scatter_add_(1, a["index"], a["y"])}, added)

    V, D = 32768, 4096
    contest(B, "embedding bf16 32768 of 32768x4096", ("embedding", "embedding"),
            lambda: dict(table=rand(V, D), index=torch.randint(0, V, (V,), device=DEV), y=rand(V, D)), 4 * V * D,
            {"T": "bf16", "I": "i64"}, lambda a: {"torch": lambda i: F.embedding(a["index"], a["table"])},
            lambda a: torch.equal(a["y"], a["table"][a["index"]]))

    # f32 sums of bf16: what torch.index_add_ has for it wants dy in f32 first, which is not counted
    def embedding_peers(a):
        wide = a["dy"].float()
        return {"torch (dy f32)": lambda i: a["gradient"].index_add_(0, a["index"], wide),
                "torch": lambda i: torch.ops.aten.embedding_dense_backward(a["dy"], a["index"], V, -1, False)}
    contest(B, "embedding_backward bf16 32768 of 32768x4096", ("embedding", "embedding_backward"),
            lambda: dict(dy=rand(V, D), index=torch.randint(0, V, (V,), device=DEV), gradient=torch.zeros(V, D, device=DEV)),
            10 * V * D, {"T": "bf16", "I": "i64"}, embedding_peers, lambda a: True)


def narrow(B):
    """To 8 bits and back."""
    T = {"T": "bf16", "Q": "f8e4m3"}

    def quantized(a, per):
        got = a["q"].view(-1, per)[:64].float() * a["scale"].view(-1)[:64, None]
        return close(got, a["x"].view(-1, per)[:64], 7e-2)
    for C in (4096, 16384):
        R = N // C
        contest(B, "quantize_rows bf16 to f8e4m3 %dx%d" % (R, C), ("quantize", "quantize_rows"),
                lambda: dict(x=rand(R, C), q=torch.empty(R, C, device=DEV, dtype=e4m3), scale=torch.empty(R, device=DEV)),
                3 * N, T, lambda a: {"triton": [(lambda w: lambda i: k_quantize_rows[(R,)](
                    a["x"], a["q"], a["scale"], C, BLOCK=C, num_warps=w))(w) for w in (4, 8, 16)]},
                lambda a: quantized(a, C))
    R, C = N // 4096, 4096
    contest(B, "quantize_blocks bf16 to f8e4m3 %dx%d" % (R, C), ("quantize", "quantize_blocks"),
            lambda: dict(x=rand(R, C), q=torch.empty(R, C, device=DEV, dtype=e4m3),
                         scale=torch.empty(R, C // 128, device=DEV)), 3 * N + N // 32, T,
            lambda a: {"triton": [(lambda b, w: lambda i: k_quantize_blocks[(N // 128 // b,)](
                a["x"], a["q"], a["scale"], B=b, num_warps=w))(b, w) for b, w in ((8, 4), (16, 4), (32, 4), (32, 8))]},
            lambda a: quantized(a, 128))

    def whole_peers(a):
        part = torch.empty(N // 4096, device=DEV)

        def run(b, w):
            def go(i):
                k_largest[(N // 4096,)](a["x"], part, N, BLOCK=4096, num_warps=8)
                k_quantize[(N // b,)](a["x"], a["q"], torch.amax(part), N, BLOCK=b, num_warps=w)
            return go
        return {"triton": [run(2048, 4), run(4096, 8)]}
    # read twice: once for the scale
    contest(B, "quantize bf16 to f8e4m3 2^28", ("quantize", "quantize"),
            lambda: dict(x=rand(N), q=torch.empty(N, device=DEV, dtype=e4m3), scale=torch.full((1,), 5.0 / 448, device=DEV)),
            5 * N, T, whole_peers, lambda a: close(a["q"][:4096].float() * a["scale"], a["x"][:4096], 7e-2))

    for name, per, shape in (("dequantize_rows", 4096, (R,)), ("dequantize_blocks", 128, (R, 32)), ("dequantize", N, (1,))):
        def make():
            size = (N,) if per == N else (R, C)
            return dict(q=torch.randn(size, device=DEV).to(e4m3), scale=torch.rand(shape, device=DEV),
                        x=torch.empty(size, device=DEV, dtype=bf16))
        contest(B, "%s f8e4m3 to bf16 2^28" % name, ("quantize", name), make, 3 * N, T,
                lambda a: {"torch": lambda i: (a["q"].view(-1, per).to(bf16) * a["scale"].view(-1, 1)).to(bf16),
                           "triton": flat(k_dequantize, N, a["q"], a["scale"], a["x"], N, PER=per)},
                lambda a: close(a["x"].view(-1, per)[:64, :4096],
                                a["q"].view(-1, per)[:64, :4096].float() * a["scale"].view(-1, 1)[:64]))


def moves(B):
    for part in (elements, rows, tables, narrow):
        part(B)
