#!/usr/bin/env bash
# steps.sh RUBATO SOURCE: steps by error. steps.csv tells every attempt; threads, a resumed run and one from a frame give the same
# bytes; `plot --steps` draws it; goals and steps that make no sense get their sentence.
set -eu
source "$(dirname "$0")/lib.sh"

cat >scene.json <<'END'
{"rubato": 1,
 "bodies": [{"name": "bar", "mesh": {"shape": {"bar": {"size": [1, 0.2, 0.2], "cells": [6, 2, 2]}}}, "fixed": ["left"],
             "material": {"young": 1e5}}],
 "forces": [{"gravity": {}}], "obstacles": [{"plane": {"point": [0, -0.3, 0]}}],
 "time": {"step": "auto", "frame": 0.02, "end": 0.2}, "integrator": {"method": "bdf2"}}
END
for method in bdf2 siere; do
    "$rubato" run scene.json -o whole -q --threads 1 -m $method
    [ "$(head -n 1 whole/steps.csv)" = "frame,time,step,estimate,accepted,why" ] || fail "wrong columns in steps.csv"
    [ "$(grep -c ',1,frame$' whole/steps.csv)" = 11 ] || fail "steps.csv has not a row for each of 11 frames"
    awk -F, 'NR > 1 && $6 != "frame" && $5 == 1 { t = $2 + $3; n++ } NR > 1 && $6 == "frame" && $1 > 0 { if (t - $2 > 1e-12 || $2 - t > 1e-12) exit 1 }
        END { exit n < 20 }' whole/steps.csv || fail "accepted steps do not end at the frames"
    for threads in 2 3 8; do
        "$rubato" run scene.json -o other -q --threads $threads -m $method
        same_results whole other
    done
    "$rubato" run scene.json -o part -q --frames 4 -m $method
    "$rubato" run scene.json -o part -q --resume -m $method
    same_results whole part
    "$rubato" run scene.json -o part -q --from-frame 3 -m $method
    same_results whole part
done
grep -q '"step": "auto"' whole/run.json || fail "run.json does not say that steps were chosen"
grep -q '"steps_by_error": {"error": 0.05' whole/run.json || fail "run.json does not say which error was asked for"
"$rubato" run scene.json -o part --frames 1 -m siere | grep -q 'siere, steps for an error of 0.05' || fail "the head of a run should tell the error"

[ "$("$rubato" plot whole --steps)" = whole/steps.svg ] || fail "the plot should lie beside the run"
grep -q '>Length of steps<' whole/steps.svg || fail "no panel of steps"
"$rubato" run scene.json -o fixed -q --frames 1 --set time.step=0.01
says 1 'holds no steps.csv: the run had steps of equal length' "$rubato" plot fixed --steps
says 2 '--steps draws one run; 2 folders are given' "$rubato" plot whole fixed --steps
[ ! -e fixed/steps.csv ] || fail "a run with a given step has no attempts to tell"

# A floor that is too high for the error
"$rubato" run scene.json -o floor -q -m backward-euler --frames 3 --set time.min_step=0.005 --set goal.error=1e-5 2>said || fail "a floor is no failure"
grep -q 'steps of the least length, 0.005 s, had a larger error than asked for' said || fail "it should be said that the floor was reached: $(cat said)"

# ---- Goals that make no sense
says 1 'goal.error: must be above 0 and at most 1, found 0' "$rubato" check scene.json --set goal.error=0
says 1 'goal.error: must be above 0 and at most 1, found 2' "$rubato" check scene.json --set goal.error=2
says 1 'goal.error' "$rubato" check scene.json --set goal.error='"small"'
says 1 'goal.quality: unknown quality "best"; known are: balanced, preview, accurate' "$rubato" check scene.json --set goal.quality='"best"'
says 1 'goal.keep: unknown keep "colour"; known are: shape, energy, nothing' "$rubato" check scene.json --set goal.keep='"colour"'
says 1 'goal.budget: must be above 0' "$rubato" check scene.json --set goal.budget=0
says 1 'goal: unknown key "speed"' "$rubato" check scene.json --set goal.speed=1
says 1 'time.min_step: must be at least 0' "$rubato" check scene.json --set time.min_step=-1
says 1 'give ere a step' "$rubato" run scene.json -o refused -q -m ere
