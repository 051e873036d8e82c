"""The page of reproduce.py: sections, plots and verdicts made from the figures it measured."""

import math

from study import Page, figure, growth

NOISE = 1.05  # times closer than this count as equal
PUBLISHED, OURS = "dot, paper", "dot"
OTHERS = ["newton", "lbfgs-h", "lbfgs-pd"]


def worked(run):
    return run is not None and run["seconds"] is not None


def times(runs):
    return {name: run["seconds"] for name, run in runs.items() if worked(run)}


def is_fastest(runs, name, among):
    """Whether a solver is as fast as the best of the others, or they failed."""
    seconds = times(runs)
    rivals = [seconds[other] for other in among if other in seconds]
    return name in seconds and (not rivals or seconds[name] <= NOISE * min(rivals))


def ranking(runs):
    return " < ".join(sorted(times(runs), key=times(runs).get))


def factors(rows, other, name):
    """How many times longer `other` takes than `name`, least and most, over rows where both worked."""
    both = [runs[other]["seconds"] / runs[name]["seconds"] for runs in rows if worked(runs.get(other)) and worked(runs.get(name))]
    return f"{min(both):.1f} to {max(both):.1f}" if both else "–"


def cell(run):
    if run is None:
        return "–"
    if not worked(run):
        return f"failed ({run['failed']['outcome']})"
    return f"{figure(1e3 * run['seconds'])} ({figure(run['iterations'])})"


# ---- Sections


def add_scenes(page, scenes):
    rows = list(scenes.values())
    names = [path.removesuffix(".json").removeprefix("bench/dot/").removeprefix("scenes/dot/") for path in scenes]
    solvers = list(rows[0])
    page.add("## Every script, every solver",
             "Milliseconds per step, and iterations per step in brackets, over the first steps of each scene; backward Euler, "
             "fixed-corotated, E = 1e5 Pa, ν = 0.4, h = 25 ms, ε = 1e-5. `dot` is our variant with its own choice of subdomains, "
             "`dot, paper` the method as published with the same choice.")
    page.table(["scene", "nodes", "tets"] + solvers,
               [[name, runs[OURS]["nodes"], runs[OURS]["tets"]] + [cell(runs[solver]) for solver in solvers]
                for name, runs in zip(names, rows)])
    page.plot("scenes", "Time per step of each solver over that of dot",
              [("", "scene, in the order of the table", "times longer than dot", "y",
                {solver: [(i + 1, runs[solver]["seconds"] / runs[OURS]["seconds"])
                          for i, runs in enumerate(rows) if worked(runs[solver]) and worked(runs[OURS])] for solver in solvers})])
    paper = {"newton": "1.1 to 10", "lbfgs-h": "1 to 2.5", "lbfgs-pd": "1.6 to 11.4"}
    for name, words in ((PUBLISHED, "as published"), (OURS, "in our variant")):
        best = sum(is_fastest(runs, name, OTHERS) for runs in rows)
        ranges = "; ".join(f"{other} {factors(rows, other, name)}" + (f" (paper: {paper[other]})" if name == PUBLISHED else "")
                           for other in OTHERS)
        page.claim(f"dot is the fastest converging solver on all scenes but a few slow, small ones (dot {words}; bound: within "
                   f"{100 * (NOISE - 1):.0f} % of the best of the others on three scenes in four).", best >= 0.75 * len(rows),
                   f"on {best} of {len(rows)} scenes; times of the others over its own: {ranges}.")
    winners = {min((s for s in OTHERS if worked(runs[s])), key=lambda s: runs[s]["seconds"], default="") for runs in rows}
    page.claim("Which of newton, lbfgs-h and lbfgs-pd is fastest changes from scene to scene (bound: at least two of them win).",
               len(winners - {""}) >= 2, f"the fastest of the three is {' or '.join(sorted(winners))}.")


def off(run, tight):
    """Largest difference in kinetic energy over the steps, of the largest kinetic energy."""
    if not worked(run) or not worked(tight):
        return None
    return max(abs(a - b) for a, b in zip(run["kinetic"], tight["kinetic"])) / max(tight["kinetic"])


