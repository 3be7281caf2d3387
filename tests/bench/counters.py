#!/usr/bin/env python3
"""What bounds a product: counters of the contestants of gemm.py, side by side.

    python3 tests/bench/counters.py [--only TEXT]... [--seconds S] [--rounds N] [--try "NAME=VALUE; ..."]...
                                    [--markdown FILE]

Needs torch, and ncu in the PATH. First the contests as in gemm.py: TFLOP/s, and
by NVML clock and power, so also the energy of a FLOP. Then each contestant once
under ncu, at the clock that ncu sets, alone, with what the launch in front left
in L2: the part of its clocks in which the tensor cores work, the part of the
slots in which an instruction is issued; what is read of L2 (in brackets how
busy that is), what L2 sends into the crossbar, where requests of neighbours for
the same have become one, and what comes to the multiprocessors; what memory and
shared memory are read and memory is written; and what warps wait for, the three
largest parts of all waiting. Kernels that a contestant launches are added up.
"""
import csv
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = "spin_kernel"  # what torch.cuda._sleep() launches: a contestant begins behind it
STALLED = "smsp__average_warps_issue_stalled_"
ISSUE = "_per_issue_active"
SUMS = {"clocks": ("sm__cycles_elapsed.max",),
        "tensor": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",),
        "issue": ("sm__inst_issued.avg.pct_of_peak_sustained_elapsed",),
        "instructions": ("smsp__inst_executed.sum",),
        "l2": ("lts__t_sectors_op_read.sum",),
        "l2_busy": ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed",),
        "crossbar": ("lrc__lrc2xbar_sectors_op_read.sum",),
        "to_sm": ("l1tex__m_xbar2l1tex_read_sectors.sum",),
        "read": ("dram__bytes_read.sum",),
        "written": ("dram__bytes_write.sum",),
        "memory_busy": ("dram__throughput.avg.pct_of_peak_sustained_elapsed",),
        "shared": ("l1tex__data_bank_reads.sum",)}
PARTS = ("tensor", "issue", "l2_busy", "memory_busy")  # of the time, so no sums


def inside(argv):
    """Under ncu: every contestant once, each behind a mark; the names in order."""
    import torch
    import gemm

    class Once(gemm.Contest):
        def run(self, name, flops, peers, ours, wrong):
            for who, run in dict(peers, **{k: r for k, r in ours.items() if r is not None}).items():
                for _ in range(2):
                    run()
                    wrong()
                torch.cuda.synchronize()
                torch.cuda.cudart().cudaProfilerStart()
                torch.cuda._sleep(1)
                run()
                torch.cuda.synchronize()
                torch.cuda.cudart().cudaProfilerStop()
                wrong()
                with open(names, "a") as f:
                    f.write("%s\t%s\t%g\n" % (name, who, flops))

    p = gemm.options(None)
    p.add_argument("--inside")
    c = Once(p.parse_args(argv))
    names = c.options.inside
    gemm.contests(c)


def known():
    """Names of metrics that this GPU has."""
    text = subprocess.run(("ncu", "--query-metrics"), capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if "__" in line.split(" ")[0]}


def counted(argv):
    """{(contest, contestant): {metric: number}} by ncu."""
    there = known()
    waits = sorted(m for m in there if m.startswith(STALLED) and m.endswith(ISSUE))
    found = {k: next((m for m in ms if m.split(".")[0] in there), None) for k, ms in SUMS.items()}
    metrics = [m for m in found.values() if m] + [m + ".ratio" for m in waits]
    with tempfile.TemporaryDirectory() as folder:
        log, names = os.path.join(folder, "log"), os.path.join(folder, "names")
        done = subprocess.run(
            ["ncu", "--profile-from-start", "off", "--cache-control", "none", "--csv", "--print-units", "base",
             "--log-file", log, "--metrics", ",".join(metrics), sys.executable, os.path.abspath(__file__),
             "--inside", names] + argv, capture_output=True, text=True)
        if done.returncode or not os.path.exists(names):
            sys.exit("ncu: %s%s%s" % (open(log).read()[-500:], done.stdout[-500:], done.stderr[-500:]))
        with open(names) as f:
            labels = [tuple(line.rstrip("\n").split("\t")) for line in f]
        with open(log) as f:
            rows = list(csv.DictReader(line for line in f if line.startswith('"')))
    return added(rows, labels, found, waits)


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


