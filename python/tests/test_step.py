"""Steps, frames, times, callbacks, and steps that fail."""

import pickle

import numpy as np
import pytest

import rubato
from conftest import METHODS, method_sim, same_bits, scene


@pytest.mark.parametrize("method", METHODS)
def test_every_method_steps(method):
    sim = method_sim(method)
    report = sim.step()
    assert report.outcome == "done" and report.steps == 1 and sim.time == pytest.approx(sim.dt)


def test_report(sim):
    report = sim.advance(0.2)
    assert report.steps == 20 and report.halvings == 0 and report.stage == "done" and report.hint == ""
    assert report.statistics["iterations"] >= 20 and report.body == -1 and report.unconverged == 0
    assert "20 steps" in repr(report) and sim.time == pytest.approx(0.2)
    again = pickle.loads(pickle.dumps(report))
    assert again.steps == 20 and again.stage == "done" and again.statistics == report.statistics
    with pytest.raises(AttributeError):
        report.steps = 3
    with pytest.raises(TypeError):
        type(report)()


def test_advance_is_many_steps(sim, make):
    other = make()
    sim.advance(0.1)
    for _ in range(10):
        other.step()
    assert same_bits(sim, other)


def test_advance_stops_inside_a_step(sim):
    sim.advance(0.015)
    assert sim.time == 0.015
    sim.step()
    assert sim.time == pytest.approx(0.02)


@pytest.mark.parametrize("time, kind", [(0.05, ValueError), (np.nan, ValueError), (np.inf, ValueError),
                                        ("soon", TypeError), (None, TypeError)])
def test_times_that_cannot_be(sim, time, kind):
    sim.advance(0.1)
    with pytest.raises(kind):
        sim.advance(time)
    assert sim.time == pytest.approx(0.1)


def test_the_present_time_does_nothing(sim):
    sim.advance(0.1)
    before = sim.x.copy()
    assert sim.advance(0.1).steps == 0 and np.array_equal(sim.x, before)


def test_frames(sim, make):
    frames = list(sim.frames())
    assert [frame.number for frame in frames] == list(range(11)) and frames[0].report is None
    assert frames[3].time == pytest.approx(0.12) and frames[3].report.steps == 4
    other = make()
    other.advance(0.12)
    assert np.array_equal(frames[3].x, other.x) and np.array_equal(frames[3].v, other.v)


def test_frames_are_copies(sim):
    first, second = [frame for frame in sim.frames(until=1)]
    assert not np.shares_memory(first.x, sim.x) and not np.array_equal(first.x, second.x)


def test_frames_from_the_middle(sim):
    sim.step()
    assert [frame.number for frame in sim.frames(until=2)] == [1, 2]
    assert [frame.number for frame in sim.frames(until=2)] == [2] and list(sim.frames(until=1)) == []


def test_run(sim):
    assert sim.run().outcome == "done" and sim.frame == sim.frame_count == 10 and sim.run() is None


@pytest.mark.parametrize("way", ["step", "advance", "frame"])
def test_callbacks_change_no_bit(sim, make, way):
    times = []
    sim.before_step.append(lambda s: times.append(("before", s.time)))
    sim.after_step.append(lambda s: times.append(("after", s.time)))
    other = make()
    for s in (sim, other):
        if way == "step":
            for _ in range(4):
                s.step()
        elif way == "advance":
            s.advance(0.02)
            s.advance(0.034)
            s.advance(0.04)
        else:
            s.advance_frame()
    assert same_bits(sim, other)
    assert len(times) == (10 if way == "advance" else 8) and [kind for kind, _ in times[:2]] == ["before", "after"]
    assert times[-1][1] == sim.time


def test_report_with_callbacks(sim):
    sim.after_step.append(lambda s: None)
    report = sim.advance(0.1)
    assert report.steps == 10 and report.outcome == "done" and report.statistics["iterations"] >= 10


def test_callbacks_control(sim, make):
    def push(s):
        s.forces[:, 1] = 100 * s.masses

    sim.before_step.append(push)
    other = make()
    sim.advance(0.1)
    other.advance(0.1)
    assert sim.x[:, 1].mean() > other.x[:, 1].mean()


def test_exceptions_of_callbacks(sim):
    def trouble(s):
        if s.time > 0.025:
            raise KeyError("enough")

    sim.after_step.append(trouble)
    with pytest.raises(KeyError, match="enough"):
        sim.advance(0.1)
    assert sim.time == pytest.approx(0.03)
    sim.after_step.clear()
    sim.advance(0.1)


def test_callbacks_cannot_step(sim):
    sim.after_step.append(lambda s: s.step())
    with pytest.raises(rubato.Error, match="callback"):
        sim.step()
    sim.after_step[:] = [lambda s: s.clone().step()]
    sim.step()


def test_callbacks_are_no_part_of_clones(sim):
    sim.after_step.append(lambda s: 1 / 0)
    clone = sim.clone()
    clone.step()
    assert clone.after_step == []


def test_step_failed():
    sim = method_sim("symplectic-euler", **{"time.step": 0.01, "time.frame": 0.04})
    with pytest.raises(rubato.StepFailed) as caught:
        sim.advance(0.4)
    failure = caught.value
    assert isinstance(failure, rubato.Error) and failure.report.outcome == "unstable" and failure.report.hint
    assert "unstable" in str(failure) and failure.report.hint in str(failure)
    assert np.isfinite(sim.x).all()


def test_step_failed_is_pickled():
    sim = method_sim("symplectic-euler", **{"time.step": 0.01, "time.frame": 0.04})
    with pytest.raises(rubato.StepFailed) as caught:
        sim.advance(0.4)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.report.outcome == "unstable" and str(again) == str(caught.value)


def test_steps_that_fail_leave_the_last_good_state(make):
    """A grip that is torn away at once inverts elements whose material forbids it."""
    sim = make("gripped", **{"bodies[0].material.model": "neo-hookean", "integrator.max_halvings": 0,
                             "integrator.options": {"max_iterations": 4}})
    sim.step()
    before, time = sim.x.copy(), sim.time
    sim.driven["grip"].move(velocity=[300, 0, 0])
    with pytest.raises(rubato.StepFailed) as caught:
        sim.step()
    assert np.array_equal(sim.x, before) and sim.time == time and caught.value.report.outcome != "done"
    sim.driven["grip"].halt()
    sim.step()


def test_accepted_steps_that_did_not_converge_are_counted():
    sim = rubato.load(scene(), {"integrator.options": {"max_iterations": 1, "at_cap": "continue", "tolerance": 1e-12}})
    assert sim.advance(0.1).unconverged > 0


def test_threads_of_a_step_change_no_bit(sim, make):
    other = make(threads=2)
    assert other.threads == 2
    sim.advance(0.2)
    other.advance(0.2)
    assert same_bits(sim, other)
    for bad in (-1, 100000):
        with pytest.raises(rubato.Error):
            sim.threads = bad
    with pytest.raises(TypeError):
        sim.threads = "two"


def test_context_manager():
    with rubato.load(scene()) as sim:
        sim.step()
    assert sim.closed and repr(sim) == "<rubato.Simulation, closed>"


def test_repr(sim):
    assert repr(sim) == "<rubato.Simulation: backward-euler, 20 nodes, at 0 s>"


def test_making_one_by_hand():
    made = rubato.Simulation(rubato.Scene(scene()), 1)
    made.step()
    for wrong in ((), (scene(),), (None,), (rubato.Scene(scene()), "two")):
        with pytest.raises(TypeError):
            rubato.Simulation(*wrong)
