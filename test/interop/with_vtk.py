"""VTK: it reads meshes and frames with their times, and rubato reads every kind of file that VTK writes."""

import numpy

from exchange import EXACT, PACKED, SINGLE, Mesh, Unavailable, digits

try:
    import vtk
    from vtk.util import numpy_support
except ImportError:
    vtk = None

TYPES = {10: "tets", 5: "triangles", 3: "edges"}


def need():
    if not vtk:
        raise Unavailable("python3-vtk9 is not installed")


class Complaints:
    """VTK reports trouble through observers, not through return values."""

    def __init__(self, source):
        self.said = []
        source.AddObserver("ErrorEvent", lambda _source, event: self.said.append(event))
        source.AddObserver("WarningEvent", lambda _source, event: self.said.append(event))


def _update(reader, path):
    complaints = Complaints(reader)
    reader.SetFileName(str(path))
    reader.Update()
    if complaints.said:
        raise RuntimeError(f"VTK complains: {complaints.said}")
    return reader.GetOutput()


def mesh_of(data):
    rows = {kind: [] for kind in TYPES.values()}
    for i in range(data.GetNumberOfCells()):
        cell = data.GetCell(i)
        rows[TYPES[cell.GetCellType()]].append([cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())])
    return Mesh(numpy_support.vtk_to_numpy(data.GetPoints().GetData()), **rows)


def read(path):
    need()
    readers = {".vtu": vtk.vtkXMLUnstructuredGridReader, ".vtk": vtk.vtkUnstructuredGridReader,
               ".obj": vtk.vtkOBJReader}
    return mesh_of(_update(readers[path.suffix](), path))


def time_of(path):
    need()
    return _update(vtk.vtkXMLUnstructuredGridReader(), path).GetFieldData().GetArray("TimeValue").GetValue(0)


def reads(rubato, table, runs):
    for shape in ("torus", "cloth"):
        for ending, variant, more in (("vtk", "binary", []), ("vtk", "text", ["--ascii"]), ("obj", "text", [])):
            path = rubato.mesh(shape, f"vtk-{shape}-{variant}.{ending}", *more)
            bound = EXACT if ending == "vtk" else SINGLE  # its reader of OBJ keeps floats
            table.check("VTK", f"{shape}.{ending}, {variant}", lambda: read(path), rubato.read(path), bound)
    for name, (run, bound) in runs.items():
        for i, (file, frame) in enumerate(zip(run.files, run.frames)):
            if i in (0, len(run.files) - 1):
                table.check("VTK", f"{name}, frame {i}", lambda: read(file), frame, bound)
        table.check_equal("VTK", f"{name}, times of the files", lambda: [time_of(file) for file in run.files],
                          run.times)
        table.check_equal("VTK", f"{name}, files and times of frames.pvd",
                          lambda: [(file, time) for file, time in run.index() if need() is None],
                          list(zip(run.files, run.times)))


# ---- What it writes


def grid_of(mesh, precision=float):
    grid, points = vtk.vtkUnstructuredGrid(), vtk.vtkPoints()
    points.SetData(numpy_support.numpy_to_vtk(mesh.nodes.astype(precision), deep=True))
    grid.SetPoints(points)
    for kind in TYPES:
        for row in getattr(mesh, TYPES[kind]):
            grid.InsertNextCell(kind, len(row), [int(node) for node in row])
    return grid


def surface_of(mesh, precision=float):
    surface, cells = vtk.vtkPolyData(), vtk.vtkCellArray()
    surface.SetPoints(grid_of(mesh, precision).GetPoints())
    for row in mesh.triangles:
        cells.InsertNextCell(3, [int(node) for node in row])
    surface.SetPolys(cells)
    return surface


def write(writer, path, data, **settings):
    """settings: names of its Set… functions, with a value or without"""
    writer.SetFileName(str(path))
    writer.SetInputData(data)
    for name, value in settings.items():
        getattr(writer, name)(*(() if value is None else (value,)))
    if not writer.Write():
        raise RuntimeError("VTK cannot write the file")


def xml_variants():
    """name -> settings of the writer of .vtu files"""
    modes = {"text": {"SetDataModeToAscii": None}, "inline base64": {"SetDataModeToBinary": None},
             "appended base64": {"SetDataModeToAppended": None, "SetEncodeAppendedData": True},
             "appended raw": {"SetDataModeToAppended": None, "SetEncodeAppendedData": False}}
    packers = {"plain": "SetCompressorTypeToNone", "zlib": "SetCompressorTypeToZLib", "lz4": "SetCompressorTypeToLZ4",
               "lzma": "SetCompressorTypeToLZMA"}
    for mode, how in modes.items():
        for packer, function in packers.items():
            if (mode == "text" and packer != "plain") or (mode != "appended raw" and packer == "lzma"):
                continue
            for order in ("little", "big") if mode != "text" and packer != "lzma" else ("little",):
                for header in (32, 64) if mode != "text" and packer != "lzma" else (64,):
                    yield (f"{mode}, {packer}, {order} endian, UInt{header}",
                           {**how, function: None, f"SetByteOrderTo{order.capitalize()}Endian": None,
                            f"SetHeaderTypeToUInt{header}": None})


def writes(rubato, table, volume, surface):
    def again(file, writer, data, **settings):
        need()
        write(getattr(vtk, writer)(), rubato.folder / file, data(), **settings)
        return rubato.read(file)

    single = Mesh(volume.nodes.astype("float32"), volume.tets)
    for i, (what, settings) in enumerate(xml_variants() if vtk else [("", {})]):
        table.check("rubato", f"VTK's vtu, {what}",
                    lambda: again(f"vtk-{i}.vtu", "vtkXMLUnstructuredGridWriter", lambda: grid_of(volume), **settings),
                    volume, digits(11) if what.startswith("text") else EXACT, PACKED if "lzma" in what else None)
    table.check("rubato", "VTK's vtu, single precision",
                lambda: again("vtk-single.vtu", "vtkXMLUnstructuredGridWriter", lambda: grid_of(volume, "float32")),
                single, EXACT)
    for version in (42, 51):
        for variant in ("ASCII", "Binary"):
            what, bound = f"VTK's vtk {version / 10}, {variant.lower()}", digits(11) if variant == "ASCII" else EXACT
            settings = {"SetFileVersion": version, f"SetFileTypeTo{variant}": None}
            table.check("rubato", what, lambda: again("vtk-grid.vtk", "vtkUnstructuredGridWriter",
                                                      lambda: grid_of(volume), **settings), volume, bound)
            table.check("rubato", f"{what}, surface",
                        lambda: again("vtk-surface.vtk", "vtkPolyDataWriter", lambda: surface_of(surface), **settings),
                        surface, bound)
    for ending, writer, variants, bound in (("stl", "vtkSTLWriter", ("ASCII", "Binary"), SINGLE),
                                            ("ply", "vtkPLYWriter", ("ASCII", "Binary"), SINGLE),
                                            ("obj", "vtkOBJWriter", ("",), SINGLE)):
        for variant in variants:
            settings = {f"SetFileTypeTo{variant}": None} if variant else {}
            table.check("rubato", f"VTK's {ending}{', ' if variant else ''}{variant.lower()}",
                        lambda: again(f"vtk-surface{variant}.{ending}", writer,
                                      lambda: surface_of(surface, "float32"), **settings),
                        surface, digits(6) if variant == "ASCII" or ending == "obj" else bound)
