#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--only PART …]: what energy-euler promises, measured; writes docs/energy.md.

energy    three bodies that swing freely and one that bounces, 10 s at steps of 10 ms, beside other methods
truth     the first second of the former: distance to a reference of short steps
cost      time of a step on the scenes of the siere paper, beside siere, implicit-midpoint, bdf2 and backward-euler
crossing  three contact scenes, every state and motion judged

All runs are on one thread, one after the other. Times are processor time of a step: that of the run less that of one
without steps, over the steps. --quick runs a tenth of it and writes nothing.
"""

import argparse
import csv
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import commit, processor  # noqa: E402

PAGE = ROOT / "docs" / "energy.md"
METHODS = ["energy-euler", "backward-euler", "bdf2", "implicit-midpoint", "siere"]
BAR = {"shape": {"cuboid": {"size": [0.4, 0.1, 0.1], "cells": [12, 3, 3]}}}
RUBBER = {"model": "stable-neo-hookean", "young": 2e5, "poisson": 0.4, "density": 1000}
LEFT = [{"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": True}}]
WEIGHT = {"forces": [{"gravity": {}}]}
QUIET = {"output": {"vtu": False}}


def scene(body, **more):
    return {"rubato": 1, "bodies": [{"name": "body", **body}],
            "time": {"step": 0.01, "frame": 0.01, "end": 10}, **QUIET, **more}


SWINGING = {
    "a bar held at one end": scene({"mesh": BAR, "material": RUBBER, "fixed": LEFT}, **WEIGHT),
    "a free bar that spins": scene({"mesh": BAR, "material": {**RUBBER, "young": 1e5}, "velocity": {
        "linear": [1, 0.5, 0], "angular": [0, 1.8, 6]}}),
    "a twisted bar that is let go": scene({"mesh": BAR, "material": {**RUBBER, "young": 1e6}, "deform": [
        {"twist": {"axis": [1, 0, 0], "degrees": 90}}]}),
    "a soft cloth held at one edge, which passes through itself": scene({
        "mesh": {"shape": {"cloth": {"length": 1, "width": 0.5, "cells_along": 16, "cells_across": 8}}},
        "material": {"young": 1e4, "density": 300}, "shell": {"thickness": 0.002, "bending": 1e-3},
        "fixed": ["left"]}, **WEIGHT),
}
BOUNCING = {"a ball that bounces": scene({"mesh": {"shape": {"ball": {"radius": 0.1}}}, "transform": {
    "translate": [0, 0.5, 0]}, "material": {**RUBBER, "young": 1e5}}, **WEIGHT, obstacles=[{"plane": {}}], contact={})}
# Of the siere paper: frames that are run; each is a step
PAPER = {"ball-hang": 20, "ball-bounce": 60, "cuboid-untwist": 20, "cuboid-untwist-arap": 20, "rope-uncoil": 6,
         "honeycomb": 15, "moebius": 15, "tree": 5, "body": 4, "bridge": 4, "eiffel": 4}
CONTACT = {"bounce-on": 100, "balls-in-box": 20, "gripper": 50}


class Study:
    def __init__(self, rubato, quick, folder):
        self.rubato, self.quick, self.folder, self.count = rubato, quick, pathlib.Path(folder), 0

    def run(self, file, method, *options):
        """The folder of a run, its report, and what ended it; None: nothing did."""
        self.count += 1
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = self.folder / f"run{self.count}"
        said = subprocess.run([self.rubato, "run", str(file), "-q", "-t", "1", "-m", method, "-o", str(out), *options],
                              capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        file = out / "run.json"
        report = json.loads(file.read_text()) if file.exists() else {}
        report["processor"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return out, report, None if said.returncode == 0 else said.stderr.strip().splitlines()[-1]

    def step(self, file, method, *options):
        """The same with the processor time of a step [s] as "each"."""
        _, idle, _ = self.run(file, method, *options, "-n", "0")
        out, report, ended = self.run(file, method, *options)
        if report.get("steps"):
            report["each"] = (report["processor"] - idle["processor"]) / report["steps"]
        return out, report, ended

    def file(self, description):
        path = self.folder / "scene.json"
        path.write_text(json.dumps(description))
        return path


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def head(*cells):
    return row(*cells) + row(*["---"] * len(cells))


def milliseconds(report):
    return f"{1e3 * report['each']:.3g}" if "each" in report else "–"


def deviation(out):
    """Of the energy less work and plus friction, the most at any step, over the largest kinetic energy."""
    rows = list(csv.DictReader((out / "energy.csv").open()))
    kept = [float(r["total"]) - float(r["work"]) + float(r["friction"]) for r in rows]
    return max(abs(k - kept[0]) for k in kept) / max(float(r["kinetic"]) for r in rows)


def percent(share):
    return "below 1e-9 %" if share < 1e-11 else f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def energy(study):
    text = "## Energy\n\n10 s at steps of 10 ms: the most by which the energy (less outside work, plus what friction "
    text += "took) is off at the end of any step, over the largest kinetic energy. Asked for: 1 % of energy-euler.\n\n"
    text += head("scene", *METHODS)
    for name, description in {**SWINGING, **BOUNCING}.items():
        cells, misses = [], False
        for method in METHODS:
            end = ["--set", "time.end=1"] if study.quick else []
            out, _, ended = study.run(study.file(description), method, *end)
            off = None if ended else deviation(out)
            misses |= method == "energy-euler" and not (off is not None and off < 0.01)
            cells.append(percent(off) if off is not None else "failed")
            print(f"{name}, {method}: {cells[-1]}{' ' + ended if ended else ''}", flush=True)
        text += row(name + (" (**missed**)" if misses else ""), *cells)
    return text + "\n"


def truth(study):
    text = "## Motion\n\nThe same bodies, 1 s: the largest distance to implicit-midpoint at 0.5 ms, over the size of "
    text += "the bodies.\n\n" + head("scene", *METHODS)
    for name, description in SWINGING.items():
        out = study.folder / ("truth-" + name.replace(" ", "-"))
        subprocess.run([study.rubato, "compare", str(study.file(description)), "--methods", ",".join(METHODS),
                        "--reference", "implicit-midpoint@0.0005", "--repeat", "1", "-t", "1", "-q", "-n",
                        "10" if study.quick else "100", "-o", str(out)], check=True)
        found = {m["name"]: m for m in json.loads((out / "compare.json").read_text())["methods"]}
        text += row(name, *[f"{found[m]['distance_max']:.3g}" for m in METHODS])
        print(name, [found[m]["distance_max"] for m in METHODS], flush=True)
    return text + "\n"


def cost(study):
    text = "## Cost\n\nProcessor time of a step and its frame [ms] on the scenes of the "
    text += "[siere paper](reproduction/siere.md), their first steps, and iterations of the solver a step; siere with "
    text += "the modes of the scene, the others with newton.\n\n"
    text += head("scene", "steps", *METHODS)
    for name, frames in PAPER.items():
        cells = []
        for method in METHODS:
            own = [] if method == "siere" else ["--set", f'integrator={{"method": "{method}"}}']
            frame = json.loads((ROOT / "scenes" / "siere" / f"{name}.json").read_text())["time"]["frame"]
            end = frame * (2 if study.quick else frames)
            _, report, ended = study.step(ROOT / "scenes" / "siere" / f"{name}.json", method, *own, "--set",
                                          "output.vtu=false", "--set", f"time.end={end:.12g}")
            cells.append("failed" if ended else milliseconds(report))
            if method != "siere" and not ended:
                cells[-1] += f" ({report['iterations'] / report['steps']:.1f})"
            print(f"{name}, {method}: {cells[-1]}{' ' + ended if ended else ''}", flush=True)
        text += row(name, frames, *cells)
    return text + "\n"


def crossing(study):
    text = "## Nothing crosses\n\nContact scenes with energy-euler; the state after every step is judged "
    text += "([verify](verify.md)). What the energy is off by are debts, which later steps pay.\n\n"
    text += head("scene", "frames", "steps", "what the judge says", "energy off by")
    for name, frames in CONTACT.items():
        frames = 3 if study.quick else frames
        out, report, ended = study.run(ROOT / "scenes" / "contact" / f"{name}.json", "energy-euler", "-n", str(frames),
                                       "--verify-steps", "--set", "output.vtu=false")
        words = ended or report["verify"]["summary"]
        text += row(name, frames, report.get("steps", "–"), words, percent(deviation(out)))
        print(name, words, flush=True)
    return text + "\n"


def wrapped(page):
    """Sentences in lines of at most 120 columns; tables, heads and marks as they are."""
    return "\n".join(line if line.startswith(("|", "#", "<")) else textwrap.fill(line, 120)
                     for line in page.split("\n"))


PARTS = {"energy": energy, "truth": truth, "cost": cost, "crossing": crossing}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    asked = words.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Study(str(pathlib.Path(asked.rubato).resolve()), asked.quick, folder)
        texts = {name: PARTS[name](study) for name in PARTS if name in asked.only}
    if asked.quick:
        return
    former = PAGE.read_text() if PAGE.exists() else ""
    for name, part in PARTS.items():  # parts that were not measured stay
        mark = f"<!-- {name} -->\n"
        if name not in texts:
            texts[name] = former.split(mark)[1].split("<!--")[0] if mark in former else ""
    page = "# Energy on a leash\n\nWhat [energy-euler](methods.md#energy-euler) promises, measured by `make "
    page += f"reproduce-energy` (`bench/energy/reproduce.py`); latest on {processor()}, one thread, {commit()}.\n\n"
    for name in PARTS:
        page += f"<!-- {name} -->\n{texts[name]}"
    PAGE.write_text(wrapped(page).rstrip() + "\n")


if __name__ == "__main__":
    main()
