#!/usr/bin/env bash
# run.sh BUILD SOURCE: installs BUILD into a temporary prefix, then builds and runs every program of examples/ against
# what was installed: with pkg-config, and with find_package for the shared and the static libraries.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >"$work/log" || fail "cmake --install failed: $(cat "$work/log")"
pc=$(find "$prefix" -name rubato.pc)
folder=$(find "$prefix" -name librubato.so -printf '%h')
[[ -n $pc && -n $folder ]] || fail "rubato.pc or librubato.so was not installed"
for file in librubato.a librubato_view.so librubato_view.a pkgconfig/rubato_view.pc; do
    [[ -e $folder/$file ]] || fail "$file was not installed"
done
export PKG_CONFIG_PATH=${pc%/*} LD_LIBRARY_PATH=$folder

# exports_only NAME HEADER…: nothing but the public interface leaves the shared library.
exports_only() {
    local name=$1 declared exported symbol
    shift
    declared=$(grep -hv '^ *//' "$@" | grep -oE '\brbt_[a-z0-9_]+\(|\bRBT_[A-Z0-9_]+\b' | tr -d '(')
    exported=$(nm -D --defined-only --format=just-symbols "$folder/$name.so")
    [[ -n $exported ]] || fail "$name.so exports nothing"
    for symbol in $exported; do
        grep -qx "$symbol" <<<"$declared" || fail "$name.so exports $symbol, which no header of its own declares"
    done
    readelf -d "$folder/$name.so" | grep -q "SONAME.*$name\.so\.[0-9]" || fail "$name.so has no versioned soname"
}
shopt -s extglob
exports_only librubato "$source"/include/rubato/!(view).h
exports_only librubato_view "$source"/include/rubato/view.h

[[ -x $prefix/bin/rubato ]] || fail "bin/rubato was not installed"
"$prefix/bin/rubato" help >"$work/log" || fail "the installed rubato does not run"
if grep -rIl -e "$source" -e "$build" "$prefix"; then fail "the files above name the folder rubato was built in"; fi

shopt -s nullglob
programs=("$source"/examples/*.c)
((${#programs[@]} > 0)) || fail "examples/ holds no program"

cmake -S "$source/examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 ||
    fail "find_package(rubato): $(cat "$work/log")"
cmake --build "$work/cmake" >"$work/log" 2>&1 || fail "examples/ does not build with CMake: $(cat "$work/log")"

for program in "${programs[@]}"; do
    name=$(basename "$program" .c)
    package=rubato
    if grep -q 'rubato/view\.h' "$program"; then package=rubato_view; fi
    # shellcheck disable=SC2046
    cc -std=c17 -Wall -Wextra -Werror "$program" $(pkg-config --cflags --libs $package) -lm -o "$work/$name" ||
        fail "examples/$name.c does not build with pkg-config"
    for binary in "$work/$name" "$work/cmake/$name" "$work/cmake/${name}_static"; do
        mkdir "$work/run"
        (cd "$work/run" && "$binary" >"$work/log" 2>&1) || fail "${binary#"$work/"} failed: $(cat "$work/log")"
        rm -r "$work/run"
        grep -q "^$name " "$source/test/install/expected.txt" || fail "expected.txt says nothing about examples/$name.c"
        while read -r which pattern; do
            [[ $which != "$name" ]] || grep -qE -- "$pattern" "$work/log" ||
                fail "${binary#"$work/"} should print '$pattern' but prints: $(cat "$work/log")"
        done <"$source/test/install/expected.txt"
    done
    if ldd "$work/cmake/${name}_static" | grep -q librubato; then fail "${name}_static uses the shared library"; fi
    echo "examples/$name.c: pkg-config, rubato::$package and rubato::${package}_static build and run"
done
