#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [--rounds N] [ROW…]: multirate-euler on the bodies of its paper, in units of one
single-rate step.

Each row is a scene of scenes/multirate: the median time of a long step once everything is factored, over that of
backward Euler at the same step, on two threads. Single rate is the faster of multirate-euler without tempi and
semi-implicit, which are the same equation. Warping (output.warp) is what a frame takes beyond that, over a step of the
run that it is measured in. Rounds alternate between them, since a machine's speed drifts, and the median over the
rounds counts. ROW is part of a row's name. --quick makes few steps and one round, and judges nothing.
"""

import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import Figures  # noqa: E402
from study import Ended, Tools, shares  # noqa: E402

# Time of a long step at most, and the paper's, in single-rate steps
ROWS = {
    "dinosaur": (2.4, 2.9),
    "flower": (2.4, 2.9),
    "asian-dragon": (1.2, 1.26),
    "dragon-1": (1.1, 1.01),
    "dragon-2": (2.0, 2.05),
    "dragon-3": (2.6, 2.8),
    "dragon-4": (None, 3.7),
    "dragon-5": (None, 6.8),
    "dragon-6": (10.3, 10.9),
}
SINGLE = {"without tempi": {"bodies[0].tempo": "[]"}, "semi-implicit": {"integrator.method": "semi-implicit"}}
STEPS = 60
WARPING = 0.6  # of a single-rate step, at most


def scene_of(row):
    return f"scenes/multirate/{row}.json"


def step_time(run):
    """Median over the steps after the first, which makes the factors."""
    return statistics.median(step["seconds"] for step in run["steps"][1:])


def measure_row(tools, row, steps, rounds):
    """Times of a multirate step and of a single-rate one, one of each a round, and the last multirate run."""
    multirate, single, run = [], [], None
    for _ in range(rounds):
        times = [step_time(tools.measure(scene_of(row), settings, "--steps", steps)) for settings in SINGLE.values()]
        run = tools.measure(scene_of(row), {}, "--steps", steps)
        multirate.append(step_time(run))
        single.append(min(times))
    return multirate, single, run


def measure_warping(tools, row, steps, rounds):
    """What warping takes, over a single-rate step, in each round."""
    runs = [tools.measure(scene_of(row), SINGLE["without tempi"], "--steps", steps, "--warp") for _ in range(rounds)]
    return [(statistics.median(run["warping"]), step_time(run)) for run in runs]


def report_warping(table, row, warping, judged):
    table.add(f"{row}: warping a frame over single rate",
        f"{statistics.median(warp / step for warp, step in warping):.2f}", "", "",
              f"<={WARPING:g}" if judged else "")


def report(table, row, multirate, single, run, judged):
    target, paper = ROWS[row]
    ratios = [m / s for m, s in zip(multirate, single)]
    table.add(f"{row}: single rate", f"{1e3 * statistics.median(single):.3f}", "ms")
    table.add(f"{row}: multirate", f"{1e3 * statistics.median(multirate):.3f}", "ms", f"{run['megabytes']:.0f}")
    spread = 100 * (max(ratios) - min(ratios)) / (2 * statistics.median(ratios))
    table.add(f"{row}: multirate over single rate +-{spread:.0f}% (paper {paper:g})",
        f"{statistics.median(ratios):.2f}", "", "",
              f"<={target:g}" if judged and target else "")
    table.add(f"{row}: the first step, which makes the factors", f"{run['steps'][0]['seconds']:.2f}", "s")
    print("    " + ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in shares(run)))


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--rounds", type=int, default=5)
    asked = words.parse_intermixed_args()
    rows = [row for row in ROWS if not asked.rows or any(part in row for part in asked.rows)]
    if not rows:
        sys.exit(f"bench-multirate: no row of that name; there are {', '.join(ROWS)}")
    tools = Tools(asked.rubato)
    with Figures("bench-multirate") as table:
        for row in rows:
            steps, rounds = (5, 1) if asked.quick else (STEPS, asked.rounds)
            report(table, row, *measure_row(tools, row, steps, rounds), not asked.quick)
            report_warping(table, row, measure_warping(tools, row, steps, rounds), not asked.quick)


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"bench-multirate: {words}")
