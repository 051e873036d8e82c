#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [--rounds N] [ROW…]: contact of implicit steps, in units of one factorisation.

U is one supernodal factorisation by CHOLMOD, AMD ordering, two BLAS threads, of the full projected Hessian of the
first step (bench/tools/unit.c), in a process of its own and in the environment that makes it fastest. Each scene runs
its first steps on two threads, in rounds with U measured in between, since a machine's speed drifts; a round's figure
is time per step over the median U of that round, and the median over the rounds counts. The scenes are those of
bench/contact/scenes.py, whose meshes are no part of rubato; without them these rows are left out.

Targets are for the stop test of IPC 2020 ("stop": "step"), beside which the default one is measured. IPC's own figures
were measured once, with its release on a machine of the same kind, two threads.

Then: what contact costs where nothing touches; the time per step of 10 to 1,000 soft balls that fall into a box; and
the contact solvers side by side in one process over all contact scenes, shipped ones and those above: time,
iterations, how far apart nodes in contact are after each of the first ten steps, and that over three halvings of the
thickness. ROW is part of a row's name: a scene, "apart", "growth" or "solvers".
--quick makes few steps and one round, and judges nothing.
--busy is for a machine that others use: one thread and its own processor time, beside the fastest of many
factorisations by one thread; it judges nothing either.
"""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from figures import ROOT, Figures  # noqa: E402
from scenes import SCENES  # noqa: E402
from shipped import balls  # noqa: E402
from study import (Ended, Tools, figure, growth, iterations_per_step, plot_data, progress, seconds_per_step,
                   shares)  # noqa: E402

SHARED = ROOT.parent / "shared" / "contact-scenes"
FOLDER = ROOT / "out" / "bench-contact"

STOPS = {"stop of IPC": {"integrator.options.stop": "step"}, "default stop": {}}

# Steps; U that a step may take at most with the stop of IPC, and should; what IPC takes: seconds, Newton iterations and
# U a step.
ROWS = {
    "rods_twist": dict(steps=120, must=3, aim=1.5, ipc=(0.57, 3.1, 45)),
    "mat40x40_twist": dict(steps=80, must=8, aim=4, ipc=(2.9, 5.6, 163)),
    "chain10": dict(steps=60, must=4, aim=2, ipc=(0.47, 2.8, 73)),
    "two_spheres": dict(steps=40, must=2.5, aim=1.5, ipc=(1.5, 4.2, 38)),
}
FINDING = 30  # percent of a step for search and continuous tests together, at most
APART = 5  # percent that contact may cost where nothing touches
BALLS = (10, 30, 100, 300, 1000)
OFF = 2  # thicknesses that nodes in contact may be apart between the contact solvers, in the first ten steps
BUDGET = 20  # seconds of the processors for a scene with both contact solvers
HALVED = ("squash", "balls-in-box")  # scenes whose thickness is halved

# What makes CHOLMOD fastest depends on the machine and its libraries: all are tried, and the best one is U.
ENVIRONMENTS = [{"OMP_THREAD_LIMIT": "1"}, {"OMP_NUM_THREADS": "1"}, {}]


def write(name, scene):
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(scene, indent=1) + "\n")
    return path


def spread(values):
    """Half of the range in percent of the median."""
    return 100 * (max(values) - min(values)) / (2 * statistics.median(values))


def finding(run):
    """Percent of all stages' seconds that search and continuous tests take."""
    contact = run["about"]["contact"]
    return 100 * (contact["search_seconds"] + contact["test_seconds"]) / sum(run["stages"].values())


def report_failure(table, label, run):
    if "failed" not in run:
        return False
    failed = run["failed"]
    print(f"{label} failed in step {failed['step']}: {failed['outcome']} in {failed['stage']}; {failed['hint']}")
    table.add(f"{label}, steps that failed", "1", "", "", "<=0")
    return True


class Clock:
    """What is measured of a step and of U."""

    def __init__(self, tools, busy):
        self.tools, self.busy = tools, busy

    def unit(self, scene, environment):
        if not self.busy:
            return self.tools.unit(scene, environment)
        words = [scene, "--threads", 1, "--repeats", 20]
        return min(json.loads(self.tools.call("unit", words, environment))["seconds"])

    def measure(self, scene, settings, steps):
        words = ["--steps", steps] + (["--threads", 1] if self.busy else [])
        return self.tools.measure(scene, settings, *words)

    def seconds(self, run):
        if not self.busy:
            return seconds_per_step(run)
        return None if "failed" in run else statistics.fmean(step["processor_seconds"] for step in run["steps"])


