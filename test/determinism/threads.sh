#!/usr/bin/env bash
# 1, 2, 3 and 8 threads give the same bytes, with every method and every material; likewise with shells beside a solid.
# One thread is compared with one of the other counts, in the next comparison with the next, and a method has every
# second material, the next method the others; RUBATO_TEST_WHOLE=1, as in `make soak`, compares all of them.
set -eu
source "$(dirname "$0")/../cli/lib.sh"
write_scene scene.json
materials=$(grep -m 1 '"Law of elasticity' "$source_folder/docs/scene.schema.json" | sed 's/.*"enum": \[\([^]]*\)\].*/\1/' | tr -d '",')
[ "$(wc -w <<<"$materials")" -ge 7 ] || fail "the schema lists too few materials: $materials"
count=0 turn=0 pair=0 which=0
# next_counts: the numbers of threads of the next comparison, which finds nothing of the one before.
next_counts() {
    rm -rf run-?
    case $((turn++ % 3))${RUBATO_TEST_WHOLE:+whole} in
    0) counts="1 2" ;;
    1) counts="1 3" ;;
    2) counts="1 8" ;;
    *) counts="1 2 3 8" ;;
    esac
}
# A method that is not stable at the scene's step takes one that is: step_for SCENE METHOD STEP [settings].
step_for() {
    if "$rubato" run "$1" -o probe -q --method "$2" --set time.step="$3" "${@:4}" -n 1 >probe.txt 2>&1; then echo "$3"
    elif grep -q 'unstable in stage' probe.txt; then echo 0.0002
    else fail "$2 cannot run $1: $(cat probe.txt)"; fi
    rm -rf probe
}
for method in $("$rubato" methods | grep -v '^ ' | grep .); do
    step=$(step_for scene.json "$method" 0.01 --set 'bodies[0].mesh.shape.cuboid.cells=[24,6,6]')
    for material in $materials; do
        if [ -z "${RUBATO_TEST_WHOLE:-}" ] && (((pair++ + which) % 2)); then continue; fi
        next_counts
        for threads in $counts; do
            "$rubato" run scene.json -o "run-$threads" -q --threads "$threads" --method "$method" --set time.step=$step \
                --set time.end=0.02 --set "bodies[0].material.model=$material" \
                --set 'bodies[0].mesh.shape.cuboid.cells=[24,6,6]' # enough nodes for several threads
            same_results run-1 "run-$threads"
            count=$((count + 1))
        done
    done
    which=$((which + 1)) pair=0
done

cat >sheets.json <<'JSON'
{
  "rubato": 1,
  "bodies": [
    {"name": "cloth", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 30, "cells_across": 30}}},
     "transform": {"translate": [0, 0.31, 0]}, "material": {"young": 1e5, "density": 500},
     "shell": {"thickness": 0.002, "bending": 1e-3}, "damping": {"stiffness": 1e-4}},
    {"name": "flag", "mesh": {"shape": {"ribbon": {"length": 1, "width": 0.3, "cells_along": 30, "cells_across": 9}}},
     "transform": {"translate": [0, 1, 0]}, "material": {"young": 1e5, "density": 500},
     "shell": {"thickness": 0.002, "membrane": "springs"}, "fixed": ["left"]},
    {"name": "block", "mesh": {"shape": {"cuboid": {"size": [0.4, 0.2, 0.2], "cells": [8, 4, 4]}}},
     "transform": {"translate": [0, 2, 0]}, "material": {"young": 1e5}, "velocity": {"angular": [3, 2, 1]}}],
  "forces": [{"gravity": {}}, {"wind": {"velocity": [8, 0, 3], "gust": 0.5}}],
  "obstacles": [{"sphere": {"centre": [0, 0, 0], "radius": 0.3, "stiffness": 1e6}}],
  "time": {"step": 0.005, "frame": 0.01, "end": 0.02},
  "integrator": {"method": "semi-implicit"},
  "output": {"vtu": true, "obj": true, "pc2": true, "usda": true}
}
JSON
for method in $("$rubato" methods | grep -v '^ ' | grep .); do
    step=$(step_for sheets.json "$method" 0.005)
    next_counts
    for threads in $counts; do
        "$rubato" run sheets.json -o "run-$threads" -q --threads "$threads" --method "$method" --set time.step=$step
        same_results run-1 "run-$threads"
        count=$((count + 1))
    done
done
# Islands of implicit nodes beside explicit ones, of few nodes and of many, and a block of all of them
cat >slivers.json <<'JSON'
{
  "rubato": 1,
  "bodies": [{"name": "liver", "mesh": {"shape": {"liver": {"resolution": 30}}, "slivers": {"share": 0.02, "height": 0.02}},
              "material": {"model": "corotational", "young": 2e4, "density": 1000}, "velocity": {"angular": [3, 2, 1]}}],
  "time": {"step": 0.0005, "frame": 0.005, "end": 0.01},
  "integrator": {"method": "imex"}
}
JSON
for solver in lagged cg cached cholesky; do
    next_counts
    for threads in $counts; do
        "$rubato" run slivers.json -o "run-$threads" -q --threads "$threads" --set "integrator.solver=\"$solver\""
        same_results run-1 "run-$threads"
        count=$((count + 1))
    done
done
echo "$count runs"
