#!/usr/bin/env bash
# rubato verify: clean runs, crossings in frames and between them, and folders in which something is missing or garbled.
set -eu
source "$(dirname "$0")/lib.sh"

# A bullet flies through a wall: frame 0 before it, frame 1 behind it; frame 2 halfway through a cloth, frame 3 beyond.
cat >bullet.json <<'JSON'
{
  "rubato": 1,
  "bodies": [
    {"name": "wall", "material": {"young": 10}, "mesh": {"shape": {"cuboid": {"size": [0.2, 2, 2], "cells": [1, 3, 3]}}},
     "fixed": [{"box": {"min": [0, 0, 0], "max": [1, 1, 1], "relative": true}}]},
    {"name": "cloth", "material": {"young": 10}, "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 4, "cells_across": 4}}},
     "transform": {"axis": [0, 0, 1], "degrees": 90, "translate": [3.02, 0, 0]}, "shell": {"thickness": 0.001},
     "fixed": [{"box": {"min": [0, 0, 0], "max": [1, 1, 1], "relative": true}}]},
    {"name": "bullet", "material": {"young": 10}, "mesh": {"shape": {"cuboid": {"size": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}}},
     "transform": {"translate": [-1, 0.013, 0.021]}, "velocity": {"linear": [20, 0, 0]}}
  ],
  "time": {"step": 0.05, "frame": 0.1, "end": 0.3},
  "integrator": {"method": "symplectic-euler"},
  "output": {"checkpoint_every": 1, "checkpoint_keep": 0}
}
JSON
"$rubato" run bullet.json -o hit -q
says 1 'of "bullet" at (' "$rubato" verify hit
says 1 'crosses' "$rubato" verify hit --frames-only
says 1 'of "wall"' "$rubato" verify hit
"$rubato" verify hit --json >report.json || [ $? = 1 ] || fail "--json should end with 1"
python3 - <<'PYTHON'
import json
r = json.load(open("report.json"))
assert r["clean"] is False and r["states"] == 4 and r["ways"] == 3 and len(r["frames"]) == 4, r
f = r["frames"]
assert [x["intersections"] > 0 for x in f] == [False, False, True, False], f
assert f[0]["on_way"] is None and f[1]["on_way"] > 0, f
first = f[1]["first"][0]
assert set(first["bodies"]) == {"wall", "bullet"} and 0.02 < first["time"] < 0.08, first
assert abs(first["place"][0]) < 0.11, first
crossing = f[2]["first"][0]
assert set(crossing["bodies"]) == {"cloth", "bullet"} and crossing["kind"] == "edge-triangle", crossing
assert abs(crossing["place"][0] - 3.02) < 1e-6 and abs(crossing["time"] - 0.2) < 1e-9, crossing
assert len(f[1]["first"]) == 3
PYTHON
says 1 '' "$rubato" verify hit --json --pairs 0 -o file.json
python3 -c 'import json; assert json.load(open("file.json"))["frames"][1]["first"] == []'
[ -z "$("$rubato" verify hit --quiet || true)" ] || fail "--quiet should say nothing"
[ "$("$rubato" verify hit --threads 1 | head -8)" = "$("$rubato" verify hit --threads 3 | head -8)" ] || fail "threads change the table"

# Past the wall on either side: clean, and clean until the wall is reached.
"$rubato" run bullet.json -o miss -q --set bodies[2].transform.translate=[-1,1.5,0]
says 0 'no intersections in 4 states and on 3 ways between them' "$rubato" verify miss

# The same while the run continues; and what a run that failed leaves for the next one to remove.
says 1 'intersections in 4 states' "$rubato" run bullet.json -o during --verify
"$rubato" run bullet.json -o during --verify >during.txt 2>&1 || true
grep -q 'frame   2 of 3 .* intersections' during.txt || fail "a frame's line should count"
grep -q 'edge .* of "cloth" crosses triangle .* of "bullet" at (' during.txt || fail "intersections should be named"
python3 - <<'PYTHON'
import json
run, report = json.load(open("during/run.json")), json.load(open("report.json"))
v = run["verify"]
assert run["status"] == "intersected", run["status"]
for key in ("summary", "intersections", "touching", "on_ways", "states", "ways", "triangles", "pairs", "pairs_exact"):
    assert v[key] == report[key], key
