#!/usr/bin/env bash
# What new users type, and what comes out: mistakes are named where they are made, and nothing is overwritten or passed over in silence.
set -eu
source "$(dirname "$0")/lib.sh"

# A scene of one bar; the second argument is put in place of the mesh, the third is added to the body, the fourth to the scene, the fifth is in
# place of its method.
write_bar() {
    cat >"$1" <<JSON
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": ${2:-"{\"shape\": {\"cuboid\": {\"size\": [1, 0.25, 0.25], \"cells\": [4, 2, 2]}}}"},
    ${3:-}
    "material": {"model": "stable-neo-hookean", "young": 1e5, "poisson": 0.3, "density": 1000}
  }],
  ${4:-}
  "time": {"step": 0.01, "frame": 0.02, "end": 0.04},
  "integrator": ${5:-"{\"method\": \"semi-implicit\"}"}
}
JSON
}

# What run refuses, check refuses, in the same words and with the same code.
refused() {
    local scene=$1 part=$2
    says 1 "$part" "$rubato" run "$scene" -o refused
    says 1 "$part" "$rubato" check "$scene"
    [ "$("$rubato" check "$scene" 2>&1)" = "$("$rubato" run "$scene" -o refused 2>&1)" ] || fail "check and run differ on $scene"
    rm -rf refused
}
head -c 3000 /dev/urandom >garbage.msh
write_bar garbage.json '{"file": "garbage.msh"}'
refused garbage.json 'garbage.msh'
write_bar empty.json '' '"fixed": [{"box": {"min": [5, 5, 5], "max": [6, 6, 6]}}],'
refused empty.json 'bodies[0].fixed[0]'
write_bar unknown.json '' '"fixed": [{"set": "nobody"}],'
refused unknown.json 'nobody'
write_bar moving.json '' '' '"obstacles": [{"sphere": {"centre": [0, -3, 0], "radius": 1, "motions": [{"velocity": {"velocity": [0, 1, 0]}}]}}],'
refused moving.json 'obstacles[0]: semi-implicit knows obstacles that move only in a scene with contact'
write_bar shell.json '' '"shell": {"thickness": 0.001},'
refused shell.json 'bodies[0]'
write_bar file.json '{"file": "no.msh"}'
refused file.json 'no.msh'
write_bar fine.json
says 0 'fine.json: fine: 1 body, semi-implicit, 2 frames' "$rubato" check fine.json
[ ! -e out ] || fail "check left something behind"

# Only the ending of a scene's name goes: a0.2 and a0.5 are two runs, of run and of compare.
write_bar a0.2.json
write_bar a0.5.json
write_bar a0.5
for scene in a0.2.json a0.5.json a0.5; do says 0 'finished: out/a0.' "$rubato" run "$scene" -n 1; done
[ -f out/a0.2/run.json ] && [ -f out/a0.5/run.json ] || fail "out/a0.2 and out/a0.5 should be two runs"
says 0 'out/compare-a0.2' "$rubato" compare a0.2.json -m semi-implicit --reference none --repeat 1 -n 1

# --set may be about options of the method that -m chooses, in any order; options of another method are unknown.
says 0 'backward-euler' "$rubato" run fine.json -o set --set integrator.options.max_iterations=7 -m backward-euler --solver dot
says 0 'backward-euler' "$rubato" run fine.json -o set -m backward-euler --set integrator.options.subdomains=2 --solver dot
says 1 'integrator.options' "$rubato" run fine.json -o set --set integrator.options.max_iterations=7 -m symplectic-euler

# Numbers that make no sense are words that make no sense.
says 2 '--frames must be at least 0, found -3' "$rubato" run fine.json -n -3
says 2 '--threads must be at least 1 and at most 1024, found 0' "$rubato" run fine.json -t 0
says 2 '--threads must be at least 1 and at most 1024, found -2' "$rubato" run fine.json -t -2
says 2 '--from-frame must be at least 0, found -1' "$rubato" run fine.json --from-frame -1
says 2 '--frames must be at least 0, found -1' "$rubato" compare fine.json -n -1
says 2 '--threads must be at least 1 and at most 1024, found 0' "$rubato" compare fine.json -t 0
says 2 '--threads must be at least 1 and at most 1024, found 0' "$rubato" verify set -t 0
for words in "3" "3 -t 2" "100000"; do # OMP_NUM_THREADS counts, --threads comes first, and no number is too large
    read -r given option <<<"$words"
    OMP_NUM_THREADS=$given "$rubato" run fine.json -o "threads-$given${option:+-$option}" -q -n 1 $option
