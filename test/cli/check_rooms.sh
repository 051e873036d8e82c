#!/usr/bin/env bash
# scripts/check-rooms must find what it is there for.
set -euo pipefail
source=$2
tree=$(mktemp -d "${TMPDIR:-/tmp}/rubato-rooms.XXXXXX")
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/src/{base,mesh,solve,scene,cellar} "$tree/include/rubato"

# expect FILE INCLUDE [SENTENCE]: a file with one include, and what must be said about it; nothing if it is allowed.
expect() {
    local said status=0 wanted=${3:+$1:2: $3} wanted_status=${3:+1}
    printf '%s\n' "// first line" "#include $2" >"$tree/$1"
    said=$("$source/scripts/check-rooms" "$tree") || status=$?
    rm "$tree/$1"
    if [[ $said != "$wanted" || $status != "${wanted_status:-0}" ]]; then
        echo "$1 with $2: expected '$wanted', got '$said' and exit code $status"
        exit 1
    fi
}

expect src/mesh/a.c '"base/error.h"'
expect src/mesh/a.c '"mesh/b.h"'
expect src/mesh/a.c '"rubato/mesh.h"'
expect src/mesh/a.c '<stdio.h>'
expect src/mesh/a.c '<zlib.h>'
expect src/solve/a.c '<cholmod.h>'
expect include/rubato/a.h '"rubato/b.h"'
expect src/base/a.h '"mesh/b.h"' 'room base may not use room mesh, which is below it (mesh/b.h)'
expect src/mesh/a.c '"error.h"' '"error.h" names no room; write "room/name.h" or "rubato/name.h"'
expect src/mesh/a.c '<jansson.h>' 'room mesh may not touch <jansson.h>; only scene may'
expect src/scene/a.c '<suitesparse/cholmod.h>' 'room scene may not touch <suitesparse/cholmod.h>; only solve may'
expect src/mesh/a.c '<sqlite3.h>' '<sqlite3.h> is no header that scripts/check-rooms knows; add its library to the table there'
expect include/rubato/a.h '"base/error.h"' 'a public header may include rubato/ and the C library, not base/error.h'
expect include/rubato/a.h '<cholmod.h>' 'a public header may include rubato/ and the C library, not cholmod.h'

touch "$tree/src/cellar/a.c"
said=$("$source/scripts/check-rooms" "$tree") && exit 1
[[ $said == "src/cellar/a.c: stands in no room (base, "* ]]
