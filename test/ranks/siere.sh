#!/usr/bin/env bash
# siere on ranks. With schwarz it leaves the bytes of the program without ranks: on 2 and 3 ranks, with modes "auto",
# consistent mass and bodies damped differently, modes found finely, steps that are short beside the modes' periods,
# linear bodies, a few free nodes, a matrix that is indefinite, and after a resume on another number of ranks. MUMPS,
# GAMG and the one factor of the program without ranks give the same motion to the tolerance. Modes of 2 ranks are
# ARPACK's to 1e-8. $4 is modes_against_arpack.
set -eu
against_arpack=$(realpath "$4")
source "$(dirname "$0")/lib.sh"
write_ranks_scene scene.json
siere=(--set integrator.method=siere --set integrator.solver=schwarz --set integrator.options.subdomains=4
    --set 'bodies[0].mesh.shape.cuboid.cells=[8,2,2]')

# check NAME COUNTS SCENE setting…: SCENE without ranks is left in the folder NAME
check() {
    local name=$1 counts=$2 scene=$3 count
    shift 3
    "$rubato" run "$scene" -o "$name" -q -t 2 "${siere[@]}" "$@" 2>said.txt || fail "$name failed: $(cat said.txt)"
    for count in $counts; do
        ranks "$count" run "$scene" -o "$name-$count" -q -t $((count == 2 ? 2 : 1)) "${siere[@]}" "$@" 2>said.txt ||
            fail "$name on $count ranks failed: $(cat said.txt)"
        same_run "$name" "$name-$count"
        rm -r "$name-$count"
    done
}
check plain "2 3" scene.json
check none "2" scene.json --set integrator.options.modes=0
check auto "3" scene.json --set integrator.options.modes=auto --set integrator.options.modes_energy=0.6 \
    --set integrator.options.max_modes=10 --set time.end=0.02
check damped "2" scene.json --set 'bodies[1].damping.mass=0.5' --set 'bodies[0].consistent_mass=true'

# A bar that hangs from one end, its step short or long beside its slowest period of 0.3 s
cat >bar.json <<'JSON'
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [1, 0.25, 0.2], "cells": [8, 2, 2]}}},
    "material": {"model": "stable-neo-hookean", "young": 2e5, "poisson": 0.4, "density": 1000},
    "fixed": [{"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": true}}]
  }],
  "forces": [{"gravity": {}}],
  "probes": [{"name": "end", "where": {"box": {"min": [0.99, 0, 0], "max": [1, 1, 1], "relative": true}}}],
  "output": {"checkpoint_every": 1, "checkpoint_keep": 0},
  "time": {"step": 0.02, "frame": 0.02, "end": 0.06},
  "integrator": {"options": {"modes": 6, "tolerance": 1e-11}}
}
JSON
check short "2" bar.json --set time.step=1e-4 --set time.frame=1e-4 --set time.end=3e-4
check linear "2" bar.json --set 'bodies[0].material.model=linear'
few='bodies[0].fixed=[{"box": {"min": [0, 0, 0], "max": [0.99, 1, 1], "relative": true}},
    {"box": {"min": [0, 0, 0], "max": [1, 1, 0.8], "relative": true}}]'
check few "3" bar.json --set "$few"
check flat "2" bar.json --set time.end=0.04 --set integrator.options.tolerance=0.3 \
    --set 'bodies[0].deform=[{"scale": {"factors": [0.7, 1, 1]}}]'
python3 - flat/run.json <<'PYTHON' || fail "no matrix was indefinite"
import json, sys
sys.exit(json.load(open(sys.argv[1]))["fallbacks"]["projected"] == 0)
PYTHON

# Modes against ARPACK's: at rest, found from nothing, and in motion, followed from step to step
check fine "3" bar.json
for solver in schwarz petsc-gamg petsc-mumps; do
    ranks 2 run bar.json -o "modes-$solver" -q -t 1 "${siere[@]}" --set integrator.solver=$solver 2>said.txt ||
        fail "$solver: $(cat said.txt)"
    [ $solver != schwarz ] || same_run fine modes-schwarz
    for frame in 1 3; do "$against_arpack" "modes-$solver/scene.json" "modes-$solver" $frame || fail "$solver"; done
done
ranks 2 run bar.json -o modes-short -q -t 1 "${siere[@]}" --set time.step=1e-4 --set time.frame=1e-4 \
    --set time.end=1e-4 --set integrator.options.tolerance=1e-14 2>/dev/null  # of 1 / step^2
"$against_arpack" modes-short/scene.json modes-short 1 || fail "short steps"

# The motion of all solvers: what 1e-9 in the residuals of solves and the tolerance of modes leave
"$rubato" run scene.json -o direct -q -t 1 "${siere[@]}" --set integrator.solver=cholesky 2>/dev/null
for solver in petsc-mumps petsc-gamg; do
    ranks 2 run scene.json -o $solver -q -t 1 "${siere[@]}" --set integrator.solver=$solver 2>/dev/null
done
python3 - direct plain petsc-mumps petsc-gamg <<'PYTHON' || fail "solvers disagree"
import csv, sys
tables = [[list(map(float, row[2:14])) for row in list(csv.reader(open(name + "/energy.csv")))[1:]]
          for name in sys.argv[1:]]
for name, table in zip(sys.argv[2:], tables[1:]):
    size = max(abs(v) for row in tables[0] for v in row)
    off = max(abs(a - b) for one, two in zip(tables[0], table) for a, b in zip(one, two)) / size
    print(name, "differs by", off)
    if not (off < 1e-6 and len(table) == len(tables[0])):
        sys.exit(1)
PYTHON

# Continued on other ranks, and without
ranks 3 run scene.json -o parts -q -t 1 -n 1 "${siere[@]}" 2>/dev/null
ranks 2 run scene.json -o parts -q -t 1 -n 2 --resume "${siere[@]}" 2>/dev/null
cp -r parts alone
ranks 1 run scene.json -o parts -q -t 1 --resume "${siere[@]}" 2>/dev/null
same_run plain parts
"$rubato" run scene.json -o alone -q -t 1 --set output.vtu=false --from-frame 2 "${siere[@]}" 2>/dev/null
cmp plain/checkpoints/000003.rbt alone/checkpoints/000003.rbt || fail "the program without ranks continues differently"

says 1 "take project, or the solver cholesky" "$rubato" run scene.json -o refused -q "${siere[@]}" \
    --set integrator.options.indefinite=factor
