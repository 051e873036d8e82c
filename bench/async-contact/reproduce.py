#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--only A,B] [--output FOLDER] [--page-only] [--whole] [--before TREE]: what the papers
of async-contact found, measured anew.

Runs the scenes of scenes/async-contact (the longest in part), keeps the figures in out/reproduction/async-contact.json
and writes async-contact.md with its plots and pictures (docs/reproduction; --quick: out/reproduction). --only measures
some sections and takes the others from the figures kept, --page-only takes all of them. --whole instead runs the
longest scenes to their ends (the page says how long that takes; --only for some of them), keeps what they say in
docs/reproduction/async-contact-whole.json, with the commit, and draws their pictures. --before instead measures a part
of some scenes alternately with TREE/build/rubato on the scenes of that tree and with RUBATO on those of this one, and
keeps what both cost in the same file. Harmon, Vouga, Smith, Tamstorf, Grinspun: Asynchronous Contact Mechanics. 2009;
Vouga et al.: Asynchronous Variational Contact Mechanics. 2011.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import resource
import statistics
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import ROOT  # noqa: E402
from study import Page, Tools, measured_here, progress  # noqa: E402

# Scene: end [s] of the run and of a quick one, what the paper says of it, view of the picture
SCENES = {"reef-knot": (0.2, 0.02, "reef", "40,25"), "bowline-knot": (5, 0.1, "bowline", "20,50"),
          "trash-compactor": (3.08, 0.2, "trash", "hero"), "bunny-compactor": (1.4, 0.1, None, "hero"),
          "sheets-draped": (0.06, 0.02, "draped", "hero"), "sheets-pulled": (0.06, 0.02, "pulled", "hero"),
          "balls-on-nails": (1, 0.02, None, "hero"), "curtains": (1.5, 0.05, None, "hero"),
          "reef-knot-untied": (0.1, 0.02, None, "40,25"),
          "sheets-draped-2011": (0.1, 0.02, None, "hero")}
WHOLE = {"reef-knot": 2, "reef-knot-untied": 2, "sheets-draped": 3.95, "sheets-pulled": 3.83,
         "sheets-draped-2011": 3.95, "particle-box": 60, "shipped": 60}  # too long for the page: end [s]
# Restitution 1 as shipped: end [s]; None: that of the scene, which is all that can be had in reasonable time.
SHIPPED = {"pogo": 10000, "two-walls": 60, "sphere-wedge": 60, "sphere-plate": None, "inextensible-curtain": None,
    "particle-box": 60,
           "particle-box-gravity": 60}
# What clocks cost: frames of a scene, settings
COST = {"pogo": (100, {"time.frame": 100, "time.end": 10000}), "two-walls": (600, {}), "particle-box": (20, {}),
    "particle-box-gravity": (20, {}),
        "sphere-wedge": (120, {}), "sphere-plate": (100, {}), "inextensible-curtain": (200, {}), "reef-knot": (5, {}),
            "bowline-knot": (20, {}),
        "trash-compactor": (60, {}), "bunny-compactor": (30, {}), "sheets-draped": (2, {}), "balls-on-nails": (50, {}),
            "curtains": (20, {})}
# frames of the pictures; else the start, the end and two between
SHOWN = {"sheets-draped": "0,20,50,75", "sheets-pulled": "0,30,50,65", "reef-knot-untied": "0,25,60,90",
         "balls-on-nails": "0,5,12,30", "sheets-draped-2011": "0,20,75,197"}
# The paper's table: simulated seconds, hours of processing events, of rescheduling, of all
PAPER = {"reef": (2.0, 1.5, 16.7, 18.5), "bowline": (5.0, 3.0, 141.1, 144.5), "trash": (3.08, 0.5, 53.0, 53.6),
         "draped": (3.95, 4.5, 260.8, 265.5), "pulled": (3.83, 13.6, 310.5, 325.6)}
# Its parameters, in centimetres, grams and seconds: density, restitution, r(1), eta(1), stretching, damping of
# stretching, bending
PARAMETERS = {"reef-knot": (0.1, 0, 1000, 0.1, 750, 0.1, 0.01), "bowline-knot": (0.01, 0, 1000, 0.1, 100, 0.1, 0.01),
              "bunny-compactor": (0.01, 0.01, 1e4, 0.05, 1000, 0, 1000),
              "trash-compactor": (0.001, 0.01, 1000, 0.05, 1000, 15, 10),
              "sheets-draped": (0.001, 0, 1000, 0.1, 1000, 1, 0.1),
              "sheets-draped-2011": (0.001, 0, 1000, 0.1, 500, 1, 0.1),
              "reef-knot-untied": (0.1, 0, 1000, 0.1, 1000, 0.1, 0.01),
              "balls-on-nails": (0.016, 0.3, 1e4, 0.1, 5e4, 1, 1e5)}
WHOLE_FILE = ROOT / "docs/reproduction/async-contact-whole.json"
RESTITUTION = [1, 0.9, 0.8, 0.7, 0.5, 0.2, 0]
BOXES = [("particle-box", "light"), ("particle-box-gravity", "heavy")]
# The paper's box of 3 m, where discs fit in it; gravity as in particle-box-gravity
BOX_3M = {"light": {}, "heavy": {"forces": '[{"gravity": {"acceleration": [0, 0, -9.8]}}]'}}
BOX_3M_RESTITUTION = [1, 0.5, 0]
# Judged from event to event (--verify-events): scene, from this frame to that one, the same of a quick run, settings.
# Of scenes that are too dear as a whole, frames in which things touch.
EVENTS = [("pogo", (0, None), (0, 100), {}), ("two-walls", (0, None), (0, 20), {}),
          ("inextensible-curtain", (2, 4), (2, 3), {}), ("sphere-plate", (0, None), (1, 2), {}),
          ("sphere-wedge", (10, 11), (0, 1), {}), ("particle-box", (0, 4), (0, 1), {"time.frame": 0.005}),
          ("particle-box-gravity", (0, 4), (0, 1), {"time.frame": 0.005}),
          ("particle-box-3m", (0, 2), (0, 1), {"time.frame": 0.005}),
          ("sludge", (0, 12), (0, 1), {}), ("balls-on-nails", (2, 5), (0, 1), {}),
          ("bunny-compactor", (3, 5), (0, 1), {}), ("trash-compactor", (0, 1), (0, 1), {})]
TO_THE_END = {"light": RESTITUTION, "heavy": [1, 0.5]}  # discs that rest on each other cost most
SAFETIES = [0.2, 0.1, 0.05, 0.025]  # of the layers of elastic discs
WALLS = [(eta, r) for eta in (1, 0.1) for r in (1, 0.1, 0.01)]
FRICTION = [0, 0.1, 0.2, 0.5]
SMALL_KNOT = {f"bodies[{b}].{key}": value for b in (0, 1) for key, value in (
    ("mesh.shape.reef-ribbon.cells_along", 78), ("mesh.shape.reef-ribbon.cells_across", 4),
    ("damping.stiffness", 0.001))}
# With vague trajectories and without: words, scene, end [s] of the run and of a quick one, settings
VAGUE = [("reef-knot, loose", "reef-knot", 0.06, 0.02, {}),
         ("reef-knot of 790 nodes, tighter", "reef-knot", 1.2, 0.3, SMALL_KNOT),
         ("bunny-compactor", "bunny-compactor", 0.5, 0.2, {})]
DEPTH = [0.025, 0.05, 0.1, 0.2]  # safeties of the curtain of deep layers
# safety, speed over eta omega, planes
IMPACTS = [(safety, speed, 1) for speed in (0.1, 0.5, 2, 5, 20, 100) for safety in (0.2, 0.1, 0.05, 0.025)]
IMPACTS += [(safety, 2, planes) for planes in (2, 4, 8, 16) for safety in (0.2, 0.025)]


