"""Small scenes for the tests with faults: every method and step solver, every format, a cut, cloth, contact; a run
takes tens of milliseconds."""

BAR = {"shape": {"cuboid": {"size": [0.6, 0.2, 0.2], "cells": [3, 1, 1]}}}
RUBBER = {"model": "stable-neo-hookean", "young": 2e5, "poisson": 0.4, "density": 1000}
LEFT = {"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": True}}
RIGHT = {"box": {"min": [0.99, 0, 0], "max": [1, 1, 1], "relative": True}}


def bar(**more):
    body = {"name": "bar", "mesh": BAR, "material": RUBBER, "damping": {"stiffness": 1e-3},
            "driven": [{"where": LEFT, "motions": [{"oscillation": {"amplitude": [0, 0.02, 0], "frequency": 2}}]}]}
    return {**body, **more}


def scene(integrator, bodies=None, step=0.01, frames=3, steps=2, **more):
    return {"rubato": 1, "bodies": bodies or [bar()], "forces": [{"gravity": {}}],
            "time": {"step": step, "frame": step * steps, "end": step * steps * frames},
            "integrator": integrator, **more}


PLANE = [{"plane": {"point": [0, -0.11, 0], "stiffness": 1e6}}]
ALL_FORMATS = {"vtu": True, "obj": True, "pc2": True, "usda": True, "checkpoint_every": 1}
TEMPO = [{"where": {"box": {"min": [0.6, 0, 0], "max": [1, 1, 1], "relative": True}}, "substeps": 3}]
SHEET = {"name": "sheet", "mesh": {"shape": {"cloth": {"length": 0.4, "width": 0.4, "cells_along": 3,
                                                       "cells_across": 3}}},
         "material": {"young": 1e5, "poisson": 0.3, "density": 500}, "shell": {"thickness": 1e-3}}
ABOVE = {**SHEET, "name": "above", "transform": {"translate": [0.02, 0.012, 0.01]}, "velocity": {"linear": [0, -1, 0]}}
WALL = [{"mesh": {"mesh": {"shape": {"polyhedron": {}}}, "transform": {"scale": 0.01, "translate": [0, -0.05, 0]},
                  "motions": [{"velocity": {"velocity": [0, 1, 0]}}]}}]
PRESSED = {"driven": [], "fixed": [LEFT], "deform": [{"stretch": {"axis": [1, 0, 0], "factor": 0.55}}]}
OVER = {"name": "over", "mesh": BAR, "material": RUBBER, "transform": {"translate": [0.03, 0.202, 0.02]},
        "velocity": {"linear": [0, -1, 0]}}
FLOOR = [{"plane": {"point": [0, -0.11, 0]}}]
CUT = [{"time": 0.02, "surface": {"plane": {"point": [0.5, 0.5, 0.5], "normal": [1, 0.2, 0.1], "relative": True}}}]

SCENES = {
    "semi-implicit": scene({"method": "semi-implicit"}, obstacles=PLANE, output=ALL_FORMATS),
    "siere": scene({"method": "siere", "options": {"modes": 4}}),
    "siere-indefinite": scene({"method": "siere", "options": {"modes": 8, "indefinite": "factor"}}, [bar(**PRESSED)]),
    "ere": scene({"method": "ere"}, step=0.002),
    "imex": scene({"method": "imex"}, [bar(damping={})], step=2e-4),
    "multirate-euler": scene({"method": "multirate-euler"}, [bar(tempo=TEMPO)], obstacles=PLANE),
    "multirate-lu": scene({"method": "multirate-euler", "solver": "lu"}, [bar(tempo=TEMPO)]),
    "symplectic-euler": scene({"method": "symplectic-euler"}, [bar(damping={})], step=5e-5),
    "schroeder": scene({"method": "schroeder"}, [bar(tempo=TEMPO)]),
    "implicit-midpoint": scene({"method": "implicit-midpoint"}),
    "bdf2": scene({"method": "bdf2"}),
    "energy-euler": scene({"method": "energy-euler"}, [SHEET, ABOVE], step=1e-2, frames=3, steps=3, obstacles=WALL,
                          contact={}),
    **{solver: scene({"method": "backward-euler", "solver": solver})
       for solver in ("newton", "dot", "lbfgs-h", "lbfgs-pd", "admm-pd")},
    "dot-subdomains": scene({"method": "backward-euler", "solver": "dot", "options": {"subdomains": 3}},
                            obstacles=PLANE),
    "shell": scene({"method": "backward-euler"}, [SHEET], output={"obj": True}),
    "cut": scene({"method": "semi-implicit"}, cuts=CUT, output={"vtu": True, "obj": True}),
    "async-contact": scene({"method": "async-contact", "options": {"thickness": 0.005}}, [SHEET, ABOVE], step=1e-3,
                           frames=3, steps=3),
    "mesh-obstacle": scene({"method": "async-contact", "options": {"thickness": 0.005}}, [SHEET], step=1e-3, frames=3,
                           steps=3, obstacles=WALL),
    "contact": scene({"method": "backward-euler", "solver": "newton"}, [SHEET, ABOVE], step=1e-2, frames=3, steps=3,
                     obstacles=WALL, contact={"friction": 0.3}),
    "contact-augmented": scene({"method": "backward-euler", "solver": "newton"}, [SHEET, ABOVE], step=1e-2, frames=3,
                               steps=3, obstacles=WALL, contact={"solver": "augmented-lagrangian"}),
    "siere-contact": scene({"method": "siere", "options": {"modes": 4}}, [bar(), OVER], obstacles=FLOOR,
                           contact={"friction": 0.3}),
    "imex-contact": scene({"method": "imex"}, [bar(damping={}), OVER], step=2e-4, contact={}),
    "modes-and-parts": scene({"method": "multirate-euler", "options": {"modes": 4}},
                             [bar(tempo=TEMPO, driven=[], fixed=[LEFT]), OVER], obstacles=FLOOR,
                             contact={"friction": 0.3}),
    "cut-contact": scene({"method": "semi-implicit"}, [bar(driven=[], fixed=[LEFT])], cuts=CUT, contact={}),
}
