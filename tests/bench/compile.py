#!/usr/bin/env python3
"""How long a cold compile takes: a new process, an empty cache.

    python3 tests/bench/compile.py CUTEC FILE [--kernel K] [-D NAME=VALUE]... [--emit cubin,ptx] [--runs N]
    python3 tests/bench/compile.py CUTEC [--runs N] [-O LEVEL]

The second form: a line each for kernels of three sizes, with all of it, what
is ours, and the assembler; LEVEL is that of the command. The first form: wall time of the whole command, its peak memory, and where the library spent
the time; beside them the start of the command alone, and ptxas alone on the
same PTX where it is found.
"""
import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time


def wall(argv, env):
    start = time.perf_counter()
    p = subprocess.run(argv, env=env, capture_output=True, text=True)
    ms = (time.perf_counter() - start) * 1e3
    if p.returncode != 0:
        raise SystemExit("%s\n%s" % (" ".join(argv), p.stderr))
    return ms, p.stderr


def show(name, values):
    print("%-34s median %7.2f ms   least %7.2f   most %7.2f" %
          (name, statistics.median(values), min(values), max(values)))


# (name, file, arguments of the command): what gemm.py launches, A times B and nothing else
PLAIN = tuple(word for name in ("ua=1", "ub=1", "bias=none", "alpha=default", "beta=default") for word in ("-D", name))
ROWS = (("element-wise", "relu/relu.cute", ("-k", "relu[0]")),
        ("GEMM", "gemm_sm80/gemm_sm80.cute", ("-k", "gemm[1]") + PLAIN),
        ("GEMM, large tiles", "gemm_sm80/gemm_sm80.cute", ("-k", "gemm[0]") + PLAIN),
        ("GEMM by WGMMA", "gemm_sm90/gemm_sm90.cute",
         ("-k", "gemm[2]", "-D", "residual=none", "-D", "row_scale=none", "-D", "column_scale=none") + PLAIN),
        ("attention", "flash_attention_2/flash_attention_2.cute", ("-k", "flash_attention[0]", "-D", "D=128")),
        ("attention, causal", "flash_attention_2/flash_attention_2.cute",
         ("-k", "flash_attention[0]", "-D", "D=128", "-D", "causal=true")))


def rows(a, env, fresh, out):
    """All of a cold compile, and that without the assembler: text to cubin; the quickest beside the medians, for hosts
    on which others work."""
    examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
    print("%-20s %9s %9s %11s %9s %9s   ms, medians of %d new processes with an empty cache, and the least" %
          ("", "cubin", "ours", "assembler", "least", "ours", a.runs))
    for name, file, args in ROWS:
        whole, assemble = [], []
        for _ in range(a.runs):
            fresh()
            ms, err = wall([a.cutec, "compile", os.path.join(examples, file), "--emit=cubin=" + out,
                            "--arch=" + a.arch, "--time", "-O" + a.level, *args], env)
            whole.append(ms)
            assemble.append(sum(float(v) for v in re.findall(r" assemble ([0-9.]+) ms", err)))
        ours = [w - x for w, x in zip(whole, assemble)]
        print("%-20s %9.1f %9.1f %11.1f %9.1f %9.1f" % (name, statistics.median(whole), statistics.median(ours),
              statistics.median(assemble), min(whole), min(ours)), flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("cutec")
    a.add_argument("file", nargs="?")
    a.add_argument("-D", dest="constants", action="append", default=[])
    a.add_argument("--kernel")
    a.add_argument("--emit", default="cubin,ptx")
    a.add_argument("--arch", default="sm_90a")
    a.add_argument("--runs", type=int, default=25)
    a.add_argument("-O", dest="level", default="3")
    a = a.parse_args()
    work = tempfile.mkdtemp()
    env = dict(os.environ, CUTEJIT_CACHE_DIR=os.path.join(work, "cache"))
    which = ["-k", a.kernel] if a.kernel else []
    which += [x for c in a.constants for x in ("-D", c)]

    def fresh():
        shutil.rmtree(env["CUTEJIT_CACHE_DIR"], ignore_errors=True)

    if a.file is None:
        rows(a, env, fresh, os.path.join(work, "out"))
        shutil.rmtree(work)
        return
    show("cutec --version", [wall([a.cutec, "--version"], env)[0] for _ in range(a.runs)])
    for emit in a.emit.split(","):
        times, phases = [], {}
        for _ in range(a.runs):
            fresh()
            ms, err = wall([a.cutec, "compile", a.file, "--emit=" + emit + "=" + os.path.join(work, "out"),
                            "--arch=" + a.arch, "--time"] + which, env)
            times.append(ms)
            for name, v in re.findall(r" (\w+) ([0-9.]+) ms", err):
                phases.setdefault(name, []).append(float(v))
        show("compile to %s, empty cache" % emit, times)
        for name, v in phases.items():
            show("    " + name, v)
        again = [wall([a.cutec, "compile", a.file, "--emit=" + emit + "=" + os.path.join(work, "out"),
                       "--arch=" + a.arch] + which, env)[0] for _ in range(a.runs)]
        show("compile to %s, from the cache" % emit, again)
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if os.path.exists(ptxas):
        wall([a.cutec, "compile", a.file, "--emit=ptx=" + os.path.join(work, "k.ptx"), "--arch=" + a.arch] +
             (which or ["-k", os.path.basename(a.file)[:-5] + "[0]"]), env)
        show("ptxas alone", [wall([ptxas, "-arch=" + a.arch, os.path.join(work, "k.ptx"), "-o",
                                   os.path.join(work, "k.cubin")], env)[0] for _ in range(a.runs)])
    print("peak memory of a child: %d MiB" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024))
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
