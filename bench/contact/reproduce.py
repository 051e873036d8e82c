#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--only SECTION…] [--output FOLDER] [--page-only]: is contact of implicit steps right?

Measures contact against laws of conservation, against Hertz, against waves in bars and beside async-contact, and writes
contact.md with its plots and pictures (docs/reproduction; --quick: out/reproduction). --only spheres, hertz, bars, side
or floors measures these sections and leaves the others of the page as they are. The figures are kept in
out/reproduction/contact.json; --page-only writes the sections that are there anew, without a run.
"""

import csv
import json
import math
import pathlib
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import hertz  # noqa: E402
import truth_scenes as scenes  # noqa: E402
from contact_page import SECTIONS, is_drawn, write_page  # noqa: E402
from figures import ROOT  # noqa: E402
from study import (Ended, Tools, busy_seconds, measure_sections, own_seconds, progress, section_places,  # noqa: E402
                   section_words)

RUNS = ROOT / "out" / "contact-truth"
EPS = 2.0**-52
SPHERE_STEPS = ([0.01, 0.005, 0.0025], [0.01])
OFFSETS = {"head-on": 0.0, "oblique": 0.5}
BAR_CELLS = ([25, 50, 100], [25])
SHORT_STEPS = 8  # a cell, beside 2: for backward Euler, whose damping is all in its steps
HERTZ_CELLS = ([3, 6, 9], [2, 3])
HERTZ_THICKNESS = 5e-4  # of the radius: small beside the deepest approach, 0.04
LAYERS = ([4e-3, 2e-3, 1e-3, 5e-4], [1e-3])  # thicknesses, at HERTZ_CELLS[-2]
BARRIER_SHARE = 0.1  # of Young's modulus: MODULUS_SHARE of src/step/contact/step_contact.c


def rows_of(path):
    with path.open(newline="") as file:
        return [{key: float(value) if value else math.nan for key, value in row.items()}
                for row in csv.DictReader(file)]


def lowest(path):
    """Least height of each frame of a PC2 file."""
    data = path.read_bytes()
    count, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    return [min(struct.unpack_from(f"<{3 * count}f", data, 32 + 12 * count * f)[1::3]) for f in range(frames)]


class Study:
    def __init__(self, rubato, quick):
        self.rubato, self.tools, self.which = pathlib.Path(rubato).resolve(), Tools(rubato), 1 if quick else 0
        RUNS.mkdir(parents=True, exist_ok=True)

    def amount(self, both):
        return both[self.which]

    def write(self, name, scene):
        path = RUNS / f"{name}.json"
        path.write_text(json.dumps(scene, indent=1))
        return path

    def call(self, *words, codes=(0,)):
        said = subprocess.run([self.rubato, *map(str, words)], cwd=ROOT, capture_output=True, text=True)
        if said.returncode not in codes:
            raise Ended(f"rubato {' '.join(map(str, words))}: {said.stderr.strip()[:400]}")
        return said

    def run(self, name, scene, *words):
        """The run's folder; a run that fails is a result: see `status`."""
        progress(name)
        folder = RUNS / name
        path = self.write(name, scene) if isinstance(scene, dict) else scene
        self.call("run", path, "-o", folder, "-t", 1, "-q", *words, codes=(0, 1))  # bodies are small
        return folder

    def picture(self, name, folder, *words):
        """One picture of the page; what it shows is a file beside it."""
        self.call("render", folder, "-o", self.pictures / f"contact-{name}.png", *words)

    def verified(self, folder):
        """How many frames have an intersection, of how many."""
        said = self.call("verify", folder, "--json", "-t", 1, codes=(0, 1))
        return json.loads(said.stdout)

    # ---- Conservation

    def spheres(self):
        found = []
        for kind, offset in OFFSETS.items():
            for method in scenes.METHODS:
                for step in self.amount(SPHERE_STEPS):
                    found.append(self.collision(kind, offset, method, step))
        self.picture("spheres", RUNS / f"spheres-oblique-bdf2-{self.amount(SPHERE_STEPS)[0]}", "--frames",
                     "0,10,20,30,50,79", "--columns", "3", "--view", "front", "--color", "body", "--no-ground",
                     "--size", "280x210", "--zoom", "1.4")
        return found

    def collision(self, kind, offset, method, step):
        folder = self.run(f"spheres-{kind}-{method}-{step}", scenes.spheres(method, step, offset))
        rows, about = rows_of(folder / "energy.csv"), json.loads((folder / "run.json").read_text())
        first = rows[0]
        mass = sum(body["mass"] for body in about["bodies"])

        def off(axes):
            return max(math.dist([row[a] for a in axes], [first[a] for a in axes]) for row in rows)

        # Rounding of n steps: 4 n eps (sum m |v| + sum m |x| / tau), |x| up to 1.2 m (test_contact_momentum.c)
        bound = 4 * len(rows) * EPS * mass * (scenes.SPEED + 1.2 / (scenes.TAU[method] * step))
        return {"kind": kind, "method": method, "step": step, "status": about["status"],
                "momentum": off(("px", "py", "pz")), "rounding": bound,
                "angular": off(("lx", "ly", "lz")) / (mass * scenes.SPEED * scenes.RADIUS),
                "highest": max(row["total"] for row in rows) / first["total"] - 1,
                "end": rows[-1]["total"] / first["total"] - 1,
                "touching": sum(row["contact"] > 0 for row in rows),
                "iterations": sum(row["iterations"] for row in rows[1:]) / (len(rows) - 1),
                "time": [row["time"] for row in rows], "total": [row["total"] / first["total"] for row in rows]}

    # ---- Hertz

    def hertz(self):
        table = hertz.sphere_table(scenes.POISSON, [0.02 * k for k in range(2, 17)])
        sizes = [self.press(cells, HERTZ_THICKNESS) for cells in self.amount(HERTZ_CELLS)]
        layers = [self.press(self.amount(HERTZ_CELLS)[-2], thickness) for thickness in self.amount(LAYERS)]
        cells = self.amount(HERTZ_CELLS)[-2]
        folder = self.run("hertz", scenes.half_ball(cells, HERTZ_THICKNESS))
        self.picture("hertz", folder, "--frames", "last", "--view", "30,-35", "--color", "stress", "--edges",
                     "--no-ground", "--size", "480x360", "--zoom", "1.1")
        return {"reference": table, "sizes": sizes, "layers": layers}

    def press(self, cells, thickness):
        """A row for each position of the upper plane: approach, force, fitted profile; and the last profile."""
        name = f"hertz-{cells}-{thickness:g}"
        progress(name)
        run = self.tools.measure(self.write(name, scenes.half_ball(cells, thickness)), {}, "--threads", 1, "--steps",
                                 scenes.PRESS_STEPS, "--contacts")
        if "failed" in run:
            raise Ended(f"{name}: {run['failed']}")
        rows = [pressed(pairs, thickness, k + 1) for k, pairs in enumerate(run["contacts"])]
        return {"cells": cells, "thickness": thickness, "nodes": run["nodes"], "tets": run["tets"],
                "iterations": [step["iterations"] for step in run["steps"]],
                "seconds": sum(step["seconds"] for step in run["steps"]), "rows": [row for row in rows if row],
                "profile": profile_of(run["contacts"][-1])}

    # ---- Waves

    def bars(self):
        found = [self.impact(method, cells, 1, 2) for method in scenes.METHODS for cells in self.amount(BAR_CELLS)]
        found.append(self.impact("backward-euler", self.amount(BAR_CELLS)[-1], 1, SHORT_STEPS))
        found.append(self.impact("implicit-midpoint", self.amount(BAR_CELLS)[-1], 0, 2))
        self.picture("bars", RUNS / f"bars-implicit-midpoint-{self.amount(BAR_CELLS)[0]}-1-2", "--frames", "0,4,8",
                     "--columns", "1", "--size", "900x120", "--view", "front", "--color", "velocity", "--no-ground",
                     "--zoom", "1.6")
        return found

    def impact(self, method, cells, friction, steps):
        folder = self.run(f"bars-{method}-{cells}-{friction}-{steps}",
                          scenes.bars(method, cells, friction, steps_a_cell=steps))
        rows, energies = rows_of(folder / "probes.csv"), rows_of(folder / "energy.csv")
        rows = [row for row in rows if not math.isnan(row["left.vx"])]
        area, exact = scenes.SIDE**2, scenes.BAR_SPEED
        force = [-row["left.contact_x"] / area for row in rows]  # rho c v = 0.1 by theory
        beyond = [row["time"] for row, f in zip(rows, force) if f > 0.5 * exact]
        last = rows[-1]
        return {"method": method, "cells": cells, "friction": friction, "steps": steps,
                "status": json.loads((folder / "run.json").read_text())["status"],
                "contact": beyond[-1] - beyond[0] + rows[1]["time"] - rows[0]["time"] if beyond else math.nan,
                "after": [last["left.vx"] / -exact, last["right.vx"] / exact],
                "middle": [row["left.vx"] for row in rows if row["time"] >= 10][0] / exact,
                "energy": energies[-1]["total"] / energies[0]["total"] - 1,
                "highest": max(row["total"] for row in energies) / energies[0]["total"] - 1,
                "rigid": (last["left.vx"] / exact) ** 2,
                "time": [row["time"] for row in rows], "force": force, "velocity": [row["left.vx"] for row in rows]}

    # ---- Side by side

    def side(self):
        path = self.write("cloth-on-sphere", scenes.cloth_on_sphere())
        pair = self.write("two-spheres", scenes.spheres("backward-euler", 0.01, OFFSETS["oblique"]))
        rows = [("two spheres", pair, (80, 4), "backward-euler,bdf2,implicit-midpoint,async-contact"),
                ("twenty balls", ROOT / "scenes" / "contact" / "balls-in-box.json", (20, 4),
                 "backward-euler,bdf2,implicit-midpoint,async-contact"),
                ("a cloth on a sphere", path, (25, 4), "backward-euler,bdf2,implicit-midpoint,async-contact"),
                ("a bowline", ROOT / "scenes" / "async-contact" / "bowline-knot.json", (20, 2),
                 "backward-euler@0.0125,bdf2@0.0125,implicit-midpoint@0.0125,async-contact")]
        return [self.compare(*row) for row in rows]

    def compare(self, name, path, frames, methods):
        progress(f"compare: {name}")
        folder = RUNS / f"compare-{name.replace(' ', '-')}"
        busy, own, start = busy_seconds(), own_seconds(), time.monotonic()
        self.call("compare", path, "--methods", methods, "--reference", "none", "--repeat", 1, "--frames",
                  self.amount(frames), "-o", folder, "-t", 1, "-q", codes=(0, 1))
        others = 0 if busy is None else (busy_seconds() - busy - own_seconds() + own) / (time.monotonic() - start)
        found = json.loads((folder / "compare.json").read_text())
        runs = []
        for run in found["methods"]:
            own = pathlib.Path(run["folder"])
            own = own if own.is_absolute() else ROOT / own
            rows = rows_of(own / "energy.csv")
            judged = self.verified(own)
            runs.append({key: run[key] for key in ("name", "step", "outcome", "reason", "time", "seconds", "steps",
                                                   "iterations", "peak_memory", "energy_start", "energy_end",
                                                   "energy_max", "energy_scale", "momentum_drift")}
                        | {"friction": rows[-1]["friction"], "method": run["method"], "folder": str(own),
                           "judged": {key: judged[key] for key in ("clean", "intersections", "states")},
                           "curve": [[row["time"], row["total"]] for row in rows]})
        for own in filter(is_drawn, runs):
            self.picture(f"{name.replace(' ', '-')}-{own['method']}", own["folder"], "--frames", "last", "--size",
                         "320x240")
        return {"name": name, "frames": self.amount(frames), "others": others, "runs": runs}

    # ---- Penalty floors

    def floors(self):
        return {"ball-bounce": self.bounce(), "dragon-drop": self.drop()}

    def floor(self, name, scene, method, contact, step):
        own = json.loads(json.dumps(scene))
        own["integrator"] = {"method": method}
        own["time"] |= {"step": step}
        own["output"] = {"pc2": True, "vtu": False}
        if contact:
            own["contact"] = {}
        folder = self.run(name, own)
        about = json.loads((folder / "run.json").read_text())
        energies, probes = rows_of(folder / "energy.csv"), rows_of(folder / "probes.csv")
        depth = min(min(lowest(path)) for path in folder.glob("*.pc2"))
        return {"name": f"{method}, {'contact' if contact else 'penalty'}", "step": step, "status": about["status"],
                "seconds": about["seconds"]["step"], "lowest": depth, "time": [row["time"] for row in energies],
                "total": [row["total"] for row in energies], "elastic": [row["elastic"] for row in energies],
                "probes": {key: [row[key] for row in probes] for key in probes[0] if key.endswith((".x", ".y", ".z"))}}

    def bounce(self):
        scene = json.loads((ROOT / "scenes" / "siere" / "ball-bounce.json").read_text())
        scene["probes"] = [{"name": "ball", "where": "everything"}]
        end = self.amount((1.5, 0.1))
        scene["time"]["end"] = end
        step = scene["time"]["step"]
        rows = [("siere", False), ("semi-implicit", False)] + [(m, True) for m in scenes.METHODS]
        return [self.floor(f"bounce-{m}-{'contact' if c else 'penalty'}", scene, m, c, step) for m, c in rows] + [
            self.floor("bounce-implicit-midpoint-contact-fine", scene, "implicit-midpoint", True, step / 5)]

    def drop(self):
        scene = json.loads((ROOT / "scenes" / "multirate" / "dragon-drop.json").read_text())
        scene["time"]["end"] = self.amount((1.5, 0.2))

        def near(name, place):
            return {"name": name, "where": {"sphere": {"centre": place, "radius": 0.004}}}

        scene["probes"] = [near("jaw", [0.0952, 0.1445, 0]), near("head", [0.06, 0.15, 0])]
        rows = [("multirate-euler", False, 1), ("backward-euler", False, 1), ("backward-euler", True, 1),
                ("bdf2", True, 1), ("implicit-midpoint", True, 1), ("backward-euler", True, 4)]
        found = []
        for method, contact, finer in rows:
            own = json.loads(json.dumps(scene))
            if method != "multirate-euler":
                own["bodies"][0].pop("tempo")
            name = f"drop-{method}-{'contact' if contact else 'penalty'}-{finer}"
            found.append(self.floor(name, own, method, contact, scene["time"]["step"] / finer))
        return found


