#!/usr/bin/env python3
"""together.py RUBATO [--resolution N]: modes and parts in one step, beside each alone.

The Asian dragon of scenes/multirate, corotational and coarser, falls on the ground. Horns and tail are soft and light
and take 10 steps in each step of the rest. How far the mean places of horns, tail and body are from those of a run of
bdf2 with short steps, root mean square over all frames, and what it costs: processor time on one thread.
"""

import argparse
import csv
import json
import math
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
END, FRAME, GROUND = 0.2, 0.01, -0.01  # [s], [s], [m]


def scene(resolution):
    made = json.loads((ROOT / "scenes" / "multirate" / "asian-dragon.json").read_text())
    dragon = made["bodies"][0]
    dragon["mesh"]["shape"]["asian-dragon"]["resolution"] = resolution
    for part in [dragon, *dragon["regions"]]:
        part["material"]["model"] = "corotational"
    dragon.pop("fixed", None)
    dragon.pop("damping", None)
    dragon["velocity"] = {"linear": [0, -1, 0]}
    probes = [{"name": part["name"], "where": part["where"], "body": "dragon"} for part in dragon["tempo"]]
    probes.append({"name": "body", "where": "everything", "body": "dragon"})
    return {"rubato": 1, "bodies": [dragon], "contact": {}, "obstacles": [{"plane": {"point": [0, GROUND, 0]}}],
            "forces": [{"gravity": {}}], "probes": probes, "time": {"step": FRAME, "frame": FRAME, "end": END}}


def run(rubato, folder, made, method, step, options=None):
    made = json.loads(json.dumps(made))
    made["time"]["step"] = step
    made["integrator"] = {"method": method, **({"options": options} if options else {})}
    path, out = folder / "scene.json", folder / "out"
    path.write_text(json.dumps(made))
    shutil.rmtree(out, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = subprocess.run([rubato, "run", str(path), "-o", str(out), "-q", "-t", "1"], capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if said.returncode:
        return None, seconds, said.stderr.strip()[-200:]
    rows = list(csv.DictReader((out / "probes.csv").open()))
    places = [[float(row[key]) for key in row if key.split(".")[-1] in ("x", "y", "z")] for row in rows]
    return places, seconds, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubato", nargs="?", default="build/rubato")
    parser.add_argument("--resolution", type=float, default=40)
    parser.add_argument("--fine", type=float, default=1e-4, help="step of the reference [s]")
    arguments = parser.parse_args()
    made = scene(arguments.resolution)
    with tempfile.TemporaryDirectory(prefix="rubato-together-") as name:
        folder = pathlib.Path(name)
        reference, seconds, said = run(arguments.rubato, folder, made, "bdf2", arguments.fine)
        if not reference:
            sys.exit(said)
        print(f"reference: {seconds:.1f} s")
        for method, options in (("semi-implicit", None), ("siere", {"modes": 20}), ("multirate-euler", None),
                                ("multirate-euler", {"modes": 20})):
            for step in (0.01, 0.005, 0.0025, 0.00125, 0.000625):
                places, seconds, said = run(arguments.rubato, folder, made, method, step, options)
                words = f"{method:<16} {json.dumps(options) if options else '':<14} h = {step:<7} {seconds:6.2f} s  "
                if not places:
                    print(words + said)
                    continue
                square = [sum((a - b) ** 2 for a, b in zip(row, other)) for row, other in zip(places, reference)]
                print(words + f"off by {1e3 * math.sqrt(sum(square) / len(square)):.3f} mm")
    return 0


if __name__ == "__main__":
    sys.exit(main())
