"""Whole runs: a scene in, a folder out, and readers for what is in the folder."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from typing import Any, Callable, Iterator, Mapping, Sequence
from xml.etree import ElementTree

import numpy as np

from . import _command, _rubato, _vtu
from ._scene import Scene, settings_list


class RunFrame:
    """A frame of a run's folder; arrays are read when they are first asked for."""

    def __init__(self, number: int, time: float, file: str) -> None:
        self.number = number
        self.time = time  # [s]
        self.file = file
        self._data: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> np.ndarray:
        """An array of the file: "x", "velocity", "displacement", "tets", "von_mises", "body", …"""
        if self._data is None:
            self._data = _vtu.read(self.file)
        if name not in self._data:
            raise KeyError(f"{self.file} has no array {name!r}; there are {', '.join(sorted(self._data))}")
        return self._data[name]

    def keys(self) -> list[str]:
        """Names of its arrays."""
        self["x"]
        assert self._data is not None
        return sorted(self._data)

    @property
    def x(self) -> np.ndarray:
        """(nodes x 3) positions [m]"""
        return self["x"]

    @property
    def v(self) -> np.ndarray:
        """(nodes x 3) velocities [m/s]"""
        return self["velocity"]

    @property
    def tets(self) -> np.ndarray:
        """(tets x 4) node numbers"""
        return self["tets"]

    def __repr__(self) -> str:
        return f"<rubato.RunFrame {self.number} at {self.time:g} s>"


class _Frames(Sequence[RunFrame]):
    def __init__(self, entries: list[tuple[float, str]]) -> None:
        self._frames = [RunFrame(i, time, file) for i, (time, file) in enumerate(entries)]

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, which: Any) -> Any:
        return self._frames[which]


def read_table(path: str) -> np.ndarray:
    """A CSV file with a row of names as a structured array; texts stay texts. A last row that is being written is
    left out."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as trouble:
        raise _rubato.Error(f"{path}: {trouble.strerror}") from None
    except UnicodeDecodeError:
        raise _rubato.Error(f"{path}: is no text") from None
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("#")]
    if not lines:
        raise _rubato.Error(f"{path}: is empty")
    names = [name.strip() for name in lines[0].strip().split(",")]
    if len(set(names)) != len(names) or not all(names):
        raise _rubato.Error(f"{path}: the first line does not name the columns")
    rows = [line.strip().split(",") for line in lines[1:] if line.endswith("\n") and line.strip()]
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise _rubato.Error(f"{path}:{number}: has {len(row)} values, but there are {len(names)} columns")
    columns = [np.array([_number(row[k]) for row in rows]) if rows else np.zeros(0) for k in range(len(names))]
    table = np.zeros(len(rows), [(name, column.dtype) for name, column in zip(names, columns)])
    for name, column in zip(names, columns):
        table[name] = column
    return table


def _number(text: str) -> float | str:
    try:
        return float(text) if text else float("nan")
    except ValueError:
        return text


class Run:
    """A finished run, or one that is still going: what its folder holds."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        if not os.path.isdir(self.folder):
            raise _rubato.Error(f"{self.folder}: there is no such folder")
        if not os.path.exists(self._path("run.json")) and not os.path.exists(self._path("frames.pvd")):
            raise _rubato.Error(f"{self.folder}: the folder holds neither run.json nor frames.pvd, so it is no run")

    def _path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def _json(self, name: str) -> dict[str, Any]:
        try:
            with open(self._path(name), encoding="utf-8") as stream:
                return json.load(stream)
        except (OSError, ValueError) as trouble:
            raise _rubato.Error(f"{self._path(name)}: {trouble}") from None

    @property
    def info(self) -> dict[str, Any]:
        """run.json: scene, machine, stage times, steps, energies, warnings, failure."""
        return self._json("run.json")

    @property
    def status(self) -> str:
        """"finished", "running", "failed", …"""
        return str(self.info.get("status"))

    @property
    def scene(self) -> Scene:
        """The scene as it was run."""
        return Scene(self._path("scene.json"))

    @property
    def energies(self) -> np.ndarray:
        """One row a frame: frame, time, kinetic, elastic, …, px, py, pz, lx, ly, lz, work, …: a structured array."""
        return read_table(self._path("energy.csv"))

    @property
    def probes(self) -> np.ndarray:
        """What the probes of the scene read: a structured array."""
        return read_table(self._path("probes.csv"))

    @property
    def frames(self) -> Sequence[RunFrame]:
        """run.frames[-1].x; for frame in run.frames: …"""
        path = self._path("frames.pvd")
        try:
            root = ElementTree.parse(path).getroot()
        except (OSError, ElementTree.ParseError) as trouble:
            raise _rubato.Error(f"{path}: {trouble}") from None
        try:
            return _Frames([(float(entry.attrib["timestep"]), self._path(entry.attrib["file"]))
                            for entry in root.iter("DataSet")])
        except (KeyError, ValueError):
            raise _rubato.Error(f"{path}: an entry has no time or no file") from None

    @property
    def times(self) -> np.ndarray:
        """(frames) [s]"""
        return np.array([frame.time for frame in self.frames])

    def positions(self) -> np.ndarray:
        """(frames x nodes x 3) [m], all at once; of runs without cuts."""
        frames = [frame.x for frame in self.frames]
        if len({len(x) for x in frames}) > 1:
            raise _rubato.Error(f"{self.folder}: the number of nodes changes with cuts; take the frames one by one")
        return np.array(frames)

    def state(self, frame: int = -1) -> Any:
        """The state at a frame, from its checkpoint; -1: the newest one. For sim.restore."""
        folder = self._path("checkpoints")
        names = sorted(name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.endswith(".rbt"))
        wanted = names[-1:] if frame < 0 else [n for n in names if n == f"{frame:06d}.rbt"]
        if not wanted:
            raise _rubato.Error(f"{self.folder}: there is no checkpoint of frame {frame}; there are "
                                f"{', '.join(n[:-4] for n in names) or 'none'}")
        return _rubato.read_state(os.path.join(folder, wanted[0]))

    def render(self, path: Any = None, **options: Any) -> Any:
        """rubato.render(run, …)"""
        from ._picture import render
        return render(self, path, **options)

    def plot(self, path: Any = None) -> Any:
        """rubato.plot(run, …)"""
        from ._picture import plot
        return plot(self, path=path)

    def _repr_png_(self) -> bytes:
        return self.render(size=(640, 480))._repr_png_()

    def __iter__(self) -> Iterator[RunFrame]:
        return iter(self.frames)

    def __repr__(self) -> str:
        return f"<rubato.Run {self.folder}: {self.status}, {len(self.frames)} frames>"


