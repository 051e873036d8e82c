"""A controller on a soft finger: a tendon bends it until its tip touches a target, although it is soft and swings.

The tendon pulls the tip towards the base along the lower side. A PI controller chooses its force 100 times a second.
"""

import numpy as np

import rubato

finger = rubato.body("finger", rubato.shape("bar", size=[0.1, 0.015, 0.015], cells=[12, 2, 2]), young=3e5, poisson=0.45,
                     density=1100, damping={"mass": 8, "stiffness": 2e-3}, fixed=["left"])
sim = rubato.load(rubato.scene([finger], gravity=True, step=0.005, frame=0.01, end=3, method="bdf2"))

body = sim.bodies["finger"]
tip, base = body.selection("right"), body.selection("left")
below = tip[sim.rest[tip, 1] == sim.rest[tip, 1].min()]  # where the tendon is tied
anchor = sim.rest[base].min(axis=0) - [0, 0.01, 0]  # where it goes through the base
target = -0.03  # height of the tip [m]

integral = force = 0.0


def pull(sim):
    """The tendon's force along itself, shared by the nodes it is tied to."""
    direction = anchor - sim.x[below].mean(axis=0)
    sim.forces[below] = force * direction / np.linalg.norm(direction) / len(below)


sim.before_step.append(pull)
error = 0.0
for frame in sim.frames():
    error = frame.x[tip, 1].mean() - target
    speed = frame.v[tip, 1].mean()
    integral += error * sim.frame_interval
    force = max(0.0, 20 * error + 150 * integral + 2 * speed)  # a tendon only pulls
    if frame.number % 50 == 0:
        print(f"{frame.time:.1f} s: tip {1e3 * error:+.1f} mm from the target, tendon {force:.2f} N")
print(f"at the end {abs(1e3 * error):.2f} mm away")
assert abs(error) < 1e-3
