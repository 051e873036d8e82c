#!/usr/bin/env bash
# Bad inputs for contact: each ends with its sentence, what is wrong, where, the value, the limit and what to try, before
# anything is run or written; check says what run says. Then starts that are odd but allowed, and set-ups that have no
# solution, which end with an outcome.
set -eu
source "$(dirname "$0")/lib.sh"
cases=0

# block NAME X Y Z [more]: a cuboid of 0.2 m with its centre there
block() {
    echo "{\"name\": \"$1\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.2, 0.2, 0.2], \"cells\": [1, 1, 1]}}},
      \"transform\": {\"translate\": [$2, $3, $4]}, ${5:-} \"material\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}}"
}
balls() {
    echo "{\"name\": \"balls\", \"mesh\": {\"shape\": {\"cuboid\": {\"size\": [0.2, 0.2, 0.2], \"cells\": [1, 1, 1]}}},
      \"transform\": {\"translate\": [$1, $2, $3]}, \"particles\": {\"radius\": $4, \"mass\": 0.1}}"
}
sheet() {
    echo "{\"name\": \"sheet\", \"mesh\": {\"shape\": {\"cloth\": {\"length\": 0.4, \"width\": 0.4, \"cells_along\": 3, \"cells_across\": 3}}},
      \"transform\": {\"translate\": [$1, $2, $3]}, \"shell\": {\"thickness\": 1e-3${4:-}}, \"material\": {\"young\": 1e5, \"density\": 300}}"
}
rope() {
    echo "{\"name\": \"rope\", \"mesh\": {\"file\": \"rope.obj\"}, \"transform\": {\"translate\": [$1, $2, $3]},
      \"springs\": {\"stiffness\": 100, \"node_mass\": 0.01${4:-}}}"
}
printf 'v -0.3 0.01 0.02\nv 0.3 0.01 0.02\nl 1 2\n' >rope.obj
one=$(block a 0 0 0)
ground='"obstacles": [{"plane": {"point": [0, -0.2, 0]}}],'

