#!/usr/bin/env python3
"""history.py RUBATO: draws the figures that benchmarks have measured here so far, one SVG for each group of them, in
out/bench/.

The figures are in bench-history.csv (scripts/figures.py). Times of different machines or numbers of threads cannot be
compared, so only those of the newest row's are drawn. A group is a folder of scenes, a program of bench/ or what stands
before the colon of a name; a picture has a panel for each unit, over the days (hours, if all are of two days) before
the newest figure.
"""

import csv
import datetime
import re
import sys

import figures
from study import Tools, plot_data

CURVES = 10  # in one panel: as many colours there are
LOG_FROM = 8  # the largest over the least value from which on an axis is logarithmic


def read_rows():
    """Of the newest row's machine and threads, oldest first: (time, name, value, unit); and that machine in words."""
    with figures.history().open(newline="") as file:
        lines = sorted(csv.DictReader(file), key=lambda line: line["date"])
    if not lines:
        return [], ""
    machine, threads = lines[-1]["machine"], lines[-1]["threads"]
    rows = []
    for line in lines:
        try:
            row = datetime.datetime.fromisoformat(line["date"]), line["name"], float(line["value"]), line["unit"]
        except ValueError:
            continue  # a figure that is no number, as "failed"
        if line["machine"] == machine and line["threads"] == threads:
            rows.append(row)
    return rows, f"{machine}, {threads} thread{'' if threads == '1' else 's'}"


def split_name(name):
    """Group and name in it, without the spread that some names tell ("+-3%"): that is another one every time."""
    name = re.sub(r" \+-[0-9]+%", "", name)
    group, colon, rest = name.partition(": ")
    if colon:
        return group, rest
    word, _, rest = name.partition(" ")
    if rest:
        return word, rest
    folder, _, rest = word.rpartition("/")
    return folder or word, rest


def groups_of(rows):
    """{group: {unit: {name: [(days before the newest, value), …]}}}, and "days" or "hours" in words."""
    newest, oldest = rows[-1][0], rows[0][0]
    length, words = (86400, "days") if (newest - oldest).days >= 2 else (3600, "hours")
    groups = {}
    for time, name, value, unit in rows:
        group, rest = split_name(name)
        before = (time - newest).total_seconds() / length
        groups.setdefault(group, {}).setdefault(unit, {}).setdefault(rest, []).append((before, value))
    return groups, f"{words} before {newest:%Y-%m-%d %H:%M}"


def panels_of(units, x_label):
    """The panels of a group; many curves are spread over several."""
    for unit, curves in units.items():
        names = list(curves)
        values = [value for points in curves.values() for _, value in points]
        log = "y" if min(values) > 0 and max(values) >= LOG_FROM * min(values) else ""
        for first in range(0, len(names), CURVES):
            part = names[first:first + CURVES]
            which = f", {first + 1} to {first + len(part)} of {len(names)}" if len(names) > CURVES else ""
            yield f"{f'in {unit}' if unit else 'numbers'}{which}", x_label, unit, log, {name: curves[name]
                                                                                        for name in part}


def draw(rubato):
    """Draws all groups and says where."""
    rows, machine = read_rows()
    if not rows:
        print(f"{figures.HISTORY.name} has no figures yet")
        return
    tools, folder = Tools(rubato), figures.ROOT / "out" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    groups, x_label = groups_of(rows)
    for group, units in groups.items():
        file = folder / (re.sub(r"[^A-Za-z0-9._=+-]+", "-", group).strip("-") + ".svg")
        tools.draw(file, {**plot_data(f"{group} ({machine})", panels_of(units, x_label)), "fit": True})
    print(f"drawn: {len(groups)} plot{'' if len(groups) == 1 else 's'} of {figures.HISTORY.name} in "
          f"{folder.relative_to(figures.ROOT)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/history.py RUBATO")
    draw(sys.argv[1])
