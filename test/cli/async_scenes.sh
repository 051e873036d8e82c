#!/usr/bin/env bash
# The scenes of async-contact, made small: each runs to its end, touches something on the way and intersects nowhere; one is
# judged along the whole way, from event to event. RUBATO_TEST_WHOLE=1, as in `make soak`, runs five of them longer.
set -eu
source "$(dirname "$0")/lib.sh"
scenes=$source_folder/scenes/async-contact

# until_time WHOLE FEW: a setting
until_time() { if [ -n "${RUBATO_TEST_WHOLE:-}" ]; then echo "time.end=$1"; else echo "time.end=$2"; fi; }

# small NAME [setting…]
small() {
    local name=$1 settings=()
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$rubato" run "$scenes/$name.json" -o "out/$name" -q --threads 1 --set output.vtu=true "${settings[@]}" ||
        fail "$name does not run to its end"
    grep -q '"contact_forces": [1-9]' "out/$name/run.json" || fail "in $name nothing touches"
    "$rubato" verify "out/$name" --frames-only >words || { cat words >&2; fail "$name intersects"; }
    grep -q "no intersections" words || { cat words >&2; fail "$name was not judged"; }
}

reef=mesh.shape.reef-ribbon
small reef-knot bodies[0].$reef.cells_along=78 bodies[0].$reef.cells_across=4 bodies[1].$reef.cells_along=78 \
    bodies[1].$reef.cells_across=4 bodies[0].damping.stiffness=0.001 bodies[1].damping.stiffness=0.001 time.end=0.4
small reef-knot-untied bodies[0].$reef.cells_along=78 bodies[0].$reef.cells_across=4 bodies[1].$reef.cells_along=78 \
    bodies[1].$reef.cells_across=4 bodies[0].damping.stiffness=0.001 bodies[1].damping.stiffness=0.001 \
    "$(until_time 0.6 0.3)"
bowline=bodies[1].mesh.shape.bowline-ribbon
small bowline-knot $bowline.cells_along=160 $bowline.cells_across=2 bodies[0].mesh.shape.tube.rings=3 \
    bodies[0].mesh.shape.tube.segments=20 time.end=1
small trash-compactor "$(until_time 0.5 0.3)"
small bunny-compactor bodies[0].mesh.shape.hare.cells=3 time.end=1
for name in sheets-draped sheets-pulled sheets-draped-2011; do
    small $name bodies[1].mesh.shape.cloth.cells_along=20 bodies[1].mesh.shape.cloth.cells_across=6 \
        bodies[2].mesh.shape.cloth.cells_along=20 bodies[2].mesh.shape.cloth.cells_across=6 bodies[0].mesh.shape.spikes.count=3 \
        bodies[1].damping.stiffness=0.001 bodies[2].damping.stiffness=0.001 time.end=0.2
done
small sphere-wedge time.end=0.15
small sphere-plate bodies[0].mesh.shape.cloth.cells_along=8 bodies[0].mesh.shape.cloth.cells_across=8 \
    bodies[1].mesh.shape.sphere.rings=5 bodies[1].mesh.shape.sphere.segments=8 time.end=0.0004
small balls-on-nails time.end=0.1
small particle-box-3m "$(until_time 0.1 0.05)" time.frame=0.01
cloths=()
for b in 1 2 3 4; do cloths+=("bodies[$b].mesh.shape.cloth.cells_along=6" "bodies[$b].mesh.shape.cloth.cells_across=8"); done
small curtains "${cloths[@]}" "$(until_time 0.8 0.5)"
coarse=(--set bodies[0].mesh.shape.polyhedron.cells=1 --set bodies[0].mesh.shape.polyhedron.radius=0.06)
for b in 1 2; do
    for cells in up below along; do coarse+=(--set "bodies[$b].mesh.shape.prism.cells_$cells=1"); done
done
"$rubato" run "$scenes/sphere-wedge.json" -o out/along -q --threads 1 --verify-events "${coarse[@]}" \
    --set "$(until_time 0.1 0.05)" ||
    fail "sphere-wedge intersects on its way"
echo "all scenes keep apart"
