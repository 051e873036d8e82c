#!/usr/bin/env python3
"""bench.py RUBATO [traffic] [sizes] [large] [--quick] [--tets N] [--steps N]: what ranks cost (docs/cluster.md).
Without a word, all:

traffic   bytes, messages and reductions per iteration and rank at 2 to 32 ranks, which may be more than there are
          cores: counts do not mind. The flop rate of a core in such iterations, by the time that the processor
          itself counts. A model fitted on these, up to 4,096 ranks.
sizes     iterations a step against the size of a body, with multigrid, schwarz and dot, as a plot too. Smaller cells
          make a step longer in cells, so dot runs with steps as long as cells, too.
large     a body of 3 million tets (--tets: about so many): 5 steps of semi-implicit with multigrid and of dot, by 2
          ranks of 1 thread and by 1 rank of 2 threads: memory of a rank, time of a step. Needs both cores.

Tables are Markdown. Figures are kept in cluster-bench.json beside RUBATO, so that parts can be measured one by one.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from study import Tools, plot_data  # noqa: E402

SCENE = ROOT / "scenes/cluster/beam.json"
# Cells across the beam; along four times as many, 6 tets each
SIZES = [11, 17, 27, 43, 50]  # 32K … 3M tets
RANKS = [2, 4, 8, 16, 32]
GAMG, SCHWARZ, DOT = "semi-implicit, petsc-gamg", "semi-implicit, schwarz", "backward-euler, dot"
DOT_SHORT = "backward-euler, dot, step by cell"  # steps in which waves cross as many cells in every size
METHODS = {
    GAMG: ["integrator.method=semi-implicit", "integrator.solver=petsc-gamg"],
    SCHWARZ: ["integrator.method=semi-implicit", "integrator.solver=schwarz"],
    DOT: ["integrator.method=backward-euler", "integrator.solver=dot"],
    DOT_SHORT: ["integrator.method=backward-euler", "integrator.solver=dot"],
}
NODES_OF_SUBDOMAIN = {SCHWARZ: 2048, DOT: 256, DOT_SHORT: 256}
# What a network is taken to be: seconds of a message, seconds of a byte
ALPHA, BETA = 2e-6, 1 / 10e9
COUNTS = ("bytes", "messages", "reductions", "reduced_bytes")


def node_count(cells):
    return (4 * cells + 1) * (cells + 1) ** 2


def tet_count(cells):
    return 24 * cells ** 3


def settings_of(name, cells, subdomains, more):
    words = [*METHODS[name], f"bodies[0].mesh.shape.cuboid.cells=[{4 * cells},{cells},{cells}]", "time.frame=0.02",
             "output.vtu=false", "output.checkpoint_every=0", *more]
    if subdomains:
        words.append(f"integrator.options.subdomains={subdomains}")
    return [part for word in words for part in ("--set", word)]


def run(rubato, ranks, name, cells, frames, subdomains=None, threads=1, more=()):
    """run.json of a run on ranks, or without them if `ranks` is 0, with the processor's seconds; None if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMP_WAIT_POLICY": "passive"}
        command = [rubato]
        if ranks:
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), rubato + "-mpi"]
        # who waits must not keep others from working
        if ranks * threads > os.cpu_count() or os.getloadavg()[0] > os.cpu_count():
            environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        command += ["run", str(SCENE), "-o", folder, "-q", "-t", str(threads), "-n", str(frames)]
        command += settings_of(name, cells, subdomains, more)
        start = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            print(f"  {name}, {ranks} ranks, {tet_count(cells):,} tets failed: {said.strip().splitlines()[:1]}")
            return None
        report = json.loads((pathlib.Path(folder) / "run.json").read_text(encoding="utf-8"))
        report["processor"], report["clock"] = usage.ru_utime, time.monotonic() - start
        report["memory_gb"] = (max(rank["memory_gb"] for rank in report["ranks"]["each"]) if ranks
                               else 1024e-9 * usage.ru_maxrss)
        return report