done
grep -q '"threads": 3,' threads-3/run.json || fail "OMP_NUM_THREADS should count"
grep -q '"threads": 2,' 'threads-3--t 2/run.json' || fail "--threads should come before OMP_NUM_THREADS"
grep -q "\"threads\": $(env -u OMP_NUM_THREADS nproc)," threads-100000/run.json || fail "too many threads should be those of the machine"
says 0 'finished' "$rubato" run fine.json -o start -n 0
[ "$(ls start/frames)" = frame_000000.vtu ] || fail "-n 0 writes the start"

# There is nothing to continue from where nothing was run, and no folder is made for it.
says 1 'nowhere: is no folder, so there is nothing to continue from; leaving out --resume starts a run' "$rubato" run fine.json -o nowhere --resume
[ ! -e nowhere ] || fail "--resume made a folder"
mkdir empty
says 1 'empty: holds no run, so there is nothing to continue from' "$rubato" run fine.json -o empty --resume
says 1 'empty: holds no run, so there is nothing to continue from; leaving out --from-frame' "$rubato" run fine.json -o empty --from-frame 3
[ -z "$(ls empty)" ] || fail "--resume left something behind"

# dot has at most as many subdomains as there are elements (96 here), and run.json says how many.
says 0 finished "$rubato" run fine.json -o many -m backward-euler --solver dot --set integrator.options.subdomains=100000
grep -q '"backward-euler": {"subdomains": 96, "subdomains_asked": 100000}' many/run.json || fail "dot should say 96 subdomains"
says 0 finished "$rubato" run fine.json -o auto -m bdf2 --solver dot
grep -q '"bdf2": {"subdomains": 1, "subdomains_asked": "auto"}' auto/run.json || fail "dot should say how many it chose"

# After a cut nodes have other numbers; what was found before keeps the names of its bodies.
write_bar pair.json '' '' '"cuts": [{"body": "bar", "surface": {"plane": {"point": [0.1, 0, 0], "normal": [1, 0, 0]}}, "time": 0.02}],'
says 0 finished "$rubato" run pair.json -o pair --set 'bodies[1]={"name": "other", "mesh": {"shape": {"cuboid": {"size": [0.1, 0.5, 0.1], "cells": [1, 4, 1]}}}, "transform": {"translate": [-0.3, 0, 0.01]}, "material": {"young": 1e5, "poisson": 0.3, "density": 1000}}' \
    --set 'bodies[0].velocity={"linear": [0, 0, 1]}'
"$rubato" verify pair --json >pair.txt || [ $? = 1 ]
grep -q '"bodies": \["bar", "other"\]\|"bodies": \["other", "bar"\]' pair.txt || fail "the bars cross"
grep -q '"bodies": \["bar", "bar"\]\|"bodies": \["other", "other"\]' pair.txt && fail "verify --json names the wrong bodies after a cut"

# A cut that cannot continue says why.
write_bar sliver.json '' '' '"cuts": [{"surface": {"plane": {"point": [0.250000001, 0, 0], "normal": [1, 0, 0]}}, "time": 0.02, "tolerance": 1e-12}],' \
    '{"method": "async-contact", "options": {"contact": false}}'
says 1 'a step failed: cut failed in stage "cut"' "$rubato" run sliver.json -o sliver
says 1 'allows an explicit step of' "$rubato" run sliver.json -o sliver
grep -q '"outcome": "cut failed"' sliver/run.json || fail "run.json should name the outcome"