# write BODIES CONTACT [more] [METHOD] [SOLVER]
write() {
    cat >scene.json <<JSON
{"rubato": 1, "bodies": [$1], "contact": $2, ${3:-}
 "forces": [{"gravity": {}}], "time": {"step": 0.01, "frame": 0.02, "end": 0.04},
 "integrator": {"method": "${4:-backward-euler}"${5:+, \"solver\": \"$5\"}}}
JSON
}

# refused "part of the sentence" BODIES CONTACT …: run and check refuse it in the same words, and nothing is left behind
refused() {
    local part=$1
    shift
    write "$@"
    says 1 "$part" "$rubato" check scene.json
    says 1 "$part" timeout 60 "$rubato" run scene.json -o refused
    [ "$("$rubato" check scene.json 2>&1)" = "$("$rubato" run scene.json -o refused 2>&1)" ] || fail "check and run differ: $part"
    [ ! -e refused ] || fail "something was written: $part"
    cases=$((cases + 1))
}

# ---- Starts that are not apart
refused 'scene.json: contact: at the start "a" and "b" pass through each other (18 places), first near (0.1, 0.03333, -0.03333); move them apart' \
    "$one, $(block b 0.1 0.1 0.1)" '{}'
refused '"a" and "b" pass through each other' "$(block a 0 0 0 '"fixed": ["everything"],'), $(block b 0.11 0.12 0.13 '"fixed": ["everything"],'), $(block c 0 1 0)" '{}'
refused 'at the start "a" touches "b" (111 places)' "$one, $(block b 0 0.2 0)" '{}'
refused 'leave a gap between them, however small' "$one, $(block b 0 0 0)" '{}'
refused '"b" pass through each other (14 places) and 3 more pairs of bodies' \
    "$one, $(block b 0.11 0.1 0.1), $(block c -0.11 0.1 -0.1), $(block d 0 -0.11 0), $(block e 0 0.01 -0.11)" '{}'
refused 'at the start "strip" passes through itself (' '{"name": "strip", "mesh": {"shape": {"cuboid": {"size": [1, 0.1, 0.1], "cells": [8, 1, 1]}}},
    "deform": [{"bend": {"axis": [1, 0, 0], "towards": [0, 1, 0], "degrees": 400}}], "material": {"young": 1e5, "poisson": 0.3, "density": 1000}}' '{}'
refused 'at the start "a" and "sheet" pass through each other' "$one, $(sheet 0.01 0.01 0.01)" '{}'
refused 'at the start "a" and "rope" pass through each other (2 places)' "$one, $(rope 0 0 0)" '{}'
refused 'at the start parts of "balls" overlap (12 pairs, by up to 0.02 m)' "$(balls 0 0 0 0.11)" '{}'
refused 'at the start "a" and "balls" overlap' "$one, $(balls 0.21 0 0 0.02)" '{}'
refused 'move them apart, or make the radius smaller' "$one, $(balls 0.21 0 0 0.02)" '{}'
refused 'at the start "a" is behind the plane obstacles[0] (4 nodes, up to 0.1 m)' "$one" '{}' '"obstacles": [{"plane": {}}],'
refused 'to the side that the normal of the plane points to' "$one" '{}' '"obstacles": [{"plane": {"point": [0, 9, 0]}}],'
refused '"balls" is behind the plane obstacles[1] (4 nodes, up to 0.03 m)' "$(balls 0 0 0 0.05)" '{}' '"obstacles": [{"sphere": {"centre": [9, 0, 0], "radius": 1}}, {"plane": {"point": [0, -0.12, 0]}}],'
refused 'at the start "a" and obstacles[0] overlap (2 pairs, by up to 0.05 m)' "$one" '{}' '"obstacles": [{"sphere": {"centre": [0, -0.15, 0], "radius": 0.1}}],'
refused 'by up to 0.9 m)' "$one" '{}' '"obstacles": [{"sphere": {"centre": [0, 0, 0], "radius": 1}}],'
refused 'at the start "a" passes through obstacles[0]' "$one" '{}' '"obstacles": [{"box": {"min": [0.05, 0.05, 0.05], "max": [1, 1, 1]}}],'
refused 'at the start "a" passes through obstacles[0]' "$one" '{}' '"obstacles": [{"capsule": {"a": [-1, 0.03, 0.02], "b": [1, 0.03, 0.02], "radius": 0.01}}],'
refused 'at the start "a" and obstacles[0] overlap' "$one" '{}' '"obstacles": [{"capsule": {"a": [-1, 0.13, 0.02], "b": [1, 0.13, 0.02], "radius": 0.05}}],'
refused 'at the start "a" passes through obstacles[0] (15 places)' "$one" '{}' \
    '"obstacles": [{"mesh": {"mesh": {"shape": {"cuboid": {"size": [0.2, 0.2, 0.2], "cells": [1, 1, 1]}}}, "transform": {"translate": [0.1, 0.1, 0.1]}}}],'
refused 'm apart at the start, but less than 4.26e-15 m cannot be told from nothing at positions of up to 0.3 m; move them apart' "$one, $(block b 0 0.200000000000001 0)" '{}'

# ---- Thickness, gap, friction
refused 'scene.json: contact.thickness: must be above 0 m, found 0' "$one" '{"thickness": 0}'
refused 'contact.thickness: must be above 0 m, found -1' "$one" '{"thickness": -1}'
refused 'not valid JSON' "$one" '{"thickness": NaN}'
refused 'contact.thickness: a number or "auto" is needed, found the text "thin"' "$one" '{"thickness": "thin"}'
refused 'contact.thickness: a number or "auto" is needed, found null' "$one" '{"thickness": null}'
refused 'contact.thickness: 1e+300 m is more than the whole of "a" measures, 0.346 m: it would push itself apart; 0.000346 m fits the meshes' "$one" '{"thickness": 1e300}'
refused 'contact.thickness: 0.5 m is more than the whole of "a" measures' "$one" '{"thickness": 0.5}'
refused 'contact.thickness: 1e-20 m is less than positions of up to 0.1 m can resolve, 2.22e-13 m; take a larger one' "$one" '{"thickness": 1e-20}'
refused 'move the scene to the origin' "$(block a 1e12 0 0)" '{}'
refused 'contact.gap: must be at least 0 m, found -1' "$one" '{"gap": -1}'
refused 'bodies[0].gap: must be at least 0 m, found -1' "$(block a 0 0 0 '"gap": -1,')" '{}'
refused 'contact.gap: "a" is to keep 1 m free, which is more than it measures, 0.346 m' "$one" '{"gap": 1}'
refused 'at the start parts of "a" are 0.115 m apart, but must keep more than 0.2 m' "$one" '{"gap": 0.2}'
refused 'at the start "a" and "b" are 0.01 m apart, but must keep more than 0.02 m, first near (-0.1, 0.1, -0.1); take a smaller gap, or move them apart' "$one, $(block b 0 0.21 0)" '{"gap": 0.02}'
refused '"a" and obstacles[0] are 0.1 m apart, but must keep more than 0.11 m' "$(block a 0 0 0 '"gap": 0.22,')" '{}' "$ground"
refused 'contact.friction: must be at least 0 and at most 1e6, found -1' "$one" '{"friction": -1}'
refused 'contact.friction: a number is needed, found the text "rough"' "$one" '{"friction": "rough"}'
refused 'bodies[0].friction: must be at least 0 and at most 1e6, found -1' "$(block a 0 0 0 '"friction": -1,')" '{}'
refused 'contact.slip_speed: must be above 0 m/s, found 0' "$one" '{"slip_speed": 0}'
refused 'contact: unknown key "thicknes"; did you mean "thickness"?' "$one" '{"thicknes": 0.01}'
refused 'contact.solver: unknown solver "lagrange"; known are: barrier' "$one" '{"solver": "lagrange"}'
refused 'contact: an object is needed, found true' "$one" true

# ---- Pairs
pairs() { refused "$1" "$one" "{\"pairs\": [$2]}" "$ground"; }
pairs 'contact.pairs[0].a: there is no body "nobody"; name a body, or an obstacle as "obstacles[0]"' '{"a": "nobody", "friction": 1}'
pairs 'contact.pairs[0].b: there is no "obstacles[7]": the scene has 1 obstacle, counted from 0' '{"a": "a", "b": "obstacles[7]", "friction": 1}'
for name in 'obstacles[x]' 'obstacles[0' 'obstacles[0]]' 'obstacles[-1]' 'obstacles[ 0]' 'obstacles[]' 'obstacles'; do
    pairs "contact.pairs[1].a: \"$name\" names no obstacle; write its number, counted from 0, as \"obstacles[0]\"" "{\"friction\": 1}, {\"a\": \"$name\", \"friction\": 1}"
done
pairs 'contact.pairs[0]: "obstacles[0]" and "obstacles[0]" are both obstacles, which never feel each other' '{"a": "obstacles[0]", "b": "obstacles[0]", "friction": 1}'
pairs 'contact.pairs[0]: the key "friction" is missing' '{"a": "a"}'
pairs 'contact.pairs[0].friction: must be at least 0 and at most 1e6, found -1' '{"a": "a", "friction": -1}'
pairs 'contact.pairs[0].a: must not be empty' '{"a": "", "friction": 1}'
refused 'contact.pairs: a list is needed, found an object' "$one" '{"pairs": {"a": "a", "friction": 1}}'

# ---- What contact does not go with: every method and solver but four methods with newton, dot and lbfgs-h, and four with cholesky
methods=0
while read -r method solver; do
    case "$method:$solver" in
    backward-euler:newton | implicit-midpoint:newton | bdf2:newton | energy-euler:newton | *:dot | *:lbfgs-h | semi-implicit:cholesky | siere:cholesky | multirate-euler:cholesky | imex:cholesky | imex:auto)
        write "$one" '{}' "$ground" "$method" "$solver"
        says 0 'fine' "$rubato" check scene.json
        continue
        ;;
    async-contact:)
        write "$one" '{}' "$ground" "$method"
        says 0 'fine' "$rubato" check scene.json
        continue
        ;;
    semi-implicit:* | siere:* | multirate-euler:* | imex:*) part="contact: the solver $solver does not know contact, which needs entries of a factor; take cholesky, or leave \"contact\" out" ;;
    backward-euler:* | implicit-midpoint:* | bdf2:* | energy-euler:*) part="contact: the solver $solver does not know contact; take newton, dot or lbfgs-h, or leave \"contact\" out" ;;
    *) part="contact: $method does not know contact yet; take one that does (semi-implicit, siere, backward-euler, implicit-midpoint, bdf2, energy-euler, imex, multirate-euler, async-contact)" ;;
    esac
    refused "$part" "$one" '{}' "$ground" "$method" $solver
    methods=$((methods + 1))
