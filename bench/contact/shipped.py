#!/usr/bin/env python3
"""Writes the scenes of scenes/contact, which have too many bodies to be typed, and the small meshes they need.

    bench/contact/shipped.py [NAME …]

Whatever is placed by a formula has it here; every number that was found by trying is named as such in the scene's
"about". One body, force or obstacle a line.
"""

import json
import math
import pathlib
import random
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "scenes" / "contact"
GRAVITY = {"gravity": {}}


def r(x):
    """Rounded to 0.1 micrometres or 1e-7, so that files stay readable."""
    if isinstance(x, float):
        x = round(x, 7)
        return int(x) if x == int(x) and abs(x) < 1e6 else x
    if isinstance(x, dict):
        return {key: r(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [r(value) for value in x]
    return x


def text_of(scene):
    """JSON with one line per item of the long lists."""
    lines = []
    for key, value in r(scene).items():
        if isinstance(value, list) and value:
            items = ",\n".join("    " + json.dumps(item) for item in value)
            lines.append(f'  "{key}": [\n{items}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value)}')
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    return re.sub(r"\b[0-9]+\.0\b", lambda m: f"{float(m[0]):g}".replace("e+0", "e").replace("e+", "e"), text)


def body(name, shape, young, poisson, density, **more):
    mesh = {"file": shape} if isinstance(shape, str) else {"shape": shape}
    material = {"young": young, "poisson": poisson, "density": density}
    return {"name": name, "mesh": mesh, "material": material, **more}


def at(x, y, z, axis=None, degrees=0, **more):
    turn = {"axis": axis, "degrees": degrees} if axis else {}
    return {**turn, "translate": [x, y, z], **more}


def plane(point, normal, *motions):
    value = {"point": point, "normal": normal}
    if motions:
        value["motions"] = list(motions)
    return {"plane": value}


def keyframes(*pairs):
    return {"keyframes": {"times": [p[0] for p in pairs], "offsets": [p[1] for p in pairs]}}


def scene(about, bodies, contact, step, end, frame=0.04, method="backward-euler", **more):
    return {"rubato": 1, "about": about, "bodies": bodies, **more, "contact": contact,
            "time": {"step": step, "end": end, "frame": frame}, "integrator": {"method": method, "solver": "newton"}}


FLOOR = plane([0, 0, 0], [0, 1, 0])


def box_of_planes(x, z):
    return [FLOOR, plane([-x, 0, 0], [1, 0, 0]), plane([x, 0, 0], [-1, 0, 0]), plane([0, 0, -z], [0, 0, 1]),
            plane([0, 0, z], [0, 0, -1])]


def stack_of_blocks():
    """20 layers of three blocks, each layer across the one below."""
    length, height, gap = 0.15, 0.03, 0.0002
    width = length / 3 - 0.002
    bodies = []
    for layer in range(20):
        y = gap + height / 2 + layer * (height + gap)
        for k in (-1, 0, 1):
            place = k * length / 3
            size, x, z = ([length, height, width], 0, place) if layer % 2 else ([width, height, length], place, 0)
            shape = {"cuboid": {"size": size, "cells": [1, 1, 1]}}
            bodies.append(body(f"block-{3 * layer + k + 2}", shape, 1e7, 0.3, 700, transform=at(x, y, z)))
    bodies.append(body("ball", {"ball": {"radius": 0.06, "layers": 2}}, 1e6, 0.4, 2000, transform=at(-1.2, 0.42, 0.01),
                       velocity={"linear": [3, 1.2, 0]}))
    return scene("Sixty wooden blocks in twenty layers, each layer across the one below, stand by friction until a"
                 " ball topples them. The slip speed is a few times the automatic one, with which the tower, hit "
                 "like this, just stays up.",
                 bodies, {"friction": 0.5, "slip_speed": 0.001}, 0.01, 1, forces=[GRAVITY], obstacles=[FLOOR])


def balls(count, across, radius, layers, spacing, start):
    """Layers of across x across balls, each moved and turned a little, so that none falls straight on another."""
    chance = random.Random(1)
    bodies = []
    for k in range(count):
        layer, place = divmod(k, across * across)
        row, column = divmod(place, across)
        free = spacing / 2 - radius
        x, z = ((c - (across - 1) / 2) * spacing + chance.uniform(-0.9, 0.9) * free for c in (column, row))
        axis = [round(chance.uniform(-1, 1), 2) for _ in range(3)]
        bodies.append(body(f"ball-{k + 1}", {"ball": {"radius": radius, "layers": layers}}, 1e5, 0.4, 1000,
                           transform=at(x, start + layer * spacing, z, axis, chance.randrange(180))))
    return bodies


def balls_in_box():
    bodies = balls(20, 2, 0.1, 2, 0.23, 0.15)
    return scene("Twenty soft balls fall into a box and come to rest on each other.",
                 bodies, {"friction": 0.2}, 0.02, 1.6, forces=[GRAVITY], obstacles=box_of_planes(0.25, 0.25))


def balls_in_box_200():
    bodies = balls(200, 5, 0.1, 1, 0.24, 0.15)
    return scene("Two hundred soft balls of 20 tets each, icosahedra, fall into a box. The slip speed of "
                 "friction is larger than the automatic one, to save time.",
                 bodies, {"friction": 0.2, "slip_speed": 0.01}, 0.02, 1, forces=[GRAVITY],
                 obstacles=box_of_planes(0.7, 0.7))


def cloth_stack():
    bodies = []
    for k in range(4):
        cloth = {"cloth": {"length": 0.8, "width": 0.8, "cells_along": 14, "cells_across": 14}}
        bodies.append(body(f"cloth-{k + 1}", cloth, 2e5, 0.3, 300, shell={"thickness": 0.001},
                           transform=at(0, 0.52 + 0.006 * k, 0, [0, 1, 0], 18 * k)))
    sway = {"oscillation": {"amplitude": [0.15, 0, 0], "frequency": 1, "from": 0.4}}
    sphere = {"sphere": {"centre": [0, 0.25, 0], "radius": 0.25, "motions": [sway]}}
    return scene("Four cloths, each turned by 18 degrees against the one below, fall on a sphere that then moves "
                 "to and fro and takes them along by friction. They always keep a millimetre from each other: the "
                 "cloth's thickness. The slip speed of friction is larger than the automatic one, to save time.",
                 bodies, {"friction": 0.4, "gap": 0.001, "slip_speed": 0.02}, 0.02, 1.4, forces=[GRAVITY],
                 obstacles=[FLOOR, sphere])


def knot_of_rods():
    """Four rods at the corners of a square, whose ends turn about the line through its middle."""
    bodies, side, middle, rate = [], 0.12, 0.06, 0.4 * math.pi

    def turn(end, sign):
        return {"where": end, "motions": [{"rotation": {"point": [0, middle, middle], "axis": [1, 0, 0],
                                                        "rate": sign * rate}}]}

    for k, (y, z) in enumerate(((0, 0), (side, 0), (side, side), (0, side))):
        rod = {"bar": {"size": [1, 0.05, 0.05], "cells": [30, 2, 2]}}
        bodies.append(body(f"rod-{k + 1}", rod, 1e4, 0.4, 1000, transform=at(0, y, z),
                           driven=[turn("left", -1), turn("right", 1)]))
    return scene("Four soft rods, whose ends turn against each other by 72 degrees a second each, wind into a knot"
                 " (after the rods of Li et al. 2020).",
                 bodies, {}, 0.025, 7, frame=0.1)


def chain():
    """Ten links that hang 2 mm above each other's reach from a ring that swings."""
    ring, tube, slack = 0.05, 0.012, 0.002
    pitch = 2 * (ring - tube) - slack
    bodies = []
    for k in range(10):
        turn = ([1, 0, 0], 90) if k % 2 else ([0, 0, 1], 90)
        link = {"torus": {"ring_radius": ring, "tube_radius": tube, "rings": 1, "cells": 18}}
        bodies.append(body(f"link-{k + 1}", link, 1e7, 0.4, 1500, transform=at(0, -(k + 1) * pitch, 0, *turn)))
    motion = {"oscillation": {"amplitude": [0.08, 0, 0], "frequency": 0.8}}
    shape = {"ring": {"ring_radius": ring, "tube_radius": tube, "rings": 18, "segments": 8}}
    hook = {"mesh": {"mesh": {"shape": shape}, "transform": {"axis": [1, 0, 0], "degrees": 90}, "motions": [motion]}}
    return scene("Ten rubber links hang in each other from a ring, a mesh that moves to and fro by 8 cm, and "
                 "swing.",
                 bodies, {"friction": 0.2}, 0.02, 2.5, forces=[GRAVITY], obstacles=[hook])


def gripper():
    bodies = [body("fruit", {"ball": {"radius": 0.05, "layers": 3}}, 2e4, 0.45, 800, transform=at(0, 0.0502, 0))]
    for name, sign in (("left", -1), ("right", 1)):
        close = [sign * -0.02, 0, 0]
        up = [sign * -0.02, 0.25, 0]
        motion = keyframes([0, [0, 0, 0]], [0.4, close], [0.6, close], [1.4, up])
        pad = {"cuboid": {"size": [0.012, 0.06, 0.06], "cells": [1, 3, 3]}}
        bodies.append(body(f"{name}-pad", pad, 2e5, 0.4, 1000, transform=at(sign * 0.064, 0.05, 0),
                           driven=[{"where": name, "motions": [motion]}]))
    return scene("Two rubber pads close on a soft ball, lift it by friction and hold it: the pads rise by 25 cm, "
                 "the ball from 5.0 to 29.3 cm (probes.csv).",
                 bodies, {"friction": 0.7}, 0.02, 2, forces=[GRAVITY], obstacles=[FLOOR], probes=[{"name": "fruit",
                 "body": "fruit", "where": "everything"}])


def trash_compactor():
    shapes = [
        ("ball", {"ball": {"radius": 0.1, "layers": 2}}, at(-0.28, 0.11, -0.15)),
        ("cube", {"cuboid": {"size": [0.16, 0.16, 0.16], "cells": [3, 3, 3]}}, at(0, 0.1, -0.14, [0, 1, 0], 25)),
        ("ring", {"torus": {"ring_radius": 0.1, "tube_radius": 0.035, "rings": 1, "cells": 18}}, at(-0.22, 0.04, 0.15)),
        ("drum", {"cylinder": {"radius": 0.07, "length": 0.22, "rings": 2, "cells": 4}}, at(0.06, 0.08, 0.17)),
        ("plank", {"cuboid": {"size": [0.36, 0.04, 0.12], "cells": [8, 1, 3]}}, at(0.3, 0.2, 0.02, [0.2, 1, 0], 70)),
        ("ball-2", {"ball": {"radius": 0.08, "layers": 2}}, at(-0.05, 0.3, 0.02)),
        ("ring-2", {"torus": {"ring_radius": 0.1, "tube_radius": 0.035, "rings": 1, "cells": 18}},
         at(-0.3, 0.28, 0.02, [1, 0, 0], 60)),
    ]
    bodies = [body(name, shape, 1e5, 0.4, 1000, transform=place) for name, shape, place in shapes]

    def wall(axis, side, start, way):
        point, normal, offset = [0, 0, 0], [0, 0, 0], [0, 0, 0]
        point[axis], normal[axis], offset[axis] = side * start, -side, -side * way
        return plane(point, normal, keyframes([0.4, [0, 0, 0]], [2.0, offset], [2.2, offset], [2.6, [0, 0, 0]]))

    walls = [wall(0, -1, 0.52, 0.34), wall(0, 1, 0.52, 0.34), wall(2, -1, 0.3, 0.14), wall(2, 1, 0.3, 0.14)]
    return scene("Seven rubber solids on the floor of a box, whose walls close in to a fifth of its area, hold and"
                 " open again, at two steps a frame.",
                 bodies, {"friction": 0.3}, 0.02, 3, forces=[GRAVITY], obstacles=[FLOOR] + walls)


def triple(u, v, w):
    """u . (v x w)"""
    return (u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0])
            + u[2] * (v[0] * w[1] - v[1] * w[0]))


