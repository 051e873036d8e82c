#!/usr/bin/env bash
# What a run with contact writes: contact forces on the points of its frames, in probes.csv and in energy.csv agree, and are
# the weight of what lies still; files of other runs have no such field. Resumed runs write the same bytes.
set -eu
source "$(dirname "$0")/lib.sh"
cat >rest.json <<'JSON'
{"rubato": 1,
 "bodies": [{"name": "block", "mesh": {"shape": {"cuboid": {"size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]}}}, "transform": {"translate": [0, 0.101, 0]},
             "material": {"young": 1e5, "poisson": 0.3, "density": 1000}, "velocity": {"linear": [0.3, 0, 0]}},
            {"name": "ball", "mesh": {"shape": {"cuboid": {"size": [0.2, 0.2, 0.2], "cells": [1, 1, 1]}}}, "transform": {"translate": [1, 0.152, 0]},
             "particles": {"radius": 0.05, "mass": 0.1}}],
 "contact": {"thickness": 1e-3, "friction": 0.3}, "obstacles": [{"plane": {}}], "forces": [{"gravity": {"acceleration": [0, -10, 0]}}],
 "probes": [{"name": "block", "body": "block", "where": "everything"}, {"name": "ball", "body": "ball", "where": "everything"}],
 "time": {"step": 0.01, "frame": 0.1, "end": 1}, "integrator": {"method": "backward-euler"}, "output": {"vtu": true, "compress": false}}
JSON
cat >read.py <<'PYTHON'
"""Sums of contact forces in the frames of a run against probes.csv: read.py DIR NODES_OF_BLOCK [weights]"""
import csv, glob, re, struct, sys

folder, block = sys.argv[1], int(sys.argv[2])
rows = list(csv.DictReader(open(f"{folder}/probes.csv")))


def field(path, name):
    data = open(path, "rb").read()
    begin = data.index(b"_", data.index(b"<AppendedData")) + 1
    array = re.search(rb'<DataArray[^>]*Name="' + name + rb'"[^>]*>', data)
    if not array:
        return None
    at = begin + int(re.search(rb'offset="(\d+)"', array.group()).group(1))
    (size,) = struct.unpack_from("<Q", data, at)
    return struct.unpack_from(f"<{size // 8}d", data, at + 8)


frames = sorted(glob.glob(f"{folder}/frames/frame_*.vtu"))
readings = [{name: [float(row[f"{name}.contact_{axis}"]) for axis in "xyz"] for name in ("block", "ball")} for row in rows]
assert len(frames) == len(readings), (len(frames), len(readings))
for path, reading in zip(frames, readings):
    force = field(path, b"contact_force")
    assert force, f"{path} has no contact_force"
    for name, nodes in (("block", range(block)), ("ball", range(block, len(force) // 3))):
        for axis in range(3):
            total = sum(force[3 * n + axis] for n in nodes)
            assert abs(total - reading[name][axis]) <= 1e-12 * (1 + abs(total)), (path, name, axis, total, reading[name])
for name, weight in (("block", 80), ("ball", 8)):
    force = readings[-1][name]
    assert abs(force[1] - weight) <= 0.01 * weight, (name, force)  # it lies still, but for what the stop test leaves
assert readings[0]["block"] == [0, 0, 0], readings[0]
assert any(reading["block"][0] < -1 for reading in readings), "friction slows the block down"
print(f"{len(frames)} frames agree with probes.csv")
PYTHON
for method in backward-euler implicit-midpoint bdf2; do
    "$rubato" run rest.json -o $method -q -m $method --verify-events
done
python3 read.py backward-euler 27
python3 - <<'PYTHON'
import csv

rows = list(csv.DictReader(open("backward-euler/energy.csv")))
friction = [float(row["friction"]) for row in rows]
assert friction[0] == 0 and all(a <= b for a, b in zip(friction, friction[1:])) and 0.2 < friction[-1] < 0.5 * 8 * 0.09 + 8e-3 * 10, friction
PYTHON
"$rubato" run rest.json -o again -q -n 4
"$rubato" run rest.json -o again -q --resume
same_results backward-euler again

# Without contact there is no such field; with async-contact there is.
sed 's/"contact": {"thickness": 1e-3, "friction": 0.3}, //; s/"method": "backward-euler"/"method": "METHOD"/' rest.json >plain.json
sed 's/METHOD/backward-euler/' plain.json >penalty.json
sed 's/METHOD/async-contact/; s/"step": 0.01/"step": 0.001/' plain.json >async.json
"$rubato" run penalty.json -o penalty -q -n 1 2>/dev/null
"$rubato" run async.json -o async -q -n 1 2>/dev/null
grep -q contact_force penalty/frames/frame_000001.vtu && fail "obstacles by penalty are no contact"
grep -q 'Name="contact_force"' async/frames/frame_000001.vtu || fail "async-contact knows its contact forces"
grep -q '"events": [1-9]' bdf2/run.json || fail "the judge has seen no iterates: $(grep -o '"verif[^}]*}' bdf2/run.json)"
# A body with a method of its own: the head of the run and run.json name it.
"$rubato" run rest.json -o two -n 1 --set 'bodies[0].integrator={"method": "siere"}' >head.txt
grep -q ', by siere; explicit step' head.txt || fail "the head of a run does not name the method of a body: $(cat head.txt)"
grep -q '"name": "block", "method": "siere"' two/run.json || fail "run.json does not name the method of a body"
echo "contact forces agree"