def measure_scene(clock, scene, steps, rounds):
    """Per stop test the ratio to U of each round and the last run; the median U; the environment chosen for U."""
    tried = [(clock.unit(scene, environment), i) for i, environment in enumerate(ENVIRONMENTS)]
    environment = ENVIRONMENTS[min(tried)[1]]
    ratios, runs, units = {name: [] for name in STOPS}, {}, []
    for _ in range(rounds):
        here, seconds = [], {}
        for name, settings in STOPS.items():
            here.append(clock.unit(scene, environment))
            runs[name] = clock.measure(scene, settings, steps)
            seconds[name] = clock.seconds(runs[name])
        here.append(clock.unit(scene, environment))
        units.append(statistics.median(here))
        for name, value in seconds.items():
            if value is not None:
                ratios[name].append(value / units[-1])
    return ratios, runs, statistics.median(units), environment


def report_scene(table, row, goal, measured, judged):
    ratios, runs, unit, environment = measured
    chosen = " ".join(f"{key}={value}" for key, value in environment.items()) or "as it is"
    table.add(f"{row}: U (environment: {chosen})", f"{1e3 * unit:.2f}", "ms")
    for name in STOPS:
        run, label, first = runs[name], f"{row}: {name}", name == next(iter(STOPS))
        if report_failure(table, label, run):
            continue
        must = f"<={goal['must']:g}" if first and judged else ""
        table.add(f"{label}{f' (aim ' + format(goal['aim'], 'g') + ')' if first else ''} "
                  f"+-{spread(ratios[name]):.0f}%", f"{statistics.median(ratios[name]):.2f}", "U",
                  f"{run['megabytes']:.0f}", must)
        table.add(f"{label}, iterations a step", f"{iterations_per_step(run):.1f}", "")
        table.add(f"{label}, search and continuous tests", f"{finding(run):.0f}", "%", "",
                  f"<={FINDING}" if judged else "")
        contact = run["about"]["contact"]
        print("    " + ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in shares(run))
              + f"; {contact['most_pairs']} pairs at most")
    seconds, iterations, units = goal["ipc"]
    print(f"    IPC 2020: {seconds:g} s, {iterations:g} iterations, {units:g} U a step")


# ---- Nothing touches


def apart():
    """Four bars under gravity, held at one end: nearly a thousand nodes each, far from each other all the time."""
    bodies = []
    for i in range(4):
        bodies.append({
            "name": f"bar-{i + 1}",
            "mesh": {"shape": {"cuboid": {"size": [1, 0.2, 0.2], "cells": [25, 5, 5]}}},
            "material": {"model": "neo-hookean", "young": 1e5, "poisson": 0.4, "density": 1000},
            "transform": {"translate": [0, 0, 0.5 * i]}, "fixed": ["left"]})
    return {"rubato": 1, "about": "four bars swing and never touch", "bodies": bodies,
            "forces": [{"gravity": {}}], "time": {"step": 0.01, "frame": 0.01, "end": 10},
            "integrator": {"method": "backward-euler", "solver": "newton", "options": {"tolerance": 1e-4}}}


def measure_apart(clock, table, steps, rounds, judged):
    """The same tolerance with and without contact."""
    without = write("apart-without", apart())
    scenes = {"without": without, "with": write("apart-with", {**apart(), "contact": {}})}
    ratios, runs = [], {}
    for _ in range(rounds):
        seconds = {}
        for name in ("without", "with", "with", "without"):
            runs[name] = clock.measure(scenes[name], {}, steps)
            seconds.setdefault(name, []).append(clock.seconds(runs[name]))
        ratios.append(100 * (sum(seconds["with"]) / sum(seconds["without"]) - 1))
    for name, run in runs.items():
        table.add(f"apart: {name} contact, iterations a step", f"{iterations_per_step(run):.2f}", "")
    table.add("apart: what contact costs where nothing touches", f"{statistics.median(ratios):.1f}", "%", "",
              f"<={APART}" if judged else "")
    print(f"    rounds: {', '.join(f'{ratio:.1f} %' for ratio in ratios)}; search and continuous tests "
          f"{finding(runs['with']):.1f} %")