done < <("$rubato" methods | awk '/^[a-z]/ {if (m && !s) print m; m = $1; s = 0} /^  solvers:/ {s = 1; gsub(",", ""); for (i = 2; i <= NF; i++) print m, $i} END {if (!s) print m}')
refused 'integrator.options.variant: the method as published knows no contact; take "fast", or leave "contact" out' \
    "$one" '{}' "$ground" 'backward-euler", "options": {"variant": "paper"}, "solver": "dot'
refused 'contact.solver: async-contact has layers in place of an augmented-lagrangian, and no step to solve' "$one" '{"solver": "augmented-lagrangian"}' "$ground" async-contact
refused 'contact.slip_speed: is 0.1 m/s, but with async-contact surfaces stick wholly' "$one" '{"slip_speed": 0.1}' "$ground" async-contact
for option in '"thickness": 0.01' '"friction": 0.5' '"contact": false'; do
    write "$one" '{}' "$ground" async-contact
    sed -i "s/\"async-contact\"/&, \"options\": {$option}/" scene.json
    says 1 'leave one of them out' "$rubato" check scene.json
done
[ $methods -ge 18 ] || fail "only $methods methods and solvers were tried"
cut='"surface": {"plane": {"point": [0.01, 0, 0], "normal": [1, 0, 0]}}'
for more in "\"cuts\": [{$cut, \"time\": 0.02}]," "\"events\": [{\"time\": 0.02, \"cut\": {$cut}}],"; do
    write "$one" '{}' "$more"
    says 0 'fine' "$rubato" check scene.json
