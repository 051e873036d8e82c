#!/usr/bin/env bash
# events.sh RUBATO SOURCE: a run with events of every kind that is stopped and continued writes the same bytes, and run.json says where an
# event that cannot be done has ended it.
set -eu
source "$(dirname "$0")/lib.sh"

cat >scene.json <<'END'
{"rubato": 1,
 "bodies": [{"name": "bar", "mesh": {"shape": {"bar": {"size": [1, 0.2, 0.2], "cells": [6, 2, 2]}}},
             "driven": [{"name": "grip", "where": "left"}]}],
 "forces": [{"gravity": {}}],
 "events": [{"time": 0.03, "drive": {"driven": "grip", "velocity": [0, 0.5, 0], "duration": 0.1}},
            {"time": 0.06, "force": {"where": "right", "force": [0, 0, 5]}},
            {"time": 0.09, "material": {"body": "bar", "young": 3e5, "mass_damping": 0.5}},
            {"time": 0.12, "drag": {"where": "right", "point": [0.6, 0.3, 0], "stiffness": 500}},
            {"time": 0.2, "cut": {"surface": {"plane": {"point": [0.1, 0, 0], "normal": [1, 0.2, 0]}}}},
            {"time": 0.3, "drag": {"where": "right", "stiffness": 0}}],
 "probes": [{"name": "tip", "where": "right", "every": "step"}],
 "time": {"step": 0.01, "frame": 0.02, "end": 0.4}, "integrator": {"method": "backward-euler"}}
END
"$rubato" run scene.json -o whole -q
for frame in 2 3 5 9 11 17; do
    "$rubato" run scene.json -o part -q --frames $frame
    "$rubato" run scene.json -o part -q --resume
    cmp whole/energy.csv part/energy.csv || fail "continued after frame $frame, energies differ"
    cmp whole/probes.csv part/probes.csv || fail "continued after frame $frame, the tip goes elsewhere"
    cmp whole/frames/frame_000020.vtu part/frames/frame_000020.vtu || fail "continued after frame $frame, the last frame differs"
done
"$rubato" run scene.json -o other -q --set 'events=[]'
cmp -s whole/energy.csv other/energy.csv && fail "events do nothing"
says 1 'events[1].force.body' "$rubato" check scene.json --set 'events[1].force.body=car'
echo "events happen, and happen again"
