#!/usr/bin/env bash
# RUBATO_ISA: one instruction set for all kernels, told in run.json; a word that is none ends the command.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json

says 2 'RUBATO_ISA must be plain, avx2 or avx512; found "sse2"' env RUBATO_ISA=sse2 "$rubato" run scene.json -o none
[ ! -e none ] || fail "a wrong RUBATO_ISA should stop a run before it begins"

judged=0
for isa in plain avx2 avx512; do
    if ! RUBATO_ISA=$isa "$rubato" methods >/dev/null 2>&1; then
        says 2 "RUBATO_ISA is \"$isa\", which this processor does not have; its best is " env RUBATO_ISA=$isa "$rubato" methods
        continue
    fi
    RUBATO_ISA=$isa "$rubato" run scene.json -o $isa -n 2 -q
    RUBATO_ISA=$isa "$rubato" run scene.json -o again -n 2 -q
    same_results $isa again
    rm -r again
    # Rounding differs from set to set, and a few steps make no more of it than this.
    /usr/bin/python3 - $isa plain <<'PYTHON'
import csv, json, sys
isa, plain = sys.argv[1:]
with open(f"{isa}/run.json") as file:
    used = json.load(file)["machine"]["instructions"]
assert len(used) == 5 and set(used.values()) == {isa}, used
rows = [list(csv.DictReader(line for line in open(f"{name}/energy.csv") if not line.startswith("#"))) for name in (isa, plain)]
compared = 0
for a, b in zip(*rows):
    for key in a:
        try:
            x, y = float(a[key]), float(b[key])
        except ValueError:
            continue
        if "energy" in key or key in ("kinetic", "elastic", "gravity", "total"):
            compared += 1
            assert abs(x - y) <= 1e-9 * (1 + abs(y)), (key, x, y)
assert compared >= 9, compared
PYTHON
    judged=$((judged + 1))
done
[ $judged -ge 1 ] || fail "no instruction set was judged"
echo "$judged instruction sets"
