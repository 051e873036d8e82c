"""Nothing is left behind by simulations that come and go, nor by calls that fail."""

import gc
import os
import pickle

import numpy as np
import pytest

import rubato
from conftest import SANITIZED, scene

TINY = {"bodies": [{"name": "t", "mesh": rubato.Mesh([[0, 0, 0], [.1, 0, 0], [0, .1, 0], [0, 0, .1]], [[0, 1, 2, 3]]),
                    "fixed": [{"nodes": [0]}]}], "time": {"step": 0.01}, "integrator": {"method": "semi-implicit"}}


def memory():
    """Resident memory of the process [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def count(kind):
    return sum(isinstance(thing, kind) for thing in gc.get_objects())


def grows(action, times):
    """How much memory and how many objects `times` calls leave, after as many to warm up."""
    for _ in range(times):
        action()
    gc.collect()
    size, objects = memory(), len(gc.get_objects())
    for _ in range(times):
        action()
    gc.collect()
    return memory() - size, len(gc.get_objects()) - objects


@pytest.mark.slow
def test_ten_thousand_simulations():
    shared = rubato.Scene(TINY)
    seen = []

    def live():
        sim = rubato.Simulation(shared, 1)
        sim.step()
        seen.append(sim.x[1, 0])
        del seen[:-1]

    bytes_left, objects_left = grows(live, 5000)
    # Two pages a thousand would be a leak of 8 bytes a simulation; allocators keep some pages.
    assert bytes_left < 2_000_000 and objects_left < 50
    assert count(rubato.Simulation) == 0


@pytest.mark.parametrize("action", ["views", "states", "errors", "clones", "failures", "scenes", "pictures", "contacts",
                                    "callbacks", "arrays"])
def test_nothing_grows(action, make):
    sim = make("stack" if action == "contacts" else "bar")
    sim.step()
    unstable = rubato.Scene(scene(), {"integrator.method": "symplectic-euler", "time.step": 0.02})

    def views():
        sim.x[3] += 1e-9
        sim.forces[4] = 0
        sim.bodies["bar"].v
        sim.step()

    def states():
        state = pickle.loads(pickle.dumps(sim.save()))
        sim.restore(state)
        state.x

    def errors():
        for wrong in (lambda: sim.advance(-1), lambda: setattr(sim, "x", np.zeros(3)), lambda: sim.bodies["no"],
                      lambda: sim.bodies["bar"].selection("no"), lambda: rubato.load({"bodies": []}),
                      lambda: rubato.Mesh.read("no.msh")):
            with pytest.raises(Exception):
                wrong()

    def clones():
        sim.clone().step()

    def failures():
        failing = rubato.Simulation(unstable, 1)
        with pytest.raises(rubato.StepFailed):
            failing.advance(10)

    def scenes():
        rubato.Scene(TINY).to_dict()

    def pictures():
        sim.render(size=(16, 16), ground=False)

    def contacts():
        sim.contacts, sim.contact_forces, sim.reactions(), sim.energies, sim.probes, sim.stage_times

    def callbacks():
        other = sim.clone()
        other.after_step.append(lambda s: other.time)  # a circle, which the collector must find
        other.step()

    cloud = rubato.load({"bodies": [{"name": "dust", "mesh": rubato.Mesh(np.random.default_rng(0).random((4000, 3))),
                                     "particles": {"radius": 1e-4, "mass": 1}}],
                         "integrator": {"method": "semi-implicit"}}) if action == "arrays" else None

    def arrays():  # 100 KB each
        other = cloud.clone()
        other.x, other.v, other.forces, other.masses
        other.x[0, 0] += 1e-9
        other.energies

    times = 10 if SANITIZED else 15 if action == "pictures" else 60
    bytes_left, objects_left = grows(locals()[action], times)
    assert objects_left < 40
    assert SANITIZED or bytes_left < 1_500_000
    assert count(rubato.Simulation) == (2 if cloud else 1)