def add_stops(page, stops):
    page.add("## What the default stop test costs",
             "All rows above and below use the paper's stop test, which compares the residual with stiffness times area and "
             "does not notice loads that are small beside that (`\"stop\": \"characteristic\"`). rubato's default "
             "(`\"force\"`) compares it with the forces that act: of a body of any size and stiffness the motion is then right to 1 % "
             "of its deformation ([verification](../verification.md)). Here both with `dot`, in the number of subdomains that each "
             "chooses: milliseconds and iterations per step, and the largest difference in kinetic energy to a solve to 1e-6 of the forces, "
             "as a share of the largest kinetic energy.")
    rows, ratios = [], []
    for path, runs in stops.items():
        paper, force, tight = runs["characteristic"], runs["force"], runs["tight"]
        ratio = force["seconds"] / paper["seconds"] if worked(force) and worked(paper) else None
        ratios += [ratio] if ratio else []
        shares = [off(run, tight) for run in (paper, force)]
        rows.append([path.removesuffix(".json").split("dot/")[1], cell(paper), cell(force), figure(ratio) if ratio else "–"] +
                    [f"{100 * share:.2g} %" if share is not None else "–" for share in shares])
    page.table(["scene", "characteristic", "force", "times longer", "characteristic off by", "force off by"], rows)
    if ratios:
        ratios.sort()
        page.add(f"The default takes {ratios[0]:.1f} to {ratios[-1]:.1f} times as long, {ratios[len(ratios) // 2]:.1f} times in the "
                 "middle of the scenes.")


def add_admm(page, admm):
    runs = {path.removesuffix(".json").split("dot/")[1]: run for path, run in admm["runs"].items()}
    stuck = {name: run["unsolved"] for name, run in runs.items() if run["unsolved"]}
    failed = [name for name, run in runs.items() if not worked(run)]
    said = [f"{name} {count} steps" for name, count in stuck.items() if name not in failed] + [f"{name} failed" for name in failed]
    page.claim(f"admm-pd converges on none of the scenes (bound: of the first {admm['steps']} steps of each, at least one is unsolved "
               f"after {admm['cap']} iterations).", len({*stuck, *failed}) == len(runs),
               f"on {len({*stuck, *failed})} of {len(runs)} scenes" + (f" (unsolved: {', '.join(said)})" if said else "") + ".")


def iterations_to_tolerance(run):
    """Number of iterations and seconds of the traced step; None if the tolerance was not reached."""
    trace = run["trace"]
    for i, (seconds, residual) in enumerate(zip(trace["seconds"], trace["residual"])):
        if residual is not None and residual <= 1:
            return i, seconds
    return None


def gains(run):
    """Decades of the residual per iteration in the first and in the second half of the traced step."""
    logs = [math.log10(r) for r in run["trace"]["residual"] if r]
    half = len(logs) // 2
    return ((logs[0] - logs[half]) / half, (logs[half] - logs[-1]) / (len(logs) - 1 - half)) if half else (math.nan, math.nan)


