"""The scenes of reproduce.py that have an answer on paper: two spheres, two bars, a half-ball on a plane.

Numbers were chosen before the first run, for the reasons given; the friction of the bars after it.
"""

METHODS = ["backward-euler", "bdf2", "implicit-midpoint"]
TAU = {"backward-euler": 1, "bdf2": 2 / 3, "implicit-midpoint": 1 / 2}  # of a step (docs/methods.md)


def scene(about, bodies, contact, step, end, method, frame=None, **more):
    return {"rubato": 1, "about": about, "bodies": bodies, **more, "contact": contact,
            "time": {"step": step, "frame": frame or step, "end": end},
            "integrator": {"method": method, "solver": "newton"}}


# ---- Two spheres


RADIUS, SPEED, LAYERS = 0.5, 2.0, 5


def spheres(method, step, offset, end=0.8):
    """The spheres of Li et al. 2020 in size, material and speed, of the generator, the second one turned so that no
    vertex faces its like."""

    def ball(name, sign, **place):
        return {"name": name, "mesh": {"shape": {"ball": {"radius": RADIUS, "layers": LAYERS}}}, "transform": place,
                "material": {"model": "neo-hookean", "young": 1e5, "poisson": 0.4, "density": 1000},
                "velocity": {"linear": [sign * SPEED, 0, 0]}}

    bodies = [ball("left", 1, translate=[-0.55, -0.5 * offset, 0]),
              ball("right", -1, axis=[1, 2, 3], degrees=40, translate=[0.55, 0.5 * offset, 0])]
    return scene("Two elastic spheres collide; nothing else acts on them.", bodies, {}, step, end, method)


# ---- Two bars


LENGTH, BAR_SPEED, SIDE = 10.0, 0.1, 0.5


def bars(method, cells, friction, end=32.0, steps_a_cell=2, thickness=0.01):
    """E = rho = 1 and nu = 0: waves run at 1 m/s and do not see the sides. A wave needs `steps_a_cell` steps to pass a
    cell. The gap at the start is the thickness, so that contact begins at once. Slender bars that push each other end
    to end without friction slide off sideways, which is no matter of waves: friction holds their ends together."""
    step = LENGTH / cells / steps_a_cell

    def bar(name, sign):
        return {"name": name, "mesh": {"shape": {"bar": {"size": [LENGTH, SIDE, SIDE], "cells": [cells, 1, 1]}}},
                "transform": {"translate": [-sign * 0.5 * (LENGTH + thickness), 0, 0]},
                "material": {"model": "linear", "young": 1, "poisson": 0, "density": 1},
                "velocity": {"linear": [sign * BAR_SPEED, 0, 0]}}

    probes = [{"name": name, "body": name, "where": "everything", "every": "step"} for name in ("left", "right")]
    return scene("Two equal elastic bars meet end to end.", [bar("left", 1), bar("right", -1)],
                 {"thickness": thickness, "friction": friction}, step, end, method, frame=10 * step, probes=probes)


# ---- A half-ball between two planes


FINE, POISSON, DEEPEST, PRESS_STEPS = 0.26, 0.3, 0.04, 8


def half_ball(cells, thickness):
    """R = E = 1. The lower plane rests, the upper one comes down in equal parts until the sphere's centre has come
    nearer by DEEPEST, for a contact of radius 0.2 by Hertz; equal cells reach a little further. The linear material
    has no strain that is too large for it. Steps are long beside every motion of the body (density 1e-6, steps of
    1 s), so that each ends at rest. Nothing holds the half-ball sideways: planes without friction."""
    start = {"translate": [0, 1 + thickness, 0]}
    travel = DEEPEST + 2 * thickness  # the layers of both planes give way first
    body = {"name": "half", "mesh": {"shape": {"half-ball": {"radius": 1, "fine": FINE, "cells": cells}}},
            "transform": start, "material": {"model": "linear", "young": 1, "poisson": POISSON, "density": 1e-6}}
    down = {"velocity": {"velocity": [0, -travel / PRESS_STEPS, 0]}}
    planes = [{"plane": {"point": [0, 0, 0], "normal": [0, 1, 0]}},
              {"plane": {"point": [0, 1 + 2 * thickness, 0], "normal": [0, -1, 0], "motions": [down]}}]
    return scene("Half an elastic ball is pressed on a plane by another one.", [body], {"thickness": thickness}, 1,
                 PRESS_STEPS, "backward-euler", obstacles=planes)


def upper_plane(thickness, time):
    return 1 + 2 * thickness - (DEEPEST + 2 * thickness) / PRESS_STEPS * time


# ---- Side by side with async-contact


def cloth_on_sphere(step=0.01, end=1.0):
    cloth = {"name": "cloth", "mesh": {"shape": {"cloth": {"length": 0.8, "width": 0.8, "cells_along": 16,
                                                           "cells_across": 16}}},
             "material": {"young": 2e5, "poisson": 0.3, "density": 300}, "shell": {"thickness": 0.001},
             "transform": {"axis": [0, 1, 0], "degrees": 18, "translate": [0, 0.52, 0]}}
    return scene("A cloth falls over a sphere.", [cloth], {}, step, end, "backward-euler", frame=0.04,
                 forces=[{"gravity": {}}], obstacles=[{"sphere": {"centre": [0, 0.25, 0], "radius": 0.25}}])
