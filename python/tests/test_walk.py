"""Everything that the extension offers, with arguments that make no sense: an exception or a result, never a crash."""

import copy
import inspect

import numpy as np
import pytest

import rubato
from conftest import SANITIZED, scene
from rubato import _rubato

# advance() would go on for ever with a large number; the others end the simulation that the rest needs.
LEFT_OUT = {"advance", "close", "stop", "__reduce__", "__new__"}
ALIVE = {"close", "closed", "threads", "scene", "stop", "before_step", "after_step"}  # also of a closed one
FUNCTIONS = sorted(name for name, thing in vars(_rubato).items() if callable(thing) and not inspect.isclass(thing))
METHODS = sorted(name for name, thing in vars(_rubato.Simulation).items()
                 if callable(thing) and (not name.startswith("__")) and name not in LEFT_OUT)


def values(sim):
    return [None, 0, 1, -1, 2 ** 70, 1.5, float("nan"), "text", "bar", "tip", "", b"bytes", b"", [], {}, (), object(),
            np.zeros(3), np.zeros((2, 3)), np.zeros((2, 4), np.int32), np.zeros((0, 3)), np.zeros((2, 3))[:, ::2], sim,
            sim.scene, sim.save(), [1, 2, 3], [[1, 2], 3], True, sim.step(), type, len, "é", "\0", "a" * 5000,
            (np.zeros((1, 3)), np.zeros((0, 4), np.int32), np.zeros((0, 3), np.int32), np.zeros((0, 2), np.int32), []),
            (None, 0, "hero", "plain", 32, 32, 0, 1.0, True, float("nan"), False, float("nan"), float("nan"))]


def walk(function, things, seed):
    """How often it raised, of many calls."""
    random, raised = np.random.default_rng(seed), 0
    for _ in range(40 if SANITIZED else 150):
        arguments = [things[random.integers(len(things))] for _ in range(random.integers(0, 7))]
        try:
            function(*arguments)
        except Exception as error:  # noqa: BLE001
            assert not isinstance(error, SystemError), (function, arguments, error)
            raised += 1
    return raised


@pytest.fixture
def things(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of it writes files
    return values(make("gripped"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, things):
    walk(getattr(_rubato, name), things, FUNCTIONS.index(name))


@pytest.mark.parametrize("name", METHODS)
def test_methods(name, things, make):
    sim = make("gripped")
    walk(getattr(sim, name), things, METHODS.index(name))
    assert np.isfinite(sim.x).all()
    sim.step()


@pytest.mark.parametrize("name", ["Block", "Report", "State", "Scene", "Simulation"])
def test_making_types(name, things):
    kind = getattr(_rubato, name)
    assert walk(kind, things, 7) > 0
    with pytest.raises(TypeError):
        object.__new__(kind)


def test_every_attribute_after_closing(make):
    sim = make("gripped")
    body, grip, report = sim.bodies["bar"], sim.driven["grip"], sim.step()
    sim.close()
    for name in dir(sim):
        if name.startswith("__") or name in ALIVE:
            continue
        with pytest.raises((rubato.Stale, TypeError)):
            thing = getattr(sim, name)
            thing() if name not in ("advance", "restore") else thing(report if name == "restore" else 1.0)
            next(thing()) if name == "frames" else None
            raise TypeError  # takes arguments, or is one of Python's own
    for use in (lambda: body.x, lambda: grip.nodes, lambda: grip.move(), lambda: list(sim.frames())):
        with pytest.raises(rubato.Stale):
            use()


def test_copies(sim):
    again = copy.copy(sim.scene)
    assert again.json == sim.scene.json and copy.deepcopy(sim.save()).time == sim.time
    with pytest.raises(TypeError):
        copy.deepcopy(sim.x.base.obj)


def test_subclasses():
    class Mine(rubato.Simulation):
        steps = 0

        def step(self):
            self.steps += 1
            return super().step()

    mine = Mine(rubato.Scene(scene()), 1)
    mine.step()
    clone = mine.clone()
    clone.step()
    assert type(clone) is Mine and mine.steps == clone.steps == 1 and clone.time > mine.time
