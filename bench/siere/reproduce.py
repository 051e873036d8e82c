#!/usr/bin/env python3
"""reproduce.py RUBATO [--quick] [--output FOLDER] [--page-only]: what the siere paper found, measured anew.

Runs the scenes of scenes/siere, keeps the figures in out/reproduction/siere.json, and writes siere.md with its plots
(docs/reproduction; --quick: out/reproduction). --page-only writes the page from the figures kept.
Chen, Sheen, Ascher, Pai: SIERE: a hybrid semi-implicit exponential integrator for efficiently simulating stiff deformable
objects. 2020.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import ROOT  # noqa: E402
from siere_page import write_page  # noqa: E402
from study import THREADS, Ended, Tools, limit_memory, measured_here, progress  # noqa: E402

SHORT = {"SI": "semi-implicit", "SIERE": "siere", "ERE": "ere", "BE": "backward-euler"}
SHELL = EDGE = CORE = "bodies[0].regions[0].material.young"
BASE = "bodies[0].material.young"

# Rows of the paper's Table 2: scene, peak stiffness, settings, frames (to be measured, and with --quick), what the paper has for SI,
# SIERE and ERE, and BE where its text has it, in seconds for 100 frames. "fails": unstable or diverged; "x": stopped, too slow.
ROWS = [
    ("ball-hang", 1e8, {}, (100, 4), (44, 97, 36, None)),
    ("ball-hang", 1e10, {SHELL: 1e10}, (100, 4), (42, 96, 112, None)),
    ("cuboid-untwist", 1e5, {}, (100, 8), ("fails", 110, "fails", None)),
    ("cuboid-untwist-arap", 1e5, {}, (150, 8), ("fails", 58, None, 86)),
    ("honeycomb", 1e8, {}, (100, 4), (85, 154, 537, None)),
    ("honeycomb", 1e10, {EDGE: 1e10}, (100, 4), (84, 156, 5840, None)),
    ("moebius", 1e8, {CORE: 1e8, BASE: 1e6}, (60, 2), (162, 223, 5780, None)),
    ("moebius", 1e10, {}, (60, 2), (154, 260, "x", None)),
    ("rope-uncoil", 1e6, {}, (150, 2), ("fails", 163, "x", 314)),
    ("eiffel", 3e7, {}, (60, 2), (631, 2315, "x", None)),
    ("tree", 5e7, {}, (100, 2), ("fails", 2690, "x", None)),
    ("bridge", 1e10, {}, (60, 2), (1375, 4585, "x", None)),
    ("body", 1.6e4, {}, (50, 2), (5209, 9672, 79367, None)),
]
QUICK = {"ball-hang", "cuboid-untwist", "cuboid-untwist-arap", "honeycomb"}  # the scenes that --quick looks at
SECONDS = {"SI": (60, 10), "SIERE": (90, 10), "ERE": (25, 3), "BE": (25, 3)}  # after so many a run is ended, and its frames count

# Energies over time: scene, settings (coarser than in the table where that would take too long), frames, methods.
SWINGS = [
    ("ball-hang", {}, (100, 5), ("SI", "SIERE", "ERE", "BE")),
    ("ball-bounce", {}, (300, 5), ("SI", "SIERE")),
    ("honeycomb", {}, (100, 5), ("SI", "SIERE")),
    ("moebius", {"bodies[0].mesh.shape.moebius.cells_around": 54, "bodies[0].mesh.shape.moebius.cells_across": 13}, (100, 5), ("SI", "SIERE")),
    ("eiffel", {"bodies[0].mesh.shape.eiffel.resolution": 60}, (100, 3), ("SI", "SIERE")),
    ("bridge", {"bodies[0].mesh.shape.bridge.resolution": 80}, (200, 3), ("SI", "SIERE")),
    ("body", {"bodies[0].mesh.shape.body.resolution": 55}, (200, 3), ("SI", "SIERE")),
    ("cuboid-untwist-arap", {}, (150, 5), ("SIERE", "BE")),
]
SWING_SECONDS = (90, 10)
MODES = ([5, 6, 10, 20], [5, 6])  # of the untwisting cuboid
STIFFNESSES = ([1e6, 1e7, 1e8, 1e9, 1e10], [1e6, 1e8])
STIFFNESS_FRAMES, STIFFNESS_SECONDS = (20, 3), (40, 5)


def words_of(settings):
    return [word for path, value in settings.items() for word in ("--set", f"{path}={json.dumps(value)}")]


def read_energies(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in ("time", "kinetic", "elastic", "total")}


class Study:
    def __init__(self, rubato, quick):
        self.rubato, self.which = pathlib.Path(rubato).resolve(), 1 if quick else 0

    def amount(self, both):
        return both[self.which]

    def chosen(self, rows):
        return [row for row in rows if not self.which or row[0] in QUICK]

    def run(self, scene, method, settings, frames, seconds):
        """One run: seconds per frame of the steps alone, outcome, energies. A run that is ended counts with the frames it has."""
        path = ROOT / "scenes" / "siere" / f"{scene}.json"
        told = json.loads(path.read_text())
        step = told["time"]["step"]
        options = {} if method != "SIERE" else {"integrator.options": {**told["integrator"]["options"], **settings.pop("options", {})}}
        chosen = {"integrator.method": SHORT[method], "integrator.options": {}, **options, "time.frame": step, "output.vtu": False,
                  "output.checkpoint_every": 0, **settings}
        progress(f"{scene}, {method} {' '.join(map(str, settings.values()))}")
        with tempfile.TemporaryDirectory(prefix="rubato-siere-") as folder:
            command = [self.rubato, "run", path, "-o", folder, "-q", "--threads", THREADS, "--frames", frames, *words_of(chosen)]
            process = subprocess.Popen([str(word) for word in command], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       text=True, preexec_fn=limit_memory)
            try:
                said = process.communicate(timeout=seconds)[1]
            except subprocess.TimeoutExpired:
                process.terminate()  # it stops after the step it is at
                try:
                    said = process.communicate(timeout=seconds)[1]
                except subprocess.TimeoutExpired:
                    process.kill()
                    said = process.communicate()[1]
            return result_of(pathlib.Path(folder), process.returncode, said, frames, seconds)

    # ---- The measurements, one per section of the page

    def table(self):
        rows = []
        for scene, stiffness, settings, frames, paper in self.chosen(ROWS):
            runs = {m: self.run(scene, m, dict(settings), self.amount(frames), self.amount(SECONDS[m])) for m in SHORT}
            rows.append({"scene": scene, "stiffness": stiffness, "frames": self.amount(frames), "paper": dict(zip(SHORT, paper)),
                         "runs": runs})
        return rows

    def swings(self):
        return [{"scene": scene, "coarser": bool(settings),
                 "runs": {m: self.run(scene, m, dict(settings), self.amount(frames), self.amount(SWING_SECONDS)) for m in methods}}
                for scene, settings, frames, methods in self.chosen(SWINGS)]

    def modes(self):
        """The untwisting cuboid with several numbers of modes; and the paper's own formula, which does not project."""
        frames, seconds = (150, 5)[self.which], self.amount(SWING_SECONDS)
        runs = {f"s = {s}": self.run("cuboid-untwist", "SIERE", {"options": {"modes": s}}, frames, seconds) for s in self.amount(MODES)}
        factored = self.run("cuboid-untwist", "SIERE", {"options": {"indefinite": "factor"}}, frames, seconds)
        cut = self.run("cuboid-untwist", "SI", {"integrator.max_cuts": 8}, frames, seconds)
        return {"runs": runs, "factored": factored, "cut": cut}

    def stiffnesses(self):
        """A ball of one material, from soft to very stiff."""
        rows = []
        for young in self.amount(STIFFNESSES):
            settings = {BASE: young, SHELL: young}
            rows.append({"young": young, "runs": {m: self.run("ball-hang", m, dict(settings), self.amount(STIFFNESS_FRAMES),
                                                              self.amount(STIFFNESS_SECONDS)) for m in ("SI", "SIERE", "ERE")}})
        return rows