# An axis is a direction, however long or short: 1e-170 and 1e160 turn about the same line as 1.
for size in 1 1e-170 1e160 1e-308 1e308; do
    write_bar axis.json '' '"transform": {"axis": [0, '$size', 0], "degrees": 30}, "deform": [{"twist": {"axis": ['$size', 0, 0], "degrees": 20}}, {"bend": {"axis": ['$size', 0, 0], "towards": [0, '$size', 0], "degrees": 10}}],' \
        '"obstacles": [{"plane": {"point": [0, -0.2, 0], "normal": [0, '$size', 0]}}], "forces": [{"gravity": {}}],'
    "$rubato" run axis.json -o "axis-$size" -q
    cmp axis-1/frames/frame_000002.vtu "axis-$size/frames/frame_000002.vtu" || fail "an axis of length $size turns about another line"
done

# A surface is filled about as finely as it is drawn, within a budget, and how finely is said before it is done: the hare's 1,280 triangles make
# 14,000 tets, not 190,000; 120,000 triangles make 100,000 tets; a cell may still be asked for.
"$rubato" mesh hare -o hare.obj >/dev/null
"$rubato" mesh sphere --set rings=200 --set segments=300 -o fine.obj >/dev/null
says 0 'hare.obj: 1280 triangles, filled with cells of 0.0168 m: about 14000 tets' "$rubato" mesh surface --set file=hare.obj -o hare.msh
says 0 'fine.obj: 120000 triangles, filled with cells of 0.0403 m: about 100000 tets' "$rubato" mesh surface --set file=fine.obj -o fine.msh
says 0 'filled with cells of 0.03 m: about 2700 tets' "$rubato" mesh surface --set file=hare.obj --set cell=0.03 -o coarse.msh
write_bar hare.json '{"shape": {"surface": {"file": "hare.obj"}}}'
says 0 'about 14000 tets' "$rubato" check hare.json
says 0 'about 14000 tets' "$rubato" run hare.json -o hare -n 0

# info names surfaces that are open, that pass through themselves and parts that pass through each other.
"$rubato" mesh cloth --set cells_along=4 --set cells_across=4 -o cloth.obj >/dev/null
says 0 'open: 16 edges of one triangle; for a shell, not as the boundary of a solid' "$rubato" info cloth.obj
says 0 'problems     none' "$rubato" info cloth.obj
says 0 '"closed": false' "$rubato" info cloth.obj --json
says 0 'm^2, closed' "$rubato" info hare.obj
# the side 4 5 of a triangle goes through 1 2 3 and 2 3 through it; both are of one part
printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nv 1 1 -1\nv 1 1 1\nv 5 5 0\nf 1 2 3\nf 4 5 6\nf 2 3 6\n' >self.obj
says 0 'the surface intersects itself: 2 edges through triangles, first near (2, 2, 0)' "$rubato" info self.obj
says 0 '"self_intersections": 2, "mutual_intersections": 0' "$rubato" info self.obj --json
sed '$d' self.obj >mutual.obj
says 0 'parts 0 and 1 intersect each other: 2 edges of parts through triangles of others, first near (2, 2, 0)' "$rubato" info mutual.obj
# as do two tets
printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 3 0 0\n3 0 3 0\n4 0 0 3\n5 0.5 0.5 0.5\n6 4 4 4\n7 4 5 4\n8 4 4 5\n$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 5 6 7 8\n$EndElements\n' >tets.msh
says 0 'parts 0 and 1 intersect each other' "$rubato" info tets.msh

# A method without contact says so: at the start, where bodies first pass through each other or themselves, and how often in run.json.
write_bar two.json '' '"velocity": {"linear": [0, -3, 0]}, "transform": {"translate": [0, 0.345, 0]},' ''
other='bodies[1]={"name": "other", "mesh": {"shape": {"cuboid": {"size": [0.1, 0.25, 0.6], "cells": [1, 2, 6]}}}, "material": {"young": 1e5, "poisson": 0.3, "density": 1000}}'
"$rubato" run two.json -o two --set "$other" >two.txt 2>&1
grep -q 'note: bodies may pass through each other with semi-implicit; "contact": {} or async-contact keeps them apart' two.txt || fail "a note at the start: $(cat two.txt)"
grep -q 'warning: "bar" and "other" pass through each other in frame 2 (0.04 s, [0-9]* places): semi-implicit does not keep bodies apart without "contact" in the scene; async-contact does' two.txt ||
    fail "who passes through whom, and when: $(cat two.txt)"
