"""What the parts of scripts/interop share: meshes as arrays, what rubato reads and writes, how two meshes are compared,
and the table.

Numbers must agree within what a format keeps: nothing is lost in binary doubles and in text of 17 digits, single
precision rounds to 24 bits, and a text of n digits to those. Elements must be the same with the same orientation; where
a format or program renumbers, nodes are found again by their positions.
"""

import csv
import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import numpy

KINDS = {"tets": 4, "triangles": 3, "edges": 2}

# (of the number, in any case): how far a number may be off
EXACT = (0.0, 0.0)
SINGLE = (2.0**-24, 1e-45)

PACKED = "known are vtkZLibDataCompressor and vtkLZ4DataCompressor"  # how rubato refuses other compressors


def digits(count):
    """Text of so many significant digits, read as a double."""
    return 0.5 * 10.0 ** (1 - count) + 2.0**-53, 0.0


def decimals(count):
    """Text of so many digits behind the point, of numbers in single precision."""
    return SINGLE[0], 0.51 * 10.0**-count


LAST_DIGIT = digits(16)  # as gmsh writes


class Unavailable(Exception):
    """A program or one of its parts is not here; the words say which."""


class Refused(Exception):
    """Somebody does not read a file; the words say why."""


class Mesh:
    def __init__(self, nodes, tets=(), triangles=(), edges=(), sets=None):
        self.nodes = numpy.asarray(nodes, dtype=float).reshape(-1, 3)
        self.tets = numpy.asarray(tets, dtype=int).reshape(-1, 4)
        self.triangles = numpy.asarray(triangles, dtype=int).reshape(-1, 3)
        self.edges = numpy.asarray(edges, dtype=int).reshape(-1, 2)
        self.sets = sets or {}  # name -> (kind, count)

    def only(self, *kinds):
        """With elements of these kinds alone."""
        return Mesh(self.nodes, **{kind: getattr(self, kind) for kind in kinds})

    def hull(self):
        """The surface of the tets, its nodes in ascending order."""
        corners = self.tets[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
        _, which, times = numpy.unique(numpy.sort(corners, axis=1), axis=0, return_index=True, return_counts=True)
        faces = corners[numpy.sort(which[times == 1])]
        used = numpy.unique(faces)
        return Mesh(self.nodes[used], triangles=numpy.searchsorted(used, faces))

    def mapped(self, matrix):
        return Mesh(self.nodes @ numpy.asarray(matrix, dtype=float).T, self.tets, self.triangles, self.edges)


# ---- Comparing


def _positions(found, wanted, bound):
    """Nothing if the nodes agree one by one; the worst difference otherwise or with it. (difference, agrees)"""
    difference = numpy.abs(found - wanted)
    allowed = bound[0] * numpy.abs(wanted) + bound[1]
    return difference.max(initial=0.0), bool((difference <= allowed).all())


def _find(found, wanted, bound):
    """For every node of `found` the node of `wanted` at its position; None if that is not one to one."""
    numbers = numpy.empty(len(found), dtype=int)
    for i, node in enumerate(found):
        numbers[i] = numpy.argmin(((wanted - node) ** 2).sum(axis=1))
    agrees = _positions(found, wanted[numbers], bound)[1]
    return numbers if agrees and len(numpy.unique(numbers)) == len(wanted) else None


def _oriented(rows):
    """Elements as a sorted list in which the first corner is the least and the order of the others tells the
    orientation alone."""
    result = []
    for row in rows.tolist():
        if len(row) == 2:
            result.append(tuple(sorted(row)))
            continue
        turns = [row[i:] + row[:i] for i in range(3)] if len(row) == 3 else [
            [row[a], row[b], row[c], row[d]] for a, b, c, d in
            ((0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2), (1, 0, 3, 2), (1, 3, 2, 0), (1, 2, 0, 3),
             (2, 0, 1, 3), (2, 1, 3, 0), (2, 3, 0, 1), (3, 0, 2, 1), (3, 2, 1, 0), (3, 1, 0, 2))]
        result.append(tuple(min(turns)))
    return sorted(result)


def compare(found, wanted, bound):
    """(worst difference of positions, what is wrong or "")"""
    for kind in KINDS:
        if len(getattr(found, kind)) != len(getattr(wanted, kind)):
            return 0.0, f"{len(getattr(found, kind))} {kind} instead of {len(getattr(wanted, kind))}"
    if len(found.nodes) != len(wanted.nodes):
        return 0.0, f"{len(found.nodes)} nodes instead of {len(wanted.nodes)}"
    if not numpy.isfinite(found.nodes).all():
        return 0.0, "positions that are no numbers"
    worst, agrees = _positions(found.nodes, wanted.nodes, bound)
    numbers = numpy.arange(len(found.nodes))
    if not agrees:
        numbers = _find(found.nodes, wanted.nodes, bound)
        if numbers is None:
            return worst, "positions differ"
        worst = _positions(found.nodes, wanted.nodes[numbers], bound)[0]
    for kind in KINDS:
        if _oriented(numbers[getattr(found, kind)]) != _oriented(getattr(wanted, kind)):
            return worst, f"{kind} differ"
    return worst, ""


# ---- The table


class Table:
    """One line for every exchange, printed as it is known."""

    def __init__(self, only):
        self.only, self.counts = only, {"agree": 0, "DIFFER": 0, "refused": 0, "not available": 0}
        print(f"{'who reads':10} {'what':66} {'nodes':>6} {'elements':>8} {'worst [m]':>10}  verdict")

    def wants(self, who, what):
        return not self.only or any(word in f"{who} {what}" for word in self.only)

    def line(self, who, what, verdict, why="", nodes="", elements="", worst=""):
        self.counts[verdict] += 1
        print(f"{who:10} {what:66} {nodes:>6} {elements:>8} {worst:>10}  {verdict}{': ' if why else ''}{why}",
              flush=True)

    def ask(self, who, what, question, refusal=None):
        """What `question` gives; None with a line if nobody wants to know, or if there is no answer. It may raise
        Unavailable, or Refused if that is the right answer (`refusal`: its words)."""
        if not self.wants(who, what):
            return None
        try:
            return question()
        except Unavailable as why:
            self.line(who, what, "not available", str(why))
        except Refused as why:
            self.line(who, what, "refused" if refusal and refusal in str(why) else "DIFFER", str(why))
        except (Exception, SystemExit) as why:  # other people's programs raise anything
            self.line(who, what, "DIFFER", f"{type(why).__name__}: {why}")
        return None

    def check(self, who, what, read, wanted, bound, refusal=None):
        """`read` gives the mesh that `who` finds."""
        found = self.ask(who, what, read, refusal)
        if found is None:
            return
        worst, wrong = compare(found, wanted, bound)
        elements = sum(len(getattr(wanted, kind)) for kind in KINDS)
        self.line(who, what, "DIFFER" if wrong else "agree", wrong, len(wanted.nodes), elements,
                  f"{worst:.2g}" if worst else "0")

    def check_equal(self, who, what, find, wanted):
        """Times, counts and names: `find` gives them."""
        found = self.ask(who, what, find)
        if found is not None:
            self.line(who, what, "agree" if found == wanted else "DIFFER",
                      "" if found == wanted else f"{found} instead of {wanted}")


# ---- rubato


class Rubato:
    def __init__(self, command, folder):
        self.command, self.folder = pathlib.Path(command).resolve(), pathlib.Path(folder)
        self.reader = self.command.parent / "interop" / "mesh_text"

    def call(self, *words):
        said = subprocess.run([self.command, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(f"rubato {' '.join(map(str, words))}: {said.stderr.strip()}")

    def read(self, path):
        """What rubato finds in a mesh file."""
        said = subprocess.run([self.reader, path], cwd=self.folder, capture_output=True, text=True)
        if said.returncode:
            raise Refused(re.sub(r"^[^ ]*: ", "", said.stderr.strip()))
        lines = iter(said.stdout.splitlines())
        next(lines)
        nodes = [list(map(float, next(lines).split())) for _ in range(int(next(lines).split()[1]))]
        rows = {}
        for kind in KINDS:
            rows[kind] = [list(map(int, next(lines).split())) for _ in range(int(next(lines).split()[1]))]
        sets = {}
        for _ in range(int(next(lines).split()[1])):
            kind, count, name = next(lines).split(" ", 2)
            sets[name] = kind, int(count)
        return Mesh(nodes, sets=sets, **rows)

    def mesh(self, shape, file, *words):
        self.call("mesh", shape, "-o", file, *words)
        return self.folder / file

    def run(self, name, scene):
        (self.folder / f"{name}.json").write_text(json.dumps(scene))
        self.call("run", f"{name}.json", "-o", name, "-q", "-t", "1")
        return Run(self, self.folder / name)


class Run:
    """A run's folder: times, and the state of every frame as rubato's own VTU files tell."""

    def __init__(self, rubato, folder):
        self.folder = folder
        with (folder / "energy.csv").open(newline="") as file:
            self.times = [float(row["time"]) for row in csv.DictReader(file)]
        self.files = [folder / "frames" / f"frame_{i:06d}.vtu" for i in range(len(self.times))]
        self.frames = [rubato.read(path) for path in self.files]

    def index(self):
        """[(file, time), …] of frames.pvd"""
        sets = xml.etree.ElementTree.parse(self.folder / "frames.pvd").getroot().findall("Collection/DataSet")
        return [(self.folder / s.get("file"), float(s.get("timestep"))) for s in sets]
