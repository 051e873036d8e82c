#!/usr/bin/env python3
"""A body of a million tets: time and peak memory to read it, compile it and write one frame.

Called with the path of rubato. Prints lines "name value unit", as scripts/bench wants them.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def measure(*command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def report(name, seconds, megabytes):
    print(f"{name} {seconds:.2f} s\n{name} memory {megabytes:.0f} MB")


rubato = pathlib.Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory(prefix="rubato-million-") as folder:
    mesh, scene = f"{folder}/million.msh", pathlib.Path(folder, "million.json")
    report("generate and write .msh", *measure(rubato, "mesh", "cuboid", "--set", "cells=56,55,55", "-o", mesh))
    report("diagnose", *measure(rubato, "info", mesh))
    body = {"name": "cube", "mesh": {"file": mesh}, "material": {"young": 1e6, "poisson": 0.4, "density": 1000}}
    scene.write_text(json.dumps({"rubato": 1, "bodies": [body], "forces": [{"gravity": {}}],
                                 "time": {"step": 0.01, "frame": 0.01, "end": 0.01},
                                 "integrator": {"method": "semi-implicit"}}))
    report("read, compile, one frame", *measure(rubato, "run", scene, "--frames", "0", "-o", f"{folder}/out"))
