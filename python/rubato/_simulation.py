"""Simulations, and what they are asked: bodies, driven nodes, obstacles, energies, contacts."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _rubato
from ._arrays import real_numbers

_size, _fields = _rubato.contact_layout()
CONTACT = np.dtype({
    "names": [name for name, *_ in _fields],
    "formats": [kind if count == 1 else (kind, (count,)) for _, kind, _, count in _fields],
    "offsets": [offset for _, _, offset, _ in _fields],
    "itemsize": _size,
})


class Energies(NamedTuple):
    """Energies [J] and momenta of a simulation now."""

    kinetic: float
    elastic: float
    gravity: float
    contact: float
    total: float
    momentum: np.ndarray  # (3) [kg m/s]
    angular_momentum: np.ndarray  # (3) [kg m^2/s]
    work: float  # done so far by loads, forces and prescribed motion; NaN between frames where it is not known
    friction: float  # taken by friction of contact so far


class Frame(NamedTuple):
    """A frame of a simulation: copies, which stay as they are when it continues."""

    number: int
    time: float  # [s]
    x: np.ndarray  # (nodes x 3) [m]
    v: np.ndarray  # (nodes x 3) [m/s]
    report: Any  # of the steps that led here; None for the first


class _Part:
    """Something of a simulation that is about its present mesh."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._topology = sim.topology

    def _check(self) -> Simulation:
        if self._sim.topology != self._topology:
            raise _rubato.Stale(f"{self!r} is about the mesh before a cut; ask the simulation again")
        return self._sim


class Body(_Part):
    """A body of a simulation. After a cut it is stale and raises rubato.Stale: take it from sim.bodies again."""

    def __init__(self, sim: Simulation, number: int) -> None:
        super().__init__(sim)
        (self.name, self.kind, node_begin, node_end, tet_begin, tet_end, triangle_begin, triangle_end, edge_begin,
         edge_end, self.mass, self.volume) = sim._body(number)
        self.number = number
        self._nodes = slice(node_begin, node_end)
        self._tets = slice(tet_begin, tet_end)
        self._triangles = slice(triangle_begin, triangle_end)
        self._edges = slice(edge_begin, edge_end)

    name: str
    kind: str  # "solid", "shell", "net" or "particles"
    mass: float  # [kg]
    volume: float  # [m^3]

    @property
    def slice(self) -> slice:
        """Where its nodes are in arrays of all nodes: sim.x[body.slice]."""
        self._check()
        return self._nodes

    @property
    def nodes(self) -> np.ndarray:
        """(n) numbers of its nodes."""
        self._check()
        return np.arange(self._nodes.start, self._nodes.stop)

    @property
    def x(self) -> np.ndarray:
        """(n x 3) positions of its nodes [m], a writable part of sim.x."""
        return self._check().x[self._nodes]

    @x.setter
    def x(self, value: Any) -> None:
        self._check()._assign(self.x, value, "x")

    @property
    def v(self) -> np.ndarray:
        """(n x 3) velocities of its nodes [m/s], a writable part of sim.v."""
        return self._check().v[self._nodes]

    @v.setter
    def v(self, value: Any) -> None:
        self._check()._assign(self.v, value, "v")

    @property
    def forces(self) -> np.ndarray:
        """(n x 3) forces on its nodes [N], a writable part of sim.forces."""
        return self._check().forces[self._nodes]

    @forces.setter
    def forces(self, value: Any) -> None:
        self._check()._assign(self.forces, value, "forces")

    @property
    def masses(self) -> np.ndarray:
        """(n) [kg]"""
        return self._check().masses[self._nodes]

    @property
    def tets(self) -> np.ndarray:
        """(m x 4) its tets; node numbers count through all bodies."""
        return self._check().tets[self._tets]

    @property
    def triangles(self) -> np.ndarray:
        """(m x 3) its surface, or the triangles of a shell."""
        return self._check().triangles[self._triangles]

    @property
    def edges(self) -> np.ndarray:
        """(m x 2) the springs of a net."""
        return self._check().edges[self._edges]

    @property
    def selections(self) -> list[str]:
        """Names of its selections and of the sets of its mesh."""
        return self._check()._selection_names(self.number)

    def selection(self, name: str) -> np.ndarray:
        """(n) node numbers of a named selection, or of a set of the mesh: sim.x[body.selection("left")]."""
        return self._check()._selection(self.number, name)

    def drag(self, selection: str, point: Any, stiffness: float) -> None:
        """A spring [N/m] from the centre of mass of a selection to a point [m], until changed; 0 lets go."""
        self._check()._drag(self.number, selection, point, stiffness)

    def set_material(self, region: str | None = None, *, young: float = np.nan, poisson: float = np.nan,
                     mass_damping: float = np.nan, stiffness_damping: float = np.nan) -> None:
        """Other values of its material, or of one of its regions, from now on."""
        self._check()._set_material(self.name, region, young, poisson, mass_damping, stiffness_damping)

    def __repr__(self) -> str:
        return f"<rubato.Body {self.name!r}: {self.kind}, {self._nodes.stop - self._nodes.start} nodes>"


