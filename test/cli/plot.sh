#!/usr/bin/env bash
# rubato plot: one run and several, how they are named, and folders that are no runs.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json
"$rubato" run scene.json -q -o one
"$rubato" run scene.json -q -n 2 -o "other/a & b" --set time.step=0.02
"$rubato" run scene.json -q -n 2 -o other/one

# ---- One
[ "$("$rubato" plot one)" = one/energy.svg ] || fail "a run's plot should lie beside its energies"
[ "$(grep -c 'class="head"' one/energy.svg)" = 3 ] || fail "energies and two momenta"
"$rubato" plot one/ -o one.svg >/dev/null
grep -q '>kinetic<' one.svg || fail "the kinetic energy is missing"

# ---- Several: one curve a run, named by folder, by the whole path where that does not tell
[ "$("$rubato" plot one 'other/a & b')" = plot.svg ] || fail "the plot of several should lie here"
for name in one 'a &amp; b'; do
    [ "$(grep -c ">$name<" plot.svg)" = 7 ] || fail "\"$name\" should be in every panel"
done
for panel in 'Total energy' 'Kinetic energy' 'Elastic energy' "Gravity's potential" 'Energy of contact' 'Linear momentum, its length'; do
    grep -q ">$panel<" plot.svg || fail "no panel of $panel"
done
"$rubato" plot one/ other/one/ 'other/a & b/' -o named.svg >/dev/null
for name in one other/one 'a &amp; b'; do grep -q ">$name<" named.svg || fail "\"$name\" should be in the legend"; done
"$rubato" run scene.json -q -n 1 -o calm --set obstacles=[] --set forces=[]
"$rubato" plot one calm -o mixed.svg >/dev/null
"$rubato" plot calm calm/../calm -o zero.svg >/dev/null
grep -q 'contact' zero.svg && fail "what is zero in all runs should be left out"

# A study's folder is no run; its runs are, and the names are those of the study.
"$rubato" sweep scene.json --set time.step=0.01,0.02 -n 1 -q -o swept
says 1 'swept: the folder holds no energy.csv, so it is no run; 2 folders in it are: rubato plot swept/*/' "$rubato" plot swept
"$rubato" plot swept/*/ -o swept.svg >/dev/null
grep -q '>2-step=0.02<' swept.svg || fail "runs of a sweep should be named by their folders"

# ---- What is wrong
mkdir empty
touch file
says 1 'empty: the folder holds no energy.csv, so it is no run; rubato run writes one' "$rubato" plot one empty
says 1 "nowhere: there is no such folder" "$rubato" plot one nowhere
says 1 "file: is no folder; give a run's folder" "$rubato" plot file
says 2 'a word is missing; usage: rubato plot DIR' "$rubato" plot
printf 'frame,time,total\n' >empty/energy.csv
says 1 'empty/energy.csv: the table has no rows: the run has written no frame yet' "$rubato" plot one empty
# shellcheck disable=SC2046
says 1 '41 runs in one plot cannot be told apart; give at most 40' "$rubato" plot $(yes one | head -41)
