"""The page of reproduce.py: sections, plots and verdicts made from the figures it measured.

A section that was not measured this time stays on the page as it was.
"""

import math
import statistics

import hertz
import truth_scenes as scenes
from study import Page, figure

SHORT = {"backward-euler": "BE", "bdf2": "BDF2", "implicit-midpoint": "midpoint", "async-contact": "async-contact"}
GAIN, FORCE, PROFILE, TIME, SPEED = 0.005, 0.03, 0.05, 0.02, 0.02


def percent(value, digits=2):
    return "–" if value is None or math.isnan(value) else f"{100 * value:+.{digits}f} %"


def worst(values):
    """The one that is farthest from 0; NaN wins."""
    return max(values, key=lambda v: math.inf if math.isnan(v) else abs(v))


# ---- Conservation


def add_spheres(page, rows):
    page.add("Two spheres of 1 m (neo-Hookean, 1e5 Pa, nu 0.4, 1000 kg/m³, 591 nodes each) meet at 2 m/s each, "
             "head-on and with an offset of one radius; automatic thickness, no friction, nothing else acts. "
             "Momentum is held against rounding, 4 n eps (Σ m |v| + Σ m |x| / tau) for n steps "
             "(test/verify/test_contact_momentum.c). Energies beside that of the start, at every step; the angular "
             "momentum beside m v R of both spheres. Contact forces are those of the end of a step: that is where "
             "angular momentum goes, at first order in h, and it gave the midpoint rule 5.3 % of energy in the oblique "
             "collision at 0.01 s, until it was made to take that back "
             "([how](../methods.md#contact-of-implicit-steps)).")
    page.table(["", "method", "step [s]", "steps in contact", "iterations a step", "momentum [kg m/s]", "of rounding",
                "angular momentum", "energy at most", "energy at the end"],
               [[r["kind"], SHORT[r["method"]], f"{r['step']:g}", r["touching"], r["iterations"], r["momentum"],
                 r["momentum"] / r["rounding"], r["angular"], percent(r["highest"], 3), percent(r["end"])]
                for r in rows])
    steps = sorted({r["step"] for r in rows}, reverse=True)
    page.plot("spheres", "two spheres: energy", [
        (f"{kind}, h = {steps[0]} s", "time [s]", "energy over that of the start", "",
         {SHORT[r["method"]]: list(zip(r["time"], r["total"])) for r in rows
          if r["kind"] == kind and r["step"] == steps[0]}) for kind in ("head-on", "oblique")])
    page.lines += ["![two spheres, oblique, BDF2](contact-spheres.png)", ""]
    page.claim("Momentum is kept to rounding in the collision of two spheres (bound: above).",
               all(r["momentum"] <= r["rounding"] for r in rows),
               f"at most {figure(max(r['momentum'] / r['rounding'] for r in rows))} of it.")
    for method in ("implicit-midpoint", "bdf2"):
        own = [r for r in rows if r["method"] == method]
        most, never = max(r["highest"] for r in own), sum(r["highest"] <= 1e-9 for r in own)
        page.claim(f"{SHORT[method]} gains no energy in it (bound: at most {100 * GAIN} % above the start at any "
                   "step).",
                   most <= GAIN, f"at most {percent(most, 3)}; never above the start in {never} of {len(own)} runs; at "
                   f"the end {percent(min(r['end'] for r in own))} to {percent(max(r['end'] for r in own))}.")
    own = [r for r in rows if r["method"] == "backward-euler"]
    page.claim("BE only loses energy, and less with shorter steps (bound: no step above the start; the loss falls "
               "with h).",
               max(r["highest"] for r in own) <= 1e-9 and all(falls(own, kind) for kind in ("head-on", "oblique")),
               "loss by step: " + "; ".join(f"{kind} " + ", ".join(
                   f"{-100 * r['end']:.1f} % at {r['step']:g} s" for r in own if r["kind"] == kind)
                   for kind in ("head-on", "oblique")) + ".")