[ "$(grep -c 'pass through each other in' two.txt)" = 1 ] || fail "it should be said once"
grep -q '"bodies_kept_apart": false, "passing_through": {"frames": 1, "of": 3, "every": 1, "first_frame": 2,' two/run.json || fail "run.json should say how often"
"$rubato" run fine.json -o alone >alone.txt 2>&1
grep -q 'pass' alone.txt && fail "one body that stays away from itself is nothing to talk about: $(cat alone.txt)"
grep -q '"passing_through": {"frames": 0, "of": 3, ' alone/run.json || fail "run.json should say that nothing passed"
# bodies side by side touch, and do not pass through each other
"$rubato" run fine.json -o beside --set "${other%\}}, \"transform\": {\"translate\": [0, 0.25, 0]}}" >beside.txt 2>&1
grep -q 'in frame' beside.txt && fail "touching is not passing through: $(cat beside.txt)"
# a long run is looked at about twenty times, and in its last frame
"$rubato" run two.json -o long -q --set "$other" --set time.step=0.002 --set time.frame=0.002 --set time.end=0.09 2>long.txt
grep -q 'pass through each other in frame 18 (0.036 s' long.txt || fail "every third of 45 frames: $(cat long.txt)"
grep -q '"passing_through": {"frames": 10, "of": 16, "every": 3, ' long/run.json || fail "$(grep passing long/run.json)"
# a strip folded flat by a keyframe goes through itself
cat >fold.json <<'JSON'
{"rubato": 1,
 "bodies": [{"name": "strip", "mesh": {"shape": {"ribbon": {"length": 1, "width": 0.2, "cells_along": 20, "cells_across": 2}}},
   "shell": {"thickness": 0.001}, "material": {"young": 1e4, "density": 100},
   "driven": [{"where": "left", "motions": []}, {"where": "right", "motions": [{"keyframes": {"times": [0, 0.1], "offsets": [[0, 0, 0], [-1.5, 0.01, 0]]}}]}]}],
 "time": {"step": 0.005, "frame": 0.02, "end": 0.1}, "integrator": {"method": "backward-euler"}}
JSON
says 0 'warning: "strip" passes through itself in frame' "$rubato" run fold.json -o fold
# async-contact keeps them apart and has nothing to say about it
"$rubato" run two.json -o apart -m async-contact --set "$other" --set 'integrator.options.thickness=0.01' >apart.txt 2>&1 || true
grep -q 'may pass through' apart.txt && fail "async-contact keeps bodies apart"

# A body that starts inside an obstacle is named.
write_bar inside.json '' '' '"obstacles": [{"sphere": {"centre": [9, 0, 0], "radius": 1}}, {"box": {"min": [0.4, -1, -1], "max": [2, 1, 1]}}],'
says 0 'note: body "bar" starts inside obstacles[1]: 9 of its 42 surface nodes, up to 0.1 m deep; it will be pushed out' "$rubato" run inside.json -o inside
says 0 'body "bar" starts inside obstacles[1]' "$rubato" check inside.json
grep -q 'starts inside obstacles' inside/run.json || fail "run.json should have the note"

# Ctrl-C is honoured within a frame, be it of a million steps, and what was written stays a run that can continue.
for method in semi-implicit async-contact; do
    "$rubato" run fine.json -o "stopped-$method" -m $method --set time.step=1e-6 --set time.frame=1 --set time.end=1 >"stopped-$method.txt" 2>&1 &
    for i in $(seq 600); do # a file of its own: one of the run before would end the wait before this run has begun
        grep -qs 'bar: 45 nodes' "stopped-$method.txt" && break
        sleep 0.1
    done
    kill -INT $!
    code=0
    wait $! || code=$?
    [ "$code" = 130 ] || fail "an interrupted run should end with 130, not $code: $(cat "stopped-$method.txt")"
    grep -q -- '--resume' "stopped-$method.txt" || fail "an interrupted run should say how to continue"
    grep -q '"status": "interrupted"' "stopped-$method/run.json" || fail "run.json should say interrupted"
    [ "$(ls "stopped-$method/frames")" = frame_000000.vtu ] || fail "the frame under way should have been given up"
done
