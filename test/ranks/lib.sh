# Shared by the tests of ranks: `source "$(dirname "$0")/lib.sh"` after set -eu. $1 is rubato, $2 the source folder, $3
# rubato-mpi.
rubato_mpi=$(realpath "$3")
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_WAIT_POLICY=passive

# ranks N word…: rubato-mpi on N ranks; more than there are processors is fine.
ranks() {
    local count=$1
    shift
    timeout 600 mpirun --oversubscribe --bind-to none -n "$count" "$rubato_mpi" "$@"
}

# A bar that is driven, released, pulled, blown at and pushed: everything that ranks know.
write_ranks_scene() {
    cat >"$1" <<'JSON'
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [1, 0.25, 0.25], "cells": [16, 4, 4]}}},
    "material": {"model": "stable-neo-hookean", "young": 2e5, "poisson": 0.4, "density": 1000},
    "damping": {"mass": 0.1, "stiffness": 1e-5},
    "fixed": [{"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": true}}],
    "driven": [{"where": {"box": {"min": [0.99, 0, 0], "max": [1, 1, 1], "relative": true}}, "release": 0.03,
      "motions": [{"rotation": {"axis": [1, 0, 0], "point": [0.5, 0.5, 0.5], "relative": true, "rate": 2}}]}]
  }, {
    "name": "cloth",
    "mesh": {"shape": {"cloth": {"length": 0.5, "width": 0.5, "cells_along": 8, "cells_across": 8}}},
    "transform": {"translate": [0, 0.6, 0]}, "shell": {"thickness": 0.01},
    "material": {"young": 1e5, "poisson": 0.3, "density": 300}
  }],
  "forces": [
    {"gravity": {}},
    {"pull": {"where": {"box": {"min": [0.4, 0.9, 0], "max": [0.6, 1, 1], "relative": true}}, "force": [0, 6, 9],
      "until": 0.05}},
    {"wind": {"velocity": [1, 0, 5]}}],
  "obstacles": [{"plane": {"point": [0, -0.13, 0], "normal": [0, 1, 0], "stiffness": 1e6}}],
  "probes": [{"name": "middle", "body": "bar",
    "where": {"box": {"min": [0.4, 0, 0], "max": [0.6, 1, 1], "relative": true}}}],
  "output": {"checkpoint_every": 1, "checkpoint_keep": 0},
  "time": {"step": 0.01, "frame": 0.02, "end": 0.06},
  "integrator": {"method": "semi-implicit"}
}
JSON
}

# same_run A B: tables and checkpoints are the same, byte for byte.
same_run() {
    local file
    for file in energy.csv probes.csv; do cmp "$1/$file" "$2/$file" || fail "$1/$file and $2/$file differ"; done
    for file in "$1"/checkpoints/*; do
        cmp "$file" "$2/checkpoints/$(basename "$file")" || fail "$file and that of $2 differ"
    done
}
