#!/usr/bin/env bash
# async-contact in the midst of contact: walls that move, hinges that yield, friction. Runs that are killed and resumed, and runs
# with 2, 3 and 8 threads, leave the bytes of an undisturbed one with a single thread.
set -eu
source "$(dirname "$0")/lib.sh"
RANDOM=7
run=("$rubato" run "$source_folder/scenes/async-contact/bunny-compactor.json" -q --set bodies[0].mesh.shape.hare.cells=4
    --set integrator.options.friction=0.3 --set time.end=1.1)
start=$(date +%s%N)
"${run[@]}" -o whole --threads 1
milliseconds=$((($(date +%s%N) - start) / 1000000))
awk -F, 'NR > 1 && $6 > 0 { frames++ } END { exit frames < 10 }' whole/energy.csv || fail "too little contact to tell"
for threads in 2 3 8; do
    "${run[@]}" -o many --threads $threads
    same_results whole many
    rm -rf many
done
for kills in 1 2 3 4 5; do
    "${run[@]}" -o broken --threads 1 $(resume_if_any broken) &
    job=$!
    sleep "$(printf '%d.%03d' $((milliseconds / 4000)) $((RANDOM % 1000 * milliseconds / 4000 % 1000)))"
    kill -9 "$job" 2>/dev/null || true
    wait "$job" 2>/dev/null || true
done
"${run[@]}" -o broken --threads 1 $(resume_if_any broken)
same_results whole broken
echo "3 numbers of threads and $kills kills; every file equal"
