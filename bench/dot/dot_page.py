"""The page of reproduce.py: sections, plots and verdicts made from the figures it measured."""

import math

from study import VERDICTS, Page, figure, five_lines, growth

NOISE = 1.05  # times closer than this count as equal
PUBLISHED, OURS, WHOLE = "dot, paper", "dot", "dot, paper, whole"
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
    both = [runs[other]["seconds"] / runs[name]["seconds"] for runs in rows if worked(runs.get(other))
            and worked(runs.get(name))]
    return f"{min(both):.1f} to {max(both):.1f}" if both else "–"


def cell(run):
    if run is None:
        return "–"
    if not worked(run):
        return f"failed ({run['failed']['outcome']})"
    return f"{figure(1e3 * run['seconds'])} ({figure(run['iterations'])}){counted(run)}"


def counted(run):
    """The number of subdomains of a run of dot, in square brackets."""
    return f" [{run['subdomains']}]" if run.get("subdomains") else ""


def counts(rows, name):
    """How many subdomains a variant of dot had over these rows, in words."""
    seen = sorted({runs[name]["subdomains"] for runs in rows if worked(runs.get(name))
                   and runs[name].get("subdomains")})
    if not seen:
        return "an unknown number of subdomains"
    words = f"{seen[0]}" if len(seen) == 1 else f"{seen[0]} to {seen[-1]}"
    return words + (" subdomain" if seen == [1] else " subdomains")


def line(published, ours, words):
    """One of the five that the page begins with, with its verdict for dot as published and for our variant."""
    if published == ours:
        return f"**{VERDICTS[published]}**: {words}"
    return (f"**Holds {'as published, not in' if published else 'in'} our "
            f"variant{'' if published else ', not as published'}**: {words}")


# ---- Sections


def add_scenes(page, scenes):
    rows = list(scenes.values())
    names = [path.removesuffix(".json").removeprefix("bench/dot/").removeprefix("scenes/dot/") for path in scenes]
    solvers = list(rows[0])
    page.add("## Every script, every solver",
             "Milliseconds per step, and iterations per step in brackets, over the first steps of each scene; "
             "backward Euler, "
             "fixed-corotated, E = 1e5 Pa, ν = 0.4, h = 25 ms, ε = 1e-5. `dot` is our variant with its own choice "
             "of subdomains, "
             "`dot, paper` the method as published, with six of them as in the paper; the number stands in square "
             "brackets.")
    page.table(["scene", "nodes", "tets"] + solvers,
               [[name, runs[OURS]["nodes"], runs[OURS]["tets"]] + [cell(runs[solver]) for solver in solvers]
                for name, runs in zip(names, rows)])
    page.plot("scenes", "Time per step of each solver over that of dot",
              [("", "scene, in the order of the table", "times longer than dot", "y",
                {solver: [(i + 1, runs[solver]["seconds"] / runs[OURS]["seconds"])
                          for i, runs in enumerate(rows) if worked(runs[solver]) and worked(runs[OURS])]
                 for solver in solvers})])
    paper = {"newton": "1.1 to 10", "lbfgs-h": "1 to 2.5", "lbfgs-pd": "1.6 to 11.4"}
    wins = {name: sum(is_fastest(runs, name, OTHERS) for runs in rows) for name in (PUBLISHED, OURS)}
    for name, words in ((PUBLISHED, f"as published, {counts(rows, PUBLISHED)}"), (OURS, f"in our variant, "
                                                                                        f"{counts(rows, OURS)}")):
        best = wins[name]
        ranges = "; ".join(f"{other} {factors(rows, other, name)}"
                           + (f" (paper: {paper[other]})" if name == PUBLISHED else "")
                           for other in OTHERS)
        page.claim(f"dot is the fastest converging solver on all scenes but a few slow, small ones (dot {words}; "
                   f"bound: within {100 * (NOISE - 1):.0f} % of the best of the others on three scenes in four).",
                   best >= 0.75 * len(rows),
                   f"on {best} of {len(rows)} scenes; times of the others over its own: {ranges}.")
    winners = {min((s for s in OTHERS if worked(runs[s])), key=lambda s: runs[s]["seconds"], default="")
               for runs in rows}
    page.claim("Which of newton, lbfgs-h and lbfgs-pd is fastest changes from scene to scene (bound: at least two "
               "of them win).",
               len(winners - {""}) >= 2, f"the fastest of the three is {' or '.join(sorted(winners))}.")
    beaten = [name for name, runs in zip(names, rows) if not is_fastest(runs, OURS, OTHERS)]
    return line(*(wins[name] >= 0.75 * len(rows) for name in (PUBLISHED, OURS)),
                f"dot is the fastest solver on nearly all scenes. As published, with {counts(rows, PUBLISHED)}, it "
                f"is on {wins[PUBLISHED]} of "
                f"{len(rows)}; our variant, with {counts(rows, OURS)}, on {wins[OURS]}"
                + (f" (not on {', '.join(beaten)})." if beaten else "."))


