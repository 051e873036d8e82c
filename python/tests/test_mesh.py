"""Meshes from arrays, files and shapes."""

import numpy as np
import pytest

import rubato

TET = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])


def test_from_lists():
    mesh = rubato.Mesh(*TET, sets={"foot": [2, 0, 0]})
    assert mesh.nodes.shape == (4, 3) and mesh.nodes.dtype == np.float64
    assert mesh.tets.shape == (1, 4) and mesh.tets.dtype == np.int32
    assert mesh.triangles.shape == (0, 3) and mesh.sets["foot"].tolist() == [0, 2]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32, np.uint32])
def test_other_integers(kind):
    assert rubato.Mesh(TET[0], np.array(TET[1], kind)).tets.dtype == np.int32


@pytest.mark.parametrize("arguments, kind", [
    (([[0, 0]],), ValueError), (([0, 0, 0],), ValueError), ((TET[0], [[0, 1, 2]]), ValueError),
    ((TET[0], [0, 1, 2, 3]), ValueError), ((TET[0], [[0.0, 1.0, 2.0, 3.0]]), TypeError),
    ((TET[0], [[0, 1, 2, 2 ** 40]]), ValueError), (("abc",), ValueError), ((TET[0], "abcd"), TypeError),
])
def test_wrong_shapes_and_types(arguments, kind):
    with pytest.raises(kind):
        rubato.Mesh(*arguments)


def test_diagnose():
    report = rubato.Mesh(*TET).diagnose()
    assert report["volume"] == pytest.approx(1 / 6) and report["inverted"] == 0 and report["components"] == 1
    assert rubato.Mesh(TET[0], [[0, 2, 1, 3]]).diagnose()["inverted"] == 1
    assert report["box_max"] == (1, 1, 1) and 0 < report["quality_min"] <= 1


def test_indices_that_name_nothing():
    with pytest.raises(rubato.Error):
        rubato.Mesh(TET[0], [[0, 1, 2, 9]]).diagnose()
    with pytest.raises(rubato.Error):
        rubato.Mesh(TET[0], [[0, 1, 2, -1]]).write("never.msh")


@pytest.mark.parametrize("ending", ["msh", "vtk"])
@pytest.mark.parametrize("ascii", [False, True])
def test_files_and_back(tmp_path, ending, ascii):
    mesh = rubato.Mesh.generate("bar", size=[0.3, 0.1, 0.1], cells=[3, 1, 1])
    mesh.write(tmp_path / f"bar.{ending}", ascii)
    again = rubato.Mesh.read(str(tmp_path / f"bar.{ending}"))
    assert np.allclose(again.nodes, mesh.nodes, atol=1e-12) and np.array_equal(again.tets, mesh.tets)
    if ending == "msh":
        assert set(again.sets) == set(mesh.sets)


def test_generated_sets():
    mesh = rubato.Mesh.generate("bar", size=[1, 1, 1], cells=[1, 1, 1])
    assert np.allclose(mesh.nodes[mesh.sets["left"], 0], mesh.nodes[:, 0].min())


def test_generate_errors():
    with pytest.raises(rubato.Error, match="bra"):
        rubato.Mesh.generate("bra")
    with pytest.raises(rubato.Error, match="cells"):
        rubato.Mesh.generate("bar", cells=[0, 1, 1])
    with pytest.raises(TypeError):
        rubato.Mesh.generate(5)


def test_read_errors(tmp_path):
    with pytest.raises(rubato.Error):
        rubato.Mesh.read(tmp_path / "nothing.msh")
    (tmp_path / "broken.msh").write_text("$MeshFormat\n9 0 8\n")
    with pytest.raises(rubato.Error) as caught:
        rubato.Mesh.read(tmp_path / "broken.msh")
    assert caught.value.file.endswith("broken.msh")
    with pytest.raises(TypeError):
        rubato.Mesh.read(3)


def test_write_to_nowhere(tmp_path):
    with pytest.raises(rubato.Error):
        rubato.Mesh(*TET).write(tmp_path / "no/such/folder.msh")
    with pytest.raises(rubato.Error):
        rubato.Mesh(*TET).write(tmp_path / "mesh.unknown")


def test_arrays_of_a_mesh_outlive_it():
    nodes = rubato.Mesh.generate("ball").nodes
    assert np.isfinite(nodes).all() and nodes.flags.writeable


def test_sets_of_elements():
    mesh = rubato.Mesh(*TET, sets={("inside", "tets"): [0], "corner": [3]})
    sim = rubato.load({"bodies": [{"name": "t", "mesh": mesh, "fixed": ["corner"]}],
                       "integrator": {"method": "semi-implicit"}})
    assert sim.bodies["t"].selection("corner").tolist() == [3]
    with pytest.raises(ValueError):
        rubato.Mesh(*TET, sets={("x", "faces"): [0]}).diagnose()


def test_flat_tets_are_refused_by_a_scene():
    flat = rubato.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2, 3]])
    with pytest.raises(rubato.Error, match="tet"):
        rubato.load({"bodies": [{"name": "flat", "mesh": flat}]})


def test_shell_and_net_and_particles_from_arrays():
    cloth = rubato.Mesh([[0, 0, 0], [1, 0, 0], [0, 0, 1]], triangles=[[0, 1, 2]])
    net = rubato.Mesh([[0, 0, 0], [1, 0, 0]], edges=[[0, 1]])
    dust = {"name": "dust", "mesh": rubato.Mesh(TET[0]), "particles": {"radius": 0.01, "mass": 0.01}}
    sim = rubato.load({"bodies": [{"name": "cloth", "mesh": cloth, "shell": {"thickness": 0.001}},
                                  {"name": "net", "mesh": net, "springs": {"stiffness": 10, "node_mass": 0.1}}, dust],
                       "integrator": {"method": "semi-implicit"}})
    assert [body.kind for body in sim.bodies] == ["shell", "net", "particles"]
    assert sim.triangles.tolist() == [[0, 1, 2]] and sim.edges.tolist() == [[3, 4]]
    assert sim.bodies["dust"].x.shape == (4, 3) and sim.bodies["net"].edges.tolist() == [[3, 4]]