# ---- Growth


def ball_box(count):
    """Layers of balls of 147 nodes each, that fall into a box that is a little wider than them."""
    across = max(2, round((count / 2.5) ** (1 / 3)))
    half = 0.5 * 0.23 * across + 0.02
    walls = [([0, 0, 0], [0, 1, 0]), ([-half, 0, 0], [1, 0, 0]), ([half, 0, 0], [-1, 0, 0]),
             ([0, 0, -half], [0, 0, 1]), ([0, 0, half], [0, 0, -1])]
    bodies = balls(count, across, 0.1, 3, 0.23, 0.12)
    for body in bodies:
        body["velocity"] = {"linear": [0, -1 - body["transform"]["translate"][1], 0]}
    return {"rubato": 1, "about": f"{count} soft balls fall into a box", "bodies": bodies,
            "forces": [{"gravity": {}}],
            "obstacles": [{"plane": {"point": point, "normal": normal}} for point, normal in walls],
            "contact": {}, "time": {"step": 0.01, "frame": 0.01, "end": 1},
            "integrator": {"method": "backward-euler", "solver": "newton", "options": {"stop": "step"}}}


def measure_growth(tools, table, counts, steps):
    """Mean of the second half of the steps, in which the balls lie on each other."""
    nodes_of, pairs_of, rate = [], [], []
    for count in counts:
        progress(f"{count} balls")
        run = tools.measure(write(f"balls-{count}", ball_box(count)), {}, "--steps", steps)
        label = f"growth: {count} balls"
        if report_failure(table, label, run):
            continue
        late = run["steps"][steps // 2:]
        seconds = statistics.fmean(step["seconds"] for step in late)
        iterations = statistics.fmean(step["iterations"] for step in late)
        nodes, pairs = run["nodes"], run["about"]["contact"]["pairs"]
        table.add(f"{label}, {nodes:,} nodes, {pairs:,} pairs", f"{seconds:.3f}", "s/step", f"{run['megabytes']:.0f}")
        print(f"    {iterations:.1f} iterations a step, {finding(run):.0f} % search and continuous tests; "
              + ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in shares(run, 0.03)))
        nodes_of.append((nodes, seconds))
        pairs_of.append((max(1, pairs), seconds))
        rate.append((nodes, 1e6 * seconds / (nodes * iterations)))
    if len(nodes_of) < 2:
        return
    table.add("growth: exponent of time per step over nodes", f"{growth(nodes_of):.2f}", "")
    table.add("growth: exponent of time per step over pairs", f"{growth(pairs_of):.2f}", "")
    plot = plot_data("10 to 1,000 soft balls in a box", [
        ("over nodes", "nodes", "s a step", "xy", {"time": nodes_of}),
        ("over pairs", "pairs that push", "s a step", "xy", {"time": pairs_of}),
        ("per node and iteration", "nodes", "microseconds", "x", {"time": rate})])
    tools.draw(FOLDER / "growth.svg", plot)
    print(f"    plotted in {(FOLDER / 'growth.svg').relative_to(ROOT)}")


# ---- The contact solvers


def both_solvers(tools, scene, steps, settings=()):
    words = [scene, *(word for path, value in settings for word in ("--set", f"{path}={value}"))]
    return json.loads(tools.call("contact_solvers", [*words, "--steps", steps, "--threads", 1, "--budget", BUDGET]))


