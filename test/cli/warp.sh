#!/usr/bin/env bash
# Warped frames: other places, the same motion; the same bytes for any number of threads and after resuming; and who cannot have them.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json
linear=(--set bodies[0].material.model=linear)
says 1 'output.warp: only the material "linear"' "$rubato" run scene.json -o none --set output.warp=true
"$rubato" run scene.json -o plain -q "${linear[@]}"
for threads in 1 2 3; do
    "$rubato" run scene.json -o "warped-$threads" -q --threads $threads "${linear[@]}" --set output.warp=true \
        --set 'bodies[0].mesh.shape.cuboid.cells=[24,6,6]'
    same_results warped-1 "warped-$threads"
done
"$rubato" run scene.json -o warped -q "${linear[@]}" --set output.warp=true
cmp plain/energy.csv warped/energy.csv || fail "warping changed the energies"
cmp plain/frames/frame_000000.vtu warped/frames/frame_000000.vtu || fail "warping changed the rest shape"
for file in frames/frame_000006.vtu obj/frame_000006.obj surface.pc2; do
    ! cmp -s plain/$file warped/$file || fail "$file is not warped"
done
"$rubato" run scene.json -o half -q "${linear[@]}" --set output.warp=true --frames 5
"$rubato" run scene.json -o half -q "${linear[@]}" --set output.warp=true --resume
same_results warped half
echo "frames are warped, the motion is not"
