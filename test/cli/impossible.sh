#!/usr/bin/env bash
# What cannot be simulated ends with a sentence or an outcome that names cause and element, and no file ever holds a NaN or
# an infinity.
set -eu
source "$(dirname "$0")/lib.sh"

cat >scene.json <<'JSON'
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]}}},
    "material": {"model": "neo-hookean", "young": 1e5, "poisson": 0.3, "density": 1000},
    "fixed": ["left"]
  }],
  "time": {"step": 0.001, "frame": 0.005, "end": 0.1},
  "integrator": {"method": "semi-implicit"},
  "output": {"vtu": true, "obj": true, "pc2": true, "compress": false}
}
JSON

# Every number of the text files and every 64-bit float of the VTU files in a folder is finite.
cat >finite.py <<'PYTHON'
import array, math, pathlib, re, struct, sys

def floats(path):
    data = path.read_bytes()
    start = data.index(b"_", data.index(b"<AppendedData")) + 1
    for offset in re.findall(rb'type="Float64"[^>]*offset="(\d+)"', data[:start]):
        at = start + int(offset)
        size = struct.unpack_from("<Q", data, at)[0]
        yield from array.array("d", data[at + 8:at + 8 + size])

for path in pathlib.Path(sys.argv[1]).rglob("*"):
    if path.suffix == ".vtu" and not all(map(math.isfinite, floats(path))):
        sys.exit(f"{path} has a number that is not finite")
    if path.suffix == ".pc2" and not all(map(math.isfinite, array.array("f", path.read_bytes()[32:]))):
        sys.exit(f"{path} has a number that is not finite")
    if path.suffix in (".csv", ".json", ".obj", ".pvd"):
        found = re.search(r"[-\s,\"(]((nan|inf|infinity)\b)", path.read_text(), re.IGNORECASE)
        if found:
            sys.exit(f"{path} says {found[0]}")
PYTHON

# impossible "part of what it says" option…: the run fails, says so, and what it wrote is finite.
impossible() {
    local part=$1
    shift
    rm -rf out
    says 1 "$part" "$rubato" run scene.json -o out -q "$@"
    if [ -d out ]; then python3 finite.py out; fi
}

# ---- What a scene must not ask for
impossible 'bodies[0].material.density: must be above 0 kg/m^3, found 0' --set bodies[0].material.density=0
impossible 'bodies[0].material.poisson: must be above -1 and below 0.5, found 0.5' --set bodies[0].material.poisson=0.5
impossible 'bodies[0].material.young: must be above 0 Pa, found 0' --set bodies[0].material.young=0
impossible 'bodies[0].deform: tet 23 of body "bar" starts inside out (det F = -1), which its material forbids' \
    --set 'bodies[0].deform=[{"scale":{"factors":[-1,1,1]}}]'
impossible 'the energy of the start is beyond any number' --set 'bodies[0].velocity={"linear":[1e200,0,0]}'

# ---- Meshes
vtk() { # vtk FILE "last node" "second tet"
    printf '# vtk DataFile Version 3.0\ntwo tets\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n' >"$1"
    printf '0 0 0 1 0 0 0 1 0 0 0 1 %s\nCELLS 2 10\n4 0 1 2 3\n4 %s\nCELL_TYPES 2\n10 10\n' "$2" "$3" >>"$1"
}
vtk good.vtk '1 1 1' '1 2 3 4'
vtk flipped.vtk '1 1 1' '1 3 2 4'
vtk flat.vtk '0.5 0.5 0' '1 2 3 4'
vtk nan.vtk 'nan 1 1' '1 2 3 4'
mesh() { echo "bodies[0].mesh={\"file\":\"$1.vtk\"}"; }
"$rubato" run scene.json -o good -q --set "$(mesh good)" --set bodies[0].fixed=[]
python3 finite.py good
impossible 'bodies[0].mesh: tet 1 lies inside out (volume -0.333333 m^3)' --set "$(mesh flipped)"
impossible 'bodies[0].mesh: tet 1 is flat (volume 0 m^3' --set "$(mesh flat)"
impossible 'node 4 (counted from 0) is at (nan, 1, 1)' --set "$(mesh nan)"

# ---- Every method: forced inside out by driven nodes, and forces beyond any number
for method in $("$rubato" methods | grep -v '^ ' | grep .); do
    contact=()
    if [ $method = async-contact ]; then # which is told apart from ends that would meet
        impossible 'of "bar", which is driven, meet at 0.08 s' --method $method \
            --set 'bodies[0].driven=[{"where":"right","motions":[{"velocity":{"velocity":[-5,0,0]}}]}]'
        contact=(--set 'integrator={"method": "async-contact", "options": {"contact": false}}')
    fi
    impossible 'inverted in stage' --method $method "${contact[@]}" \
        --set 'bodies[0].driven=[{"where":"right","motions":[{"velocity":{"velocity":[-5,0,0]}}]}]'
    grep -q '"outcome": "inverted"' out/run.json || fail "$method: run.json should name the outcome"
    grep -Eq '"tet": [0-9]' out/run.json || fail "$method: run.json should name the element"
    impossible 'not finite in stage' --method $method --set 'forces=[{"gravity":{"acceleration":[0,1e285,0]}}]'
    grep -Eq '"tet": [0-9]' out/run.json || fail "$method: run.json should name the element"
    impossible 'not finite in stage' --method $method \
        --set 'forces=[{"pull":{"where":"right","force":[1e308,1e308,1e308]}}]'
done

# ---- A step ten times too long for symplectic Euler, for every material
limit=$("$rubato" run scene.json -o limit --frames 1 | sed -n 's/.*explicit step about \([0-9.e-]*\) s.*/\1/p')
[ -n "$limit" ] || fail "run should say how long an explicit step may be"
step=$(python3 -c "print(10 * $limit)")
for material in stable-neo-hookean neo-hookean st-venant-kirchhoff fixed-corotated corotational arap linear; do
    impossible 'body "bar", after 0 halvings; a step of ' --method symplectic-euler --set bodies[0].material.model=$material \
        --set 'bodies[0].velocity={"angular":[1,2,3]}' --set integrator.max_halvings=0 \
        --set time="{\"step\":$step,\"frame\":$step,\"end\":20}"
    grep -Eq '"outcome": "unstable"' out/run.json || fail "$material: run.json should name the outcome"
done

# Prescribed things that would meet where nothing may pass through anything: refused by name, by a run and by a check.
cat >presses.json <<'JSON'
{
  "rubato": 1,
  "bodies": [
    {"name": "bed", "mesh": {"shape": {"cloth": {}}}, "shell": {"thickness": 0.001}, "fixed": [{"box": {"min": [-9, -9, -9], "max": [9, 9, 9]}}]},
    {"name": "leaf", "mesh": {"shape": {"cloth": {"length": 0.1, "width": 0.1}}}, "transform": {"translate": [0, 1, 0]}, "shell": {"thickness": 0.001}}
  ],
  "obstacles": [{"sphere": {"centre": [0, 0.5, 0], "radius": 0.2, "motions": [{"velocity": {"velocity": [0, -1, 0]}}]}}],
  "time": {"step": 0.01, "frame": 0.1, "end": 1},
  "integrator": {"method": "async-contact"}
}
JSON
for command in run check; do
    says 1 'of "bed", which is fixed, meet at 0.3 s: both go where they are told' "$rubato" $command presses.json
    says 1 'obstacles[0]' "$rubato" $command presses.json
done
says 0 'fine' "$rubato" check presses.json --set 'obstacles[0].sphere.motions[0].velocity.until=0.29'