class _Named:
    """A sequence whose items also have names."""

    _what: str

    def __init__(self, sim: Simulation, names: list[Any]) -> None:
        self._sim = sim
        self._names = names

    def _make(self, number: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._names)

    def keys(self) -> list[str]:
        """The names."""
        return [name for name in self._names if name is not None]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Any]:
        return (self._make(i) for i in range(len(self)))

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            if key not in self._names:
                raise KeyError(f"no {self._what} {key!r}; there are {', '.join(map(repr, self.keys())) or 'none'}")
            return self._make(self._names.index(key))
        if not isinstance(key, (int, np.integer)):
            raise TypeError(f"a {self._what} has a name or a number, not {type(key).__name__}")
        if not -len(self) <= key < len(self):
            raise IndexError(f"no {self._what} {key}: there are {len(self)}")
        return self._make(int(key) % len(self))

    def __repr__(self) -> str:
        return f"<{', '.join(repr(name) for name in self._names)}>"


class Bodies(_Named):
    """sim.bodies["name"], sim.bodies[0], for body in sim.bodies."""

    _what = "body"

    def _make(self, number: int) -> Body:
        return Body(self._sim, number)


class _Moved:
    _obstacle: bool

    def __init__(self, sim: Simulation, number: int) -> None:
        self._sim = sim
        self.number = number

    def move(self, velocity: Any = (0, 0, 0), spin: Any = (0, 0, 0), about: Any = (0, 0, 0),
             duration: float = np.inf) -> None:
        """From now on: a velocity [m/s], and turning [rad/s] about a point [m], for a duration [s]."""
        self._sim._drive(self._obstacle, self.number, velocity, spin, about, duration)

    def move_to(self, offset: Any, duration: float) -> None:
        """Straight to `offset` [m] away from where its prescribed motion alone would have it, and stay there."""
        self._sim._drive_to(self._obstacle, self.number, offset, duration)

    def halt(self) -> None:
        """Stays where it is."""
        self.move()


class Driven(_Moved):
    """A group of driven nodes, moved from Python on top of its prescribed motion."""

    _obstacle = False

    @property
    def nodes(self) -> np.ndarray:
        """(n) its node numbers."""
        return self._sim._driven_nodes(self.number)

    @property
    def reaction(self) -> np.ndarray:
        """(3) force [N] with which it holds its nodes."""
        return self._sim.reactions()[self.nodes].sum(axis=0)

    def __repr__(self) -> str:
        return f"<rubato.Driven {self.number}>"


class Obstacle(_Moved):
    """An obstacle of the scene, which can be moved where bodies are kept apart."""

    _obstacle = True

    def __repr__(self) -> str:
        return f"<rubato.Obstacle {self.number}>"


class _DrivenGroups(_Named):
    _what = "driven group"

    def _make(self, number: int) -> Driven:
        return Driven(self._sim, number)


class _Obstacles(_Named):
    _what = "obstacle"

    def _make(self, number: int) -> Obstacle:
        return Obstacle(self._sim, number)


