#!/usr/bin/env python3
"""bench.py RUBATO [--quick]: what the viewer costs.

A state that is shown, beside a semi-implicit step of the same body of 100,000 nodes, in seconds of the processors; how
long a run of a million triangles takes to open, from the first request to the first picture in headless Chromium, which
draws in software; and the size of a page with 200 frames of 20,000 nodes, all of which are drawn. --quick takes small
bodies and judges nothing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test/view")]
from client import Server  # noqa: E402
from figures import Figures  # noqa: E402


def body(mesh, **more):
    return {"name": "body", "mesh": {"shape": mesh}, "material": {"young": 1e5, "density": 1000}, **more}


def scene(at, name, *bodies, **more):
    path = at / f"{name}.json"
    path.write_text(json.dumps({"rubato": 1, "bodies": bodies, "forces": [{"gravity": {}}], **more}))
    return path


def cost(table, tools, at, quick):
    """Of a solid, and of a sheet, whose nodes are all drawn and whose steps are cheap."""
    cells, n = ([20, 8, 8], 40) if quick else ([100, 31, 31], 316)
    side = {"box": {"min": [0, 0, 0], "max": [0.001, 1, 1], "relative": True}}
    solid = body({"cuboid": {"size": [1, 0.31, 0.31], "cells": cells}}, fixed=[side])
    sheet = body({"cloth": {"cells_along": n, "cells_across": n}}, shell={"thickness": 0.001}, fixed=[side])
    for kind, what in (("solid", solid), ("sheet", sheet)):
        path = scene(at, f"cost-{kind}", what, time={"step": 0.01, "frame": 0.01, "end": 1},
                     integrator={"method": "semi-implicit"})
        said = subprocess.run([tools / "show", path, "--steps", "2", "--threads", "1"], check=True,
                              capture_output=True, text=True).stdout
        found = json.loads(said)
        name = f"{kind} of {found['nodes']} nodes"
        table.add(f"{name}: a semi-implicit step, one thread", f"{found['step']:.2f}", "s")
        table.add(f"{name}: the first state that is shown", f"{1000 * found['first']:.1f}", "ms")
        for field in ("positions", "speed", "stress"):
            share = 100 * found[field] / found["step"]
            table.add(f"{name}: a state with {field}, {1000 * found[field]:.2f} ms, of a step", f"{share:.3f}", "%", "",
                      "" if quick else "<=5")


def opening(table, rubato, at, quick):
    n = 60 if quick else 708
    sheet = body({"cloth": {"cells_along": n, "cells_across": n}}, shell={"thickness": 0.001})
    path = scene(at, "sheet", sheet, time={"step": 1e-5, "frame": 1e-5, "end": 2e-5},
                 integrator={"method": "symplectic-euler"})
    subprocess.run([rubato, "run", path, "-o", at / "sheet", "-q"], check=True)
    server = Server(rubato, "view", at / "sheet")
    said = subprocess.run(["node", ROOT / "bench/view/open.mjs", rubato.parent / "web", server.address], check=True,
                          capture_output=True, text=True).stdout
    server.end()
    found = json.loads(said)
    table.add(f"{found.get('triangles', 0)} triangles: until the first picture", f"{found['seconds']:.1f}", "s", "",
              "" if quick else "<=10")


def page_size(table, rubato, at, quick):
    n, frames = (30, 20) if quick else (141, 200)
    corner = {"box": {"min": [0, 0, 0], "max": [0.01, 1, 0.01], "relative": True}}
    sheet = body({"cloth": {"cells_along": n - 1, "cells_across": n - 1}}, shell={"thickness": 0.001}, fixed=[corner])
    path = scene(at, "cloth", sheet, time={"step": 0.01, "frame": 0.01, "end": 0.01 * frames},
                 integrator={"method": "semi-implicit"}, output={"checkpoint_every": 0})
    subprocess.run([rubato, "run", path, "-o", at / "cloth", "-q", "--frames", str(frames)], check=False)
    count = len(list((at / "cloth/frames").glob("frame_*.vtu")))
    subprocess.run([rubato, "export", at / "cloth", "-o", at / "cloth.html", "-q"], check=True)
    size = (at / "cloth.html").stat().st_size / 1e6
    table.add(f"page with {count} frames of {n * n} nodes, speeds and stresses", f"{size:.1f}", "MB", "",
              "" if quick else "<=25")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    words.add_argument("rubato", type=pathlib.Path)
    words.add_argument("--quick", action="store_true")
    asked = words.parse_args()
    rubato = asked.rubato.resolve()
    with tempfile.TemporaryDirectory() as folder, Figures("bench-view") as table:
        at = pathlib.Path(folder)
        cost(table, rubato.parent / "bench_tools", at, asked.quick)
        opening(table, rubato, at, asked.quick)
        page_size(table, rubato, at, asked.quick)


if __name__ == "__main__":
    main()