# ---- What the contacts of a half-ball tell


def profile_of(pairs):
    """(distance from the axis, pressure) of the nodes on the lower plane."""
    return sorted((math.hypot(p[0], p[2]), p[7] / p[8]) for p in pairs if p[9] == -1 and p[8] > 0)


def fit(profile):
    """Radius and peak of p^2 = p0^2 (1 - r^2 / a^2), by least squares over nodes with at least a fifth of the largest
    pressure: further out, the barrier's own reach shows."""
    most = max(p for _, p in profile)
    points = [(r * r, p * p) for r, p in profile if p > 0.2 * most]
    n, sx, sy = len(points), sum(x for x, _ in points), sum(y for _, y in points)
    sxx, sxy = sum(x * x for x, _ in points), sum(x * y for x, y in points)
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx) if n > 2 else math.nan
    top = (sy - slope * sx) / n
    return (math.sqrt(-top / slope), math.sqrt(top)) if slope < 0 < top else (math.nan, math.nan)


def pressed(pairs, thickness, time):
    lower = [p for p in pairs if p[9] == -1]
    upper = [p for p in pairs if p[9] == -2]
    if not lower or not upper:
        return None
    plane, area = scenes.upper_plane(thickness, time), sum(p[8] for p in upper)
    flat = sum(p[8] * (plane - p[6]) for p in upper) / area  # height of the equator
    force = sum(p[7] for p in lower)
    radius, peak = fit(profile_of(pairs))
    raised = thickness * hertz.layer(hertz.hertz_of_force(force, scenes.POISSON)[1], BARRIER_SHARE)
    return {"approach": 1 - flat, "raised": raised, "delta": 1 - flat + raised, "force": force,
            "upper": sum(p[7] for p in upper), "radius": radius, "peak": peak, "nodes": len(lower),
            "lifted": len(upper)}


def main():
    asked = section_words(__doc__, SECTIONS)
    study = Study(asked.rubato, asked.quick)
    kept, folder = section_places("contact", asked)
    study.pictures = folder
    measure_sections(study, asked, kept, lambda data: write_page(study.tools, folder, data, asked.quick))


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"reproduce-contact: {words}")