def off(run, tight):
    """Largest difference in kinetic energy over the steps, of the largest kinetic energy."""
    if not worked(run) or not worked(tight):
        return None
    return max(abs(a - b) for a, b in zip(run["kinetic"], tight["kinetic"])) / max(tight["kinetic"])


def add_stops(page, stops):
    page.add("## What the default stop test costs",
             "All rows above and below use the paper's stop test, which compares the residual with stiffness times "
             "area and "
             "does not notice loads that are small beside that (`\"stop\": \"characteristic\"`). rubato's default "
             "(`\"force\"`) compares it with the forces that act: of a body of any size and stiffness the motion is "
             "then right to 1 % "
             "of its deformation ([verification](../verification.md)). Here both with `dot`, in the number of "
             "subdomains that each "
             "chooses (in square brackets): milliseconds and iterations per step, and the largest difference in "
             "kinetic energy to a solve to 1e-6 of the forces, "
             "as a share of the largest kinetic energy.")
    rows, ratios = [], []
    for path, runs in stops.items():
        paper, force, tight = runs["characteristic"], runs["force"], runs["tight"]
        ratio = force["seconds"] / paper["seconds"] if worked(force) and worked(paper) else None
        ratios += [ratio] if ratio else []
        shares = [off(run, tight) for run in (paper, force)]
        rows.append([path.removesuffix(".json").split("dot/")[1], cell(paper), cell(force), figure(ratio) if ratio else
            "–"] +
                    [f"{100 * share:.2g} %" if share is not None else "–" for share in shares])
    page.table(["scene", "characteristic", "force", "times longer", "characteristic off by", "force off by"], rows)
    if ratios:
        ratios.sort()
        page.add(f"The default takes {ratios[0]:.1f} to {ratios[-1]:.1f} times as long, "
                 f"{ratios[len(ratios) // 2]:.1f} times in the "
                 "middle of the scenes.")


def add_admm(page, admm):
    runs = {path.removesuffix(".json").split("dot/")[1]: run for path, run in admm["runs"].items()}
    stuck = {name: run["unsolved"] for name, run in runs.items() if run["unsolved"]}
    failed = [name for name, run in runs.items() if not worked(run)]
    said = [f"{name} {count} steps" for name, count in stuck.items()
            if name not in failed] + [f"{name} failed" for name in failed]
    page.claim(f"admm-pd converges on none of the scenes (bound: of the first {admm['steps']} steps of each, at "
               f"least one is unsolved "
               f"after {admm['cap']} iterations).", len({*stuck, *failed}) == len(runs),
               f"on {len({*stuck, *failed})} of {len(runs)} scenes" + (f" (unsolved: {', '.join(said)})" if said else
                   "") + ".")


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
    return ((logs[0] - logs[half]) / half,
            (logs[half] - logs[-1]) / (len(logs) - 1 - half)) if half else (math.nan, math.nan)


