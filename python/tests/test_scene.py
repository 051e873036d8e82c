"""Scenes from files, dicts, text and keywords; what is wrong with them."""

import json
import pathlib
import pickle
import warnings

import numpy as np
import pytest

import rubato
from conftest import SOURCE, same_bits, scene


def test_dict():
    sim = rubato.load(scene())
    assert sim.node_count == 20 and sim.method == "backward-euler" and sim.time == 0
    assert sim.dt == pytest.approx(0.01) and sim.frame_count == 10 and sim.end == pytest.approx(0.4)


def test_a_dict_is_not_changed():
    mesh = rubato.Mesh.generate("bar", cells=[2, 1, 1])
    before = scene()
    before["bodies"][0]["mesh"] = mesh
    description = dict(before, bodies=[dict(before["bodies"][0])])
    rubato.load(description)
    assert description == before and description["bodies"][0]["mesh"] is mesh


def test_text_and_dict_and_file_are_the_same(tmp_path):
    path = tmp_path / "bar.json"
    path.write_text(json.dumps(scene()))
    sims = [rubato.load(source) for source in (scene(), json.dumps(scene()), path, str(path), rubato.Scene(path))]
    for sim in sims:
        sim.advance(0.1)
    assert all(same_bits(sims[0], sim) for sim in sims[1:])


def test_numpy_values_in_a_dict():
    description = scene()
    description["bodies"][0]["material"]["young"] = np.float64(1e5)
    description["bodies"][0]["mesh"]["shape"]["bar"]["size"] = np.array([0.4, 0.1, 0.1])
    description["bodies"][0]["mesh"]["shape"]["bar"]["cells"] = np.array([4, 1, 1], np.int64)
    assert rubato.load(description).node_count == 20


def test_settings():
    sim = rubato.load(scene(), {"time.step": 0.002, "integrator.method": "bdf2"})
    assert sim.dt == pytest.approx(0.002) and sim.method == "bdf2"


def test_settings_of_a_scene_object():
    first = rubato.Scene(scene())
    second = first.set(method="siere", step=0.005, **{"bodies[0].material.young": 1e4})
    assert rubato.load(first).method == "backward-euler"
    sim = rubato.load(second)
    assert sim.method == "siere" and sim.dt == pytest.approx(0.005)
    assert second.to_dict()["bodies"][0]["material"]["young"] == 1e4