def icosphere():
    """Nodes and triangles of an icosahedron whose edges are cut in two, all nodes at distance 1."""
    golden = (1 + math.sqrt(5)) / 2
    nodes = [(s, t * golden, 0) for s in (-1, 1) for t in (-1, 1)]
    nodes += [(0, y, z) for _, y, z in ((0, s, t * golden) for s in (-1, 1) for t in (-1, 1))]
    nodes += [(t * golden, 0, s) for s in (-1, 1) for t in (-1, 1)]
    near = [[math.dist(a, b) < 2.1 for b in nodes] for a in nodes]
    count, middles, triangles = len(nodes), {}, []

    def middle(a, b):
        if (a, b) not in middles:
            middles[a, b] = middles[b, a] = len(nodes)
            nodes.append(tuple((nodes[a][k] + nodes[b][k]) / 2 for k in range(3)))
        return middles[a, b]

    for a in range(count):
        for b in range(a + 1, count):
            for c in range(b + 1, count):
                if near[a][b] and near[b][c] and near[a][c]:
                    ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
                    triangles += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    nodes = [tuple(x / math.hypot(*p) for x in p) for p in nodes]
    outwards = []
    for a, b, c in triangles:
        outwards.append((a, b, c) if triple(nodes[a], nodes[b], nodes[c]) > 0 else (a, c, b))
    return nodes, outwards


