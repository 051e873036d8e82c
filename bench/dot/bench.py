#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [--rounds N] [ROW…]: the step solvers on the dot authors' meshes, in units of one
factorisation.

U is one supernodal factorisation by CHOLMOD, AMD ordering, two BLAS threads, of the full projected Hessian of the first
step (bench/tools/unit.c), in a process of its own and in the environment that makes it fastest. Each row runs its first
steps with every solver on two threads, in rounds over the solvers with U measured in between, since a machine's speed
drifts; a round's figure is time per step over the median U of that round, and the median over the rounds counts. ROW is
part of a row's name. --quick makes few steps and one round, and judges nothing.

Targets and counts of iterations are those of the paper's stop test ("stop": "characteristic"), and of its start but for
our variant of dot. What the default test costs, which knows the loads, is measured beside it in the same rounds: rows
"default stop".
"""

import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import Figures  # noqa: E402
from study import (MESHES, Ended, Tools, figure, iterations_per_step, meshes_are_there, seconds_per_step,
                   shares)  # noqa: E402

TEST = {"integrator.options.stop": "characteristic"}
PAPER = {**TEST, "integrator.options.start": "predictor"}
SOLVERS = {
    "dot": {"integrator.solver": "dot", **TEST},
    "dot paper": {"integrator.solver": "dot", "integrator.options.variant": "paper", "integrator.options.subdomains": 2,
                  **PAPER}, "newton": {"integrator.solver": "newton", **PAPER},
    "lbfgs-h": {"integrator.solver": "lbfgs-h", **PAPER},
    "lbfgs-pd": {"integrator.solver": "lbfgs-pd", **PAPER},
    "dot, default stop": {"integrator.solver": "dot"},
    "newton, default stop": {"integrator.solver": "newton"},
}

# Time per step in U at most; mean iterations per step of the authors' code; its peak memory in MB.
ROWS = {
    "bunny5K-ltss": dict(steps=40, time={"dot": 1.0, "newton": 11, "lbfgs-h": 1.7, "lbfgs-pd": 3.6}, memory=190,
                         iterations={"dot paper": 16.8, "newton": 11.7, "lbfgs-h": 10.4, "lbfgs-pd": 53.7}),
    "horse7K-ltss": dict(steps=40, time={"dot": 2.5, "newton": 8, "lbfgs-h": 3.5, "lbfgs-pd": 8.5}, memory=295,
                         iterations={"dot paper": 28.6, "newton": 6.8, "lbfgs-h": 24.9}),
    "horse7K-stretch": dict(steps=40, time={"dot": 1.8, "newton": 3.7, "lbfgs-h": 2.7, "lbfgs-pd": 1.0}, memory=None,
                            iterations={"dot paper": 21.0, "newton": 3.0, "lbfgs-h": 15.9}),
    "bar17K-twist": dict(steps=15, time={"dot": 0.6, "newton": 1.7, "lbfgs-h": 0.85, "lbfgs-pd": 0.25}, memory=860,
                         iterations={"dot paper": 7.9, "newton": 2.4, "lbfgs-h": 3.0}),
}
ITERATIONS_WITHIN = 15  # percent of the authors'

# What makes CHOLMOD fastest depends on the machine and its libraries: all are tried, and the best one is U.
ENVIRONMENTS = [{"OMP_THREAD_LIMIT": "1"}, {"OMP_NUM_THREADS": "1"}, {}]


def scene_of(row):
    return f"bench/dot/{row}.json"


def measure_row(tools, row, steps, rounds):
    """Per solver the ratio to U of each round and the last run; the median U of the rounds; the environment chosen for
    U."""
    scene = scene_of(row)
    tried = [(tools.unit(scene, environment), i) for i, environment in enumerate(ENVIRONMENTS)]
    environment = ENVIRONMENTS[min(tried)[1]]
    ratios, runs, units = {name: [] for name in SOLVERS}, {}, []
    for _ in range(rounds):
        here, seconds = [], {}
        for name, settings in SOLVERS.items():
            here.append(tools.unit(scene, environment))
            run = tools.measure(scene, {**settings, "integrator.max_halvings": 0}, "--steps", steps)
            seconds[name] = seconds_per_step(run)
            if name in runs:
                run["megabytes"] = max(run["megabytes"], runs[name]["megabytes"])
            runs[name] = run
        units.append(statistics.median(here))
        for name, value in seconds.items():
            if value is not None:
                ratios[name].append(value / units[-1])
    return ratios, runs, statistics.median(units), environment


def report_solver(table, row, name, ratios, run, judged):
    goal, label = ROWS[row], f"{row}: {name}"
    if "failed" in run:
        failed = run["failed"]
        print(f"{label} failed in step {failed['step']}: {failed['outcome']} in {failed['stage']}; {failed['hint']}")
        table.add(f"{label}, steps that failed", "1", "", "", "<=0")
        return
    limit = None if name.endswith("stop") else goal["time"].get(name.split()[0])
    aim = f" (aim {limit / 2:g})" if name == "dot" else ""
    spread = 100 * (max(ratios) - min(ratios)) / (2 * statistics.median(ratios))
    table.add(f"{label}{aim} +-{spread:.0f}%", f"{statistics.median(ratios):.3f}", "U", f"{run['megabytes']:.0f}",
              f"<={limit:g}" if judged and limit else "")
    mean, authors = iterations_per_step(run), goal["iterations"].get(name)
    table.add(f"{label}, iterations a step", f"{mean:.1f}", "")
    if authors:
        off = 100 * (mean - authors) / authors
        side = "more" if off > 0 else "fewer"
        table.add(f"{label}, {side} iterations than the authors' {authors:g}", f"{abs(off):.1f}", "%", "",
                  f"<={ITERATIONS_WITHIN}" if judged else "")
    if name == "dot" and goal["memory"]:
        table.add(f"{label}, peak memory", f"{run['megabytes']:.0f}", "MB", "", f"<={goal['memory']}" if judged else "")
    print("    " + ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in shares(run)))


def print_summary(results):
    print(f"\n{'time per step in U':20} {'U [ms]':>8} " + " ".join(f"{name:>10}" for name in SOLVERS))
    for row, (ratios, _, unit, _) in results.items():
        cells = [figure(statistics.median(ratios[name])) if ratios[name] else "failed" for name in SOLVERS]
        print(f"{row:20} {1e3 * unit:8.1f} " + " ".join(f"{cell:>10}" for cell in cells))
    for row, (ratios, _, _, _) in results.items():
        for name in ("dot", "newton"):
            both = [b / a for a, b in zip(ratios[name], ratios[f"{name}, default stop"])]
            if both:
                print(f"{row}: the default stop test costs {name} {statistics.median(both):.2f} times the "
                      f"characteristic one")
    print()


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--rounds", type=int, default=3)
    asked = words.parse_intermixed_args()
    rows = [row for row in ROWS if not asked.rows or any(part in row for part in asked.rows)]
    if not rows:
        sys.exit(f"bench-dot: no row of that name; there are {', '.join(ROWS)}")
    if not meshes_are_there(*(row.split("-")[0] + ".msh" for row in rows)):
        print(f"bench-dot: the dot authors' meshes are not in {MESHES}; they are no part of rubato, so nothing is "
              f"measured")
        return
    tools, results = Tools(asked.rubato), {}
    with Figures("bench-dot") as table:
        for row in rows:
            steps, rounds = (3, 1) if asked.quick else (ROWS[row]["steps"], asked.rounds)
            results[row] = ratios, runs, unit, environment = measure_row(tools, row, steps, rounds)
            chosen = " ".join(f"{key}={value}" for key, value in environment.items()) or "as it is"
            table.add(f"{row}: U (environment: {chosen})", f"{1e3 * unit:.1f}", "ms")
            for name in SOLVERS:
                report_solver(table, row, name, ratios[name], runs[name], not asked.quick)
        print_summary(results)


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"bench-dot: {words}")
