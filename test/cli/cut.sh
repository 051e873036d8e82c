#!/usr/bin/env bash
# Cuts while a run continues, with every method: frames with changing points and cells, the same bytes for any number of threads and
# after continuing from a frame between strokes, pictures, and the formats that cannot hold it. A method continues from
# one of two frames, the next one from the other; RUBATO_TEST_WHOLE=1, as in `make soak`, lets all continue from both.
set -eu
source "$(dirname "$0")/lib.sh"
cat >scene.json <<'JSON'
{
  "rubato": 1,
  "about": "a hanging bar that is cut in strokes, and across in the world, for tests",
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [1, 0.25, 0.25], "cells": [12, 3, 3]}}},
    "material": {"model": "stable-neo-hookean", "young": 1e5, "poisson": 0.4, "density": 1000},
    "fixed": [{"box": {"min": [0, 0, 0], "max": [0, 1, 1], "relative": true}}]
  }, {
    "name": "flag",
    "mesh": {"shape": {"ribbon": {"length": 0.5, "width": 0.2, "cells_along": 10, "cells_across": 4}}},
    "transform": {"translate": [0, 0.5, 0]},
    "shell": {"thickness": 0.005}, "material": {"young": 1e5, "density": 500}, "fixed": ["left"]
  }],
  "forces": [{"gravity": {}}],
  "cuts": [
    {"time": 0.05, "until": 0.2, "strokes": 5, "body": "bar", "tolerance": 0.2,
     "surface": {"rectangle": {"corner": [0.43, 1.2, -0.2], "along": [0.05, -1.5, 0], "across": [0, 0, 1.5], "relative": true}}},
    {"time": 0.11, "deformed": true, "tolerance": 0.2, "surface": {"plane": {"point": [0.1, 0.3, 0.03], "normal": [0.1, 0, 1]}}}],
  "time": {"step": 0.01, "frame": 0.04, "end": 0.28},
  "integrator": {"method": "semi-implicit"},
  "output": {"vtu": true, "obj": true}
}
JSON
count=0 turn=0
for method in $("$rubato" methods | grep -v '^ ' | grep .); do
    settings=(--method "$method")
    [ "$method" = symplectic-euler ] && settings+=(--set time.step=0.0001)
    if [ "$method" = async-contact ]; then
        says 1 'the faces of a cut touch each other' "$rubato" run scene.json -o refused -q --method "$method"
        settings=(--set integrator.method="$method" --set integrator.options.contact=false)
    fi
    for threads in 1 3; do
        "$rubato" run scene.json -o "run-$threads" -q --threads $threads "${settings[@]}"
        same_results run-1 "run-$threads"
    done
    [ "$(wc -l <run-1/energy.csv)" = 9 ] || fail "energy.csv has not a row for each of 8 frames"
    turn=$((turn + 1))
    for frame in 2 4; do # between strokes; after all strokes and the second cut but one
        if [ -z "${RUBATO_TEST_WHOLE:-}" ] && [ $((turn % 2)) = $((frame / 2 % 2)) ]; then continue; fi
        rm -rf broken
        "$rubato" run scene.json -o broken -q --threads 1 "${settings[@]}" --frames $frame
        "$rubato" run scene.json -o broken -q --threads 1 "${settings[@]}" --resume
        same_results run-1 broken
        count=$((count + 1))
    done
done
# A step that is the method's choice is chosen again after each cut, by a resumed run, too.
settings=(--method imex --set 'time.step="auto"')
"$rubato" run scene.json -o chosen -q --threads 1 "${settings[@]}"
for frame in 2 4; do
    rm -rf broken
    "$rubato" run scene.json -o broken -q --threads 1 "${settings[@]}" --frames $frame
    "$rubato" run scene.json -o broken -q --threads 2 "${settings[@]}" --resume
    same_results chosen broken
    count=$((count + 1))
done
for threads in 2 8; do
    "$rubato" run scene.json -o "run-$threads" -q --threads $threads "${settings[@]}"
    same_results chosen "run-$threads"
done
points() { grep -ao 'NumberOfPoints="[0-9]*"' "$1" | head -1 | tr -dc 0-9; }
before=$(points run-1/frames/frame_000001.vtu) middle=$(points run-1/frames/frame_000003.vtu) after=$(points run-1/frames/frame_000007.vtu)
[ "$before" -lt "$middle" ] && [ "$middle" -lt "$after" ] || fail "points do not grow with the cuts: $before, $middle, $after"
"$rubato" render run-1 --frames 0,3,7 -o picture.png >/dev/null
"$rubato" render run-1 --color stress -o stress.png >/dev/null
for format in pc2 usda; do
    says 1 "$format files hold one set of vertices and triangles for all frames, but this scene cuts bodies" \
        "$rubato" run scene.json -o refused --set output.$format=true
done
echo "$count runs continued"
