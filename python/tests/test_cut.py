"""Cuts: arrays of the mesh before stay as they were, objects about it raise, and the new ones are right."""

import numpy as np
import pytest

import rubato
from conftest import same_bits


@pytest.fixture
def cut(make):
    return make("cut")


def test_arrays_of_before_are_frozen(cut):
    cut.advance(0.02)
    x, v, tets = cut.x, cut.v, cut.tets
    frozen = x.copy(), v.copy(), tets.copy()
    cut.step()
    assert cut.node_count > len(x) and cut.x.shape == cut.v.shape == (cut.node_count, 3) and cut.topology == 1
    assert np.array_equal(x, frozen[0]) and np.array_equal(v, frozen[1]) and np.array_equal(tets, frozen[2])
    assert len(cut.tets) > len(tets) and not np.shares_memory(x, cut.x)


def test_writing_to_an_old_array_does_nothing(cut, make):
    other = make("cut")
    old = cut.x
    cut.advance(0.03)
    other.advance(0.03)
    old[:] = np.nan
    cut.step()
    other.step()
    assert same_bits(cut, other) and np.isfinite(cut.x).all()


def test_bodies_of_before_are_stale(cut):
    bar = cut.bodies["bar"]
    assert bar.x.shape == (20, 3)
    cut.advance(0.03)
    for use in (lambda: bar.x, lambda: bar.nodes, lambda: bar.selection("left"), lambda: bar.slice, lambda: bar.masses,
                lambda: bar.drag("tip", [0, 0, 0], 1), lambda: bar.set_material(young=1), lambda: bar.tets,
                lambda: setattr(bar, "v", np.zeros((20, 3)))):
        with pytest.raises(rubato.Stale, match="cut"):
            use()
    assert len(cut.bodies["bar"].x) == cut.node_count and "bar" in repr(bar)


def test_mass_is_kept(cut):
    before = cut.masses.sum()
    cut.advance(0.1)
    assert cut.masses.sum() == pytest.approx(before) and cut.bodies["bar"].mass == pytest.approx(before)


def test_forces_go_with_the_mesh(cut):
    cut.forces[:] = 1e-3
    cut.advance(0.03)
    assert cut.forces.shape == (cut.node_count, 3) and not cut.forces.any()


def test_restoring_over_a_cut(cut):
    state, x = cut.save(), cut.x
    cut.advance(0.05)
    late, after = cut.save(), cut.topology
    bar = cut.bodies["bar"]
    cut.restore(state)
    assert cut.topology != after and len(cut.x) == 20 and np.array_equal(cut.x, x)
    with pytest.raises(rubato.Stale):
        bar.nodes
    cut.restore(late)
    assert len(cut.x) == len(late.x) > 20 and np.array_equal(cut.x, late.x)


def test_clones_of_cut_simulations(cut):
    cut.advance(0.05)
    clone = cut.clone()
    bar = clone.bodies["bar"]
    cut.step()
    clone.step()
    assert same_bits(cut, clone) and len(bar.x) == clone.node_count


def test_writing_before_a_cut(cut, make):
    other = make("cut")
    cut.v[:, 2] = 0.2
    v = other.v.copy()
    v[:, 2] = 0.2
    other.v = v
    cut.advance(0.06)
    other.advance(0.06)
    assert same_bits(cut, other)


def test_held_arrays_keep_the_simulation(make):
    sim = make("cut")
    x = sim.x
    sim.advance(0.03)
    y = sim.x
    del sim
    assert np.isfinite(x).all() and len(y) > len(x)