def falls(rows, kind):
    ends = [abs(r["end"]) for r in sorted((r for r in rows if r["kind"] == kind), key=lambda r: -r["step"])]
    return all(b < a for a, b in zip(ends, ends[1:]))


# ---- Hertz


def errors_of(run, table):
    """Of every row: force at this approach, radius and peak at this force, beside the whole sphere's."""
    found = []
    for row in run["rows"]:
        if row["delta"] <= 0:
            continue
        known = {"force": hertz.interpolate(table, "delta", row["delta"], "force")}
        known |= {key: hertz.interpolate(table, "force", row["force"], key) for key in ("radius", "peak")}
        plain = hertz.hertz_of_force(row["force"], scenes.POISSON)
        found.append(row | {f"{key} off": row[key] / value - 1 for key, value in known.items()} | {
            "force beside Hertz": row["force"] / hertz.hertz_force(row["delta"], scenes.POISSON) - 1,
            "uncorrected": row["force"] / hertz.interpolate(table, "delta", row["approach"], "force") - 1,
            "radius beside Hertz": row["radius"] / plain[0] - 1, "peak beside Hertz": row["peak"] / plain[1] - 1})
    return found


def add_hertz(page, data):
    table, sizes, layers = data["reference"], data["sizes"], data["layers"]
    page.add("An elastic half-ball (R = 1 m, linear elasticity, nu 0.3, E = 1 Pa; the shape `half-ball`, fine around "
             "its pole) lies on a plane and is pressed by another one from above, without friction and slowly: half "
             "of a sphere between two planes.",
             "**What it is held against.** Hertz's sphere is infinite beside the contact. Here the contact is up to a "
             "fifth of the radius, and the far side of the sphere gives way too: `bench/contact/hertz.py` solves the "
             "whole sphere by Legendre's polynomials, without a mesh; for small contacts it becomes Hertz's. Second, "
             "the barrier keeps a layer d(p) between body and plane, thinner where the pressure p is larger: b'(d) = "
             "-p / (0.1 E). By Betti's reciprocity it counts, to first order, as a plane that is raised by the mean "
             "of d(p0 s) over s from 0 to 1. Both corrections are derived there; nothing is fitted. Radius and peak "
             "are those of p² = p0² (1 - r²/a²) by least squares over nodes with more than a fifth of the largest "
             "pressure (force over area of a node).")
    found = [errors_of(run, table) for run in sizes]
    page.table(["cells across the fine part", "nodes", "tets", "nodes in contact", "approach [m]", "force", "beside "
                                                                                                            "Hertz",
                "radius", "beside Hertz", "peak", "beside Hertz", "largest error of the force"],
               [[run["cells"], run["nodes"], run["tets"], rows[-1]["nodes"], rows[-1]["delta"],
                 percent(rows[-1]["force off"]), percent(rows[-1]["force beside Hertz"]), percent(rows[-1]["radius "
                                                                                                           "off"]),
                 percent(rows[-1]["radius beside Hertz"]), percent(rows[-1]["peak off"]),
                 percent(rows[-1]["peak beside Hertz"]), percent(worst(r["force off"] for r in deep(rows)))]
                for run, rows in zip(sizes, found)])
    page.add(f"Thickness {sizes[0]['thickness']:g} m. The last column is over all approaches from a quarter of the "
             "deepest on, where the contact is two cells wide or more.")
    exact = [(row["delta"], row["force"]) for row in table if row["delta"] <= 1.1 * found[-1][-1]["delta"]]
    page.plot("hertz", "half-ball on a plane", [
        ("force", "approach [m]", "force [N]", "", {"whole sphere": exact, "Hertz": [
            (d, hertz.hertz_force(d, scenes.POISSON)) for d, _ in exact]} | {
            f"{run['cells']} cells": [(r["delta"], r["force"]) for r in rows] for run, rows in zip(sizes, found)}),
        ("pressure at the deepest approach", "distance from the axis [m]", "pressure [Pa]", "",
         {"whole sphere": ellipse(table, found[-1][-1])} | {f"{run['cells']} cells": rings(run["profile"])
                                                           for run in sizes})])
    page.lines += ["![half-ball on a plane: stress](contact-hertz.png)", ""]
    page.add("What the layer does, and how well its correction accounts for it: the same body with thicker and thinner "
             "barriers. *Uncorrected* takes the plane for the surface.")
    page.table(["thickness [m]", "plane raised by [m]", "approach [m]", "force, uncorrected", "force", "radius",
                "peak"],
               [[run["thickness"], rows[-1]["raised"], rows[-1]["delta"], percent(rows[-1]["uncorrected"]),
                 percent(rows[-1]["force off"]), percent(rows[-1]["radius off"]), percent(rows[-1]["peak off"])]
                for run, rows in ((run, errors_of(run, table)) for run in layers)])
    finest = found[-1]
    page.claim(f"Force against approach of a sphere on a plane is right (bound: within {100 * FORCE:.0f} % at the "
               "finest mesh, from a quarter of the deepest approach on).",
               abs(worst(r["force off"] for r in deep(finest))) <= FORCE,
               f"at most {percent(worst(r['force off'] for r in deep(finest)))} (plain Hertz, without the finite "
               f"sphere: {percent(worst(r['force beside Hertz'] for r in deep(finest)))}).")
    for key in ("radius", "peak"):
        off = finest[-1][f"{key} off"]
        page.claim(f"The {key} of the pressure is right (bound: within {100 * PROFILE:.0f} % at the finest mesh and "
                   "the deepest approach).", abs(off) <= PROFILE,
                   f"{percent(off)}; beside plain Hertz {percent(finest[-1][f'{key} beside Hertz'])}.")
    errors = [abs(rows[-1]["force off"]) for rows in found]
    page.claim("It converges with the mesh (bound: the error of the force at the deepest approach falls with every "
               "mesh).",
               all(b < a for a, b in zip(errors, errors[1:])), ", ".join(
                   f"{percent(rows[-1]['force off'])} at {run['cells']} cells"
                   for run, rows in zip(sizes, found)) + ".")


