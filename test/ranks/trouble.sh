#!/usr/bin/env bash
# What goes wrong on ranks is said once, in a sentence, ends with an exit code that is not 0, and never hangs; runs
# continue on any number of ranks, and without ranks, with the same bytes.
set -eu
source "$(dirname "$0")/lib.sh"
write_ranks_scene scene.json
dot=(--set integrator.method=backward-euler --set integrator.solver=dot --set integrator.options.subdomains=6)

# refuses "sentence" N word…: within 30 s, said by one rank alone
refuses() {
    local part=$1 count=$2 text code=0 start=$SECONDS
    shift 2
    text=$(ranks "$count" run "$@" 2>&1) || code=$?
    ((code != 0 && code != 124)) || fail "exit code $code: $text"
    ((SECONDS - start <= 30)) || fail "it took $((SECONDS - start)) s"
    [ "$(grep -c -- "$part" <<<"$text")" = 1 ] || fail "'$part' should be said once: $text"
}
refuses "cannot open" 2 none/scene.json
refuses "unknown key" 2 scene.json --set 'bodies[0].colour=1' -o out
refuses "does not run on ranks" 2 scene.json -o out --set integrator.method=semi-implicit
refuses "is left to rubato, which cannot choose for ranks yet" 2 scene.json -o out --method auto
refuses "does not run on ranks" 2 scene.json -o out --method imex
refuses "does not run on ranks" 2 scene.json -o out --method async-contact
refuses "does not run on ranks" 2 scene.json -o out --method backward-euler
refuses "contact does not run on ranks" 2 scene.json -o out "${dot[@]}" --set contact='{}'
refuses "6 subdomains only" 8 scene.json -o out "${dot[@]}"
refuses "starts inside out" 3 scene.json -o out "${dot[@]}" --set 'bodies[0].material.model=neo-hookean' \
    --set 'bodies[0].deform=[{"scale": {"factors": [-1, 1, 1]}}]'
refuses "a step failed" 3 scene.json -o out --set integrator.method=symplectic-euler
says 1 "petsc-gamg is a solver of rubato-mpi" "$rubato" run scene.json -o out -q --set integrator.method=semi-implicit \
    --set integrator.solver=petsc-gamg

# A rank whose nodes are all fixed has nothing to solve for.
still='bodies[1].fixed=[{"box": {"min": [0, 0, 0], "max": [1, 1, 1], "relative": true}}]'
"$rubato" run scene.json -o held -q -t 1 "${dot[@]}" --set "$still" 2>/dev/null
ranks 4 run scene.json -o held-4 -q -t 1 "${dot[@]}" --set "$still" 2>/dev/null
same_run held held-4

# Stopped half-way and continued: on other ranks, and without
"$rubato" run scene.json -o whole -q -t 1 "${dot[@]}" 2>/dev/null
ranks 2 run scene.json -o parts -q -t 1 -n 1 "${dot[@]}" 2>/dev/null
ranks 3 run scene.json -o parts -q -t 1 -n 2 --resume "${dot[@]}" 2>/dev/null
cp -r parts alone
ranks 1 run scene.json -o parts -q -t 1 --resume "${dot[@]}" 2>/dev/null
same_run whole parts
"$rubato" run scene.json -o alone -q -t 1 --set output.vtu=false --from-frame 2 "${dot[@]}" 2>/dev/null
cmp whole/checkpoints/000003.rbt alone/checkpoints/000003.rbt || fail "the program without ranks continues differently"
ranks 2 run scene.json -o whole -q -t 1 --set output.vtu=false --from-frame 1 "${dot[@]}" 2>/dev/null
cmp whole/energy.csv parts/energy.csv || fail "ranks continue a run without ranks differently"
refuses "the scene has changed" 2 scene.json -o parts --resume "${dot[@]}" --set time.end=0.1

# Killed: one rank, and all of them. mpirun ends the others; what is left continues.
long=(--set time.end=2 --set output.vtu=false "${dot[@]}")
"$rubato" run scene.json -o long -q -t 1 "${long[@]}" 2>/dev/null
for which in one all; do
    ranks 3 run scene.json -o "killed-$which" -q -t 1 "${long[@]}" >said.txt 2>&1 &
    running=$!
    for ((i = 0; i < 400; i++)); do
        [ -e "killed-$which/checkpoints/000002.rbt" ] && break
        sleep 0.05
    done
    mapfile -t victims < <(pgrep -f "rubato-mpi run scene.json -o killed-$which" | while read -r pid; do
        [ "$(readlink "/proc/$pid/exe")" = "$rubato_mpi" ] && echo "$pid"; done)
    [ ${#victims[@]} = 3 ] || fail "there are ${#victims[@]} ranks to kill: $(cat said.txt)"
    if [ $which = one ]; then kill -9 "${victims[1]}"; else kill -9 "${victims[@]}"; fi
    start=$SECONDS code=0
    wait "$running" || code=$?
    ((code != 0 && SECONDS - start <= 30)) || fail "after a kill: exit code $code, $((SECONDS - start)) s"
    grep -q 'signal 9' said.txt || fail "nothing is said about the kill: $(cat said.txt)"
    ranks 2 run scene.json -o "killed-$which" -q -t 1 --resume "${long[@]}" 2>/dev/null
    same_run long "killed-$which"
done

# What one rank cannot write, none has written: the folder of a rank, and that of checkpoints
mkdir -p full/frames
ln -s /dev/full full/frames/rank_0001
refuses "rank_0001" 2 scene.json -o full "${dot[@]}"
mkdir blocked
touch blocked/checkpoints
refuses "blocked/checkpoints" 2 scene.json -o blocked "${dot[@]}"
if ls blocked/frames/*.pvtu blocked/frames/rank_*/*.vtu 2>/dev/null; then fail "half a frame is left"; fi

# A disk that fills in mid-run, for one rank: that of its frames, and that of checkpoints. The sentence names the file;
# whole frames are left, no part of the one that did not fit, and with room again the run continues to the same bytes.
"$rubato" run scene.json -o roomy -q -t 1 "${dot[@]}" 2>/dev/null
filled=0
for place in frames/rank_0001/ checkpoints/; do
    folder=filled-$((++filled))
    LD_PRELOAD=$RUBATO_FULL_DISK RUBATO_FULL_PATH=$place RUBATO_FULL_AFTER=2 refuses \
        "$folder/${place}.*000002.*No space left on device" 3 scene.json -o "$folder" -q -t 1 "${dot[@]}"
    [ -z "$(find "$folder" -name '*000002*')" ] || fail "half a frame is left: $(find "$folder" -name '*000002*')"
    [ "$(wc -l <"$folder/energy.csv")" = 3 ] || fail "energy.csv has a frame that is not there"
    [ -e "$folder/checkpoints/000001.rbt" ] || fail "the frames before are gone"
    grep -q '"status": "failed"' "$folder/run.json" || fail "run.json does not tell"
    ranks 2 run scene.json -o "$folder" -q -t 1 --resume "${dot[@]}" 2>/dev/null
    same_run roomy "$folder"
done