class Runner:
    def __init__(self, rubato, folder, quick):
        self.rubato, self.folder, self.quick, self.ran, self.last = rubato, folder, quick, {}, None

    def run(self, scene, name, settings, *also):
        """The report, the energies and the processor seconds of a run; scene: a name or a description; also: words of
        the command."""
        out = self.folder / name
        if isinstance(scene, dict):
            path = self.folder / f"{name}.json"
            path.write_text(json.dumps(scene))
        else:
            path = ROOT / f"scenes/async-contact/{scene}.json"
        words = [self.rubato, "run", str(path), "-o", str(out), "--log", "json", "--threads", "1", *map(str, also)]
        for key, value in settings.items():
            words += ["--set", f"{key}={value}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not (out / "run.json").exists():
            sys.exit(f"reproduce-async-contact: {name}: {done.stderr}")
        report = json.loads((out / "run.json").read_text())
        self.last = None if isinstance(scene, dict) else (scene, report)
        frames = [line for line in map(json.loads, done.stdout.splitlines()) if line.get("event") == "frame"]
        report["frame_seconds"] = [line["seconds"] for line in frames]
        report["frame_clocks"] = [[line["time"], line["async-contact"]["nodes_by_clock"]] for line in frames]
        with (out / "energy.csv").open() as file:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        return report, rows, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def crossings(self, name):
        """Of the run before, in all frames; it is kept with those of its scene."""
        count = self.judge(name)
        if self.last:
            scene, report = self.last
            own = self.ran.setdefault(scene, {"runs": 0, "time": 0, "unfinished": 0, "crossings": 0})
            own["runs"] += 1
            own["time"] = max(own["time"], report["time"])
            own["unfinished"] += report["status"] != "finished"
            own["crossings"] = None if count is None or own["crossings"] is None else own["crossings"] + count
        return count

    def judge(self, name):
        done = subprocess.run([self.rubato, "verify", str(self.folder / name), "--frames-only"], capture_output=True,
                              text=True)
        found = re.search(r"(no|\d+) intersections?", done.stdout.splitlines()[-1] if done.stdout else "")
        return None if not found else 0 if found.group(1) == "no" else int(found.group(1))

    def points(self, name, frame):
        """Places of all nodes in a frame, from the appended raw data of its file."""
        data = (self.folder / name / "frames" / f"frame_{frame:06d}.vtu").read_bytes()
        offset = int(re.search(rb'Name="Points"[^>]*offset="(\d+)"', data).group(1))
        begin = data.index(b"_", data.index(b"<AppendedData")) + 1 + offset
        size, = struct.unpack_from("<Q", data, begin)
        values = struct.unpack_from(f"<{size // 8}d", data, begin + 8)
        return [values[i:i + 3] for i in range(0, len(values), 3)]

    def results(self, name):
        """What a run has left that must not depend on how it was made: bytes of its frames and energies."""
        out = self.folder / name
        return [path.read_bytes() for path in [out / "energy.csv", *sorted((out / "frames").glob("*.vtu"))]]


def drift(energies, blocks=20):
    """Change of the block means from first to last, and how many of its standard errors that is away from none."""
    size = len(energies) // blocks
    means = [statistics.fmean(energies[b * size:(b + 1) * size]) for b in range(blocks)]
    steps = [b - a for a, b in zip(means, means[1:])]
    error = statistics.stdev(steps) / len(steps) ** 0.5
    return means[-1] - means[0], abs(statistics.fmean(steps)) / error if error else 0


def spread(energies, blocks=20):
    """How far the block means are apart"""
    size = len(energies) // blocks
    means = [statistics.fmean(energies[b * size:(b + 1) * size]) for b in range(blocks)]
    return max(means) - min(means)


def thin(points, most=300):
    return points[::max(1, len(points) // most)]


def drawing(path, panels, columns):
    """A sheet of flat pictures of one size. panels: (words, box (x0, y0, x1, y1), discs (x, y, r), lines [(x, y),
    …])"""
    side, gap, parts = 300, 16, []
    x0, y0, x1, y1 = panels[0][1]
    scale = side / (x1 - x0)
    tall = scale * (y1 - y0)
    for i, (words, _, discs, lines) in enumerate(panels):
        left, top = gap + (side + gap) * (i % columns), 2 * gap + (tall + 2 * gap) * (i // columns)

        def at(x, y):
            return left + scale * (x - x0), top + scale * (y1 - y)
        parts.append(f'<clipPath id="c{i}"><rect x="{left}" y="{top:.1f}" width="{side}" '
                     f'height="{tall:.1f}"/></clipPath>')
        parts.append(f'<text x="{left}" y="{top - 5:.1f}" font-size="11" font-family="sans-serif">{words}</text>')
        for line in lines:
            parts.append(f'<polyline clip-path="url(#c{i})" fill="none" stroke="#334" stroke-width="1.5" points="'
                         + " ".join(f"{at(x, y)[0]:.1f},{at(x, y)[1]:.1f}" for x, y in line) + '"/>')
        for x, y, r in discs:
            if x0 <= x <= x1 and y0 <= y <= y1:
                parts.append(f'<circle cx="{at(x, y)[0]:.1f}" cy="{at(x, y)[1]:.1f}" r="{scale * r:.1f}" '
                             f'fill="#4a86c5"/>')
    width, height = columns * (side + gap) + gap, round(-(-len(panels) // columns) * (tall + 2 * gap) + gap)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 '
                    f'{width} {height}">'
                    f'<rect width="{width}" height="{height}" fill="white"/>' + "".join(parts) + "</svg>\n")


# ---- Measuring


class Stick:
    """The pogo stick by hand, in one dimension, as the paper's other two ways have it: contact by impulses, or clocks
    of layers that are restarted whenever a layer wakes. test/unit/test_async_findings.c has the same with regular
    clocks, too."""

    def __init__(self, restarted, h=0.0025, safety=0.025):
        self.restarted, self.h, self.t, self.y, self.v, self.steps = restarted, h, 0.0, [1.0, 2.0], [0.0, 0.0], 0
        self.awake, self.next, self.first = [0, 0], [{}, {}], []
        for g in range(2):
            first = h
            while first * math.sqrt((g + 1) * 1000) > safety:
                first /= 2
            self.first.append(first)

    def gap(self, g):
        return self.y[1] - self.y[0] if g else self.y[0]

    def closing(self, g):
        return self.v[0] - self.v[1] if g else -self.v[0]

    def energy(self):
        """In free flight"""
        return sum(v * v for v in self.v) / 2 + (self.y[1] - self.y[0] - 1) ** 2 / 2 + sum(self.y)

    def kick(self, g, impulse):
        self.v[0] += -impulse if g else impulse
        if g:
            self.v[1] += impulse

    def event(self):
        """To the next tick of the spring, tick of a layer, edge of a layer, or contact"""
        when, what = self.steps * self.h, None
        for g in range(2):
            for layer, tick in self.next[g].items():
                if tick < when:
                    when, what = tick, (g, layer)
            edge = 0.1 * (self.awake[g] + 1) ** -0.25 if self.restarted else 0
            if self.closing(g) > 0 and self.gap(g) > edge and self.t + (self.gap(g) - edge) / self.closing(g) < when:
                when, what = self.t + (self.gap(g) - edge) / self.closing(g), (g, 0)
        self.y = [y + (when - self.t) * v for y, v in zip(self.y, self.v)]
        self.t = when
        if what is None:
            stretch = self.y[1] - self.y[0] - 1
            self.v = [self.v[0] + self.h * (stretch - 1), self.v[1] + self.h * (-stretch - 1)]
            self.steps += 1
            return
        g, layer = what
        if not layer and not self.restarted:
            self.v = [self.v[1], self.v[0]] if g else [-self.v[0], self.v[1]]
        elif not layer:
            self.awake[g] += 1
            self.next[g][self.awake[g]] = when
        else:
            step = self.first[g] * 2.0 ** -math.ceil(math.log2(layer * (layer + 1) / 2) - 1e-9)
            self.kick(g, max(0.1 * layer ** -0.25 - self.gap(g), 0) * step * 1000 * layer ** 3)
            self.next[g][layer] += step
            while self.awake[g] and 0.1 * self.awake[g] ** -0.25 < self.gap(g) and self.closing(g) < 0:
                del self.next[g][self.awake[g]]
                self.awake[g] -= 1

    def curve(self, end):
        kept = []
        while self.t < end:
            self.event()
            if (not kept or self.t >= kept[-1][0] + 0.1) and self.gap(0) > 0.1 and self.gap(1) > 0.1:
                kept.append((self.t, self.energy()))
        return kept


def measure_pogo(runner):
    _, rows, _ = runner.run("pogo", "pogo", {"time.end": 200 if runner.quick else 10000, "time.frame": 2})
    energy = [row["total"] for row in rows]
    change, errors = drift(energy)
    kept = {"end": rows[-1]["time"], "first": energy[0], "least": min(energy), "most": max(energy), "change": change,
            "errors": errors, "curve": thin([(row["time"], row["total"] / energy[0] - 1) for row in rows])}
    # other drops, independent of each other: change of the block means and largest change, in parts
    kept["heights"] = []
    for i in range(1, 3 if runner.quick else 17):
        _, rows, _ = runner.run("pogo", "pogo", {"time.end": 200 if runner.quick else 10000, "time.frame": 2,
                                                 "bodies[0].transform.translate": f"[0,{1 + 0.003 * i},0]"})
        energies = [row["total"] for row in rows]
        kept["heights"].append([drift(energies)[0] / energies[0], max(abs(e / energies[0] - 1) for e in energies)])
    for name, restarted in (("restarted", True), ("impulses", False)):
        progress(f"  {name}")
        curve = Stick(restarted).curve(40 if runner.quick else 1000)
        change, errors = drift([e for _, e in curve])
        kept[name] = {"change": change, "errors": errors, "spread": spread([e for _, e in curve]),
                      "end": curve[-1][0], "curve": thin([(t, e / 3 - 1) for t, e in curve])}
    _, rows, _ = runner.run("pogo", "pogo", {"time.end": 40 if runner.quick else 1000, "time.frame": 1, "output.vtu":
        "true"})
    kept["crossings"] = runner.crossings("pogo")
    free = [(row["time"], row["total"]) for row in rows if row["contact"] == 0]
    kept["near"], kept["spread"] = thin([(t, e / 3 - 1) for t, e in free]), spread([e for _, e in free])
    return kept


def measure_layers(runner):
    """Energy of the layers by distance: particles at rest above a plane, r = 1 N/m, eta = 1 m, in the first frame."""
    kept = []
    for gap in [1.1 - 0.02 * i for i in range(36)]:
        scene = {"rubato": 1, "bodies": [
            {"name": "dust",
             "mesh": {"shape": {"cloth": {"length": 9, "width": 9, "cells_along": 1, "cells_across": 1}}},
             "transform": {"translate": [0, gap, 0]}, "particles": {"radius": 0, "mass": 1}}],
            "obstacles": [{"plane": {}}],
            "time": {"step": 1e-3, "frame": 1e-3, "end": 1e-3}, "output": {"vtu": False, "checkpoint_every": 0},
            "integrator": {"method": "async-contact", "options": {"stiffness": 1, "thickness": 1}}}
        _, rows, _ = runner.run(scene, "layers", {})
        kept.append([gap, rows[0]["contact"] / 4])
    return kept


def measure_walls(runner):
    kept = []
    for eta, r in WALLS:
        settings = {"integrator.options.thickness": eta, "integrator.options.stiffness": r}
        _, rows, _ = runner.run("two-walls", "walls", {**settings, "output.vtu": "true"})
        crossings = runner.crossings("walls")
        _, near, _ = runner.run("two-walls", "walls", {**settings, "output.vtu": "true", "time.frame": 0.02,
            "time.end": 6})
        places = [runner.points("walls", frame)[0] for frame in range(len(near))]
        kept.append([eta, r, max(abs(row["total"] / rows[0]["total"] - 1) for row in rows),
                     thin([(row["time"], row["total"] / rows[0]["total"] - 1) for row in rows], 200),
                     [(x - places[0][0], y) for x, y, _ in places], crossings])
    return kept


def measure_discs(runner, scene, e, end, settings=None):
    """Of one box: restitution, energies, their largest change, what overlaps in all frames, seconds, and places at the
    end"""
    progress(f"  {scene}, restitution {e}")
    report, rows, seconds = runner.run(scene, "box", {"time.end": end, "integrator.options.restitution": e,
        "output.vtu": "true", **(settings or {})})
    energy = [row["total"] for row in rows]
    change, errors = drift(energy) if len(energy) > 40 else (0, 0)
    return {"restitution": e, "status": report["status"], "time": report["time"], "seconds": seconds,
            "worst": max(abs(v / energy[0] - 1) for v in energy), "change": change / energy[0], "errors": errors,
            "frames": len(rows), "crossings": runner.crossings("box"), "early": energy[1],
            "curve": thin([(round(row["time"], 6), float(f"{row['total']:.7g}")) for row in rows], 150),
            "discs": ([(round(x, 4), round(z, 4)) for x, _, z in runner.points("box", len(rows) - 1)]
                      if e in (0, 1) else None)}


def measure_box(runner):
    kept = {}
    end = 0.5 if runner.quick else 2
    for scene, where in BOXES:
        kept[where] = [measure_discs(runner, scene, e, end) for e in RESTITUTION]
    progress("  without walls")
    _, rows, _ = runner.run("particle-box", "box", {"time.end": 0.2, "time.frame": 0.002, "obstacles": "[]"})
    size = math.sqrt(2 * 900 * rows[0]["kinetic"])  # at least the sum of m |v|
    moved = [(row["time"], max(abs(row[p] - rows[0][p]) for p in ("px", "py", "pz")) / size) for row in rows]
    kept["momentum"] = {"error": max(error for _, error in moved), "end": rows[-1]["time"],
                        "contact": sum(row["contact"] > 0 for row in rows), "frames": len(rows)}
    kept["safety"] = []
    for safety in SAFETIES:
        progress(f"  safety {safety}")
        _, rows, seconds = runner.run("particle-box", "box", {"time.end": end, "integrator.options.safety": safety})
        energy = [row["total"] for row in rows]
        kept["safety"].append([safety, rows[-1]["time"], max(abs(v / energy[0] - 1) for v in energy),
                               energy[-1] / energy[0] - 1, seconds])
    return kept


def measure_box_3m(runner):
    end = 0.5 if runner.quick else 2
    return {where: [measure_discs(runner, "particle-box-3m", e, end, settings) for e in BOX_3M_RESTITUTION]
            for where, settings in BOX_3M.items()}


def measure_events(runner):
    """What is verified at every event and on the ways between them."""
    kept = []
    for name, whole, quick, settings in EVENTS:
        first, last = quick if runner.quick else whole
        progress(f"  {name}, event by event")
        settings, until = {**settings, "output.vtu": "false",
                           "output.checkpoint_every": 1}, ("--frames", last) if last else ()
        if first:
            runner.run(name, "events", settings, "--frames", first)
        report, rows, _ = runner.run(name, "events", settings, "--verify-events",
                                     *(("--from-frame", first) if first else ()), *until)
        own = report["verify"]
        kept.append({"scene": name, "from": rows[first]["time"], "to": report["time"], "status": report["status"],
            "contact": report["async-contact"]["contact_forces"],
                     **{key: own[key] for key in ("states", "events", "ways", "intersections", "on_ways", "touching",
                         "seconds")}})
    return kept


def measure_whole_box(runner, end):
    runs = {where: [measure_discs(runner, scene, e, end) for e in TO_THE_END[where]] for scene, where in BOXES}
    return {**runs, "seconds": sum(run["seconds"] for where in runs.values() for run in where)}


def measure_sludge(runner):
    kept = []
    for mu in FRICTION:
        progress(f"  friction {mu}")
        settings = {"integrator.options.friction": mu}
        if runner.quick:
            settings.update({"bodies[0].mesh.shape.cloth.cells_along": 9, "bodies[0].mesh.shape.cloth.cells_across": 9})
        report, rows, _ = runner.run("sludge", "sludge", settings)
        crossings = runner.crossings("sludge")
        opened = next(row["gravity"] for row in rows if row["time"] > 1.499)
        kept.append([mu, report["status"], opened - rows[-1]["gravity"],
                     [(x, z) for x, _, z in runner.points("sludge", len(rows) - 1)][:-3], crossings])
    return kept


def measure_curtain(runner):
    kept = []
    for speed in (5, 50, 500):
        for limit in (0.05, 0):
            settings = {"bodies[0].springs.limit": limit, "bodies[1].velocity.linear": f"[{speed},0,0]",
                        "time.step": min(2e-4, 0.005 / speed),
                        "time.frame": 0.1 / speed, "time.end": 10 / speed if runner.quick else 20 / speed}
            report, rows, _ = runner.run("inextensible-curtain", "curtain", settings)
            places = [runner.points("curtain", frame) for frame in range(len(rows))]
            stretch = max(math.dist(a, b) / 0.025 - 1 for all_of in places for a, b in zip(all_of[:40], all_of[1:41]))
            shown = places[min(len(places) - 1, 100)]
            kept.append([speed, limit, report["status"], stretch, [(x, y) for x, y, _ in shown[:41]], shown[41][:2],
                         runner.crossings("curtain")])
    return kept


def measure_vague(runner):
    """Each scene by turns with and without, twice; the least time of each counts."""
    kept = []
    for words, scene, end, quick_end, settings in VAGUE:
        row = {"words": words, "end": quick_end if runner.quick else end, "same": True, "runs": {}}
        results = None
        for vague in ("true", "false") * (1 if runner.quick else 2):
            progress(f"  {words}, {'slack' if vague == 'true' else 'exact'}")
            report, rows, seconds = runner.run(scene, "slack", {**settings, "time.end": row["end"],
                "integrator.options.slack": vague})
            own = report["async-contact"]
            before = row["runs"].get(vague, {"seconds": math.inf})
            row["runs"][vague] = {**{key: own[key] for key in ("events", "certificates", "cones", "searches",
                "rescheduling_share")},
                                  "seconds": min(seconds, before["seconds"]),
                                  "contact": sum(line["contact"] > 0 for line in rows)}
            found = runner.results("slack")
            row["same"] = row["same"] and results in (None, found)
            results = found
        kept.append(row)
    return kept


def measure_impacts(runner):
    """441 particles, each at another height, hit a plane, or several at one place, once: mean and standard deviation of
    the relative change of their energy, forces of layers and moments. r = 1 N/m, eta = 1 m, m = 1 kg; the step is that
    of layer 1, as long as `safety` allows."""
    kept = []
    for safety, speed, planes in IMPACTS:
        progress(f"  impacts: safety {safety}, speed {speed}, {planes} planes")
        high, step = 2 + 40 * safety * speed, safety
        cells, side = 20, 200
        scene = {"rubato": 1, "bodies": [
            {"name": "dust", "mesh": {"shape": {"cloth": {"length": side, "width": side, "cells_along": cells,
                                                          "cells_across": cells}}},
             "transform": {"axis": [1, 0, 0.37], "degrees": math.degrees(0.5 * 40 * safety * speed / side),
                           "translate": [0, high, 0]},
             "particles": {"radius": 0, "mass": 1}, "velocity": {"linear": [0, -speed, 0]}}],
            "obstacles": [{"plane": {}}] * planes,
            "time": {"step": step, "frame": 2 * step, "end": step * math.ceil((4 * high / speed + 20) / step)},
            "output": {"checkpoint_every": 0}, "integrator": {"method": "async-contact", "options": {"stiffness": 1,
                "thickness": 1, "safety": safety}}}
        report, rows, _ = runner.run(scene, "impacts", {})
        last, before = (runner.points("impacts", len(rows) - back) for back in (1, 2))
        span = rows[-1]["time"] - rows[-2]["time"]
        changes = [((b[1] - a[1]) / span / speed) ** 2 - 1 for a, b in zip(before, last)]
        own = report["async-contact"]
        kept.append([safety, speed, planes, statistics.fmean(changes), statistics.pstdev(changes, 0),
                     own["layer_ticks"] / len(changes), own["contact_forces"] / len(changes)])
    return kept


def measure_depth(runner):
    """The inextensible curtain at a step of 1 ms, whose layers go deep: energies and how it ended by safety."""
    kept = []
    for safety in DEPTH:
        report, rows, _ = runner.run("inextensible-curtain", "depth", {
            "bodies[1].velocity.linear": "[50,0,0]", "time.step": 1e-3, "time.frame": 2e-3,
            "time.end": 0.1 if runner.quick else 0.4, "integrator.options.safety": safety})
        kept.append([safety, report["status"], rows[0]["total"], max(row["total"] for row in rows), rows[-1]["time"]])
    return kept


def measure_friction(runner):
    kept = []
    c, s = math.cos(math.pi / 9), math.sin(math.pi / 9)
    for mu, e in ((0.2, 1), (0.6, 1), (1, 1), (0.6, 0), (1, 0)):
        for h in (1e-3, 1e-4):
            scene = {"rubato": 1, "bodies": [
                {"name": "dust", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 1,
                    "cells_across": 1}}},
                 "transform": {"translate": [0, 0.0095, 0]}, "particles": {"radius": 0, "mass": 0.1}}],
                "forces": [{"gravity": {"acceleration": [9.8 * s, -9.8 * c, 0]}}], "obstacles": [{"plane": {}}],
                "time": {"step": h, "frame": 0.1, "end": 2},
                "integrator": {"method": "async-contact", "options": {"stiffness": 1000, "thickness": 0.01,
                    "restitution": e, "friction": mu}}}
            _, rows, _ = runner.run(scene, "slope", {})
            speeds = [row["px"] / 0.4 for row in rows]
            kept.append([mu, e, h, statistics.fmean(speeds[10:]), speeds[-1] / (9.8 * (s - mu * c) * 2)])
    return kept


def measure_impact(runner, scene, end):
    _, rows, _ = runner.run(scene, scene, {"time.end": end})
    return {"curve": [(row["time"], row["total"] / rows[0]["total"] - 1) for row in rows],
            "contact": max(row["contact"] for row in rows) / rows[0]["total"],
            "elastic": max(row["elastic"] for row in rows) / rows[0]["total"], "crossings": runner.crossings(scene)}


def tenths(seconds, end):
    """Seconds per simulated second over the first, the middle and the last tenth of the frames"""
    n, tenth = len(seconds), max(1, len(seconds) // 10)
    spans = [seconds[:tenth], seconds[n // 2 - tenth // 2:n // 2 - tenth // 2 + tenth], seconds[n - tenth:]]
    return [sum(span) / (len(span) * end / n) for span in spans]


def apart(runner, name, report):
    """How far the first of two bodies is wholly to the left of the second in the last frame [m]; negative: not at
    all"""
    if len(report["bodies"]) != 2:
        return None
    places, first = runner.points(name, report["frame"]), report["bodies"][0]["nodes"]
    return min(x for x, _, _ in places[first:]) - max(x for x, _, _ in places[:first])


def slid(rows):
    """Height lost in the last second, in parts of that lost before; None: it fell for less than that"""
    before = next((row["gravity"] for row in rows if row["time"] >= rows[-1]["time"] - 1.001), None)
    lost = rows[0]["gravity"] - before
    return (before - rows[-1]["gravity"]) / lost if rows[-1]["time"] > 2 and lost else None


def collect(runner, name, report, rows, seconds):
    own, stages = report["async-contact"], report["seconds"]["stages"]
    all_stages = sum(stages.values())
    return {"nodes": sum(body["nodes"] for body in report["bodies"]),
            "time": report["time"], "status": report["status"],
            "seconds": seconds, "forces": own["forces"], "events": own["events"], "share": own["rescheduling_share"],
            "clock": own["fastest_clock"], "stages": {key: value / all_stages for key, value in stages.items()},
            "crossings": runner.crossings(name), "work": rows[-1]["work"], "total": rows[-1]["total"],
            "rest": rows[-1]["kinetic"] / max(row["kinetic"] for row in rows),
            "slid": slid(rows), "apart": apart(runner, name, report),
            "step": report["step"], "clocks": thin(report["frame_clocks"], 60),
            "tenths": tenths(report["frame_seconds"],
                             report["time"]) if len(report.get("frame_seconds", [])) >= 10 else None,
            "frames": thin(list(zip([row["time"] for row in rows[1:]], report.get("frame_seconds", []))), 100)}


def measure_scene(runner, name, end):
    progress(f"  {name}")
    report, rows, seconds = runner.run(name, name, {"time.end": end})
    return collect(runner, name, report, rows, seconds)


SECTIONS = {
    "pogo": measure_pogo, "layers": measure_layers, "walls": measure_walls, "box": measure_box,
    "box-3m": measure_box_3m, "events": measure_events, "sludge": measure_sludge, "curtain": measure_curtain,
    "friction": measure_friction, "slack": measure_vague, "depth": measure_depth, "impacts": measure_impacts,
    "plate": lambda runner: measure_impact(runner, "sphere-plate", 2e-4 if runner.quick else 2e-3),
    "wedge": lambda runner: measure_impact(runner, "sphere-wedge", 0.1 if runner.quick else 0.6),
    **{name: (lambda runner, name=name: measure_scene(runner, name, SCENES[name][1 if runner.quick else 0]))
       for name in SCENES},
}


def picture(runner, folder, name, view, frames=None):
    run = runner.folder / name / "run.json"
    if not run.exists():
        return
    last = json.loads(run.read_text())["frame"]
    frames = (frames or (SHOWN.get(name) if last >= 80 else None)
              or (",".join(str(round(last * k / 3)) for k in range(4)) if last >= 6 else f"0,{last}"))
    subprocess.run([runner.rubato, "render", str(run.parent), "-o", str(folder / f"async-contact-{name}.png"),
        "--frames", frames,
                    "--columns", "2", "--view", view, "--color", "body"], capture_output=True)


def pictures(runner, folder):
    """Of those that go on for longer elsewhere, the pictures are those of the whole runs, unless there are none."""
    for name, (_, _, _, view) in SCENES.items():
        if name not in WHOLE or runner.quick or not (folder / f"async-contact-{name}.png").exists():
            picture(runner, folder, name, view)
    picture(runner, folder, "sphere-plate", "hero", None)
    picture(runner, folder, "sphere-wedge", "hero", None if runner.quick else "0,84")


def measure_shipped(runner):
    """Energy of the scenes with restitution 1, less what scripts have done: largest relative change, and at the end"""
    kept = []
    for name, end in SHIPPED.items():
        progress(f"  {name}")
        times = json.loads((ROOT / f"scenes/async-contact/{name}.json").read_text())["time"]
        end = end or times["end"]
        settings = {} if end == times["end"] else {"time.end": end, "time.frame": max(times["frame"], end / 5000)}
        report, rows, seconds = runner.run(name, f"shipped-{name}", {**settings, "output.vtu": "false"})
        energy = [row["total"] - row["work"] for row in rows]
        kept.append([name, rows[-1]["time"], report["status"], min(energy) / energy[0] - 1, max(energy) / energy[0] - 1,
                     energy[-1] / energy[0] - 1, seconds])
    return {"rows": kept}


def measure_cost(runner, tree):
    """Both trees by turns, twice; the least time of each counts."""
    rows = []
    for name, (frames, settings) in COST.items():
        found = {}
        for turn in range(2):
            for which, root in (("before", tree), ("now", ROOT)):
                progress(f"  {name}, {which}")
                out, words = runner.folder / f"cost-{which}", [word for key, value in settings.items()
                                                               for word in ("--set", f"{key}={value}")]
                rubato = runner.rubato if which == "now" else str(tree / "build" / "rubato")
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([rubato, "run", str(root / f"scenes/async-contact/{name}.json"), "-o", str(out), "-q",
                    "--threads", "1",
                                "--frames", str(frames), *words], capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                report = json.loads((out / "run.json").read_text())
                seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                own = report["async-contact"]
                least = min(seconds, found.get(which, {"seconds": math.inf})["seconds"])
                found[which] = {"seconds": least, "events": own["events"], "layers": own["layer_ticks"],
                                "forces": own["contact_forces"], "time": report["time"], "status": report["status"]}
        rows.append([name, found["now"]["time"], found["before"], found["now"]])
    commit = subprocess.run(["git", "-C", str(tree), "rev-parse", "--short", "HEAD"], capture_output=True,
                            text=True).stdout.strip()
    return {"rows": rows, "before": commit or tree.name}


def keep_whole(kept):
    """A line a scene"""
    WHOLE_FILE.write_text("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kept.items()) +
        "}\n")


def run_cost(runner, tree):
    about = measured_here()
    measured = {**measure_cost(runner, tree), "about": about}
    kept = json.loads(WHOLE_FILE.read_text()) if WHOLE_FILE.exists() else {}
    keep_whole({**kept, "cost": measured})


def run_whole(runner, folder, names):
    about = measured_here()  # before the file below is another
    for name in names:
        end = 0.06 if runner.quick else WHOLE[name]
        measured = measure_scene(runner, name, end) if name in SCENES else measure_shipped(
            runner) if name == "shipped" else measure_whole_box(runner, end)
        kept = json.loads(WHOLE_FILE.read_text()) if WHOLE_FILE.exists() else {}
        kept[name] = {**measured, "about": about}
        if not runner.quick:
            keep_whole(kept)
        if name in SCENES:
            picture(runner, folder, name, SCENES[name][3])


# ---- The page


def write_small(page, kept):
    p = kept["pogo"]
    page.add("## The pogo stick", "A spring of unit length, stiffness and end masses falls from unit height on a "
                                  "plane; eta = 0.1, r = 1000, the ends "
             "of the spring feel each other's layers too; the scene as it is shipped. "
             "`test/unit/test_async_findings.c` holds the method against a simulation of its own, in "
             "which clocks can also be restarted at contact or contacts be impulses; so does this page.")
    changes, worst = [row[0] for row in p["heights"]], max(row[1] for row in p["heights"])
    mean, error = statistics.fmean(changes), statistics.stdev(changes) / len(changes) ** 0.5
    page.claim("Regular clocks: no energy drift.", abs(mean) < 3 * error
               and max(abs(p["least"] - p["first"]), abs(p["most"] - p["first"]),
                       worst * p["first"]) < 0.02 * p["first"],
               f"over {p['end']:g} s the mean energy changes by {100 * p['change'] / p['first']:+.2f} %; frames lie "
               f"between {p['least']:.3f} and {p['most']:.3f} of {p['first']:g} J (bound: 2 %). "
               f"One run cannot tell a drift from a random walk whose steps hang together: its change is "
               f"{p['errors']:.1f} standard errors by the scatter of its own twentieths. {len(changes)} others, "
               f"dropped from 0.3 to {0.3 * len(changes):.1f} % higher, change by {100 * mean:+.3f} % in the mean, "
               f"{abs(mean) / error:.1f} standard errors from none (bound: 3), and by "
               f"{100 * statistics.pstdev(changes):.2f} % "
               f"each; no frame of them is off by more than {100 * worst:.2f} % (bound: 2 %).")
    page.claim("Restarted clocks gain energy systematically.",
               p["restarted"]["errors"] > 5 and p["restarted"]["change"] > 0,
               f"{100 * p['restarted']['change'] / 3:+.1f} % over {p['restarted']['end']:.0f} s, "
               f"{p['restarted']['errors']:.0f} standard errors from none (bound: 5).")
    page.claim("With impulses the energy makes a random walk.",
               p["impulses"]["errors"] < 3 and p["impulses"]["spread"] > 5 * p["spread"],
               f"means over twentieths of {p['impulses']['end']:.0f} s are up to "
               f"{100 * p['impulses']['spread'] / 3:.1f} % apart, with regular clocks "
               f"{100 * p['spread'] / 3:.2f} % (bound: five times as far), and where it ends is "
               f"{p['impulses']['errors']:.1f} standard errors of a random walk "
               "from where it began (bound: 3).")
    page.plot("pogo", "Pogo stick (figure 2 of 2011): relative change of energy",
              [("the three ways", "time [s]", "relative change", "",
                {"regular clocks": p["near"], "restarted clocks": p["restarted"]["curve"],
                 "impulses": p["impulses"]["curve"]}),
               ("regular clocks for long", "time [s]", "relative change", "", {"regular clocks": p["curve"]})])
    law = [(gap, sum(0.5 * n ** 3 * max(n ** -0.25 - gap, 0) ** 2 for n in range(1, 400))) for gap, _ in kept["layers"]]
    worst = max(abs(a - b) for (_, a), (_, b) in zip(law, kept["layers"])) / max(b for _, b in kept["layers"])
    page.add("## Layers", "The energy of a particle at rest by its distance from a plane, r = 1 N/m and eta = 1 m, "
                          "as frame 0 has it (figures 4 of 2009 and 1 of 2011).")
    page.claim("It is that of layers n = 1, 2, … of stiffness r n^3 that begin at eta n^(-1/4), and grows beyond "
               "any bound.", worst < 1e-12,
               f"the largest difference is {worst:.1e} of the largest energy (bound: 1e-12).")
    page.plot("layers", "Energy of nested layers", [("", "distance [m]", "energy [J]", "y", {
        "all": [(g, e) for g, e in kept["layers"] if e > 0],
        **{f"layer {n}": [(g, 0.5 * n ** 3 * (n ** -0.25 - g) ** 2) for g, _ in kept["layers"] if g < n ** -0.25]
           for n in (1, 2, 3)}})])
    page.add("## Two walls", "As shipped, but for thickness and stiffness.")
    walls = kept["walls"]
    page.table(["eta [m]", "r [N/m]", "largest relative change of energy in 60 s", "intersections"],
               [[eta, r, worst, crossings] for eta, r, worst, _, _, crossings in walls])
    page.claim("Energy is good for any stiffness and thickness.", all(row[2] < 0.05 and row[5] == 0 for row in walls),
               f"the largest change of all is {100 * max(row[2] for row in walls):.2f} % (bound: 5 %); in "
               f"{sum(row[5] for row in walls)} frames a particle is in a wall.")
    page.plot("walls", "A particle between two walls (figure 14 of 2011)",
              [panel for eta in (1, 0.1) for panel in (
                  (f"way, eta = {eta:g} m", "along [m]", "between [m]", "",
                   {f"r = {r:g}": way for e, r, _, _, way, _ in walls if e == eta}),
                  (f"energy, eta = {eta:g} m", "time [s]", "relative change", "",
                   {f"r = {r:g}": curve for e, r, _, curve, _, _ in walls if e == eta}))])


def clustering(discs, side=3.7):
    """Variance over mean of the numbers of discs in 36 cells of the box: the more clusters, the larger"""
    cells = [0] * 36
    for x, z in discs:
        i, j = (min(5, max(0, int((v / side + 0.5) * 6))) for v in (x, z))
        cells[6 * i + j] += 1
    return statistics.pvariance(cells) / statistics.fmean(cells)


def box_curves(runs, floor):
    return {f"{run['restitution']:g}": [(time, energy + floor) for time, energy in run["curve"]] for run in runs}


def claim_box(page, box, words):
    """What both boxes show, short or to the end"""
    for where, also, bound in (("light", "", 0.02), ("heavy", " with gravity", 0.02)):
        runs = box[where]
        elastic, early = runs[0], [run["early"] for run in runs]
        page.claim(f"{words}{also}: restitution 1 keeps the energy, less makes it decay, the faster the smaller it is.",
                   elastic["worst"] < bound and all(a > b for a, b in zip(early, early[1:])),
                   f"restitution 1 changes it by {100 * elastic['worst']:.2f} % at most in {elastic['time']:g} s "
                   f"(bound: {100 * bound:g} %)"
                   + (f", its mean by {100 * elastic['change']:+.2f} %, {elastic['errors']:.1f} standard errors of "
                      f"a random walk from none" if elastic["errors"] else "")
                   + "; after the first frame " + ", ".join(f"{energy:.5g} J ({run['restitution']:g})"
                                                            for energy, run in zip(early, runs)) + "; at the end "
                   + ", ".join(f"{run['curve'][-1][1]:.4g} J ({run['restitution']:g})" for run in runs) + ".")


def write_box(page, kept, whole):
    box = kept["box"]
    page.add("## 900 discs in a box", "The paper has 900 spheres \"of radius 10 cm\" in a box of 3 m × 3 m. That "
                                      "cannot be: their sections have 28 m² "
             "and the box 9. If 10 cm is what one disc takes across, 30 in a row fill the 3 m and none can move. So "
             "there are two boxes here. Discs are of 8 cm in both; in a box of 3.7 m layers begin "
             "2 cm from a disc, so that 10 cm is the distance at which two of them feel each other; in the paper's "
             "3 m layers begin at 1 cm. The box of 3.7 m has all restitutions and the long "
             "runs, which were made before there was the other; that of 3 m is at the end of this section.")
    momentum = box["momentum"]
    page.claim("Momentum is kept exactly.", momentum["error"] < 1e-12 and momentum["contact"] > 0,
               f"without the walls, which take and give it, it changes by {momentum['error']:.1e} of the sum of "
               f"sizes at most (bound: 1e-12) in {momentum['end']:g} s; "
               f"discs touch in {momentum['contact']} of {momentum['frames']} frames.")
    page.add("The order by restitution is judged after the first frame: later, in clusters, the way a gas of "
             "inelastic particles cools does not depend on its restitution "
             "(Ben-Naim, Chen, Doolen and Redner 1999). Layers count with what they will give back; heights count "
             "from the middle of the box, in plots from the floor.")
    claim_box(page, box, "In the box of 3.7 m at first")
    page.add("What becomes of the energy with restitution 1 is a matter of the steps of layers; by `safety`, which "
             "is 0.025 if nothing is said:")
    page.table(["safety", "simulated [s]", "largest relative change of energy", "at the end", "our time [s]"],
               box["safety"])
    longest = whole.get("particle-box", box)
    runs = [run for where in ("light", "heavy") for run in box[where] + (longest[where] if longest is not box else [])]
    if longest is not box:
        page.add(f"To the end of the scenes, by `--whole` at commit `{longest['about']['commit']}` "
                 f"({longest['seconds'] / 60:.0f} minutes of one thread), with gravity for the restitutions "
                 + " and ".join(f"{run['restitution']:g}" for run in longest["heavy"]) + " only:")
        claim_box(page, longest, f"In the box of 3.7 m for {WHOLE['particle-box']} s")
    page.claim("Nothing penetrates in frames of the discs in 3.7 m.", all(run["crossings"] == 0 and run["status"] ==
        "finished" for run in runs),
               f"`rubato verify --frames-only` finds {sum(run['crossings'] for run in runs)} discs that overlap "
               f"each other or a wall in all {sum(run['frames'] for run in runs):,} frames of "
               f"{len(runs)} runs of {min(run['time'] for run in runs):g} to {max(run['time'] for run in runs):g} "
               f"s, {sum(run['status'] == 'finished' for run in runs)} of which finished.")
    floor = 900 * 9.8 * (1.85 - 0.04)
    page.plot("box", "900 discs: energy by restitution (figure 5 of 2011)",
              [(f"{words}{also}", "time [s]", "energy [J]", log,
                box_curves(runs[where], floor if where == "heavy" else 0))
               for words, runs in (("at first", box), *((("to the end", longest),) if longest is not box else ()))
               for where, also, log in (("light", "", "y"), ("heavy", ", with gravity", ""))])
    page.plot("box-elastic", "900 discs, restitution 1: relative change of energy (figure 4 of 2011)",
              [("", "time [s]", "relative change", "",
                {words: [(time, energy / longest[where][0]["curve"][0][1] - 1)
                         for time, energy in longest[where][0]["curve"]]
                 for words, where in (("without gravity", "light"), ("with gravity", "heavy"))})])
    shown = [(run["restitution"], run["time"], run["discs"])
             for run in box["light"] + (longest["light"] if longest is not box else []) if run["discs"]]
    drawing(page.folder / "async-contact-discs.svg",
            [(f"restitution {e:g}, {time:g} s", (-1.9, -1.9, 1.9, 1.9), [(x, z, 0.04) for x, z in discs], [])
             for e, time, discs in shown], 2)
    page.add("![900 discs (figures 3 of 2011 and 10 of 2009)](async-contact-discs.svg)")
    spread_of = {(e, time): clustering(discs) for e, time, discs in shown}
    page.claim("Without restitution discs gather in clusters (figure 10 of 2009).",
               all(spread_of[0, time] > 3 * spread_of[1, time] for e, time, _ in shown if e == 0),
               "variance over mean of the number of discs in 36 cells: "
               + ", ".join(f"{v:.2g} (restitution {e:g}, {time:g} s)" for (e, time), v in spread_of.items())
               + " (bound: three times that of restitution 1).")
    write_box_3m(page, kept["box-3m"])


def write_box_3m(page, box):
    page.add("### The paper's box of 3 m", "`particle-box-3m`: the same 900 discs of 8 cm, 10 cm apart at the "
                                           "start, with layers of 1 cm; with gravity too.")
    claim_box(page, box, "In the box of 3 m")
    runs = [run for where in box.values() for run in where]
    page.claim("Nothing penetrates in frames of the discs in 3 m.", all(run["crossings"] == 0 and run["status"] ==
        "finished" for run in runs),
               f"`rubato verify --frames-only` finds {sum(run['crossings'] for run in runs)} discs that overlap "
               f"each other or a wall in {sum(run['frames'] for run in runs):,} frames of {len(runs)} runs.")
    page.plot("box-3m", "900 discs in 3 m: energy by restitution", [
        ("without gravity", "time [s]", "energy [J]", "y", box_curves(box["light"], 0)), ("with gravity", "time [s]",
            "energy [J]", "", box_curves(box["heavy"], 900 * 9.8 * 1.46))])
    shown = [(run["restitution"], run["time"], run["discs"]) for run in box["light"] if run["discs"]]
    drawing(page.folder / "async-contact-discs-3m.svg",
            [(f"restitution {e:g}, {time:g} s", (-1.55, -1.55, 1.55, 1.55), [(x, z, 0.04) for x, z in discs],
              [[(-1.5, -1.5), (1.5, -1.5), (1.5, 1.5), (-1.5, 1.5), (-1.5, -1.5)]]) for e, time, discs in shown], 2)
    page.add("![900 discs in 3 m](async-contact-discs-3m.svg)")
    spread_of = {e: clustering(discs, 3) for e, _, discs in shown}
    page.claim("In the box of 3 m too discs gather in clusters without restitution.", spread_of[0] > 3 * spread_of[1],
               "variance over mean of the number of discs in 36 cells: "
               + ", ".join(f"{v:.2g} (restitution {e:g})" for e, v in spread_of.items()) +
               " (bound: three times that of restitution 1).")


def write_sludge(page, kept):
    sludge = kept["sludge"]
    page.add("## Sludge", "The same discs settle in the box of 3.7 m; its right wall goes at 1.5 s, and they flow "
                          "down a slope of 20 degrees. 2.5 s later:")
    slope = [[(-2, -1.85), (1.85, -1.85), (9, -4.45)], [(-1.85, -1.85), (-1.85, 2)]]
    drawing(page.folder / "async-contact-sludge.svg",
            [(f"friction {mu:g}", (-2, -5, 9, 2), [(x, z, 0.05) for x, z in discs], slope)
             for mu, _, _, discs, _ in sludge], 2)
    page.add("![Sludge by friction](async-contact-sludge.svg)")
    lost = [row[2] for row in sludge]
    page.claim("The more friction, the slower the flow.", all(a > b for a, b in zip(lost, lost[1:])),
               "height lost since the wall went, as energy: "
               + ", ".join(f"{v:.4g} J ({mu:g})" for mu, _, v, _, _ in sludge) + ".")
    page.claim("Nothing penetrates in frames of the sludge.", all(row[4] == 0 for row in sludge),
        f"{sum(row[4] for row in sludge)} discs overlap each other, the slope or a wall in all frames.")
    page.add("### Static friction", "A particle on a plane of 20 degrees (tan 0.364), two seconds. The papers leave "
                                    "static friction open: their particle creeps, since "
             "friction answers motion that is there already. Here it is measured after all other kicks of a moment "
             "and stops what it can at once, as far as the layers push at "
             "that moment: where they let go nothing holds the particle, and it falls back into them a little "
             "further down.")
    page.table(["friction", "restitution", "step [s]", "mean speed in the last second [m/s]", "gravity in a step [m/s]",
                "speed over Coulomb's"],
               [[mu, e, h, speed, 9.8 * math.sin(math.pi / 9) * h, ratio if mu < 0.36 else None]
                for mu, e, h, speed, ratio in kept["friction"]])
    steep = [row for row in kept["friction"] if row[0] > 0.364]
    held = [row for row in steep if row[3] == 0]
    page.claim("A slope holds what its friction can hold.", len(held) == len(steep),
               f"at rest to the last digit in {len(held)} of {len(steep)} cases"
               + (" (" + ", ".join(f"friction {mu:g}, restitution {e:g}, step {h:g} s" for mu, e, h, _, _ in held) +
                  ")" if held else "")
               + (f"; the others creep, with {max(row[3] for row in steep):.1e} m/s at most" if len(held) < len(steep)
                  else "")
               + ". Stacks that stand by friction alone, as houses of cards, were not tried.")


def write_curtain(page, kept):
    rows = kept["curtain"]
    page.add("## The inextensible curtain", "A curtain of 40 springs in two dimensions is hit by a ball; its parts "
                                            "may change their length by 5 %, or at will.")
    page.table(["speed of the ball [m/s]", "limit", "ended", "largest stretch"],
               [[speed, "5 %" if limit else "none", status, f"{100 * stretch:.2f} %"]
                for speed, limit, status, stretch, _, _, _ in rows])
    page.claim("Nothing penetrates in frames of the inextensible curtain.", all(row[6] == 0 for row in rows),
        f"the ball overlaps the curtain in {sum(row[6] for row in rows)} places of all frames.")
    page.claim("Stretch is bounded no matter how fast the ball is.", all(row[3] < 0.05 for row in rows if row[1]),
               f"at most {100 * max(row[3] for row in rows if row[1]):.2f} % (bound: 5 %); springs alone stretch up to "
               f"{100 * max(row[3] for row in rows if not row[1]):.0f} %.")
    drawing(page.folder / "async-contact-curtain.svg",
            [(f"{speed:g} m/s, {'limit 5 %' if limit else 'springs alone'}", (-1.3, -1.3, 1.7, 1.1), [(*ball, 0.05)],
              [line]) for speed, limit, _, _, line, ball, _ in rows], 2)
    page.add("![The curtain when the ball would have gone 10 m](async-contact-curtain.svg)")


def write_impacts(page, kept):
    page.add("## Sphere against plate", "The paper's figure 6 shows energy without visible drift beside the steady "
                                        "decay of Cirak and West's decomposition "
             "contact response.")
    plate, wedge = kept["plate"], kept["wedge"]
    worst = max(abs(v) for _, v in plate["curve"])
    page.claim("No decay of energy.", worst < 0.02 and plate["crossings"] == 0,
               f"it changes by {100 * worst:.2f} % at most (bound: 2 %), with up to {100 * plate['contact']:.1f} % "
               f"of it in contact layers; "
               f"{plate['crossings']} intersections.")
    page.add("![Sphere against plate](async-contact-sphere-plate.png)")
    page.plot("plate", "Sphere against plate: relative change of energy",
              [("", "time [s]", "relative change", "", {"energy": plate["curve"]})])
    page.add("## Sphere and wedge", "The paper's figure 9: the energy oscillates about its first value without drift.")
    worst = max(abs(v) for _, v in wedge["curve"])
    values = [v for _, v in wedge["curve"]]
    half = len(values) // 2
    shift = statistics.fmean(values[half:]) - statistics.fmean(values[:half])
    page.claim("The energy oscillates without drift.", worst < 0.01 and abs(shift) < 0.002 and wedge["crossings"] == 0,
               f"it changes by {100 * worst:.3f} % at most (bound: 1 %), its mean over the second half differs from "
               f"that over the first by "
               f"{100 * shift:+.4f} % (bound: 0.2 %); up to {100 * wedge['elastic']:.0f} % of it is elastic; "
               f"{wedge['crossings']} intersections.")
    page.add("![Sphere and wedge: at the start, and after 0.42 s as in figure 8](async-contact-sphere-wedge.png)")
    page.plot("wedge", "Sphere and wedge: relative change of energy",
              [("", "time [s]", "relative change", "", {"energy": wedge["curve"]})])


def scene_row(name, k):
    paper = PAPER.get(SCENES[name][2])
    theirs = 3600 * paper[3] / paper[0] if paper else None
    return [name, k["nodes"], k["time"], WHOLE.get(name, SCENES[name][0]), k["status"],
            k["seconds"], k["seconds"] / k["time"], k["forces"], k["clock"],
            f"{100 * k['share']:.0f} %", k["crossings"], theirs, theirs / (k["seconds"] / k["time"]) if paper else None]


SCENE_HEADS = ["scene", "nodes", "simulated [s]", "of", "ended", "our time [s]", "per simulated s [s]", "forces",
    "fastest clock [s]", "rescheduling",
               "intersections", "paper, per simulated s [s]", "ratio"]


def parameters_of(name):
    """Of a scene in the paper's units: density [g/cm^2], restitution, r(1) [dyn/cm], eta(1) [cm], stretching [dyn/cm],
    damping [s], bending [dyn cm]"""
    scene = json.loads((ROOT / f"scenes/async-contact/{name}.json").read_text())
    options = scene["integrator"]["options"]
    body = next(b for b in scene["bodies"] if "material" in b)
    thickness = body["shell"]["thickness"]
    return [0.1 * body["material"]["density"] * thickness, options.get("restitution", 1), 1000 * options["stiffness"],
            100 * options["thickness"], 1000 * body["material"]["young"] * thickness,
            body.get("damping", {}).get("stiffness", 0), 1e7 * body["shell"].get("bending", 0) or None]


def write_rest(page, whole):
    """What became of the draped sheets"""
    sheets = [(name, whole[name]) for name in ("sheets-draped", "sheets-draped-2011") if name in whole]
    slides = [(name, k["slid"]) for name, k in sheets if k.get("slid") is not None]
    stay = all(abs(v) < 0.05 for _, v in slides)
    page.claim("The sheets stay on their spikes.", None if stay and len(slides) < len(sheets) else stay,
               "height lost in the last second, in parts of that lost before: "
               + ", ".join(f"{100 * k['slid']:.1f} % ({name})" if k.get("slid") is not None else f"unknown ({name})"
                           for name, k in sheets) + " (bound: 5 %).")
    page.claim("They come to rest.", all(k["rest"] < 1e-3 for _, k in sheets),
               "at the end their kinetic energy is, in parts of the largest, "
               + ", ".join(f"{k['rest']:.2g} ({name})" for name, k in sheets) + " (bound: 0.001).")
    page.add("The papers give these sheets no friction: 2009 lists none among their parameters, and in 2011 the "
             "lower one slides, when it is pulled, \"with no dissipation\" against the "
             "upper one (section 8.6). So there is none in our scenes. The cloth that 2011 says came to rest has "
             "1,994 vertices a sheet, as those of sheets-draped-2011, a fourth of "
             "those in the table of 2009 and in sheets-draped; and its bending is damped 500 times as much as its "
             "stretching, in parts of their stiffness (0.1 of 0.1 and 1 of 500), where ours has "
             "one time constant for both.")


def write_whole(page, whole):
    rows = [(name, whole[name]) for name in WHOLE if name in whole and name in SCENES]
    seconds = sum(k.get("seconds", 0)
                  for k in whole.values()) + sum(row[-1] for row in whole.get("shipped", {"rows": []})["rows"])
    page.add("### Whole runs", "Runs that are too long for this page are made by `make reproduce-async-contact "
                               "ARGS=--whole` "
             f"({seconds / 60:.0f} minutes of one thread, the discs included) and kept in "
             "`docs/reproduction/async-contact-whole.json`: " + ", ".join(f"{name} at commit "
                                                                          f"`{k['about']['commit']}` on "
                                                                          f"{k['about']['date']}" for name, k in rows)
             + ". Those at commits before `7f09fc7` have the damping and the clocks of then (see \"Clocks for the "
               "sum of layers\"). "
             "Pictures of them are at the end of these sections.")
    page.table(SCENE_HEADS, [scene_row(name, k) for name, k in rows])
    missing = [name for name in WHOLE if name not in whole]
    page.claim("Every scene runs to its last frame with nothing penetrating anything.",
               None if missing else all(k["status"] == "finished" and k["crossings"] == 0
                                        and k["time"] > WHOLE[name] - 0.021 for name, k in rows),
               "; ".join(f"{name} {k['status']} at {k['time']:g} s, {k['crossings']} intersections" for name, k in rows)
               + (f"; not run: {', '.join(missing)}" if missing else "") + ".")
    if "sheets-draped" in whole:
        write_rest(page, whole)
    timed = [(name, k) for name, k in rows if k.get("tenths")]
    if not timed:
        return
    page.add("Seconds per simulated second over the first, the middle and the last tenth: "
             + "; ".join(f"{name} {', '.join(f'{v:.0f}' for v in k['tenths'])}" for name, k in timed) + ".")
    if whole.get("reef-knot", {}).get("tenths"):
        first, _, last = whole["reef-knot"]["tenths"]
        page.claim("Frames of the reef knot take the longer, the tighter it is (section 8 of 2009).", last > 2 * first,
                   f"the last tenth takes {last / first:.1f} times as long as the first (bound: 2).")
    page.plot("frames", "Seconds per frame of whole runs",
              [(name, "simulated time [s]", "seconds", "", {"": k["frames"]}) for name, k in timed])


def write_untied(page, best):
    k = best["reef-knot-untied"]
    page.add("### The knot untied", "2009 lists a reef knot untied among its parameters and says no more about it. "
                                    "Ours is a guess: all four ends are pulled for half a second as in "
             "reef-knot, then one end of the left ribbon is let go and its other end is pulled at 20 cm/s, while "
             "the right ribbon is held by both ends.")
    done = k["time"] > WHOLE["reef-knot-untied"] - 0.021
    page.claim("The knot comes undone, and nothing penetrates.",
               k["apart"] > 0 and k["crossings"] == 0 if done else None,
               f"at {k['time']:g} s the left ribbon is wholly to the left of the right one, by "
               f"{100 * k['apart']:.1f} cm; {k['crossings']} intersections in all frames."
               if k["apart"] > 0 else f"at {k['time']:g} s the ribbons are still {100 * -k['apart']:.1f} cm into "
                                      f"each other along x; {k['crossings']} intersections in all frames.")


def quantile(counts, share, step):
    """The step that this share of the nodes goes below or at: item i of counts goes at step / 2^i"""
    need, seen = share * sum(counts), 0
    for level in range(len(counts) - 1, -1, -1):
        seen += counts[level]
        if seen > 0 and seen >= need:
            return step / 2 ** level
    return step


def write_clocks(page, best):
    """Figure 2 of 2009"""
    shown = [(name, best[name]) for name in ("curtains", "reef-knot", "trash-compactor")
             if best.get(name, {}).get("clocks")]
    if not shown:
        return
    page.add("### Steps of nodes", "Figure 2 of 2009 shows how the steps of the vertices are distributed over the "
                                   "time of its curtains: most go on at moderate steps while tight collisions "
             "force some to small ones. The step of a node is here that of its fastest clock, of its elements or of "
             "a layer that is awake, in every frame; nodes on rails have none.")
    page.plot("steps", "Steps of nodes over time (figure 2 of 2009)",
              [(f"{name}, {k['nodes']:,} nodes", "time [s]", "step [s]", "y",
                {words: [(time, quantile(counts, share, k["step"])) for time, counts in k["clocks"]]
                 for words, share in (("median", 0.5), ("fastest 10 %", 0.1), ("fastest 1 %", 0.01), ("fastest", 0))})
               for name, k in shown])
    words, typical = [], []
    for name, k in shown:
        steps = [(quantile(counts, 0.5, k["step"]), quantile(counts, 0, k["step"])) for _, counts in k["clocks"]]
        slowest = max(fastest for _, fastest in steps)
        ratios = [median / fastest for median, fastest in steps if fastest < slowest]
        typical.append(statistics.median(ratios) if ratios else 1)
        words.append(f"{name} {typical[-1]:.3g} times, where some nodes are faster than at first ({len(ratios)} of "
                     f"{len(steps)} frames"
                     + (f"; from {min(ratios):.2g} to {max(ratios):.3g} times)" if ratios else ")"))
    page.claim("The median step is moderate even where contact forces some nodes to small ones.", typical[0] >= 8,
               "the median step over that of the fastest node, in half of the frames or more at least: "
               + "; ".join(words) + f" (bound: 8 times, for {shown[0][0]}).")


def write_vague(page, rows):
    page.add("### Vague trajectories alone", "The paper measured an improvement of about 30 % by vague "
                                             "trajectories, for the reef knot and the bunny compactor. Here "
                                             "`integrator.options.slack` "
             "takes the width of the cones away, so that every kick has the certificates of its nodes looked at "
             "again. The rest stays: a certificate holds as long as its "
             "slab closes no faster than it may, and windows promise places within tubes. Least of two runs each, "
             "seconds of the processor.")
    table, saved = [], []
    for row in rows:
        vague, exact = row["runs"]["true"], row["runs"]["false"]
        saved.append((row["words"], 1 - vague["seconds"] / exact["seconds"]))
        for words, run in (("slack", vague), ("exact", exact)):
            table.append([row["words"], row["end"], words, run["seconds"], f"{100 * run['rescheduling_share']:.0f} %",
                          run["cones"], run["certificates"], run["searches"], run["events"]])
    page.table(["scene", "simulated [s]", "trajectories", "time [s]", "rescheduling", "cones left", "certificates",
        "searches", "events"], table)
    page.claim("Vague trajectories change no bit of the motion.", all(row["same"] for row in rows),
               f"all frames and energies are equal, byte by byte, in {sum(row['same'] for row in rows)} of "
               f"{len(rows)} scenes.")
    page.claim("They save about 30 % of the time.", all(share > 0.2 for _, share in saved),
               ", ".join(f"{100 * share:+.0f} % ({words})" for words, share in saved)
               + " (bound: 20 %; negative: they cost time). The number of cones that nodes leave falls to "
               + ", ".join(f"{100 * row['runs']['true']['cones'] / row['runs']['false']['cones']:.0f} %"
                           for row in rows)
               + ". Looking at the pairs of such a node is mostly one comparison each here, whereas the paper "
                 "computed a new time and moved it in the queue.")


def write_timing(page, best):
    page.add("### Where the time goes", "The paper's hours beside our seconds, of whole runs; the share of "
                                        "rescheduling is that of keeping and renewing proofs that things are apart.")
    rows = []
    for name, (_, _, key, _) in SCENES.items():
        if key and name in best:
            (seconds, _, rescheduling, total), k = PAPER[key], best[name]
            rows.append([name, seconds, total, f"{100 * rescheduling / total:.0f} %", k["time"], k["seconds"],
                f"{100 * k['share']:.0f} %"]
                        + [f"{100 * k['stages'].get(stage, 0):.0f} %" for stage in ("elastic", "contact", "certify",
                            "search")])
    page.table(["scene", "paper: simulated [s]", "hours", "rescheduling", "ours: simulated [s]", "seconds",
        "rescheduling", "elastic forces", "layers", "certificates",
                "search"], rows)
    page.add("The paper's reef knot spent 4.8 % on elastic forces and gravity, 0.09 % on layers, 30 % on separating "
             "planes and lists, and the rest on vague trajectories and the queue.")


def write_parameters(page):
    page.add("### Parameters", "The paper's, which has no units, read as grams, centimetres and seconds, and those "
                               "of our scenes in the same: mass per area, r(1), eta(1), Young's modulus times "
                               "thickness, "
             "energy of bending per angle. Its damping has no counterpart in numbers; ours is the time constant of "
             "stiffness damping [s].")
    rows = []
    for name, paper in PARAMETERS.items():
        rows += [[name + ", paper", *paper], [name + ", here", *parameters_of(name)]]
    heads = ["density", "restitution", "r(1)", "eta(1)", "stretching", "damping", "bending"]
    page.table(["scene", *heads], rows)
    differ = []
    for name, paper in PARAMETERS.items():
        others = [head for head, ours, theirs in zip(heads, parameters_of(name), paper)
                  if head != "damping" and abs((ours or 0) - theirs) > 0.01 * max(abs(theirs), abs(ours or 0))]
        differ += [f"{name} ({', '.join(others)})"] if others else []
    page.add("Scenes with other numbers than the paper's, damping apart: " + (", ".join(differ) or "none") + ".")


def write_scenes(page, kept, whole):
    rows = [(name, kept[name]) for name in SCENES if name in kept]
    page.add("## Knots, compactors, spikes, curtains", "One thread; seconds are those of the processor. The paper's "
                                                       "times are whole runs on one thread of a 3.06 GHz Xeon of 2009. "
             "Runs shorter than the scene say little about later parts, where contact is tighter; whole ones of "
             "these are below.")
    page.table(SCENE_HEADS, [scene_row(name, k) for name, k in rows])
    page.claim("Nothing penetrates in frames of knots, compactors, spikes and curtains.",
               all(k["crossings"] == 0 for _, k in rows), "`rubato verify --frames-only` finds "
               + ", ".join(f"{k['crossings']} in {name}" for name, k in rows) + ", walls that move included.")
    write_whole(page, whole)
    best = {**kept, **whole}
    write_untied(page, best)
    write_clocks(page, {name: whole[name] if whole.get(name, {}).get("clocks") else kept[name] for name in SCENES})
    write_timing(page, best)
    page.claim("Rescheduling takes less than half of the time (paper: over 90 %).",
               all(best[name]["share"] < 0.5 for name in SCENES if name in best),
               ", ".join(f"{100 * best[name]['share']:.0f} % ({name})" for name in SCENES if name in best) +
                   ", of the longest run of each.")
    page.add("Work that the scripts have done, as `energy.csv` counts it: "
             + ", ".join(f"{k['work']:.3g} J ({name}; {k['total']:.3g} J are there at the end)"
                         for name, k in best.items() if name in SCENES and k["work"]) + ".")
    write_vague(page, kept["slack"])
    write_parameters(page)
    page.add("### Pictures")
    for name in SCENES:
        if (page.folder / f"async-contact-{name}.png").exists():
            page.add(f"![{name}](async-contact-{name}.png)")


def write_shipped(page, whole):
    """Energy of every scene with restitution 1, as shipped"""
    if "shipped" not in whole:
        return
    shipped = whole["shipped"]
    rows = shipped["rows"]
    page.add("## Energy without parameters", "All scenes with restitution 1 as they are shipped, to 60 s or as long "
                                             "as the papers had them; the sphere against the plate and the "
             f"inextensible curtain to their ends. By `--whole` at commit `{shipped['about']['commit']}`.")
    page.table(["scene", "simulated [s]", "ended", "energy falls by at most", "rises by at most", "at the end",
        "our time [s]"],
               [[name, time, status, *(f"{100 * v:+.3f} %" for v in values), seconds]
                for name, time, status, *values, seconds in rows])
    worst = max(max(-row[3], row[4]) for row in rows)
    page.claim("The energy stays within 2 % without any parameter being set.", worst < 0.02 and all(row[2] ==
        "finished" for row in rows),
               f"the largest change of all is {100 * worst:.2f} %.")


def write_depth(page, kept, whole):
    page.add("## Clocks for the sum of layers", "The paper gives layer l the step h l^(-3/2), for which it is "
                                                "stable alone. But while it is awake so are all layers before it, "
                                                "together as stiff as "
             "r (l (l + 1) / 2)^2: l layers are unstable beyond 4 / sqrt(l) times the paper's steps, and energy "
             "grows long before. Layers here are the paper's, r l^3 and eta l^(-1/4), with the "
             "step h / (l (l + 1) / 2), rounded down to a power of two: a function of the layer alone, so that "
             "clocks stay regular.")
    impacts = kept["impacts"]
    page.add("### What an impact does to the energy", "Particles of 1 kg hit a plane once, at random phases of its "
                                                      "clocks; r = 1 N/m, eta = 1 m. Speeds are in units of eta "
                                                      "sqrt(r / m): at 0.1 one layer "
             "stops a particle, at 100 about a hundred. The relative change of a particle's energy, mean and "
             "standard deviation:")
    page.table(["speed", *(f"safety {safety:g}" for safety in SAFETIES), "layer ticks at 0.025"],
               [[speed, *(next(f"{mean:+.1e} ± {std:.1e}" for s, v, planes, mean, std, _, _ in impacts
                               if (s, v, planes) == (safety, speed, 1)) for safety in SAFETIES),
                 next(ticks for s, v, planes, _, _, ticks, _ in impacts if (s, v, planes) == (0.025, speed, 1))]
                for speed in dict.fromkeys(v for _, v, planes, *_ in impacts if planes == 1)])
    ratio = max(std / s ** 2 for s, _, planes, _, std, _, _ in impacts if planes == 1)
    page.claim("An impact changes the energy by about safety^2 at most, up or down, however deep it is.", ratio < 1.2,
        f"the standard deviation is at most {ratio:.2f} safety^2 (bound: 1.2).")
    page.add("Pairs that share a node add up as layers do, and no clock of a layer knows of them. The same "
             "particles against several planes at one place, speed 2:")
    planes = [1] + sorted({row[2] for row in impacts if row[2] > 1})
    page.table(["planes", *(f"safety {safety:g}" for safety in (0.2, 0.025))],
               [[n, *(next(f"{mean:+.1e} ± {std:.1e}" for s, v, k, mean, std, _, _ in impacts
                           if (s, v, k) == (safety, 2, n)) for safety in (0.2, 0.025))] for n in planes])
    one, many = ({n: next(std for s, v, k, _, std, _, _ in impacts if (s, v, k) == (0.025, 2, n)) for n in planes}[n]
                 for n in (1, planes[-1]))
    page.add(f"With 0.025 {planes[-1]} pairs at a node make the error of one impact {many / one:.0f} times that of "
             f"one pair, about as many as the sum of their stiffness has. The limit of stability, 2 / sqrt(n), "
             "is 0.5 for 16 pairs; a node above a corner where six triangles meet has about as many.")
    rows = kept["depth"]
    # Layer l begins at eta l^(-1/4) from the limit of 5 %, and eta is half of that
    deepest = max(((0.05 - row[3]) / 0.025) ** -4 for row in kept["curtain"] if row[1])
    page.add("### How deep layers are stable", f"The inextensible curtain is at least {deepest:.0f} layers deep in "
                                               f"the frames above. With a ball of 50 m/s and `time.step` 1 ms:")
    page.table(["safety", "ended", "at [s]", "energy at the start [J]", "at most [J]"],
               [[f"{safety:g}", status, time, f"{first:.1f}", f"{most:.1f}"]
                for safety, status, first, most, time in rows])
    good = [safety for safety, status, first, most, _ in rows if status == "finished" and most < 1.02 * first]
    page.claim("Layers keep the energy hundreds deep.", 0.025 in good,
               "it grows by less than 2 % with `safety` "
               f"{', '.join(f'{safety:g}' for safety in good) or 'none'} of these. "
               "(With the paper's steps it grew by 7 % with 0.05, and with 0.1 the run failed.)")
    cost = whole.get("cost")
    if not cost:
        return
    page.add("### What it costs", f"The clocks of commit `{cost['before']}`, the paper's with `safety` 0.2 (0.1 in "
                                  f"scenes with discs and in the wedge, which needed it; the pogo stick had a step "
                                  f"of 10 ms), by turns "
             f"with those of commit `{cost['about']['commit']}`: the first part of each scene as shipped then and "
             f"now, least of two runs each, one thread. Scenes with damping also pay for what keeps angular "
             "momentum: rates of strain instead of differences of forces.")
    page.table(["scene", "simulated [s]", "events before [M]", "now [M]", "ratio", "layer ticks, ratio",
        "seconds before", "now", "ratio"],
               [[name, time, before["events"] / 1e6, now["events"] / 1e6, now["events"] / before["events"],
                 now["layers"] / before["layers"] if before["layers"] else None, before["seconds"], now["seconds"],
                 now["seconds"] / before["seconds"]] for name, time, before, now in cost["rows"]])


def write_events(page, kept):
    """What was judged from event to event"""
    rows = kept["events"]
    page.add("## Event by event", "Frames are moments: what passes through something between two of them and comes "
                                  "back is not seen there. `rubato run --verify-events` looks at all places at "
             "every event and, since nodes go straight on between events, at the whole of the motion, without any "
             "code that contact shares. It costs far more than the motion, so the short scenes "
             "are judged so, the dearer ones of them over frames in which things touch; what is said of all other "
             "scenes and times on this page is judged in frames (`rubato verify --frames-only`).")
    page.table(["scene", "from [s]", "to [s]", "of [s]", "contact forces", "events", "states", "ways between",
        "intersections in states", "on ways", "time to judge [s]"],
               [[row["scene"], row["from"], row["to"], end_of(row["scene"]), row["contact"], row["events"],
                 row["states"], row["ways"], row["intersections"], row["on_ways"], row["seconds"]] for row in rows])
    page.claim("Nothing penetrates event by event.",
               all(row["status"] == "finished" and row["intersections"] == 0
                   and row["on_ways"] == 0 and row["contact"] > 0 for row in rows),
               f"{sum(row['intersections'] + row['on_ways'] for row in rows)} intersections at "
               f"{sum(row['states'] for row in rows):,} states and on {sum(row['ways'] for row in rows):,} ways of "
               f"{len(rows)} scenes, "
               f"{sum(row['from'] == 0 and row['to'] >= 0.99 * end_of(row['scene']) for row in rows)} of them whole "
               f"and the others for a while; things touch in all of them (bound: 0, and some contact forces in each).")


def end_of(scene):
    return json.loads((ROOT / f"scenes/async-contact/{scene}.json").read_text())["time"]["end"]


def write_all(page, kept, whole):
    """Every scene of the folder: how far its runs went and what was found"""
    ran = {}
    found = [(scene, own) for section in kept["ran"].values() for scene, own in section.items()]
    found += [(name, {"runs": 1, "time": k["time"], "unfinished": k["status"] != "finished",
                      "crossings": k["crossings"]}) for name, k in whole.items() if name in SCENES]
    found += [(scene, {"runs": 1, "time": run["time"], "unfinished": run["status"] != "finished",
                       "crossings": run["crossings"]})
              for scene, where in BOXES for run in whole.get("particle-box", {}).get(where, [])]
    for scene, own in found:
        all_of = ran.setdefault(scene, {"runs": 0, "time": 0, "unfinished": 0, "crossings": 0})
        all_of["time"] = max(all_of["time"], own["time"])
        for key in ("runs", "unfinished", "crossings"):
            all_of[key] += own[key]
    events = {row["scene"]: row for row in kept["events"]}
    rows, short = [], []
    for path in sorted((ROOT / "scenes/async-contact").glob("*.json")):
        times, own = json.loads(path.read_text())["time"], ran.get(path.stem, {"runs": 0, "time": 0, "unfinished": 0,
            "crossings": 0})
        rows.append([path.stem, times["end"], own["runs"], own["time"], own["unfinished"], own["crossings"],
                     f"{events[path.stem]['to'] - events[path.stem]['from']:.3g} s, {events[path.stem]['states']:,} "
                     f"states" if path.stem in events else "–"])
        short += [path.stem] if own["time"] < times["end"] - 1.01 * times["frame"] else []
    page.add("## Every scene", "All runs of this page that were judged in frames, whole ones included, and what of "
                               "them was judged event by event.")
    page.table(["scene", "its end [s]", "runs", "longest [s]", "not finished", "intersections in frames",
                "event by event"], rows)
    page.claim("Every scene runs to its end, and nothing intersects.",
               not short and all(row[4] == 0 and row[5] == 0 for row in rows),
               f"`rubato verify --frames-only` finds {sum(row[5] for row in rows)} intersections in "
               f"{sum(row[2] for row in rows)} runs of {len(rows)} scenes in frames"
               + (f"; not to the end: {', '.join(short)}" if short else "") + ".")


# The five lines at the top; see study.lines_of_claims().
TOPICS = {
    "Nothing penetrates": {
        r"Nothing penetrates event by event": "event by event, {}",
        r"Nothing penetrates in frames of (.+)\.": "in frames of {}",
        r"Every scene runs to its end": "every scene runs to its end, by frames",
        r"Every scene runs to its last frame": "the long runs reach their last frame, by frames"},
    "Energy and momentum": {
        r"Regular clocks": "no drift with regular clocks", r"Restarted clocks": "restarted clocks gain energy",
        r"With impulses": "impulses make the energy walk at random", r"It is that of layers": "layers are the paper's",
        r"Energy is good": "energy is good for any stiffness and thickness",
        r"Momentum": "momentum is exact", r"No decay": "sphere and plate keep their energy",
        r"The energy oscillates": "sphere and wedge keep their energy",
        r"The energy stays within": "energy stays within 2 % without a parameter being set",
        r"An impact": "an impact changes the energy by safety² at most",
        r"Layers keep": "hundreds of layers keep the energy"},
    "Restitution, friction, limits": {
        r"In the box of (3.+): restitution": "discs keep or lose energy by restitution (in {})",
        r"Without restitution": "clusters without restitution",
        r"In the box of 3 m too": "clusters without restitution in 3 m", r"The more friction": "friction slows sludge",
        r"A slope": "a slope holds what its friction can hold ({})", r"Stretch": "stretch is bounded at any speed"},
    "Knots and sheets": {
        r"The knot comes": "the reef knot comes undone", r"The sheets stay": "the sheets stay on their spikes",
        r"They come to rest": "the sheets come to rest"},
    "Time": {
        r"Rescheduling": "rescheduling takes less than half of the time",
        r"Vague": "vague trajectories change no bit", r"They save": "vague trajectories save 30 % of it",
        r"The median step": "the median node takes moderate steps",
        r"Frames of the reef knot": "the reef knot costs more the tighter it is"},
}


def write(tools, folder, kept):
    page = Page(tools, folder, "async-contact")
    whole = json.loads(WHOLE_FILE.read_text()) if WHOLE_FILE.exists() else {}
    page.add("# async-contact: the papers' findings, measured anew",
             "Harmon, Vouga, Smith, Tamstorf, Grinspun: *Asynchronous Contact Mechanics* (2009), and Vouga, Harmon, "
             "Tamstorf, Grinspun: "
             "*Asynchronous Variational Contact Mechanics* (2011).")
    page.about("make reproduce-async-contact", kept["about"])
    write_small(page, kept)
    write_box(page, kept, whole)
    write_sludge(page, kept)
    write_curtain(page, kept)
    write_impacts(page, kept)
    write_scenes(page, kept, whole)
    write_events(page, kept)
    write_all(page, kept, whole)
    write_shipped(page, whole)
    write_depth(page, kept, whole)
    page.add("## What is missing", "Limits of length for triangle meshes, where the paper says that they would lock "
                                   "bending; torsion of friction (grains do not turn), as in the paper; "
             "Cirak and West's method itself, whose decay is only described.")
    page.begin(TOPICS)
    print(page.write())


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--page-only", action="store_true")
    words.add_argument("--whole", action="store_true")
    words.add_argument("--only", default=",".join(SECTIONS))
    words.add_argument("--before", metavar="TREE")
    words.add_argument("--output")
    asked = words.parse_args()
    out = ROOT / "out" / "reproduction"
    folder = pathlib.Path(asked.output) if asked.output else out if asked.quick else ROOT / "docs" / "reproduction"
    runner, file = Runner(asked.rubato, out / "async-contact", asked.quick), out / "async-contact.json"
    runner.folder.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    if asked.before:
        run_cost(runner, pathlib.Path(asked.before))
        return
    if asked.whole:
        run_whole(runner, folder, list(WHOLE) if asked.only == words.get_default("only") else asked.only.split(","))
        return
    kept = json.loads(file.read_text()) if file.exists() and (asked.page_only
                                                              or asked.only != words.get_default("only")) else {}
    for name in [] if asked.page_only else asked.only.split(","):
        progress(name)
        runner.ran = {}
        kept[name] = SECTIONS[name](runner)
        kept["about"] = measured_here()
        kept.setdefault("ran", {})[name] = runner.ran
        file.write_text(json.dumps(kept, indent=1))
    missing = [name for name in SECTIONS if name not in kept]
    if missing:
        sys.exit(f"reproduce-async-contact: not measured yet: {', '.join(missing)}")
    if not asked.page_only:
        pictures(runner, folder)
    write(Tools(asked.rubato), folder, kept)


if __name__ == "__main__":
    main()
