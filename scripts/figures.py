"""Figures that scripts measure: printed as a table, judged by their targets, added to the history,
bench-history.csv."""

import csv
import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench-history.csv"  # not in a folder that `make clean` removes
FORMER = ROOT / "out" / "bench.csv"  # where it was kept before
COLUMNS = ["date", "commit", "machine", "threads", "name", "value", "unit", "megabytes", "target"]


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def threads():
    return os.environ.get("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))


def now():
    return datetime.datetime.now().isoformat(timespec="seconds")


def met(value, target):
    """Whether a value keeps a target: >=N or <=N."""
    bound = float(target[2:])
    return float(value) >= bound if target[0] == ">" else float(value) <= bound


def parse(text):
    """Rows (name, value, unit, "", target) of lines "name value unit [target]" that a program printed."""
    for words in map(str.split, text.splitlines()):
        target = words.pop() if words and words[-1][:2] in (">=", "<=") else ""
        if len(words) > 2:
            yield " ".join(words[:-2]), words[-2], words[-1], "", target


def history():
    """The file of all figures measured so far, with its line of names. What is in the former one is moved into it."""
    rows = []
    if FORMER.exists():
        with FORMER.open(newline="") as file:
            rows = list(csv.reader(file))[1:]
    fresh = not HISTORY.exists()
    if fresh or rows:
        with HISTORY.open("a", newline="") as file:
            csv.writer(file).writerows(([COLUMNS] if fresh else []) + rows)
    FORMER.unlink(missing_ok=True)
    return HISTORY


class Figures:
    """The table of one run of a script; `with` it, and it ends the script with 1 if a target was missed."""

    def __init__(self, script):
        self.script, self.missed = script, 0
        self.about = [now(), commit(), processor(), threads()]

    def __enter__(self):
        self.file = history().open("a", newline="")
        self.writer = csv.writer(self.file)
        print(f"{'':72} {'':>10} {'':8} {'peak MB':>8} {'target':>8}")
        return self

    def add(self, name, value, unit, megabytes="", target=""):
        self.writer.writerow(self.about + [name, value, unit, megabytes, target])
        verdict = f"{target:>8} {'met' if met(value, target) else 'MISSED'}" if target else ""
        self.missed += verdict.endswith("MISSED")
        print(f"{name:72} {value:>10} {unit:8} {megabytes:>8} {verdict}".rstrip(), flush=True)

    def __exit__(self, kind, *_):
        self.file.close()
        if kind:
            return
        print(f"added to {HISTORY.name} ({self.about[1]}, {self.about[3]} threads)")
        if self.missed:
            sys.exit(f"{self.script}: {self.missed} target{'s' if self.missed > 1 else ''} missed")
