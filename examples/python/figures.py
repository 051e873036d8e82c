"""Figures for a paper: the energy of a bar with three methods, and what it looks like.

With matplotlib the curves are a PDF; without it, rubato draws them as SVG.
"""

import rubato

bar = rubato.body("bar", rubato.shape("bar", size=[0.4, 0.1, 0.1], cells=[8, 2, 2]), young=2e5, density=1000,
                  deform=[{"bend": {"axis": [1, 0, 0], "towards": [0, 1, 0], "degrees": 60}}])
scene = rubato.Scene(rubato.scene([bar], step=0.005, frame=0.02, end=0.5))
methods = ["backward-euler", "bdf2", "implicit-midpoint"]
runs = [rubato.run(scene.set(method=name), f"out/{name}") for name in methods]

for name, run in zip(methods, runs):
    total = run.energies["total"]
    print(f"{name}: {100 * (1 - total[-1] / total[0]):5.1f} % of the energy is gone after {run.times[-1]} s")

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    rubato.plot(*runs, path="energies.svg")
    print("energies.svg")
else:
    figure, axes = pyplot.subplots(figsize=(3.4, 2.4), constrained_layout=True)
    for name, run in zip(methods, runs):
        axes.plot(run.energies["time"], run.energies["total"], label=name, linewidth=1)
    axes.set(xlabel="time [s]", ylabel="energy [J]", ylim=(0, None))
    axes.legend(frameon=False, fontsize=7)
    figure.savefig("energies.pdf")
    print("energies.pdf")
runs[-1].render("bar.png", frames=[0, 8, 16, 24], columns=4, color="stress", size=(320, 240))
