#!/usr/bin/env bash
# Every shipped scene passes `rubato check` and runs its first frame, on one thread, since other tests run beside it;
# so does the check of every scene to measure with, where the meshes it needs are there. The two that take half a minute to
# start are checked only: `make cluster-demo` and `make bench-siere` run them.
set -eu
source "$(dirname "$0")/lib.sh"
count=0
while IFS= read -r scene; do
    "$rubato" check "$scene" >/dev/null || fail "$scene does not pass the check"
    count=$((count + 1))
    case $scene in */scenes/cluster/beam.json | */scenes/siere/body.json) continue ;; esac
    "$rubato" run "$scene" -o out -q -t 1 --frames 1 --set output.vtu=true || fail "$scene does not run"
    [ -f out/frames/frame_000001.vtu ] || fail "$scene left no frame 1"
    rm -rf out
done < <(find "$source_folder/scenes" -name '*.json' | sort)
[ "$count" -gt 0 ] || fail "no scenes found"
if [ -d "$source_folder/../shared/meshes" ]; then
    while IFS= read -r scene; do
        "$rubato" check "$scene" >/dev/null || fail "$scene does not pass the check"
    done < <(find "$source_folder/bench" -name '*.json' | sort)
fi
echo "$count scenes"
