"""States: saved, restored, pickled, on disk; clones."""

import copy
import pickle

import numpy as np
import pytest

import rubato
from conftest import METHODS, method_sim, same_bits, scene


@pytest.mark.parametrize("method", METHODS)
def test_bit_for_bit(method):
    sim = method_sim(method, "gripped")
    sim.driven["grip"].move(velocity=[0, 0.2, 0])
    for _ in range(3):
        sim.step()
    state = sim.save()
    for _ in range(5):
        sim.step()
    ways = [method_sim(method, "gripped") for _ in range(2)]
    ways[0].restore(state)
    ways[1].restore(pickle.loads(pickle.dumps(state)))
    sim.restore(state)
    ways += [sim.clone(), copy.deepcopy(sim)]
    sim.step()
    for other in ways:
        other.step()
        assert same_bits(sim, other)


def test_state_attributes(sim):
    sim.advance(0.05)
    state = sim.save()
    assert state.time == sim.time and np.array_equal(state.x, sim.x) and np.array_equal(state.v, sim.v)
    assert "0.05" in repr(state) and not np.shares_memory(state.x, sim.x)
    sim.step()
    assert not np.array_equal(state.x, sim.x)
    with pytest.raises(AttributeError):
        state.time = 3
    with pytest.raises(TypeError):
        rubato.State()


def test_saving_into_a_state(sim):
    state = sim.save()
    x = state.x
    sim.advance(0.1)
    assert sim.save(state) is state and state.time == sim.time and not np.array_equal(state.x, x)
    with pytest.raises(TypeError):
        sim.save("here")


def test_files(sim, make, tmp_path):
    sim.advance(0.1)
    sim.save().write(tmp_path / "bar.rbt")
    other = make()
    other.restore(rubato.read_state(tmp_path / "bar.rbt"))
    sim.step()
    other.step()
    assert same_bits(sim, other)
    assert (tmp_path / "bar.rbt").read_bytes()[:8] == b"RBTCKPT1"


def test_files_that_are_not_there(sim, tmp_path):
    with pytest.raises(rubato.Error, match="nothing.rbt"):
        rubato.read_state(tmp_path / "nothing.rbt")
    with pytest.raises(rubato.Error):
        sim.save().write(tmp_path / "no/such/folder.rbt")
    with pytest.raises(TypeError):
        sim.save().write(3)


def test_damaged_bytes(sim):
    """Every bit is guarded by a checksum."""
    good = sim.save().to_bytes()
    load = rubato._rubato._load_state
    random = np.random.default_rng(1)
    for _ in range(200):
        bad = bytearray(good)
        bad[random.integers(len(bad))] ^= 1 << random.integers(8)
        with pytest.raises(rubato.Error):
            load(bytes(bad))
    for size in (0, 7, 100, len(good) - 1):
        with pytest.raises(rubato.Error):
            load(good[:size])
    with pytest.raises(TypeError):
        load("text")


@pytest.mark.parametrize("change", [{"integrator.method": "bdf2"}, {"time.step": 0.005},
                                    {"bodies[0].material.young": 1e4}])
def test_states_of_another_scene_are_refused(sim, change):
    other = rubato.load(scene(), change)
    before = other.x.copy()
    with pytest.raises(rubato.Error, match="made"):
        other.restore(sim.save())
    assert np.array_equal(other.x, before)
    with pytest.raises(TypeError):
        other.restore(None)


def test_restored_arrays_follow(sim):
    x = sim.x
    state = sim.save()
    sim.advance(0.1)
    sim.restore(state)
    assert np.array_equal(x, state.x) and sim.time == 0


def test_clones_are_independent(sim):
    clone = sim.clone()
    assert type(clone) is rubato.Simulation and clone.scene is sim.scene
    clone.advance(0.1)
    assert sim.time == 0 and clone.time > 0 and not np.shares_memory(sim.x, clone.x)
    sim.close()
    clone.step()


def test_simulations_are_pickled(sim):
    sim.advance(0.1)
    again = pickle.loads(pickle.dumps(sim))
    sim.step()
    again.step()
    assert same_bits(sim, again) and again.threads == sim.threads


def test_rollouts_from_one_state(make):
    sim = make("gripped")
    sim.advance(0.05)
    state, ends = sim.save(), []
    for speed in (-0.5, 0, 0.5, 0):
        sim.restore(state)
        sim.driven["grip"].move(velocity=[0, speed, 0])
        sim.advance(0.15)
        ends.append(sim.x[:, 1].mean())
    assert ends[0] < ends[1] < ends[2] and ends[1] == ends[3]
