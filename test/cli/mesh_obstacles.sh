#!/usr/bin/env bash
# Obstacles that are meshes, from scene to picture: a run with one at rest, one that turns and one that follows files; judged
# and drawn from its folder alone, wherever that is; the same bytes with other numbers of threads and after a resume.
set -eu
source "$(dirname "$0")/lib.sh"
cp -r "$source_folder/scenes/async-contact" scenes
scene=scenes/moving-meshes.json
small=(--set bodies[0].mesh.shape.cloth.cells_along=6 --set bodies[0].mesh.shape.cloth.cells_across=6 --set time.end=0.3
    --set obstacles[0].mesh.mesh.shape.torus.cells=12 --set obstacles[0].mesh.mesh.shape.torus.rings=1)
says 0 'obstacles[2]: its surface is open, 16 edges' "$rubato" run $scene -o whole -q --threads 1 --verify-steps "${small[@]}"
grep -q '"contact_forces": [1-9]' whole/run.json || fail "nothing touches"
for threads in 2 3; do
    "$rubato" run $scene -o many -q --threads $threads "${small[@]}" 2>/dev/null
    same_results whole many
    rm -rf many
done
"$rubato" run $scene -o broken -q --frames 9 "${small[@]}" 2>/dev/null
"$rubato" run $scene -o broken -q --resume "${small[@]}" 2>/dev/null
same_results whole broken

# Frames of a run as a sequence for the next one: the wave it made moves a mesh there.
cat >ball.json <<'JSON'
{"rubato": 1,
 "bodies": [{"name": "sheet", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 4, "cells_across": 4}}},
             "shell": {"thickness": 0.01}, "fixed": ["left"], "velocity": {"linear": [0, 2, 0]}}],
 "time": {"step": 0.001, "frame": 0.01, "end": 0.1}, "integrator": {"method": "semi-implicit"}, "output": {"pc2": true, "obj": true}}
JSON
"$rubato" run ball.json -o sheet -q
for file in sheet/surface.pc2 'sheet/obj/frame_######.obj'; do
    cat >next.json <<JSON
{"rubato": 1,
 "bodies": [{"name": "ball", "mesh": {"shape": {"polyhedron": {"kind": "icosahedron", "radius": 0.1, "cells": 1}}},
             "transform": {"translate": [0.21, 0.2, 0.02]}, "shell": {"thickness": 0.01}, "velocity": {"linear": [0, -2, 0]}}],
 "obstacles": [{"mesh": {"mesh": {"file": "sheet/surface.obj"}, "sequence": {"file": "$file", "last": 10, "rate": 100}}}],
 "time": {"step": 0.001, "frame": 0.01, "end": 0.1},
 "integrator": {"method": "async-contact", "options": {"thickness": 0.01, "stiffness": 1000}}}
JSON
    "$rubato" run next.json -o next -q --verify-events 2>/dev/null || fail "a run that follows $file does not end well"
    grep -q '"contact_forces": [1-9]' next/run.json || fail "nothing touches what follows $file"
done

# Without what the scene names
rm -r scenes sheet
mkdir elsewhere
mv whole elsewhere/
says 0 'no intersections in 16 states' "$rubato" verify elsewhere/whole
says 0 '2 frames' "$rubato" render elsewhere/whole -o picture.png --frames 0,last
# The judge does look at them: a mesh elsewhere is hit.
cp -r elsewhere/whole moved
python3 - <<'PYTHON'
import struct
data = bytearray(open("moved/obstacles.rbt", "rb").read())
number, nodes, triangles, frames = struct.unpack_from("<4Q", data, 16)
assert number == 0 and frames == 1, (number, frames)
at = 16 + 64 + 12 * triangles + (4 if triangles % 2 else 0)
for i in range(nodes):
    y, = struct.unpack_from("<d", data, at + 24 * i + 8)
    struct.pack_into("<d", data, at + 24 * i + 8, y + 0.25)
open("moved/obstacles.rbt", "wb").write(data)
PYTHON
says 1 'of "cloth"' "$rubato" verify moved
says 1 'obstacles[0]' "$rubato" verify moved
head -c 1000 elsewhere/whole/obstacles.rbt >moved/obstacles.rbt
says 2 'obstacles.rbt: is damaged' "$rubato" verify moved
rm moved/obstacles.rbt
says 2 'wave_0.obj' "$rubato" verify moved
echo "runs, judges and pictures agree"
