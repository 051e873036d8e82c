#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [--rounds N] [ROW…]: a step of siere over a step of semi-implicit Euler, side by side.

Each row runs the same steps of one scene with both methods on two threads, in rounds, since a machine's speed drifts; a
round's figure is the ratio of the median steps, and the median over the rounds counts. The first steps, which look for
modes from nothing, are left out, as are orderings. Rows named after a mesh of the siere authors are measured if these
meshes are there. ROW is part of a row's name. --quick makes few steps and one round, and judges nothing.
"""

import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import Figures  # noqa: E402
from study import Ended, Tools, meshes_are_there, shares  # noqa: E402

FIRST = 5  # steps that are not counted
SEMI_IMPLICIT = {"integrator": '{"method": "semi-implicit", "max_halvings": 0}'}


def siere(modes):
    return {"integrator": f'{{"method": "siere", "max_halvings": 0, "options": {{"modes": {modes}}}}}'}


FEW, MANY = 1.5, 2.5  # most times a step of semi-implicit Euler: as many modes as the paper took (aim 1.2), and 50
ROWS = {
    "honeycomb": dict(scene="scenes/siere/honeycomb.json", modes=5, steps=40),
    "moebius": dict(scene="scenes/siere/moebius.json", modes=5, steps=40),
    "eiffel": dict(scene="scenes/siere/eiffel.json", modes=5, steps=25),
    "bridge": dict(scene="scenes/siere/bridge.json", modes=5, steps=25),
    "body": dict(scene="scenes/siere/body.json", modes=6, steps=25),
    "honeycomb-authors": dict(scene="bench/siere/honeycomb.json", modes=5, steps=40, mesh="honeycomb.node"),
    "moebius-authors": dict(scene="bench/siere/moebius.json", modes=5, steps=40, mesh="moebius.node"),
    "bridge-authors": dict(scene="bench/siere/bridge.json", modes=5, steps=25, mesh="bridge.node"),
}

STIFFNESS = [1e6, 1e8, 1e10]  # of the honeycomb's edge; its core is a hundredth
WITHIN = 1.1                  # a step's time over the range of stiffness, largest over smallest


def median_step(run):
    """Over the steps until one failed: some scenes are too much for semi-implicit Euler."""
    counted = [step["seconds"] for step in run["steps"][FIRST:]]
    if len(counted) >= 3:
        return statistics.median(counted)
    failed = run["failed"]
    raise Ended(f"step {failed['step']} failed: {failed['outcome']} in {failed['stage']}; {failed['hint']}")


def spread(values):
    return f"+-{100 * (max(values) - min(values)) / (2 * statistics.median(values)):.0f}%"


def measure_row(tools, table, name, row, rounds, quick):
    steps = FIRST + (3 if quick else row["steps"])
    seconds = {"semi-implicit": [], "siere": [], "siere 50": []}
    settings = {"semi-implicit": SEMI_IMPLICIT, "siere": siere(row["modes"]), "siere 50": siere(50)}
    runs = {}
    for _ in range(1 if quick else rounds):
        for method, chosen in settings.items():
            runs[method] = tools.measure(row["scene"], chosen, "--steps", steps)
            seconds[method].append(median_step(runs[method]))
    base = seconds["semi-implicit"]
    table.add(f"{name}: semi-implicit {spread(base)}", f"{1e3 * statistics.median(base):.2f}", "ms",
        f"{runs['semi-implicit']['megabytes']:.0f}")
    for method, most in (("siere", FEW), ("siere 50", MANY)):
        ratios = [mine / other for mine, other in zip(seconds[method], base)]
        modes = row["modes"] if method == "siere" else 50
        aim = " (aim 1.2)" if method == "siere" else ""
        table.add(f"{name}: siere, {modes} modes, over semi-implicit{aim} {spread(ratios)}",
            f"{statistics.median(ratios):.3f}", "",
                  f"{runs[method]['megabytes']:.0f}", "" if quick else f"<={most}")
        print("    " + ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in shares(runs[method])))


def measure_stiffness(tools, table, rounds, quick):
    """The time of a step must not depend on the stiffness."""
    scene, steps = "scenes/siere/honeycomb.json", FIRST + (3 if quick else 40)
    seconds = {young: [] for young in STIFFNESS}
    for _ in range(1 if quick else rounds):
        for young in STIFFNESS:
            settings = {**siere(5), "bodies[0].material.young": young / 100,
                        "bodies[0].regions[0].material.young": young}
            seconds[young].append(median_step(tools.measure(scene, settings, "--steps", steps)))
    medians = {young: statistics.median(values) for young, values in seconds.items()}
    for young, value in medians.items():
        table.add(f"honeycomb: siere, edge {young:.0e} Pa {spread(seconds[young])}", f"{1e3 * value:.2f}", "ms")
    table.add("honeycomb: siere, slowest over fastest stiffness",
        f"{max(medians.values()) / min(medians.values()):.3f}", "", "",
              "" if quick else f"<={WITHIN}")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--rounds", type=int, default=3)
    asked = words.parse_intermixed_args()
    names = [*ROWS, "stiffness"]
    chosen = [name for name in names if not asked.rows or any(part in name for part in asked.rows)]
    if not chosen:
        sys.exit(f"bench-siere: no row of that name; there are {', '.join(names)}")
    tools, ended = Tools(asked.rubato), []
    with Figures("bench-siere") as table:
        for name in chosen:
            if name == "stiffness":
                measure_stiffness(tools, table, asked.rounds, asked.quick)
            elif "mesh" not in ROWS[name] or meshes_are_there(ROWS[name]["mesh"]):
                try:
                    measure_row(tools, table, name, ROWS[name], asked.rounds, asked.quick)
                except Ended as words:  # the other rows are worth measuring all the same
                    print(f"{name}: not measured: {words}")
                    ended.append(name)
            else:
                print(f"{name}: the siere authors' mesh is not there; it is no part of rubato, so it is not measured")
    if ended:
        raise Ended(f"too few steps to measure on {', '.join(ended)}")


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"bench-siere: {words}")
