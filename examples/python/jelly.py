"""A jelly in five lines: it hangs from its left side, wobbles, and is drawn."""

import rubato

sim = rubato.load({"bodies": [rubato.body("jelly", rubato.shape("cuboid", size=[0.2, 0.1, 0.1], cells=[8, 4, 4]),
                                          young=2e4, poisson=0.45, density=1000, fixed=["left"])],
                   "forces": [{"gravity": {}}], "time": {"frame": 0.04, "end": 1}})
for frame in sim.frames():
    print(f"{frame.time:.2f} s: lowest point at {1e3 * frame.x[:, 1].min():.1f} mm")
sim.render("jelly.png", color="stress")
