#!/usr/bin/env bash
# The viewer in headless Chromium: test/view/browser.mjs. Screenshots are left in build/view-pictures.
set -euo pipefail
rubato=$(realpath "$1")
source=$2
build=$(dirname "$rubato")
if [[ ! -d $build/web/node_modules/playwright-core ]]; then
    echo "the page was not built here: no node, npm or registry"
    exit 77
fi
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [[ -z $CHROMIUM ]]; then
    echo "there is no Chromium"
    exit 77
fi
export CHROMIUM OMP_NUM_THREADS=1
# The types of the page are right, too.
(cd "$build/web" && node node_modules/typescript/bin/tsc --noEmit)
node "$source/test/view/browser.mjs" "$rubato" "$source" "$build/web" "$build/view-pictures"
