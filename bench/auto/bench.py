#!/usr/bin/env python3
"""Steps by error: what is asked for and what comes of it, on four bodies with every method that can.

    make bench-auto [ARGS="--quick | --least E | --only BODY"]

Prints for every body, method and asked error the error at the end over the asked one (at most 3), how errors of single
steps compare with what they may be (within a factor of 3), steps and seconds; at last the slope of the error over the
asked one in logarithms (1 +- 0.2). Work-precision plots go into out/auto. Ends with 1 if a bound is missed. The
reference is the implicit midpoint rule with steps of 2e-5 s. Errors are asked for from 0.1 down to 1e-5, or E.
"""

import argparse
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from study import ROOT, TooLong, Tools, plot_data  # noqa: E402

METHODS = ["backward-euler", "bdf2", "implicit-midpoint", "semi-implicit", "siere"]
LEFT = [{"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": True}}]
SECONDS = 120  # of the processors, for a run


def body(cells, young, **more):
    return {"name": "bar", "mesh": {"shape": {"bar": {"size": [1, 0.2, 0.2], "cells": cells}}},
            "material": {"young": young, "poisson": 0.3, "density": 1000}, **more}


def scene(bar, end, **more):
    return {"rubato": 1, "bodies": [bar], "time": {"step": "auto", "frame": 0.05, "end": end},
            "integrator": {"method": "bdf2"}, **more}


GRAVITY = [{"gravity": {}}]
SCENES = {
    "swinging bar": scene(body([4, 1, 1], 1e5, fixed=LEFT), 0.5, forces=GRAVITY),
    "soft bar": scene(body([8, 2, 2], 3e4, fixed=LEFT), 0.5, forces=GRAVITY),
    "spinning bar": scene(body([4, 1, 1], 1e5, velocity={"angular": [0, 0, 6], "linear": [1, 0, 0]}), 0.5),
    "stretched bar": scene(body([4, 1, 1], 3e4, fixed=LEFT,
                                deform=[{"stretch": {"axis": [1, 0, 0], "factor": 1.3}}]), 0.5),
}


def precision(tools, path, settings, *words):
    assigned = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words = [path, *assigned, "--threads", 1, "--steps", 10**9, *words]
    return json.loads(tools.call("precision", words, processor=SECONDS))


def slope_of(points):
    x = [math.log10(p[0]) for p in points]
    y = [math.log10(p[1]) for p in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--least", type=float, default=1e-5, metavar="E")
    words.add_argument("--only", nargs="+", choices=list(SCENES), default=list(SCENES))
    given = words.parse_args()
    tools, quick = Tools(given.rubato), given.quick
    folder = ROOT / "out" / "auto"
    folder.mkdir(parents=True, exist_ok=True)
    errors = [1e-1, 1e-2, 1e-3] if quick else [e for k in range(9) if (e := 10 ** (-1 - k / 2)) > 0.99 * given.least]
    missed, panels = [], []
    for name in given.only:
        content = SCENES[name]
        path, reference = folder / f"{name.replace(' ', '-')}.json", folder / "reference.bin"
        path.write_text(json.dumps(content))
        precision(tools, path, {"integrator.method": "implicit-midpoint", "time.step": 2e-5,
                                "integrator.options.tolerance": 1e-9}, "--save", reference)
        curves = {}
        for method in METHODS:
            points, curve = [], []
            for asked in errors:
                try:
                    settings = {"integrator.method": method, "goal.error": asked}
                    run = precision(tools, path, settings, "--load", reference)
                    local = precision(tools, path, settings, "--trace")["local"]
                except TooLong:
                    break
                worst = max((step[3] for step in local[3:]), default=0)
                middle = sorted(step[3] for step in local)[len(local) // 2]
                print(f"{name}, {method}: asked {asked:.1e}, error {run['error'] / asked:.3f} of it, steps' errors "
                      f"{middle:.2f} of theirs in the middle and {worst:.2f} at most, {run['steps']} steps, "
                      f"{run['rejected']} taken back, {run['processor_seconds']:.3f} s", flush=True)
                if run["error"] > 3 * asked or worst > 3:
                    missed.append(f"{name}, {method} at {asked:.1e}")
                if run["steps"] > 4 * content["time"]["end"] / content["time"]["frame"]:  # frames do not decide
                    points.append((asked, run["error"]))
                curve.append((run["processor_seconds"], run["error"]))
            curves[method] = curve
            if len(points) > 2:
                slope = slope_of(points)
                print(f"{name}, {method}: slope {slope:.2f} over {len(points)} errors")
                if not quick and not 0.8 <= slope <= 1.2:
                    missed.append(f"{name}, {method}: slope {slope:.2f}")
        panels.append((name, "seconds of the processor", "error over size", "xy", curves))
    tools.draw(folder / "work-precision.svg", plot_data("Work and precision, steps by error", panels))
    print(f"plots: {folder / 'work-precision.svg'}")
    print("missed: " + "; ".join(missed) if missed else "all bounds are met")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
