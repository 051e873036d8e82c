"""rubato: deformable bodies, twelve time-stepping methods, one scene format.

    import rubato

    sim = rubato.load("scene.json")
    while sim.time < 1:
        sim.step()
    print(sim.x.mean(axis=0), sim.energies.total)

docs/python.md is the tutorial. Units are SI; arrays of nodes are (nodes x 3) float64, all bodies one after the other.
"""

from ._rubato import Busy, Error, Report, Stale, State, StepFailed, Stopped, __version__, materials, methods
from ._rubato import read_state
from ._build import body, driven, force, obstacle, scene, select, shape
from ._mesh import Mesh
from ._picture import Picture, Plot, plot, render
from ._runs import Run, RunFrame, open_run, run
from ._scene import Scene, SceneWarning, load
from ._simulation import Bodies, Body, Driven, Energies, Frame, Obstacle, Simulation
from ._studies import Study, compare, sweep

__all__ = [
    "Bodies", "Body", "Busy", "Driven", "Energies", "Error", "Frame", "Mesh", "Obstacle", "Picture", "Plot", "Report",
    "Run", "RunFrame", "Scene", "SceneWarning", "Simulation", "Stale", "State", "StepFailed", "Stopped", "Study",
    "__version__", "body", "compare", "driven", "force", "load", "materials", "methods", "obstacle", "open_run", "plot",
    "read_state", "render", "run", "scene", "select", "shape", "sweep",
]
