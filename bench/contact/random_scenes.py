"""Random scenes with contact for implicit steps, one a seed: bodies that start apart and meet within the run.

    scene, files, traits = make(seed)

`scene` is the JSON of the scene, `files` the mesh files that it names (name -> text), `traits` what statistics are made
of. Lengths are in units of a size L of the scene, bodies about 0.3 L across:

    bodies      cuboids, bars, balls, cylinders, rings, strips with half a twist (tets); cloth, ribbons, spheres,
                polyhedra, tubes, rings, spikes (shells); nets of springs; particles
    obstacles   planes, balls, capsules, boxes; fixed, or with a prescribed motion
    layouts     column   bodies in a row, moving towards each other, with an obstacle at one or both ends
                swarm    bodies on a lattice, moving towards the middle, with obstacles between
                pile     bodies above a floor between walls, falling
                press    bodies between a floor and a plane that comes down by up to half of the room
                twist    a bar or ribbon whose ends turn against each other
                clash    what is driven meets what is driven: impossible, and has to end with an outcome

With `cuts` set, bodies are cut while they move: by one or two planes or rectangles that end inside of them, at once or
in strokes, at rest or as they are deformed then, whatever touches them.

Speeds up to 1000 m/s, steps 1e-4 to 0.1 s, Young's modulus 1e2 to 1e10 Pa, Poisson's ratio up to .499, friction 0 to 2,
thickness 1e-6 to 0.1 L.
"""

import math
import random

METHODS = ["backward-euler", "implicit-midpoint", "bdf2"]
MODELS = ["stable-neo-hookean", "neo-hookean", "fixed-corotated", "corotational", "arap", "st-venant-kirchhoff",
          "linear"]
MODEL_WEIGHTS = [30, 25, 13, 13, 8, 7, 4]
LAYOUTS = ["column", "swarm", "pile", "press", "twist", "clash"]
LAYOUT_WEIGHTS = [51, 19, 10, 12, 7, 1]
SHELL_SHAPES = ["cloth", "ribbon", "sphere", "polyhedron", "tube", "ring", "spikes"]
SOLID_SHAPES = ["cuboid", "bar", "ball", "cylinder", "torus", "moebius"]
EVERYWHERE = "everything"

# Step solver and contact solver of every scene; what else a seed makes does not depend on them
solver = "newton"
contact_solver = "barrier"
cuts = False  # bodies are cut
body_methods = False  # bodies have methods of their own
# methods that have solvers of their own
ONE_SOLVE = ("semi-implicit", "siere", "multirate-euler", "imex", "async-contact")


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


# ---- Vectors


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def scaled(s, a):
    return [s * x for x in a]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def unit(rng):
    while True:
        v = [rng.uniform(-1, 1) for _ in range(3)]
        length = math.sqrt(dot(v, v))
        if 0.1 < length < 1:
            return scaled(1 / length, v)


