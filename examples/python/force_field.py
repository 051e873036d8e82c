"""A custom force field: a whirl that carries soft balls around an axis, in a fluid that drags them along.

Forces are a function of where nodes are and how fast they move, made anew before every step.
"""

import numpy as np

import rubato

balls = [rubato.body(f"ball {i}", rubato.shape("ball", radius=0.05, layers=2), young=2e4, density=300,
                     translate=[0.3 + 0.2 * i, 0.1 * i, 0]) for i in range(3)]
sim = rubato.load(rubato.scene(balls, step=0.01, frame=0.05, end=2, method="semi-implicit"))

RATE, DRAG = 2.0, 8.0  # of the whirl [rad/s]; of the fluid [1/s]


def whirl(sim):
    x, v = sim.x, sim.v
    fluid = RATE * np.stack([-x[:, 2], np.zeros(len(x)), x[:, 0]], axis=1)  # v = omega x r, about the y axis
    inwards = -RATE ** 2 * x * [1, 0, 1]  # the pressure that keeps the fluid on its circles
    sim.forces[:] = sim.masses[:, None] * (DRAG * (fluid - v) + inwards)


sim.before_step.append(whirl)
radii = [np.hypot(*b.x.mean(axis=0)[[0, 2]]) for b in sim.bodies]
sim.run()
for body, radius in zip(sim.bodies, radii):
    centre, velocity = body.x.mean(axis=0), body.v.mean(axis=0)
    now, rate = np.hypot(centre[0], centre[2]), np.cross(centre, velocity)[1] / (centre[0] ** 2 + centre[2] ** 2)
    print(f"{body.name}: {radius:.3f} m from the axis at first, {now:.3f} m now, turning at {-rate:.2f} rad/s")
    assert abs(-rate / RATE - 1) < 0.05
print(f"work of the field: {sim.energies.work:.3f} J, kinetic energy {sim.energies.kinetic:.3f} J")
