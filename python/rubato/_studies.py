"""Several runs side by side: methods, and values of a scene."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Any, Mapping, Sequence

from . import _command, _rubato
from ._arrays import plain
from ._runs import Run, scene_file, setting_words


class Study:
    """What `rubato compare` or `rubato sweep` has measured: study.rows, a list of dicts, one a run."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder = folder
        path = os.path.join(folder, f"{name}.json")
        try:
            with open(path, encoding="utf-8") as stream:
                self.data: dict[str, Any] = json.load(stream)
        except (OSError, ValueError) as trouble:
            raise _rubato.Error(f"{path}: {trouble}") from None
        self.rows: list[dict[str, Any]] = self.data["methods" if name == "compare" else "runs"]
        self._plot = os.path.join(folder, f"{name}.svg")

    def run(self, which: int | str) -> Run:
        """The run of a row, by its number or name."""
        names = [row.get("name") for row in self.rows]
        if isinstance(which, str) and which not in names:
            raise KeyError(f"no run {which!r}; there are {', '.join(map(str, names))}")
        row = self.rows[names.index(which) if isinstance(which, str) else which]
        return Run(os.path.join(self.folder, os.path.basename(row["folder"].rstrip("/"))))

    def plot(self) -> Any:
        """The curves of all runs, as SVG."""
        from ._picture import Plot
        with open(self._plot, encoding="utf-8") as stream:
            return Plot(stream.read())

    def _repr_svg_(self) -> str:
        return str(self.plot())

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<rubato.Study {self.folder}: {len(self.rows)} runs>"


def _study(name: str, scene: Any, output: Any, words: list[str], quantities: Mapping[str, Any]) -> Study:
    for option, value in quantities.items():
        words += [f"--{option}", str(value)] if value is not None else []
    with tempfile.TemporaryDirectory() as work:
        folder = os.fspath(output)
        line = [_command.path(), name, scene_file(scene, work), "-o", folder, "--quiet", *words]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        # 1 with files: no run has finished, which is a result; without: nothing could be run at all
        if done.returncode not in (0, 1) or not os.path.exists(os.path.join(folder, f"{name}.json")):
            raise _rubato.Error(_command.sentence(done.stderr) or f"rubato {name} ended with {done.returncode}")
    return Study(folder, name)


def compare(scene: Any, methods: Sequence[str], output: str | os.PathLike[str], *, reference: str | None = None,
            set: Mapping[str, Any] | None = None, repeat: int | None = None, frames: int | None = None,
            threads: int | None = None) -> Study:
    """Methods on one scene, each in a process of its own, measured against a reference run.

    methods    ["semi-implicit", "backward-euler:dot", "symplectic-euler@1e-4"]
    reference  a method in the same words; "none": no reference. Default: the first method at an eighth of its step
    """
    words = ["--methods", ",".join(methods), *setting_words(set)]
    return _study("compare", scene, output, words,
                  {"reference": reference, "repeat": repeat, "frames": frames, "threads": threads})


def sweep(scene: Any, values: Mapping[str, Sequence[Any]], output: str | os.PathLike[str], *,
          methods: Sequence[str] | None = None, repeat: int | None = None, frames: int | None = None,
          threads: int | None = None) -> Study:
    """Every combination of values: sweep("scene.json", {"time.step": [0.01, 0.005]}, "out/steps")."""
    words: list[str] = []
    for key, several in values.items():
        words += ["--set", f"{key}=" + ",".join(json.dumps(plain(value), allow_nan=False) for value in several)]
    return _study("sweep", scene, output, words, {"methods": ",".join(methods) if methods else None, "repeat": repeat,
                                                  "frames": frames, "threads": threads})
