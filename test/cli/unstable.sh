#!/usr/bin/env bash
# No explosion is called success: what runs, their reports and comparisons say about energy that comes from nothing.
set -eu
source "$(dirname "$0")/lib.sh"

cat >spin.json <<'JSON'
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]}}},
    "material": {"model": "corotational", "young": 1e5, "poisson": 0.4},
    "velocity": {"angular": [0, 0, 80]}
  }],
  "time": {"step": 0.01, "frame": 0.02, "end": 1},
  "integrator": {"method": "ere"},
  "output": {"vtu": false}
}
JSON

# ---- An outcome, with all that it should name
says 1 'unstable in stage "energy", body "bar"' "$rubato" run spin.json -o spun
grep -q '"status": "failed"' spun/run.json || fail "run.json should say failed"
grep -q '"outcome": "unstable"' spun/run.json || fail "run.json should name the outcome"
grep -Eq '"hint": "by [0-9.]+ s ere has gained .* from nothing .*; take a step below 0.01 s' spun/run.json ||
    fail "run.json should say when, what and what to try"
[ -f spun/failed.rbt ] || fail "failed.rbt is missing"
grep -qi 'nan\|inf' spun/energy.csv && fail "energy.csv has numbers that are none"
says 1 'unstable in stage "energy"' "$rubato" run spin.json -o one --set time.frame=1 # a run of one frame

# ---- A warning, and a run that says nothing
"$rubato" run spin.json -o warned -q --method multirate-euler --frames 10 2>said.txt || fail "a warning is no failure"
grep -q 'warning: multirate-euler gained energy that nothing gave: ' said.txt || fail "the gain should be told"
grep -q '"status": "finished"' warned/run.json || fail "the run should be finished"
grep -A1 '"warnings": \[' warned/run.json | grep -q 'multirate-euler gained energy' || fail "run.json should have the warning"
[ -z "$("$rubato" run spin.json -o right -q --method multirate-euler --set time.step=0.0002 --frames 10 2>&1)" ] ||
    fail "a right run has nothing to say"
grep -q '"warnings": \[\]' right/run.json || fail "a right run has no warnings"

# ---- Refused before the first step; doubted before the first step
says 1 'unstable in stage "stability", body "bar", after 0 halvings; a step of 0.01 s is longer than ' \
    "$rubato" run spin.json -o refused -q --method symplectic-euler
[ "$(wc -l <refused/energy.csv)" = 2 ] || fail "nothing but frame 0 should be there"
says 0 'warning: symplectic-euler: a step of 0.001 s is longer than ' "$rubato" run spin.json -o doubted -q --method symplectic-euler \
    --set time.step=0.001 --frames 1 --set 'obstacles=[{"plane":{"point":[0,-9,0],"stiffness":1e9}}]'
grep -q 'where obstacles touch nodes of body' doubted/run.json || fail "run.json should have the doubt"

# ---- Side by side
"$rubato" compare spin.json -m ere,multirate-euler,multirate-euler@0.0002 --reference none --repeat 1 -n 40 -o compared >said.txt
grep -Eq '^ere failed at [0-9.]+ s: unstable in stage "energy"' said.txt || fail "compare should show the explosion"
grep -q '^multirate-euler finished, but: multirate-euler gained energy' said.txt || fail "compare should show the gain"
grep -q '^multirate-euler@0.0002 finished, but' said.txt && fail "compare should not doubt a right run"
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("compared/compare.csv")))
assert [bool(r["warning"]) for r in rows] == [False, True, False], rows
PY

# ---- Work of what is driven and pulled is in the table for every method, also after a run continued from a checkpoint
write_scene driven.json
"$rubato" run driven.json -o whole -q
"$rubato" run driven.json -o parts -q --frames 3
"$rubato" run driven.json -o parts -q --resume
same_results whole parts
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("whole/energy.csv")))
assert float(rows[0]["work"]) == 0 and abs(float(rows[-1]["work"])) > 1, rows[-1]
balance = [float(r["total"]) - float(r["work"]) for r in rows]
assert all(b <= a + 1e-3 * abs(balance[0]) for a, b in zip(balance, balance[1:])), balance
PY
