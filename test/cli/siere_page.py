#!/usr/bin/env python3
"""The page of the siere study from made-up figures: verdicts follow the figures, sections that were not measured
stay."""

import json
import math
import pathlib
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "bench" / "siere")]
from siere_page import write_page  # noqa: E402
from study import five_lines, lines_of_claims  # noqa: E402

FRAMES = 30


class Pen:
    """Stands in for the program that draws."""

    def draw(self, path, plot):
        path.write_text(json.dumps(plot))


def run(later, swing=0.0, frames=FRAMES, failed=False):
    """A run whose frames take `later` seconds and whose elastic energy swings by `swing`; None: not a single frame."""
    elastic = [1 + swing * math.sin(k) for k in range(frames + 1)]
    energies = {"time": list(range(frames + 1)), "kinetic": [1.0] * (frames + 1), "elastic": elastic,
                "total": [e + 1 for e in elastic]}
    if later is None:
        return {**run(1.0, frames=0), "first": None, "later": None, "median": None, "outcome": "ended", "nodes": None,
                "tets": None, "energies": None}
    return {"outcome": "failed" if failed else "finished" if frames == FRAMES else "ended", "why": "it fell",
            "frames": frames, "first": later, "later": later, "median": later, "limit": 12, "nodes": 100, "tets": 400,
            "energies": energies, "projected": 1, "time": 0.3}


def section(found):
    return {"here": {"date": "today", "commit": "abc", "machine": "none"}, "found": found}


def figures(siere):
    """Of a world where a frame of siere takes `siere` seconds and one of semi-implicit Euler 1."""
    def row(scene, stiffness, ere, paper, si=None):
        return {"scene": scene, "stiffness": stiffness, "frames": FRAMES,
                "paper": dict(zip(("SI", "SIERE", "ERE", "BE"), paper)),
                "runs": {"SI": si or run(1.0), "SIERE": run(siere), "ERE": ere, "BE": None}}

    table = [row("honeycomb", 1e8, run(5.0), (1, 2, 9, None)), row("honeycomb", 1e10, run(50.0), (1, 2, 99, None)),
             row("rope-uncoil", 1e6, run(None), ("fails", 2, "x", 3), run(1.0, frames=4, failed=True))]
    energies = [{"scene": "ball-hang", "coarser": False,
                 "runs": {"SI": run(1.0, 0.01), "SIERE": run(siere, 1.0 / siere)}},
                {"scene": "body", "coarser": True, "runs": {"SI": run(1.0, frames=3, failed=True), "SIERE": run(None)}},
                {"scene": "cuboid-untwist-arap", "coarser": False,
                 "runs": {"SI": run(1.0), "SIERE": run(siere, 0.1), "BE": run(1.0)}}]
    modes = {"runs": {f"s = {s}": run(1.0) for s in (5, 6, 10, 20)}, "factored": run(1.0, frames=3, failed=True),
             "cut": run(1.0), "tight": 1e-6, "loose": {"cuboid-untwist": run(1.0), "honeycomb": run(1.0)},
             "exact": {"cuboid-untwist": run(2.0), "honeycomb": run(2.0)}}
    modes["exact"]["honeycomb"]["energies"]["total"] = [3.0] * (FRAMES + 1)
    own = [{"scene": scene, "material": "neo-hookean", "load": load,
            "frames": FRAMES, "runs": {"SI": si, "SIERE": run(siere)}}
           for scene, load, si in (("honeycomb", "", run(1.0)), ("rope-uncoil", "1 g", run(1.0)),
                                   ("tree", "wind", run(1.0, frames=2, failed=True)))]
    stiffness = [{"young": y, "runs": {"SI": run(1.0), "SIERE": run(siere),
                                       "ERE": run(y / 1e6) if y < 1e9 else run(None)}} for y in (1e6, 1e8, 1e10)]
    return {"table": section(table), "paper": section(own), "energies": section(energies), "modes": section(modes),
            "stiffness": section(stiffness)}


def expect(page, words, verdict):
    line = next((line for line in page.split("\n") if words in line and line.startswith("- *")
                 and not line.startswith("- **")), None)
    assert line, f"no line with {words!r}"
    assert f"**{verdict}**" in line, line


def top(page):
    """The five lines after the title"""
    assert page.split("\n")[2] == "## What holds, and what does not"
    lines = page.split("\n")[4:9]
    assert all(line.startswith("- **") for line in lines) and page.split("\n")[9] == "", page[:2000]
    return lines


def judge_lines():
    """Lines follow the claims on a page, and none is left out."""
    claims = ["- *Cats on mats sleep (bound: 1).* **Holds**: 3 of 4; all day.",
              "- *Cats on roofs sleep (bound: 1).* **Does not hold here**: 0.",
              "- *It rains.* **Not measured**: no cloud."]
    topics = {"Cats": {r"Cats on (\w+) sleep": "cats sleep on {}"}, "Rain": {r"It rains": "rain ({})"}}
    assert lines_of_claims(claims, topics) == ["**Cats**: Holds: cats sleep on mats. Does not hold here: cats sleep on "
                                               "roofs.", "**Rain**: Not measured: rain (no cloud)."]
    for wrong in (lambda: lines_of_claims(claims, {"Cats": topics["Cats"]}), lambda: five_lines(["one"])):
        try:
            wrong()
        except ValueError:
            continue
        raise AssertionError("a claim without a line, or another number of lines, must be refused")


def main():
    judge_lines()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        page = write_page(Pen(), folder, figures(2.0), False).read_text()
        expect(page, "a small multiple of SI", "Holds")
        expect(page, "cost of ERE grows with the stiffness (bound: more", "Holds")
        expect(page, "SI diverges on rope-uncoil, SIERE", "Holds")
        expect(page, "SI diverges on rope-uncoil (plain, 1 g)", "Does not hold here")
        expect(page, "SI diverges on tree (plain, wind)", "Holds")
        expect(page, "SIERE does not diverge on tree", "Holds")
        expect(page, "Modes of a residual", "Does not hold here")
        assert "SI fails: rope-uncoil (plain, 1 g)" in top(page)[1].split("Does not hold here")[1], top(page)[1]
        assert "SIERE costs at most 3.7 times SI;" in top(page)[2].split("Does not hold here")[0], top(page)[2]
        expect(page, "ERE is out of the question", "Does not hold here")  # 12 s without a frame are but 6 times siere's
        expect(page, "it makes no energy", "Does not hold here")
        expect(page, "Six modes keep more", "Does not hold here")
        assert "SI failed after 3 frames" in page and "over 2 of 3 stiffnesses" in page, page
        later = figures(5.0)
        changed = write_page(Pen(), folder, {"table": later["table"]}, False).read_text()
        expect(changed, "a small multiple of SI", "Does not hold here")
        assert "SIERE costs at most 3.7 times SI;" in top(changed)[2].split("Does not hold here")[1], top(changed)[2]
        begin = page.index("## Energies")
        assert changed[changed.index("## Energies"):] == page[begin:], "sections that were not measured must stay"
        assert write_page(Pen(), folder, {"table": figures(2.0)["table"]}, False).read_text() == page
        expect(write_page(Pen(), folder, {"table": section([{**row, "runs": {**row["runs"], "SIERE": run(0.5)}}
                                                            for row in later["table"]["found"]])}, False).read_text(),
               "ERE is out of the question", "Holds")
    print("the page follows the figures")


main()
