"""Ctrl-C during a step."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import rubato
from conftest import same_bits
from test_threads import long_scene


def interrupt_after(seconds):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_keyboard_interrupt():
    sim, other = (rubato.load(long_scene(), threads=1) for _ in range(2))
    interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        sim.advance(10000)
    other.advance(sim.time)
    assert same_bits(sim, other)  # that of the last whole step
    sim.step()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_raises_nothing():
    """The step is taken again, and nobody notices."""
    sim, other = (rubato.load(long_scene(), threads=1) for _ in range(2))
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(sim.time))
    try:
        interrupt_after(0.05)
        begin = time.monotonic()
        while not heard and time.monotonic() < begin + 60:
            report = sim.advance(sim.time + 3 * sim.dt)
            assert report.outcome == "done"
    finally:
        signal.signal(signal.SIGINT, before)
    other.advance(sim.time)
    assert heard and same_bits(sim, other)


def test_interrupt_in_a_frame_and_in_callbacks():
    sim = rubato.load(long_scene(), threads=1)
    sim.after_step.append(lambda s: None)
    interrupt_after(0.05)
    with pytest.raises(KeyboardInterrupt):
        while True:
            sim.advance_frame()
    sim.after_step.clear()
    sim.step()


def test_a_program_ends_with_ctrl_c():
    """As in a shell: the process is sent SIGINT in the middle of an endless advance."""
    program = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import rubato
        from test_threads import long_scene
        sim = rubato.load(long_scene(), threads=1)
        print("ready", flush=True)
        sim.advance(1e6)
    """)
    process = subprocess.Popen([sys.executable, "-c", program, os.path.dirname(os.path.abspath(__file__))],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in said and process.returncode == -signal.SIGINT


def test_ignored_interrupts_stay_ignored(sim):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupt_after(0.01)
        begin = time.monotonic()
        while time.monotonic() < begin + 0.1:
            sim.step()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