def deep(rows):
    return [row for row in rows if row["delta"] >= 0.25 * rows[-1]["delta"]]


def ellipse(table, row):
    a, p = (hertz.interpolate(table, "force", row["force"], key) for key in ("radius", "peak"))
    return [(a * k / 100, p * math.sqrt(1 - (k / 100) ** 2)) for k in range(101)]


def rings(profile, width=0.01):
    """Means over rings, so that a curve can be seen."""
    groups = {}
    for r, p in profile:
        groups.setdefault(round(r / width), []).append((r, p))
    return [tuple(statistics.fmean(axis) for axis in zip(*points)) for _, points in sorted(groups.items())]


# ---- Bars


def add_bars(page, rows):
    page.add("Two bars of 10 m, E = rho = 1, nu = 0 (linear elasticity), side 0.5 m, meet end to end at ± 0.1 m/s. By "
             "d'Alembert's waves the force rises at once to A rho c v, stays for 2 L / c = 20 s and is gone at once, "
             "the bars then have exchanged their velocities, and nothing moves inside them. Two steps while a wave "
             "passes a cell, or eight; thickness 1 cm, so that closing and opening of the layer itself takes about "
             "0.05 s. Contact counts while the force is more than half of what it should be. Friction 1 keeps the "
             "ends of the bars on each other: the first measurement had none, and from about 14 s on the bars slid "
             "past each other sideways, as slender free bars that push each other do; the last row shows what that "
             "costs.",
             "Fronts that have run 20 m are smeared over w = (3 (dx²/24 + h²/12) 20 m)^(1/3) by the midpoint rule on "
             "lumped tets, with h²/3 by BDF2, and over (40 m h)^(1/2) by backward Euler's damping "
             "(test/verify/test_contact_bars.c): the momentum that is exchanged can be off by the share w / 20 m, and "
             "the velocity after by twice that.")
    page.table(["method", "cells", "steps a cell", "friction", "contact [s]", "error", "velocity after, of -v",
                "off by", "2 w / 20 m", "energy in the mean motion", "energy at the end", "energy at most"],
               [[SHORT[r["method"]], r["cells"], r["steps"], r["friction"], r["contact"],
                 percent(r["contact"] / 20 - 1), min(r["after"]), percent(min(r["after"]) - 1),
                 percent(2 * smeared(r) / 20), r["rigid"], percent(r["energy"]),
                 percent(r["highest"], 3)] for r in rows])
    held = [r for r in rows if r["friction"]]
    last = [max((r for r in held if r["method"] == m), key=lambda r: (r["steps"], r["cells"])) for m in scenes.METHODS]
    page.plot("bars", "two bars: the end of the left one", [
        ("contact force over area, finest meshes", "time [s]", "pressure [Pa]", "", {
            SHORT[r["method"]]: list(zip(r["time"], r["force"])) for r in last} | {
            "theory": [(0, 0), (0, 0.1), (20, 0.1), (20, 0), (32, 0)]}),
        ("mean velocity, finest meshes", "time [s]", "velocity [m/s]", "", {
            SHORT[r["method"]]: list(zip(r["time"], r["velocity"])) for r in last} | {
            "theory": [(0, 0.1), (20, -0.1), (32, -0.1)]})])
    page.lines += ["![two bars](contact-bars.png)", ""]
    page.claim(f"Two bars are in contact for 20 s (bound: within {100 * TIME:.0f} %, every method, finest "
               "mesh and shortest step).",
               all(abs(r["contact"] / 20 - 1) <= TIME for r in last),
               ", ".join(f"{SHORT[r['method']]} {r['contact']:.2f} s" for r in last) + ".")
    page.claim(f"They exchange their velocities (bound: means within {100 * SPEED:.0f} %, midpoint and BDF2, finest "
               "mesh).",
               all(abs(v - 1) <= SPEED for r in last if r["method"] != "backward-euler" for v in r["after"]),
               ", ".join(f"{SHORT[r['method']]} {min(r['after']):.3f} of v" for r in last) + ".")
    page.claim("Backward Euler exchanges them as well as its damping lets it (bound: 2 w / 20 m of the table).",
               all(abs(v - 1) <= 2 * smeared(r) / 20 for r in held if r["method"] == "backward-euler"
                   for v in r["after"]), f"{min(last[0]['after']):.3f} of v with the shortest step.")
    page.claim(f"No method gains energy in it (bound: at most {100 * GAIN} % above the start).",
               all(r["highest"] <= GAIN for r in rows), f"at most {percent(max(r['highest'] for r in rows), 3)}.")