assert v["frames"] == [f for f in report["frames"] if f["first"]]
PYTHON
same_results hit during
# Steps are states too: after the first one the bullet is wholly inside the wall, where no surfaces meet, but they did on the way.
says 1 'intersections in 7 states' "$rubato" run bullet.json -o during --verify-steps -q
python3 - <<'PYTHON'
import json
v = json.load(open("during/run.json"))["verify"]
assert v["states"] == 7 and v["ways"] == 6 and (v["frames"][0]["frame"], v["frames"][0]["step"]) == (0, 1), v
assert v["frames"][0]["intersections"] == 0 and v["frames"][0]["on_way"] > 0, v
PYTHON
same_results hit during
# A method of events shows one of each step, and looking changes nothing.
stuck=(--set 'bodies[2].material.young=1e6' --set 'bodies[2].transform.translate=[3,0.013,0.021]' --set 'bodies[2].velocity.linear=[0,0.1,0]'
    --set 'integrator={"method": "async-contact", "options": {"contact": false}}')
"$rubato" run bullet.json -o events-unseen -q "${stuck[@]}"
says 1 'the first in frame 0' "$rubato" run bullet.json -o events -q --verify-steps "${stuck[@]}"
python3 - <<'PYTHON'
import json
v = json.load(open("events/run.json"))["verify"]
assert 1 <= v["events"] <= 6 and v["states"] == 7 + v["events"] == v["bad_states"] and v["ways"] == 0, v
events = [f for f in v["frames"] if f.get("event")]
assert events and all(e["intersections"] > 0 and e["on_way"] is None for e in events), v
assert all(round(e["time"] / 0.05 % 1, 9) not in (0, 1) for e in events), events
PYTHON
same_results events events-unseen

# From event to event the ways are the motion itself: fast contact that straight ways from step to step cut through is clean.
cat >fast.json <<'JSON'
{
  "rubato": 1,
  "bodies": [
    {"name": "cloth", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 5, "cells_across": 5}}},
     "shell": {"thickness": 0.01}, "material": {"young": 1e4, "density": 200}},
    {"name": "ball", "mesh": {"shape": {"ball": {"radius": 0.15, "layers": 1}}}, "transform": {"translate": [0.01, 0.2, 0.02]},
     "material": {"young": 1e4, "density": 300}, "velocity": {"linear": [3, -60, 1]}}
  ],
  "time": {"step": 0.004, "frame": 0.004, "end": 0.008},
  "integrator": {"method": "async-contact"}
}
JSON
says 0 '' "$rubato" run fast.json -o fast --verify-events -q
python3 -c 'import json; v = json.load(open("fast/run.json"))["verify"]; assert v["events"] > 50 and v["ways"] == v["states"] - 1, v'
says 1 'goes in steps and has no events' "$rubato" run bullet.json -o during --verify-events -q
touch miss/failed.rbt
says 0 'frame   3 of 3' "$rubato" run bullet.json -o miss --verify --set bodies[2].transform.translate=[-1,1.5,0]
grep -q '"clean": true' miss/run.json || fail "run.json should say clean"
[ ! -e miss/failed.rbt ] || fail "failed.rbt of the earlier run is still there"
says 0 '"intersections": 0' "$rubato" run bullet.json -o miss --verify --log json --frames 1 --set bodies[2].transform.translate=[-1,1.5,0]
"$rubato" run bullet.json -o miss -q --set bodies[2].transform.translate=[-1,1.5,0]

# Particles are solid. Four fly into a grid of others, out of it, and through a wall between two frames.
cat >dust.json <<'JSON'
{
  "rubato": 1,
  "bodies": [
    {"name": "dust", "mesh": {"shape": {"cloth": {"cells_along": 3, "cells_across": 3, "length": 0.3, "width": 0.3}}}, "particles": {"radius": 0.04, "mass": 1}},
    {"name": "bullet", "mesh": {"shape": {"cloth": {"cells_along": 1, "cells_across": 1, "length": 0.1, "width": 0.1}}},
     "transform": {"translate": [0, 1, 0]}, "particles": {"radius": 0.02, "mass": 1}, "velocity": {"linear": [0, -20, 0]}},
    {"name": "wall", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 4, "cells_across": 4}}}, "transform": {"translate": [0.01, -1.5, 0.02]},
     "shell": {"thickness": 0.001}, "material": {"young": 10}, "fixed": [{"box": {"min": [0, 0, 0], "max": [1, 1, 1], "relative": true}}]}
  ],
  "time": {"step": 0.05, "frame": 0.05, "end": 0.15},
  "integrator": {"method": "symplectic-euler"}
}
JSON
"$rubato" run dust.json -o dust -q
"$rubato" verify dust --json >dust.txt || [ $? = 1 ] || fail "particles should be judged"
python3 - <<'PYTHON'
import json
r = json.load(open("dust.txt"))
assert r["particles"] == 20 and r["particles_not_judged"] == 0 and r["obstacles"] == 0, r
f = r["frames"]
assert [x["intersections"] for x in f] == [0, 4, 0, 0], f  # frame 1: in the place of four of the dust
assert f[1]["on_way"] == f[2]["on_way"] == 4 and f[3]["on_way"] >= 4, f  # into the dust, out of it, through the wall
assert f[1]["first"][0]["kind"] == "round-round" and set(f[1]["first"][0]["bodies"]) == {"dust", "bullet"}, f
PYTHON
says 1 'particle 16 of "bullet"' "$rubato" verify dust --pairs 99
says 1 'hits triangle' "$rubato" verify dust --pairs 99
"$rubato" run dust.json -o beside -q --set 'bodies[1].transform.translate=[3,1,0]'
says 0 'no intersections in 4 states' "$rubato" verify beside
rm dust/scene.json
says 0 'of unknown radius are not judged; scene.json cannot be read' "$rubato" verify dust --frames-only

