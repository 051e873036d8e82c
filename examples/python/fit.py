"""A material parameter fitted to a measured motion: how stiff is this bar?

"Measured" is a simulation of a bar whose stiffness nobody tells us, with noise. Gauss-Newton on log(young), whose
derivative is a finite difference over two rollouts from the same state.
"""

import numpy as np

import rubato

bar = rubato.body("bar", rubato.shape("bar", size=[0.4, 0.1, 0.1], cells=[8, 2, 2]), young=1e5, density=1000,
                  damping={"mass": 2}, fixed=["left"])
sim = rubato.load(rubato.scene([bar], gravity=True, step=0.01, frame=0.02, end=0.6, method="bdf2"))
tip = sim.bodies["bar"].selection("right")
start = sim.save()


def motion(log_young):
    """(frames) height of the tip [m]"""
    sim.restore(start)
    sim.bodies["bar"].set_material(young=np.exp(log_young))
    return np.array([frame.x[tip, 1].mean() for frame in sim.frames()])


truth = 2.7e5
measured = motion(np.log(truth)) + np.random.default_rng(0).normal(0, 1e-4, 31)  # a tenth of a millimetre

guess, h = np.log(1e5), 1e-4
for iteration in range(8):
    residual = motion(guess) - measured
    slope = (motion(guess + h) - motion(guess - h)) / (2 * h)
    step = -(slope @ residual) / (slope @ slope)
    print(f"{iteration}: young {np.exp(guess):9.0f} Pa, off by {1e3 * np.sqrt(np.mean(residual ** 2)):.3f} mm")
    guess += np.clip(step, -1, 1)
    if abs(step) < 1e-6:
        break

found = np.exp(guess)
print(f"found {found:.0f} Pa, true {truth:.0f} Pa")
assert abs(found / truth - 1) < 0.01