def turned(v, axis, degrees):
    """v after a turn about a unit vector (Rodrigues)."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    cross = [axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2], axis[0] * v[1] - axis[1] * v[0]]
    return [c * v[k] + s * cross[k] + (1 - c) * dot(axis, v) * axis[k] for k in range(3)]


# ---- Bodies


class Body:
    """A body before it is placed: its JSON, the half sides of a box around it, its shortest edge and its nodes.

    `round_axis`: the axis that it is round about, "all" for a ball, None for what fills its box; `tube`: the radius of
    a ring's tube.
    """

    def __init__(self, kind, half, edge, nodes, round_axis=None, tube=0, **fields):
        self.round_axis, self.tube = round_axis, tube
        self.kind, self.half, self.edge, self.nodes, self.fields = kind, half, edge, nodes, fields
        self.axis, self.degrees, self.place = [0, 1, 0], 0, [0, 0, 0]
        self.ends = None  # two selections of nodes, where the body has ends

    def turn(self, axis, degrees):
        self.axis, self.degrees = axis, degrees

    def reach(self, direction):
        """At least as far as the body extends along a direction from its origin."""
        own = turned(direction, self.axis, -self.degrees)
        if self.round_axis is None:
            return sum(abs(h * d) for h, d in zip(self.half, own))
        if self.round_axis == "all":
            return self.half[0]
        k = self.round_axis
        across = math.sqrt(max(0, 1 - own[k] ** 2))
        if self.tube:
            return (self.half[(k + 1) % 3] - self.tube) * across + self.tube
        return self.half[k] * abs(own[k]) + self.half[(k + 1) % 3] * across

    def radius(self):
        return math.sqrt(dot(self.half, self.half))

    def json(self):
        return {**self.fields, "transform": {"axis": self.axis, "degrees": self.degrees, "translate": self.place}}


def solid(rng, L, shape=None):
    shape = shape or rng.choice(SOLID_SHAPES)
    a = rng.uniform(0.2, 0.4) * L
    ends = None
    if shape in ("cuboid", "bar"):
        size, cells = [1.5 * a, 0.3 * a, 0.3 * a], [rng.randint(4, 8), 1, 1]
        if shape == "cuboid":
            size, cells = [a, a * rng.uniform(0.2, 1), a * rng.uniform(0.2, 1)], [rng.randint(1, 3) for _ in range(3)]
        made = {shape: {"size": size, "cells": cells}}
        half, edge = scaled(0.5, size), min(s / c for s, c in zip(size, cells))
        nodes, ends = math.prod(c + 1 for c in cells), ["left", "right"]
    elif shape == "ball":
        layers = rng.randint(1, 2)
        made = {"ball": {"radius": 0.5 * a, "layers": layers}}
        half, edge, nodes = [0.5 * a] * 3, 0.4 * a / layers, [13, 55][layers - 1]
    elif shape == "cylinder":
        cells = rng.randint(2, 5)
        made = {"cylinder": {"radius": 0.3 * a, "length": a, "rings": 1, "cells": cells}}
        half, edge = [0.5 * a, 0.3 * a, 0.3 * a], min(0.3 * a, a / cells)
        nodes, ends = 7 * (cells + 1), ["left", "right"]
    elif shape == "torus":
        cells = rng.randint(6, 10)
        made = {"torus": {"ring_radius": 0.5 * a, "tube_radius": 0.15 * a, "rings": 1, "cells": cells}}
        half, edge, nodes = [0.65 * a, 0.15 * a, 0.65 * a], 0.15 * a, 7 * cells
    else:
        around = rng.randint(12, 20)
        made = {"moebius": {"radius": 0.5 * a, "width": 0.4 * a, "thickness": 0.08 * a, "cells_around": around,
                            "cells_across": 2, "cells_through": 1}}
        half, edge, nodes = [0.75 * a, 0.25 * a, 0.75 * a], 0.08 * a, 6 * around
    about = {"ball": "all", "cylinder": 0, "torus": 1, "moebius": 1}.get(shape)
    body = Body(shape, half, edge, nodes, about, 0.15 * a if shape == "torus" else 0, mesh={"shape": made},
                material=material(rng))
    body.ends = ends
    if rng.random() < 0.1:
        body.fields["consistent_mass"] = True
    return body


def shell(rng, L, shape=None):
    shape = shape or rng.choice(SHELL_SHAPES)
    a = rng.uniform(0.25, 0.45) * L
    ends = None
    if shape in ("cloth", "ribbon"):
        n = rng.randint(2, 8)
        size, cells = ([a, a], [n, n]) if shape == "cloth" else ([1.5 * a, 0.2 * a], [12, 2])
        made = {shape: {"length": size[0], "width": size[1], "cells_along": cells[0], "cells_across": cells[1]}}
        half, edge, nodes = [0.5 * size[0], 0, 0.5 * size[1]], min(size[0] / cells[0], size[1] / cells[1]), 0
        nodes, ends = (cells[0] + 1) * (cells[1] + 1), ["left", "right"]
    elif shape == "sphere":
        rings = rng.randint(2, 6)
        made = {"sphere": {"radius": 0.4 * a, "rings": rings, "segments": rings + 2}}
        half, edge, nodes = [0.4 * a] * 3, 0.4 * a * 3.0 / (rings + 1) / (rings + 2), 2 + rings * (rings + 2)
    elif shape == "polyhedron":
        kind, cells = rng.choice(["tetrahedron", "cube", "octahedron", "icosahedron"]), rng.randint(1, 3)
        made = {"polyhedron": {"kind": kind, "radius": 0.4 * a, "cells": cells, "round": rng.random() < 0.3}}
        half, edge, nodes = [0.4 * a] * 3, 0.25 * a / cells, 10 * cells * cells + 2
    elif shape == "tube":
        rings, segments = rng.randint(2, 6), rng.randint(5, 10)
        made = {"tube": {"radius": 0.3 * a, "length": 0.8 * a, "rings": rings, "segments": segments}}
        half, nodes = [0.3 * a, 0.4 * a, 0.3 * a], rings * segments
        edge = min(1.8 * a / segments, 0.8 * a / (rings - 1))
    elif shape == "ring":
        rings, segments = rng.randint(6, 10), rng.randint(4, 6)
        made = {"ring": {"ring_radius": 0.4 * a, "tube_radius": 0.12 * a, "rings": rings, "segments": segments}}
        half, edge, nodes = [0.52 * a, 0.12 * a, 0.52 * a], 0.1 * a, rings * segments
    else:
        made = {"spikes": {"size": 0.7 * a, "height": 0.4 * a, "apex": rng.uniform(2, 20), "count": 2}}
        half, edge, nodes = [0.35 * a, 0.4 * a, 0.35 * a], 0.005 * a, 50
    sheet = {"thickness": log_uniform(rng, 1e-4, 1e-2) * L}
    if rng.random() < 0.3:
        sheet["membrane"] = "springs"
    about = {"sphere": "all", "polyhedron": "all", "tube": 1, "ring": 1}.get(shape)
    body = Body(shape, half, edge, nodes, about, 0.12 * a if shape == "ring" else 0, mesh={"shape": made}, shell=sheet,
                material=material(rng))
    body.ends = ends
    return body


def net(rng, L, files):
    """A square net, as an OBJ file of lines, with some of its diagonals."""
    a, n = rng.uniform(0.25, 0.45) * L, rng.randint(2, 7)
    lines = [f"v {a * (i / n - 0.5):.17g} 0 {a * (k / n - 0.5):.17g}" for i in range(n + 1) for k in range(n + 1)]
    at = lambda i, k: 1 + i * (n + 1) + k
    diagonals = rng.random() < 0.5
    for i in range(n + 1):
        for k in range(n + 1):
            lines += [f"l {at(i, k)} {at(i + 1, k)}"] if i < n else []
            lines += [f"l {at(i, k)} {at(i, k + 1)}"] if k < n else []
            lines += [f"l {at(i, k)} {at(i + 1, k + 1)}"] if diagonals and i < n and k < n else []
    name = f"net-{len(files)}.obj"
    files[name] = "\n".join(lines) + "\n"
    body = Body("net", [0.5 * a, 0, 0.5 * a], a / n, (n + 1) ** 2, mesh={"file": name},
                springs={"stiffness": log_uniform(rng, 1e-1, 1e7), "node_mass": log_uniform(rng, 1e-4, 1e-1)})
    body.ends = [{"nodes": list(range(n + 1))}, {"nodes": list(range(n * (n + 1), (n + 1) ** 2))}]
    return body


def particles(rng, L):
    a, n = rng.uniform(0.2, 0.4) * L, rng.randint(1, 4)
    radius = rng.choice([0, rng.uniform(0.05, 0.45)]) * a / n
    mesh = {"shape": {"cloth": {"length": a, "width": a, "cells_along": n, "cells_across": n}}}
    return Body("particles", [0.5 * a + radius, radius, 0.5 * a + radius], a / n - 2 * radius, (n + 1) ** 2, mesh=mesh,
                particles={"radius": radius, "mass": log_uniform(rng, 1e-3, 10)})


def material(rng):
    poisson = 0.499 if rng.random() < 0.2 else rng.uniform(0, 0.499)
    return {"model": rng.choices(MODELS, MODEL_WEIGHTS)[0], "young": log_uniform(rng, 1e2, 1e10), "poisson": poisson,
            "density": log_uniform(rng, 10, 1e4)}


def any_body(rng, L, files):
    kind = rng.choices(["solid", "shell", "net", "particles"], [50, 33, 9, 8])[0]
    body = {"solid": lambda: solid(rng, L), "shell": lambda: shell(rng, L), "net": lambda: net(rng, L, files),
            "particles": lambda: particles(rng, L)}[kind]()
    if rng.random() < 0.15 and kind != "particles":
        damping = {"mass": log_uniform(rng, 1e-2, 10)} if rng.random() < 0.5 or kind == "net" else {
            "stiffness": log_uniform(rng, 1e-6, 1e-2)}
        body.fields["damping"] = damping
    if rng.random() < 0.15:
        body.fields["friction"] = rng.uniform(0, 2)
    return body


# ---- Prescribed motion


def push(direction, distance, speed):
    """A motion by a distance along a direction, at a speed."""
    return [{"velocity": {"velocity": scaled(speed, direction), "until": distance / speed}}]


def obstacle(kind, centre, radius, along, motions):
    """An obstacle within a ball of a radius; `along` is a unit vector."""
    if kind == "sphere":
        made = {"centre": centre, "radius": radius}
    elif kind == "capsule":
        half = scaled(0.7 * radius, along)
        made = {"a": add(centre, scaled(-1, half)), "b": add(centre, half), "radius": 0.3 * radius}
    elif kind == "mesh":
        place = {"axis": along, "degrees": 60, "translate": centre}
        made = {"mesh": {"shape": mesh_shape(radius, along)}, "transform": place}
    else:
        half = [radius / math.sqrt(3)] * 3
        made = {"min": add(centre, scaled(-1, half)), "max": add(centre, half)}
    return {kind: {**made, **({"motions": motions} if motions else {})}}


def mesh_shape(radius, along):
    """One of some shapes within a ball of a radius, chosen by the numbers of a direction."""
    shapes = [{"polyhedron": {"kind": "icosahedron", "radius": radius, "cells": 2, "round": True}},
              {"polyhedron": {"kind": "tetrahedron", "radius": radius, "cells": 1}},
              {"sphere": {"radius": radius, "rings": 4, "segments": 7}},
              {"tube": {"radius": 0.6 * radius, "length": 1.2 * radius, "rings": 3, "segments": 8}},
              {"spikes": {"size": 0.9 * radius, "height": 0.5 * radius, "apex": 8, "count": 2}},
              {"cuboid": {"size": [radius, 0.8 * radius, 0.6 * radius], "cells": [2, 1, 1]}}]
    return shapes[int(1e6 * abs(along[0])) % len(shapes)]


def round_kind(rng):
    return rng.choice(["sphere", "capsule", "box", "mesh", "mesh"])


# ---- Layouts: each fills scene["bodies"] (of class Body) and scene["obstacles"]


def turn_any_way(rng, body):
    if rng.random() < 0.3:
        body.turn([0, 1, 0], 0)  # faces parallel to each other: many pairs at once
    else:
        body.turn(unit(rng), rng.uniform(0, 360))


def spin(rng, speed, body):
    return scaled(rng.uniform(0, 0.5) * speed / body.radius(), unit(rng)) if rng.random() < 0.3 else [0, 0, 0]


def column(rng, p, bodies, obstacles):
    axis = rng.choice([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], unit(rng)])
    along, count, across = 0, len(bodies), 0
    for body in bodies:
        turn_any_way(rng, body)
        aside = scaled(rng.uniform(0, 0.05) * p["L"], unit(rng))
        aside = add(aside, scaled(-dot(aside, axis), axis))
        along += body.reach(axis)
        body.place = add(scaled(along, axis), aside)
        along += body.reach(axis) + gap(rng, p)
        across = max(across, body.radius() + 0.05 * p["L"])
    for i, body in enumerate(bodies):
        towards = 1 if i < (count - 1) / 2 else -1
        linear = add(scaled(towards * p["speed"] * rng.uniform(0.2, 1), axis), scaled(0.2 * p["speed"], unit(rng)))
        body.fields["velocity"] = {"linear": linear, "angular": spin(rng, p["speed"], body)}
    ends = rng.choice([[], [0], [0], [0, 1]]) if count > 1 else [0]
    moving = rng.choice(ends) if ends and rng.random() < 0.4 else None
    for end in ends:
        inwards = axis if end == 0 else scaled(-1, axis)
        surface = scaled(-gap(rng, p) if end == 0 else along, axis)
        motions = push(inwards, rng.uniform(0.05, 0.4) * along, p["speed"]) if end == moving else []
        kind = rng.choice(["plane", "round"])
        if kind == "plane":
            plane = {"point": surface, "normal": inwards, **({"motions": motions} if motions else {})}
            obstacles.append({"plane": plane})
        else:
            radius = rng.uniform(0.05, 0.5) * p["L"]
            centre = add(surface, scaled(-radius, inwards))
            obstacles.append(obstacle(round_kind(rng), centre, radius, unit(rng), motions))
    if rng.random() < 0.25:  # and one beside them that comes nearer
        side = unit(rng)
        side = add(side, scaled(-dot(side, axis), axis))
        side = scaled(1 / math.sqrt(dot(side, side)), side)
        radius = rng.uniform(0.03, 0.2) * p["L"]
        centre = add(scaled(0.5 * along, axis), scaled(across + radius + gap(rng, p), side))
        motions = push(scaled(-1, side), rng.uniform(0.1, 0.5) * across, p["speed"])
        obstacles.append(obstacle(round_kind(rng), centre, radius, unit(rng), motions))
    hold_some(rng, bodies, p)


def swarm(rng, p, bodies, obstacles):
    pitch = 2.05 * max(body.radius() for body in bodies) + gap(rng, p)
    cells = [[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    places = [scaled(pitch, cell) for cell in rng.sample(cells, len(bodies) + 2)]
    for body, place in zip(bodies, places):
        turn_any_way(rng, body)
        body.place = place
        distance = max(math.sqrt(dot(place, place)), 0.1 * pitch)
        linear = add(scaled(-p["speed"] / distance, place), scaled(0.2 * p["speed"], unit(rng)))
        body.fields["velocity"] = {"linear": linear, "angular": spin(rng, p["speed"], body)}
    for place in places[len(bodies):]:
        if rng.random() < 0.5:
            moves = rng.random() < 0.5
            motions = push(unit(rng), rng.uniform(0, 0.5) * pitch, p["speed"]) if moves else []
            if moves and rng.random() < 0.3:
                rate = rng.uniform(-1, 1) * min(p["speed"] / pitch, 1 / p["step"])
                motions = [{"rotation": {"point": place, "axis": unit(rng), "rate": rate}}]
            obstacles.append(obstacle(round_kind(rng), place, 0.3 * pitch, unit(rng), motions))
    hold_some(rng, bodies, p)


def pile(rng, p, bodies, obstacles):
    across, height = max(body.radius() for body in bodies), 0
    for body in bodies:
        turn_any_way(rng, body)
        height += gap(rng, p) + body.reach([0, 1, 0])
        body.place = [rng.uniform(-0.3, 0.3) * across, height, rng.uniform(-0.3, 0.3) * across]
        height += body.reach([0, 1, 0])
        body.fields["velocity"] = {"linear": [0, -p["speed"] * rng.uniform(0.5, 1), 0]}
    wall = 1.31 * across + gap(rng, p)
    obstacles.append({"plane": {"point": [0, 0, 0], "normal": [0, 1, 0]}})
    for normal in ([1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]):
        if rng.random() < 0.8:
            obstacles.append({"plane": {"point": scaled(-wall, normal), "normal": normal}})


def press(rng, p, bodies, obstacles):
    height = 0
    for body in bodies:
        turn_any_way(rng, body)
        height += gap(rng, p) + body.reach([0, 1, 0])
        body.place = [0, height, 0]
        height += body.reach([0, 1, 0])
    height += gap(rng, p)
    obstacles.append({"plane": {"point": [0, 0, 0], "normal": [0, 1, 0]}})
    motions = push([0, -1, 0], rng.uniform(0.05, 0.5) * height, min(p["speed"], height / p["step"]))
    if rng.random() < 0.7:
        obstacles.append({"plane": {"point": [0, height, 0], "normal": [0, -1, 0], "motions": motions}})
    else:
        radius = rng.uniform(0.1, 0.3) * p["L"]
        obstacles.append(obstacle(round_kind(rng), [0, height + radius, 0], radius, [1, 0, 0], motions))


def twist(rng, p, bodies, obstacles):
    """The first body alone, at most two turns in all."""
    del bodies[1:]
    bodies[0] = solid(rng, p["L"], "bar") if rng.random() < 0.5 else shell(rng, p["L"], "ribbon")
    rate = rng.uniform(0.3, 1) * min(12 / p["end"], 1 / p["step"])
    bodies[0].fields["driven"] = [
        {"where": end, "motions": [{"rotation": {"axis": [1, 0, 0], "rate": sign * rate}}]}
        for sign, end in zip((1, -1), bodies[0].ends)]


def clash(rng, p, bodies, obstacles):
    for side in (-1, 1):
        wall = shell(rng, p["L"], "cloth")
        wall.turn([0, 0, 1], 90)
        wall.place = [side * (0.2 * p["L"]), 0, 0]
        motions = push([-side, 0, 0], 0.3 * p["L"], 0.5 * p["L"] / p["end"])
        wall.fields["driven"] = [{"where": EVERYWHERE, "motions": motions}]
        bodies.append(wall)
    bodies[0].place = [0, 3 * p["L"], 0]


LAYOUT = {"column": column, "swarm": swarm, "pile": pile, "press": press, "twist": twist, "clash": clash}


def gap(rng, p):
    """Between neighbours at the start: such that they meet, if they can, and usually more than the thickness."""
    travel = min(p["speed"] * p["end"], 0.5 * p["L"])
    return max(travel * rng.uniform(0.01, 0.3), p["least_gap"])


def hold_some(rng, bodies, p):
    """Some nodes never move or have a prescribed motion; at least one body stays free."""
    for body in bodies[1:]:
        if rng.random() > 0.2 or not body.ends:
            continue
        del body.fields["velocity"]
        ways = [lambda: {"fixed": [body.ends[0]]}, lambda: {"driven": [moved(body.ends[1])]}]
        if body.kind in ("cloth", "cuboid"):
            ways.append(lambda: {"driven": [moved(EVERYWHERE)]})
        moved = lambda where: {"where": where, "motions": push(
            unit(rng), rng.uniform(0, 0.3) * body.radius(), p["speed"])}
        body.fields.update(rng.choice(ways)())


# ---- Cuts


def can_be_cut(body):
    return body.kind in SOLID_SHAPES or body.kind in SHELL_SHAPES


def surface(rng):
    """In shares of the body's box: a plane, or a rectangle that may end inside."""
    middle = [rng.uniform(0.3, 0.7) for _ in range(3)]
    if rng.random() < 0.4:
        return {"plane": {"point": middle, "normal": unit(rng), "relative": True}}
    along, across = unit(rng), unit(rng)
    across = add(across, scaled(-dot(along, across), along))
    across = scaled(1 / math.sqrt(dot(across, across)), across)
    long, wide = rng.uniform(0.3, 2), rng.uniform(0.3, 3)
    corner = add(middle, add(scaled(-rng.uniform(0.2, 1) * long, along), scaled(-rng.uniform(0.2, 0.8) * wide, across)))
    return {"rectangle": {"corner": corner, "along": scaled(long, along), "across": scaled(wide, across),
                          "relative": True}}


