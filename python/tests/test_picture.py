"""Pictures as arrays and PNG, plots as SVG."""

import struct
import zlib

import numpy as np
import pytest

import rubato
from conftest import scene


def read_png(data):
    """(height x width x 3) of a PNG without filters, as rubato.Picture writes it."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_render_is_an_array(sim, make):
    other = make()
    picture = sim.render(size=(160, 120))
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8 and np.ptp(picture) > 100
    sim.step()
    other.step()
    assert np.array_equal(sim.x, other.x)  # looking changes no bit


def test_png(sim, tmp_path):
    picture = sim.render(tmp_path / "bar.png", size=(80, 60))
    assert np.array_equal(read_png((tmp_path / "bar.png").read_bytes()), picture)
    assert np.array_equal(read_png(picture._repr_png_()), picture)
    assert read_png(sim._repr_png_()).shape == (480, 640, 3)
    assert not (tmp_path / "bar.png.new").exists()


def test_pictures_show_the_state(sim):
    before = sim.render(size=(80, 60), ground=False)
    sim.advance(0.2)
    assert not np.array_equal(before, sim.render(size=(80, 60), ground=False))
    sim.x[:, 2] += 0.05 * sim.x[:, 0]  # what is written is seen at once
    assert not np.array_equal(sim.render(size=(80, 60)), before)


@pytest.mark.parametrize("color", ["plain", "displacement", "velocity", "stress", "region", "body", "quality"])
def test_colours(sim, color):
    sim.advance(0.1)
    assert np.ptp(sim.render(size=(80, 60), color=color)) > 50


def test_options(sim):
    plain = sim.render(size=(80, 60))
    for options in (dict(view="top"), dict(view="10,20"), dict(zoom=2.0), dict(ground=False), dict(ground=-0.5),
                    dict(edges=True)):
        assert not np.array_equal(sim.render(size=(80, 60), **options), plain)
    sim.advance(0.1)
    a, b = (sim.render(size=(80, 60), color="stress", range=r) for r in ((0, 1e3), (0, 1e6)))
    assert not np.array_equal(a, b)


@pytest.mark.parametrize("options, kind", [
    (dict(color="blue"), rubato.Error), (dict(view="sideways"), rubato.Error), (dict(zoom=1000.0), rubato.Error),
    (dict(size=(0, -3)), rubato.Error), (dict(range=(1, 0)), rubato.Error), (dict(frames=3), ValueError),
    (dict(animate=True), ValueError), (dict(nonsense=1), TypeError), (dict(size=("a", "b")), ValueError),
])
def test_wrong_options(sim, options, kind):
    with pytest.raises(kind):
        sim.render(**options)


def test_obstacles_are_where_they_are(make):
    sim = make("stack")
    before = sim.render(size=(80, 60))
    sim.obstacles[1].move(velocity=[0, 0, 3], duration=0.1)
    sim.advance(0.1)
    still = make("stack")
    still.advance(0.1)
    assert not np.array_equal(sim.render(size=(80, 60)), still.render(size=(80, 60)))
    assert not np.array_equal(before, still.render(size=(80, 60)))


def test_shells_nets_and_particles():
    cloth = rubato.Mesh([[0, 0, 0], [1, 0, 0], [0, 0, 1]], triangles=[[0, 1, 2]])
    net = rubato.Mesh([[0, 1, 0], [1, 1, 0]], edges=[[0, 1]])
    dust = rubato.Mesh([[0.5, 0.5, 0.5]])
    sim = rubato.load({"bodies": [
        {"name": "cloth", "mesh": cloth, "shell": {"thickness": 0.001}},
        {"name": "net", "mesh": net, "springs": {"stiffness": 10, "node_mass": 0.1}},
        {"name": "dust", "mesh": dust, "particles": {"radius": 0.1, "mass": 0.1}}],
        "integrator": {"method": "semi-implicit"}})
    picture = sim.render(size=(120, 90), color="body", ground=False)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20


def test_mesh_files(tmp_path):
    rubato.Mesh.generate("ball").write(tmp_path / "ball.msh")
    assert rubato.render(tmp_path / "ball.msh", size=(80, 60)).shape == (60, 80, 3)
    with pytest.raises(rubato.Error, match="nothing"):
        rubato.render(tmp_path / "nothing.msh")


def test_same_picture_from_a_run_and_from_memory(tmp_path):
    """The same renderer, whether the state comes from files or from memory."""
    run = rubato.run(scene("stack"), tmp_path / "run", frames=5, threads=1)
    sim = rubato.load(scene("stack"), threads=1)
    sim.advance(0.1)
    for color in ("plain", "velocity", "stress", "displacement"):
        a, b = (thing.render(size=(120, 90), color=color) for thing in (run, sim))
        assert np.mean(np.any(a != b, axis=2)) < 0.02  # the label of the time may differ in its digits


def test_embedded_surface(tmp_path):
    """The finer surface is what is shown."""
    rubato.Mesh.generate("sphere", radius=0.05).write(tmp_path / "fine.obj")
    description = scene()
    description["bodies"][0]["surface"] = {"file": "fine.obj"}
    sim = rubato.load(description, folder=tmp_path)
    plain = rubato.load(scene())
    assert not np.array_equal(sim.render(size=(80, 60)), plain.render(size=(80, 60)))
    assert np.ptp(sim.render(size=(80, 60), color="stress")) > 0
