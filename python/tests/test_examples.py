"""Every program of examples/python runs, is short, and says what it should."""

import os
import pathlib
import subprocess
import sys

import pytest

import rubato
from conftest import SOURCE

EXPECTED = {
    "jelly": ("1.00 s: lowest point", ["jelly.png"]),
    "finger": ("at the end 0.", []),
    "fit": ("true 270000 Pa", []),
    "force_field": ("ball 2:", []),
    "gripper_env": ("above the ground", []),
    "figures": ("implicit-midpoint:", ["bar.png", "out/bdf2/run.json"]),
}
PROGRAMS = sorted((SOURCE / "examples/python").glob("*.py"))


def run(path, folder, **more):
    package = os.path.dirname(os.path.dirname(os.path.abspath(rubato.__file__)))
    environment = {**os.environ, "PYTHONPATH": package, **more}
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_examples(path, tmp_path):
    said, files = EXPECTED[path.stem]
    done = run(path, tmp_path, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    for name in files:
        assert (tmp_path / name).stat().st_size > 0
    if path.stem == "figures":
        assert (tmp_path / "energies.pdf").exists() or (tmp_path / "energies.svg").exists()


@pytest.mark.slow
def test_figures_without_matplotlib(tmp_path):
    program = (SOURCE / "examples/python/figures.py").read_text(encoding="utf-8")
    (tmp_path / "figures.py").write_text("import sys\nsys.modules['matplotlib'] = None\n" + program)
    done = run(tmp_path / "figures.py", tmp_path, OMP_NUM_THREADS="1")
    assert done.returncode == 0 and (tmp_path / "energies.svg").exists(), done.stderr


def test_each_is_shorter_than_sixty_lines():
    assert len(PROGRAMS) == len(EXPECTED) == 6
    for path in PROGRAMS:
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        assert len(lines) < 60 and max(map(len, lines)) <= 120
