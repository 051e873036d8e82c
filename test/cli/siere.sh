#!/usr/bin/env bash
# Where semi-implicit Euler diverges siere goes on: the siere paper's scenes, coarser, through rubato compare.
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