def swelling_ball(stem):
    """Four frames of a ball that swells to the front and the back from 5 to 11 cm."""
    nodes, triangles = icosphere()
    for frame, (a, b, c) in enumerate(((0.05, 0.05, 0.05), (0.05, 0.06, 0.08), (0.05, 0.07, 0.11), (0.05, 0.06, 0.08))):
        lines = [f"v {a * x:.5f} {b * y:.5f} {c * z:.5f}" for x, y, z in nodes]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
        (FOLDER / "meshes" / f"{stem}_{frame}.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")


def squeezed_animal():
    swelling_ball("bun")
    drums = []
    for side in (-1, 1):
        closed = [-side * 0.06, 0, 0]
        inwards = keyframes([0.2, [0, 0, 0]], [1.2, closed], [1.8, closed], [2.2, [0, 0, 0]])
        turn = {"rotation": {"point": [side * 0.19, 0.15, 0], "axis": [0, 0, 1], "rate": side * 1.5}}
        drums.append({"mesh": {"mesh": {"shape": {"cylinder": {"radius": 0.08, "length": 0.2, "rings": 2, "cells": 4}}},
                               "transform": at(side * 0.19, 0.15, 0, [0, 1, 0], 90), "motions": [turn, inwards]}})
    bun = {"mesh": {"mesh": {"file": "meshes/bun_0.obj"}, "transform": at(0, 0.16, -0.18),
                    "sequence": {"file": "meshes/bun_#.obj", "first": 0, "last": 3, "rate": 2, "from": 0.3}}}
    bodies = [body("animal", {"armadillo": {"size": 0.3, "resolution": 15.5}}, 1e5, 0.4, 1000,
                   transform=at(0, 0.0005, 0))]
    return scene("An animal is squeezed between two turning drums, meshes with scripted motions, while behind its "
                 "back a ball swells, a mesh that follows a sequence of OBJ files, and pushes it out.",
                 bodies, {"friction": 0.4}, 0.02, 2.4, forces=[GRAVITY], obstacles=[FLOOR] + drums + [bun])


