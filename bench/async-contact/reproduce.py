#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--only A,B] [--output FOLDER] [--page-only]: what the papers of async-contact found, measured anew.

Runs the scenes of scenes/async-contact (the largest in part), keeps the figures in out/reproduction/async-contact.json and writes
async-contact.md with its plots and pictures (docs/reproduction; --quick: out/reproduction). --only measures some sections and takes the
others from the figures kept, --page-only takes all of them. Harmon, Vouga, Smith, Tamstorf, Grinspun: Asynchronous Contact Mechanics.
2009; Vouga et al.: Asynchronous Variational Contact Mechanics. 2011.
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

# Scene: end [s] of the run and of a quick one, hours that the paper took for its run and its length [s], frames and view of the picture
SCENES = {"reef-knot": (0.2, 0.02, (18.5, 2.0), "40,25"), "bowline-knot": (5, 0.1, (144.5, 5.0), "20,50"),
          "trash-compactor": (3.08, 0.2, (53.6, 3.08), "hero"), "bunny-compactor": (1.4, 0.1, None, "hero"),
          "sheets-draped": (0.06, 0.02, (265.5, 3.95), "hero"), "sheets-pulled": (0.06, 0.02, (325.6, 3.83), "hero"),
          "balls-on-nails": (0.2, 0.02, None, "hero"), "curtains": (0.8, 0.05, None, "hero")}
RESTITUTION = [1, 0.9, 0.8, 0.7, 0.5, 0.2, 0]
WALLS = [(eta, r) for eta in (1, 0.1) for r in (1, 0.1, 0.01)]
FRICTION = [0, 0.1, 0.2, 0.5]


