"""An environment as reinforcement learning has them (reset, step, reward): two soft fingers lift a soft block.

An action is how fast the fingers close and rise [m/s]. An observation is where the block and the fingers are, and how
hard they press. Bodies are kept apart by contact with friction, so what is lifted is really held.
"""

import numpy as np

import rubato


class Gripper:
    """reset() -> observation; step(action) -> observation, reward, done, info."""

    def __init__(self):
        finger = rubato.shape("cuboid", size=[0.02, 0.06, 0.04], cells=[1, 3, 2])
        bodies = [rubato.body("block", rubato.shape("cuboid", size=[0.05, 0.05, 0.05], cells=[2, 2, 2]), young=5e4,
                              density=300, translate=[0, 0.026, 0])]
        for name, side, held in (("left", -1, "left"), ("right", 1, "right")):
            bodies.append(rubato.body(name, finger, young=2e5, density=1000, translate=[side * 0.045, 0.045, 0],
                                      driven=[rubato.driven(name, held)]))
        self.sim = rubato.load(rubato.scene(bodies, gravity=True, obstacles=[{"plane": {}}], contact={"friction": 0.8},
                                            step=0.01, frame=0.02, end=100, method="backward-euler"), threads=1)
        self.sim.advance(0.1)  # the block settles
        self.start, self.block = self.sim.save(), self.sim.bodies["block"]

    def reset(self):
        self.sim.restore(self.start)
        return self.observe()

    def observe(self):
        grips = [self.sim.driven[name] for name in ("left", "right")]
        return np.concatenate([self.block.x.mean(axis=0), self.block.v.mean(axis=0),
                               *(self.sim.x[grip.nodes].mean(axis=0) for grip in grips), [grips[0].reaction[0]]])

    def step(self, action):
        close, rise = action
        self.sim.driven["left"].move(velocity=[close, rise, 0])
        self.sim.driven["right"].move(velocity=[-close, rise, 0])
        try:
            self.sim.advance_frame()
        except rubato.StepFailed as failed:  # fingers that meet: the end, and the report says why
            return self.observe(), -1.0, True, {"report": failed.report}
        height = self.block.x[:, 1].min()
        return self.observe(), float(height), bool(height > 0.05), {"contacts": len(self.sim.contacts)}


if __name__ == "__main__":
    env = Gripper()
    observation, done, k = env.reset(), False, 0
    while not done and k < 80:  # a policy: close until it presses, then lift
        close, pressing = 0.05 if k < 12 else 0.0, k >= 14
        observation, reward, done, info = env.step((close, 0.1 if pressing else 0.0))
        k += 1
    print(f"after {k} actions the block is {1e3 * env.block.x[:, 1].min():.0f} mm above the ground")
    assert done and env.block.x[:, 1].min() > 0.05
