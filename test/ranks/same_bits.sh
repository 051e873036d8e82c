#!/usr/bin/env bash
# 1, 2, 3, 4 and 8 ranks, with one thread or several, leave the bytes of the program without ranks: explicit steps,
# semi-implicit with schwarz, newton with schwarz and dot, with all that ranks know of a scene. MUMPS and GAMG agree to
# their tolerance. Each of the three that all ranks are tried with takes some of the counts; RUBATO_TEST_WHOLE=1, as in
# `make soak`, all of them.
set -eu
source "$(dirname "$0")/lib.sh"
write_ranks_scene scene.json

# check NAME COUNTS setting…
check() {
    local name=$1 counts=$2 count
    shift 2
    "$rubato" run scene.json -o "$name" -q -t 1 "$@" 2>/dev/null
    for count in $counts; do
        ranks "$count" run scene.json -o "$name-$count" -q -t $((count % 3 + 1)) "$@" 2>/dev/null ||
            fail "$name on $count ranks failed"
        same_run "$name" "$name-$count"
        rm -r "$name-$count"
    done
}
all=${RUBATO_TEST_WHOLE:+1 2 3 4 8}
check explicit "${all:-2 4}" --set integrator.method=symplectic-euler --set time.step=0.0002 --set time.end=0.02
check schwarz "${all:-3 8}" --set integrator.method=semi-implicit --set integrator.solver=schwarz \
    --set integrator.options.subdomains=9
check dot "${all:-1 2 8}" --set integrator.method=backward-euler --set integrator.solver=dot \
    --set integrator.options.subdomains=9
check bdf2 "3" --set integrator.method=bdf2 --set integrator.solver=dot --set integrator.options.subdomains=5
check midpoint "2" --set integrator.method=implicit-midpoint --set integrator.options.subdomains=5 \
    --set integrator.options.linear=schwarz
check linear "3" --set integrator.method=semi-implicit --set integrator.solver=schwarz \
    --set integrator.options.subdomains=4 --set 'bodies[0].material.model=linear' --set 'bodies[0].consistent_mass=true'

# The solvers agree: to rounding, and to the tolerance of conjugate gradients.
"$rubato" run scene.json -o direct -q -t 1 --set integrator.method=semi-implicit 2>/dev/null
for solver in petsc-mumps petsc-gamg; do
    ranks 2 run scene.json -o "$solver" -q -t 1 --set integrator.method=semi-implicit \
        --set integrator.solver=$solver 2>/dev/null
    ranks 3 run scene.json -o "$solver-newton" -q -t 1 --set integrator.method=backward-euler \
        --set integrator.options.linear=$solver 2>/dev/null
done
python3 - direct schwarz petsc-mumps petsc-gamg <<'PYTHON' || fail "solvers disagree"
import csv, sys
tables = [[list(map(float, row[2:14])) for row in list(csv.reader(open(name + "/energy.csv")))[1:]]
          for name in sys.argv[1:]]
for name, table in zip(sys.argv[2:], tables[1:]):
    size = max(abs(v) for row in tables[0] for v in row)
    off = max(abs(a - b) for one, two in zip(tables[0], table) for a, b in zip(one, two)) / size
    print(name, "differs by", off)
    # a relative residual of 1e-9 in each of six steps; conditions of the matrices are below 1e3
    if not (off < 1e-6 and len(table) == len(tables[0])):
        sys.exit(1)
PYTHON