def add_convergence(page, data):
    runs = {name: run for name, run in data["runs"].items() if run["trace"]["residual"]}
    ends = {name: iterations_to_tolerance(run) for name, run in runs.items()}
    page.add("## Convergence of one step",
             f"Step {data['step']} of `{data['scene']}` (the paper's figure 7 has a step midway through a stretch). "
             f"All start from "
             "the same state, which newton has brought there, and make two steps of their own before the one that "
             "is shown. The "
             "residual is the size of the gradient over the tolerance: a step is solved at 1, and goes on here to "
             f"{data['further']:g} to show how it ends. `dot, paper` has the paper's six subdomains; `{WHOLE}` is "
             f"the same method with one, which "
             "leaves nothing to decompose: it is lbfgs-h with another line search, and stands here only to show that.")
    page.plot("convergence", "Convergence of one step",
              [("Against iterations", "iteration", "residual over tolerance", "y",
                {name + counted(run): list(enumerate(run["trace"]["residual"])) for name, run in runs.items()}),
               ("Against time", "seconds", "residual over tolerance", "xy",
                {name + counted(run): list(zip(run["trace"]["seconds"], run["trace"]["residual"]))
                 for name, run in runs.items()})])
    page.table(["solver", "subdomains", "iterations", "ms", "last residual"],
               [[name, run.get("subdomains"), ends[name][0] if ends[name] else
                   f"not in {len(run['trace']['residual']) - 1}",
                 1e3 * ends[name][1] if ends[name] else None, run["trace"]["residual"][-1]]
                for name, run in runs.items()])
    rates = {name: gains(run) for name, run in runs.items() if ends.get(name)}
    said = ", ".join(f"{name} {figure(early, 2)} and {figure(late, 2)}" for name, (early, late) in rates.items())
    page.claim("dot converges super-linearly (bound: more decades per iteration in the second half of the "
               "iterations than in the first).",
               rates[PUBLISHED][1] > rates[PUBLISHED][0] if PUBLISHED in rates else False,
               f"decades per iteration in the first and in the second half: {said}.")
    matches = compare_ends(page, ends, PUBLISHED, "lbfgs-h", 1.5, f"dot needs about as many iterations as lbfgs-h "
                                                                  f"({counts([runs], PUBLISHED)}; "
                           "bound: at most 1.5 times)", 0)
    compare_ends(page, ends, PUBLISHED, "lbfgs-pd", 0.5, "lbfgs-pd lags well behind (bound: dot needs at most half "
                                                         "its iterations)", 0)
    for name in (PUBLISHED, OURS):
        for other in ("newton", "lbfgs-h"):
            compare_ends(page, ends, name, other, NOISE, f"{name} is done before {other}", 1)
    if "admm-pd" in runs:
        residuals = runs["admm-pd"]["trace"]["residual"]
        page.claim("admm-pd does not reach the tolerance.", ends["admm-pd"] is None,
                   f"after {len(residuals) - 1} iterations its residual is {figure(residuals[-1])} tolerances.")
    mine = bool(ends.get(OURS) and ends.get("lbfgs-h")) and ends[OURS][0] <= 1.5 * ends["lbfgs-h"][0]
    needs = ", ".join(f"{'our variant' if name == OURS else name} {ends[name][0] if ends.get(name) else 'never ends'}"
                      for name in ("lbfgs-h", "newton", "lbfgs-pd", OURS))
    own = ends.get(PUBLISHED)
    return line(matches, mine, f"dot converges like lbfgs-h. In one step midway through a stretch, with "
                               f"{counts([runs], PUBLISHED)}, it needs "
                         f"{own[0] if own else 'more than all'} iterations ({needs}"
                         + (f"; undivided, where it is lbfgs-h but for the line search, {ends[WHOLE][0]}"
                            if ends.get(WHOLE) else "") + ").")


def compare_ends(page, ends, name, other, bound, words, which):
    late = [solver for solver in (name, other) if not ends.get(solver)]
    if late:
        page.claim(f"{words}.", name not in late, f"{' and '.join(late)} did not reach the tolerance.")
        return name not in late
    unit = ("iterations", "ms")[which]
    a, b = (end[which] * (1e3 if which else 1) for end in (ends[name], ends[other]))
    page.claim(f"{words}.", a <= bound * b, f"{name} {figure(a)} {unit}, {other} {figure(b)} {unit}.")
    return a <= bound * b


