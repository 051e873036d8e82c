#!/usr/bin/env bash
# Where semi-implicit Euler diverges siere continues: the siere paper's scenes, coarser, through rubato compare.
set -eu
source "$(dirname "$0")/lib.sh"

# outcomes SCENE METHODS settings…: one line "name outcome" per method
outcomes() {
    local scene=$1 methods=$2
    shift 2
    rm -rf out
    "$rubato" compare "$source_folder/scenes/siere/$scene.json" --methods "$methods" --reference none --repeat 1 --threads 1 -q \
        -o out --set output.vtu=false "$@" || fail "$scene: the comparison failed"
    python3 -c '
import json
for method in json.load(open("out/compare.json"))["methods"]:
    print(method["name"], "finished" if method["outcome"] == "finished" else "failed")' >said.txt
}

expect() {
    [ "$(tr '\n' ';' <said.txt)" = "$1" ] || fail "outcomes should be: $1; they are: $(tr '\n' ';' <said.txt)"
}

outcomes cuboid-untwist semi-implicit,siere,backward-euler --set 'bodies[0].mesh.shape.cuboid.cells=[16,4,4]' --frames 30
expect "semi-implicit failed;siere finished;backward-euler finished;"
# The report says that siere did not get through by the paper's formula alone.
grep -q '"projected": [1-9]' out/siere/run.json || fail "siere should report steps with projected stiffness"

outcomes rope-uncoil semi-implicit,siere --set 'bodies[0].mesh.shape.rope-coil.rings=1' --set 'bodies[0].mesh.shape.rope-coil.cells=150' \
    --set 'bodies[0].mesh.shape.rope-coil.turns=4' --set 'forces[0].gravity.acceleration=[0,-98,0]' --frames 40
expect "semi-implicit failed;siere finished;"
grep -q '"modes": 1' out/siere/scene.json || fail "the rope should run with one mode"

# However stiff the floor, a ball that falls on it has no more energy afterwards.
for stiffness in 3e6 1e9; do
    "$rubato" run "$source_folder/scenes/siere/ball-bounce.json" -q -o "bounce-$stiffness" --threads 1 --frames 140 \
        --set output.vtu=false --set 'bodies[0].mesh.shape.shell-ball.core_layers=2' --set "obstacles[0].plane.stiffness=$stiffness"
done
python3 - <<'PY' || fail "a bounce gives or takes too much"
import csv
def energies(stiffness):
    rows = csv.DictReader(open(f"bounce-{stiffness}/energy.csv"))
    return [float(row["total"]) for row in rows if float(row["contact"]) == 0]
soft, stiff = energies("3e6"), energies("1e9")
assert max(stiff) <= 1.01 * stiff[0], (stiff[0], max(stiff))
assert 0.9 * soft[0] <= soft[-1] <= 1.05 * soft[0], (soft[0], soft[-1])  # this one keeps it
PY
