"""gmsh: it reads the .msh files that rubato writes, and rubato what gmsh writes."""

import shutil
import subprocess

from exchange import EXACT, LAST_DIGIT, Mesh, Unavailable, digits

GEOMETRY = """
h = 0.37;
Point(1) = {0.1, 0, 0, h}; Point(2) = {1.3, 0, 0, h}; Point(3) = {1.1, 0.7, 0, h}; Point(4) = {0, 0.9, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
out[] = Extrude {0.05, 0.1, 0.6} { Surface{1}; };
Physical Volume("inside") = {out[1]};
Physical Surface("floor") = {1};
"""
CORNERS = {1: "edges", 2: "triangles", 4: "tets", 15: None}


def gmsh(folder, *words):
    if not shutil.which("gmsh"):
        raise Unavailable("gmsh is not installed")
    said = subprocess.run(["gmsh", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120)
    if said.returncode or "Error" in said.stdout + said.stderr:
        raise RuntimeError(f"gmsh {' '.join(map(str, words))}: {(said.stdout + said.stderr).strip()[-300:]}")


def read_text_22(path):
    """gmsh's own text of version 2.2, read here by hand: the judge between gmsh and rubato."""
    lines = iter(path.read_text().splitlines())
    numbers, nodes, rows = {}, [], {"tets": [], "triangles": [], "edges": []}
    for line in lines:
        if line == "$Nodes":
            for i in range(int(next(lines))):
                tag, *position = next(lines).split()
                numbers[int(tag)] = i
                nodes.append(list(map(float, position)))
        elif line == "$Elements":
            for _ in range(int(next(lines))):
                _, kind, tags, *rest = map(int, next(lines).split())
                if CORNERS[kind]:
                    rows[CORNERS[kind]].append([numbers[tag] for tag in rest[tags:]])
    return Mesh(nodes, **rows)


def reads(rubato, table):
    """gmsh saves what rubato wrote once more, in the text that is read here."""
    def read(file, copy):
        gmsh(rubato.folder, file, "-save", "-save_all", "-format", "msh22", "-o", copy)
        return read_text_22(rubato.folder / copy)

    for shape, words in (("torus", []), ("cloth", [])):
        for variant, more in (("binary", []), ("text", ["--ascii"])):
            file = f"gmsh-{shape}-{variant}.msh"
            rubato.mesh(shape, file, *words, *more)
            wanted = rubato.read(file)
            table.check("gmsh", f"{shape}.msh 4.1, {variant}", lambda: read(file, f"again-{file}"), wanted, LAST_DIGIT)
    file = "gmsh-torus.vtk"
    rubato.mesh("torus", file)
    table.check("gmsh", "torus.vtk, binary", lambda: read(file, "again-torus.msh"), rubato.read(file), LAST_DIGIT)


def writes(rubato, table):
    folder = rubato.folder
    try:
        (folder / "block.geo").write_text(GEOMETRY)
        gmsh(folder, "block.geo", "-3", "-format", "msh22", "-o", "block.msh")
    except Unavailable as why:
        return table.line("rubato", "gmsh's files", "not available", str(why))
    wanted = read_text_22(folder / "block.msh")
    for version in ("22", "40", "41"):
        # it writes 4.0 as text alone
        for variant, binary in (("text", 0), ("binary", 1))[:1 if version == "40" else 2]:
            file = f"block-{version}-{variant}.msh"
            gmsh(folder, "block.msh", "-save", "-format", f"msh{version}", *(["-bin"] if binary else []), "-o", file)
            what = f"gmsh's msh {version[0]}.{version[1]}, {variant}"
            table.check("rubato", what, lambda: rubato.read(file), wanted, EXACT if binary else LAST_DIGIT)
            groups = {"inside": ("tets", len(wanted.tets)), "floor": ("triangles", len(wanted.triangles))}
            table.check_equal("rubato", f"{what}, its groups", lambda: rubato.read(file).sets, groups)
    for ending, kinds, bound in (("vtk", ("tets", "triangles"), LAST_DIGIT),
                                 ("mesh", ("tets", "triangles"), digits(14))):
        gmsh(folder, "block.msh", "-save", "-o", f"block.{ending}")
        table.check("rubato", f"gmsh's .{ending}", lambda: rubato.read(f"block.{ending}"), wanted.only(*kinds), bound)
    gmsh(folder, "block.geo", "-2", "-save_all", "-format", "msh22", "-o", "sheet.msh")
    sheet = read_text_22(folder / "sheet.msh").only("triangles")
    for variant, binary in (("text", 0), ("binary", 1)):
        gmsh(folder, "sheet.msh", "-save", "-save_all", *(["-bin"] if binary else []), "-o", f"sheet-{variant}.stl")
        table.check("rubato", f"gmsh's .stl, {variant}", lambda: rubato.read(f"sheet-{variant}.stl"), sheet, digits(7))
