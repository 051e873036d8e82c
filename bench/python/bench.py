#!/usr/bin/python3
"""bench.py RUBATO [--quick] [--rounds N]: what Python adds to a step, sim.x, and rollouts in Python's threads and in C.

Steps of a small body are measured in turns by a C program (bench/tools/rollouts.c) and here. In large ones, where a
moment of the machine is more than what Python adds, steps that Python takes one by one and steps that the library takes
in one call (sim.advance) are measured in turns in one simulation. All in processor time of one thread; medians over the
rounds. sim.x is measured in bodies of a hundred to a hundred thousand nodes. Rollouts: eight
clones from one state in eight threads, here and in C. Steps of sixty microseconds that Python takes one by one meet at
its lock; so no target is set for these.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import Figures  # noqa: E402

OVERHEAD, VIEW, SCALING = 20, 5, 0.9  # [us], [us], share of the speed of C's threads
SIZES = {"100 nodes": [6, 3, 3], "1,000 nodes": [16, 8, 6], "10,000 nodes": [36, 18, 14]}


def scene(cells, method):
    return {"rubato": 1, "bodies": [{"name": "bar", "mesh": {"shape": {"cuboid": {"size": [0.4, 0.2, 0.2],
                                                                                 "cells": cells}}},
                                     "material": {"young": 1e4}, "fixed": ["left"]}],
            "forces": [{"gravity": {}}], "time": {"step": 2e-4, "frame": 1e-2, "end": 1000},
            "integrator": {"method": method}}


class Bench:
    def __init__(self, rubato, command, rounds, quick):
        self.rubato, self.rounds, self.quick = rubato, rounds, quick
        self.tool = command.parent / "bench_tools" / "rollouts"
        self.work = tempfile.TemporaryDirectory()

    def in_c(self, description, steps, repeats=1, threads=1):
        path = pathlib.Path(self.work.name) / "scene.json"
        path.write_text(json.dumps(description))
        done = subprocess.run([self.tool, path, "--steps", str(steps), "--repeats", str(repeats), "--threads",
                               str(threads)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def in_python(self, sim, steps, kind):
        """Seconds of the processor a step: in one call, one by one, so with x and v held, or with a force written."""
        arrays = (sim.x, sim.v) if kind == "held" else None
        step = sim.step
        begin = time.thread_time()
        if kind == "one call":
            sim.advance(sim.time + steps * sim.dt)
        elif kind == "forces":
            for _ in range(steps):
                sim.forces[-1, 1] += 1e-9
                step()
        else:
            for _ in range(steps):
                step()
        used = (time.thread_time() - begin) / steps
        del arrays
        return used

    def steps(self, figures):
        target = "" if self.quick else f"<={OVERHEAD}"
        description, steps = scene(SIZES["100 nodes"], "symplectic-euler"), 50 if self.quick else 1000
        pairs = [(self.in_c(description, steps)["cpu"],
                  self.in_python(self.rubato.load(description, threads=1), steps, "bare")) for _ in range(self.rounds)]
        figures.add("a step through C, symplectic-euler, 100 nodes",
                    f"{1e6 * statistics.median(c for c, _ in pairs):.1f}", "us")
        figures.add("a step through Python takes more, 100 nodes",
                    f"{1e6 * statistics.median(p - c for c, p in pairs):.1f}", "us", "", target)
        for name, cells in SIZES.items():
            steps = 50 if self.quick else max(50, 200000 // (cells[0] * cells[1] * cells[2]))
            sim = self.rubato.load(scene(cells, "symplectic-euler"), threads=1)
            times = {kind: [] for kind in ("one call", "bare", "held", "forces")}
            for _ in range(self.rounds):
                for kind, values in times.items():
                    values.append(self.in_python(sim, steps, kind))
            base = statistics.median(times["one call"])
            figures.add(f"a step of many in one call, {name}", f"{1e6 * base:.1f}", "us")
            for kind, text in (("bare", "one by one"), ("held", "with x and v held"),
                               ("forces", "with a force written before it")):
                more = statistics.median(a - b for a, b in zip(times[kind], times["one call"]))
                figures.add(f"a step {text} takes more, {name}", f"{1e6 * more:.1f}", "us", "",
                            target if kind == "bare" else "")

    def views(self, figures):
        for name, cells in {**SIZES, "100,000 nodes": [80, 36, 32]}.items():
            sim = self.rubato.load(scene(cells, "symplectic-euler"))
            sim.x
            sim.step()
            times = []
            for _ in range(self.rounds):
                begin = time.perf_counter()
                for _ in range(1000):
                    sim.x
                times.append((time.perf_counter() - begin) / 1000)
            figures.add(f"sim.x, {name}", f"{1e6 * statistics.median(times):.2f}", "us", "",
                        "" if self.quick else f"<={VIEW}")

    def rollouts(self, figures, count=8):
        """Eight threads with a clone each, and the same in C, one after the other in every round."""
        for method, way, steps in (("symplectic-euler", "in one call", 800), ("semi-implicit", "step by step", 40),
                                   ("symplectic-euler", "step by step", 800)):
            steps = 10 if self.quick else steps
            description = scene(SIZES["1,000 nodes"], method)
            sim = self.rubato.load(description, threads=1)
            state, clones = sim.save(), [sim.clone() for _ in range(count)]

            def roll(clone):
                if way == "in one call":
                    clone.advance(steps * clone.dt)
                else:
                    for _ in range(steps):
                        clone.step()

            ratios, gains = [], []
            for _ in range(self.rounds):
                for clone in clones:
                    clone.restore(state)
                threads = [threading.Thread(target=roll, args=(clone,)) for clone in clones]
                begin = time.perf_counter()
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                together = time.perf_counter() - begin
                c = self.in_c(description, steps, 1, count)
                gains.append(count * c["wall"] * steps / together)
                ratios.append(c["together"] / together)
            name = f"{count} rollouts in {count} Python threads, {method}, {way}"
            figures.add(f"{name}: speed-up", f"{statistics.median(gains):.2f}", "times")
            target = "" if self.quick or (method, way) == ("symplectic-euler", "step by step") else f">={SCALING}"
            figures.add(f"{name}: speed beside C's threads", f"{statistics.median(ratios):.2f}", "times", "", target)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    words = parser.parse_args()
    build = words.command.resolve().parent
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DRUBATO_PYTHON=ON"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--parallel", "2", "--target", "rubato_python"], check=True,
                   stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(build / "package"))
    import rubato
    bench = Bench(rubato, words.command.resolve(), 1 if words.quick else words.rounds, words.quick)
    with Figures("bench/python/bench.py") as figures:
        bench.steps(figures)
        bench.views(figures)
        bench.rollouts(figures)


if __name__ == "__main__":
    main()
