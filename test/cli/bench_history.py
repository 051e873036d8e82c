#!/usr/bin/env python3
"""The history of benchmark figures: rows are added and kept, those of the former file are moved into it, and it is
drawn in groups."""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
import figures  # noqa: E402
import history  # noqa: E402


class Pen:
    """Stands in for the program that draws."""

    drawn = {}

    def __init__(self, _rubato):
        pass

    def draw(self, path, plot):
        Pen.drawn[path.name] = plot


def rows():
    with figures.HISTORY.open(newline="") as file:
        return list(csv.reader(file))


def add(*names):
    with figures.Figures("test") as table:
        for name, value, unit in names:
            table.add(name, value, unit)


def check_file(root):
    figures.ROOT, figures.HISTORY, figures.FORMER = root, root / "bench-history.csv", root / "out" / "bench.csv"
    add(("scenes/demo", "1.5", "s"))
    assert rows()[0] == figures.COLUMNS and [row[4:7] for row in rows()[1:]] == [["scenes/demo", "1.5", "s"]]
    figures.FORMER.parent.mkdir()
    about = ["2001-01-01T00:00:00", "abc", figures.processor(), figures.threads()]
    with figures.FORMER.open("w", newline="") as file:
        csv.writer(file).writerows([figures.COLUMNS, about + ["scenes/demo", "3", "s", "", ""]])
    add(("scenes/demo", "2.5", "s"))
    assert [row[5] for row in rows()[1:]] == ["1.5", "3", "2.5"] and not figures.FORMER.exists()
    assert [row[0] for row in rows()].count("date") == 1


def check_plots(root):
    more = [(f"scenes/dot/{i}", str(10 ** (i % 3)), "s") for i in range(12)]
    add(*more, ("bench/bench_core solve of 7 nodes", "3", "us"), ("horse: dot, paper", "4", "U"),
        ("horse: failed one", "failed", "U"), ("horse: dot, paper +-3%", "5", "U"))
    with figures.HISTORY.open("a", newline="") as file:
        csv.writer(file).writerow(["2002-01-01T00:00:00", "abc", "another machine", "64", "scenes/demo", "9", "s", "",
                                   ""])
    history.Tools = Pen
    history.draw("rubato")
    assert set(Pen.drawn) == {"scenes.svg", "scenes-dot.svg", "bench-bench_core.svg", "horse.svg"}, set(Pen.drawn)
    [panel] = Pen.drawn["scenes.svg"]["panels"]
    [curve] = panel["series"]
    assert curve["name"] == "demo" and curve["y"] == [3, 1.5, 2.5], curve  # oldest first, without the other machine
    assert curve["x"] == sorted(curve["x"]) and curve["x"][0] < -7000 and -1 < curve["x"][1] <= curve["x"][2] <= 0
    first, second = Pen.drawn["scenes-dot.svg"]["panels"]
    assert len(first["series"]) == 10 and len(second["series"]) == 2 and first["y_log"]
    [curve] = Pen.drawn["horse.svg"]["panels"][0]["series"]
    assert curve["name"] == "dot, paper" and curve["y"] == [4, 5], curve
    assert panel["x_label"].startswith("days before 20")
    assert (root / "out" / "bench").is_dir()


def check_clean():
    """What make clean would remove, and what git does not see"""
    said = subprocess.run(["make", "-n", "clean"], cwd=SOURCE, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^rm -rf (.*)$", said, re.M), said
    assert "bench-history" not in said, said
    assert "/bench-history.csv" in (SOURCE / ".gitignore").read_text().splitlines()


with tempfile.TemporaryDirectory(prefix="rubato-history-") as folder:
    check_file(pathlib.Path(folder))
    check_plots(pathlib.Path(folder))
check_clean()
print("figures are kept, moved over and drawn")
