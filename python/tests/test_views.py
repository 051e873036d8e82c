"""sim.x, sim.v and sim.forces: arrays that follow the simulation, and what is written to them."""

import gc
import sys
import weakref

import numpy as np
import pytest

import rubato
from conftest import METHODS, method_sim, same_bits


@pytest.mark.parametrize("name", ["x", "v", "forces"])
def test_shape_and_type(sim, name):
    array = getattr(sim, name)
    assert array.shape == (20, 3) and array.dtype == np.float64 and array.flags.c_contiguous and array.flags.writeable


def test_nothing_is_copied(sim):
    assert np.shares_memory(sim.x, sim.x) and not np.shares_memory(sim.x, sim.v)


def test_an_array_follows_the_steps(sim):
    x, before = sim.x, sim.x.copy()
    sim.step()
    assert not np.array_equal(x, before) and np.array_equal(x, sim.x) and np.shares_memory(x, sim.x)


def test_it_is_right_after_a_while_of_nobody_looking(sim, make):
    other = make()
    held = other.x
    sim.x
    for _ in range(7):
        sim.step()
        other.step()
    assert np.array_equal(sim.x, held) and np.array_equal(sim.v, other.v)


def test_arrays_keep_the_simulation_alive(make):
    sim = make()
    alive = weakref.ref(sim)
    x = sim.x
    del sim
    gc.collect()
    assert alive() is not None and np.isfinite(x).all()
    del x
    gc.collect()
    assert alive() is None


def test_slices_keep_it_alive(make):
    part = make().bodies["bar"].x[3:5, 1]
    gc.collect()
    assert np.isfinite(part).all() and part.shape == (2,)


@pytest.mark.parametrize("method", METHODS)
def test_reading_changes_no_bit(method):
    one, other = method_sim(method), method_sim(method)
    held = one.x, one.v, one.forces
    for _ in range(6):
        assert np.isfinite(one.x).all() and np.isfinite(one.v).all() and not one.forces.any()
        one.energies
        one.reactions()
        one.step()
        other.step()
    assert same_bits(one, other) and np.array_equal(held[0], one.x)


@pytest.mark.parametrize("method", METHODS)
def test_writing_is_setting(method):
    """sim.x[…] = is what rbt_sim_set_positions does: the method's memory starts afresh, and it jumps in energy."""
    one, other = method_sim(method), method_sim(method)
    for _ in range(4):
        one.step()
        other.step()
    tip = one.bodies["bar"].selection("tip")
    one.x[tip, 1] += 1e-3
    one.v[tip, 2] = 0.1
    x, v = other.x.copy(), other.v.copy()
    x[tip, 1] += 1e-3
    v[tip, 2] = 0.1
    other.v = v
    other.x = x
    for _ in range(3):
        one.step()
        other.step()
    assert same_bits(one, other)


@pytest.mark.parametrize("name", ["x", "v", "forces"])
def test_writing_to_an_array_that_was_kept(sim, make, name):
    """Long after it was asked for, and between any two calls."""
    other, held = make(), getattr(sim, name)
    for _ in range(3):
        sim.step()
        other.step()
    held[-1, 2] += 1e-3
    sim.energies
    held[-2, 2] += 1e-3
    value = getattr(other, name).copy()
    value[-2:, 2] += 1e-3
    setattr(other, name, value)
    sim.step()
    other.step()
    assert np.allclose(sim.x, other.x, atol=1e-12) and not np.array_equal(sim.x, make().x)
    assert np.array_equal(sim.forces, other.forces) and np.allclose(sim.v, other.v, atol=1e-9)


