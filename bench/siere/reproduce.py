#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--only SECTION…] [--output FOLDER] [--page-only]: what the siere paper found, measured
anew.

Runs the scenes of scenes/siere and writes siere.md with its plots (docs/reproduction; --quick: out/reproduction).
--only table, paper, energies, modes or stiffness measures these sections and leaves the others of the page as they are:
after work on speed, `make reproduce-siere ARGS="--only table stiffness"`. The figures are kept in
out/reproduction/siere.json; --page-only writes the sections that are there anew, without a run.

All runs are on one thread and take their time in seconds of the processor, which is what the paper reports and, unlike
the clock, does not depend on what else the machine does. bench.py has the clock's times, on two threads. Chen, Sheen,
Ascher, Pai: SIERE: a hybrid semi-implicit exponential integrator for efficiently simulating stiff deformable objects.
2020.
"""

import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import ROOT  # noqa: E402
from siere_page import SECTIONS, write_page  # noqa: E402
from study import Ended, TooLong, Tools, measure_sections, progress, section_places, section_words  # noqa: E402

SHORT = {"SI": "semi-implicit", "SIERE": "siere", "ERE": "ere", "BE": "backward-euler"}
SHELL = EDGE = CORE = "bodies[0].regions[0].material.young"
BASE = "bodies[0].material.young"

# Rows of the paper's Table 2: scene, peak stiffness, settings, frames (to be measured, and with --quick), what the
# paper has for SI, SIERE and ERE, and BE where its text has it, in seconds for 100 frames. "fails": unstable or
# diverged; "x": stopped, too slow. A step costs much the same from frame to frame, so few frames are enough where
# nothing fails.
ROWS = [
    ("ball-hang", 1e8, {}, (20, 4), (44, 97, 36, None)),
    ("ball-hang", 1e10, {SHELL: 1e10}, (20, 4), (42, 96, 112, None)),
    ("cuboid-untwist", 1e5, {}, (100, 8), ("fails", 110, "fails", None)),
    ("cuboid-untwist-arap", 1e5, {}, (150, 8), ("fails", 58, None, 86)),
    ("honeycomb", 1e8, {}, (20, 4), (85, 154, 537, None)),
    ("honeycomb", 1e10, {EDGE: 1e10}, (20, 4), (84, 156, 5840, None)),
    ("moebius", 1e8, {CORE: 1e8, BASE: 1e6}, (20, 2), (162, 223, 5780, None)),
    ("moebius", 1e10, {}, (20, 2), (154, 260, "x", None)),
    ("rope-uncoil", 1e6, {}, (100, 2), ("fails", 163, "x", 314)),
    ("eiffel", 3e7, {}, (15, 2), (631, 2315, "x", None)),
    ("tree", 5e7, {}, (60, 2), ("fails", 2690, "x", None)),
    ("bridge", 1e10, {}, (10, 2), (1375, 4585, "x", None)),
    ("body", 1.6e4, {}, (6, 2), (5209, 9672, 79367, None)),
]
WITH_BE = {"ball-hang", "cuboid-untwist", "cuboid-untwist-arap", "honeycomb", "rope-uncoil"}
QUICK = {"ball-hang", "cuboid-untwist", "cuboid-untwist-arap", "honeycomb"}  # the scenes that --quick looks at
BUDGET = {"SI": (20, 5), "SIERE": (45, 5), "ERE": (4, 1), "BE": (6, 3)}  # after so many seconds no further step is made

# The paper's own material and loads, where it has them: scene, load, settings, frames. "" is the load of the scene,
# which is then the paper's or leaves nothing to choose. The paper has no number for the rope's load nor for the wind:
# gravity alone, and the wind that eiffel and bridge have here, are the natural choices.
ROPE = {"forces[0].gravity.acceleration": [0, -9.80665, 0]}
WIND = {"forces[0].wind.velocity": [40, 0, 8]}
STABLE, PLAIN = "stable-neo-hookean", "neo-hookean"
OWN = [
    ("ball-hang", PLAIN, "", {}, (20, 4)),
    ("cuboid-untwist", PLAIN, "", {}, (100, 8)),
    ("honeycomb", PLAIN, "", {}, (20, 4)),
    ("body", PLAIN, "", {}, (6, 2)),
    ("rope-uncoil", PLAIN, "our 4 g", {}, (100, 2)),
    ("rope-uncoil", STABLE, "1 g", ROPE, (200, 2)),
    ("rope-uncoil", PLAIN, "1 g", ROPE, (200, 2)),
    ("tree", PLAIN, "our 200 m/s", {}, (60, 2)),
    ("tree", STABLE, "40 m/s", WIND, (100, 2)),
    ("tree", PLAIN, "40 m/s", WIND, (100, 2)),
]
OWN_BUDGET = {"SI": (60, 5), "SIERE": (60, 5), "BE": (6, 3)}  # whether a run fails counts here, not only what it costs
STIFF_SHELL = {"ball-hang", "honeycomb"}  # these have a second material
TIGHT = 1e-6  # residual of modes that count as exact

# Energies over time: scene, settings (coarser than in the table where that would take too long), frames, methods.
SWINGS = [
    ("ball-hang", {}, (100, 5), ("SI", "SIERE", "ERE", "BE")),
    ("ball-bounce", {}, (300, 5), ("SI", "SIERE")),
    ("honeycomb", {}, (100, 5), ("SI", "SIERE")),
    ("moebius", {"bodies[0].mesh.shape.moebius.cells_around": 54, "bodies[0].mesh.shape.moebius.cells_across": 13},
     (100, 5), ("SI", "SIERE")),
    ("eiffel", {"bodies[0].mesh.shape.eiffel.resolution": 50}, (100, 3), ("SI", "SIERE")),
    ("bridge", {"bodies[0].mesh.shape.bridge.resolution": 60}, (200, 3), ("SI", "SIERE")),
    ("body", {"bodies[0].mesh.shape.body.resolution": 60}, (250, 3), ("SI", "SIERE")),
    ("cuboid-untwist-arap", {}, (150, 5), ("SI", "SIERE", "BE")),
]
SWING_BUDGET = (60, 5)
MODES = ([5, 6, 10, 20], [5, 6])  # of the untwisting cuboid
STIFFNESSES = ([1e6, 1e7, 1e8, 1e9, 1e10], [1e6, 1e8])
STIFFNESS_FRAMES, STIFFNESS_BUDGET = (40, 3), (8, 3)


class Study:
    def __init__(self, tools, quick):
        self.tools, self.which = tools, 1 if quick else 0

    def amount(self, both):
        return both[self.which]

    def chosen(self, rows):
        return [row for row in rows if not self.which or row[0] in QUICK]

    def run(self, scene, method, settings, frames, budget):
        """One run: seconds of the first frame and of a later one, outcome, energies. One without budget left counts
        with its frames."""
        path = ROOT / "scenes" / "siere" / f"{scene}.json"
        told = json.loads(path.read_text())
        options = {**told["integrator"]["options"], **settings.pop("options", {})} if method == "SIERE" else {}
        chosen = {"integrator.method": SHORT[method], "integrator.options": options, **settings}
        progress(f"{scene}, {method} {' '.join(map(str, settings.values()))}")
        most = 2 * budget + 4  # a single step may take long, and setting up takes a little
        try:
            found = self.tools.measure(path, {key: json.dumps(value) for key, value in chosen.items()}, "--threads", 1,
                "--steps", frames,
                                       "--budget", budget, "--energies", processor=most)
        except TooLong as words:
            return {"outcome": "ended", "why": str(words), "frames": 0, "first": None, "later": None, "median": None,
                "limit": most,
                    "nodes": None, "tets": None, "energies": None, "projected": 0, "time": None}
        return result_of(found, frames, most)

    # ---- The measurements, one per section of the page

    def table(self):
        rows = []
        for scene, stiffness, settings, frames, paper in self.chosen(ROWS):
            runs = {m: self.run(scene, m, dict(settings), self.amount(frames), self.amount(BUDGET[m])) if m != "BE"
                    or scene in WITH_BE else None for m in SHORT}
            for run in runs.values():
                if run:
                    del run["energies"]
            rows.append({"scene": scene, "stiffness": stiffness, "frames": self.amount(frames),
                         "paper": dict(zip(SHORT, paper)), "runs": runs})
        return rows

    def paper(self):
        """The scenes whose material or load the table above has replaced."""
        rows = []
        for scene, material, load, settings, frames in self.chosen(OWN):
            models = {f"bodies[0].{part}material.model": material
                      for part in ("", "regions[0].")[:2 if scene in STIFF_SHELL else 1]}
            methods = ("SI", "SIERE", "BE") if scene in WITH_BE else ("SI", "SIERE")
            runs = {m: self.run(scene, m, {**settings, **models}, self.amount(frames), self.amount(OWN_BUDGET[m]))
                    for m in methods}
            for run in runs.values():
                del run["energies"]
            rows.append({"scene": scene, "material": material, "load": load, "frames": self.amount(frames),
                         "runs": runs})
        return rows

    def energies(self):
        return [{"scene": scene, "coarser": bool(settings),
                 "runs": {m: self.run(scene, m, dict(settings), self.amount(frames), self.amount(SWING_BUDGET))
                          for m in methods}} for scene, settings, frames, methods in self.chosen(SWINGS)]

    def modes(self):
        frames, budget = (150, 5)[self.which], self.amount(SWING_BUDGET)
        runs = {f"s = {s}": self.run("cuboid-untwist", "SIERE", {"options": {"modes": s}}, frames, budget)
                for s in self.amount(MODES)}
        factored = self.run("cuboid-untwist", "SIERE", {"options": {"indefinite": "factor"}}, frames, budget)
        cut = self.run("cuboid-untwist", "SI", {"integrator.max_halvings": 8}, frames, budget)
        exact = {name: self.run(name, "SIERE", {"options": {"tolerance": TIGHT}}, frames, budget)
                 for name in ("cuboid-untwist", "honeycomb")}
        loose = {"cuboid-untwist": runs["s = 5"], "honeycomb": self.run("honeycomb", "SIERE", {}, frames, budget)}
        return {"runs": runs, "factored": factored, "cut": cut, "exact": exact, "loose": loose, "tight": TIGHT}

    def stiffness(self):
        """A ball of one material, from soft to very stiff."""
        rows = []
        for young in self.amount(STIFFNESSES):
            settings = {BASE: young, SHELL: young}
            rows.append({"young": young,
                         "runs": {m: self.run("ball-hang", m, dict(settings), self.amount(STIFFNESS_FRAMES),
                                              self.amount(STIFFNESS_BUDGET)) for m in ("SI", "SIERE", "ERE")}})
        return rows


def result_of(found, frames, most):
    failed = found.get("failed")
    good = found["steps"][:-1] if failed else found["steps"]
    spent = [step["processor_seconds"] for step in good]
    later = sum(spent[1:]) / (len(spent) - 1) if len(spent) > 1 else None
    return {"outcome": "failed" if failed else "finished" if len(good) >= frames else "ended",
            "why": f"{failed['outcome']} in stage \"{failed['stage']}\"" if failed else "", "frames": len(good),
            "first": spent[0] if spent else None, "later": later, "median": statistics.median(spent) if spent else None,
                "limit": most,
            "nodes": found["nodes"], "tets": found["tets"],
            "energies": found["energies"], "projected": sum(step["projected"] for step in good),
            "time": len(good) * found["step"]}


def main():
    asked = section_words(__doc__, SECTIONS)
    study = Study(Tools(asked.rubato), asked.quick)
    kept, folder = section_places("siere", asked)
    measure_sections(study, asked, kept, lambda data: write_page(study.tools, folder, data, asked.quick))


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"reproduce-siere: {words}")