# Obstacles that keep bodies out are solid, wherever their scripts bring them; here nothing keeps them, so that all four kinds go through a body. What
# stands still may be built into what stands still: the root, half below the ground.
cat >stage.json <<'JSON'
{
  "rubato": 1,
  "bodies": [
    {"name": "block", "material": {"young": 1e6}, "mesh": {"shape": {"cuboid": {"size": [0.2, 0.2, 0.2], "cells": [1, 1, 1]}}}, "velocity": {"linear": [1e-3, 0, 0]}},
    {"name": "root", "material": {"young": 1e6}, "mesh": {"shape": {"cuboid": {"size": [0.2, 0.2, 0.2], "cells": [1, 1, 1]}}}, "transform": {"translate": [9, -1, 0]},
     "fixed": [{"box": {"min": [0, 0, 0], "max": [1, 1, 1], "relative": true}}]}
  ],
  "obstacles": [{"plane": {"point": [0, -1, 0]}}],
  "time": {"step": 0.05, "frame": 0.05, "end": 0.2},
  "integrator": {"method": "async-contact", "options": {"contact": false}}
}
JSON
script='"motions": [{"velocity": {"velocity": [0, 10, 0]}}]'
judged() { # NAME OBSTACLE EXPECTED...: the run's own report and that of its folder agree, and frames have the intersections expected
    "$rubato" run stage.json -o stage-$1 -q --verify --set "obstacles=[$2]" || [ $? = 1 ] || fail "stage-$1"
    "$rubato" verify stage-$1 --ways --json >stage.txt || [ $? = 1 ] || fail "verify stage-$1"
    python3 - "$1" "${@:3}" <<'PYTHON'
import json, sys
name, expected = sys.argv[1], [word == "1" for word in sys.argv[2:]]
r, v = json.load(open("stage.txt")), json.load(open(f"stage-{name}/run.json"))["verify"]
assert r["obstacles"] == 1 and r["obstacles_not_judged"] == 0, r
assert [x["intersections"] > 0 for x in r["frames"]] == expected, (name, [x["intersections"] for x in r["frames"]])
own = [x["first"] for x in v["frames"] if not x.get("event")]  # without ways, which the method has no straight ones of
assert own == [x["first"][:min(3, x["intersections"])] for x in r["frames"] if x["intersections"]], (own, r)
for x in r["frames"]:
    for i in x["first"]:
        assert "obstacles[0]" in i["bodies"] and ("block" in i["bodies"] or name == "plane"), i
assert any(expected) or r["clean"] is (name in ("still", "beside")), r
PYTHON
}
judged still '{"plane": {"point": [0, -1, 0]}}' 0 0 0 0 0
judged plane "{\"plane\": {\"point\": [0, -0.99, 0], $script}}" 0 1 1 1 1
judged sphere "{\"sphere\": {\"centre\": [0, -1, 0], \"radius\": 0.05, $script}}" 0 0 0 0 0
judged slow-sphere "{\"sphere\": {\"centre\": [0, -0.6, 0], \"radius\": 0.05, $script}}" 0 1 0 0 0
judged beside "{\"sphere\": {\"centre\": [0.5, -1, 0], \"radius\": 0.05, $script}}" 0 0 0 0 0
judged capsule "{\"capsule\": {\"a\": [-1, -1.05, 0], \"b\": [1, -1.05, 0.1], \"radius\": 0.05, $script}}" 0 0 1 0 0
judged box "{\"box\": {\"min\": [-0.3, -1.1, -0.05], \"max\": [0.3, -1, 0.05], $script}}" 0 0 1 0 0
says 1 'triangle of "obstacles[0]"' "$rubato" verify stage-box --ways
says 1 'sphere of "obstacles[0]" hits triangle' "$rubato" verify stage-sphere --ways
says 1 'rod of "obstacles[0]" overlaps triangle' "$rubato" verify stage-capsule --ways
says 0 'no intersections in 5 states (' "$rubato" verify stage-sphere
says 0 'ways are not judged' "$rubato" verify stage-sphere
says 1 'of "block" is behind plane of "obstacles[0]"' "$rubato" verify stage-plane --pairs 99
"$rubato" run stage.json -o soft -q --method semi-implicit --set 'integrator.options={}' --set 'obstacles=[{"plane": {"point": [0, 0, 0]}}]'
says 0 '1 obstacles are not judged, the method lets bodies sink in' "$rubato" verify soft