def add_convergence(page, data):
    runs = {name: run for name, run in data["runs"].items() if run["trace"]["residual"]}
    ends = {name: iterations_to_tolerance(run) for name, run in runs.items()}
    page.add("## Convergence of one step",
             f"Step {data['step']} of `{data['scene']}` (the paper's figure 7 has a step midway through a stretch). All start from "
             "the same state, which newton has brought there, and make two steps of their own before the one that is shown. The "
             "residual is the size of the gradient over the tolerance: a step is solved at 1, and goes on here to "
             f"{data['further']:g} to show how it ends.")
    page.plot("convergence", "Convergence of one step",
              [("Against iterations", "iteration", "residual over tolerance", "y",
                {name: list(enumerate(run["trace"]["residual"])) for name, run in runs.items()}),
               ("Against time", "seconds", "residual over tolerance", "xy",
                {name: list(zip(run["trace"]["seconds"], run["trace"]["residual"])) for name, run in runs.items()})])
    page.table(["solver", "iterations", "ms", "last residual"],
               [[name, ends[name][0] if ends[name] else f"not in {len(run['trace']['residual']) - 1}",
                 1e3 * ends[name][1] if ends[name] else None, run["trace"]["residual"][-1]] for name, run in runs.items()])
    rates = {name: gains(run) for name, run in runs.items() if ends.get(name)}
    said = ", ".join(f"{name} {figure(early, 2)} and {figure(late, 2)}" for name, (early, late) in rates.items())
    page.claim("dot converges super-linearly (bound: more decades per iteration in the second half of the iterations than in the first).",
               rates[PUBLISHED][1] > rates[PUBLISHED][0] if PUBLISHED in rates else False,
               f"decades per iteration in the first and in the second half: {said}.")
    compare_ends(page, ends, PUBLISHED, "lbfgs-h", 1.5, "dot needs about as many iterations as lbfgs-h (bound: at most 1.5 times)", 0)
    compare_ends(page, ends, PUBLISHED, "lbfgs-pd", 0.5, "lbfgs-pd lags well behind (bound: dot needs at most half its iterations)", 0)
    for name in (PUBLISHED, OURS):
        for other in ("newton", "lbfgs-h"):
            compare_ends(page, ends, name, other, NOISE, f"{name} is done before {other}", 1)
    if "admm-pd" in runs:
        residuals = runs["admm-pd"]["trace"]["residual"]
        page.claim("admm-pd does not reach the tolerance.", ends["admm-pd"] is None,
                   f"after {len(residuals) - 1} iterations its residual is {figure(residuals[-1])} tolerances.")


def compare_ends(page, ends, name, other, bound, words, which):
    late = [solver for solver in (name, other) if not ends.get(solver)]
    if late:
        page.claim(f"{words}.", name not in late, f"{' and '.join(late)} did not reach the tolerance.")
        return
    unit = ("iterations", "ms")[which]
    a, b = (end[which] * (1e3 if which else 1) for end in (ends[name], ends[other]))
    page.claim(f"{words}.", a <= bound * b, f"{name} {figure(a)} {unit}, {other} {figure(b)} {unit}.")


def add_subdomains(page, series):
    page.add("## Iterations against subdomains",
             "The paper's figure 6. Means over the first steps; `paper` is the published method, `fast` ours.")
    rows = {name: [(row["count"], row["iterations"]) for row in items if row["iterations"]] for name, items in series.items()}
    page.plot("subdomains", "Iterations per step against the number of subdomains",
              [("", "subdomains", "iterations per step", "xy", rows),
               ("Time", "subdomains", "seconds per step", "xy",
                {name: [(row["count"], row["seconds"]) for row in items if worked(row)] for name, items in series.items()})])
    counts = [row["count"] for row in next(iter(series.values()))]
    page.table(["body; variant", "nodes"] + [str(count) for count in counts] + ["exponent"],
               [[name, items[0]["nodes"]] + [row["iterations"] for row in items] + [growth(rows[name])]
                for name, items in series.items()])
    for variant in ("paper", "fast"):
        mine = {name: points for name, points in rows.items() if name.endswith(variant) and points}
        exponents = [growth(points) for points in mine.values()]
        evidence = "; ".join(f"{name.split(';')[0]}: {figure(points[0][1])} iterations with {points[0][0]}, "
                             f"{figure(points[-1][1])} with {points[-1][0]}" for name, points in mine.items())
        failed = sum(row["iterations"] is None for name, items in series.items() if name.endswith(variant) for row in items)
        page.claim(f"Iterations grow sub-linearly with the number of subdomains ({variant}; bound: iterations ~ subdomains^p with "
                   "p at most 0.75, and no run fails).", bool(exponents) and max(exponents) <= 0.75 and not failed,
                   f"p = {' and '.join(figure(p, 2) for p in exponents)} ({evidence}).")


