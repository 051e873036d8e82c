#!/usr/bin/env bash
# What a rank of two has of the peak memory of one rank alone, by what a larger body adds to it: 0.6 with dot and with
# multigrid, whose products would keep far more if PETSc's own made them. And multigrid repeats itself bit for bit.
set -eu
source "$(dirname "$0")/lib.sh"
beam=$(dirname "$0")/../../scenes/cluster/beam.json

# grow RANKS CELLS SOLVER METHOD setting…: into RANKS-CELLS-SOLVER
grow() {
    local count=$1 cells=$2 solver=$3 method=$4
    shift 4
    ranks $count run "$beam" -o $count-$cells-$solver -q -t 1 -n 2 --set integrator.solver=$solver \
        --set integrator.method=$method --set "bodies[0].mesh.shape.cuboid.cells=[$((4 * cells)),$cells,$cells]" \
        --set time.frame=0.02 --set output.vtu=false "$@" 2>/dev/null || fail "$solver on $count ranks failed"
}
for count in 1 2; do
    for cells in 8 18; do
        grow $count $cells petsc-gamg semi-implicit
        grow $count $cells dot backward-euler --set integrator.options.subdomains=$((cells * cells / 3))
    done
done
python3 - <<'PYTHON' || fail "a rank of two has too much"
import json, sys
def peak(ranks, cells, solver):
    with open(f"{ranks}-{cells}-{solver}/run.json") as file:
        return max(rank["memory_gb"] for rank in json.load(file)["ranks"]["each"])
for solver in ("petsc-gamg", "dot"):
    one, two = (peak(ranks, 18, solver) - peak(ranks, 8, solver) for ranks in (1, 2))
    print(f"{solver}: {two / one:.3f}")
    if not two <= 0.66 * one:  # 0.6, and what a layer of nodes around a part is in so small a body
        sys.exit(1)
PYTHON
mv 2-8-petsc-gamg first
grow 2 8 petsc-gamg semi-implicit
cmp first/energy.csv 2-8-petsc-gamg/energy.csv || fail "multigrid does not repeat itself"
