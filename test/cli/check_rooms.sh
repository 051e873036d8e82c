#!/usr/bin/env bash
# scripts/check-rooms must find what it is there for.
set -euo pipefail
source=$2
tree=$(mktemp -d "${TMPDIR:-/tmp}/rubato-rooms.XXXXXX")
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/src/{base,mesh/core,mesh/io,solve,scene,cellar,step/core,step/implicit,step/scratch} "$tree/include/rubato"

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

expect src/mesh/io/a.c '"base/error.h"'
expect src/mesh/io/a.c '"mesh/io/b.h"'
expect src/mesh/io/a.c '"rubato/mesh.h"'
expect src/mesh/io/a.c '<stdio.h>'
expect src/mesh/io/a.c '<zlib.h>'
expect src/solve/a.c '<klu.h>'
expect include/rubato/a.h '"rubato/b.h"'
expect src/base/a.h '"mesh/io/b.h"' 'base may not use mesh/io, which comes after it (mesh/io/b.h)'
expect src/mesh/core/a.h '"mesh/io/b.h"' 'mesh/core may not use mesh/io, which comes after it (mesh/io/b.h)'
expect src/step/implicit/a.c '"step/core/b.h"'
expect src/step/scratch/a.c '"step/implicit/b.h"'
expect src/step/scratch/a.c '"step/async/b.h"' 'step/scratch may not use step/async, which comes after it (step/async/b.h)'
expect src/mesh/io/a.c '"error.h"' '"error.h" names no room; write "room/name.h", "room/folder/name.h" or "rubato/name.h"'
expect src/mesh/io/a.c '<jansson.h>' 'room mesh may not touch <jansson.h>; only scene may'
expect src/scene/a.c '<klu.h>' 'room scene may not touch <klu.h>; only solve may'
expect src/solve/a.c '<cholmod.h>' '<cholmod.h> is no header that scripts/check-rooms knows; add its library to the table there'
expect src/mesh/io/a.c '<sqlite3.h>' '<sqlite3.h> is no header that scripts/check-rooms knows; add its library to the table there'
expect include/rubato/a.h '"base/error.h"' 'a public header may include rubato/ and the C library, not base/error.h'
expect include/rubato/a.h '<amd.h>' 'a public header may include rubato/ and the C library, not amd.h'

touch "$tree/src/cellar/a.c"
said=$("$source/scripts/check-rooms" "$tree") && exit 1
[[ $said == "src/cellar/a.c: stands in no room (base, "* ]]
rm "$tree/src/cellar/a.c"

# the same tag twice
echo 'typedef struct rbt_one {' >"$tree/src/base/a.h"
echo 'struct rbt_one {' >"$tree/src/solve/b.c"
said=$("$source/scripts/check-rooms" "$tree") && exit 1
[[ $said == "src/solve/b.c:1: struct rbt_one is another one already (src/base/a.h:1)" ]]
rm "$tree/src/base/a.h" "$tree/src/solve/b.c"

# methods: a row without a definition, one in the wrong folder, and one that others name
printf '    METHOD(ONE) \\\n    METHOD(TWO)\n' >"$tree/src/step/core/method.h"
echo 'const rbt_method RBT_ONE = {' >"$tree/src/step/core/one.c"
echo 'x = &RBT_ONE;' >"$tree/src/solve/b.c"
said=$("$source/scripts/check-rooms" "$tree") && exit 1
[[ $said == *"src/step/core/one.c: method ONE belongs into a folder of src/step that is not core"* ]]
[[ $said == *"src/solve/b.c: names method ONE; ask the table (step/core/method.h) what it needs to know"* ]]
[[ $said == *"src/step/core/method.h: method TWO is defined in 0 files"* ]]
mv "$tree/src/step/core/one.c" "$tree/src/step/scratch/one.c"
rm "$tree/src/solve/b.c"
echo 'const rbt_method RBT_TWO = {' >"$tree/src/step/scratch/two.c"
"$source/scripts/check-rooms" "$tree"
