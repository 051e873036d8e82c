#!/usr/bin/env python3
"""Writes the contact scenes that other simulators are measured on as rubato scenes.

    bench/contact/scenes.py SHARED FOLDER

SHARED has one folder a scene with bodies.msh and what belongs to it (its README tells the numbers); FOLDER receives
NAME.json for each of them. All are backward Euler with lumped mass, neo-Hookean bodies and no damping, as IPC's release
(Li et al. 2020) runs them: thickness 1e-3 of the diagonal of the bodies' box.
"""

import json
import math
import pathlib
import sys


def nodes_of(path):
    """Positions of the nodes of a gmsh 2.2 text file."""
    lines = iter(path.read_text().splitlines())
    for line in lines:
        if line.strip() == "$Nodes":
            count = int(next(lines))
            return [tuple(map(float, next(lines).split()[1:4])) for _ in range(count)]
    raise SystemExit(f"{path}: no $Nodes")


def diagonal(nodes):
    low = [min(x[k] for x in nodes) for k in range(3)]
    high = [max(x[k] for x in nodes) for k in range(3)]
    return math.dist(low, high)


def groups_of(path):
    """Prescribed nodes by group."""
    groups = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            node, group = line.split()[:2]
            groups.setdefault(int(group), []).append(int(node))
    return groups


def turning(nodes, rate, point):
    motion = {"rotation": {"point": point, "axis": [1, 0, 0], "rate": rate}}
    return {"where": {"nodes": nodes}, "motions": [motion]}


def scene(folder, young, poisson, density, step, end, about, **more):
    thickness = 1e-3 * diagonal(nodes_of(folder / "bodies.msh"))
    body = {
        "name": "bodies",
        "mesh": {"file": str((folder / "bodies.msh").resolve())},
        "material": {"model": "neo-hookean", "young": young, "poisson": poisson, "density": density},
    }
    body.update(more.pop("body", {}))
    result = {
        "rubato": 1,
        "about": about,
        "bodies": [body],
        "contact": {"thickness": thickness},
        "time": {"step": step, "frame": step, "end": end},
        "integrator": {"method": "backward-euler", "solver": "newton"},
    }
    result.update(more)
    return result


def rods_twist(root, _):
    folder = root / "rods_twist"
    groups, middle, rate = groups_of(folder / "dbc.txt"), [0.5, 0.12, 0.12], 0.4 * math.pi
    driven = [turning(groups[0], -rate, middle), turning(groups[1], rate, middle)]
    return scene(folder, 1e4, 0.4, 1000, 0.025, 3, "four rods are twisted about each other", body={"driven": driven})


def mat40x40_twist(root, _):
    folder = root / "mat40x40_twist"
    groups, middle, rate = groups_of(folder / "dbc.txt"), [0.5, 0.5, 0.004], 0.4 * math.pi
    driven = [turning(groups[0], -rate, middle), turning(groups[1], rate, middle)]
    return scene(folder, 2e4, 0.4, 1000, 0.04, 3.2, "a sheet is twisted", body={"driven": driven})


def chain10(root, _):
    folder = root / "chain10"
    ring = {"mesh": {"mesh": {"file": str((folder / "obstacle.obj").resolve())}}}
    gravity = [{"gravity": {"acceleration": [0, -9.80665, 0]}}]
    about = "ten links hang from a ring"
    return scene(folder, 1e7, 0.4, 500, 0.04, 2.4, about, obstacles=[ring], forces=gravity)


def split(path, target):
    """One gmsh 2.2 file a body of the file, by the tags of its tets; their paths."""
    nodes, bodies = nodes_of(path), {}
    lines = iter(path.read_text().splitlines())
    for line in lines:
        if line.strip() == "$Elements":
            for _ in range(int(next(lines))):
                numbers = list(map(int, next(lines).split()))
                if numbers[1] == 4:
                    bodies.setdefault(numbers[3], []).append(numbers[3 + numbers[2]:])
    paths = []
    for tag, tets in sorted(bodies.items()):
        used = sorted({n for tet in tets for n in tet})
        number = {n: i + 1 for i, n in enumerate(used)}
        text = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(used))]
        text += [f"{number[n]} {nodes[n - 1][0]!r} {nodes[n - 1][1]!r} {nodes[n - 1][2]!r}" for n in used]
        text += ["$EndNodes", "$Elements", str(len(tets))]
        text += [f"{i + 1} 4 2 1 1 " + " ".join(str(number[n]) for n in tet) for i, tet in enumerate(tets)]
        paths.append(target / f"{path.parent.name}-{tag}.msh")
        paths[-1].write_text("\n".join(text + ["$EndElements", ""]))
    return paths


def two_spheres(root, target):
    """Each sphere has a velocity of its own, so they become two bodies."""
    folder = root / "two_spheres"
    result = scene(folder, 1e5, 0.4, 1000, 0.025, 1, "two spheres meet, a little beside each other")
    body, bodies = result["bodies"][0], []
    for i, path in enumerate(split(folder / "bodies.msh", target)):
        side = -1 if sum(x[0] for x in nodes_of(path)) < 0 else 1
        bodies.append({**body, "name": f"sphere-{i + 1}", "mesh": {"file": str(path.resolve())},
                       "velocity": {"linear": [-2 * side, 0, 0]}})
    return {**result, "bodies": bodies}


SCENES = {"rods_twist": rods_twist, "mat40x40_twist": mat40x40_twist, "chain10": chain10, "two_spheres": two_spheres}


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    root, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    for name, make in SCENES.items():
        (target / f"{name}.json").write_text(json.dumps(make(root, target), indent=1) + "\n")


if __name__ == "__main__":
    main()
