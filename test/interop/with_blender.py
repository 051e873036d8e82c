"""Blender: it shows surfaces, point caches and USD files that rubato writes, and rubato reads what Blender saves.

Blender's up is z, that of OBJ and USD files y: it turns what it reads and writes, so positions are compared turned.
"""

import json
import pathlib
import shutil
import subprocess

from exchange import SINGLE, Mesh, Unavailable, decimals

SIDE = pathlib.Path(__file__).resolve().with_name("blender_side.py")
INTO = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]  # from a file into Blender's world
OUT = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]  # from Blender's world into a file
TURNED = (4 * 2.0**-24, 1e-7)  # single precision, and a matrix of a turn whose zeros are not quite


class Blender:
    """All orders are given first, so that Blender is started once."""

    def __init__(self, folder):
        self.folder, self.orders, self.answers = folder, [], None

    def order(self, **order):
        self.orders.append(order)
        return len(self.orders) - 1

    def answer(self, number):
        if not shutil.which("blender"):
            raise Unavailable("blender is not installed")
        if self.answers is None:
            self.answers = []
            orders, answers = self.folder / "orders.json", self.folder / "answers.json"
            orders.write_text(json.dumps(self.orders))
            said = subprocess.run(["blender", "-b", "--factory-startup", "--python", SIDE, "--", orders, answers],
                                  capture_output=True, text=True, timeout=300)
            if not answers.exists():
                raise RuntimeError(f"Blender ended with {said.returncode}: {said.stderr.strip()[-300:]}")
            self.answers = json.loads(answers.read_text())
        if number >= len(self.answers):
            raise RuntimeError("Blender gave no answer")
        answer = self.answers[number]
        if "missing" in answer:
            raise Unavailable(answer["missing"])
        if "failed" in answer:
            raise RuntimeError(answer["failed"])
        return answer


def mesh_of(answer):
    return Mesh(answer["nodes"], triangles=answer["triangles"])


def exchange(rubato, table, run, surface):
    """run: of one body of tets, with every output"""
    blender, folder = Blender(rubato.folder), run.folder
    hulls = [frame.hull().mapped(INTO) for frame in run.frames]
    last = len(hulls) - 1
    obj = blender.order(do="read_obj", file=str(folder / "obj" / f"frame_{last:06d}.obj"))
    cache = blender.order(do="read_cache", file=str(folder / "surface.obj"), cache=str(folder / "surface.pc2"),
                          frames=len(hulls))
    usd = blender.order(do="read_usd", file=str(folder / "frames.usda"), frames=len(hulls))
    variants = (("obj", True, decimals(6)), ("ply", True, decimals(6)), ("ply", False, SINGLE),
                ("stl", True, decimals(6)), ("stl", False, SINGLE))
    saved = [(f"blender-{'text' if text else 'binary'}.{ending}", ending, text, bound)
             for ending, text, bound in variants]
    numbers = [blender.order(do="write", file=str(rubato.folder / file), text=text, nodes=surface.nodes.tolist(),
                             triangles=surface.triangles.tolist()) for file, _, text, _ in saved]

    table.check("Blender", f"surface as .obj, frame {last}", lambda: mesh_of(blender.answer(obj)), hulls[last], TURNED)
    for i, hull in enumerate(hulls):
        table.check("Blender", f"surface.obj with surface.pc2, frame {i}",
                    lambda: mesh_of(blender.answer(cache)["frames"][i]), hull, TURNED)
    for i, hull in enumerate(hulls):
        table.check("Blender", f"frames.usda, frame {i}", lambda: mesh_of(blender.answer(usd)["frames"][i]), hull,
                    TURNED)
    interval = run.times[1] - run.times[0]
    table.check_equal("Blender", "frames.usda, frames a second", lambda: round(blender.answer(usd)["fps"], 6),
                      round(1 / interval, 6))

    def again(number, file):
        blender.answer(number)
        return rubato.read(file)

    for number, (file, ending, text, bound) in zip(numbers, saved):
        wanted = surface.mapped(OUT) if ending == "obj" else surface
        table.check("rubato", f"Blender's {ending}, {'text' if text else 'binary'}", lambda: again(number, file),
                    wanted, bound)
