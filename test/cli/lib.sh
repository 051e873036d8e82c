# Shared by the command-line tests: `source "$(dirname "$0")/lib.sh"` after set -eu. $1 is rubato, $2 the source folder.
rubato=$(realpath "$1")
source_folder=$(realpath "$2")
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# says EXIT_CODE "part of the output" command…: the command ends with this code and says this.
says() {
    local code=$1 part=$2 got=0 text
    shift 2
    text=$("$@" 2>&1) || got=$?
    [ "$got" = "$code" ] || fail "exit code $got instead of $code: $* said: $text"
    case "$text" in
    *"$part"*) ;;
    *) fail "$* should say: $part; it said: $text" ;;
    esac
}

# A twisting bar with everything that is written: 12 frames of 4 steps, a release, contact and every format.
write_scene() {
    cat >"$1" <<'JSON'
{
  "rubato": 1,
  "about": "a bar twisted, released and dropped, for tests",
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [1, 0.25, 0.25], "cells": [16, 4, 4]}}},
    "transform": {"translate": [0, 0.3, 0]},
    "material": {"model": "stable-neo-hookean", "young": 2e5, "poisson": 0.4, "density": 1000},
    "damping": {"stiffness": 1e-3},
    "driven": [
      {"where": {"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": true}}, "release": 0.15,
       "motions": [{"rotation": {"point": [0, 0.3, 0], "axis": [1, 0, 0], "rate": 3}}]},
      {"where": {"box": {"min": [0.99, 0, 0], "max": [1, 1, 1], "relative": true}}, "release": 0.25,
       "motions": [{"oscillation": {"amplitude": [0, 0.05, 0], "frequency": 2}}]}]
  }],
  "forces": [{"gravity": {}}],
  "obstacles": [{"plane": {"stiffness": 1e7}}],
  "time": {"step": 0.01, "frame": 0.04, "end": 0.48},
  "integrator": {"method": "semi-implicit"},
  "output": {"vtu": true, "obj": true, "pc2": true, "usda": true}
}
JSON
}

# A small bar that was stretched and swings: five frames, a solver and options that belong to its method.
write_bar_scene() {
    cat >"$1" <<'JSON'
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [0.4, 0.1, 0.1], "cells": [6, 2, 2]}}},
    "material": {"young": 5e4, "poisson": 0.3, "density": 1000},
    "deform": [{"stretch": {"axis": [1, 0, 0], "factor": 1.3}}]
  }],
  "time": {"step": 0.001, "frame": 0.02, "end": 0.1},
  "integrator": {"method": "semi-implicit", "solver": "cholesky", "options": {}}
}
JSON
}

# same_results A B: every result file is the same, byte for byte (run.json and times.csv have times and are left out).
same_results() {
    diff -rq -x run.json -x times.csv -x checkpoints "$1" "$2" >"$work/difference" || fail "$1 and $2 differ: $(head -5 "$work/difference")"
}

# resume_if_any FOLDER: the word that continues the run there, or nothing, if it was killed before its first checkpoint.
resume_if_any() {
    if compgen -G "$1/checkpoints/*.rbt" >/dev/null; then echo --resume; fi
}