def add_subdomains(page, series):
    page.add("## Iterations against subdomains",
             "The paper's figure 6: iterations per step, by the number of subdomains. Means over the first steps; "
             "`paper` is the published "
             "method, `fast` ours.")
    rows = {name: [(row["count"], row["iterations"]) for row in items if row["iterations"]]
            for name, items in series.items()}
    page.plot("subdomains", "Iterations per step against the number of subdomains",
              [("", "subdomains", "iterations per step", "xy", rows),
               ("Time", "subdomains", "seconds per step", "xy",
                {name: [(row["count"], row["seconds"]) for row in items if worked(row)]
                 for name, items in series.items()})])
    asked = [row["count"] for row in next(iter(series.values()))]
    page.table(["body; variant", "nodes"] + [str(count) for count in asked] + ["exponent"],
               [[name, items[0]["nodes"]] + [row["iterations"] for row in items] + [growth(rows[name])]
                for name, items in series.items()])
    holds, spans = {}, {}
    for variant in ("paper", "fast"):
        mine = {name: points for name, points in rows.items() if name.endswith(variant) and points}
        exponents = [growth(points) for points in mine.values()]
        evidence = "; ".join(f"{name.split(';')[0]}: {figure(points[0][1])} iterations with {points[0][0]}, "
                             f"{figure(points[-1][1])} with {points[-1][0]}" for name, points in mine.items())
        failed = sum(row["iterations"] is None for name, items in series.items() if name.endswith(variant)
                     for row in items)
        page.claim(f"Iterations grow sub-linearly with the number of subdomains ({variant}; bound: iterations ~ "
                   f"subdomains^p with "
                   "p at most 0.75, and no run fails).", bool(exponents) and max(exponents) <= 0.75 and not failed,
                   f"p = {' and '.join(figure(p, 2) for p in exponents)} ({evidence}).")
        holds[variant] = bool(exponents) and max(exponents) <= 0.75 and not failed
        spans[variant] = f"subdomains^{figure(max(exponents), 2)}" if exponents else "an unknown law"
    return line(holds["paper"], holds["fast"], f"iterations grow sub-linearly with the number of subdomains: from "
                                               f"{asked[0]} to {asked[-1]} of them at most like "
                       f"{spans['paper']} as published, and like {spans['fast']} in our variant.")


# label, factor to show it with
PARAMETERS = {"step": ("h [ms]", 1e3), "young": ("E over 1e5 Pa", 1), "poisson": ("ν", 1)}


def add_parameters(page, data):
    page.add("## Step length, stiffness, Poisson's ratio, material",
             "The paper's table 2, on `scenes/dot/tss.json`: the same simulated time for every step length, one "
             "parameter changed at a "
             "time. Milliseconds per step, iterations in brackets and subdomains in square ones; the ranking is "
             "from fastest to slowest.")
    solvers = list(data["model"][0][1])
    page.table(["", "value"] + solvers + ["ranking"],
               [[key if key == "model" else PARAMETERS[key][0], value if key == "model" else
                   f"{PARAMETERS[key][1] * value:g}"] +
                [cell(runs[solver]) for solver in solvers] + [ranking(runs)] for key, items in data.items()
                for value, runs in items])
    page.plot("parameters", "Time per step against the parameters",
              [("", label, "seconds per step", "xy" if key == "young" else "y",
                {solver: [(scale * value, runs[solver]["seconds"]) for value, runs in data[key] if worked(runs[solver])]
                 for solver in solvers}) for key, (label, scale) in PARAMETERS.items()])
    every = [runs for items in data.values() for _, runs in items]
    wins = {name: sum(is_fastest(runs, name, OTHERS) for runs in every) for name in (PUBLISHED, OURS)}
    for name, best in wins.items():
        page.claim(f"{name} is the fastest whatever the parameters ({counts(every, name)}; bound: within "
                   f"{100 * (NOISE - 1):.0f} % of the "
                   "best of the others, each time).", best == len(every), f"in {best} of {len(every)} rows.")
    for key, words in (("step", "longer steps"), ("poisson", "a larger Poisson's ratio")):
        change = {solver: ratio(data[key][-1][1], data[key][0][1], solver) for solver in solvers}
        page.claim(f"A step takes longer with {words}, for every solver.",
                   all(value is not None and value > 1 for value in change.values()),
                   "from the least to the largest value by factors of " + listed(change) + ".")
    add_stiffness_claims(page, data["young"], solvers)
    runs = dict(data["model"])["stable-neo-hookean"]
    seconds = times(runs)
    rivals = [seconds[other] for other in OTHERS if other in seconds]
    leads = {name: min(rivals) / seconds[name] for name in (PUBLISHED, OURS) if name in seconds and rivals}
    page.claim("With stable neo-Hookean dot is 1.5 to 2.4 times faster than the others, as with fixed-corotated "
               "(bound: faster than the best of them).", leads.get(PUBLISHED, 0) > 1,
               "against the best of the others: "
               + "; ".join(f"{name} {lead:.2f} times" for name, lead in leads.items()) + ".")
    return line(*(wins[name] == len(every) for name in (PUBLISHED, OURS)),
                f"dot is the fastest whatever the step length, the stiffness, Poisson's ratio and the material. As "
                f"published, with "
                f"{counts(every, PUBLISHED)}, it is in {wins[PUBLISHED]} of {len(every)} rows; our variant, with "
                f"{counts(every, OURS)}, in "
                f"{wins[OURS]}.")


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


