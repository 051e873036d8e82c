"""Scenes: from files, from text and from dicts with numpy arrays and meshes in them."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Mapping, Union

from . import _rubato
from ._arrays import plain, real_numbers
from ._mesh import Mesh

Source = Union[str, "os.PathLike[str]", Mapping[str, Any], "Scene"]
STAND_IN = {"shape": {"cuboid": {}}}  # where the library gets a mesh from memory


class SceneWarning(UserWarning):
    """Something about a scene that is allowed and probably not meant."""


def _mesh_of(value: Any) -> tuple[Mesh, Any] | None:
    """The mesh and its unit, if a value of the key "mesh" is one in memory: a Mesh, or {"mesh": Mesh, "unit": "mm"}."""
    if isinstance(value, Mesh):
        return value, None
    if isinstance(value, Mapping) and isinstance(value.get("mesh"), Mesh):
        return value["mesh"], value.get("unit")
    return None


def _stand_in(value: Any) -> Any:
    rest = {k: v for k, v in value.items() if k not in ("mesh", "unit")} if isinstance(value, Mapping) else {}
    return {**rest, **STAND_IN}


def _take_meshes(description: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Takes meshes from memory out of a description and lists them as _rubato.Scene wants them."""
    found: list[tuple[Any, ...]] = []
    bodies = description.get("bodies")
    for i, body in enumerate(bodies if isinstance(bodies, list) else []):
        mesh = _mesh_of(body.get("mesh")) if isinstance(body, dict) else None
        if mesh:
            found.append(("body", i, mesh[0]._parts(), mesh[1], None))
            body["mesh"] = _stand_in(body["mesh"])
    obstacles = description.get("obstacles")
    for i, obstacle in enumerate(obstacles if isinstance(obstacles, list) else []):
        of = obstacle.get("mesh") if isinstance(obstacle, dict) else None
        mesh = _mesh_of(of.get("mesh")) if isinstance(of, dict) else None
        if not mesh:
            continue
        sequence, positions = of.get("sequence"), None
        if isinstance(sequence, dict) and "positions" in sequence:
            import numpy as np
            positions = sequence.pop("positions")
            positions = real_numbers(positions, (len(np.asarray(positions)), len(mesh[0].nodes), 3), "positions")
            sequence["file"] = "in memory.pc2"
        found.append(("obstacle", i, mesh[0]._parts(), mesh[1], positions))
        of["mesh"] = _stand_in(of["mesh"])
    return found


def _copy(value: Any) -> Any:
    """Dicts and lists of its own, with everything else as it is."""
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value


def settings_list(settings: Mapping[str, Any] | None) -> list[str]:
    """{"time.step": 0.01} as the texts that the library and the command take."""
    return [f"{path}={json.dumps(plain(value), allow_nan=False)}" for path, value in (settings or {}).items()]


