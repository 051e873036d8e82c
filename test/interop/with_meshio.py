"""meshio: it reads meshes and frames that rubato writes, and rubato what meshio writes."""

import contextlib
import io

import numpy

from exchange import EXACT, PACKED, SINGLE, Mesh, Unavailable, digits

try:
    import meshio
except ImportError:
    meshio = None

CELLS = {"tets": "tetra", "triangles": "triangle", "edges": "line"}


def need():
    if not meshio:
        raise Unavailable("python3-meshio is not installed")


@contextlib.contextmanager
def quiet():
    """Without its warnings, as that text is meant for debugging."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def read(path):
    need()
    with quiet():
        found = meshio.read(path)
    rows = {kind: [block.data for block in found.cells if block.type == name] for kind, name in CELLS.items()}
    nodes = found.points if found.points.shape[1] == 3 else numpy.pad(found.points, ((0, 0), (0, 1)))
    return Mesh(nodes, **{kind: numpy.concatenate(blocks) if blocks else () for kind, blocks in rows.items()})


def write(path, mesh, **options):
    need()
    cells = [(name, getattr(mesh, kind)) for kind, name in CELLS.items() if len(getattr(mesh, kind))]
    with quiet():
        meshio.Mesh(mesh.nodes, cells).write(path, **options)


def reads(rubato, table, runs):
    for shape, endings in (("torus", ("msh", "vtk", "obj")), ("cloth", ("msh", "vtk", "obj"))):
        for ending in endings:
            for variant, more in ((", binary", []), (", text", ["--ascii"])) if ending != "obj" else (("", []),):
                path = rubato.mesh(shape, f"meshio-{shape}{variant.replace(', ', '-')}.{ending}", *more)
                table.check("meshio", f"{shape}.{ending}{variant}", lambda: read(path), rubato.read(path), EXACT)
    for name, (run, bound) in runs.items():
        for i, (file, frame) in enumerate(zip(run.files, run.frames)):
            if i in (0, len(run.files) - 1):
                table.check("meshio", f"{name}, frame {i}", lambda: read(file), frame, bound)


VOLUMES = (
    ("vtu, text", "vtu", {"binary": False}),  # of 12 digits
    ("vtu, zlib", "vtu", {"compression": "zlib"}),
    ("vtu, plain", "vtu", {"compression": None}),
    ("vtu, lzma", "vtu", {"compression": "lzma"}),
    ("vtk 4.2, binary", "vtk", {"file_format": "vtk42"}),
    ("vtk 4.2, text", "vtk", {"file_format": "vtk42", "binary": False}),
    ("vtk 5.1, binary", "vtk", {"file_format": "vtk51"}),
    ("vtk 5.1, text", "vtk", {"file_format": "vtk51", "binary": False}),
    ("medit, text", "mesh", {}),
    ("medit, binary", "meshb", {}),
    ("msh 2.2, binary", "msh", {"file_format": "gmsh22"}),
    ("msh 2.2, text", "msh", {"file_format": "gmsh22", "binary": False}),
    ("msh 4.1, binary", "msh", {"file_format": "gmsh"}),
    ("msh 4.1, text", "msh", {"file_format": "gmsh", "binary": False}),
)
SURFACES = (
    ("stl, text", "stl", {"binary": False}, EXACT),
    ("stl, binary", "stl", {"binary": True}, SINGLE),
    ("ply, text", "ply", {"binary": False}, EXACT),
    ("ply, binary", "ply", {"binary": True}, EXACT),
    ("obj", "obj", {}, EXACT),
)


def writes(rubato, table, volume, surface):
    def again(file, mesh, options):
        write(rubato.folder / file, mesh, **options)
        return rubato.read(file)

    for i, (what, ending, options) in enumerate(VOLUMES):
        for kind, mesh in (("tets", volume), ("triangles", surface)):
            table.check("rubato", f"meshio's {what}, {kind}",
                        lambda: again(f"meshio-{kind}{i}.{ending}", mesh, options), mesh,
                        digits(12) if what == "vtu, text" else EXACT, PACKED if what.endswith("lzma") else None)
    table.check("rubato", "meshio's tetgen", lambda: again("meshio.node", volume, {}), volume, EXACT)
    for i, (what, ending, options, bound) in enumerate(SURFACES):
        table.check("rubato", f"meshio's {what}", lambda: again(f"meshio-s{i}.{ending}", surface, options), surface,
                    bound)