def added(rows, labels, found, waits):
    """Kernels of each contestant: sums, and of parts of the time the mean by clocks."""
    launches = {}
    for r in rows:
        launch = launches.setdefault(int(r["ID"]), {"name": r["Kernel Name"]})
        launch[r["Metric Name"]] = number(r["Metric Value"])
    result, at = {}, -1
    for n in sorted(launches):
        launch = launches[n]
        if MARK in launch["name"]:
            at += 1
            continue
        name, who, flops = labels[at]
        sums = result.setdefault((name, who), {"flops": float(flops), "waits": {}})
        clocks = launch.get(found["clocks"], 0)
        for k, m in found.items():
            sums[k] = sums.get(k, 0) + launch.get(m, 0) * (clocks if k in PARTS else 1)
        for m in waits:
            kind = m[len(STALLED):-len(ISSUE)]
            sums["waits"][kind] = sums["waits"].get(kind, 0) + launch.get(m + ".ratio", 0) * clocks
    for sums in result.values():
        for k in PARTS:
            sums[k] /= max(sums["clocks"], 1)
    return result


def waits_of(sums):
    """The three largest, as parts of all."""
    all_of = sum(sums["waits"].values()) or 1
    most = sorted(sums["waits"].items(), key=lambda x: -x[1])[:3]
    return ", ".join("%s %.0f" % (k, 100 * v / all_of) for k, v in most)


HEAD = ("work", "", "TFLOP/s", "ratio", "MHz", "W", "pJ/FLOP", "clocks", "tensor %", "issue %", "instr M", "L2 MB (%)",
        "crossbar MB", "to SMs MB", "memory MB (%)", "shared MB", "waits %")


def megabytes(count, each=1):
    return count * each / 1e6


def lines(rows, counters):
    """Of contests as gemm.py leaves them, and counters."""
    yield "| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|\n"
    for row in rows:
        for who in (k for k in row if k != "work"):
            r, c = row[who], counters.get((row["work"], who))
            cells = [row["work"], who, "%.1f" % r["tflops"], "%.3f" % r["ratio"], "%.0f" % r["clock"],
                     "%.0f" % r["power"], "%.3f" % (r["power"] / r["tflops"])]
            if c is not None:
                cells += ["%.0f" % c["clocks"], "%.0f" % c["tensor"], "%.1f" % c["issue"],
                          "%.2f" % (c["instructions"] / 1e6), "%.0f (%.0f)" % (megabytes(c["l2"], 32), c["l2_busy"]), "%.0f" % megabytes(c["crossbar"], 32),
                          "%.0f" % megabytes(c["to_sm"], 32),
                          "%.0f (%.0f)" % (megabytes(c["read"] + c["written"]), c["memory_busy"]),
                          "%.0f" % megabytes(c["shared"], 4), waits_of(c)]
            yield "| " + " | ".join(cells) + " |\n"


def main():
    import gemm
    p = gemm.options(__doc__.splitlines()[0])
    p.add_argument("--markdown", help="the table")
    c = gemm.Contest(p.parse_args())
    gemm.contests(c)
    argv = [x for name in c.options.only for x in ("--only", name)]
    argv += [x for text in c.options.set for x in ("--set", text)] + [x for text in c.options.tries for x in ("--try", text)]
    text = "".join(lines(c.rows, counted(argv)))
    print(text, end="")
    if c.options.markdown:
        with open(c.options.markdown, "w") as f:
            f.write(text)


if __name__ == "__main__":
    if "--inside" in sys.argv:
        inside(sys.argv[1:])
    else:
        main()
