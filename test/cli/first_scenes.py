#!/usr/bin/env python3
"""first_scenes.py RUBATO SOURCE: scenes as new users write them, without method and step: README's jelly in three
materials and four sizes, a cloth on a ball, two balls, a stiff tool on soft tissue. Each must end where a fine
reference does, within three times the error that rubato chose for, and say what was chosen and why."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUBATO, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SOFT, RUBBER, HARD = {}, {"model": "neo-hookean", "young": 1e6, "density": 1100}, {"young": 2e8, "density": 700}


def jelly(material, size):
    """README's, coarser, for a shorter time; size: of 1, how large it is."""
    scene = json.loads(re.search(r"```json\n(.*?)```", (SOURCE / "README.md").read_text(), re.S).group(1))
    body = scene["bodies"][0]
    body["mesh"]["shape"]["cuboid"] = {"size": [0.2 * size, 0.1 * size, 0.1 * size], "cells": [6, 3, 3]}
    body["material"].update(material)
    scene["time"]["end"] = 0.2
    return scene


def touching(bodies, end, **more):
    return {"rubato": 1, "bodies": bodies, "contact": {}, "forces": [{"gravity": {}}], "time": {"frame": 0.04,
            "end": end}, **more}


def ball(name, height, radius=0.1, **more):
    return {"name": name, "mesh": {"shape": {"ball": {"radius": radius, "layers": 2}}},
            "transform": {"translate": [0, height, 0]}, "material": {"young": 1e5}, **more}


SCENES = {f"jelly-{name}-{size:g}": jelly(material, size)
          for name, material in (("soft", SOFT), ("rubber", RUBBER), ("hard", HARD)) for size in (0.1, 0.5, 1, 4)}
SCENES["cloth on a ball"] = touching(
    [{"name": "cloth", "mesh": {"shape": {"cloth": {"length": 0.6, "width": 0.6, "cells_along": 8, "cells_across": 8}}},
      "shell": {"thickness": 0.002}, "material": {"young": 1e5, "density": 300},
      "transform": {"translate": [0, 0.25, 0]}}], 0.24,
    obstacles=[{"sphere": {"centre": [0, 0, 0], "radius": 0.2}}])
FOOT = [{"box": {"min": [0, 0, 0], "max": [1, 0.1, 1], "relative": True}}]
SCENES["two balls"] = touching([ball("low", 0.11, fixed=FOOT), ball("high", 0.35)], 0.16)
SCENES["a tool on tissue"] = touching(
    [{"name": "tissue", "mesh": {"shape": {"cuboid": {"size": [0.2, 0.06, 0.2], "cells": [5, 2, 5]}}},
      "material": {"young": 5e3, "poisson": 0.45}, "fixed": ["bottom"]},
     {"name": "tool", "mesh": {"shape": {"cuboid": {"size": [0.05, 0.1, 0.05], "cells": [1, 2, 1]}}},
      "material": {"young": 1e8}, "transform": {"translate": [0, 0.085, 0]},
      "driven": [{"where": "top", "motions": [{"velocity": {"velocity": [0, -0.1, 0], "until": 0.16}}]}]}], 0.2)


def run(scene, folder, *words):
    path = pathlib.Path(f"{folder}.json")
    path.write_text(json.dumps({**scene, "output": {"vtu": False, "obj": True}}))
    done = subprocess.run([RUBATO, "run", path, "-o", folder, "--threads", "1", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"{folder} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout, json.loads((folder / "run.json").read_text())


def surface(folder, frame):
    """Nodes, and for each body those of its triangles"""
    points, bodies = [], {}
    for line in (folder / "obj" / f"frame_{frame:06d}.obj").read_text().splitlines():
        kind, *words = line.split()
        if kind == "v":
            points.append(tuple(map(float, words)))
        elif kind == "g":
            own = bodies.setdefault(words[0], set())
        elif kind == "f":
            own.update(int(word.split("/")[0]) - 1 for word in words)
    return points, bodies


def size_of(points):
    return math.dist([min(axis) for axis in zip(*points)], [max(axis) for axis in zip(*points)])


def furthest(one, other, start):
    """Of all nodes, over the size of their body at the start"""
    return max(math.dist(one[node], other[node]) / size_of([start[0][i] for i in own])
               for own in start[1].values() for node in own)


def judge(name, scene, work):
    folder = work / re.sub(r"\W", "-", name)
    said, report = run(scene, folder)
    choice = report["choices"][0]
    error, why, method = choice["error"], choice["why"], report["method"]
    assert " ".join(said.split()).count("Chosen: ") == 1 and why.startswith("Chosen: "), f"{name}: {said}"
    assert method in why, f"{name}: {why}"
    tried = [c for c in choice["candidates"] if c["fate"] in ("tried", "chosen")]
    assert tried and all(c.get("reason") for c in choice["candidates"] if c["fate"] == "unable"), f"{name}: {why}"
    if "contact" in scene:
        assert "bodies_kept_apart" not in report, f"{name}: bodies may pass through each other with {method}"
    frames = round(scene["time"]["end"] / scene["time"]["frame"])
    fine = work / f"{folder.name}-fine"
    step = scene["time"]["frame"] / (64 if "contact" in scene else 128)
    run(scene, fine, "-m", "bdf2", "--set", f"time.step={step}")
    start, (end, _), (right, _) = surface(fine, 0), surface(folder, frames), surface(fine, frames)
    worst, moved = furthest(end, right, start), furthest(start[0], right, start)
    print(f"{name}: {why.split(':')[1].strip()}; moved by {moved:.2g} of its size, {worst:.2g} off where {error:g} was "
          "chosen for")
    assert worst <= 3 * error, f"{name}: {worst:g} of its size from where it should be; {error:g} was chosen for"


def main():
    with tempfile.TemporaryDirectory(prefix="rubato-first-") as folder:
        os.environ["RUBATO_COSTS"] = f"{folder}/costs"
        for name, scene in SCENES.items():
            judge(name, scene, pathlib.Path(folder))


if __name__ == "__main__":
    main()
