#!/usr/bin/env python3
"""random_runs.py RUBATO [--count N] [--seed S] [--seconds T] [--obstacles]: random scenes with async-contact, each
judged exactly.

Layers of any stiffness (8 decades) and thickness (4 decades), speeds up to 1000 m/s, shells, tets, spikes of slivers,
particles and walls that are driven: every run must finish or stop with an outcome, and `rubato verify` must find no
intersection in any of its states; every fourth one is also judged from event to event, where nodes move straight on.
--obstacles adds one to three spheres, rods, boxes and planes that move; scripts by which they would meet what is driven
are refused, which counts as an ending. Progress has a floor, 5000 moments a step, so that no run takes long; one that
takes more than T seconds all the same is ended and counts for itself. Prints one line per kind of ending.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

EVERYWHERE = {"box": {"min": [-99, -99, -99], "max": [99, 99, 99]}}


def body(rng, number, place, speed, kind=None):
    material = {"young": 10 ** rng.uniform(3, 6), "poisson": 0.3, "density": rng.uniform(200, 2000)}
    shell = {"thickness": 10 ** rng.uniform(-3.5, -2), "bending": 10 ** rng.uniform(-6, -3)}
    kind = kind or rng.choice(["cloth", "ball", "cuboid", "spikes", "wall", "particles"])
    spin = {"axis": [rng.uniform(-1, 1) or 1, rng.uniform(-1, 1), rng.uniform(-1, 1)], "degrees": rng.uniform(0, 360)}
    made = {"name": f"{kind}-{number}", "transform": {**spin, "translate": place}, "material": material}
    cells = rng.randint(2, 6)
    if kind == "cloth":
        made.update(mesh={"shape": {"cloth": {"length": 0.3, "width": 0.3, "cells_along": cells,
                                              "cells_across": cells}}}, shell=shell)
    elif kind == "ball":
        made.update(mesh={"shape": {"sphere": {"radius": 0.15, "rings": cells, "segments": cells + 2}}}, shell=shell)
    elif kind == "cuboid":
        made.update(mesh={"shape": {"cuboid": {"size": [0.2, 0.2, 0.2], "cells": [1, rng.randint(1, 2), 1]}}})
    elif kind == "particles":
        made.update(mesh={"shape": {"cloth": {"length": 0.3, "width": 0.3, "cells_along": cells,
                                              "cells_across": cells}}},
                    particles={"radius": 0.01, "mass": rng.uniform(0.01, 1), "speed": rng.uniform(0, 5)})
    else:
        shape = {"spikes": {"size": 0.25, "height": 0.15, "count": 2}} if kind == "spikes" else {
            "cloth": {"length": 0.3, "width": 0.3, "cells_along": 1, "cells_across": 1}}
        towards = [-0.5 * speed * x * rng.uniform(0, 1) for x in place]
        made.update(mesh={"shape": shape}, shell=shell,
                    driven=[{"where": EVERYWHERE,
                             "motions": [{"velocity": {"velocity": towards, "until": 0.5 / speed}}]}])
    return made


def obstacle(rng, place, speed):
    """Something round or square at a place, on its way to the middle, or a floor that rises; it turns, if it can."""
    kind = rng.choice(["sphere", "capsule", "box", "plane"])
    motions = [{"velocity": {"velocity": [-0.5 * speed * x * rng.uniform(0, 1) for x in place], "until": 0.5 / speed}}]
    if rng.random() < 0.5 and kind != "plane":
        motions.append({"rotation": {"point": place, "axis": [rng.uniform(-1, 1) or 1, rng.uniform(-1, 1), 1],
                                     "rate": rng.uniform(-1, 1) * speed}})
    if kind == "plane":
        return {"plane": {"point": [0, -0.9, 0], "normal": [rng.uniform(-0.1, 0.1), 1, rng.uniform(-0.1, 0.1)],
                          "motions": [{"velocity": {"velocity": [0, 0.5 * speed, 0], "until": 0.5 / speed}}]}}
    if kind == "sphere":
        return {"sphere": {"centre": place, "radius": rng.uniform(0.02, 0.15), "motions": motions}}
    if kind == "capsule":
        half = [rng.uniform(-0.1, 0.1) for _ in place]
        return {"capsule": {"a": [x - d for x, d in zip(place, half)], "b": [x + d for x, d in zip(place, half)],
            "radius": rng.uniform(0.005, 0.05), "motions": motions}}
    half = [rng.uniform(0.01, 0.1) for _ in place]
    return {"box": {"min": [x - d for x, d in zip(place, half)], "max": [x + d for x, d in zip(place, half)],
        "motions": motions}}


def scene(rng, obstacles=None):
    """obstacles: a source of random numbers for them, so that bodies stay as they are without"""
    speed = 10 ** rng.uniform(0.3, 3)
    places = [[0.45 * x, 0.45 * y, 0.45 * z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    bodies = [body(rng, i, place, speed) for i, place in enumerate(rng.sample(places, rng.randint(2, 4)))]
    if all("driven" in b for b in bodies):
        bodies.append(body(rng, len(bodies), [0.01, 1.2, 0], speed, "ball"))
    for b in bodies:  # towards the middle
        if "driven" not in b:
            distance = max(sum(x * x for x in b["transform"]["translate"]) ** 0.5, 0.1)
            b["velocity"] = {"linear": [-speed * x / distance + rng.uniform(-0.1, 0.1) * speed
                                        for x in b["transform"]["translate"]]}
    taken = [b["transform"]["translate"] for b in bodies]
    spare = [place for place in places if place not in taken and place != [0, 0, 0]]
    placed = [obstacle(obstacles, place, speed)
              for place in obstacles.sample(spare, obstacles.randint(1, 3))] if obstacles else []
    step = min(2e-3, 0.01 / speed)  # a centimetre
    options = {"stiffness": 10 ** rng.uniform(-3, 5), "thickness": 10 ** rng.uniform(-5, -1), "floor": 1e-12,
        "max_moments": 5000,
               "restitution": rng.choice([1, 1, 0.5, 0]), "friction": rng.choice([0, 0, 0.3])}
    # Particles that start closer than they are thick only push each other; nothing may start crossing.
    return {"rubato": 1, "bodies": bodies, "obstacles": placed,
            "time": {"step": step, "frame": 5 * step, "end": 70 * step},
            "integrator": {"method": "async-contact", "options": options}, "output": {"checkpoint_every": 0}}


def run(rubato, made, folder, seconds, events):
    path = folder / "scene.json"
    path.write_text(json.dumps(made, indent=1))
    command = [rubato, "run", str(path), "-o", str(folder / "run"), "-q", "--threads",
               "1"] + (["--verify-events"] if events else [])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        done = None
    if done and done.returncode not in (0, 1, 3) and not (folder / "run" / "run.json").exists():
        return f"exit code {done.returncode}: {done.stderr.strip()[:200]}", None
    if not (folder / "run" / "run.json").exists():
        said = done.stderr.strip() if done else ""
        known = ("both go where they are told", "touch or cross at the start", "every node is fixed")
        return "refused: " + next((words for words in known if words in said),
                                  re.sub(r"[\d.eg+-]+", "N", said)[:60]) if done else "not begun", 0
    report = json.loads((folder / "run" / "run.json").read_text())
    ending = "out of time" if done is None else report["status"]
    if ending == "failed":
        ending = "stopped: " + report.get("failure", {}).get("outcome", report.get("problem", "?"))
    judged = subprocess.run([rubato, "verify", str(folder / "run")], capture_output=True, text=True)
    found = re.search(r"(no|\d+) intersections? (?:\(\d+ only touching\) )?in (\d+) states", judged.stdout)
    count = 0 if not found or found.group(1) == "no" else int(found.group(1))
    seen = report.get("verify", {"intersections": 0, "on_ways": 0, "states": 0})
    return ending, (count + seen["intersections"] + seen["on_ways"],
                    (int(found.group(2)) if found else 0) + seen["states"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubato")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first run, to go on where another call "
                                                             "ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--obstacles", action="store_true", help="with obstacles that move")
    parser.add_argument("--events", type=int, default=4, help="every so many runs are also verified from event to "
                                                              "event; 0: none")
    arguments = parser.parse_args()
    endings, states, bad = collections.Counter(), 0, []
    for i in range(arguments.first, arguments.first + arguments.count):
        with tempfile.TemporaryDirectory() as folder:
            made = scene(random.Random(1000003 * arguments.seed + i),
                         random.Random(f"{arguments.seed} {i}") if arguments.obstacles else None)
            ending, judged = run(arguments.rubato, made, pathlib.Path(folder), arguments.seconds,
                                 arguments.events and i % arguments.events == 0)
        endings[ending] += 1
        if isinstance(judged, tuple):
            states += judged[1]
            if judged[0]:
                bad.append(i)
        elif judged is None:
            bad.append(i)
    for ending, count in endings.most_common():
        print(f"{count:6d} {ending}")
    print(f"{arguments.count} runs, {states} states judged, {len(bad)} runs with intersections or "
          f"crashes{': ' + str(bad[:20]) if bad else ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