def gigabytes(row, name):
    return row["runs"][name]["megabytes"] / 1024 if name in row["runs"] and worked(row["runs"][name]) else None


def later(row, name):
    """Seconds per step after the first, which analyses patterns."""
    return row["runs"][name]["later"] if name in row["runs"] and worked(row["runs"][name]) else None


def size_cell(row, name):
    if name not in row["runs"] or not worked(row["runs"][name]):
        return cell(row["runs"].get(name))
    run = row["runs"][name]
    return f"{figure(run['later'])} ({figure(run['iterations'])}){counted(run)}"


def needed(row):
    """Gigabytes of newton's factor."""
    return 8 * row["fill"] / 2**30


def add_size_table(page, body, rows, name):
    solvers = list(rows[0]["runs"])
    page.add(f"### {body[0].upper()}{body[1:]}", f"The first {rows[0]['steps']} steps.")
    page.table(["nodes", "tets"] + [f"{solver} [s]" for solver in solvers] + ["dot, first step [s]"] +
               [f"{solver} [GB]" for solver in solvers] + ["newton's factor [GB]"],
               [[row["nodes"], row["tets"]] + [size_cell(row, solver) for solver in solvers]
                + [row["runs"][OURS]["first"]] +
                [gigabytes(row, solver) for solver in solvers] + [needed(row)] for row in rows])
    memory = {solver: [(row["tets"], gigabytes(row, solver)) for row in rows if gigabytes(row, solver)]
              for solver in solvers}
    page.plot(name, f"Cost against size: {body}",
              [("Time per step", "tets", "seconds", "xy",
                {solver: [(row["tets"], later(row, solver)) for row in rows if later(row, solver)]
                 for solver in solvers}),
               ("Peak memory", "tets", "GB", "xy",
                {**memory, "newton's factor": [(row["tets"], needed(row)) for row in rows]})])


def add_sizes(page, bodies):
    page.add("## Size", "Bodies of ever finer meshes. Seconds per step after the first, which analyses patterns, "
                        "iterations in brackets and "
             "subdomains in square ones; peak memory of the whole process; for newton also what its factor alone "
             "takes (8 bytes an entry, "
             "known from the analysis).")
    for number, (body, rows) in enumerate(bodies.items()):
        add_size_table(page, body, rows, "size" if not number else f"size-{number + 1}")
    exponents = {body: growth([(row["tets"], later(row, OURS)) for row in rows]) for body, rows in bodies.items()}
    page.claim("What a step of dot costs grows about in proportion to the size (bound: time ~ tets^p with p at most "
               "1.25).",
               all(p <= 1.25 for p in exponents.values()),
               "; ".join(f"{body}: p = {figure(exponents[body], 2)} from {rows[0]['tets']:,} to "
                         f"{rows[-1]['tets']:,} tets"
                         for body, rows in bodies.items()) + " (our variant).")
    largest = max((rows[-1] for rows in bodies.values()), key=lambda row: row["nodes"])
    dot = largest["runs"][OURS]
    gb, need, enough = gigabytes(largest, OURS), needed(largest), largest["nodes"] >= 300000
    page.claim("A body of 300,000 nodes makes five steps with dot in under 12 GB.",
               (gb is not None and gb < 12) if enough else None,
               (f"{largest['nodes']:,} nodes and {largest['tets']:,} tets take {figure(gb)} GB and "
                f"{figure(dot['seconds'])} s per step"
                if worked(dot) else f"the run failed ({dot['failed']['outcome']})") + "; newton's factor alone would "
               f"take {figure(need)} GB.")
    fits = gb is not None and need >= 2 * gb
    page.claim("dot goes on where newton and lbfgs-h no longer fit (bound: newton's factor alone takes at least "
               "twice the memory of all "
               "of dot at the largest size).", fits, f"{figure(need)} GB against {figure(gb)} GB.")
    return add_laplacian(page, bodies, gb, need)


def over_own(rows, name, value):
    """(nodes, lbfgs-pd's value over that of `name`) for each size at which both worked."""
    both = [(row["nodes"], value(row, "lbfgs-pd"), value(row, name)) for row in rows]
    return [(nodes, theirs / own) for nodes, theirs, own in both if theirs and own]


