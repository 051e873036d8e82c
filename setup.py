"""Builds the Python package: CMake compiles the extension and the command, setuptools packs them (pyproject.toml).

RUBATO_BUILD names CMake's folder (default: build/).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).parent.resolve()


def version():
    text = (ROOT / "include/rubato/version.h").read_text(encoding="utf-8")
    return re.search(r'#define RBT_VERSION +"([0-9.]+)"', text)[1]


class Build(build_ext):
    """One extension for all Pythons from 3.11 on, and the command beside it."""

    def run(self):
        folder = pathlib.Path(os.environ.get("RUBATO_BUILD", ROOT / "build"))
        jobs = os.environ.get("JOBS") or str(os.cpu_count() or 2)
        words = ["-DRUBATO_PYTHON=ON"]
        if not (folder / "CMakeCache.txt").exists():  # any headers of 3.11 or later do
            words += ["-DRUBATO_TESTS=OFF", "-G", "Unix Makefiles",
                      f"-DRUBATO_PYTHON_INTERPRETER={os.path.realpath(sys.executable)}"]
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *words], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--parallel", jobs, "--target", "rubato_python"], check=True)
        to = pathlib.Path(self.build_lib) / "rubato"
        (to / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "package/rubato/_rubato.abi3.so", to)
        shutil.copy(folder / "rubato", to / "bin")

    def get_outputs(self):
        to = pathlib.Path(self.build_lib) / "rubato"
        return [str(to / "_rubato.abi3.so"), str(to / "bin/rubato")]


class Wheel(bdist_wheel):
    """The wheel's name says so too: cp311-abi3."""

    def get_tag(self):
        return "cp311", "abi3", super().get_tag()[2]


setup(version=version(), ext_modules=[Extension("rubato._rubato", [])],
      cmdclass={"build_ext": Build, "bdist_wheel": Wheel}, options={"build": {"build_base": "build/setuptools"}})
