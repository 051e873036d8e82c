#!/usr/bin/env bash
# What goes wrong around a run says what it is, ends with a non-zero code and leaves earlier frames intact.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json

says 1 'nowhere.json: cannot open the file: No such file or directory' "$rubato" run nowhere.json
says 2 'no option "--frame", did you mean --frames?' "$rubato" run scene.json --frame 3
says 2 'no command "rnu"; did you mean "run"?' "$rubato" rnu scene.json
says 1 'integrator.method' "$rubato" run scene.json --method newton-raphson
says 1 'did you mean "density"?' "$rubato" run scene.json --set bodies[0].material.desnity=3

sed 's|"shape": {"cuboid".*}}}|"file": "no.msh"}|; s|{"file": "no.msh"}},|{"file": "no.msh"},|' scene.json >missing.json
says 1 'no.msh: cannot open the file' "$rubato" run missing.json -o missing

touch a-file
says 1 'a-file' "$rubato" run scene.json -o a-file/run
says 1 'cannot make the folder' "$rubato" run scene.json -o /proc/self

# The disk is full after some frames: what is there stays whole, and the run can continue when there is room again.
"$rubato" run scene.json -o whole -q
size=$(($(stat -c %s whole/surface.pc2) / 2 / 1024))
(ulimit -f "$size" && says 1 'File too large' "$rubato" run scene.json -o full -q --set output.usda=false --set output.vtu=false --set output.obj=false)
grep -q '"status": "failed"' full/run.json || fail "run.json should say failed"
"$rubato" run scene.json -o full -q --resume --set output.usda=false --set output.vtu=false --set output.obj=false
cmp whole/surface.pc2 full/surface.pc2
cmp whole/energy.csv full/energy.csv

# Ctrl-C leaves a run that can be resumed.
"$rubato" run scene.json -o stopped -q 2>stopped.txt &
sleep 0.3
kill -INT $! 2>/dev/null || true
code=0
wait $! || code=$?
if [ "$code" = 130 ]; then
    grep -q -- '--resume' stopped.txt || fail "an interrupted run should say how to continue"
    "$rubato" run scene.json -o stopped -q --resume
fi
same_results whole stopped

# From an earlier frame with a changed scene: the frames before it stay, the result differs after it.
cp -r whole again
says 1 '--from-frame' "$rubato" run scene.json -o again --resume --set bodies[0].material.young=1e5
says 1 'has no checkpoint of frame 99' "$rubato" run scene.json -o again --from-frame 99
"$rubato" run scene.json -o again -q --from-frame 5 --set bodies[0].material.young=1e5
cmp whole/frames/frame_000005.vtu again/frames/frame_000005.vtu
cmp -s whole/frames/frame_000012.vtu again/frames/frame_000012.vtu && fail "the changed scene should change frame 12"
[ "$(wc -l <again/energy.csv)" = 14 ] || fail "energy.csv should have 14 lines"
"$rubato" run scene.json -o again -q --from-frame 5
same_results whole again

# A step that cannot succeed ends with stage, body and element, and a checkpoint.
says 1 'unstable in stage "stability", body "bar", after 0 halvings; a step of ' \
    "$rubato" run scene.json -o diverged -q --method symplectic-euler --set 'bodies[0].deform=[{"stretch":{"axis":[1,0,0],"factor":1.5}}]'
[ -f diverged/failed.rbt ] || fail "failed.rbt is missing"
grep -q '"outcome": "unstable"' diverged/run.json || fail "run.json should name the outcome"
grep -rqi 'nan' diverged/energy.csv && fail "NaN in energy.csv"

# --log json: every line is an object; --quiet: nothing.
"$rubato" run scene.json -o logged --log json --frames 2 >log.txt
[ "$(grep -c '^{"event": .*}$' log.txt)" = "$(wc -l <log.txt)" ] || fail "a log line is not an object"
[ "$(wc -l <log.txt)" = 3 ] || fail "expected 3 log lines"
says 0 '"nodes_by_clock": [' "$rubato" run "$source_folder/scenes/async-contact/pogo.json" -o pogo --log json --frames 1
[ -z "$("$rubato" run scene.json -o quiet --quiet --frames 1)" ] || fail "--quiet should say nothing"
