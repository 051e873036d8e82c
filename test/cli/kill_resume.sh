#!/usr/bin/env bash
# Kills runs at 20 random moments, resumes them, and compares every byte with an undisturbed run.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json
"$rubato" run scene.json -o whole -q
start=$(date +%s%N)
"$rubato" run scene.json -o timing -q
milliseconds=$((($(date +%s%N) - start) / 1000000))

RANDOM=20
kills=0 finished=0
while [ "$kills" -lt 20 ]; do
    resume=--resume
    ls broken/checkpoints/*.rbt >/dev/null 2>&1 || resume=
    "$rubato" run scene.json -o broken -q $resume &
    run=$!
    sleep "$(printf '0.%03d' $((RANDOM % (milliseconds < 900 ? milliseconds : 900))))"
    kill -9 "$run" 2>/dev/null && kills=$((kills + 1))
    if wait "$run" 2>/dev/null; then
        same_results whole broken
        finished=$((finished + 1))
        rm -rf broken
    fi
done
[ -d broken/checkpoints ] && "$rubato" run scene.json -o broken -q --resume && same_results whole broken
echo "$kills kills; $finished runs had finished in between; every file equal"