class Scene(_rubato.Scene):
    """A scene that was read and checked; it does not change, and any number of simulations can be made from it.

    Scene("scene.json")            a file
    Scene({"rubato": 1, …})        a dict as docs/scene.md has the keys; numpy arrays and Mesh objects may be in it
    Scene(source, {"time.step": 0.01})   with other values
    Scene(source, folder="data")   file names in a dict start there
    """

    def __new__(cls, source: Source, set: Mapping[str, Any] | None = None, *,
                folder: str | os.PathLike[str] | None = None) -> Scene:
        settings = settings_list(set)
        meshes: list[tuple[Any, ...]] = []
        text: str | None = None
        name: str | None = os.path.join(os.fspath(folder), "scene") if folder is not None else None
        if isinstance(source, Scene):
            text, name, meshes = source.json, source.name, source._meshes
        elif isinstance(source, Mapping):
            description = _copy(source)
            description.setdefault("rubato", 1)
            meshes = _take_meshes(description)
            text = json.dumps(plain(description), allow_nan=False)
        elif isinstance(source, str) and source.lstrip().startswith("{"):
            text = source
        elif isinstance(source, (str, os.PathLike)):
            name = os.fspath(source)
        else:
            raise TypeError(f"a scene is a file name, a dict, JSON text or a Scene, not {type(source).__name__}")
        self = super().__new__(cls, text, name, settings, meshes)
        self.name = name
        self._meshes = meshes
        return self

    name: str | None
    _meshes: list[tuple[Any, ...]]

    def set(self, **or_paths: Any) -> Scene:
        """Another scene with other values: scene.set(**{"bodies[0].material.young": 1e5}), scene.set(method="bdf2")."""
        short = {"method": "integrator.method", "solver": "integrator.solver", "step": "time.step",
                 "frame": "time.frame", "end": "time.end"}
        return Scene(self, {short.get(key, key): value for key, value in or_paths.items()})

    def to_dict(self) -> dict[str, Any]:
        """The scene as a dict, meshes in memory included."""
        description = json.loads(self.json)
        for kind, i, parts, unit, positions in self._meshes:
            mesh = Mesh(*parts[:4])
            mesh.sets = {n if k == 0 else (n, ("nodes", "tets", "triangles")[k]): items for n, k, items in parts[4]}
            value: dict[str, Any] = {"mesh": mesh}
            if unit is not None:
                value["unit"] = unit
            if kind == "body":
                description["bodies"][i]["mesh"] = value
            else:
                description["obstacles"][i]["mesh"]["mesh"] = value
                if positions is not None:
                    sequence = description["obstacles"][i]["mesh"]["sequence"]
                    sequence.pop("file", None)
                    sequence["positions"] = positions
        return description

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scene as JSON. Meshes in memory go into files beside it, and other file names become absolute."""
        path = os.fspath(path)
        base = os.path.dirname(os.path.abspath(self.name)) if self.name else os.getcwd()
        stem = os.path.splitext(os.path.basename(path))[0]
        description = _absolute(json.loads(self.json), base)
        for kind, i, parts, unit, positions in self._meshes:
            if positions is not None:
                raise _rubato.Error("a sequence of positions in memory cannot be saved; write it as a PC2 file")
            file = f"{stem}-{kind}-{i}.msh"
            _rubato.mesh_write(parts, os.path.join(os.path.dirname(path), file), False)
            owner = description["bodies"][i] if kind == "body" else description["obstacles"][i]["mesh"]
            owner["mesh"] = {k: v for k, v in owner["mesh"].items() if k != "shape"} | {"file": file}
            if unit is not None:
                owner["mesh"]["unit"] = unit
        temporary = path + ".new"
        with open(temporary, "w", encoding="utf-8") as stream:
            json.dump(description, stream, indent=2)
        os.replace(temporary, path)

    def __reduce__(self) -> Any:
        return _load, (self.json, self.name, self._meshes)

    def __repr__(self) -> str:
        return f"<rubato.Scene {self.name or 'in memory'}>"


def _load(text: str, name: str | None, meshes: list[tuple[Any, ...]]) -> Scene:
    scene = _rubato.Scene.__new__(Scene, text, name, [], meshes)
    scene.name = name
    scene._meshes = meshes
    return scene


def _absolute(value: Any, base: str) -> Any:
    if isinstance(value, list):
        return [_absolute(item, base) for item in value]
    if isinstance(value, dict):
        return {key: os.path.join(base, item) if key == "file" and isinstance(item, str) else _absolute(item, base)
                for key, item in value.items()}
    return value


def load(source: Source, set: Mapping[str, Any] | None = None, *, threads: int = 0,
         folder: str | os.PathLike[str] | None = None) -> Any:
    """A simulation of a scene: a file name, a dict, JSON text or a Scene.

    set      other values, as {"time.step": 0.01, "bodies[0].material.young": 1e5}
    threads  of a step; 0: as many as OpenMP gives. Results do not depend on it
    folder   where file names in a dict start

    Raises rubato.Error, which names the key and the limit. What is allowed but probably not meant is a SceneWarning.
    """
    from ._simulation import Simulation

    scene = source if isinstance(source, Scene) and not set else Scene(source, set, folder=folder)
    sim = Simulation(scene, threads)
    for text in [*scene.warnings, *sim.notes]:
        warnings.warn(text, SceneWarning, stacklevel=2)
    return sim
