"""Scenes by keywords. Every function returns a plain dict as a scene file has it; docs/scene.md lists all keys."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

MATERIAL = ("model", "young", "poisson", "density")
TRANSFORM = ("scale", "axis", "degrees", "translate", "fit")


def shape(name: str, **parameters: Any) -> dict[str, Any]:
    """A generated mesh: shape("cuboid", size=[.2, .1, .1], cells=[12, 6, 6])."""
    return {"shape": {name: parameters}}


def select(name: str, *arguments: Any, **parameters: Any) -> Any:
    """Nodes of a body: select("box", min=…, max=…, relative=True), select("all", a, b), select("not", a)."""
    if name in ("all", "any"):
        return {name: list(arguments)}
    if arguments and parameters:
        raise TypeError(f"select({name!r}) takes a value or keywords, not both")
    return {name: arguments[0] if arguments else parameters}


def driven(name: str, where: Any, **more: Any) -> dict[str, Any]:
    """Nodes that a program moves: driven("grip", "right"); sim.driven["grip"].move(…)."""
    return {"name": name, "where": where, **more}


def force(name: str, **parameters: Any) -> dict[str, Any]:
    """force("gravity"), force("wind", velocity=[5, 0, 0]), …"""
    return {name: parameters}


def obstacle(name: str, **parameters: Any) -> dict[str, Any]:
    """obstacle("plane"), obstacle("sphere", centre=…, radius=…), obstacle("mesh", mesh=Mesh(…)), …"""
    return {name: parameters}


def body(name: str, mesh: Any, **keys: Any) -> dict[str, Any]:
    """A body: body("jelly", shape("cuboid", …), young=2e4, density=1000, fixed=["left"]).

    model, young, poisson and density are those of its material, scale, axis, degrees, translate and fit of its
    transform; all other keywords are keys of the body as they are.
    """
    result: dict[str, Any] = {"name": name, "mesh": mesh}
    for key, names in (("material", MATERIAL), ("transform", TRANSFORM)):
        own = {n: keys.pop(n) for n in names if n in keys}
        if own:
            result[key] = {**keys.pop(key, {}), **own}
    return {**result, **keys}


def scene(bodies: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, step: Any = None, frame: float | None = None,
          end: float | None = None, method: str | None = None, solver: str | None = None,
          options: Mapping[str, Any] | None = None, gravity: Any = None, **keys: Any) -> dict[str, Any]:
    """A scene: scene([body(…)], gravity=True, step=0.01, end=2, method="bdf2"), for rubato.load.

    step, frame, end   of "time" [s]
    method, solver, options   of "integrator"; options are those of the method
    gravity   True, or an acceleration [m/s^2]
    keys      "forces", "obstacles", "contact", "probes", "cuts", "events", … as they are
    """
    result: dict[str, Any] = {"rubato": 1, "bodies": [bodies] if isinstance(bodies, Mapping) else list(bodies)}
    time = {"step": step, "frame": frame, "end": end}
    integrator: dict[str, Any] = {"method": method, "solver": solver, "options": options}
    for key, values in (("time", time), ("integrator", integrator)):
        values = {**keys.pop(key, {}), **{k: v for k, v in values.items() if v is not None}}
        if values:
            result[key] = values
    if gravity is not None and gravity is not False:
        pull = {} if gravity is True else {"acceleration": gravity}
        result["forces"] = [*keys.pop("forces", []), {"gravity": pull}]
    return {**result, **keys}
