#!/usr/bin/env bash
# rubato sweep: every combination, its table, files and plot, distances among runs of one motion, failures as rows, exit codes.
set -eu
source "$(dirname "$0")/lib.sh"

write_bar_scene bar.json
steps=time.step=0.004,0.002,0.001
young=bodies[0].material.young=5e4,1e5

# ---- Two axes of numbers
"$rubato" sweep bar.json --set $steps --set $young --set bodies[0].material.poisson=0.35 -o out >said.txt
[ "$(grep -c '^run [0-9] of 6  step=0.00[0-9]* young=[0-9e]*: finished' said.txt)" = 6 ] || fail "six runs should be told"
grep -Eq '^0.002  5e4 +50 +50 +[0-9.e-]+ +[0-9.e-]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.e-]+  finished$' said.txt ||
    fail "the line of a run is missing"
grep -Eq '^step +young +steps' said.txt || fail "only what varies has a column"
grep -Eq ' +$' said.txt && fail "spaces at the end of a line"
for run in 1-step=0.004-young=5e4 6-step=0.001-young=1e5; do
    grep -q '"status": "finished"' "out/$run/run.json" || fail "$run should be finished"
done
[ "$(wc -l <out/sweep.csv)" = 7 ] || fail "sweep.csv should have a line of names and one for each run"
grep -q '^</svg>$' out/sweep.svg || fail "sweep.svg is not whole"
[ "$(grep -c 'class="head"' out/sweep.svg)" = 5 ] || fail "energies, and two plots for each axis"
grep -q '>step=0.001 young=1e5<' out/sweep.svg || fail "the legend of a run is missing"
grep -qi 'nan' out/sweep.csv out/sweep.json out/sweep.svg && fail "NaN in a file"
python3 - <<'PY' || fail "sweep.json and sweep.csv disagree or are wrong"
import csv, json
whole = json.load(open("out/sweep.json"))
rows = list(csv.DictReader(open("out/sweep.csv")))
assert whole["values"] == {"time.step": [0.004, 0.002, 0.001], "bodies[0].material.young": [5e4, 1e5], "bodies[0].material.poisson": [0.35]}
assert len(whole["runs"]) == len(rows) == 6
distance = {}
for run, row in zip(whole["runs"], rows):
    step, young = run["values"]["time.step"], run["values"]["bodies[0].material.young"]
    assert float(row["time.step"]) == run["step"] == step and float(row["bodies[0].material.young"]) == young
    scene = json.load(open(run["folder"] + "/scene.json"))
    material = scene["bodies"][0]["material"]
    assert scene["time"]["step"] == step and material["young"] == young and material["poisson"] == 0.35
    energies = [float(r["total"]) for r in csv.DictReader(open(run["folder"] + "/energy.csv"))]
    assert run["frames"]["total_energy"] == energies
    assert [run["energy_" + k] for k in ("start", "end", "min", "max")] == [energies[0], energies[-1], min(energies), max(energies)]
    assert run["reference"] == f"step=0.001 young={'5e4' if young == 5e4 else '1e5'}"
    assert run["steps"] == round(0.1 / step) and run["seconds_per_step"] > 0
    distance[step, young] = run["distance_end"]
for young in (5e4, 1e5):
    assert distance[0.001, young] == 0 < distance[0.002, young] < distance[0.004, young]
PY

# A sweep of one value is the run itself.
"$rubato" run bar.json -q -o alone --set output.checkpoint_every=1 --set output.checkpoint_keep=0 --set time.step=0.002 \
    --set bodies[0].material.young=5e4 --set bodies[0].material.poisson=0.35
same_results alone out/3-step=0.002-young=5e4

# ---- Methods, and one that cannot
code=0
"$rubato" sweep bar.json -m semi-implicit,symplectic-euler --set time.step=0.02,0.0005 -o mixed >said.txt || code=$?
[ "$code" = 0 ] || fail "one failing run makes no failing sweep, but the exit code is $code"
grep -Eq '^symplectic-euler  0.02 .* failed at 0 s$' said.txt || fail "the failed run should be a row"
grep -q '^symplectic-euler step=0.02 failed at 0 s: unstable in stage "stability"' said.txt || fail "the reason is missing"
grep -q '^symplectic-euler,0.02,.*,step failed,stability,' mixed/sweep.csv || fail "the failed run should be in the table"
grep -q 'to the finest run: the one with the shortest step among those' said.txt || fail "what distances mean should be said"

# Different motions have no distance, and need no checkpoints for it.
"$rubato" sweep bar.json --set $young --set output.checkpoint_every=0 -n 2 -o motions >said.txt
grep -q '^distance: ' said.txt && fail "different motions have no distance"
[ -z "$(find motions -name '*.rbt')" ] || fail "checkpoints that nobody needs"

# A method's own options may be swept, whatever the scene's method is; lists and objects are kept whole.
says 0 'run 2 of 2  subdomains=4: finished' "$rubato" sweep bar.json -m backward-euler:dot --set integrator.options.subdomains=2,4 -n 1 -o dot
says 0 'run 2 of 2  forces[0]={"gravity": {"acceleration": [0, -3, 0]}}: finished' \
    "$rubato" sweep bar.json --set 'forces[0]={"gravity": {}},{"gravity": {"acceleration": [0, -3, 0]}}' -n 1 -o objects

# ---- Options
[ -z "$("$rubato" sweep bar.json --set $young -n 1 -q -o quiet 2>&1)" ] || fail "--quiet should say nothing"
says 0 'run 4 of 4' "$rubato" sweep bar.json --set $young --repeat 2 -n 1 -t 1 -o twice
says 0 'out/sweep-bar' "$rubato" sweep bar.json --set $young -n 1

# ---- What is wrong
says 1 'no run finished; the first one: unstable in stage' "$rubato" sweep bar.json -m symplectic-euler --set time.step=0.02,0.01 -o failing
[ "$(wc -l <failing/sweep.csv)" = 3 ] || fail "a sweep in which all fail should still be written"
says 2 'there is nothing to vary; write --set path=a,b,c or --methods a,b' "$rubato" sweep bar.json
says 2 'a word is missing; usage: rubato sweep SCENE' "$rubato" sweep
says 2 'these values make 1024 runs, more than the limit of 1000' "$rubato" sweep bar.json --set "a=$(seq -s, 32)" --set "b=$(seq -s, 32)"
says 2 'brackets or quotes do not match' "$rubato" sweep bar.json --set 'forces[0]={"gravity": {},null'
says 2 'unknown method "bdf3"; did you mean "bdf2"?' "$rubato" sweep bar.json -m bdf3
says 2 'leave one of them out' "$rubato" sweep bar.json -m bdf2@0.01 --set $steps
says 1 'did you mean "young"? (in the run yuong=1)' "$rubato" sweep bar.json --set bodies[0].material.yuong=1,2
says 1 'bodies[0].material.young: must be above 0 Pa, found -1 (in the run young=-1)' "$rubato" sweep bar.json --set bodies[0].material.young=1e4,-1
says 1 'nowhere.json: cannot open the file' "$rubato" sweep nowhere.json --set $young
mkdir taken
says 1 'another run writes into this folder' flock taken "$rubato" sweep bar.json --set $young -o taken