done
refused 'bodies[0].shell.yield: backward-euler does not know hinges that yield' "$(sheet 0 0 0 ', "yield": 0.1')" '{}'
refused 'bodies[0].springs.limit: backward-euler does not know limits of springs' "$(rope 0 0 0 ', "limit": 0.1')" '{}'
refused 'bodies: every node is fixed or driven for ever, so nothing can move by forces; leave some nodes free' "$(block a 0 0 0 '"fixed": ["everything"],')" '{}' "$ground"
refused 'obstacles[0]: a plane has no end and cannot turn, only move; take a box' "$one" '{}' \
    '"obstacles": [{"plane": {"point": [0, -0.2, 0], "motions": [{"rotation": {"point": [0, 0, 0], "axis": [1, 0, 0], "rate": 1}}]}}],'

# ---- Obstacles that are meshes
triangle() { printf 'v -1 %s -1\nv 1 %s -1\nv %s %s %s\nf %s\n' "$1" "$1" "${3:-0}" "$1" "${4:-1}" "${2:-1 2 3}"; }
triangle -0.3 >open.obj
: >empty.obj
printf 'v 0 0 0\nv 1 0 0\n' >points.obj
triangle -0.3 '1 2 3' 3 -1 >flat.obj
triangle nan >nan.obj
sed 's/^v -1/v 1e200/' open.obj >huge.obj
triangle -0.3 '1 2 9' >index.obj
mesh() {
    local sequence=""
    [ -z "${3:-}" ] || sequence=", \"sequence\": {$3}"
    refused "$1" "$one" '{}' "\"obstacles\": [{\"mesh\": {\"mesh\": {\"file\": \"$2\"}$sequence}}],"
}
mesh 'no.obj: cannot open the file' no.obj
mesh 'empty.obj: the file has no vertices' empty.obj
mesh 'scene.json: obstacles[0].mesh.mesh: has 2 nodes but no tets or triangles that a surface could be made of' points.obj
mesh 'obstacles[0].mesh.mesh: triangle 0 has no area (0 m^2 with an edge of 4 m); repair the mesh' flat.obj
mesh 'nan.obj: node 0 (counted from 0) is at (-1, nan, -1): every coordinate must be finite' nan.obj
mesh 'obstacles[0].mesh.mesh: triangle 0 has an edge of inf m, too long for its area to be a number; check unit and scale' huge.obj
mesh 'index.obj:4: vertex index 9, but the last vertex of the file is 3' index.obj
for k in 0 1 2; do triangle -0.$((3 + k)) >walk_$k.obj; done
cp walk_0.obj turn_0.obj && triangle -0.4 '1 3 2' >turn_1.obj
cp walk_0.obj more_0.obj && (echo 'v 0 0 0' && cat walk_1.obj) >more_1.obj
cp walk_0.obj twice_0.obj && (cat walk_1.obj && echo 'f 1 2 3') >twice_1.obj
cp walk_0.obj thin_0.obj && cp flat.obj thin_1.obj
echo garbage >walk.pc2
mesh 'walk_3.obj: cannot open the file' walk_0.obj '"file": "walk_#.obj", "last": 3'
mesh 'turn_1.obj: triangle 0 of frame 1 has other nodes than that of the mesh of obstacles[0]' turn_0.obj '"file": "turn_#.obj", "last": 1'
mesh 'more_1.obj: frame 1 has 4 nodes, but the mesh of obstacles[0] has 3' more_0.obj '"file": "more_#.obj", "last": 1'
mesh 'twice_1.obj: frame 1 has 2 triangles, but the mesh of obstacles[0] has 1' twice_0.obj '"file": "twice_#.obj", "last": 1'
mesh 'obstacles[0].mesh.sequence: triangle 0 in frame 1 has no area' thin_0.obj '"file": "thin_#.obj", "last": 1'
mesh 'walk.pc2: has 8 bytes, but a PC2 file begins with a head of 32' walk_0.obj '"file": "walk.pc2"'
mesh 'obstacles[0].mesh.sequence.last: is missing' walk_0.obj '"file": "walk_#.obj"'
mesh 'obstacles[0].mesh.sequence.rate: must be above 0 1/s, found 0' walk_0.obj '"file": "walk_#.obj", "last": 2, "rate": 0'

