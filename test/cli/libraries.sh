#!/usr/bin/env bash
# The command and the shared libraries load nothing that is under the GPL, and scripts/check-libraries finds what is.
set -euo pipefail
rubato=$1 source=$2 build=$(dirname "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-libraries.XXXXXX")
trap 'rm -rf "$work"' EXIT
[[ -e $build/librubato.so ]] || exit 77 # an instrumented build: it has no shared libraries, and loads what instruments it

"$source/scripts/check-libraries" "$rubato" "$build/librubato.so" "$build/librubato_view.so"
if [[ -e $build/rubato-mpi ]]; then "$source/scripts/check-libraries" "$build/rubato-mpi"; fi

# Each thing has the libraries it is for, and no other.
loads() { readelf -d "$1" | grep -q "NEEDED.*\[$2\.so"; }
if loads "$build/librubato.so" libpng16; then echo "librubato.so loads libpng" && exit 1; fi
loads "$build/librubato.so" libklu
loads "$build/librubato_view.so" libpng16
for library in libklu libamd libmetis libgmp libjansson libzstd; do
    if loads "$build/librubato_view.so" "$library"; then echo "librubato_view.so loads $library" && exit 1; fi
done

# expect NAME FLAG…: a library linked with these is refused, and NAME named.
expect() {
    local name=$1 said status=0
    shift
    echo 'int rubato_libraries;' | cc -shared -fPIC -x c - -o "$work/linked.so" -Wl,--no-as-needed "$@"
    said=$("$source/scripts/check-libraries" "$work/linked.so") || status=$?
    if ((status != 1)) || [[ $said != *"$work/linked.so: loads $name.so"* ]]; then
        echo "linked with $*: expected a complaint about $name, got '$said' and exit code $status"
        exit 1
    fi
}
expect libcholmod -lcholmod
expect libumfpack -lumfpack
expect libcholmod -lumfpack # through the other one
expect libarpack -larpack
expect libopenblas -lopenblas