def some_cuts(rng, p, bodies):
    names = [f"body-{i}" for i, body in enumerate(bodies) if can_be_cut(body)]
    made = []
    for _ in range(rng.choice([1, 1, 2])):
        cut = {"time": rng.uniform(0, 0.6) * p["end"], "surface": surface(rng)}
        if rng.random() < 0.5:
            cut |= {"until": cut["time"] + rng.uniform(0.1, 0.4) * p["end"], "strokes": rng.randint(2, 6)}
        if rng.random() < 0.6:
            cut["body"] = rng.choice(names)
        if rng.random() < 0.3:
            cut["deformed"] = True
        if rng.random() < 0.3:
            cut["tolerance"] = rng.uniform(0.01, 0.25)
        made.append(cut)
    return made


# ---- The scene


def settings(rng, bodies, p):
    edge = min(body.edge for body in bodies)
    thickness = min(log_uniform(rng, 1e-6, 1e-1) * p["L"], 0.4 * edge)
    contact = {"thickness": thickness, "friction": rng.choice([0, rng.uniform(0, 2)])}
    if rng.random() < 0.1:
        contact["gap"] = min(log_uniform(rng, 1e-5, 1e-2) * p["L"], 0.1 * edge)
    if rng.random() < 0.1:
        contact["pairs"] = [{"a": "body-0", "friction": rng.uniform(0, 2)}]
    return contact