def test_writing_makes_the_memory_of_a_method_start_afresh(make):
    """bdf2 continues from two states; after a write it may know one only, as a simulation that begins there."""
    one = make(method="bdf2")
    for _ in range(5):
        one.step()
    state = one.save()
    one.v[7] += [0, 0.5, 0]
    one.step()
    plain = make(method="bdf2")
    plain.restore(state)
    v = plain.v.copy()
    v[7] += [0, 0.5, 0]
    plain.v = v
    plain.step()
    assert same_bits(one, plain)
    restored = make(method="bdf2")
    restored.restore(state)
    restored.step()
    assert not same_bits(one, restored)


def test_writing_the_same_bits_is_no_write(make):
    one, other = make(method="bdf2"), make(method="bdf2")
    for _ in range(5):
        one.x[:] = one.x.copy()
        one.v *= 1
        one.forces += 0
        one.step()
        other.step()
    assert same_bits(one, other)


def test_energies_see_what_was_written(sim):
    before = sim.energies.kinetic
    sim.v[5:] = [0, 1, 0]
    assert sim.energies.kinetic > before + 0.1


def test_saved_states_and_clones_have_what_was_written(sim):
    sim.x[9, 1] += 0.002
    wanted = sim.x[9, 1]
    assert sim.save().x[9, 1] == wanted
    sim.x[9, 1] += 0.001
    assert sim.clone().x[9, 1] == sim.x[9, 1] != wanted


def test_constrained_nodes_keep_to_their_positions(sim):
    fixed = sim.bodies["bar"].selection("left")
    before = sim.x[fixed].copy()
    sim.x[:] += [0, 0.01, 0]
    sim.step()
    assert np.array_equal(sim.x[fixed], before)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["x", "v", "forces"])
def test_numbers_that_are_not_finite_are_refused(sim, make, name, value):
    other = make()
    sim.step()
    other.step()
    getattr(sim, name)[12, 1] = value
    with pytest.raises(rubato.Error, match="12"):
        sim.step()
    assert same_bits(sim, other)  # the arrays show the state again
    sim.step()
    other.step()
    assert same_bits(sim, other)


def test_all_or_nothing(sim, make):
    """Good velocities beside bad positions: none of it is taken."""
    other = make()
    sim.v[:] = 3
    sim.x[12, 0] = np.nan
    with pytest.raises(rubato.Error):
        sim.step()
    assert same_bits(sim, other) and not sim.forces.any()


def test_inverted_elements_are_refused(make):
    sim = make(**{"bodies[0].material.model": "neo-hookean"})
    sim.x[:] *= [1, -1, 1]
    with pytest.raises(rubato.Error, match="inside out"):
        sim.step()


def test_crossing_is_refused_where_there_is_contact(make):
    sim = make("stack")
    sim.step()
    before = sim.x.copy()
    sim.bodies["top"].x[:] -= [0, 0.05, 0]
    with pytest.raises(rubato.Error, match="touch or cross"):
        sim.step()
    assert np.array_equal(sim.x, before)
    sim.bodies["top"].x[:] += [0, 0.01, 0]
    sim.step()
    assert sim.bodies["top"].x[:, 1].mean() > before[8:, 1].mean()


@pytest.mark.parametrize("value, kind", [
    (np.zeros((3, 3)), ValueError), (np.zeros(60), ValueError), (np.zeros((20, 2)), ValueError), (0.0, ValueError),
    (np.zeros((20, 3), complex), TypeError), (np.zeros((20, 3), "U1"), TypeError), ("text", TypeError),
    (np.zeros((20, 3), bool), TypeError), (None, TypeError), (np.zeros((20, 3), object), TypeError),
])
@pytest.mark.parametrize("name", ["x", "v", "forces"])
def test_assigning_the_wrong_thing(sim, name, value, kind):
    with pytest.raises(kind):
        setattr(sim, name, value)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float64])
def test_assigning_other_numbers_and_orders(sim, kind):
    sim.v = np.asfortranarray(np.ones((20, 3), kind))
    assert np.array_equal(sim.v, np.where(sim.constrained[:, None], 0, np.ones((20, 3))))
    sim.v = np.ones((40, 3))[::2]
    sim.v = [[0, 0, 0]] * 20
    assert not sim.v.any()


