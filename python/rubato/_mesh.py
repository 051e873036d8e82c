"""Meshes as numpy arrays."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _rubato
from ._arrays import plain, whole_numbers

KINDS = ("nodes", "tets", "triangles")


class Mesh:
    """Nodes and elements, for a body or an obstacle.

    nodes      (n x 3) float64 [m]
    tets       (m x 4) int32, det(x1 - x0, x2 - x0, x3 - x0) > 0
    triangles  (k x 3) int32
    edges      (k x 2) int32
    sets       {name: node numbers}, or {(name, "tets" or "triangles"): element numbers}

    The arrays are yours: a scene copies them when it is made, and checks them.
    """

    def __init__(self, nodes: Any, tets: Any = None, triangles: Any = None, edges: Any = None,
                 sets: Mapping[Any, Any] | None = None) -> None:
        self.nodes = np.ascontiguousarray(nodes, dtype=np.float64)
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 3:
            raise ValueError(f"nodes must have the shape (n, 3), not {self.nodes.shape}")
        self.tets = self._elements(tets, 4, "tets")
        self.triangles = self._elements(triangles, 3, "triangles")
        self.edges = self._elements(edges, 2, "edges")
        self.sets: dict[Any, np.ndarray] = {}
        for key, items in (sets or {}).items():
            name = key[0] if isinstance(key, tuple) else key
            self.sets[key] = np.unique(whole_numbers(items, f'set "{name}"').ravel())
        self.format = "arrays"

    @staticmethod
    def _elements(value: Any, corners: int, what: str) -> np.ndarray:
        if value is None:
            return np.zeros((0, corners), np.int32)
        array = whole_numbers(value, what)
        if array.size == 0:
            return np.zeros((0, corners), np.int32)
        if array.ndim != 2 or array.shape[1] != corners:
            raise ValueError(f"{what} must have the shape (n, {corners}), not {array.shape}")
        return np.ascontiguousarray(array)

    @classmethod
    def _of(cls, parts: Any) -> Mesh:
        self = cls.__new__(cls)
        self.nodes, self.tets, self.triangles, self.edges, sets, self.format = parts
        self.sets = {name if kind == 0 else (name, KINDS[kind]): items for name, kind, items in sets}
        return self

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Mesh:
        """Reads a mesh file of any format that `rubato info` knows (.msh, .mesh, .vtk, .vtu, .obj, .ply, .stl, …)."""
        return cls._of(_rubato.mesh_read(path))

    @classmethod
    def generate(cls, shape: str, **parameters: Any) -> Mesh:
        """A shape by name, as the scene key "shape" has them: Mesh.generate("bar", size=[1, 1, 1], cells=[4, 4, 4])."""
        return cls._of(_rubato.mesh_generate(shape, json.dumps(plain(parameters))))

    def _parts(self) -> tuple[Any, ...]:
        sets: list[tuple[str, int, np.ndarray]] = []
        for key, items in self.sets.items():
            name, kind = key if isinstance(key, tuple) else (key, "nodes")
            if kind not in KINDS:
                raise ValueError(f'set "{name}" is of "{kind}"; it can be of nodes, tets or triangles')
            sets.append((str(name), KINDS.index(kind), np.unique(whole_numbers(items, f'set "{name}"').ravel())))
        return (np.ascontiguousarray(self.nodes, np.float64), self._elements(self.tets, 4, "tets"),
                self._elements(self.triangles, 3, "triangles"), self._elements(self.edges, 2, "edges"), sets)

    def write(self, path: str | os.PathLike[str], ascii: bool = False) -> None:
        """Writes .msh, .vtk or .obj, by the ending; the file is complete or not there."""
        _rubato.mesh_write(self._parts(), path, ascii)

    def diagnose(self) -> dict[str, Any]:
        """What can be said before anything moves: volume [m^3], area [m^2], inverted and flat tets, quality, …"""
        return _rubato.mesh_diagnose(self._parts())

    def __repr__(self) -> str:
        counts = [f"{len(self.nodes)} nodes"]
        counts += [f"{len(a)} {n}" for n, a in (("tets", self.tets), ("triangles", self.triangles),
                                                 ("edges", self.edges)) if len(a)]
        return f"<rubato.Mesh: {', '.join(counts)}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        mine: Sequence[Any] = (self.nodes, self.tets, self.triangles, self.edges)
        same = all(np.array_equal(a, b) for a, b in zip(mine, (other.nodes, other.tets, other.triangles, other.edges)))
        return same and self.sets.keys() == other.sets.keys() and all(
            np.array_equal(items, other.sets[key]) for key, items in self.sets.items())

    __hash__ = None  # type: ignore[assignment]