def some_parts(seed, scene):
    """Of most bodies what lies on one side of a plane takes shorter steps; half of the scenes have modes, too."""
    rng = random.Random(f"parts {seed}")
    for body in scene["bodies"]:
        substeps, normal = rng.randint(2, 8), unit(rng)
        if rng.random() < 0.8 and "particles" not in body:
            where = {"plane": {"point": body["transform"]["translate"], "normal": normal}}
            body["tempo"] = [{"name": "part", "where": where, "substeps": substeps}]
    known = not any("driven" in body or body.get("consistent_mass") for body in scene["bodies"])
    if known and rng.random() < 0.5:
        scene["integrator"]["options"] = {"modes": rng.randint(1, 12)}


def some_methods(seed, scene):
    """Half of the bodies are stepped by semi-implicit or siere; at least one is, and of two or more one is not."""
    rng = random.Random(f"methods {seed}")
    own = [rng.random() < 0.5 for _ in scene["bodies"]]
    if not any(own):
        own[rng.randrange(len(own))] = True
    elif all(own) and len(own) > 1:
        own[rng.randrange(len(own))] = False
    for body, named in zip(scene["bodies"], own):
        modes = rng.randint(0, 12)
        if named and modes:
            body["integrator"] = {"method": "siere", "options": {"modes": modes}}
        elif named:
            body["integrator"] = {"method": "semi-implicit"}