def table(heads, rows):
    print("\n| " + " | ".join(heads) + " |\n| " + " | ".join("---" for _ in heads) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


# ---- Traffic


def traffic(rubato, quick):
    """Per iteration, of the rank with the most: the difference of two runs, one with more steps than the other."""
    cells, rows = (8 if quick else 17), []
    # subdomains of half the usual edge, so that every one of 32 ranks has one
    for name, nodes in ((SCHWARZ, 512), (DOT, 256)):
        subdomains = node_count(cells) // (64 if quick else nodes)
        for ranks in RANKS[: 2 if quick else len(RANKS)]:
            short, long = (run(rubato, ranks, name, cells, frames, subdomains) for frames in (1, 2))
            if not short or not long:
                continue
            iterations = long["iterations"] - short["iterations"]
            each = [{k: (b[k] - a[k]) / iterations for k in COUNTS}
                    for a, b in zip(short["ranks"]["each"], long["ranks"]["each"])]
            owned = [rank["owned"] for rank in long["ranks"]["each"]]
            row = {k: max(e[k] for e in each) for k in COUNTS}
            rows.append({"name": name, "ranks": ranks, "nodes": node_count(cells), "subdomains": subdomains,
                         "unequal": max(owned) * ranks / sum(owned), **row})
            print(f"  {name:24} {ranks:3} ranks {row['bytes']:9,.0f} bytes {row['messages']:6.1f} messages "
                  f"{row['reductions']:5.1f} reductions of {row['reduced_bytes']:8,.0f} bytes", flush=True)
    return rows


def work(rubato, quick):
    """Of one core: flops of an iteration of schwarz, counted (two with each entry of a factor in either direction, and
    two products with blocks of 3 x 3), and the rate at which they are done. A linear body keeps its factors, so that
    the difference of two runs is solves, forces of the steps included. And the seconds of an iteration of dot, with
    assembling and factoring, which it does once a step."""
    cells, rows = (8 if quick else 17), []
    for nodes in ((512,) if quick else (64, 512, 2048)):
        subdomains = max(2, node_count(cells) // nodes)
        linear = ["bodies[0].material.model=linear"]
        short, long = (run(rubato, 0, SCHWARZ, cells, frames, subdomains, more=linear) for frames in (1, 5))
        iterations = long["iterations"] - short["iterations"]
        blocks = 15 * node_count(cells)  # a node of such a mesh has 14 neighbours
        own = long["semi-implicit"]
        flops = 4 * own["factor_entries"] + 2 * 18 * blocks
        seconds = (long["processor"] - short["processor"]) / iterations
        rows.append({"name": SCHWARZ, "nodes": node_count(cells), "subdomains": subdomains, "flops": flops,
                     "coarse_flops": 4 * own["coarse_factor_entries"], "seconds": seconds,
                     "rate": (flops + 4 * own["coarse_factor_entries"]) / seconds})
        print(f"  schwarz, {subdomains} subdomains: {flops / node_count(cells):,.0f} flops a node and iteration, "
              f"coarse {4 * own['coarse_factor_entries']:,.0f}, {1e-9 * rows[-1]['rate']:.2f} Gflop/s", flush=True)
    subdomains = node_count(cells) // 256
    short, long = (run(rubato, 0, DOT, cells, frames, subdomains) for frames in (1, 3))
    seconds = (long["processor"] - short["processor"]) / (long["iterations"] - short["iterations"])
    rows.append({"name": DOT, "nodes": node_count(cells), "subdomains": subdomains, "seconds": seconds})
    print(f"  dot, {subdomains} subdomains: {1e6 * seconds / node_count(cells):.2f} us a node and iteration")
    return rows


class Model:
    """Seconds of an iteration of schwarz with subdomains of 2,048 nodes, on `ranks` cores of a cluster:

      work    flops of its own nodes at the measured rate
      coarse  the system of 6 unknowns for each subdomain, which every rank solves: flops grow as those of factors of a
              body in space do, as the 4/3rd power of its size, from what was counted
      near    messages at alpha each, bytes at beta: b (nodes of a rank)^(2/3), fitted; messages as 32 ranks have them
      all     reductions: log2(ranks) messages each, of bytes that are small but for 48 of each subdomain
    """

    def __init__(self, rows, works):
        own = [row for row in rows if row["name"] == SCHWARZ]
        self.bytes = math.exp(sum(math.log(r["bytes"] / (r["nodes"] / r["ranks"]) ** (2 / 3)) for r in own) / len(own))
        self.messages = max(r["messages"] for r in own)
        self.reductions = max(r["reductions"] for r in own)
        self.unequal = max(r["unequal"] for r in own)
        of = [w for w in works if w["name"] == SCHWARZ]
        last = max(of, key=lambda w: w["nodes"] / w["subdomains"])
        most = max(of, key=lambda w: w["subdomains"])
        self.flops = last["flops"] / last["nodes"]
        self.rate = last["rate"]
        self.coarse = most["coarse_flops"] / most["subdomains"] ** (4 / 3)

    def parts(self, nodes, ranks):
        subdomains, own = nodes / NODES_OF_SUBDOMAIN[SCHWARZ], nodes / ranks
        hops = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        return {"work": own * self.flops / self.rate,
                "coarse": self.coarse * subdomains ** (4 / 3) / self.rate,
                "near": self.messages * ALPHA + self.bytes * own ** (2 / 3) * BETA if ranks > 1 else 0,
                "all": hops * (self.reductions * ALPHA + 48 * subdomains * BETA)}


def predict(rows, works):
    m = Model(rows, works)
    print(f"\nschwarz: {m.flops:,.0f} flops a node and iteration at {1e-9 * m.rate:.2f} Gflop/s; coarse "
          f"{m.coarse:,.0f} S^(4/3) flops; {m.bytes:.0f} (nodes of a rank)^(2/3) bytes and {m.messages:.0f} messages "
          f"to neighbours, {m.reductions:.1f} reductions; alpha {1e6 * ALPHA:g} us, beta {1e-9 / BETA:g} GB/s; the "
          f"largest part has {m.unequal:.2f} times the mean at most")
    counts = (16, 64, 256, 1024, 4096)
    for title, size in (("strong, 10 million nodes", lambda p: 1e7), ("weak, 100,000 nodes a rank", lambda p: 1e5 * p)):
        rows_of = {"share of work": [], "ms of an iteration": [], "work": [], "coarse": [], "near": [], "all": []}
        for ranks in counts:
            parts = m.parts(size(ranks), ranks)
            whole = sum(parts.values())
            rows_of["share of work"].append(f"{100 * parts['work'] / whole:.0f} %")
            rows_of["ms of an iteration"].append(f"{1e3 * whole:.3g}")
            for part, seconds in parts.items():
                rows_of[part].append(f"{1e3 * seconds:.2g}")
        table([title, *(f"{c:,}" for c in counts)], [[key, *values] for key, values in rows_of.items()])


def traffic_table(rows):
    for name in (SCHWARZ, DOT):
        own = [row for row in rows if row["name"] == name]
        if own:
            table([f"{name}, {own[0]['subdomains']} subdomains", *(str(r["ranks"]) for r in own)],
                  [["KB to neighbours", *(f"{1e-3 * r['bytes']:.1f}" for r in own)],
                   ["messages", *(f"{r['messages']:.1f}" for r in own)],
                   ["reductions", *(f"{r['reductions']:.1f}" for r in own)],
                   ["KB of reductions", *(f"{1e-3 * r['reduced_bytes']:.1f}" for r in own)],
                   ["largest part / mean", *(f"{r['unequal']:.2f}" for r in own)]])


# ---- Sizes


def sizes(rubato, quick, most):
    rows = []
    for name in METHODS:
        for cells in SIZES[:1] if quick else [c for c in SIZES if tet_count(c) <= most]:
            nodes = node_count(cells)
            subdomains = max(2, nodes // NODES_OF_SUBDOMAIN[name]) if name in NODES_OF_SUBDOMAIN else None
            step = f"{0.02 * 17 / cells:.4g}"
            more = [f"time.step={step}", f"time.frame={step}"] if name == DOT_SHORT else []
            r = run(rubato, 2, name, cells, 2, subdomains, more=more)
            if r:
                rows.append({"name": name, "tets": tet_count(cells), "iterations": r["iterations"] / r["steps"],
                             "memory_gb": r["memory_gb"]})
                print(f"  {name:26} {tet_count(cells):9,} tets {rows[-1]['iterations']:6.1f} iterations a step, "
                      f"{r['memory_gb']:.2f} GB", flush=True)
    return rows


def sizes_table(rows, rubato):
    tets = sorted({r["tets"] for r in rows})
    at = {(r["name"], r["tets"]): r for r in rows}
    names = [name for name in METHODS if any((name, t) in at for t in tets)]
    table(["tets", *names], [[f"{t:,}", *(f"{at[n, t]['iterations']:.1f}, {at[n, t]['memory_gb']:.2f} GB"
                                          if (n, t) in at else "" for n in names)] for t in tets])
    if len(tets) > 1:
        series = {n: [(t, at[n, t]["iterations"]) for t in tets if (n, t) in at] for n in names}
        Tools(rubato).draw(ROOT / "docs/cluster-iterations.svg", plot_data(
            "Iterations a step against size, 2 ranks", [("", "tets", "iterations a step", "xy", series)]))


# ---- Large


def large(rubato, tets, steps):
    cells, rows = math.ceil((tets / 24) ** (1 / 3) - 1e-9), []
    print(f"{tet_count(cells):,} tets, {node_count(cells):,} nodes, {steps} steps", flush=True)
    for name in (GAMG, DOT):
        subdomains = None if name == GAMG else min(2048, node_count(cells) // NODES_OF_SUBDOMAIN[name])
        for ranks, threads in ((2, 1), (1, 2)):
            r = run(rubato, ranks, name, cells, steps, subdomains, threads)
            if r:
                rows.append({"name": name, "tets": tet_count(cells), "ranks": ranks, "threads": threads,
                             "memory_gb": r["memory_gb"], "seconds": r["seconds"]["step"] / r["steps"],
                             "iterations": r["iterations"] / r["steps"], "clock": r["clock"],
                             "each_gb": [rank["memory_gb"] for rank in r["ranks"]["each"]]})
                print(f"  {name:26} {ranks} ranks of {threads}: {rows[-1]['seconds']:.2f} s a step, "
                      f"{rows[-1]['iterations']:.1f} iterations, {rows[-1]['each_gb']} GB, {r['clock']:.0f} s in all",
                      flush=True)
    return rows


def large_table(rows):
    def of(name, ranks):
        return next((r for r in rows if r["name"] == name and r["ranks"] == ranks), None)
    lines = []
    for name in (GAMG, DOT):
        two, one = of(name, 2), of(name, 1)
        if two and one:
            memory, seconds = two["memory_gb"] / one["memory_gb"], two["seconds"] / one["seconds"]
            lines.append([name, f"{two['tets']:,}",
                          f"{two['memory_gb']:.2f} / {one['memory_gb']:.2f} GB = {memory:.2f}",
                          "holds" if memory <= 0.6 else "does not hold",
                          f"{two['seconds']:.2f} / {one['seconds']:.2f} s = {seconds:.2f}",
                          "holds" if seconds <= 1.15 else "does not hold", f"{two['iterations']:.1f}"])
    table(["", "tets", "memory of a rank, 2 ranks / 1", "at most 0.6", "time of a step, 2 ranks / 2 threads",
           "at most 1.15", "iterations"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubato")
    parser.add_argument("parts", nargs="*", choices=["traffic", "sizes", "large", []])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tets", type=int, default=3000000, help="of sizes at most, of large about")
    parser.add_argument("--steps", type=int, default=5, help="of large")
    asked = parser.parse_args()
    rubato = str(pathlib.Path(asked.rubato).resolve())
    if not os.path.exists(rubato + "-mpi"):
        print("bench-cluster: rubato-mpi is not built: scripts/setup mpi installs what it takes")
        return 0
    tets = 5000 if asked.quick else asked.tets
    path = pathlib.Path(rubato).parent / "cluster-bench.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() and not asked.quick else {}

    def keep():  # before anything is shown: figures take long to measure
        if not asked.quick:
            path.write_text(json.dumps(kept, indent=1), encoding="utf-8")

    for part in asked.parts or ["traffic", "sizes", "large"]:
        print(part, flush=True)
        if part == "traffic":
            kept["traffic"], kept["work"] = traffic(rubato, asked.quick), work(rubato, asked.quick)
            keep()
            traffic_table(kept["traffic"])
            predict(kept["traffic"], kept["work"])
        elif part == "sizes":
            kept["sizes"] = sizes(rubato, asked.quick, tets)
            keep()
            sizes_table(kept["sizes"], rubato)
        else:
            kept["large"] = large(rubato, tets, asked.steps)
            keep()
            large_table(kept["large"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
