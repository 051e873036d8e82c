"""Asking: bodies, selections, masses, energies, reactions, contacts, probes, times."""

import numpy as np
import pytest

import rubato
from conftest import method_sim, scene


def test_bodies(make):
    sim = make("stack")
    assert len(sim.bodies) == 2 and sim.bodies.keys() == ["low", "top"] and "low" in sim.bodies
    top = sim.bodies["top"]
    assert top.name == "top" and top.kind == "solid" and top.number == 1 and top.slice == slice(8, 16)
    assert top.nodes.tolist() == list(range(8, 16)) and np.array_equal(top.x, sim.x[8:16])
    assert top.mass == pytest.approx(1) and top.volume == pytest.approx(1e-3) and top.masses.sum() == pytest.approx(1)
    assert top.tets.min() == 8 and top.triangles.shape == (12, 3) and [b.name for b in sim.bodies] == ["low", "top"]
    assert sim.bodies[-1].name == "top" and sim.bodies[np.int64(0)].name == "low"


@pytest.mark.parametrize("key, kind", [("middle", KeyError), (2, IndexError), (-3, IndexError), (1.5, TypeError)])
def test_bodies_that_are_not_there(make, key, kind):
    with pytest.raises(kind):
        make("stack").bodies[key]


def test_selections(sim):
    bar = sim.bodies["bar"]
    assert {"left", "right", "tip"} <= set(bar.selections)
    assert np.array_equal(bar.selection("tip"), bar.selection("right"))
    assert np.allclose(sim.x[bar.selection("left"), 0], sim.x[:, 0].min())
    with pytest.raises(rubato.Error, match="middle"):
        bar.selection("middle")
    with pytest.raises(TypeError):
        bar.selection(3)


def test_constrained(sim):
    assert sim.constrained.dtype == bool and np.flatnonzero(sim.constrained).tolist() == sorted(
        sim.bodies["bar"].selection("left"))


def test_energies(sim):
    start = sim.energies
    sim.advance(0.08)
    now = sim.energies
    assert now.total == pytest.approx(now.kinetic + now.elastic + now.gravity + now.contact)
    assert now.kinetic == pytest.approx(0.5 * (sim.masses[:, None] * sim.v ** 2).sum())
    assert now.momentum == pytest.approx((sim.masses[:, None] * sim.v).sum(axis=0))
    assert now.angular_momentum.shape == (3,) and now.total <= start.total + 1e-9 and now.friction == 0


def test_gravity_and_reactions_balance(make):
    sim = make(**{"bodies[0].damping.mass": 20, "time.step": 0.02})
    sim.advance(4)
    weight = 9.80665 * sim.bodies["bar"].mass
    assert sim.reactions().shape == (20, 3)
    assert sim.reactions("left") == pytest.approx([0, weight, 0], abs=0.02 * weight)
    assert sim.reactions("bar.left")[1] == sim.reactions("left")[1]
    assert not sim.reactions()[~sim.constrained].any()


def test_reactions_of_driven_nodes(make):
    sim = make("gripped", **{"bodies[0].damping.mass": 20, "time.step": 0.02})
    sim.advance(4)
    weight = 9.80665 * sim.bodies["bar"].mass
    assert sim.reactions("grip")[1] == pytest.approx(weight, rel=0.02)
    assert np.array_equal(sim.driven["grip"].reaction, sim.reactions("grip"))
    assert np.array_equal(sim.driven["grip"].nodes, sim.bodies["bar"].selection("left"))


def test_reactions_of_nothing(make):
    with pytest.raises(KeyError, match="grap"):
        make("gripped").reactions("grap")
    with pytest.raises(KeyError, match="several"):
        make("stack").reactions("left")
    assert make("stack").reactions("low.left").shape == (3,)


def test_no_contacts_without_contact(sim):
    assert len(sim.contacts) == 0 and sim.contacts.dtype.names[0] == "body_a" and not sim.contact_forces.any()


def test_contacts(make):
    sim = make("stack", **{"bodies[0].damping.mass": 5, "bodies[1].damping.mass": 5})
    sim.advance(1)
    contacts = sim.contacts
    on_plane = contacts[(contacts["body_a"] == -1) | (contacts["body_b"] == -1)]
    weight = 9.80665 * 2
    assert len(contacts) > 4 and (contacts["force"] > 0).all() and (contacts["gap"] > 0).all()
    assert on_plane["force"].sum() == pytest.approx(weight, rel=0.05)
    assert np.allclose(np.linalg.norm(contacts["normal"], axis=1), 1)
    assert contacts["point"].shape == (len(contacts), 3) and contacts["nodes"].shape == (len(contacts), 4)
    assert sim.contact_forces.sum(axis=0)[1] == pytest.approx(weight, rel=0.05)
    assert sim.energies.contact > 0


def test_probes():
    description = scene()
    description["probes"] = [{"name": "tip", "body": "bar", "where": "right"}]
    sim = rubato.load(description)
    sim.advance(0.1)
    tip = sim.bodies["bar"].selection("right")
    share = sim.masses[tip] / sim.masses[tip].sum()
    assert list(sim.probes) == ["tip"]
    assert sim.probes["tip"]["position"] == pytest.approx((share[:, None] * sim.x[tip]).sum(axis=0))
    assert sim.probes["tip"]["velocity"] == pytest.approx((share[:, None] * sim.v[tip]).sum(axis=0))
    assert not sim.probes["tip"]["reaction"].any() and rubato.load(scene()).probes == {}


def test_stage_times_and_statistics(sim):
    assert sim.stage_times == {}
    sim.advance(0.1)
    assert sim.stage_times["factor"] > 0 and sim.statistics["iterations"] >= 10


def test_notes_tell_of_what_is_doubtful():
    sim = method_sim("symplectic-euler")
    assert sim.notes == [] and all(isinstance(note, str) for note in sim.notes)


def test_tables():
    assert rubato.methods()["backward-euler"][0] == "newton" and len(rubato.methods()) >= 11
    assert "stable-neo-hookean" in rubato.materials()


def test_displacements(sim):
    sim.advance(0.1)
    assert np.abs(sim.x - sim.rest).max() > 1e-4 and not (sim.x - sim.rest)[sim.constrained].any()