class Simulation(_rubato.Simulation):
    """A simulation of a scene: Simulation(Scene(…)), or rubato.load(…).

    One thread at a time uses it; while it steps, others run. sim.before_step and sim.after_step are lists of functions
    f(sim) that are called around every step.
    """

    @property
    def x(self) -> np.ndarray:
        """(nodes x 3) positions [m], an array that follows the simulation.

        What is written to it becomes the state with the next call: constrained nodes keep to their prescribed
        positions, and a method's memory starts afresh. Positions that turn an element inside out, or let surfaces cross
        in a scene with contact, are refused with rubato.Error. After a cut it is another array; the old one stays as it
        is.
        """
        return self._x

    @x.setter
    def x(self, value: Any) -> None:
        self._assign(self._x, value, "x")

    @property
    def v(self) -> np.ndarray:
        """(nodes x 3) velocities [m/s], an array that follows the simulation, writable as x is."""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._assign(self._v, value, "v")

    @property
    def forces(self) -> np.ndarray:
        """(nodes x 3) forces [N] beside those of the scene, until changed; zero at first. A cut takes them away."""
        return self._forces

    @forces.setter
    def forces(self, value: Any) -> None:
        self._assign(self._forces, value, "forces")

    def _assign(self, array: np.ndarray, value: Any, what: str) -> None:
        """Writes to an array of the simulation, which takes it over at once."""
        np.copyto(array, real_numbers(value, array.shape, what))
        self._flush()

    @property
    def bodies(self) -> Bodies:
        """The bodies, by name or number."""
        return Bodies(self, self._body_names())

    @property
    def driven(self) -> _DrivenGroups:
        """The groups of driven nodes, by name or number."""
        return _DrivenGroups(self, self._driven_names())

    @property
    def obstacles(self) -> _Obstacles:
        """The obstacles, by number."""
        return _Obstacles(self, [None] * self._obstacle_count())

    @property
    def constrained(self) -> np.ndarray:
        """(nodes) whether a node has a prescribed position now."""
        return self._constrained().astype(bool)

    @property
    def energies(self) -> Energies:
        """Energies [J] and momenta now."""
        *scalars, momentum, angular, work, friction = self._energies()
        return Energies(*scalars, np.array(momentum), np.array(angular), work, friction)

    @property
    def contacts(self) -> np.ndarray:
        """Pairs that push each other now, as a structured array.

        body_a, body_b    numbers of bodies; -1 - i for obstacle i
        count_a, count_b  corners of A and of B; nodes: first those of A, then those of B
        point, normal     [m] half-way between, and from A to B
        gap, force        [m], [N] with which B is pushed along the normal; below 0: taken off what others count twice
        """
        return self._contacts().view(CONTACT)

    @property
    def contact_forces(self) -> np.ndarray:
        """(nodes x 3) contact forces on nodes now [N]."""
        return self._contact_forces()

    def reactions(self, name: str | None = None) -> np.ndarray:
        """(nodes x 3) forces [N] with which constraints hold their nodes, 0 at free ones.

        With the name of a group of driven nodes, or of a selection of a body ("left", or "bar.left" where several
        bodies have one): (3) their sum.
        """
        all_of_them = self._reactions()
        return all_of_them if name is None else all_of_them[self._named_nodes(name)].sum(axis=0)

    def _named_nodes(self, name: str) -> np.ndarray:
        groups = self.driven
        if name in groups:
            return groups[name].nodes
        body, _, rest = name.rpartition(".")
        found = [b.selection(n) for b in self.bodies for n in b.selections
                 if (n == name) or (body and n == rest and b.name == body)]
        if len(found) != 1:
            known = groups.keys() + [f"{b.name}.{n}" for b in self.bodies for n in b.selections]
            problem = "several bodies have" if found else "there is no driven group or"
            raise KeyError(f"{problem} selection {name!r}; there are {', '.join(known) or 'none'}")
        return found[0]

    @property
    def probes(self) -> dict[str, dict[str, np.ndarray]]:
        """What the probes of the scene read now: {name: {"position", "velocity", "reaction", "contact"}}."""
        rows = ("position", "velocity", "reaction", "contact")
        return {name: dict(zip(rows, values)) for name, values in self._probes().items()}

    @property
    def stage_times(self) -> dict[str, float]:
        """Seconds spent in each stage of steps so far."""
        return self._stage_times()

    @property
    def statistics(self) -> dict[str, float]:
        """What the method has counted so far, by name, as in run.json."""
        return self._statistics()

    @property
    def notes(self) -> list[str]:
        """Sentences worth reading before it runs."""
        return self._notes()

    @property
    def end(self) -> float:
        """Time of the last frame of the scene [s]; a simulation may go on beyond it."""
        return self.frame_count * self.frame_interval

    def frames(self, until: int | None = None) -> Iterator[Frame]:
        """Frames to frame `until` (the last of the scene), as copies; the first is the present one, if it is at one."""
        last = self.frame_count if until is None else until
        if abs(self.time - self.frame * self.frame_interval) < 1e-6 * self.dt and self.frame <= last:
            yield Frame(self.frame, self.time, self.x.copy(), self.v.copy(), None)
        while self.frame < last:
            report = self.advance_frame()
            yield Frame(self.frame, self.time, self.x.copy(), self.v.copy(), report)

    def run(self) -> Any:
        """To the last frame of the scene; returns the report of the last one."""
        report = None
        while self.frame < self.frame_count:
            report = self.advance_frame()
        return report

    def render(self, path: Any = None, **options: Any) -> Any:
        """rubato.render(sim, …): a picture of it now."""
        from ._picture import render
        return render(self, path, **options)

    def _repr_png_(self) -> bytes:
        return self.render(size=(640, 480))._repr_png_()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _revive, (self.scene, self.threads, self.save())

    def __repr__(self) -> str:
        if self.closed:
            return "<rubato.Simulation, closed>"
        try:
            return f"<rubato.Simulation: {self.method}, {self.node_count} nodes, at {self.time:g} s>"
        except _rubato.Busy:
            return "<rubato.Simulation, stepping in another thread>"


def _revive(scene: Any, threads: int, state: Any) -> Simulation:
    sim = Simulation(scene, threads)
    sim.restore(state)
    return sim