def test_wrong_shapes_of_numpy_itself(sim):
    with pytest.raises(ValueError):
        sim.x[:] = np.zeros((5, 3))
    with pytest.raises(IndexError):
        sim.x[99]


def test_part_of_a_body_can_be_assigned(make):
    sim = make("stack")
    top = sim.bodies["top"]
    top.v = np.full((8, 3), 0.5)
    assert np.array_equal(sim.v[8:], np.full((8, 3), 0.5)) and not sim.v[:8].any()
    top.x = top.x + [0, 0.1, 0]
    top.forces = np.ones((8, 3))
    assert sim.forces.sum() == 24
    with pytest.raises(ValueError):
        top.v = np.zeros((7, 3))


def test_forces_act(sim, make):
    other = make()
    sim.forces[sim.bodies["bar"].selection("tip"), 1] = 50
    for _ in range(10):
        sim.step()
        other.step()
    assert sim.x[-1, 1] > other.x[-1, 1] + 1e-3
    sim.forces[:] = 0
    sim.step()
    assert not sim.forces.any()


def test_forces_stay_in_the_array_and_in_states(sim):
    sim.forces[7] = [1, 2, 3]
    state = sim.save()
    sim.forces[:] = 0
    sim.step()
    sim.restore(state)
    assert sim.forces[7].tolist() == [1, 2, 3] and sim.forces.sum() == 6


def test_read_only_arrays(sim):
    for array, shape, kind in ((sim.rest, (20, 3), np.float64), (sim.masses, (20,), np.float64),
                               (sim.tets, (24, 4), np.int32), (sim.edges, (0, 2), np.int32)):
        assert array.shape == shape and array.dtype == kind and not array.flags.writeable
    with pytest.raises(ValueError):
        sim.masses[0] = 3
    assert sim.triangles.shape[1] == 3 and sim.masses.sum() == pytest.approx(sim.bodies["bar"].mass)
    assert np.array_equal(sim.rest, sim.x)


def test_attributes_that_cannot_be_set(sim):
    for name in ("time", "masses", "tets", "energies", "bodies", "scene"):
        with pytest.raises(AttributeError):
            setattr(sim, name, 1)


def test_dlpack_shares_memory(sim):
    x = np.from_dlpack(sim.x)
    sim.step()
    assert np.array_equal(x, sim.x) and np.shares_memory(x, sim.x)


def test_buffers_without_numpy(sim):
    view = memoryview(sim.x)
    assert view.shape == (20, 3) and view.format == "d" and not view.readonly
    block = sim.x.base.obj
    assert memoryview(block).nbytes == 480
    with pytest.raises(TypeError):
        type(block)()


def test_restoring_forgets_what_was_written_before(sim):
    state = sim.save()
    sim.x[:] = np.nan
    sim.restore(state)
    assert np.array_equal(sim.x, state.x)
    sim.step()


def test_closing_freezes_the_arrays(sim):
    x = sim.x
    before = x.copy()
    sim.close()
    assert sim.closed and np.array_equal(x, before)
    x[:] = 0
    with pytest.raises(rubato.Stale):
        sim.x
    with pytest.raises(rubato.Stale):
        sim.step()
    sim.close()


def test_reference_counts_stay(sim):
    for name in ("x", "v", "forces", "rest", "masses", "tets"):
        getattr(sim, name)
    before = sys.getrefcount(sim)
    for _ in range(100):
        for name in ("x", "v", "forces", "rest", "masses", "tets"):
            getattr(sim, name)
    assert sys.getrefcount(sim) == before


def test_two_arrays_are_the_same_memory_for_writing(sim):
    a, b = sim.x, sim.x
    a[5, 0] += 1e-4
    assert b[5, 0] == a[5, 0]
    sim.step()
    assert np.array_equal(a, b)
