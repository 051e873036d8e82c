#!/usr/bin/env bash
# Every shipped scene runs its first frame, on one thread, since other tests run beside it; so does the check of every
# scene to measure with, where the meshes it needs are there. Those whose first frame takes a second or more are checked
# only: RUBATO_TEST_WHOLE=1, which `make soak` sets, runs them too, but for two that take half a minute to start, which
# `make cluster-demo` and `make bench-siere` run.
set -eu
source "$(dirname "$0")/lib.sh"
count=0 run=0
while IFS= read -r scene; do
    count=$((count + 1))
    case ${scene#"$source_folder/scenes/"} in
    cluster/beam.json | siere/body.json) only_check=yes ;;
    contact/house-of-cards.json | contact/masonry-arch.json | contact/chain.json | siere/bridge.json | siere/tree.json | \
        siere/eiffel.json | siere/rope-uncoil.json | async-contact/sheets-draped.json | async-contact/sheets-pulled.json | \
        async-contact/reef-knot.json | async-contact/reef-knot-untied.json | imex/large.json | wind-tree.json)
        only_check=${RUBATO_TEST_WHOLE:+no}
        only_check=${only_check:-yes}
        ;;
    *) only_check=no ;;
    esac
    if [ $only_check = yes ]; then
        "$rubato" check "$scene" >/dev/null || fail "$scene does not pass the check"
        continue
    fi
    "$rubato" run "$scene" -o out -q -t 1 --frames 1 --set output.vtu=true || fail "$scene does not run"
    [ -f out/frames/frame_000001.vtu ] || fail "$scene left no frame 1"
    run=$((run + 1))
    rm -rf out
done < <(find "$source_folder/scenes" -name '*.json' | sort)
[ "$run" -gt $((count / 2)) ] || fail "only $run of $count scenes were run"
if [ -d "$source_folder/../shared/meshes" ]; then
    while IFS= read -r scene; do
        "$rubato" check "$scene" >/dev/null || fail "$scene does not pass the check"
    done < <(find "$source_folder/bench" -name measured -prune -o -name '*.json' -print | sort)
fi
echo "$count scenes, $run run"