def add_laplacian(page, bodies, gb, need):
    """dot against lbfgs-pd as bodies grow, and the line about size."""
    times_over = {name: {body: over_own(rows, name, later) for body, rows in bodies.items()}
                  for name in (PUBLISHED, OURS)}
    memory_over = {body: over_own(rows, OURS, gigabytes) for body, rows in bodies.items()}

    def said(found):
        return "; ".join(f"{body}: " + (f"{points[0][1]:.2f} at {points[0][0]:,} nodes, {points[-1][1]:.2f} at "
                                        f"{points[-1][0]:,}"
                                        if points else "not measured") for body, points in found.items())

    for name, words in ((PUBLISHED, "as published"), (OURS, "in our variant")):
        found = times_over[name]
        page.claim(f"dot is faster than lbfgs-pd on large bodies (dot {words}; paper: 2.7 times at 754,000 nodes; "
                   f"bound: faster at the largest "
                   "size, on each body).", all(points and points[-1][1] >= 1 for points in found.values()),
                   f"lbfgs-pd's time per step over dot's: {said(found)}.")
        trends = {body: growth(points) for body, points in found.items()}
        page.claim(f"The larger the body, the more dot leads lbfgs-pd (dot {words}; bound: their times' ratio grows "
                   f"with nodes, on each body).",
                   all(p > 0 for p in trends.values()),
                   "; ".join(f"{body}: lbfgs-pd over dot ~ nodes^{figure(p, 2)}" for body, p in trends.items()) + ".")
    page.claim("dot takes less memory than lbfgs-pd (our variant; bound: at every size).",
               all(points and all(over >= 1 for _, over in points) for points in memory_over.values()),
               f"lbfgs-pd's peak memory over dot's: {said(memory_over)}.")
    ends = {name: {body: points[-1] for body, points in found.items() if points} for name, found in times_over.items()}
    leading = [len(ends[name]) == len(bodies) and all(over >= 1 for _, over in ends[name].values())
               for name in (PUBLISHED, OURS)]

    def lead(name):
        return " and ".join(f"{over:.2f} ({body}, {nodes:,} nodes)" for body, (nodes, over) in ends[name].items())

    return line(*leading, f"dot leads lbfgs-pd on large bodies. Its speed over that of lbfgs-pd is, as published, "
                          f"{lead(PUBLISHED)}, and in our "
                         f"variant {lead(OURS)}. At the largest size all of dot takes {figure(gb)} GB, newton's "
                         f"factor alone {figure(need)} GB.")


def write_page(tools, folder, data):
    page = Page(tools, folder, "dot")
    page.add("# dot and its rivals")
    top = len(page.lines)
    page.about("make reproduce-dot" + (" ARGS=--quick" if data["quick"] else ""), data["here"])
    page.add("The paper is Li, Gao, Langlois, Jiang and Kaufman, *Decomposed Optimization Time Integrator for "
             "Large-Step "
             "Elastodynamics*, 2019. Its meshes and its machine (six cores, MKL) are others: here the bodies are "
             "generated, so that anyone can "
             "repeat it; rows on the authors' own meshes are there if the meshes were. Each time is the faster of "
             "two runs "
             "(of one, if it took more than 20 s), repeated if other programs kept a processor busy meanwhile, which "
             f"was not to be avoided in {data['disturbed']} of {data['measured']} cases; a few per cent are noise. "
             f"All solvers stop by the paper's test and, but for our variant of dot, "
             "start where the paper's do, so that iterations compare with its own; what rubato's default test costs "
             "stands in a section of its "
             "own. The paper divides every body into six subdomains, one for each of its cores, and so does `dot, "
             "paper` here, on two cores; our "
             "variant chooses the number.")
    if data["quick"]:
        page.add("**Made with --quick, with few steps and small bodies: good for trying the script, not for "
                 "conclusions.**")
    scenes = add_scenes(page, data["scenes"])
    add_admm(page, data["admm"])
    add_stops(page, data["stops"])
    convergence = add_convergence(page, data["convergence"])
    subdomains = add_subdomains(page, data["subdomains"])
    parameters = add_parameters(page, data["parameters"])
    sizes = add_sizes(page, data["sizes"])
    page.lines[top:top] = [five_lines([scenes, convergence, subdomains, parameters, sizes]), ""]
    return page.write()