def open_run(folder: str | os.PathLike[str]) -> Run:
    """What a run has left in its folder: frames as arrays, energies as a structured array."""
    return Run(folder)


def scene_file(source: Any, work: str, folder: Any = None) -> str:
    """A file of the scene: its own, or a new one in `work`."""
    if isinstance(source, (str, os.PathLike)) and not (isinstance(source, str) and source.lstrip().startswith("{")):
        return os.fspath(source)
    scene = source if isinstance(source, Scene) else Scene(source, folder=folder)
    path = os.path.join(work, "scene.json")
    scene.save(path)
    return path


def setting_words(settings: Mapping[str, Any] | None) -> list[str]:
    """--set path=value …"""
    return [word for setting in settings_list(settings) for word in ("--set", setting)]


def run(scene: Any, output: str | os.PathLike[str], *, set: Mapping[str, Any] | None = None, frames: int | None = None,
        threads: int | None = None, resume: bool = False, verify: bool = False,
        progress: Callable[[dict[str, Any]], None] | None = None) -> Run:
    """Runs a scene (a file, a dict or a Scene) into a folder, as `rubato run` does, and opens it.

    frames    stop after this one
    resume    continue from the newest checkpoint of the folder
    verify    search every frame and the way to it for intersections
    progress  is called with a dict for every frame: {"event": "frame", "frame": 3, "time": 0.12, …}

    Raises rubato.Error with the sentence of the command; frames that were written stay.
    """
    words = ["-o", os.fspath(output), "--log", "json", *setting_words(set)]
    words += ["--frames", str(frames)] if frames is not None else []
    words += ["--threads", str(threads)] if threads else []
    words += (["--resume"] if resume else []) + (["--verify"] if verify else [])
    with tempfile.TemporaryDirectory() as work:
        line = [_command.path(), "run", scene_file(scene, work), *words]
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        said: list[str] = []
        assert process.stdout and process.stderr
        listener = threading.Thread(target=lambda: said.append(process.stderr.read()))  # type: ignore[union-attr]
        listener.start()
        try:
            for text in process.stdout:
                if progress:
                    progress(json.loads(text))
            code = process.wait()
        except BaseException:  # Ctrl-C, or the listener of the caller: whole frames are kept
            process.terminate()
            process.wait()
            raise
        finally:
            listener.join()
            process.stdout.close()
            process.stderr.close()
    if code:
        raise _rubato.Error(_command.sentence(said[0]) or f"rubato run ended with {code}")
    return Run(output)