PARAMETERS = {"step": ("h [ms]", 1e3), "young": ("E over 1e5 Pa", 1), "poisson": ("ν", 1)}  # label, factor to show it with


def add_parameters(page, data):
    page.add("## Step length, stiffness, Poisson's ratio, material",
             "The paper's table 2, on `scenes/dot/tss.json`: the same simulated time for every step length, one parameter changed at a "
             "time. Milliseconds per step, iterations in brackets; the ranking is from fastest to slowest.")
    solvers = list(data["model"][0][1])
    page.table(["", "value"] + solvers + ["ranking"],
               [[key if key == "model" else PARAMETERS[key][0], value if key == "model" else f"{PARAMETERS[key][1] * value:g}"] +
                [cell(runs[solver]) for solver in solvers] + [ranking(runs)] for key, items in data.items() for value, runs in items])
    page.plot("parameters", "Time per step against the parameters",
              [("", label, "seconds per step", "xy" if key == "young" else "y",
                {solver: [(scale * value, runs[solver]["seconds"]) for value, runs in data[key] if worked(runs[solver])]
                 for solver in solvers}) for key, (label, scale) in PARAMETERS.items()])
    every = [runs for items in data.values() for _, runs in items]
    for name in (PUBLISHED, OURS):
        best = sum(is_fastest(runs, name, OTHERS) for runs in every)
        page.claim(f"{name} is the fastest whatever the parameters (bound: within {100 * (NOISE - 1):.0f} % of the best of the others, "
                   "each time).", best == len(every), f"in {best} of {len(every)} rows.")
    for key, words in (("step", "longer steps"), ("poisson", "a larger Poisson's ratio")):
        change = {solver: ratio(data[key][-1][1], data[key][0][1], solver) for solver in solvers}
        page.claim(f"A step takes longer with {words}, for every solver.", all(value is not None and value > 1 for value in change.values()),
                   "from the least to the largest value by factors of " + listed(change) + ".")
    add_stiffness_claims(page, data["young"], solvers)
    runs = dict(data["model"])["stable-neo-hookean"]
    seconds = times(runs)
    rivals = [seconds[other] for other in OTHERS if other in seconds]
    leads = {name: min(rivals) / seconds[name] for name in (PUBLISHED, OURS) if name in seconds and rivals}
    page.claim("With stable neo-Hookean dot is 1.5 to 2.4 times faster than the others, as with fixed-corotated (bound: faster than "
               "the best of them).", leads.get(PUBLISHED, 0) > 1,
               "against the best of the others: " + "; ".join(f"{name} {lead:.2f} times" for name, lead in leads.items()) + ".")


def ratio(runs, base, solver):
    return runs[solver]["seconds"] / base[solver]["seconds"] if worked(runs[solver]) and worked(base[solver]) else None


def listed(values):
    return ", ".join(f"{name} {figure(value, 2)}" for name, value in values.items())


def add_stiffness_claims(page, items, solvers):
    change = {solver: ratio(items[0][1], items[-1][1], solver) for solver in solvers}
    spans = {}
    for solver in (PUBLISHED, OURS):
        seconds = [runs[solver]["seconds"] for _, runs in items if worked(runs[solver])]
        spans[solver] = max(seconds) / min(seconds) if len(seconds) == len(items) else None
    page.claim("The stiffness hardly changes what a step of dot costs (bound: slowest over fastest at most 1.5).",
               spans[PUBLISHED] is not None and spans[PUBLISHED] <= 1.5, f"slowest over fastest: {listed(spans)}.")
    page.claim("newton, lbfgs-h and lbfgs-pd become slower with softer materials.",
               all(change[solver] is not None and change[solver] > 1 for solver in OTHERS),
               f"softest over stiffest: {listed({solver: change[solver] for solver in OTHERS})}.")


