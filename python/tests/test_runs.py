"""Whole runs, their folders, comparisons, sweeps and the command."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import rubato
from conftest import same_bits, scene
from rubato import _vtu

pytestmark = pytest.mark.slow  # processes of their own, and Python code


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    description = scene()
    description["probes"] = [{"name": "tip", "body": "bar", "where": "right"}]
    return rubato.run(description, tmp_path_factory.mktemp("runs") / "bar", threads=1)


def test_run(run):
    assert run.status == "finished" and len(run.frames) == 11 and run.info["frame"] == 10
    assert run.times == pytest.approx(np.arange(11) * 0.04) and "11 frames" in repr(run)


def test_frames_are_those_of_a_simulation(run):
    sim = rubato.load(run.scene, threads=1)
    for mine, theirs in zip(sim.frames(), run):
        assert np.array_equal(mine.x, theirs.x) and np.array_equal(mine.v, theirs.v)
        assert mine.time == pytest.approx(theirs.time) and theirs.number == mine.number
    assert np.array_equal(run.frames[-1].tets, sim.tets)


def test_arrays_of_a_frame(run):
    frame = run.frames[5]
    assert {"x", "velocity", "displacement", "tets", "von_mises", "body", "region", "time"} <= set(frame.keys())
    assert frame["von_mises"].shape == (24,) and frame["body"].dtype == np.int32 and frame["time"] == frame.time
    assert frame["displacement"] == pytest.approx(frame.x - run.frames[0].x)
    with pytest.raises(KeyError, match="colour"):
        frame["colour"]
    with pytest.raises(IndexError):
        run.frames[11]
    assert [f.number for f in run.frames[2:4]] == [2, 3]


def test_all_positions(run):
    assert run.positions().shape == (11, 20, 3) and np.array_equal(run.positions()[3], run.frames[3].x)


def test_energies(run):
    table = run.energies
    assert len(table) == 11 and {"frame", "time", "kinetic", "elastic", "total", "px", "lz"} <= set(table.dtype.names)
    assert np.allclose(table["kinetic"] + table["elastic"] + table["gravity"] + table["contact"], table["total"])
    assert table["time"] == pytest.approx(run.times)


def test_probes(run):
    assert any(name.startswith("tip") or name == "probe" for name in run.probes.dtype.names) and len(run.probes) == 11


def test_states_of_checkpoints(run):
    sim = rubato.load(run.scene, threads=1)
    sim.restore(run.state())
    assert sim.frame == 10 and np.array_equal(sim.x, run.frames[10].x)
    with pytest.raises(rubato.Error, match="checkpoint"):
        run.state(99)


def test_pictures_and_plots(run, tmp_path):
    sheet = run.render(frames=[0, 5, 10], size=(60, 40), columns=3)
    assert sheet.shape[1] > 180 and run.render(size=(60, 40), frames="0").shape == (40, 60, 3)
    run.render(tmp_path / "run.png", animate=True, every=5, size=(60, 40))
    assert b"acTL" in (tmp_path / "run.png").read_bytes()
    assert run.plot(tmp_path / "energy.svg").startswith("<") and (tmp_path / "energy.svg").stat().st_size > 1000
    assert rubato.plot(run, run.folder)._repr_svg_().count("<svg") == 1
    with pytest.raises(ValueError):
        rubato.plot()
    with pytest.raises(rubato.Error):
        rubato.plot(tmp_path)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_kinds_of_vtu_files(tmp_path, compress, single):
    made = rubato.run(scene(), tmp_path / "run", frames=2, threads=1,
                      set={"output.compress": compress, "output.single_precision": single})
    sim = rubato.load(made.scene, threads=1)
    sim.advance(0.08)
    error = np.abs(made.frames[2].x - sim.x).max()
    assert error == 0 if not single else 0 < error < 1e-7
    assert np.array_equal(made.frames[2].tets, sim.tets)


def test_damaged_vtu_files(run, tmp_path):
    """Whatever bytes there are: arrays or an exception of rubato."""
    good = open(run.frames[1].file, "rb").read()
    compressed = rubato.run(scene(), tmp_path / "run", frames=1, threads=1, set={"output.compress": True})
    packed = open(compressed.frames[1].file, "rb").read()
    random = np.random.default_rng(3)
    path, refused = tmp_path / "bad.vtu", 0
    for i in range(300):
        bad = bytearray((good, packed)[i % 2])
        for _ in range(random.integers(1, 4)):
            bad[random.integers(len(bad) if i % 3 else 1500)] = random.integers(256)
        if i % 5 == 0:
            bad = bad[:random.integers(len(bad))]
        path.write_bytes(bad)
        try:
            assert "x" in _vtu.read(path)
        except rubato.Error:
            refused += 1
    assert refused > 50


def test_tables_that_are_being_written(run, tmp_path):
    os.makedirs(tmp_path / "half")
    text = open(os.path.join(run.folder, "energy.csv"), encoding="utf-8").read()
    for name in ("run.json", "frames.pvd"):
        with open(os.path.join(run.folder, name), encoding="utf-8") as file:
            (tmp_path / "half" / name).write_text(file.read())
    (tmp_path / "half/energy.csv").write_text(text[:-20])
    assert len(rubato.open_run(tmp_path / "half").energies) == 10
    for bad in ("", "a,a\n1,2\n", "a,b\n1\n", "\xff"):
        (tmp_path / "half/energy.csv").write_bytes(bad.encode("latin-1"))
        with pytest.raises(rubato.Error):
            rubato.open_run(tmp_path / "half").energies


def test_folders_that_are_no_runs(tmp_path):
    for folder in (tmp_path, tmp_path / "nothing", __file__):
        with pytest.raises(rubato.Error):
            rubato.open_run(folder)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(rubato.Error):
        rubato.open_run(tmp_path).info
    (tmp_path / "frames.pvd").write_text("<VTKFile><Collection><DataSet/></Collection></VTKFile>")
    with pytest.raises(rubato.Error):
        rubato.open_run(tmp_path).frames


def test_run_with_meshes_from_memory_and_progress(tmp_path):
    description, events = scene(), []
    description["bodies"][0]["mesh"] = rubato.Mesh.generate("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1])
    made = rubato.run(description, tmp_path / "run", frames=2, progress=events.append)
    assert [e["event"] for e in events] == ["start", "frame", "frame"] and len(made.frames) == 3
    sim = rubato.load(description, threads=1)
    sim.advance(0.08)
    assert np.array_equal(made.frames[2].x, sim.x)


def test_resume(tmp_path):
    path = tmp_path / "bar.json"
    path.write_text(json.dumps(scene()))
    rubato.run(path, tmp_path / "run", frames=4)
    whole = rubato.run(path, tmp_path / "run", resume=True)
    sim = rubato.load(path, threads=1)
    sim.run()
    assert len(whole.frames) == 11 and np.array_equal(whole.frames[-1].x, sim.x)


def test_runs_that_fail(tmp_path):
    with pytest.raises(rubato.Error, match="unstable"):
        rubato.run(scene(), tmp_path / "run", set={"integrator.method": "symplectic-euler", "time.step": 0.02})
    assert rubato.open_run(tmp_path / "run").status != "finished"
    with pytest.raises(rubato.Error, match="young"):
        rubato.run(scene(), tmp_path / "other", set={"bodies[0].material.young": -1})
    with pytest.raises(rubato.Error):
        rubato.run("no such scene.json", tmp_path / "other")


def test_a_listener_that_raises(tmp_path):
    def enough(event):
        if event["event"] == "frame":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rubato.run(scene(), tmp_path / "run", progress=enough)


def test_compare(tmp_path):
    study = rubato.compare(scene(), ["semi-implicit", "backward-euler@0.005"], tmp_path / "study", frames=3, threads=1)
    assert len(study) == 2 and study.rows[0]["name"] == "semi-implicit"
    assert len(study.run("backward-euler@0.005").frames) == 4 and study._repr_svg_().startswith("<")
    with pytest.raises(KeyError):
        study.run("nothing")
    with pytest.raises(rubato.Error, match="semi"):
        rubato.compare(scene(), ["semi-implicite"], tmp_path / "other")


def test_sweep(tmp_path):
    study = rubato.sweep(scene(), {"bodies[0].material.young": [1e5, 1e6], "time.step": [0.02, 0.01]},
                         tmp_path / "study", frames=3, threads=1)
    assert len(study) == 4 and "4 runs" in repr(study)
    sag = [study.run(i).frames[-1].x[:, 1].min() for i in range(4)]
    assert sag[0] < sag[2] and sag[1] < sag[3]


def test_progress_bar():
    import io
    from rubato.__main__ import Bar

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    bar = Bar(stream)
    bar({"event": "start", "frame": 0, "last_frame": 4, "method": "bdf2", "step": 0.01, "nodes": 3, "tets": 1,
         "threads": 2})
    for frame in range(1, 5):
        bar({"event": "frame", "frame": frame, "time": 0.04 * frame})
    assert "bdf2" in stream.getvalue() and "[" + 15 * "#" + 15 * "." + "] frame 2 of 4" in stream.getvalue()
    assert 30 * "#" in stream.getvalue()
    bar.end()
    quiet = Bar(io.StringIO())
    quiet({"event": "frame", "frame": 1, "time": 0.04})
    assert quiet.stream.getvalue() == ""


def _main(*words, cwd):
    package = os.path.dirname(os.path.dirname(os.path.abspath(rubato.__file__)))
    return subprocess.run([sys.executable, "-m", "rubato", *map(str, words)], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, "PYTHONPATH": package})


def test_python_m_rubato(tmp_path):
    (tmp_path / "bar.json").write_text(json.dumps(scene()))
    done = _main("bar.json", "-n", 3, "--set", "integrator.method=bdf2", "-t", 1, cwd=tmp_path)
    assert done.returncode == 0 and "4 frames in out/bar" in done.stdout and "bdf2" in done.stderr
    assert rubato.open_run(tmp_path / "out/bar").status == "finished"


@pytest.mark.parametrize("words, code, said", [
    ((), 2, "usage"), (("--help",), 0, "usage"), (("bar.json", "--sot"), 2, "--sot"), (("bar.json", "-n"), 2, "value"),
    (("bar.json", "-n", "x"), 2, "whole"), (("nothing.json",), 1, "nothing.json"),
    (("bar.json", "--set", "x"), 2, "PATH"), (("methods",), 0, "backward-euler"),
])
def test_words_of_the_command_line(tmp_path, words, code, said):
    (tmp_path / "bar.json").write_text(json.dumps(scene()))
    done = _main(*words, cwd=tmp_path)
    assert done.returncode == code and said in done.stdout + done.stderr and "Traceback" not in done.stderr
