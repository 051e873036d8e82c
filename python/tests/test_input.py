"""Driven nodes, obstacles, springs that drag, and materials, from Python."""

import numpy as np
import pytest

import rubato
from conftest import same_bits


def test_move_to(make):
    sim = make("gripped")
    grip = sim.driven["grip"].nodes
    before = sim.x[grip].copy()
    sim.driven["grip"].move_to([0, 0.1, 0], 0.1)
    sim.advance(0.05)
    assert np.allclose(sim.x[grip], before + [0, 0.05, 0])
    sim.advance(0.2)
    assert np.allclose(sim.x[grip], before + [0, 0.1, 0])


def test_move_and_halt(make):
    sim = make("gripped")
    grip = sim.driven[0].nodes
    before = sim.x[grip].copy()
    sim.driven[0].move(velocity=[0.5, 0, 0])
    sim.advance(0.1)
    sim.driven[0].halt()
    sim.advance(0.2)
    assert np.allclose(sim.x[grip], before + [0.05, 0, 0])


def test_turning(make):
    sim = make("gripped")
    grip = sim.driven["grip"].nodes
    centre = sim.x[grip].mean(axis=0)
    before = sim.x[grip] - centre
    sim.driven["grip"].move(spin=[np.pi / 2, 0, 0], about=centre, duration=1)
    sim.advance(1.2)
    after = sim.x[grip] - centre
    assert np.allclose(after, np.stack([before[:, 0], -before[:, 2], before[:, 1]], axis=1), atol=1e-9)


@pytest.mark.parametrize("arguments, kind", [
    (dict(velocity=[1, 2]), ValueError), (dict(velocity=3), TypeError), (dict(velocity=["a", 0, 0]), TypeError),
    (dict(velocity=[np.nan, 0, 0]), rubato.Error), (dict(duration=-1), rubato.Error), (dict(speed=3), TypeError),
])
def test_wrong_motions(make, arguments, kind):
    sim, other = make("gripped"), make("gripped")
    with pytest.raises(kind):
        sim.driven["grip"].move(**arguments)
    with pytest.raises(rubato.Error):
        sim.driven["grip"].move_to([0, 0, 0], 0)
    sim.step()
    other.step()
    assert same_bits(sim, other)


def test_groups_that_are_not_there(make):
    sim = make("gripped")
    assert len(sim.driven) == 1 and sim.driven.keys() == ["grip"]
    with pytest.raises(KeyError, match="grip"):
        sim.driven["grap"]
    with pytest.raises(IndexError):
        sim.driven[1]
    assert len(make().driven) == 0


def test_obstacles_move_where_there_is_contact(make):
    sim = make("stack")
    assert len(sim.obstacles) == 2
    sim.obstacles[1].move(velocity=[-5, 0, 0], duration=0.19)
    sim.advance(0.3)
    assert sim.bodies["top"].x[:, 0].mean() < -0.01


def test_obstacles_do_not_move_elsewhere(make):
    sim = rubato.load({**_without_contact()})
    with pytest.raises(rubato.Error, match="contact"):
        sim.obstacles[0].move(velocity=[0, 1, 0])


def _without_contact():
    from conftest import scene
    description = scene("stack")
    del description["contact"]
    return description


def test_drag(make):
    sim, other = make(), make()
    bar = sim.bodies["bar"]
    bar.drag("tip", [0.2, 0.3, 0], 300)
    sim.advance(0.2)
    other.advance(0.2)
    assert sim.x[bar.selection("tip"), 1].mean() > other.x[bar.selection("tip"), 1].mean() + 1e-3
    bar.drag("tip", [0, 0, 0], 0)
    for wrong in (("tip", [0, 0, 0], -1), ("tap", [0, 0, 0], 1), ("tip", [0, 0, 0], 1e12)):
        with pytest.raises(rubato.Error):
            bar.drag(*wrong)


def test_materials(make):
    sim, other = make(), make()
    sim.bodies["bar"].set_material(young=5e4)
    sim.advance(0.2)
    other.advance(0.2)
    assert sim.x[:, 1].min() < other.x[:, 1].min() - 1e-3
    with pytest.raises(rubato.Error):
        sim.bodies["bar"].set_material(young=-1)
    with pytest.raises(rubato.Error):
        sim.bodies["bar"].set_material("no such region", young=1)


def test_what_was_set_belongs_to_states(make):
    sim, other = make("gripped"), make("gripped")
    sim.driven["grip"].move(velocity=[0, 0.3, 0])
    sim.bodies["bar"].set_material(young=1e5)
    sim.forces[-1] = [1, 0, 0]
    sim.step()
    other.restore(sim.save())
    sim.advance(0.2)
    other.advance(0.2)
    assert same_bits(sim, other) and np.array_equal(sim.forces, other.forces)
