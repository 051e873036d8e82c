"""Small scenes that the tests share."""

import copy
import os
import pathlib

import numpy as np
import pytest

import rubato

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SANITIZED = "RUBATO_SANITIZED" in os.environ

BAR = {
    "rubato": 1,
    "bodies": [{
        "name": "bar",
        "mesh": {"shape": {"bar": {"size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]}}},
        "material": {"young": 5e5, "density": 1000},
        "damping": {"mass": 1},
        "selections": [{"name": "tip", "where": "right"}],
        "fixed": ["left"],
    }],
    "forces": [{"gravity": {}}],
    "time": {"step": 0.01, "frame": 0.04, "end": 0.4},
    "integrator": {"method": "backward-euler"},
}

GRIPPED = copy.deepcopy(BAR)
del GRIPPED["bodies"][0]["fixed"]
GRIPPED["bodies"][0]["driven"] = [{"name": "grip", "where": "left"}]

# Two blocks, one above the other, on a plane, with contact
STACK = {
    "rubato": 1,
    "bodies": [{
        "name": name,
        "mesh": {"shape": {"cuboid": {"size": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}}},
        "transform": {"translate": [0, height, 0]},
        "material": {"young": 1e5, "density": 1000},
    } for name, height in (("low", 0.06), ("top", 0.18))],
    "obstacles": [{"plane": {}}, {"sphere": {"centre": [1, 0.2, 0], "radius": 0.1}}],
    "contact": {"friction": 0.3},
    "forces": [{"gravity": {}}],
    "time": {"step": 0.01, "frame": 0.02, "end": 0.3},
    "integrator": {"method": "backward-euler"},
}

# A bar that a plane cuts in two at 0.02 s
CUT = copy.deepcopy(BAR)
PLANE = {"point": [0.5, 0.5, 0.5], "normal": [1, 0.2, 0], "relative": True}
CUT["cuts"] = [{"body": "bar", "surface": {"plane": PLANE}, "time": 0.02}]
CUT["integrator"] = {"method": "semi-implicit"}


def scene(name="bar"):
    return copy.deepcopy({"bar": BAR, "gripped": GRIPPED, "stack": STACK, "cut": CUT}[name])


@pytest.fixture
def make():
    """make("bar", method="bdf2", **other settings): a simulation of one of the scenes above."""

    def build(name="bar", method=None, threads=1, **settings):
        settings = {key.replace("__", "."): value for key, value in settings.items()}
        if method:
            settings["integrator.method"] = method
        return rubato.load(scene(name), settings, threads=threads)

    return build


@pytest.fixture
def sim(make):
    return make()


def same_bits(a, b):
    """Whether two simulations are in the same state, bit for bit."""
    return (a.time == b.time and np.array_equal(a.x.view(np.int64), b.x.view(np.int64)) and
            np.array_equal(a.v.view(np.int64), b.v.view(np.int64)))


METHODS = [name for name in rubato.methods() if name not in ("multirate-euler", "schroeder")]
EXPLICIT = {"symplectic-euler": 1e-4, "async-contact": 1e-4, "imex": 1e-3}


def method_sim(method, name="bar", **settings):
    """A simulation with a step that the method likes."""
    step = EXPLICIT.get(method, 2e-3)
    values = {"integrator.method": method, "time.step": step, "time.frame": 4 * step, **settings}
    return rubato.load(scene(name), values, threads=1)