def result_of(folder, code, said, frames, seconds):
    report = folder / "run.json"
    if code < 0 or not report.exists():
        return {"outcome": "ended" if code < 0 else "failed", "why": said.strip().split("\n")[0], "frames": 0, "per_frame": None,
                "limit": seconds, "nodes": None, "tets": None, "energies": None, "projected": 0, "time": None}
    told = json.loads(report.read_text())
    failed = "failure" in told  # a run that was told to stop has none
    done = told["frame"]
    bodies = told["bodies"]
    return {"outcome": "failed" if failed else "finished" if done >= frames else "ended", "why": said.strip().split("\n")[0],
            "frames": done, "per_frame": told["seconds"]["step"] / done if done and not failed else None, "limit": seconds,
            "nodes": sum(b["nodes"] for b in bodies), "tets": sum(b.get("tets", 0) for b in bodies),
            "energies": read_energies(folder / "energy.csv"), "projected": told.get("fallbacks", {}).get("projected", 0), "time": told["time"]}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--output", type=pathlib.Path)
    words.add_argument("--page-only", action="store_true")
    asked = words.parse_args()
    study, tools = Study(asked.rubato, asked.quick), Tools(asked.rubato)
    kept = ROOT / "out" / "reproduction" / ("siere-quick.json" if asked.quick else "siere.json")
    if not asked.page_only:
        data = {"here": measured_here(), "quick": asked.quick, "table": study.table(), "swings": study.swings(), "modes": study.modes(),
                "stiffnesses": study.stiffnesses()}
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(data))
    elif not kept.exists():
        sys.exit(f"reproduce-siere: {kept} is not there yet; run it once without --page-only")
    folder = asked.output or (kept.parent if asked.quick else ROOT / "docs" / "reproduction")
    print(write_page(tools, folder, json.loads(kept.read_text())))


if __name__ == "__main__":
    try:
        main()
    except Ended as words:
        sys.exit(f"reproduce-siere: {words}")
