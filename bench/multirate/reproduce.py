#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--output FOLDER] [--page-only] [--only SECTION,…]: what the multirate paper found,
measured anew.

Runs the scenes of scenes/multirate with parts that take short steps, with one rate for all, and with one rate that
costs as much; keeps the figures in out/reproduction/multirate.json, and writes multirate.md with its plots
(docs/reproduction; --quick: out/reproduction). --page-only writes the page from the figures kept; --only measures some
of its sections anew and keeps the others. Zhao, Li, Barbic: Asynchronous Implicit Backward Euler Integration. 2016.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from bench import ROWS, SINGLE, measure_row, measure_warping, scene_of, step_time  # noqa: E402
from figures import ROOT  # noqa: E402
from multirate_page import write_page  # noqa: E402
from study import Ended, Tools, measured_here, progress  # noqa: E402

# Places of the probes at rest, each with the substeps of its part
PROBES = {
    "dinosaur": {"head": ("0.5,0.56,0", 15), "tail": ("-0.5,0.18,0", 8)},
    "flower": {"petal": ("-0.136,0.532,0.0227", 12), "leaf": ("0.195,0.11,0", 10)},
    "asian-dragon": {"horn": ("0.2495,0.3705,-0.05", 10), "tail": ("-0.5,0.194,0.018", 10)},
    "dragon": {"jaw": ("0.0952,0.0945,0", 10)},
    "drop": {"jaw": ("0.0952,0.1445,0", 10), "head": ("0.06,0.15,0", 1)},
}
SECTIONS = ("times", "motion", "solve", "symmetry", "naive", "sizes", "soft", "corotational", "schroeder", "drop")
FRAMES, STEPS, ROUNDS = (60, 6), (40, 3), (3, 1)
SIZES = [f"dragon-{i}" for i in range(1, 7)]
SEMI = {"integrator.method": "semi-implicit"}
END = {"integrator.options.interpolation": "end"}  # as the paper has it
# The rest as soft as the jaws, and a pull that moves both: the jaw hangs on what of the body swings with it, so that
# the size of the part counts.
SOFT = {"bodies[0].material.young": 1e5, "bodies[0].regions[0].material.young": 1e5, "forces[0].pull.force":
    "[0,-0.02,0.004]"}


def distances(points):
    return [math.hypot(*point) for point in points]


def rms(a, b):
    """Of the distance between two ways."""
    return math.sqrt(sum(math.dist(p, q) ** 2 for p, q in zip(a, b)) / len(a))


