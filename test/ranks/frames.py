#!/usr/bin/python3
"""frames.py RUBATO SOURCE RUBATO_MPI: VTK reads the pieces of frames that ranks write, and finds in them the points,
the cells and the fields of the files that one program writes."""

import json
import os
import subprocess
import sys
import tempfile

import vtk
from vtk.util.numpy_support import vtk_to_numpy

SCENE = {
    "rubato": 1,
    "bodies": [{"name": "bar", "mesh": {"shape": {"cuboid": {"size": [1, 0.2, 0.2], "cells": [10, 3, 3]}}},
                "material": {"young": 1e5}, "fixed": ["left"]},
               {"name": "cloth", "mesh": {"shape": {"cloth": {"length": 1, "width": 1, "cells_along": 6,
                                                              "cells_across": 6}}},
                "transform": {"translate": [0, 1, 0]}, "shell": {"thickness": 0.01}, "material": {"young": 1e5}}],
    "forces": [{"gravity": {}}],
    "integrator": {"method": "semi-implicit", "solver": "schwarz", "options": {"subdomains": 5}},
    "time": {"step": 0.01, "frame": 0.02, "end": 0.04},
}
FIELDS = {"displacement", "velocity", "subdomain"}, {"region", "body", "von_mises"}


def read(path):
    reader = vtk.vtkXMLPUnstructuredGridReader() if path.endswith(".pvtu") else vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def arrays(data):
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}


def corners(grid):
    found = []
    for i in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(i)  # the same object for all cells of a kind
        found.append(tuple(cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())))
    return found


def compare(one, pieces):
    points, cells = arrays(one.GetPointData()), arrays(one.GetCellData())
    own_points, own_cells = arrays(pieces.GetPointData()), arrays(pieces.GetCellData())
    assert FIELDS[0] <= set(own_points) and FIELDS[1] <= set(own_cells), (set(own_points), set(own_cells))
    node = own_points["node"]
    assert set(node) == set(range(one.GetNumberOfPoints())), "nodes are missing"
    places, own_places = vtk_to_numpy(one.GetPoints().GetData()), vtk_to_numpy(pieces.GetPoints().GetData())
    assert (own_places == places[node]).all(), "points differ"
    for name in FIELDS[0]:
        assert (own_points[name] == points[name][node]).all(), name
    whole = {tuple(c): i for i, c in enumerate(corners(one))}
    found = [whole[tuple(int(node[k]) for k in c)] for c in corners(pieces)]
    assert sorted(found) == list(range(one.GetNumberOfCells())), "cells are missing, or there twice"
    for name in FIELDS[1]:
        assert (own_cells[name] == cells[name][found]).all(), name
    assert set(own_cells["rank"]) == {0, 1, 2}


def main():
    rubato, mpi = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[3])
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("scene.json", "w", encoding="utf-8") as file:
            json.dump(SCENE, file)
        subprocess.run([rubato, "run", "scene.json", "-o", "one", "-q", "-t", "1"], check=True)
        subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "3", mpi, "run", "scene.json", "-o",
                        "three", "-q", "-t", "1"], check=True, env=environment)
        with open("three/frames.pvd", encoding="utf-8") as file:
            index = file.read()
        for frame in range(3):
            name = f"frames/frame_{frame:06d}"
            assert f'file="{name}.pvtu"' in index, index
            compare(read(f"one/{name}.vtu"), read(f"three/{name}.pvtu"))
        with open("three/run.json", encoding="utf-8") as file:
            each = json.load(file)["ranks"]["each"]
        assert len(each) == 3 and all(r["bytes"] > 0 and r["messages"] > 0 and r["owned"] > 0 for r in each), each
    print("3 frames of 3 ranks have the points, cells and fields of one program's")


if __name__ == "__main__":
    main()
