#!/usr/bin/env bash
# 1, 2, 3 and 8 threads give the same bytes, with every method and every material.
set -eu
source "$(dirname "$0")/../cli/lib.sh"
write_scene scene.json
materials=$(grep -m 1 '"Law of elasticity' "$source_folder/docs/scene.schema.json" | sed 's/.*"enum": \[\([^]]*\)\].*/\1/' | tr -d '",')
[ "$(wc -w <<<"$materials")" -ge 7 ] || fail "the schema lists too few materials: $materials"
count=0
for method in $("$rubato" methods | grep -v '^ ' | grep .); do
    step=0.01
    [ "$method" = symplectic-euler ] && step=0.0002
    for material in $materials; do
        for threads in 1 2 3 8; do
            "$rubato" run scene.json -o "run-$threads" -q --threads "$threads" --method "$method" --set time.step=$step \
                --set time.end=0.04 --set "bodies[0].material.model=$material" \
                --set 'bodies[0].mesh.shape.cuboid.cells=[24,6,6]' # enough nodes for several threads
            same_results run-1 "run-$threads"
            count=$((count + 1))
        done
    done
done
echo "$count runs"