# ---- Odd, but allowed, with a word where one helps
fine() {
    local part=$1
    shift
    write "$@"
    says 0 "$part" "$rubato" check scene.json
    says 0 'finished' timeout 60 "$rubato" run scene.json -o fine --verify-events
}
fine 'note: obstacles[0]: its surface is open, 3 edges have a triangle on one side only' "$one" '{}' '"obstacles": [{"mesh": {"mesh": {"file": "open.obj"}}}],'
fine 'note: body "a" starts inside obstacles[0]: 8 of its 8 surface nodes, up to 0.9 m deep; contact keeps it there' "$one" '{}' '"obstacles": [{"box": {"min": [-1, -1, -1], "max": [1, 1, 1]}}],'
fine 'fine' "$(block a 0 0 0 '"fixed": ["everything"],'), $(block b 0 0.6 0)" '{}' '"obstacles": [{"plane": {}}],'  # built into the ground
fine 'fine' "$(block a 0 0 0 '"consistent_mass": true,')" '{}' '"obstacles": [{"plane": {"point": [0, -0.1001, 0]}}],'
fine 'warning: contact begins with 357 J: 74 pairs are closer than its thickness of 0.02 m, the nearest node 2 and triangle 8-11-9 (a, b) with 0.001 m; this throws them apart with about 6.68 m/s' \
    "$one, $(block b 0 0.201 0)" '{"thickness": 0.02}'
fine 'fine' "$one, $(block b 0 0.201 0)" '{"thickness": 0.0012}'
"$rubato" check scene.json 2>&1 | grep -q warning && fail "a start a little closer than the thickness is nothing to talk about"
# however close bodies start, auto stays thick enough to get on
for gap in 00001 00000001 000000000001; do
    fine 'fine' "$one, $(block b 0 0.2$gap 0)" '{}' "$ground"
done

# ---- No solution: an outcome that names pair and time
driven='"driven": [{"where": "everything", "motions": [{"velocity": {"velocity": [0, 10, 0]}}]}],'
write "$(block a 0 0 0 "$driven"), $(block b 0 0.25 0 '"fixed": ["everything"],'), $(block c 0 1 0)" '{}'
says 1 'a step failed: blocked by contact' timeout 120 "$rubato" run scene.json -o blocked --verify-events
says 1 'at 0.005 s a prescribed motion cannot be made: ' "$rubato" run scene.json -o blocked
says 1 '(a, b)' "$rubato" run scene.json -o blocked
grep -q '"outcome": "blocked by contact"' blocked/run.json || fail "run.json should name the outcome"

[ $cases -ge 80 ] || fail "only $cases bad inputs were tried"
echo "$cases bad inputs, each with its sentence"