def twisted_sheet():
    def turn(end, sign):
        rotation = {"point": [0, 0, 0], "axis": [1, 0, 0], "rate": sign * 0.4 * math.pi}
        return {"where": end, "motions": [{"rotation": rotation}]}

    sheet = {"cuboid": {"size": [1, 0.01, 1], "cells": [24, 1, 24]}}
    bodies = [body("sheet", sheet, 2e4, 0.4, 1000, driven=[turn("left", -1), turn("right", 1)])]
    return scene("A soft sheet, two of its sides turning against each other by 72 degrees a second each, is wrung "
                 "until it lies on itself (after the mat of Li et al. 2020).",
                 bodies, {}, 0.04, 3.6, frame=0.12)


def squash():
    press = keyframes([0, [0, 0, 0]], [2, [0, -0.902, 0]], [2.4, [0, -0.902, 0]], [3.4, [0, 0, 0]])
    bodies = [body("block", {"cuboid": {"size": [0.6, 0.98, 0.6], "cells": [5, 8, 5]}}, 5e4, 0.3, 1000,
                   transform=at(0, 0.5, 0))]
    return scene("A soft block of 98 cm between the floor and a plate, which is not drawn, that comes down to 9.8 "
                 "cm, stays there and rises again: a tenth of its height.",
                 bodies, {"friction": 0.3}, 0.02, 4, forces=[GRAVITY], obstacles=[FLOOR, plane([0, 1, 0], [0, -1, 0],
                 press)])


