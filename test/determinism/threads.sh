#!/usr/bin/env bash
# 1, 2, 3 and 8 threads give the same bytes, with every method.
set -eu
source "$(dirname "$0")/../cli/lib.sh"
write_scene scene.json
for method in $("$rubato" methods | grep -v '^ ' | grep .); do
    step=0.01
    [ "$method" = symplectic-euler ] && step=0.0002
    for threads in 1 2 3 8; do
        "$rubato" run scene.json -o "$method-$threads" -q --threads "$threads" --method "$method" --set time.step=$step \
            --set time.end=0.2
        same_results "$method-1" "$method-$threads"
    done
done