def test_keyword_builders_make_what_a_file_has():
    built = rubato.scene(
        rubato.body("bar", rubato.shape("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1]), young=5e5, density=1000,
                    damping={"mass": 1}, selections=[{"name": "tip", "where": "right"}], fixed=["left"]),
        gravity=True, step=0.01, frame=0.04, end=0.4, method="backward-euler")
    assert built == scene()


def test_builders_know_material_transform_and_options():
    body = rubato.body("a", rubato.shape("ball"), model="arap", young=1, translate=[0, 1, 0], axis=[0, 0, 1],
                       degrees=90)
    assert body["material"] == {"model": "arap", "young": 1}
    assert body["transform"] == {"translate": [0, 1, 0], "axis": [0, 0, 1], "degrees": 90}
    built = rubato.scene([body], gravity=[0, 0, -9.81], method="siere", options={"modes": 3}, contact={})
    assert built["forces"] == [{"gravity": {"acceleration": [0, 0, -9.81]}}]
    assert built["integrator"] == {"method": "siere", "options": {"modes": 3}} and built["contact"] == {}
    rubato.Scene(rubato.scene([body], method="siere", options={"modes": 3}))


def test_selections_and_obstacles_by_keywords():
    assert rubato.select("box", min=[0, 0, 0], max=[1, 1, 1]) == {"box": {"min": [0, 0, 0], "max": [1, 1, 1]}}
    assert rubato.select("all", "left", "top") == {"all": ["left", "top"]}
    assert rubato.select("not", "left") == {"not": "left"} and rubato.select("nodes", [1, 2]) == {"nodes": [1, 2]}
    assert rubato.obstacle("sphere", radius=1) == {"sphere": {"radius": 1}}
    assert rubato.force("wind", velocity=[1, 0, 0]) == {"wind": {"velocity": [1, 0, 0]}}
    assert rubato.driven("grip", "left", release=1) == {"name": "grip", "where": "left", "release": 1}
    with pytest.raises(TypeError):
        rubato.select("box", [0, 0, 0], max=[1, 1, 1])


def test_mesh_in_memory_is_the_same_as_its_shape():
    description = scene()
    mesh = rubato.Mesh.generate("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1])
    description["bodies"][0]["mesh"] = mesh
    a, b = rubato.load(scene()), rubato.load(description)
    a.advance(0.1)
    b.advance(0.1)
    assert same_bits(a, b)


def test_a_scene_keeps_its_own_copy_of_a_mesh():
    mesh = rubato.Mesh.generate("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1])
    made = rubato.Scene({**scene(), "bodies": [{**scene()["bodies"][0], "mesh": mesh}]})
    mesh.nodes[:] = 7
    assert np.abs(rubato.load(made).x).max() < 1


def test_unit_of_a_mesh_in_memory():
    mesh = rubato.Mesh.generate("bar", size=[400, 100, 100], cells=[4, 1, 1])
    sim = rubato.load({**scene(), "bodies": [{**scene()["bodies"][0], "mesh": {"mesh": mesh, "unit": "mm"}}]})
    assert np.ptp(sim.x, axis=0) == pytest.approx([0.4, 0.1, 0.1])
    with pytest.raises(rubato.Error, match="furlong"):
        rubato.load({**scene(), "bodies": [{**scene()["bodies"][0], "mesh": {"mesh": mesh, "unit": "furlong"}}]})


def test_obstacle_mesh_in_memory():
    plate = rubato.Mesh([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], triangles=[[0, 2, 1], [0, 3, 2]])
    description = scene("stack")
    description["obstacles"] = [{"mesh": {"mesh": plate}}]
    sim = rubato.load(description, threads=1)
    sim.advance(0.2)
    assert sim.x[:, 1].min() > 0 and len(sim.contacts) > 0


def test_sequence_of_an_obstacle_in_memory():
    plate = rubato.Mesh([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], triangles=[[0, 2, 1], [0, 3, 2]])
    lift = plate.nodes[None] + np.array([0, 0.1, 0]) * np.linspace(0, 1, 11)[:, None, None]
    description = scene("stack")
    description["obstacles"] = [{"mesh": {"mesh": plate, "sequence": {"positions": lift, "rate": 50}}}]
    sim = rubato.load(description, threads=1)
    sim.advance(0.2)
    assert sim.x[:, 1].min() > 0.099


def test_errors_name_the_key():
    with pytest.raises(rubato.Error) as caught:
        rubato.load(scene(), {"bodies[0].material.young": -1})
    assert caught.value.path == "bodies[0].material.young" and "-1" in str(caught.value)
    assert caught.value.sentence in str(caught.value)


def test_errors_name_file_and_line(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('{"rubato": 1,\n "bodies": [}')
    with pytest.raises(rubato.Error) as caught:
        rubato.load(path)
    assert caught.value.file == str(path) and caught.value.line == 2 and caught.value.column > 0


@pytest.mark.parametrize("source, kind", [
    ("no such file.json", rubato.Error), ("{broken", rubato.Error), ({}, rubato.Error), ({"bodies": 3}, rubato.Error),
    ({"bodies": [3]}, rubato.Error), ({"rubato": 2, "bodies": []}, rubato.Error), (5, TypeError), (None, TypeError),
    ({"bodies": [{"name": "a", "mesh": object()}]}, TypeError), ({"about": float("nan")}, ValueError),
    (b"{}", TypeError),
])
def test_bad_sources(source, kind):
    with pytest.raises(kind):
        rubato.load(source)


def test_unknown_keys_come_with_the_nearest_name():
    with pytest.raises(rubato.Error, match="material"):
        rubato.load({**scene(), "bodies": [{"name": "a", "mesh": {"shape": {"ball": {}}}, "materiel": {}}]})


def test_renamed_keys_warn():
    description = scene()
    description["integrator"]["max_cuts"] = 3
    with pytest.warns(rubato.SceneWarning, match="max_halvings"):
        rubato.load(description)


def test_good_scenes_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rubato.load(scene())


def test_saved_scenes_are_the_same(tmp_path):
    mesh = rubato.Mesh.generate("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1])
    made = rubato.Scene({**scene(), "bodies": [{**scene()["bodies"][0], "mesh": mesh}]})
    made.save(tmp_path / "saved.json")
    a, b = rubato.load(made), rubato.load(tmp_path / "saved.json")
    a.advance(0.1)
    b.advance(0.1)
    assert same_bits(a, b)


def test_file_names_start_at_the_folder(tmp_path):
    rubato.Mesh.generate("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1]).write(tmp_path / "bar.msh")
    description = scene()
    description["bodies"][0]["mesh"] = {"file": "bar.msh"}
    assert rubato.load(description, folder=tmp_path).node_count == 20
    made = rubato.Scene(description, folder=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    made.save(tmp_path / "elsewhere/scene.json")
    assert rubato.load(tmp_path / "elsewhere/scene.json").node_count == 20


def test_scenes_are_pickled_with_their_meshes():
    mesh = rubato.Mesh.generate("bar", size=[0.4, 0.1, 0.1], cells=[4, 1, 1])
    made = rubato.Scene({**scene(), "bodies": [{**scene()["bodies"][0], "mesh": mesh}]})
    again = pickle.loads(pickle.dumps(made))
    a, b = rubato.load(made), rubato.load(again)
    a.step()
    b.step()
    assert same_bits(a, b) and again.to_dict()["bodies"][0]["mesh"]["mesh"] == mesh


@pytest.mark.parametrize("path", sorted((SOURCE / "scenes").glob("*.json"))[:6], ids=lambda p: pathlib.Path(p).stem)
def test_shipped_scenes_load(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert rubato.Scene(path).to_dict()["rubato"] == 1