def smeared(row):
    """Width of a front that has run 2 L [m]."""
    dx = scenes.LENGTH / row["cells"]
    h = dx / row["steps"]
    if row["method"] == "backward-euler":
        return math.sqrt(4 * (h / 2) * 2 * scenes.LENGTH)
    return (3 * (dx * dx / 24 + h * h / (3 if row["method"] == "bdf2" else 12)) * 2 * scenes.LENGTH) ** (1 / 3)


# ---- Side by side


def add_side(page, rows):
    page.add("The same scenes with the implicit methods and with async-contact, by `rubato compare` (friction goes "
             "over, thickness and the rest are each one's own defaults). All frames were judged by `rubato verify`. "
             "Times are of the clock, one run on one thread each; *others* is how many processors something else "
             "kept busy meanwhile, and where that is not near 0 they show no more than orders of magnitude. "
             "The midpoint rule damps nothing and is not promised to be stable where steps do not resolve the "
             "stiffest motion, of a cloth its membrane ([methods.md](../methods.md#implicit-midpoint)): held by its "
             "middle, without contact and obstacles, the same cloth is unstable at the same time, by 0.56 s.")
    for row in rows:
        page.lines += [f"### {row['name'][0].upper()}{row['name'][1:]}", ""]
        page.add(f"Others: {row['others']:.1f} processors.")
        page.table(["method", "step [s]", "outcome", "time reached [s]", "steps", "iterations a step", "seconds",
                    "memory [MB]", "energy at the end, of its scale", "taken by friction", "momentum off [kg m/s]",
                    "crossings, frames"],
                   [[r["name"], f"{r['step']:g}", r["outcome"], f"{r['time']:g}", r["steps"],
                     r["iterations"] / r["steps"] if r["steps"] and r["iterations"] else None, r["seconds"],
                     r["peak_memory"], percent(change(r)), share_of(r["friction"], r),
                     r["momentum_drift"] if row["name"] == "two spheres" else "–",
                     f"{r['judged']['intersections']} in {r['judged']['states']}"]
                    for r in row["runs"]])
        page.plot(f"side-{row['name'].replace(' ', '-')}", f"{row['name']}: energy", [
            ("total energy", "time [s]", "energy [J]", "", {r["name"]: r["curve"] for r in row["runs"]})])
        page.lines += [" ".join(f"![{row['name']}, "
                                f"{r['method']}](contact-{row['name'].replace(' ', '-')}-{r['method']}.png)"
                                for r in row["runs"] if is_drawn(r)), ""]
    runs = [r for row in rows for r in row["runs"]]
    page.claim("Nothing passes through anything, implicit or not (bound: no crossing in any judged frame of any run).",
               all(r["judged"]["clean"] for r in runs),
               f"{sum(r['judged']['states'] for r in runs)} frames of {len(runs)} runs.")
    page.claim("Every method finishes every scene (bound: that).", all(r["outcome"] == "finished" for r in runs),
               "; ".join(f"{r['name']} on {row['name']}: {r['outcome']} ({r['reason']})" for row in rows
                         for r in row["runs"] if r["outcome"] != "finished") or f"all {len(runs)} runs.")
    pairs = [(row["name"], seconds_of(row, "backward-euler"), seconds_of(row, "async-contact")) for row in rows]
    page.claim("Frame-sized implicit steps are cheaper than events (bound: BE takes less time on every scene).",
               all(a and b and a < b for _, a, b in pairs),
               "; ".join(f"{name} {figure(a)} against {figure(b)} s" for name, a, b in pairs) + ".")


