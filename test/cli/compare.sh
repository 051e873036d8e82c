#!/usr/bin/env bash
# rubato compare: runs in turns, table, files, failures as results, exit codes.
set -eu
source "$(dirname "$0")/lib.sh"

# The solver and the options belong to one method and must not disturb the other.
write_bar_scene bar.json

# ---- Two that finish and one that cannot
code=0
"$rubato" compare bar.json --methods semi-implicit,symplectic-euler@0.0005,symplectic-euler@0.02 -o out >said.txt ||
    code=$?
[ "$code" = 0 ] || fail "one failing method makes no failing comparison, but the exit code is $code"
grep -q '^run 1 of 10  semi-implicit@0.000125: finished' said.txt || fail "the reference should come first"
order=$(grep -o '^run .*: ' said.txt | sed 's/run [0-9]* of [0-9]*  //; s/: .*//' | tail -n +2 | tr '\n' ' ')
[ "$order" = "semi-implicit symplectic-euler@0.0005 symplectic-euler@0.02 semi-implicit symplectic-euler@0.0005 semi-implicit symplectic-euler@0.0005 " ] ||
    fail "methods should run in turns, a failed one no more: $order"
grep -Eq '^semi-implicit +0.001 +[0-9.]+ \([0-9.]+ - [0-9.]+\) +100 +100 +0 +0 +[0-9]+  finished$' said.txt ||
    fail "the line of costs is missing"
grep -Eq '^semi-implicit +-[0-9.]+ +-[0-9.]+ +[0-9.e-]+ +[0-9.e-]+ +[0-9.e-]+ +[0-9.e-]+$' said.txt ||
    fail "the line of errors is missing"
grep -Eq '^symplectic-euler@0.02 +0.02 +- .* failed at 0(\.[0-9]+)? s$' said.txt || fail "the failed method's line is missing"
grep -q '^symplectic-euler@0.02 failed at .*: unstable in stage "stability", body "bar", after 0 halvings; a step of 0.02 s is longer than ' said.txt ||
    fail "the reason is missing"
grep -q 'to the reference semi-implicit@0.000125' said.txt || fail "the reference should be named"
grep -Eq ' +$' said.txt && fail "spaces at the end of a line"

[ "$(wc -l <out/compare.csv)" = 4 ] || fail "compare.csv should have a line of names and one for each method"
grep -q '^</svg>$' out/compare.svg || fail "compare.svg is not whole"
grep -qi 'nan' out/compare.csv out/compare.json out/compare.svg && fail "NaN in a file"
for run in reference semi-implicit symplectic-euler@0.0005; do
    [ -f "out/$run/frames/frame_000005.vtu" ] || fail "$run has no frames"
    grep -q '"status": "finished"' "out/$run/run.json" || fail "$run should be finished"
done
[ -f out/symplectic-euler@0.02/failed.rbt ] || fail "the failed run should leave its last state"
"$rubato" plot out/semi-implicit >/dev/null
"$rubato" render out/semi-implicit -o picture.png >/dev/null

python3 - <<'PY' || fail "compare.json and compare.csv disagree or are wrong"
import csv, json, statistics
whole = json.load(open("out/compare.json"))
rows = list(csv.DictReader(open("out/compare.csv")))
assert [m["name"] for m in whole["methods"]] == [r["name"] for r in rows]
assert whole["repeat"] == 3 and whole["energy_scale"] > 0
for method, row in zip(whole["methods"], rows):
    each = method["seconds_per_second_each"]
    assert method["outcome"] == row["outcome"]
    if method["outcome"] == "finished":
        assert len(each) == 3 and statistics.median(each) == method["seconds_per_second"]
        assert min(each) == method["seconds_per_second_min"] and max(each) == method["seconds_per_second_max"]
        assert len(method["frames"]["distance"]) == 6 and method["frames"]["distance"][0] == 0
        assert method["frames"]["distance"][-1] == method["distance_end"] > 0
        assert abs(float(row["distance_end [m]"]) - method["distance_end"]) < 1e-8
        assert method["peak_memory"] > 0.1 and method["momentum_drift"] < 1e-10
    else:
        assert each == [] and method["stage"] == "stability" and method["seconds_per_second"] is None
        assert row["distance_end [m]"] == "" and row["seconds_per_second [s/s]"] == ""
damped, conserving = whole["methods"][:2]
assert damped["energy_drift_end"] < -0.05 and abs(conserving["energy_drift_end"]) < 0.05
assert damped["solver"] == "cholesky" and conserving["solver"] == ""
PY

# ---- Options
says 0 'run 2 of 2' "$rubato" compare bar.json -m semi-implicit --reference semi-implicit@0.001 --repeat 1 -n 2 -o same
python3 -c 'import json; m = json.load(open("same/compare.json"))["methods"][0]; assert m["distance_max"] == 0 and m["frame"] == 2' ||
    fail "a run should be at distance 0 from itself"
[ -z "$("$rubato" compare bar.json -m semi-implicit --reference none --repeat 1 --frames 1 --quiet -o quiet 2>&1)" ] ||
    fail "--quiet should say nothing"
[ ! -e quiet/reference ] || fail "--reference none should not run a reference"
grep -q '"reference": null' quiet/compare.json || fail "there should be no reference"
says 0 'out/compare-bar' "$rubato" compare bar.json --repeat 1 -n 1 --set time.step=0.0005 --threads 1
methods=$("$rubato" methods | grep -c '^[a-z]')
[ "$(wc -l <out/compare-bar/compare.csv)" = $((methods + 1)) ] || fail "without --methods all of them should run"
grep -q '"step": 0.0005' out/compare-bar/semi-implicit/scene.json || fail "--set should reach the runs"

# ---- What is wrong
says 1 'no method finished; the first one: unstable in stage' \
    "$rubato" compare bar.json --methods symplectic-euler@0.02 --reference none -o failing
[ "$(wc -l <failing/compare.csv)" = 2 ] || fail "a comparison in which all fail should still be written"
says 0 'the reference failed at' "$rubato" compare bar.json -m semi-implicit --reference symplectic-euler@0.02 --repeat 1 -o alone
says 2 '--methods: unknown method "semi-implict"; did you mean "semi-implicit"?' "$rubato" compare bar.json -m semi-implict
says 2 '--reference: unknown method "symplectic-eular"; did you mean "symplectic-euler"?' \
    "$rubato" compare bar.json -m semi-implicit --reference symplectic-eular
says 2 'has no solver "lu"' "$rubato" compare bar.json -m semi-implicit:lu
says 2 'is listed twice' "$rubato" compare bar.json -m semi-implicit,semi-implicit
says 2 '--repeat must be at least 1' "$rubato" compare bar.json --repeat 0
says 2 'no option "--method", did you mean --methods?' "$rubato" compare bar.json --method semi-implicit
says 1 'nowhere.json: cannot open the file' "$rubato" compare nowhere.json -m semi-implicit
says 1 'did you mean "density"?' "$rubato" compare bar.json --set bodies[0].material.desnity=3
touch a-file
says 1 'a-file' "$rubato" compare bar.json -m semi-implicit -o a-file