def make(seed):
    rng, files = random.Random(f"contact {seed}"), {}
    layout = rng.choices(LAYOUTS, LAYOUT_WEIGHTS)[0]
    p = {"L": 1 if rng.random() < 0.5 else log_uniform(rng, 1e-2, 10), "step": log_uniform(rng, 1e-4, 1e-1),
         "speed": log_uniform(rng, 0.1, 1000), "steps": rng.randint(10, 30)}
    p["end"] = p["step"] * p["steps"]
    bodies = [any_body(rng, p["L"], files) for _ in range(1 if layout == "clash" else rng.randint(1, 4))]
    while sum(body.nodes for body in bodies) > 300:
        bodies.pop()
    if all(body.kind == "net" for body in bodies):
        bodies.insert(0, solid(rng, p["L"]))  # springs among themselves cannot be judged
    blade = random.Random(f"cuts {seed}")
    if cuts and not any(can_be_cut(body) for body in bodies):
        bodies.insert(0, solid(blade, p["L"]))
    contact = settings(rng, bodies, p)
    close = rng.random() < 0.15  # closer than the thickness at the start
    p["least_gap"] = contact.get("gap", 0) + contact["thickness"] * (rng.uniform(0.1, 1) if close else 1.1)
    obstacles = []
    LAYOUT[layout](rng, p, bodies, obstacles)
    if rng.random() < 0.1 and not close:
        contact["thickness"] = "auto"
    method = rng.choice(METHODS)
    gravity = layout == "pile" or rng.random() < 0.5
    scene = {"rubato": 1,
             "bodies": [{"name": f"body-{i}", **body.json()} for i, body in enumerate(bodies)],
             "obstacles": obstacles, "contact": {**contact, "solver": contact_solver},
             "forces": [{"gravity": {}}] if gravity else [],
             "time": {"step": p["step"], "frame": p["step"], "end": p["end"]},
             "integrator": {"method": method} | ({} if method in ONE_SOLVE else {"solver": solver})}
    if method == "multirate-euler":
        some_parts(seed, scene)
    if body_methods:
        some_methods(seed, scene)
    for body in scene["bodies"] if method in ("imex", "async-contact", "energy-euler") else []:
        body.pop("consistent_mass", None)  # they have a mass per node
    if cuts:
        scene["cuts"] = some_cuts(blade, p, bodies)
    materials = [body.fields["material"] for body in bodies if "material" in body.fields]
    solids = [body.fields["material"]["model"] for body in bodies if body.kind in SOLID_SHAPES]
    traits = {"layout": layout, "method": method, "step": p["step"], "speed": p["speed"], "L": p["L"],
              "way per step": p["speed"] * p["step"] / p["L"],
              "friction": contact["friction"], "gap": contact.get("gap", 0) / p["L"],
              "thickness": contact["thickness"] if contact["thickness"] == "auto" else contact["thickness"] / p["L"],
              "young": [m["young"] for m in materials], "poisson": max([m["poisson"] for m in materials], default=0),
              "models": solids, "kinds": [body.kind for body in bodies], "gravity": gravity,
              "obstacles": [next(iter(o)) for o in obstacles], "nodes": sum(body.nodes for body in bodies),
              "close": close, "cuts": len(scene.get("cuts", []))}
    return scene, files, traits
