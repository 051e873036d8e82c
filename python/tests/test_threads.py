"""Several Python threads: each with a simulation of its own, or one who is told that it is not alone."""

import multiprocessing
import threading
import time

import numpy as np
import pytest

import rubato
from conftest import same_bits, scene


def long_scene():
    """Steps of some ten milliseconds."""
    description = scene()
    description["bodies"][0]["mesh"]["shape"]["bar"]["cells"] = [16, 6, 6]
    description["integrator"] = {"method": "backward-euler"}
    return rubato.Scene(description)


def in_threads(functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_rollouts_in_threads(make):
    sim = make("gripped")
    sim.advance(0.05)
    clones = [sim.clone() for _ in range(8)]

    def roll(clone, speed):
        clone.driven["grip"].move(velocity=[0, speed, 0])
        for _ in range(20):
            clone.step()

    in_threads([lambda c=c, k=k: roll(c, 0.1 * k) for k, c in enumerate(clones)])
    for k, clone in enumerate(clones):
        other = sim.clone()
        roll(other, 0.1 * k)
        assert same_bits(clone, other)


def test_clones_made_in_threads(make):
    sim, ends = make("gripped"), [None] * 8

    def roll(k):
        clone = sim.clone()
        clone.advance(sim.time + 0.1)
        ends[k] = clone

    in_threads([lambda k=k: roll(k) for k in range(8)])
    sim.advance(0.1)
    assert all(same_bits(sim, clone) for clone in ends)


def test_other_threads_run_while_it_steps():
    sim = rubato.load(long_scene(), threads=1)
    counts, done = [], threading.Event()

    def count():
        while not done.is_set():
            counts.append(time.monotonic())
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    sim.step()
    end = time.monotonic()
    done.set()
    counter.join()
    assert any(begin < moment < end for moment in counts)


def busy_calls(sim):
    return [lambda: sim.step(), lambda: sim.energies, lambda: sim.save(), lambda: sim.clone(), lambda: sim.time,
            lambda: sim.close(), lambda: sim.reactions(), lambda: sim.restore(None), lambda: sim.render(),
            lambda: sim.bodies["bar"].selection("left"), lambda: setattr(sim, "threads", 1)]


def test_one_simulation_in_two_threads():
    sim = rubato.load(long_scene(), threads=1)
    x = sim.x
    before = x.copy()
    state = sim.save()
    thread = threading.Thread(target=lambda: [sim.step() for _ in range(3)])
    thread.start()
    refused, calls = 0, busy_calls(sim)
    calls[7] = lambda: sim.restore(state)
    time.sleep(0.005)
    while thread.is_alive() and refused < len(calls):
        try:
            calls[refused]()
            break  # the thread was between two steps
        except rubato.Busy:
            refused += 1
        except rubato.Stale:
            break
        assert np.isfinite(x).all()
        assert np.array_equal(sim.x, x) or not thread.is_alive() or not np.array_equal(x, before)
    thread.join()
    assert refused > 0
    if not sim.closed:
        repr(sim)
        sim.step()


def test_stop_from_another_thread():
    sim = rubato.load(long_scene(), threads=1)
    sim.step()
    caught = []

    def run():
        try:
            sim.advance(1000)
        except rubato.Stopped as stopped:
            caught.append(stopped)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    sim.stop()
    thread.join()
    assert len(caught) == 1 and caught[0].report.outcome == "stopped" and isinstance(caught[0], rubato.StepFailed)
    before = sim.time
    sim.step()
    assert sim.time > before


def test_stop_before_a_step(sim):
    sim.stop()
    with pytest.raises(rubato.Stopped):
        sim.step()
    assert sim.time == 0
    sim.step()
    assert sim.time > 0


def test_scenes_are_shared_by_threads():
    shared, sims = rubato.Scene(scene()), [None] * 6

    def build(k):
        sims[k] = rubato.load(shared, threads=1)
        sims[k].advance(0.1)

    in_threads([lambda k=k: build(k) for k in range(6)])
    assert all(same_bits(sims[0], sim) for sim in sims)


def _advance(sim, queue):
    """The simulation of the parent, and one of its own."""
    sim.advance(0.2)
    sim.energies, sim.render(size=(32, 32))
    other = rubato.load(scene(), threads=2)
    other.threads = 2
    other.advance(0.2)
    queue.put((sim.x.tobytes(), other.x.tobytes()))


def test_forked_processes():
    """OpenMP's threads do not survive a fork; a forked process steps with one."""
    sim = rubato.load(scene(), threads=2)
    sim.step()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_advance, args=(sim, queue))
    child.start()
    theirs = queue.get(timeout=60)
    child.join()
    sim.advance(0.2)
    assert theirs == (sim.x.tobytes(), sim.x.tobytes())


def test_garbage_of_threads():
    """Simulations that die in a thread, while another steps."""
    shared = rubato.Scene(scene())

    def churn():
        for _ in range(20):
            rubato.load(shared, threads=1).step()

    in_threads([churn] * 4)