def add_sizes(page, rows):
    largest = rows[-1]
    page.add("## Size", "Twisted bars of ever finer cells. Seconds per step after the first, which analyses patterns; peak memory of the "
             "whole process; for newton also what its factor alone takes (8 bytes an entry, known from the analysis).")
    solvers = [name for name in ("dot", "newton", "lbfgs-h", "lbfgs-pd") if name in rows[0]["runs"]]

    def gigabytes(row, name):
        return row["runs"][name]["megabytes"] / 1024 if name in row["runs"] and worked(row["runs"][name]) else None

    def seconds(row, name):
        return row["runs"][name]["later"] if name in row["runs"] else None

    need = [8 * row["fill"] / 2**30 for row in rows]
    page.table(["nodes", "tets"] + [f"{name} [s]" for name in solvers] + ["dot iterations", "dot first step [s]"] +
               [f"{name} [GB]" for name in solvers] + ["newton's factor [GB]"],
               [[row["nodes"], row["tets"]] + [seconds(row, name) for name in solvers] +
                [row["runs"]["dot"]["iterations"], row["runs"]["dot"]["first"]] + [gigabytes(row, name) for name in solvers] + [factor]
                for row, factor in zip(rows, need)])
    memory = {name: [(row["tets"], gigabytes(row, name)) for row in rows if gigabytes(row, name)] for name in solvers}
    page.plot("size", "Cost against size",
              [("Time per step", "tets", "seconds", "xy",
                {name: [(row["tets"], seconds(row, name)) for row in rows if seconds(row, name)] for name in solvers}),
               ("Peak memory", "tets", "GB", "xy", {**memory, "newton's factor": [(row["tets"], f) for row, f in zip(rows, need)]})])
    exponent = growth([(row["tets"], seconds(row, "dot")) for row in rows])
    page.claim("What a step of dot costs grows about in proportion to the size (bound: time ~ tets^p with p at most 1.25).",
               exponent <= 1.25, f"p = {figure(exponent, 2)} from {rows[0]['tets']:,} to {largest['tets']:,} tets.")
    dot = largest["runs"]["dot"]
    gb, enough = gigabytes(largest, "dot"), largest["nodes"] >= 300000
    page.claim("A body of 300,000 nodes makes five steps with dot in under 12 GB.", (gb is not None and gb < 12) if enough else None,
               (f"{largest['nodes']:,} nodes and {largest['tets']:,} tets take {figure(gb)} GB and {figure(dot['seconds'])} s per step"
                if worked(dot) else f"the run failed ({dot['failed']['outcome']})") + f"; newton's factor alone would take {figure(need[-1])} GB.")
    page.claim("dot goes on where newton and lbfgs-h no longer fit (bound: newton's factor alone takes at least twice the memory of all "
               "of dot at the largest size).", gb is not None and need[-1] >= 2 * gb, f"{figure(need[-1])} GB against {figure(gb)} GB.")


def write_page(tools, folder, data):
    page = Page(tools, folder, "dot")
    page.add("# dot and its rivals")
    page.about("make reproduce-dot" + (" ARGS=--quick" if data["quick"] else ""), data["here"])
    page.add("The paper is Li, Gao, Langlois, Jiang and Kaufman, *Decomposed Optimization Time Integrator for Large-Step "
             "Elastodynamics*, 2019. Its meshes and its machine (six cores, MKL) are others: here the bodies are generated, so that anyone can "
             "repeat it; rows on the authors' own meshes are there if the meshes were. Each row of times comes from one run of each "
             "solver, one after the other, so a few per cent are noise. All solvers stop by the paper's test and, but for our variant of dot, "
             "start where the paper's do, so that iterations compare with its own; what rubato's default test costs stands in a section of its "
             "own.")
    if data["quick"]:
        page.add("**Made with --quick, with few steps and small bodies: good for trying the script, not for conclusions.**")
    add_scenes(page, data["scenes"])
    add_admm(page, data["admm"])
    add_stops(page, data["stops"])
    add_convergence(page, data["convergence"])
    add_subdomains(page, data["subdomains"])
    add_parameters(page, data["parameters"])
    add_sizes(page, data["sizes"])
    return page.write()
