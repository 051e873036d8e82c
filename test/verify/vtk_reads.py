"""VTK itself reads the VTU files that write_vtu wrote, and finds the numbers of its plain-text dump.

    vtk_reads.py WRITE_VTU

Double precision must agree in every bit, single precision with the rounded numbers.
"""
import os
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import vtk  # a missing VTK is a failure: the set-up installs it

FRAMES = 3
VARIANTS = {"plain": False, "single": True, "packed": False, "both": True}


def read_dump(path):
    tables = {}
    with open(path) as lines:
        for line in lines:
            name, components, count = line.split()
            number = int if name.startswith("cells") or name in ("cell:region", "cell:body") else float
            n = int(components)
            values = [number(next(lines)) for _ in range(n * int(count))]
            tables[name] = (n, values)
    return tables


def numbers(array):
    """All values of a VTK array, component by component, without NumPy."""
    flat = memoryview(array)
    return flat.cast("B").cast(flat.format).tolist() if len(flat) else []


def as_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def compare(what, array, components, values, single):
    assert array is not None, f"{what} is missing"
    assert array.GetNumberOfComponents() == components, f"{what}: {array.GetNumberOfComponents()} components"
    found = numbers(array)
    if single and isinstance(values[0], float):
        assert array.GetDataTypeAsString() == "float", f"{what} is {array.GetDataTypeAsString()}"
        values = [as_float(v) for v in values]
    elif isinstance(values[0], float):
        assert array.GetDataTypeAsString() == "double", f"{what} is {array.GetDataTypeAsString()}"
    assert len(found) == len(values), f"{what}: {len(found)} numbers instead of {len(values)}"
    for i, (a, b) in enumerate(zip(found, values)):
        assert a == b, f"{what}[{i}] is {a!r} instead of {b!r}"


class Errors:
    """VTK reports trouble through observers, not through return values."""

    def __init__(self, source):
        self.messages = []
        source.AddObserver("ErrorEvent", self.hear)
        source.AddObserver("WarningEvent", self.hear)

    def hear(self, _source, event):
        self.messages.append(event)


def check(path, tables, single):
    reader = vtk.vtkXMLUnstructuredGridReader()
    errors = Errors(reader)
    assert reader.CanReadFile(path), path
    reader.SetFileName(path)
    reader.Update()
    assert not errors.messages, f"{path}: VTK complains: {errors.messages}"
    grid = reader.GetOutput()

    time = grid.GetFieldData().GetArray("TimeValue")
    compare("TimeValue", time, 1, tables["time"][1], False)
    compare("points", grid.GetPoints().GetData(), *tables["points"], single)
    cells = next(name for name in tables if name.startswith("cells"))
    corners, values = tables[cells]
    compare(cells, grid.GetCells().GetConnectivityArray(), 1, values, False)
    offsets = numbers(grid.GetCells().GetOffsetsArray())
    types = numbers(grid.GetCellTypesArray())
    if cells == "cells":  # of several kinds
        assert offsets == [0] + tables["cells:ends"][1], f"{path}: offsets"
        assert types == tables["cells:types"][1], f"{path}: cell types"
        classes = [grid.GetCell(types.index(t)).GetClassName() for t in (10, 5, 3)]
        assert classes == ["vtkTetra", "vtkTriangle", "vtkLine"], classes
    else:
        assert offsets == list(range(0, len(values) + 1, corners)), f"{path}: offsets"
        assert set(types) == {int(cells[5:])}, f"{path}: cell types {set(types)}"
        if corners == 4:
            assert grid.GetCell(0).GetClassName() == "vtkTetra", grid.GetCell(0).GetClassName()
    for name, (components, values) in tables.items():
        where, _, field = name.partition(":")
        if where == "point":
            compare(name, grid.GetPointData().GetArray(field), components, values, single)
        if where == "cell":
            compare(name, grid.GetCellData().GetArray(field), components, values, single)


def check_index(folder, name, kind, times):
    sets = xml.etree.ElementTree.parse(os.path.join(folder, name)).getroot().findall("Collection/DataSet")
    found = [(s.get("file"), float(s.get("timestep"))) for s in sets]
    assert found == [(f"frames/{kind}_{i:06d}.vtu", t) for i, t in enumerate(times)], f"{name}: {found}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        files = 0
        sheets = os.path.join(folder, "sheets")
        for where, kind, index in ((folder, "frame", "frames.pvd"), (folder, "surface", "surface.pvd"),
                                   (sheets, "frame", "frames.pvd")):
            dumps = [read_dump(os.path.join(where, f"{kind}_{i:06d}.txt")) for i in range(FRAMES)]
            for variant, single in VARIANTS.items():
                for i, tables in enumerate(dumps):
                    check(os.path.join(where, variant, "frames", f"{kind}_{i:06d}.vtu"), tables, single)
                    files += 1
                check_index(os.path.join(where, variant), index, kind, [d["time"][1][0] for d in dumps])
        print(f"VTK {vtk.vtkVersion.GetVTKVersion()} reads {files} files as they were written")


main()
