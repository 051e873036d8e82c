"""Pictures as numpy arrays and PNG, plots as SVG."""

from __future__ import annotations

import os
import struct
import tempfile
import zlib
from typing import Any, Sequence

import numpy as np

from . import _rubato
from ._command import call
from ._scene import Scene
from ._simulation import Simulation


def png(pixels: np.ndarray) -> bytes:
    """The bytes of a PNG file of (height x width x 3) uint8."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # a filter of 0 before every row
    rows[:, 1:] = np.ascontiguousarray(pixels).reshape(height, 3 * width)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


class Picture(np.ndarray):
    """(height x width x 3) uint8; notebooks show it, save() writes it as PNG."""

    def _repr_png_(self) -> bytes:
        return png(np.asarray(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a PNG file, complete or not at all."""
        temporary = os.fspath(path) + ".new"
        with open(temporary, "wb") as stream:
            stream.write(self._repr_png_())
        os.replace(temporary, path)


class Plot(str):
    """The text of an SVG file; notebooks show it."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG file."""
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self)


def _scene_of(folder: Any) -> Scene | None:
    """The scene of a run's folder, which knows obstacles and names; pictures can do without."""
    path = os.path.join(os.fspath(folder), "scene.json")
    try:
        return Scene(path) if os.path.exists(path) else None
    except _rubato.Error:
        return None


def _frame_list(frames: Any) -> str | None:
    if frames is None or isinstance(frames, str):
        return frames
    return ",".join(str(int(f)) for f in ([frames] if isinstance(frames, (int, np.integer)) else frames))


def render(what: Any, path: str | os.PathLike[str] | None = None, *, frames: Any = None, every: int = 0,
           view: str = "hero", color: str = "plain", size: Sequence[int] = (0, 0), columns: int = 0, zoom: float = 1.0,
           ground: bool | float = True, edges: bool = False, range: Sequence[float] | None = None,
           animate: bool = False, fps: float = 25.0) -> Picture:
    """A picture of a simulation as it is now, or of frames of a run (a Run or its folder), or of a mesh file.

    path    a PNG file to write as well
    frames  of a run: 5, [0, 10, 20], "0,5,10-20,last"; several make a sheet with `columns`; default: the last one
    view    "hero", "front", "back", "side", "left", "top", "bottom", "iso", "low" or "yaw,pitch" [degrees]
    color   "plain", "displacement", "velocity", "stress", "region", "body", "quality"
    size    (width, height) of each frame [pixels]
    ground  False: none; a number: its height [m]
    range   (low, high) values that the colours run over, in SI units
    animate an animated PNG of the frames at `fps` frames a second: needs a path, returns the last frame
    """
    options = (_frame_list(frames), every, view, color, int(size[0]), int(size[1]), columns, zoom,
               ground is not False, float("nan") if isinstance(ground, bool) else float(ground), edges,
               *(float(v) for v in range or (float("nan"), float("nan"))))
    if isinstance(what, Simulation):
        if animate or frames is not None or every:
            raise ValueError("a simulation has one picture, as it is now; frames are those of a run")
        picture = _rubato.paint(what, options, None).view(Picture)
    else:
        source = getattr(what, "folder", what)
        scene = _scene_of(source)
        if animate:
            if path is None:
                raise ValueError("an animation is a file: give a path")
            _rubato.draw(source, path, options, scene, True, fps)
            return _rubato.paint(source, (None, 0, *options[2:]), scene).view(Picture)
        picture = _rubato.paint(source, options, scene).view(Picture)
    if path is not None:
        picture.save(path)
    return picture


def plot(*runs: Any, path: str | os.PathLike[str] | None = None) -> Plot:
    """Energies and momenta over time of a run (a Run or its folder), or of several in one plot, as SVG."""
    folders = [os.fspath(getattr(run, "folder", run)) for run in runs]
    if not folders:
        raise ValueError("there is nothing to plot: give a run or its folder")
    with tempfile.TemporaryDirectory() as work:
        output = os.path.join(work, "plot.svg")
        if len(folders) == 1:
            _rubato.plot(folders[0], output)
        else:
            call("plot", *folders, "-o", output)
        with open(output, encoding="utf-8") as stream:
            result = Plot(stream.read())
    if path is not None:
        result.save(path)
    return result