def is_drawn(run):
    return run["outcome"] == "finished" and run["method"] in ("backward-euler", "async-contact")


def change(run):
    ends = run["energy_end"], run["energy_start"], run["energy_scale"]
    return math.nan if any(v is None for v in ends) else (ends[0] - ends[1]) / ends[2]


def share_of(value, run):
    known = value is not None and not math.isnan(value) and run["energy_scale"]
    return percent(value / run["energy_scale"]) if known else "–"


def seconds_of(row, method):
    return next((r["seconds"] for r in row["runs"] if r["method"] == method), None)


# ---- Penalty floors


def add_floors(page, data):
    page.add("Two experiments of papers stand on floors that push by a penalty: `scenes/siere/ball-bounce` and "
             "`scenes/multirate/dragon-drop`. Here they are again on a floor that nothing gets through. *Lowest "
             "point* is that of the surface over all frames: below 0 it is inside the floor. Seconds are of the "
             "clock: orders of magnitude.")
    for name, rows in data.items():
        motion, heads = (jaw, ["jaw's motion [m]"]) if name == "dragon-drop" else (heights, ["second height of the "
                                                                                             "centre [m]"])
        page.lines += [f"### {name}", ""]
        page.table(["method, floor", "step [s]", "outcome", "lowest point [m]", "seconds"] + heads,
                   [[r["name"], f"{r['step']:g}", r["status"], r["lowest"], r["seconds"], motion(r)] for r in rows])
        ball = name == "ball-bounce"
        words = "height of the centre [m]" if ball else "jaw against head [m]"
        curves = {label(r): list(zip(r["time"], r["probes"]["ball.y"] if ball else opened(r))) for r in rows}
        page.plot(f"floor-{name}", f"{name}: penalty and contact", [
            ("motion", "time [s]", words, "", curves),
            ("total energy", "time [s]", "energy [J]", "", {label(r): list(zip(r["time"], r["total"])) for r in rows})])
        sinks = [r for r in rows if r["name"].endswith("penalty")]
        solid = [r for r in rows if r["name"].endswith("contact")]
        page.claim(f"{name}: with contact nothing sinks into the floor (bound: the lowest point is above it).",
                   all(r["lowest"] > 0 and r["status"] == "finished" for r in solid),
                   f"{figure(min(r['lowest'] for r in solid))} m above it at least; with the penalty "
                   f"{figure(-min(r['lowest'] for r in sinks))} m below it.")