class Study:
    def __init__(self, rubato, quick):
        self.tools, self.which = Tools(rubato), 1 if quick else 0
        self.frames, self.steps, self.rounds = (both[self.which] for both in (FRAMES, STEPS, ROUNDS))

    def ways(self, scene, probes, settings, divide=1):
        """The probes' displacements at every frame, with `divide` steps in each."""
        step = json.loads((ROOT / scene).read_text())["time"]["step"]
        words = [word for place, _ in probes.values() for word in ("--probe", place)]
        if divide > 1:
            settings = {**settings, "time.step": repr(step / divide)}
        progress(f"{scene} {' '.join(map(str, settings.values()))}")
        run = self.tools.measure(scene, settings, "--steps", self.frames * divide, *words)
        if "failed" in run:
            raise Ended(f"{scene}: {run['failed']}")
        return {name: way[divide - 1::divide] for name, way in zip(probes, run["probes"])}, run

    def times(self, row):
        progress(f"{row}: times")
        multirate, single, run = measure_row(self.tools, row, self.steps, self.rounds)
        middle = sorted(m / s for m, s in zip(multirate, single))[len(single) // 2]
        warping = measure_warping(self.tools, row, self.steps, self.rounds)
        warp, beside = sorted(warping, key=lambda pair: pair[0] / pair[1])[len(warping) // 2]
        return {"multirate": sorted(multirate)[len(multirate) // 2], "single": sorted(single)[len(single) // 2],
            "ratio": middle,
                "warp": warp, "warp ratio": warp / beside,
                "first": run["steps"][0]["seconds"], "nodes": run["nodes"], "tets": run["tets"]}

    def motion(self, row, probes, ratio):
        """Ways with many rates, one long, one short, and one of equal cost; errors against the short one of each
        probe's part."""
        scene, equal = scene_of(row), max(1, round(ratio))
        many, _ = self.ways(scene, probes, {})
        ends, _ = self.ways(scene, probes, END)
        long, _ = self.ways(scene, probes, SEMI)
        same, _ = self.ways(scene, probes, SEMI, equal)
        shorts = {m: self.ways(scene, probes, SEMI, m)[0] for m in {m for _, m in probes.values()}}
        result = {}
        for name, (_, m) in probes.items():
            short = shorts[m][name]
            result[name] = {"equal": equal, "substeps": m, "size": rms(short, [[0, 0, 0]] * len(short)),
                            "many": distances(many[name]), "end": distances(ends[name]), "long": distances(long[name]),
                                "same": distances(same[name]),
                            "short": distances(short), "error many": rms(many[name], short),
                            "error end": rms(ends[name], short), "error long": rms(long[name], short),
                            "error same": rms(same[name], short)}
        return result

    def symmetry(self):
        """Fig. 2 and 3: the symmetrised matrix against the unsymmetric one."""
        probes, scene = PROBES["asian-dragon"], scene_of("asian-dragon")
        ways, times = {}, {}
        for solver in ("cholesky", "lu"):
            ways[solver], run = self.ways(scene, probes, {"integrator.solver": solver})
            times[solver] = step_time(run)
        return {"times": times, "ways": {s: distances(w["tail"]) for s, w in ways.items()},
                "difference": {n: rms(ways["cholesky"][n], ways["lu"][n])
                               / rms(ways["lu"][n], [[0, 0, 0]] * self.frames) for n in probes}}

    def naive(self):
        """Fig. 3: all short steps of all parts in one system, on the Asian dragon and on a smaller one."""
        result = {}
        for row in ("dragon-1", "asian-dragon"):
            progress(f"{row}: the naive method")
            words = [scene_of(row), "--steps", 10, "--threads", 2, "--set", "integrator.solver=lu",
                     "--set", "integrator.options.interpolation=end"]
            try:
                run = json.loads(self.tools.call("naive", words, seconds=900))
            except Ended as words:
                result[row] = {"ended": str(words)}
                continue
            result[row] = {"unknowns": run["unknowns"], "factor": run["factor_seconds"],
                           "seconds": statistics.median(run["seconds"]),
                           "lu": statistics.median(run["multirate_seconds"][1:]), "difference": run["difference"]}
        return result

    def sizes(self):
        """Fig. 7: ever larger parts, one probe, on a rest that is as soft as the jaws and on the stiff one of the
        scenes."""
        return {name: self.sizes_on(settings) for name, settings in (("soft", SOFT), ("stiff", {}))}

    def sizes_on(self, rest):
        probes = PROBES["dragon"]
        short, _ = self.ways(scene_of(SIZES[0]), probes, {**rest, **SEMI}, 10)
        long, _ = self.ways(scene_of(SIZES[0]), probes, {**rest, **SEMI})
        size = rms(short["jaw"], [[0, 0, 0]] * self.frames)
        result = {"short": distances(short["jaw"]), "long": distances(long["jaw"]),
                  "error long": rms(long["jaw"], short["jaw"]) / size}
        for row in SIZES:
            ways = {name: self.ways(scene_of(row), probes, {**rest, **settings})[0]["jaw"]
                    for name, settings in (("averaged", {}), ("end", END))}
            result[row] = {name: {"way": distances(way), "error": rms(way, short["jaw"]) / size}
                           for name, way in ways.items()}
        return result

    def soft(self):
        """The rest as soft as the part, so that the part's motion hangs on that of the rest; both ways in which it may
        move."""
        probes, scene = PROBES["dragon"], scene_of("dragon-1")
        short = self.ways(scene, probes, {**SOFT, **SEMI}, 10)[0]["jaw"]
        runs = {"multirate, averaged (default)": ({}, 1), "multirate, end (the paper's)": (END, 1),
                "single H": (SEMI, 1), "single H/2": (SEMI, 2)}
        return {name: rms(self.ways(scene, probes, {**SOFT, **settings}, divide)[0]["jaw"], short)
                / rms(short, [[0, 0, 0]] * self.frames) for name, (settings, divide) in runs.items()}

    def swinging(self):
        """The flower on a soft stem that all petals are pulled with: they hang on its swing, which takes the long
        step."""
        probes, scene = PROBES["flower"], scene_of("flower")
        swing = {"bodies[0].material.young": 1e8, "bodies[0].regions[0].material.young": 1.5e5,
                 "forces[0].pull.where": "\"seven petals\"", "forces[0].pull.force": "[0,0,0.3]"}
        short = self.ways(scene, probes, {**swing, **SEMI}, 12)[0]["petal"]
        runs = {"multirate, averaged (default)": ({}, 1), "multirate, end (the paper's)": (END, 1),
                "single H": (SEMI, 1), "single H/2": (SEMI, 2)}
        return {name: rms(self.ways(scene, probes, {**swing, **settings}, divide)[0]["petal"], short)
                / rms(short, [[0, 0, 0]] * self.frames) for name, (settings, divide) in runs.items()}

    def schroeder(self):
        """Fig. 9: the jaw with both couplings."""
        probes, scene = PROBES["dragon"], scene_of("dragon-schroeder")
        ways = {"schroeder": self.ways(scene, probes, {})[0]["jaw"],
                "multirate-euler": self.ways(scene, probes, {"integrator.method": "multirate-euler"})[0]["jaw"],
                "single H": self.ways(scene, probes, SEMI)[0]["jaw"],
                "single H/150": self.ways(scene, probes, SEMI, 150)[0]["jaw"]}
        exact = ways["single H/150"]
        return {"ways": {name: distances(way) for name, way in ways.items()},
                "errors": {name: rms(way, exact) / rms(exact, [[0, 0, 0]] * self.frames) for name, way in ways.items()}}

    def drop(self):
        """The jaw against the head of a dragon that falls, after the impact."""
        result = {}
        for row in ("dragon-drop", "dragon-drop-corotational"):
            probes, scene = PROBES["drop"], scene_of(row)
            times, opened = {}, {}
            for name, (settings, divide) in {"multirate": ({}, 1), "single H": (SEMI, 1), "single H/2": (SEMI, 2),
                                             "single H/4": (SEMI, 4), "single H/10": (SEMI, 10)}.items():
                ways, run = self.ways(scene, probes, settings, divide)
                opened[name] = distances([[a - b for a, b in zip(jaw, head)]
                                          for jaw, head in zip(ways["jaw"], ways["head"])])
                times[name] = divide * step_time(run)
            result[row] = {"opened": opened, "times": times}
        return result

    def corotational(self):
        """Fig. 8: the condensation made anew in every step."""
        row, probes = "dragon-corotational", PROBES["dragon"]
        scene = scene_of(row)
        many, run = self.ways(scene, probes, {})
        long, single = self.ways(scene, probes, SEMI)
        same, four = self.ways(scene, probes, SEMI, 4)
        short, _ = self.ways(scene, probes, SEMI, 10)
        return {"times": {"multirate": step_time(run), "single": step_time(single), "four": 4 * step_time(four)},
                "many": distances(many["jaw"]), "long": distances(long["jaw"]), "same": distances(same["jaw"]),
                "short": distances(short["jaw"]), "error many": rms(many["jaw"], short["jaw"]),
                "error same": rms(same["jaw"], short["jaw"])}

    def solve(self):
        """Bytes of L that the solves of a single-rate step read a second, each number of L twice, and what plain
        reading gives."""
        result = {}
        for row in ("dinosaur", "asian-dragon", "dragon-1"):
            settings = SINGLE["without tempi"]
            analysis = self.tools.measure(scene_of(row), settings, "--fill")["analysis"]
            run = self.tools.measure(scene_of(row), settings, "--steps", self.steps)
            result[row] = {"fill": analysis["fill"], "rate": analysis["read_rate"],
                           "seconds": run["stages"]["subcycle"] / self.steps}
        return result

    def measure(self, sections, kept):
        """The figures of these sections, put into those kept."""
        result = {**kept, "here": measured_here(), "frames": self.frames}
        if kept:
            result.setdefault("note", "Sections were measured one by one (`--only`).")
        for name in sections:
            if name == "times":
                result[name] = {row: self.times(row) for row in ROWS}
            elif name == "motion":
                result[name] = {row: self.motion(row, PROBES[row], result["times"][row]["ratio"])
                                for row in ("dinosaur", "flower", "asian-dragon")}
            elif name == "soft":
                result[name] = self.soft()
                result["swinging"] = self.swinging()
            else:
                result[name] = getattr(self, name)()
        return result


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--output")
    words.add_argument("--page-only", action="store_true")
    words.add_argument("--only", metavar="SECTION,…")
    asked = words.parse_args()
    kept = ROOT / "out" / "reproduction" / ("multirate-quick.json" if asked.quick else "multirate.json")
    sections = asked.only.split(",") if asked.only else SECTIONS
    if set(sections) - set(SECTIONS):
        sys.exit(f"reproduce-multirate: no such section; there are {', '.join(SECTIONS)}")
    if not asked.page_only:
        kept.parent.mkdir(parents=True, exist_ok=True)
        before = json.loads(kept.read_text()) if asked.only and kept.exists() else {}
        kept.write_text(json.dumps(Study(asked.rubato, asked.quick).measure(sections, before)))
    if set(SECTIONS) - set(json.loads(kept.read_text())):
        sys.exit("reproduce-multirate: the page needs all sections; these are kept, but some are missing")
    folder = asked.output or ROOT / ("out/reproduction" if asked.quick else "docs/reproduction")
    print(write_page(Tools(asked.rubato), folder, json.loads(kept.read_text()), ROWS))


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"reproduce-multirate: {words}")
