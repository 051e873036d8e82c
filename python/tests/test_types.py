"""The package as others see it: names, docstrings, stubs, and what it loads."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import rubato
from conftest import SANITIZED, SOURCE
from rubato import _rubato

PACKAGE = pathlib.Path(rubato.__file__).parent


def stub():
    return ast.parse((SOURCE / "python/rubato/_rubato.pyi").read_text(encoding="utf-8"))


def test_stubs_name_all_of_the_extension():
    declared = {n.name for n in stub().body if isinstance(n, (ast.ClassDef, ast.FunctionDef))} | {"__version__"}
    there = {name for name in dir(_rubato) if not name.startswith("__")} | {"__version__"}
    assert declared == there


@pytest.mark.parametrize("name", ["Report", "Scene", "State", "Simulation"])
def test_stubs_name_all_of_a_class(name):
    declared = next(n for n in stub().body if isinstance(n, ast.ClassDef) and n.name == name)
    names = {n.name for n in declared.body if isinstance(n, ast.FunctionDef)} - {"__new__"}
    there = {key for key in vars(getattr(_rubato, name)) if not key.startswith("__") or key == "__reduce__"}
    assert names == there


def test_stubs_are_installed():
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_rubato.pyi").exists()


def test_all_names_are_there_and_documented():
    for name in rubato.__all__:
        thing = getattr(rubato, name)
        if name in ("__version__", "methods", "materials", "read_state"):
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__.startswith("rubato"):
            for key, member in vars(thing).items():
                if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert inspect.getdoc(member), f"{name}.{key}"


def test_signatures_of_the_extension():
    assert str(inspect.signature(rubato.Simulation.advance)) == "(self, time, /)"
    for name in ("step", "advance_frame", "save", "restore", "clone", "close", "stop"):
        assert inspect.signature(getattr(rubato.Simulation, name)) and getattr(rubato.Simulation, name).__doc__


def test_version_is_that_of_the_library():
    text = (SOURCE / "include/rubato/version.h").read_text(encoding="utf-8")
    assert f'"{rubato.__version__}"' in text


def test_one_file_for_all_pythons():
    assert _rubato.__file__.endswith("_rubato.abi3.so")
    names = subprocess.run(["nm", "-D", "--defined-only", _rubato.__file__], capture_output=True, text=True).stdout
    functions = [line.split()[-1] for line in names.splitlines() if line.split()[-2] in "TW"]
    assert SANITIZED or functions == ["PyInit__rubato"]


@pytest.mark.skipif(SANITIZED, reason="it loads what instruments it")
def test_libraries_that_it_loads():
    done = subprocess.run([SOURCE / "scripts/check-libraries", _rubato.__file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_only_the_stable_interface():
    """Every symbol of Python that the extension uses is one of the stable interface of 3.11."""
    names = subprocess.run(["nm", "-D", "--undefined-only", _rubato.__file__], capture_output=True, text=True).stdout
    used = {line.split()[-1].split("@")[0] for line in names.splitlines()}
    # Those with an underscore that stable_abi.toml of CPython lists, and macros of the interface stand for
    assert {n for n in used if n.startswith("_Py")} <= {
        "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_Dealloc", "_Py_NotImplementedStruct",
        "_PyArg_ParseTuple_SizeT", "_PyArg_ParseTupleAndKeywords_SizeT", "_Py_BuildValue_SizeT"}


def test_without_numpy():
    """A sentence about numpy, not a crash."""
    program = "import sys; sys.modules['numpy'] = None; import rubato"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "numpy" in done.stderr