# In the file's own precision only if that is the run's: else from checkpoints, with the same result.
"$rubato" run bullet.json -o single -q --set output.single_precision=true
"$rubato" verify single --json >single.json || [ $? = 1 ] || fail "single precision with checkpoints"
[ "$(grep -v seconds report.json)" = "$(grep -v seconds single.json)" ] || fail "checkpoints should give the same result"
rm single/checkpoints/000002.rbt
says 2 'frame_000002.vtu: holds positions in single precision, and there is no checkpoint of frame 2' "$rubato" verify single
echo garbage >single/checkpoints/000002.rbt
says 2 'single/checkpoints/000002.rbt' "$rubato" verify single

# The state before a failed step is one more state.
cp hit/checkpoints/000000.rbt miss/failed.rbt
says 1 'on the ways between them' "$rubato" verify miss
echo x >miss/failed.rbt
says 2 'miss/failed.rbt' "$rubato" verify miss
rm miss/failed.rbt

# What is not there, and what is not right.
says 2 'nowhere: cannot open the folder of a run: No such file or directory' "$rubato" verify nowhere
says 2 'bullet.json: is no folder' "$rubato" verify bullet.json
mkdir -p empty/frames
says 2 'empty: has no frames/frame_*.vtu' "$rubato" verify empty
printf '{"rubato": 1, "bodies": [{"name": "net", "mesh": {"file": "line.obj"}, "springs": {"stiffness": 1, "node_mass": 1}}], "time": {"step": 0.1, "frame": 0.1, "end": 0.1}, "integrator": {"method": "symplectic-euler"}}' >net.json
printf 'v 0 0 0\nv 1 0 0\nl 1 2\n' >line.obj
"$rubato" run net.json -o net -q
says 2 'there are no surfaces' "$rubato" verify net
says 1 'there are no surfaces' "$rubato" run net.json -o net --verify
says 2 'usage: rubato verify DIR' "$rubato" verify
says 2 '--pairs must be at least 0, found -1' "$rubato" verify hit --pairs -1
says 0 'between frames' "$rubato" verify --help
cp -r miss broken
rm broken/frames/frame_000001.vtu
says 2 'frame 1 is missing, but there is frame 2' "$rubato" verify broken
: >broken/frames/frame_000001.vtu
says 2 'broken/frames/frame_000001.vtu' "$rubato" verify broken
head -c 2000 miss/frames/frame_000001.vtu >broken/frames/frame_000001.vtu
says 2 'broken/frames/frame_000001.vtu' "$rubato" verify broken
sed 's/Name="body"/Name="bodi"/' miss/frames/frame_000001.vtu >broken/frames/frame_000001.vtu
cp broken/frames/frame_000001.vtu broken/frames/frame_000000.vtu
says 2 'has no array "body" on its cells' "$rubato" verify broken
echo '{' >miss/scene.json # names are lost, the judgement is not
says 0 'no intersections' "$rubato" verify miss

# Bytes changed at random: an answer or a sentence, never anything else.
cat >garble.py <<'PYTHON'
import random, subprocess, sys
random.seed(5)
good = open("hit/frames/frame_000002.vtu", "rb").read()
for n in range(40):
    data = bytearray(good)
    for _ in range(random.choice([1, 8, 64])):
        data[random.randrange(len(data))] = random.randrange(256)
    if n % 5 == 0:
        data = data[: random.randrange(len(data))]
    open("hit/frames/frame_000002.vtu", "wb").write(data)
    r = subprocess.run([sys.argv[1], "verify", "hit", "-q"], capture_output=True, timeout=200)
    assert r.returncode in (0, 1, 2), (n, r)
    assert (r.returncode == 2) == (len(r.stderr) > 0), (n, r)
PYTHON
python3 garble.py "$rubato"