def voussoir(path, inner, outer, depth, degrees):
    """A wedge of eight nodes and six tets, symmetric about the y axis, whose sides point to the origin."""
    half = math.radians(degrees / 2)
    nodes = []
    for z in (-depth / 2, depth / 2):
        for radius in (inner, outer):
            for sign in (-1, 1):
                nodes.append((sign * radius * math.sin(half), radius * math.cos(half), z))
    tets = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", "8"]
    lines += [f"{i + 1} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(nodes)]
    lines += ["$EndNodes", "$Elements", "6"]
    for i, tet in enumerate(tets):
        a, b, c, d = (nodes[k] for k in tet)
        u, v, w = ([p[k] - a[k] for k in range(3)] for p in (b, c, d))
        volume = triple(u, v, w)
        order = tet if volume > 0 else (tet[0], tet[2], tet[1], tet[3])
        lines.append(f"{i + 1} 4 2 1 1 " + " ".join(str(k + 1) for k in order))
    path.write_text("\n".join(lines + ["$EndElements"]) + "\n", encoding="utf-8")


def masonry_arch():
    """Half a ring of 25 wedges. Moving each one outwards by s opens every joint by 2 s sin(3.6 degrees)."""
    count, gap = 25, 5e-5
    degrees = 180 / count
    voussoir(FOLDER / "meshes" / "voussoir.msh", 2.0, 2.5, 0.6, degrees)
    shift = gap / (2 * math.sin(math.radians(degrees / 2)))
    bodies = []
    for k in range(count):
        angle = 90 - degrees / 2 - k * degrees
        x, y = -shift * math.sin(math.radians(angle)), shift * math.cos(math.radians(angle))
        bodies.append(body(f"voussoir-{k + 1}", "meshes/voussoir.msh", 2e10, 0.2, 2300,
                           transform=at(x, y, 0, [0, 0, 1], angle)))
    probes = [{"name": "keystone", "body": "voussoir-13", "where": "everything"}]
    return scene("Twenty-five wedges of stone make a round arch of 4 m that stands by friction alone. Once its "
                 "joints of 0.05 mm have closed, the keystone sinks by 0.07 mm a second, since smoothed friction "
                 "creeps. With friction 0.2 it falls. "
                 "Thickness and slip speed were chosen small; with the automatic slip speed the keystone sinks 17 "
                 "times as fast.",
                 bodies, {"friction": 0.5, "thickness": 2e-5, "slip_speed": 5e-5}, 0.01, 5, probes=probes,
                 forces=[GRAVITY], obstacles=[FLOOR])


def house_of_cards():
    """Storeys of pairs of cards that lean on each other, with flat cards between them."""
    length, thick, width, lean, gap, storeys = 0.09, 0.002, 0.06, 22, 0.0001, 3
    a = math.radians(lean)
    foot = length * math.sin(a)  # from foot to top, along x
    height = length * math.cos(a) + thick * math.sin(a)
    pitch = 2 * (foot + thick * math.cos(a)) + 0.02
    card = {"cuboid": {"size": [thick, length, width], "cells": [1, 3, 2]}}
    bodies, y = [], gap
    for storey in range(storeys):
        pairs = storeys - storey
        for k in range(pairs):
            x = (k - (pairs - 1) / 2) * pitch
            for sign in (-1, 1):
                centre = sign * (gap / 2 + foot / 2 + thick / 2 * math.cos(a))
                bodies.append(body(f"card-{len(bodies) + 1}", card, 1e8, 0.3, 800,
                                   transform=at(x + centre, y + height / 2, 0, [0, 0, 1], sign * lean)))
        y += height + gap
        for k in range(pairs - 1):
            x = (k - (pairs - 2) / 2) * pitch
            left, right = (x + side * pitch / 2 + side * (0.01 if outermost else -gap)
                           for side, outermost in ((-1, k == 0), (1, k == pairs - 2)))
            flat = {"cuboid": {"size": [right - left, thick, width], "cells": [3, 1, 2]}}
            bodies.append(body(f"card-{len(bodies) + 1}", flat, 1e8, 0.3, 800,
                               transform=at((left + right) / 2, y + thick / 2, 0)))
        y += thick + gap
    probes = [{"name": "top", "body": f"card-{len(bodies)}", "where": "everything"}]
    return scene("Fifteen stiff cards that lean and lie on each other stand by friction; the top ones sink by 0.14"
                 " mm in 3 s.",
                 bodies, {"friction": 0.6}, 0.01, 3, probes=probes, forces=[GRAVITY], obstacles=[FLOOR])


SCENES = {
    "stack-of-blocks": stack_of_blocks,
    "balls-in-box": balls_in_box,
    "balls-in-box-200": balls_in_box_200,
    "cloth-stack": cloth_stack,
    "knot-of-rods": knot_of_rods,
    "chain": chain,
    "gripper": gripper,
    "trash-compactor": trash_compactor,
    "squeezed-animal": squeezed_animal,
    "twisted-sheet": twisted_sheet,
    "squash": squash,
    "masonry-arch": masonry_arch,
    "house-of-cards": house_of_cards,
}


def main():
    (FOLDER / "meshes").mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or SCENES:
        (FOLDER / f"{name}.json").write_text(text_of(SCENES[name]()), encoding="utf-8")


if __name__ == "__main__":
    main()