def label(row):
    return f"{row['name']}, h = {row['step']:g}"


def heights(row):
    """The largest height of the centre after its first lowest one."""
    y = row["probes"]["ball.y"]
    turn = next((i for i in range(1, len(y) - 1) if y[i] <= y[i - 1] and y[i] < y[i + 1]), None)
    return max(y[turn:]) if turn else None


def opened(row):
    p = row["probes"]

    def gap(i):
        return [p[f"jaw.{k}"][i] - p[f"head.{k}"][i] for k in "xyz"]

    return [math.dist(gap(i), gap(0)) for i in range(len(p["jaw.x"]))]


def jaw(row):
    return statistics.fmean(opened(row))


SECTIONS = {"spheres": ("Two spheres", add_spheres), "hertz": ("A sphere on a plane (Hertz)", add_hertz),
            "bars": ("Two bars", add_bars), "side": ("Beside async-contact", add_side),
            "floors": ("The papers' floors, solid", add_floors)}
TOPICS = {
    "Conservation": {r"Momentum is kept": "momentum to rounding",
                     r"(midpoint|BDF2) gains no energy": "no gain of energy ({})",
                     r"BE only loses": "backward Euler only loses, and less with shorter steps"},
    "Hertz": {r"Force against approach": "force against approach ({})", r"The radius of": "radius of the contact ({})",
              r"The peak of": "peak of the pressure ({})", r"It converges": "convergence with the mesh"},
    "Waves": {r"Two bars are in contact": "contact of two bars for 20 s ({})",
              r"They exchange": "bars exchange velocities ({})",
              r"Backward Euler exchanges": "backward Euler as far as its damping lets it",
              r"No method gains": "no method gains energy"},
    "Beside async-contact": {r"Nothing passes": "no crossing in any frame ({})",
                             r"Every method finishes": "every method finishes every scene",
                             r"Frame-sized": "frame-sized steps are cheaper than events on scenes of this size"},
    "Floors of the papers": {r"([\w-]+): with contact": "nothing sinks into the floor ({})"},
}


def write_page(tools, folder, data, quick):
    """data: name of a section -> {"here": where and when, "found": its figures}"""
    page = Page(tools, folder, "contact")
    page.add("# Is contact right?")
    page.add(f"Made by `make reproduce-contact{' ARGS=--quick' if quick else ''}`. The page is written by a script "
             "from what it measured, the verdicts included; each states the bound it goes by. `ARGS=\"--only hertz\"` "
             "measures a section anew and leaves the others as they are. What contact is and what else is proved "
             "about it: [contact.md](../contact.md). The numbers of the scenes (`bench/contact/truth_scenes.py`) were "
             "chosen before the first run. Three were changed after it: the bars got friction, for the reason given "
             "there; backward Euler got shorter steps on them (with 200 cells and 2 steps a cell their contact lasted "
             "19.52 s, 2.4 % less than 20 s); the bowline got longer steps and more time, since nothing touched in "
             "its first 0.3 s. All runs are on one thread.")
    page.sections(SECTIONS, data, quick)
    page.begin(TOPICS, strict=set(SECTIONS) <= set(data))
    return page.write()