def measure_solvers(tools, table, steps, judged):
    """Each scene on one thread, by the seconds of the processors, which a busy machine changes little."""
    scenes = {path.stem: path for path in sorted((ROOT / "scenes" / "contact").glob("*.json"))}
    for row in ROWS:
        if (SHARED / row).is_dir():
            FOLDER.mkdir(parents=True, exist_ok=True)
            scenes[row] = write(row, SCENES[row](SHARED, FOLDER))
    lines = []
    for name, scene in scenes.items():
        run = both_solvers(tools, scene, steps)
        done = run["steps"]
        if "failed" in run:
            print(f"    {name}: {run['failed']['solver']} failed in step {len(done) + 1}: {run['failed']['outcome']}")
        if not done:
            continue
        off = max(step["off"] for step in done[:10])
        seconds, iterations = ([statistics.fmean(step[what][i] for step in done) for i in (0, 1)]
                               for what in ("seconds", "iterations"))
        pairs = [max(step["pairs"][i] for step in done) for i in (0, 1)]
        table.add(f"solvers: {name}, apart in the first {min(10, len(done))} steps", f"{off:.2f}", "thicknesses", "",
                  f"<={OFF}" if judged else "")
        table.add(f"solvers: {name}, apart after one step from the same state",
                  f"{max(step['one'] for step in done[:10]):.2f}", "thicknesses")
        table.add(f"solvers: {name}, time of the augmented Lagrangian over the barrier's",
                  f"{seconds[1] / seconds[0]:.2f}", "")
        lines.append(f"| {name} | {len(done)} | {1e3 * seconds[0]:.3g} | {iterations[0]:.1f} | {pairs[0]} | "
                     f"{1e3 * seconds[1]:.3g} | {iterations[1]:.1f} | {pairs[1]} | {off:.2f} |")
    columns = "[ms] | iterations | pairs"
    print(f"\n| scene | steps | barrier {columns} | augmented Lagrangian {columns} | apart |")
    print("|---|---|---|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n")
    for name in HALVED:
        measure_halvings(tools, table, name, scenes[name], judged)


def measure_halvings(tools, table, name, scene, judged):
    thickness, apart_by = both_solvers(tools, scene, 1)["thickness"], []
    for k in range(4):
        run = both_solvers(tools, scene, 10, [("contact.thickness", thickness / 2**k)])
        apart_by.append((thickness / 2**k, max(step["off"] for step in run["steps"]) * thickness / 2**k))
    print(f"    {name}: " + ", ".join(f"{1e3 * off:.3g} mm apart with {1e3 * d:.3g} mm" for d, off in apart_by))
    table.add(f"solvers: {name}, order in the thickness of how far apart they are", f"{growth(apart_by):.2f}", "", "",
              ">=0.8" if judged else "")


def print_summary(results):
    print(f"\n{'time per step in U':20} {'U [ms]':>8} " + " ".join(f"{name:>14}" for name in STOPS) + f" {'IPC':>8}")
    for row, (ratios, _, unit, _) in results.items():
        cells = [figure(statistics.median(ratios[name])) if ratios[name] else "failed" for name in STOPS]
        print(f"{row:20} {1e3 * unit:8.2f} " + " ".join(f"{cell:>14}" for cell in cells)
              + f" {ROWS[row]['ipc'][2]:>8}")
    print()


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--busy", action="store_true")
    words.add_argument("--rounds", type=int, default=3)
    asked = words.parse_intermixed_args()
    names = [*ROWS, "apart", "growth", "solvers"]
    chosen = [name for name in names if not asked.rows or any(part in name for part in asked.rows)]
    if not chosen:
        sys.exit(f"bench-contact: no row of that name; there are {', '.join(names)}")
    tools, results, rounds = Tools(asked.rubato), {}, 1 if asked.quick else asked.rounds
    clock, judged = Clock(tools, asked.busy), not asked.quick and not asked.busy
    with Figures("bench-contact") as table:
        for row in (row for row in ROWS if row in chosen):
            if not (SHARED / row).is_dir():
                print(f"{row}: its meshes are not in {SHARED}; they are no part of rubato, so it is not measured")
                continue
            FOLDER.mkdir(parents=True, exist_ok=True)
            scene = write(row, SCENES[row](SHARED, FOLDER))
            steps = 4 if asked.quick else ROWS[row]["steps"]
            results[row] = measure_scene(clock, scene, steps, rounds)
            report_scene(table, row, ROWS[row], results[row], judged)
        if "apart" in chosen:
            measure_apart(clock, table, 5 if asked.quick else 40, rounds, judged)
        if "growth" in chosen:
            measure_growth(tools, table, BALLS[:2] if asked.quick else BALLS, 4 if asked.quick else 40)
        if "solvers" in chosen:
            measure_solvers(tools, table, 3 if asked.quick else 30, judged)
        if results:
            print_summary(results)


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"bench-contact: {words}")
