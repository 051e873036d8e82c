#!/usr/bin/env bash
# A few of the random runs with contact (bench/contact/random_runs.py): no crossing, no crash, same bits for any number of
# threads and after resume. Runs that stop with an outcome are allowed here; how many do is measured there.
set -eu
"$2/bench/contact/random_runs.py" "$1" --seeds 314-325 --seconds 10 --same-bits 2 --resume 2
