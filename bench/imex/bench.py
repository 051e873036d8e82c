#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [--rounds N] [ROW…]: imex against explicit and semi-implicit steps on one core, as in its
paper.

Each row is a scene of scenes/imex; arma_3 and arma_5 are real meshes in its place, if they are there; cut-dragon is
measured before and after its cut, large is one explicit step against what memory and arithmetic allow, and long makes a
million undamped steps of three bodies, two of them real meshes. The explicit step is symplectic Euler at the body's own
bound (the certificate's, which is 2 % short of it, times 1.01). Times are per simulated second, from the first steps
after the release; in every round explicit, imex and semi-implicit steps are measured side by side, in seconds that
their thread has had of the processor, and the median over the rounds counts. ROW is part of a row's name. --quick makes
few steps and one round, and judges nothing.
"""

import argparse
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import ROOT, Figures, history, processor  # noqa: E402
from study import MESHES, Tools, figure, meshes_are_there  # noqa: E402

# Steps [ms] to try, the least speed-up over explicit steps, and the step it is asked for at (None: the best of all)
ROWS = {
    "armadillo": dict(steps=[0.05, 0.09, 0.12, 0.2, 0.3, 0.35], speedup=4.6, at=None),
    "dragon": dict(steps=[0.15, 0.3, 0.6, 0.9, 1.25], speedup=3.3, at=None),
    "liver": dict(steps=[0.4, 0.6, 1.2, 2.0], speedup=2.7, at=None),
    "bar": dict(steps=[0.6, 0.8, 1.2], speedup=1.0, at=0.6),
    # Meshes that nobody made for this, if they are there: nothing is asked of them
    "arma_3": dict(steps=[0.025, 0.047, 0.09, 0.15], speedup=None, at=None),
    "arma_5": dict(steps=[0.025, 0.047, 0.09, 0.15], speedup=None, at=None),
}
CUT, CUT_STEP, CUT_SPEEDUP = "cut-dragon", 0.3e-3, 7
LONG, LONG_STEPS = "long", 1000000
# Undamped bodies of a million steps: the row whose scene it is, changes of it, and the step in units of the explicit
# bound
LONG_BODIES = {
    "small liver": ("liver", {"bodies[0].mesh": '{"shape": {"liver": {"resolution": 9}}, "slivers": {"share": 0.02, '
                                                '"height": 0.02, '
                                                '"seed": 2}}'}, 2),
    "arma_5": ("arma_5", {}, 1.5),
    "arma_3": ("arma_3", {}, 4),
}
# The implicit nodes as the paper has them: all of ill-shaped elements, by its local test alone. CG is its solver.
PAPER_SET = {"integrator.options.safety": 1, "integrator.options.certify": "false", "integrator.options.release":
    "false"}
PAPER_CG = {**PAPER_SET, "integrator.solver": "cg"}
IDENTIFY = 0.003  # ms per element
SLOWER = 3  # percent that imex may be slower than semi-implicit at the same step
BANDWIDTH = 2  # times the time that memory alone would take


def scene_of(row):
    return f"scenes/imex/{'armadillo' if row.startswith('arma_') else row}.json"


def changes_of(row):
    """Settings that make the row's scene of scene_of(row)."""
    return {"bodies[0].mesh": json.dumps({"file": str(MESHES / f"{row}.node")})} if row.startswith("arma_") else {}


def words_of(settings):
    return [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]


def is_there(row):
    return not row.startswith("arma_") or meshes_are_there(f"{row}.node")


def seconds_per_second(tools, row, method, step, steps, changes=None):
    """Of computing per simulated one; None if a step failed. The first step does not count: it certifies, analyses and
    cuts, once a run, which takes as long as 240 explicit steps of the armadillo."""
    settings = {**changes_of(row), **(changes or {}), "integrator.method": method, "time.step": step,
                "time.frame": step * steps, "time.end": step * steps,
                "integrator.max_halvings": 0}
    run = json.loads(tools.call("measure", [scene_of(row), *words_of(settings), "--threads", 1, "--steps", steps]))
    each = None if "failed" in run else statistics.fmean(s["processor_seconds"] for s in run["steps"][1:])
    return each / step if each else None


def bounds(tools, row, repeats=5, steps=0, changes=None):
    settings = {**changes_of(row), **(changes or {}), "time.step": 1e-6, "time.frame": 1e-6}
    return json.loads(tools.call("bounds", [scene_of(row), "--threads", 1, *words_of(settings), "--repeats", repeats,
        "--steps", steps]))


def median(values):
    return statistics.median(values) if values and None not in values else None


def measure_row(tools, row, found, steps, rounds, others=None):
    """Medians of seconds per second: (explicit, {h: imex}, {h: semi-implicit}, per name of `others` {h: imex with these
    settings})."""
    explicit, imex, implicit, more = [], {}, {}, {name: {} for name in others or {}}
    for _ in range(rounds):
        explicit.append(seconds_per_second(tools, row, "symplectic-euler", 1.01 * found["bound"], steps))
        for h in ROWS[row]["steps"]:
            long = max(steps, min(5 * steps, int(500 / h)))  # half a second, if that is not too long
            imex.setdefault(h, []).append(seconds_per_second(tools, row, "imex", 1e-3 * h, long))
            implicit.setdefault(h, []).append(seconds_per_second(tools, row, "semi-implicit", 1e-3 * h,
                                                                 max(10, steps // 5)))
            for name, settings in (others or {}).items():
                # cg keeps nothing from step to step
                few = max(10, steps // 5) if settings.get("integrator.solver") == "cg" else long
                more[name].setdefault(h, []).append(seconds_per_second(tools, row, "imex", 1e-3 * h, few, settings))
    return median(explicit), medians(imex), medians(implicit), {name: medians(found) for name, found in more.items()}


def medians(lists):
    return {h: median(values) for h, values in lists.items()}


def report_row(table, row, found, result, judged):
    explicit, imex, implicit, _ = result
    goal = ROWS[row]
    table.add(f"{row}: {found['elements']} tets, {found['nodes']} nodes, explicit bound",
        f"{1e3 * found['bound']:.4f}", "ms")
    table.add(f"{row}: largest local bound", f"{1e3 * max(found['local']):.3f}", "ms")
    table.add(f"{row}: explicit, per simulated second", f"{explicit:.3f}", "s")
    best = goal["at"] or max(imex, key=lambda h: explicit / imex[h] if imex[h] else 0)
    for h in imex:
        wanted = f">={goal['speedup']:g}" if judged and goal["speedup"] and h == best else ""
        table.add(f"{row}: imex at {h:g} ms, speed-up over explicit", f"{explicit / imex[h]:.2f}", "times", "", wanted)
        slower = 100 * (imex[h] / implicit[h] - 1) if implicit[h] else -100
        table.add(f"{row}: imex at {h:g} ms, slower than semi-implicit", f"{slower:.0f}", "%", "",
                  f"<={SLOWER}" if judged else "")
    each = 1e3 * statistics.median(found["identify"]) / found["elements"]
    table.add(f"{row}: identification per element", f"{each:.5f}", "ms", "", f"<={IDENTIFY}" if judged else "")
    table.add(f"{row}: one certificate", f"{1e3 * statistics.median(found['certify']):.2f}", "ms")


def memory_rate(found):
    """Bytes per second: the best that the history remembers of this machine, since whoever else uses it takes from what
    is measured now; not of programs that were never committed"""
    rates = [found["memory_rate"]]
    with history().open(newline="") as file:
        for line in csv.DictReader(file):
            seen = re.search(r"of memory at ([0-9.]+) GB/s", line["name"])
            if seen and line["machine"] == processor() and not line["commit"].endswith("-dirty"):
                rates.append(1e9 * float(seen[1]))
    return max(rates)


def limits(found, material):
    """Seconds that the bytes and the multiplications of an explicit step take by themselves"""
    key = {"corotational": "multiplied_corotational", "stable-neo-hookean": "multiplied_neo_hookean"}[material]
    return found["explicit_bytes"] / memory_rate(found), found[key] / found["arithmetic_rate"]


def explicit_step(tools, material, step, steps):
    """Seconds of the processor that an explicit step of the large body takes: the least, since bytes and flops are
    limits of a quiet core"""
    settings = {"bodies[0].material.model": material, "integrator.method": "symplectic-euler", "time.step": step,
                "time.frame": step * steps, "time.end": step * steps}
    run = json.loads(tools.call("measure", [scene_of("large"), *words_of(settings), "--threads", 1, "--steps", steps]))
    return min(each["processor_seconds"] for each in run["steps"])


def report_bandwidth(table, tools, steps, rounds, judged):
    """The explicit step of the large body against the time its bytes and its multiplications take."""
    found = bounds(tools, "large", 1)
    for material in ("corotational", "stable-neo-hookean"):
        bytes_take, flops_take = limits(found, material)
        own = min(explicit_step(tools, material, 1.01 * found["bound"], steps) for _ in range(rounds))
        table.add(f"large, {material}: explicit step of {found['elements']} tets", f"{1e3 * own:.2f}", "ms")
        table.add(f"large, {material}: times the {1e3 * bytes_take:.2f} ms of memory at "
                  f"{1e-9 * memory_rate(found):.1f} GB/s",
                  f"{own / bytes_take:.2f}", "times", "", f"<={BANDWIDTH}" if judged else "")
        table.add(f"large, {material}: times the {1e3 * flops_take:.2f} ms of arithmetic at "
                  f"{2e-9 * found['arithmetic_rate']:.0f} Gflop/s",
                  f"{own / flops_take:.2f}", "times")


def measure_cut(tools, steps, rounds):
    """The dragon before and after its cut: {"before" | "after": bounds, seconds per second of imex and explicit steps,
    split}"""
    now, never = {"cuts[0].time": 0}, {"cuts": "[]"}
    result = {}
    for when, changes in (("before", never), ("after", now)):
        found = bounds(tools, CUT, 3, 1, changes)
        explicit, imex, paper = [], [], []
        for _ in range(rounds):
            explicit.append(seconds_per_second(tools, CUT, "symplectic-euler", 1.01 * found["bound"], steps, changes))
            imex.append(seconds_per_second(tools, CUT, "imex", CUT_STEP, 3 * steps, changes))
            paper.append(seconds_per_second(tools, CUT, "imex", CUT_STEP, 3 * steps, {**changes, **PAPER_SET}))
        result[when] = {"elements": found["elements"], "nodes": found["nodes"], "bound": found["bound"],
                        "explicit": median(explicit), "imex": median(imex), "paper": median(paper)}
    return result


def report_cut(table, tools, steps, rounds, judged):
    result = measure_cut(tools, steps, rounds)
    for when, r in result.items():
        table.add(f"{CUT} {when}: {r['elements']} tets, explicit bound", f"{1e3 * r['bound']:.4f}", "ms")
        table.add(f"{CUT} {when}: imex at {1e3 * CUT_STEP:g} ms, per step", f"{1e3 * CUT_STEP * r['imex']:.3f}", "ms")
        table.add(f"{CUT} {when}: speed-up over explicit", f"{r['explicit'] / r['imex']:.2f}", "times", "",
                  f">={CUT_SPEEDUP}" if judged and when == "after" else "")


def measure_long(tools, rubato, name, steps):
    """A body of LONG_BODIES: energies of a hundred frames, and what imex says"""
    row, changes, over = LONG_BODIES[name]
    step = over * bounds(tools, row, 1, 0, changes)["bound"]
    with tempfile.TemporaryDirectory() as folder:
        settings = {**changes_of(row), **changes, "integrator.max_halvings": 0,
                    "time.step": step, "time.frame": step * steps / 100,
                    "time.end": step * steps, "output.vtu": "false", "output.checkpoint_every": 0}
        done = subprocess.run([rubato, "run", scene_of(row), "-o", folder, "-q", "--threads", "1", *words_of(settings)],
                              cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bench-imex: {name}: {done.stderr.strip()}")
        with open(pathlib.Path(folder, "energy.csv"), newline="") as file:
            total = [float(line["total"]) for line in csv.DictReader(file)]
        return total, json.loads(pathlib.Path(folder, "run.json").read_text())["imex"]


def long_names():
    return [name for name, (row, _, _) in LONG_BODIES.items() if is_there(row)]


def report_long(table, tools, rubato, quick):
    steps = LONG_STEPS // 100 if quick else LONG_STEPS
    for body in long_names():
        total, split = measure_long(tools, rubato, body, steps)
        name = f"{LONG}, {body}: {steps} undamped steps, {split['implicit']} of {split['nodes']} nodes implicit"
        table.add(f"{name}: largest energy, last half over first", f"{max(total[51:]) / max(total[:51]):.4f}",
            "times", "", "<=1.0001")
        table.add(f"{name}: last energy over that of the start", f"{total[-1] / total[0]:.4g}", "times")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--rounds", type=int, default=5)
    asked = words.parse_intermixed_args()
    names = [*filter(is_there, ROWS), CUT, "large", LONG]
    rows = [row for row in names if not asked.rows or any(part in row for part in asked.rows)]
    if not rows:
        sys.exit(f"bench-imex: no row of that name; there are {', '.join(names)}")
    tools = Tools(asked.rubato)
    steps, rounds = (40, 1) if asked.quick else (300, asked.rounds)
    with Figures("bench-imex") as table:
        for row in rows:
            if row == "large":
                report_bandwidth(table, tools, max(5, steps // 5), rounds, not asked.quick)
                continue
            if row == CUT:
                report_cut(table, tools, steps, rounds, not asked.quick)
                continue
            if row == LONG:
                report_long(table, tools, str(pathlib.Path(asked.rubato).resolve()), asked.quick)
                continue
            found = bounds(tools, row)
            report_row(table, row, found, measure_row(tools, row, found, steps, rounds), not asked.quick)
            print(f"    local bounds in ms, tenths of the elements: "
                  + " ".join(figure(1e3 * v) for v in statistics.quantiles(found["local"], n=10)))


if __name__ == "__main__":
    main()
