#!/usr/bin/env bash
# A solver that reaches its limit of iterations: the run never ends as if all had gone well, neither when such steps fail nor when
# they are accepted, and it says how many, how far off and since when. All frames are there and the run can be resumed.
set -eu
source "$(dirname "$0")/lib.sh"

cat >scene.json <<'JSON'
{
  "rubato": 1,
  "bodies": [{
    "name": "bar",
    "mesh": {"shape": {"cuboid": {"size": [0.4, 0.1, 0.1], "cells": [8, 2, 2]}}},
    "material": {"model": "fixed-corotated", "young": 1e5, "poisson": 0.45, "density": 1000},
    "fixed": ["left"],
    "driven": [{"where": "right", "motions": [
      {"rotation": {"point": [0.5, 0.5, 0.5], "relative": true, "axis": [1, 0, 0], "rate": 12}}]}]
  }],
  "time": {"step": 0.025, "frame": 0.05, "end": 0.2},
  "integrator": {"method": "backward-euler", "solver": "admm-pd", "max_halvings": 1,
                 "options": {"max_iterations": 4, "tolerance": 1e-6}},
  "output": {"vtu": true, "checkpoint_every": 1}
}
JSON
frames() { ls "$1"/*.vtu "$1"/frames/*.vtu 2>/dev/null | wc -l; }
on=integrator.options.at_cap=continue

# ---- fail: the step is cut, and in the end the outcome names stage and element
says 1 'a step failed: not converged in stage "gradient", body "bar", tet ' "$rubato" run scene.json -o failed -q
says 1 'after 1 halvings; the residual force is still ' "$rubato" run scene.json -o failed -q
grep -q '"status": "failed"' failed/run.json || fail "run.json should say failed"
grep -q '"outcome": "not converged"' failed/run.json || fail "run.json should name the outcome"
grep -Eq '"tet": [0-9]' failed/run.json || fail "run.json should name the element"

# ---- continue: all frames, and no success
says 1 'rubato: not converged: 8 of 8 steps did not converge (the residual was up to ' "$rubato" run scene.json -o whole -q --set $on
says 1 'times the tolerance), the first at 0 s; take more iterations, a smaller step or another solver; all frames are in whole' \
    "$rubato" run scene.json -o whole -q --set $on
says 1 '2 steps, 2 not converged, ' "$rubato" run scene.json -o whole --set $on
says 1 '"halvings": 0, "unconverged": 2, ' "$rubato" run scene.json -o whole --log json --set $on
[ "$(frames whole)" = 5 ] || fail "there should be 5 frames, not $(frames whole)"
python3 - whole/run.json <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["status"] == "not converged", run["status"]
assert run["frame"] == run["last_frame"] == 4 and run["steps"] == 8
told = run["unconverged"]
assert told["steps"] == told["of"] == 8 and told["first_time"] == 0 and told["worst_residual"] > 1, told
assert told["outcome"].startswith("8 of 8 steps did not converge"), told
PYTHON

# ---- resumed: the count continues, and the bits are the same
says 1 '4 of 4 steps did not converge' "$rubato" run scene.json -o half -q --set $on --frames 2
says 1 '8 of 8 steps did not converge' "$rubato" run scene.json -o half -q --set $on --resume
same_results whole half
grep -o '"unconverged": {[^}]*}' whole/run.json >one
grep -o '"unconverged": {[^}]*}' half/run.json >two
cmp one two || fail "the resumed run should count what the whole one does"
# Going on with a solver that converges does not mend the earlier frames.
says 1 '4 of 8 steps did not converge' "$rubato" run scene.json -o half -q --from-frame 2 --set integrator.solver=newton \
    --set integrator.options.max_iterations=100

# ---- steps that converge: nothing of all this
"$rubato" run scene.json -o good -q --set $on --solver newton --set integrator.options.max_iterations=100
grep -q '"status": "finished"' good/run.json || fail "newton should finish"
! grep -q unconverged good/run.json || fail "run.json should not speak of what did not happen"

# ---- every solver at one iteration
for solver in newton dot lbfgs-h lbfgs-pd admm-pd; do
    says 1 '8 of 8 steps did not converge' "$rubato" run scene.json -o "one-$solver" -q --set $on --solver $solver \
        --set integrator.options.max_iterations=1 --set integrator.options.tolerance=1e-9
    [ "$(frames "one-$solver")" = 5 ] || fail "$solver should write all frames"
done

# ---- compare: times and distances are there, the outcome is not success
says 0 'not converged' "$rubato" compare scene.json -o both --repeat 1 --set $on --set integrator.options.max_iterations=20 \
    -m backward-euler:newton,backward-euler:admm-pd
python3 - both/compare.json <<'PYTHON'
import json, sys
newton, admm = json.load(open(sys.argv[1]))["methods"]
assert newton["outcome"] == "finished" and newton["unconverged_steps"] == 0 and newton["reason"] == ""
assert admm["outcome"] == "not converged" and admm["unconverged_steps"] == 8, admm
assert admm["reason"].startswith("8 of 8 steps did not converge (the residual was up to ")
assert admm["seconds_per_second"] > 0 and admm["distance_end"] > 0
PYTHON
says 1 'no method finished; the first one: 8 of 8 steps did not converge' "$rubato" compare scene.json -o none --repeat 1 -q \
    --set $on --reference none -m backward-euler:admm-pd
