#!/usr/bin/env python3
"""bench.py RUBATO [--quick]: what ranks cost (docs/cluster.md). Iterations against the size of a body, with
multigrid, schwarz and dot; bytes, messages and reductions per iteration and rank at 2 to 32 ranks, which may be more
than there are cores: counts do not mind; and a model fitted on these, up to 4,096 ranks. Times that it prints are of
this machine as it is."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENE = ROOT / "scenes/cluster/beam.json"
# cells across; along four times as many: 6 tets each
SIZES = [11, 17, 27, 43]  # 32K … 1.9M tets
RANKS = [2, 4, 8, 16, 32]
METHODS = {
    "semi-implicit, petsc-gamg": ["integrator.method=semi-implicit", "integrator.solver=petsc-gamg"],
    "semi-implicit, schwarz": ["integrator.method=semi-implicit", "integrator.solver=schwarz"],
    "backward-euler, dot": ["integrator.method=backward-euler", "integrator.solver=dot"],
}
# The machine that the model predicts: latency, seconds per byte, flops of a core in sparse solves and products
ALPHA, BETA, RATE = 2e-6, 1 / 10e9, 2e9


def run(rubato, ranks, cells, settings, frames, subdomains=None):
    """run.json of a run, or None where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*settings, f"bodies[0].mesh.shape.cuboid.cells=[{4 * cells},{cells},{cells}]", "time.frame=0.02",
                 "output.vtu=false", "output.checkpoint_every=0"]
        if subdomains:
            words.append(f"integrator.options.subdomains={subdomains}")
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMP_WAIT_POLICY": "passive", "OMPI_MCA_mpi_yield_when_idle": "1"}
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), rubato + "-mpi", "run",
                   str(SCENE), "-o", folder, "-q", "-t", "1", "-n", str(frames)]
        for word in words:
            command += ["--set", word]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"  failed: {done.stderr.strip().splitlines()[:1]}")
            return None
        return json.loads((pathlib.Path(folder) / "run.json").read_text(encoding="utf-8"))


def sizes(rubato, quick):
    print("Iterations a step against size, 2 ranks, 2 steps")
    for name, settings in METHODS.items():
        for cells in SIZES[: 1 if quick else len(SIZES)]:
            nodes = (4 * cells + 1) * (cells + 1) ** 2
            parts = None if "gamg" in name else max(2, nodes // (2048 if "schwarz" in name else 256))
            r = run(rubato, 2, cells, settings, 2, parts)
            if r:
                memory = max(rank["memory_gb"] for rank in r["ranks"]["each"])
                print(f"  {name:28} {r['bodies'][0]['tets']:9,} tets {r['iterations'] / r['steps']:6.1f} iterations "
                      f"{r['seconds']['step'] / r['steps']:8.2f} s a step {memory:6.2f} GB at most", flush=True)


def traffic(rubato, quick):
    """Bytes, messages and reductions per iteration and rank: the difference of four steps and two."""
    cells, rows = (8 if quick else 17), []
    print(f"Traffic per iteration, the busiest rank, {6 * 4 * cells ** 3:,} tets")
    for name in ("semi-implicit, schwarz", "backward-euler, dot"):
        for ranks in RANKS[: 2 if quick else len(RANKS)]:
            short, long = (run(rubato, ranks, cells, METHODS[name], frames, 64) for frames in (2, 4))
            if not short or not long:
                continue
            iterations = long["iterations"] - short["iterations"]
            each = [{k: (b[k] - a[k]) / iterations for k in ("bytes", "messages", "reductions", "reduced_bytes")}
                    for a, b in zip(short["ranks"]["each"], long["ranks"]["each"])]
            busiest = max(each, key=lambda e: e["bytes"])
            nodes = long["bodies"][0]["nodes"]
            rows.append({"name": name, "ranks": ranks, "nodes": nodes, **busiest})
            print(f"  {name:28} {ranks:3} ranks {busiest['bytes']:10,.0f} bytes {busiest['messages']:6.1f} messages "
                  f"{busiest['reductions']:5.1f} reductions of {busiest['reduced_bytes']:8,.0f} bytes", flush=True)
    return rows


def model(rows):
    """bytes = c (nodes / ranks)^(2/3): surfaces of parts. Messages stay what they are at most. Time of an iteration:
    flops of a part over the rate, messages and the steps of each reduction at alpha, bytes at beta."""
    for name in sorted({row["name"] for row in rows}):
        own = [row for row in rows if row["name"] == name]
        c = math.exp(sum(math.log(r["bytes"] / (r["nodes"] / r["ranks"]) ** (2 / 3)) for r in own) / len(own))
        messages, reductions = max(r["messages"] for r in own), max(r["reductions"] for r in own)
        print(f"{name}: {c:.0f} bytes (nodes/ranks)^(2/3), {messages:.0f} messages, {reductions:.0f} reductions an "
              "iteration")
        for kind, size in (("strong, 10M nodes", lambda p: 1e7), ("weak, 100K nodes a rank", lambda p: 1e5 * p)):
            line = []
            for ranks in (16, 64, 256, 1024, 4096):
                part, subdomains = size(ranks) / ranks, min(size(ranks) / 256, 2048)
                work = 3 * part * 4000 / RATE + 6 * subdomains * 1500 / RATE  # factors, products; coarse factor, by all
                talk = messages * ALPHA + c * part ** (2 / 3) * BETA
                meet = reductions * math.ceil(math.log2(ranks)) * ALPHA + 48 * subdomains * BETA
                line.append(f"{ranks}: {100 * (work - 6 * subdomains * 1500 / RATE) / (work + talk + meet):.0f} %")
            print(f"  efficiency of an iteration, {kind}: " + ", ".join(line))


def main():
    rubato, quick = sys.argv[1], "--quick" in sys.argv
    if not os.path.exists(rubato + "-mpi"):
        print("bench-cluster: rubato-mpi is not built: scripts/setup mpi installs what it takes")
        return 0
    rows = traffic(rubato, quick)
    model(rows)
    sizes(rubato, quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
