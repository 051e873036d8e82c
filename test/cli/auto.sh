#!/usr/bin/env bash
# auto.sh RUBATO SOURCE: "method": "auto". --explain runs nothing; a choice is written down, and runs that repeat it or continue take
# it: the same bytes for 1, 2, 3 and 8 threads, resumed and from a frame, also where the method changes at a frame.
set -eu
source "$(dirname "$0")/lib.sh"
export RUBATO_COSTS=$work/costs

cat >scene.json <<'END'
{"rubato": 1,
 "bodies": [{"name": "bar", "mesh": {"shape": {"bar": {"size": [1, 0.2, 0.2], "cells": [6, 2, 2]}}}, "fixed": ["left"],
             "material": {"young": 1e5}}],
 "forces": [{"gravity": {}}], "obstacles": [{"plane": {"point": [0, -0.3, 0]}}],
 "time": {"step": "auto", "frame": 0.02, "end": 0.2}, "integrator": {"method": "auto"}}
END
says 0 'Chosen: ' "$rubato" run scene.json -o none --explain
[ ! -e none ] || fail "--explain should run nothing"
says 0 'The scene names its method, bdf2 with newton' "$rubato" run scene.json --explain -m bdf2
says 0 'fine: 1 body, a method to be chosen' "$rubato" check scene.json
"$rubato" run scene.json -o chosen | grep -q '^Chosen: ' || fail "the head of a run should say what was chosen"
[ "$(wc -l <chosen/choice.csv)" -ge 2 ] || fail "the choice is not written down"
grep -q '"choices": \[' chosen/run.json || fail "run.json does not tell the choice"
grep -q '"why": "Chosen: ' chosen/run.json || fail "run.json does not say why"

# A choice with changes, as a run could have made them
mkdir recorded
cat >recorded/choice.csv <<'END'
frame,method,solver,error,longest,occasion
0,bdf2,newton,0.01,0,the run begins
3,symplectic-euler,-,0.01,0.00048828125,contact began
6,siere,cholesky,0.02,0,steps became dear
END
"$rubato" run scene.json -o whole -q --threads 1 --choices recorded
cmp recorded/choice.csv whole/choice.csv || fail "the choices should be those that were taken"
grep -q '"method": "siere"' whole/run.json || fail "the last method is siere"
for threads in 2 3 8; do
    "$rubato" run scene.json -o other -q --threads $threads --choices recorded
    same_results whole other
done
for frame in 2 3 4 6 8; do
    "$rubato" run scene.json -o part -q --choices recorded --frames $frame
    "$rubato" run scene.json -o part -q --resume
    same_results whole part
    "$rubato" run scene.json -o other -q --from-frame $frame
    same_results whole other
done

# The scene of a run that chose is run again as it was, unless something about it is changed.
cp -r whole elsewhere
"$rubato" run elsewhere/scene.json -o other -q --threads 2
same_results whole other
cmp whole/choice.csv other/choice.csv || fail "the scene of a run should be run with its choices"
says 0 'those that the run beside elsewhere/scene.json has chosen' "$rubato" run elsewhere/scene.json -o other --frames 1
"$rubato" run elsewhere/scene.json -o other -q -m bdf2 --frames 1
grep -q '"method": "bdf2"' other/run.json || fail "what was chosen lasts although a method is named"
"$rubato" run elsewhere/scene.json -o again -q -m auto --frames 1
grep -q 'the run begins' again/choice.csv || fail "-m auto should choose again"
# A look that keeps the method is a choice too: a bdf2 that is taken again has not forgotten anything.
mkdir kept once
head -2 recorded/choice.csv | tee once/choice.csv >kept/choice.csv
printf '4,bdf2,newton,0.01,0,steps became dear\n' >>kept/choice.csv
"$rubato" run scene.json -o plain -q --choices once
"$rubato" run scene.json -o looked -q --choices kept
same_results plain/frames looked/frames
"$rubato" run scene.json -o looked -q --choices kept --frames 4
"$rubato" run scene.json -o looked -q --resume
same_results plain/frames looked/frames

# ---- What is wrong
mkdir damaged
printf 'frame,method,solver,error,longest,occasion\n0,bdf3,newton,0.01,0,x\n' >damaged/choice.csv
says 1 'damaged/choice.csv:2: is no choice of a method' "$rubato" run scene.json -o refused -q --choices damaged
says 1 'holds no choice.csv' "$rubato" run scene.json -o refused -q --choices nowhere
says 1 'integrator.solver' "$rubato" check scene.json --set integrator.solver=newton
# a method without solvers has nothing to choose from, and that is no mistake
says 0 'fine: 1 body, symplectic-euler' "$rubato" check scene.json --set integrator.method=symplectic-euler --set integrator.solver=auto
says 1 'integrator.options' "$rubato" check scene.json --set integrator.options.tolerance=1
says 1 'found no method that can do this scene' "$rubato" run scene.json -o refused -q --set time.step=0.5 --set 'contact={"solver": "augmented-lagrangian"}' \
    --set 'bodies[1]={"name": "sheet", "mesh": {"shape": {"cloth": {}}}, "shell": {"thickness": 0.001, "yield": 0.1}, "transform": {"translate": [0, 9, 0]}}'
