#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [--rounds N] [ROW…]: imex against explicit and semi-implicit steps on one core, as in its paper.

Each row is a scene of scenes/imex. The explicit step is symplectic Euler at the body's own bound (the certificate's, which is 2 % short
of it, times 1.01). Times are per simulated second, from the first steps after the release; in every round explicit, imex and
semi-implicit steps are measured side by side, in seconds of the processor, and the median over the rounds counts. ROW is part of a row's name.
--quick makes few steps and one round, and judges nothing.
"""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import Figures  # noqa: E402
from study import Tools, figure  # noqa: E402

# Steps [ms] to try, the least speed-up over explicit steps, and the step it is asked for at (None: the best of all)
ROWS = {
    "armadillo": dict(steps=[0.05, 0.09, 0.12, 0.2, 0.3, 0.35], speedup=4.6, at=None),
    "dragon": dict(steps=[0.15, 0.3, 0.6, 0.9, 1.25], speedup=3.3, at=None),
    "liver": dict(steps=[0.4, 0.6, 1.2, 2.0], speedup=2.7, at=None),
    "bar": dict(steps=[0.6, 0.8, 1.2], speedup=1.0, at=0.6),
}
IDENTIFY = 0.003  # ms per element
SLOWER = 3  # percent that imex may be slower than semi-implicit at the same step
BANDWIDTH = 2  # times the time that memory alone would take


def scene_of(row):
    return f"scenes/imex/{row}.json"


def seconds_per_second(tools, row, method, step, steps):
    """Of computing per simulated one; None if a step failed."""
    settings = {"integrator.method": method, "time.step": step, "time.frame": step * steps, "time.end": step * steps,
                "integrator.max_cuts": 0}
    assigned = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
    run = json.loads(tools.call("measure", [scene_of(row), *assigned, "--threads", 1, "--steps", steps]))
    each = None if "failed" in run else statistics.fmean(s["processor_seconds"] for s in run["steps"])
    return each / step if each else None


def bounds(tools, row, repeats=5):
    return json.loads(tools.call("bounds", [scene_of(row), "--threads", 1, "--set", "time.step=1e-6", "--repeats", repeats]))


def median(values):
    return statistics.median(values) if values and None not in values else None


def measure_row(tools, row, found, steps, rounds, some=None):
    """Medians of seconds per second: (explicit, {h: imex}, {h: semi-implicit})."""
    explicit, imex, implicit = [], {}, {}
    for _ in range(rounds):
        explicit.append(seconds_per_second(tools, row, "symplectic-euler", 1.01 * found["bound"], steps))
        for h in some or ROWS[row]["steps"]:
            imex.setdefault(h, []).append(seconds_per_second(tools, row, "imex", 1e-3 * h, steps))
            implicit.setdefault(h, []).append(seconds_per_second(tools, row, "semi-implicit", 1e-3 * h, max(10, steps // 5)))
    return median(explicit), {h: median(v) for h, v in imex.items()}, {h: median(v) for h, v in implicit.items()}


def report_row(table, row, found, result, judged):
    explicit, imex, implicit = result
    goal = ROWS[row]
    table.add(f"{row}: {found['elements']} tets, {found['nodes']} nodes, explicit bound", f"{1e3 * found['bound']:.4f}", "ms")
    table.add(f"{row}: largest local bound", f"{1e3 * max(found['local']):.3f}", "ms")
    table.add(f"{row}: explicit, per simulated second", f"{explicit:.3f}", "s")
    best = goal["at"] or max(imex, key=lambda h: explicit / imex[h] if imex[h] else 0)
    for h in imex:
        wanted = f">={goal['speedup']:g}" if judged and h == best else ""
        table.add(f"{row}: imex at {h:g} ms, speed-up over explicit", f"{explicit / imex[h]:.2f}", "times", "", wanted)
        slower = 100 * (imex[h] / implicit[h] - 1) if implicit[h] else -100
        table.add(f"{row}: imex at {h:g} ms, slower than semi-implicit", f"{slower:.0f}", "%", "", f"<={SLOWER}" if judged else "")
    each = 1e3 * statistics.median(found["identify"]) / found["elements"]
    table.add(f"{row}: identification per element", f"{each:.5f}", "ms", "", f"<={IDENTIFY}" if judged else "")
    table.add(f"{row}: one certificate", f"{1e3 * statistics.median(found['certify']):.2f}", "ms")


def report_bandwidth(table, tools, steps, rounds, judged):
    """The explicit step of the large body against the time its bytes take."""
    found = bounds(tools, "large", 1)
    limit = found["explicit_bytes"] / found["memory_rate"]
    h = 1.01 * found["bound"]
    for material in ("corotational", "stable-neo-hookean", "linear"):
        times = []
        for _ in range(rounds):
            words = ["--set", f"bodies[0].material.model={material}", "--set", "integrator.method=symplectic-euler"]
            words += [word for key in ("step", "frame", "end") for word in ("--set", f"time.{key}={h if key == 'step' else h * steps}")]
            run = json.loads(tools.call("measure", [scene_of("large"), *words, "--threads", 1, "--steps", steps]))
            times.append(statistics.median(step["processor_seconds"] for step in run["steps"]))
        own = statistics.median(times)
        table.add(f"large, {material}: explicit step of {found['elements']} tets", f"{1e3 * own:.2f}", "ms")
        if material != "linear":  # which multiplies with an assembled matrix instead
            table.add(f"large, {material}: times the {1e3 * limit:.2f} ms of memory at {1e-9 * found['memory_rate']:.1f} GB/s",
                      f"{own / limit:.2f}", "times", "", f"<={BANDWIDTH}" if judged and material == "corotational" else "")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--rounds", type=int, default=5)
    asked = words.parse_intermixed_args()
    names = [*ROWS, "large"]
    rows = [row for row in names if not asked.rows or any(part in row for part in asked.rows)]
    if not rows:
        sys.exit(f"bench-imex: no row of that name; there are {', '.join(names)}")
    tools = Tools(asked.rubato)
    steps, rounds = (40, 1) if asked.quick else (300, asked.rounds)
    with Figures("bench-imex") as table:
        for row in rows:
            if row == "large":
                report_bandwidth(table, tools, max(5, steps // 20), rounds, not asked.quick)
                continue
            found = bounds(tools, row)
            report_row(table, row, found, measure_row(tools, row, found, steps, rounds), not asked.quick)
            print(f"    local bounds in ms, tenths of the elements: "
                  + " ".join(figure(1e3 * v) for v in statistics.quantiles(found["local"], n=10)))


if __name__ == "__main__":
    main()
