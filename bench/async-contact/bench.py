#!/usr/bin/env python3
"""bench.py RUBATO [--quick] [ROW…]: async-contact on the papers' scenes, on one thread.

Short runs: the first part of each scene, in seconds of work per simulated second; the targets are those of whole runs
over their simulated time, so a first part that meets one proves nothing about a knot that is tight
(docs/reproduction/async-contact.md has what whole runs took). Events are forces of elements and ticks of layers, each
of which is one in the paper; rescheduling is the share of the time for certificates and searches.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from figures import ROOT, Figures  # noqa: E402

# frames to run; changes of the scene; seconds per simulated second allowed; events per second wanted
ROWS = {
    "pogo": dict(frames=100, changes=["time.frame=100", "time.end=10000"], events=15e6),  # as long as the paper's
    "particle-box": dict(frames=20),
    "reef-knot": dict(frames=5, limit=40 * 60 / 2.0),
    "trash-compactor": dict(frames=60, limit=60 * 60 / 3.08),
    "sheets-draped": dict(frames=2, limit=5 * 3600 / 3.95),
    "sphere-plate": dict(frames=20),
}


def run(rubato, row, frames, changes):
    settings = [word for change in changes for word in ("--set", change)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([rubato, "run", str(ROOT / f"scenes/async-contact/{row}.json"), "-o", folder, "-q",
            "--threads", "1",
                               "--frames", str(frames)] + settings, capture_output=True, text=True)
        report = json.loads((pathlib.Path(folder) / "run.json").read_text())
    if report["status"] == "failed":
        sys.exit(f"bench-async-contact: {row} failed: {done.stderr}")
    return report


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("rows", nargs="*", metavar="ROW")
    words.add_argument("--quick", action="store_true")
    asked = words.parse_intermixed_args()
    with Figures("bench-async-contact") as table:
        for row, goal in ROWS.items():
            if asked.rows and not any(part in row for part in asked.rows):
                continue
            report = run(asked.rubato, row, 1 if asked.quick else goal["frames"], goal.get("changes", []))
            seconds, about = report["seconds"]["step"], report["async-contact"]
            judged = not asked.quick
            table.add(f"{row}: first {report['time']:g} s, per simulated second", f"{seconds / report['time']:.4g}",
                "s", "",
                      f"<={goal['limit']:.0f}" if judged and "limit" in goal else "")
            table.add(f"{row}: events per second", f"{about['events'] / seconds / 1e6:.3g}", "M/s", "",
                      f">={goal['events'] / 1e6:g}" if judged and "events" in goal else "")
            table.add(f"{row}: rescheduling", f"{100 * about['rescheduling_share']:.0f}", "%", "", "<=50" if judged else
                "")


if __name__ == "__main__":
    main()