class Runner:
    def __init__(self, rubato, folder, quick):
        self.rubato, self.folder, self.quick = rubato, folder, quick

    def run(self, scene, name, settings):
        """The report, the energies and the processor seconds of a run; scene: a name or a description."""
        out = self.folder / name
        if isinstance(scene, dict):
            path = self.folder / f"{name}.json"
            path.write_text(json.dumps(scene))
        else:
            path = ROOT / f"scenes/async-contact/{scene}.json"
        words = [self.rubato, "run", str(path), "-o", str(out), "-q", "--threads", "1"]
        for key, value in settings.items():
            words += ["--set", f"{key}={value}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not (out / "run.json").exists():
            sys.exit(f"reproduce-async-contact: {name}: {done.stderr}")
        report = json.loads((out / "run.json").read_text())
        with (out / "energy.csv").open() as file:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        return report, rows, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def crossings(self, name):
        done = subprocess.run([self.rubato, "verify", str(self.folder / name), "--frames-only"], capture_output=True, text=True)
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


def drift(energies, blocks=20):
    """Change of the block means from first to last, and how many of its standard errors that is away from none."""
    size = len(energies) // blocks
    means = [statistics.fmean(energies[b * size:(b + 1) * size]) for b in range(blocks)]
    steps = [b - a for a, b in zip(means, means[1:])]
    error = statistics.stdev(steps) / len(steps) ** 0.5
    return means[-1] - means[0], abs(statistics.fmean(steps)) / error if error else 0


def thin(points, most=300):
    return points[::max(1, len(points) // most)]


def drawing(path, panels, columns):
    """A sheet of flat pictures of one size. panels: (words, box (x0, y0, x1, y1), discs (x, y, r), lines [(x, y), …])"""
    side, gap, parts = 300, 16, []
    x0, y0, x1, y1 = panels[0][1]
    scale = side / (x1 - x0)
    tall = scale * (y1 - y0)
    for i, (words, _, discs, lines) in enumerate(panels):
        left, top = gap + (side + gap) * (i % columns), 2 * gap + (tall + 2 * gap) * (i // columns)

        def at(x, y):
            return left + scale * (x - x0), top + scale * (y1 - y)
        parts.append(f'<clipPath id="c{i}"><rect x="{left}" y="{top:.1f}" width="{side}" height="{tall:.1f}"/></clipPath>')
        parts.append(f'<text x="{left}" y="{top - 5:.1f}" font-size="11" font-family="sans-serif">{words}</text>')
        for line in lines:
            parts.append(f'<polyline clip-path="url(#c{i})" fill="none" stroke="#334" stroke-width="1.5" points="'
                         + " ".join(f"{at(x, y)[0]:.1f},{at(x, y)[1]:.1f}" for x, y in line) + '"/>')
        for x, y, r in discs:
            if x0 <= x <= x1 and y0 <= y <= y1:
                parts.append(f'<circle cx="{at(x, y)[0]:.1f}" cy="{at(x, y)[1]:.1f}" r="{scale * r:.1f}" fill="#4a86c5"/>')
    width, height = columns * (side + gap) + gap, round(-(-len(panels) // columns) * (tall + 2 * gap) + gap)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
                    f'<rect width="{width}" height="{height}" fill="white"/>' + "".join(parts) + "</svg>\n")


# ---- Measuring


def measure_pogo(runner):
    _, rows, _ = runner.run("pogo", "pogo", {"time.end": 200 if runner.quick else 10000, "time.frame": 2, "time.step": 0.002,
                                             "integrator.options.safety": 0.05})
    energy = [row["total"] for row in rows]
    change, errors = drift(energy)
    return {"end": rows[-1]["time"], "first": energy[0], "least": min(energy), "most": max(energy), "change": change,
            "errors": errors, "curve": thin([(row["time"], row["total"] / energy[0] - 1) for row in rows])}


def measure_walls(runner):
    kept = []
    for eta, r in WALLS:
        _, rows, _ = runner.run("two-walls", "walls", {"integrator.options.thickness": eta, "integrator.options.stiffness": r,
                                                       "integrator.options.safety": 0.1})
        kept.append([eta, r, max(abs(row["total"] / rows[0]["total"] - 1) for row in rows)])
    return kept


def measure_box(runner):
    kept = {"restitution": [], "discs": []}
    end = 0.5 if runner.quick else 2
    for e in RESTITUTION:
        progress(f"  restitution {e}")
        _, rows, _ = runner.run("particle-box", "box", {"time.end": end, "integrator.options.restitution": e, "output.vtu": "true"})
        kept["restitution"].append([e, [(row["time"], row["total"]) for row in thin(rows)],
                                    max(abs(row["total"] / rows[0]["total"] - 1) for row in rows)])
        if e in (1, 0):
            kept["discs"].append([e, [(x, z) for x, _, z in runner.points("box", len(rows) - 1)]])
    progress("  with gravity")
    _, rows, _ = runner.run("particle-box-gravity", "box", {"time.end": 2 * end})
    kept["gravity"] = thin([(row["time"], row["total"] / rows[0]["total"] - 1) for row in rows])
    return kept


def measure_sludge(runner):
    kept = []
    for mu in FRICTION:
        progress(f"  friction {mu}")
        settings = {"integrator.options.friction": mu}
        if runner.quick:
            settings.update({"bodies[0].mesh.shape.cloth.cells_along": 9, "bodies[0].mesh.shape.cloth.cells_across": 9})
        report, rows, _ = runner.run("sludge", "sludge", settings)
        opened = next(row["gravity"] for row in rows if row["time"] > 1.499)
        kept.append([mu, report["status"], opened - rows[-1]["gravity"],
                     [(x, z) for x, _, z in runner.points("sludge", len(rows) - 1)][:-3]])
    return kept


def measure_curtain(runner):
    kept = []
    for speed in (5, 50, 500):
        for limit in (0.05, 0):
            settings = {"bodies[0].springs.limit": limit, "bodies[1].velocity.linear": f"[{speed},0,0]", "time.step": min(2e-4, 0.005 / speed),
                        "time.frame": 0.1 / speed, "time.end": 10 / speed if runner.quick else 20 / speed}
            report, rows, _ = runner.run("inextensible-curtain", "curtain", settings)
            places = [runner.points("curtain", frame) for frame in range(len(rows))]
            stretch = max(math.dist(a, b) / 0.025 - 1 for all_of in places for a, b in zip(all_of[:40], all_of[1:41]))
            shown = places[min(len(places) - 1, 100)]
            kept.append([speed, limit, report["status"], stretch, [(x, y) for x, y, _ in shown[:41]], shown[41][:2]])
    return kept


def measure_friction(runner):
    kept = []
    c, s = math.cos(math.pi / 9), math.sin(math.pi / 9)
    for mu, e in ((0.2, 1), (0.6, 1), (1, 1), (0.6, 0), (1, 0)):
        for h in (1e-3, 1e-4):
            scene = {"rubato": 1, "bodies": [
                {"name": "dust", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 1, "cells_across": 1}}},
                 "transform": {"translate": [0, 0.0095, 0]}, "particles": {"radius": 0, "mass": 0.1}}],
                "forces": [{"gravity": {"acceleration": [9.8 * s, -9.8 * c, 0]}}], "obstacles": [{"plane": {}}],
                "time": {"step": h, "frame": 0.1, "end": 2},
                "integrator": {"method": "async-contact", "options": {"stiffness": 1000, "thickness": 0.01, "restitution": e, "friction": mu}}}
            _, rows, _ = runner.run(scene, "slope", {})
            speeds = [row["px"] / 0.4 for row in rows]
            kept.append([mu, e, h, statistics.fmean(speeds[10:]), speeds[-1] / (9.8 * (s - mu * c) * 2)])
    return kept


def measure_impact(runner, scene, end):
    _, rows, _ = runner.run(scene, scene, {"time.end": end})
    return {"curve": [(row["time"], row["total"] / rows[0]["total"] - 1) for row in rows],
            "contact": max(row["contact"] for row in rows) / rows[0]["total"],
            "elastic": max(row["elastic"] for row in rows) / rows[0]["total"], "crossings": runner.crossings(scene)}


def measure_scenes(runner, names):
    kept = {}
    for name in names:
        end, short, paper, _ = SCENES[name]
        progress(f"  {name}")
        report, rows, seconds = runner.run(name, name, {"time.end": short if runner.quick else end})
        own = report["async-contact"]
        kept[name] = {"nodes": sum(body["nodes"] for body in report["bodies"]), "time": report["time"], "status": report["status"],
                      "seconds": seconds, "forces": own["forces"], "share": own["rescheduling_share"], "clock": own["fastest_clock"],
                      "crossings": runner.crossings(name), "paper": paper, "work": rows[-1]["work"], "total": rows[-1]["total"]}
    return kept


SECTIONS = {
    "pogo": measure_pogo, "walls": measure_walls, "box": measure_box, "sludge": measure_sludge, "curtain": measure_curtain,
    "friction": measure_friction,
    "plate": lambda runner: measure_impact(runner, "sphere-plate", 2e-4 if runner.quick else 2e-3),
    "wedge": lambda runner: measure_impact(runner, "sphere-wedge", 0.1 if runner.quick else 0.6),
    **{name: (lambda runner, name=name: measure_scenes(runner, [name])[name]) for name in SCENES},
}


def pictures(runner, folder):
    for name, (_, _, _, view) in SCENES.items():
        run = runner.folder / name / "run.json"
        if run.exists():
            last = json.loads(run.read_text())["frame"]
            frames = ",".join(str(round(last * k / 3)) for k in range(4)) if last >= 6 else f"0,{last}"
            subprocess.run([runner.rubato, "render", str(run.parent), "-o", str(folder / f"async-contact-{name}.png"), "--frames", frames,
                            "--columns", "2", "--view", view, "--color", "body"], capture_output=True)


# ---- The page


def write_small(page, kept):
    p = kept["pogo"]
    page.add("## The pogo stick", "A spring of unit length, stiffness and end masses falls from unit height on a plane; eta = 0.1, r = 1000, the ends "
             "of the spring feel each other's layers too. `test/unit/test_async_findings.c` holds the method against a simulation of its own, in "
             "which clocks can also be restarted at contact (energy grows systematically, 46 standard errors from none) or contacts be "
             "impulses (it wanders).")
    page.claim("Regular clocks: no energy drift.", p["errors"] < 3 and abs(p["change"]) < 0.02 * p["first"],
               f"over {p['end']:g} s the mean energy changes by {100 * p['change'] / p['first']:+.2f} %, {p['errors']:.1f} standard errors of "
               f"a random walk from none (bound: 3, and 2 %); frames lie between {p['least']:.3f} and {p['most']:.3f} of {p['first']:g} J.")
    page.plot("pogo", "Pogo stick: relative change of energy", [("", "time [s]", "relative change", "", {"regular clocks": p["curve"]})])
    page.add("## Two walls")
    page.table(["eta [m]", "r [N/m]", "largest relative change of energy in 60 s"], kept["walls"])
    page.claim("Energy is good for any stiffness and thickness.", all(row[2] < 0.05 for row in kept["walls"]),
               "the largest change of all is " + f"{100 * max(row[2] for row in kept['walls']):.2f} % (bound: 5 %).")


def write_box(page, kept):
    box = kept["box"]
    curves = box["restitution"]
    page.add("## 900 discs in a box")
    page.plot("box", "900 discs: energy by restitution",
              [("", "time [s]", "energy [J]", "y", {f"{e:g}": curve for e, curve, _ in curves})])
    early = [next(energy for time, energy in curve if time > 0) for _, curve, _ in curves]
    page.claim("Restitution 1 keeps the energy, less makes it decay smoothly, the faster the smaller it is.",
               curves[0][2] < 0.02 and all(a > b for a, b in zip(early, early[1:])),
               f"restitution 1 changes it by {100 * curves[0][2]:.2f} % at most (bound: 2 %); at the end "
               + ", ".join(f"{curve[-1][1]:.3g} J ({e:g})" for e, curve, _ in curves)
               + "; after the first frame " + ", ".join(f"{energy:.4g}" for energy in early)
               + ". That is where the order is judged: later, in clusters, the way a gas of inelastic particles cools does not depend on "
               "its restitution (Ben-Naim, Chen, Doolen and Redner 1999). Layers count with what they will give back.")
    worst = max(abs(v) for _, v in box["gravity"])
    page.claim("Nor does energy drift with gravity.", worst < 0.03, f"it changes by {100 * worst:.2f} % at most in {box['gravity'][-1][0]:g} s (bound: 3 %).")
    page.plot("box-gravity", "900 discs with gravity: relative change of energy", [("", "time [s]", "relative change", "", {"energy": box["gravity"]})])
    drawing(page.folder / "async-contact-discs.svg", [(f"restitution {e:g}", (-1.9, -1.9, 1.9, 1.9), [(x, z, 0.04) for x, z in discs], [])
                                                      for e, discs in box["discs"]], 2)
    page.add("![900 discs at the end: without restitution they gather in clusters](async-contact-discs.svg)")


def write_sludge(page, kept):
    sludge = kept["sludge"]
    page.add("## Sludge", "The same discs settle in the box; its right wall goes at 1.5 s, and they flow down a slope of 20 degrees. 2.5 s later:")
    slope = [[(-2, -1.85), (1.85, -1.85), (9, -4.45)], [(-1.85, -1.85), (-1.85, 2)]]
    drawing(page.folder / "async-contact-sludge.svg", [(f"friction {mu:g}", (-2, -5, 9, 2), [(x, z, 0.05) for x, z in discs], slope)
                                                       for mu, _, _, discs in sludge], 2)
    page.add("![Sludge by friction](async-contact-sludge.svg)")
    lost = [row[2] for row in sludge]
    page.claim("The more friction, the slower the flow.", all(a > b for a, b in zip(lost, lost[1:])),
               "height lost since the wall went, as energy: " + ", ".join(f"{v:.4g} J ({mu:g})" for mu, _, v, _ in sludge) + ".")
    page.add("### Static friction", "A particle on a plane of 20 degrees (tan 0.364), two seconds. The papers leave static friction open: their particle creeps, since "
             "friction answers motion that is there already. Here it is measured after all other kicks of a moment and stops what it can at once; "
             "where the layers always push, the particle stays where it is to the last digit. Without restitution layers push and let go in "
             "turns, and where they let go nothing holds it.")
    page.table(["friction", "restitution", "step [s]", "mean speed in the last second [m/s]", "gravity in a step [m/s]", "speed over Coulomb's"],
               [[mu, e, h, speed, 9.8 * math.sin(math.pi / 9) * h, ratio if mu < 0.36 else None] for mu, e, h, speed, ratio in kept["friction"]])
    held = [row for row in kept["friction"] if row[0] == 1 and row[1] == 1]
    page.claim("A slope holds what its friction can hold.", all(row[3] == 0 for row in held),
               f"friction 1 and restitution 1: speeds {', '.join(f'{row[3]:g} m/s' for row in held)} (bound: 0). Stacks that stand by friction "
               "alone, as houses of cards, were not tried.")


def write_curtain(page, kept):
    rows = kept["curtain"]
    page.add("## The inextensible curtain", "A curtain of 40 springs in two dimensions is hit by a ball; its parts may change their length by 5 %, or at will.")
    page.table(["speed of the ball [m/s]", "limit", "ended", "largest stretch"],
               [[speed, "5 %" if limit else "none", status, f"{100 * stretch:.2f} %"] for speed, limit, status, stretch, _, _ in rows])
    page.claim("Stretch is bounded no matter how fast the ball is.", all(row[3] < 0.05 for row in rows if row[1]),
               f"at most {100 * max(row[3] for row in rows if row[1]):.2f} % (bound: 5 %); springs alone stretch up to "
               f"{100 * max(row[3] for row in rows if not row[1]):.0f} %.")
    drawing(page.folder / "async-contact-curtain.svg",
            [(f"{speed:g} m/s, {'limit 5 %' if limit else 'springs alone'}", (-1.3, -1.3, 1.7, 1.1), [(*ball, 0.05)], [line])
             for speed, limit, _, _, line, ball in rows], 2)
    page.add("![The curtain when the ball would have gone 10 m](async-contact-curtain.svg)")


def write_impacts(page, kept):
    page.add("## Sphere against plate", "The paper's figure 6 shows energy without visible drift beside the steady decay of Cirak and West's decomposition "
             "contact response.")
    plate, wedge = kept["plate"], kept["wedge"]
    worst = max(abs(v) for _, v in plate["curve"])
    page.claim("No decay of energy.", worst < 0.02 and plate["crossings"] == 0,
               f"it changes by {100 * worst:.2f} % at most (bound: 2 %), with up to {100 * plate['contact']:.1f} % of it in contact layers; "
               f"{plate['crossings']} intersections.")
    page.plot("plate", "Sphere against plate: relative change of energy", [("", "time [s]", "relative change", "", {"energy": plate["curve"]})])
    page.add("## Sphere and wedge", "The paper's figure 9: the energy oscillates about its first value without drift.")
    worst = max(abs(v) for _, v in wedge["curve"])
    values = [v for _, v in wedge["curve"]]
    half = len(values) // 2
    shift = statistics.fmean(values[half:]) - statistics.fmean(values[:half])
    page.claim("The energy oscillates without drift.", worst < 0.01 and abs(shift) < 0.002 and wedge["crossings"] == 0,
               f"it changes by {100 * worst:.3f} % at most (bound: 1 %), its mean over the second half differs from that over the first by "
               f"{100 * shift:+.4f} % (bound: 0.2 %); up to {100 * wedge['elastic']:.0f} % of it is elastic; {wedge['crossings']} intersections.")
    page.plot("wedge", "Sphere and wedge: relative change of energy", [("", "time [s]", "relative change", "", {"energy": wedge["curve"]})])


def write_scenes(page, kept):
    rows = [(name, kept[name]) for name in SCENES if name in kept]
    page.add("## Knots, compactors, spikes, curtains", "One thread; seconds are those of the processor. The paper's times are whole runs on one thread of a 3.06 GHz Xeon of 2009. "
             "Runs shorter than the paper's say little about later parts, where contact is tighter.")
    page.table(["scene", "nodes", "simulated [s]", "of", "ended", "our time [s]", "per simulated s [s]", "forces", "fastest clock [s]", "rescheduling",
                "intersections", "paper, per simulated s [s]", "ratio"],
               [[name, k["nodes"], k["time"], k["paper"][1] if k["paper"] else SCENES[name][0], k["status"], k["seconds"], k["seconds"] / k["time"], k["forces"],
                 k["clock"], f"{100 * k['share']:.0f} %", k["crossings"], 3600 * k["paper"][0] / k["paper"][1] if k["paper"] else None,
                 3600 * k["paper"][0] / k["paper"][1] / (k["seconds"] / k["time"]) if k["paper"] else None] for name, k in rows])
    page.claim("Nothing penetrates.", all(k["crossings"] == 0 for _, k in rows), "`rubato verify --frames-only` finds "
               + ", ".join(f"{k['crossings']} in {name}" for name, k in rows) + ".")
    page.claim("Rescheduling takes less than half of the time (paper: over 90 %).", all(k["share"] < 0.5 for _, k in rows),
               ", ".join(f"{100 * k['share']:.0f} % ({name})" for name, k in rows) + ".")
    page.add("Work that the scripts have done, as `energy.csv` counts it: "
             + ", ".join(f"{k['work']:.3g} J ({name}; {k['total']:.3g} J are there at the end)" for name, k in rows if k["work"]) + ".")
    for name, _ in rows:
        if (page.folder / f"async-contact-{name}.png").exists():
            page.add(f"![{name}](async-contact-{name}.png)")


def write(tools, folder, kept):
    page = Page(tools, folder, "async-contact")
    page.add("# async-contact: the papers' findings, measured anew",
             "Harmon, Vouga, Smith, Tamstorf, Grinspun: *Asynchronous Contact Mechanics* (2009), and Vouga, Harmon, Tamstorf, Grinspun: "
             "*Asynchronous Variational Contact Mechanics* (2011).")
    page.about("make reproduce-async-contact", kept["about"])
    write_small(page, kept)
    write_box(page, kept)
    write_sludge(page, kept)
    write_curtain(page, kept)
    write_impacts(page, kept)
    write_scenes(page, kept)
    page.add("## How deep layers are stable", "Every layer alone is stable at its own step, h l^(-3/2), but layers of one pair add up: l of them are as stiff as r l^4 / 4, so that "
             "together they cannot be stable beyond `safety` 4 / sqrt(l), and energy grows well before where contacts share nodes. The inextensible curtain goes 400 "
             "layers deep. With a ball of 50 m/s and `time.step` 1 ms its energy of 245.6 J was 246.1 J at most with `safety` 0.02, 262.5 J with 0.05, and with 0.1 "
             "and more the run stopped with an outcome; the scene's own step of 0.1 ms makes nearly the clocks that 0.02 does. "
             "Clocks chosen for the sum, h / (l (l + 1) / 2), would take the first of these away, at the price of more ticks.")
    page.add("## What is missing", "Whole runs of reef-knot and of the sheets on this page; limits of length for triangle meshes, where the paper says that they would lock "
             "bending; torsion of friction (grains do not turn), as in the paper.")
    print(page.write())


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--page-only", action="store_true")
    words.add_argument("--only", default=",".join(SECTIONS))
    words.add_argument("--output")
    asked = words.parse_args()
    out = ROOT / "out" / "reproduction"
    folder = pathlib.Path(asked.output) if asked.output else out if asked.quick else ROOT / "docs" / "reproduction"
    runner, file = Runner(asked.rubato, out / "async-contact", asked.quick), out / "async-contact.json"
    runner.folder.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    kept = json.loads(file.read_text()) if file.exists() and (asked.page_only or asked.only != words.get_default("only")) else {}
    for name in [] if asked.page_only else asked.only.split(","):
        progress(name)
        kept[name] = SECTIONS[name](runner)
        kept["about"] = measured_here()
        file.write_text(json.dumps(kept, indent=1))
    missing = [name for name in SECTIONS if name not in kept]
    if missing:
        sys.exit(f"reproduce-async-contact: not measured yet: {', '.join(missing)}")
    if not asked.page_only:
        pictures(runner, folder)
    write(Tools(asked.rubato), folder, kept)


if __name__ == "__main__":
    main()
