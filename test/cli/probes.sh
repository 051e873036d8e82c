#!/usr/bin/env bash
# probes.sh RUBATO SOURCE: probes.csv has a row a frame with a column for each thing that is read, and a run that continues from a frame
# writes the same bytes; so do the columns about the solver in energy.csv.
set -eu
source "$(dirname "$0")/lib.sh"

cat >scene.json <<'END'
{"rubato": 1,
 "bodies": [{"name": "bar", "mesh": {"shape": {"bar": {"size": [1, 0.2, 0.2], "cells": [6, 2, 2]}}}, "fixed": ["left"]}],
 "forces": [{"gravity": {}}], "obstacles": [{"plane": {"point": [0, -0.3, 0]}}],
 "probes": [{"name": "root", "where": "left"}, {"name": "tip", "body": "bar", "where": "right"}],
 "time": {"step": 0.01, "frame": 0.02, "end": 0.4}, "integrator": {"method": "backward-euler"}}
END
"$rubato" run scene.json -o whole -q
[ "$(wc -l <whole/probes.csv)" = 22 ] || fail "probes.csv has not a row for each of 21 frames"
head -n 1 whole/probes.csv | grep -q '^frame,time,root\.x,.*,root\.reaction_y,.*,tip\.vz,.*,tip\.contact_z$' || fail "wrong columns in probes.csv"
head -n 1 whole/energy.csv | grep -q ',work,iterations,residual,friction$' || fail "wrong columns in energy.csv"
awk -F, 'NR > 2 && !($15 >= 2 && $16 > 0) { exit 1 }' whole/energy.csv || fail "a frame of two steps takes at least two iterations"
"$rubato" run scene.json -o part -q --frames 7
"$rubato" run scene.json -o part -q --resume
cmp whole/probes.csv part/probes.csv || fail "a resumed run reads other things"
cmp whole/energy.csv part/energy.csv || fail "a resumed run has other energies"
every='probes[1].every="step"'
"$rubato" run scene.json -o steps -q --set "$every"
[ "$(wc -l <steps/probes.csv)" = 42 ] || fail "probes.csv has not a row for each of 41 states"
awk -F, 'NR > 2 && NR % 2 { if ($3 != "" || $15 == "") exit 1 } NR > 1 && NR % 2 == 0 { if ($3 == "" || $15 == "") exit 1 }' steps/probes.csv ||
    fail "rows of steps have the cells of a probe of every step, rows of frames have all"
awk 'NR == 1 || NR % 2 == 0' steps/probes.csv | cmp - whole/probes.csv || fail "reading every step changes what frames read"
"$rubato" run scene.json -o part -q --set "$every" --frames 7
"$rubato" run scene.json -o part -q --set "$every" --resume
cmp steps/probes.csv part/probes.csv || fail "a resumed run reads other things after its steps"
"$rubato" run scene.json -o part -q --set 'probes=[]'
[ ! -e part/probes.csv ] || fail "probes.csv of an earlier run is still there"
says 1 'probes[1].name' "$rubato" check scene.json --set 'probes[1].name=root'
says 1 'no comma' "$rubato" check scene.json --set 'probes[1].name="a,b"'
echo "probes are written, and written again"
