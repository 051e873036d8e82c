#!/usr/bin/env bash
# Kills runs at 30 random moments, resumes them, and compares every byte with an undisturbed run: with a method that
# remembers nothing, one that has much to remember, and one whose parts keep factors and obstacles from step to step.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json
RANDOM=20
kills=0 finished=0
python3 - scene.json <<'PYTHON'
import json, sys
scene = json.load(open(sys.argv[1]))
scene["bodies"][0]["tempo"] = [
    {"where": {"box": {"min": [0, 0, 0], "max": [0.3, 1, 1], "relative": True}}, "substeps": 5},
    {"where": {"box": {"min": [0.7, 0, 0], "max": [1, 1, 1], "relative": True}}, "substeps": 3}]
json.dump(scene, open(sys.argv[1], "w"))
PYTHON
for method in semi-implicit siere multirate-euler; do
    "$rubato" run scene.json -o whole -q --method $method
    start=$(date +%s%N)
    "$rubato" run scene.json -o timing -q --method $method
    milliseconds=$((($(date +%s%N) - start) / 1000000))
    most=$((kills + 10))
    while [ "$kills" -lt "$most" ]; do
        "$rubato" run scene.json -o broken -q --method $method $(resume_if_any broken) &
        run=$!
        sleep "$(printf '0.%03d' $((RANDOM % (milliseconds < 900 ? milliseconds : 900))))"
        kill -9 "$run" 2>/dev/null && kills=$((kills + 1))
        if wait "$run" 2>/dev/null; then
            same_results whole broken
            finished=$((finished + 1))
            rm -rf broken
        fi
    done
    if [ -d broken ]; then
        "$rubato" run scene.json -o broken -q --method $method $(resume_if_any broken)
        same_results whole broken
    fi
    rm -rf whole timing broken
done
echo "$kills kills; $finished runs had finished in between; every file equal"
