"""The page of reproduce.py: sections, plots and verdicts made from the figures it measured."""

import statistics

from study import Page, figure, growth

METHODS = ["SI", "SIERE", "ERE", "BE"]
DIVERGING = ["cuboid-untwist", "rope-uncoil", "tree"]
RATIO_OF_PAPER = 3.7  # SIERE over SI in the paper's table: 1.4 to 3.7
STEADY = 1.25  # times that differ by less count as the same cost
SLOW = 20  # times SIERE's cost: the paper stops a run beyond it


def finished(run):
    """Whether nothing went wrong; a run that was ended for its time counts."""
    return run["outcome"] != "failed"


def hundred(run):
    """Seconds for 100 frames, or None."""
    return 100 * run["per_frame"] if finished(run) and run["per_frame"] else None


def cell(run, frames):
    if run["outcome"] == "failed":
        return f"fails at {figure(run['time'])} s" if run.get("time") is not None else "fails"
    if not run["frames"]:
        return f"no frame in {run['limit']} s"
    return figure(hundred(run)) + (f" ({run['frames']} frames)" if run["frames"] < frames else "")


def said(value):
    return {"fails": "fails", "x": "stopped", None: "–"}.get(value, value)


def ratio(row, over, under):
    a, b = hundred(row["runs"][over]), hundred(row["runs"][under])
    return a / b if a and b else None


def swing(run):
    """How much the elastic energy still moves: its standard deviation over the last third of the run."""
    elastic = run["energies"]["elastic"] if run["energies"] else []
    third = elastic[2 * len(elastic) // 3:]
    return statistics.pstdev(third) if len(third) > 2 else None


def level(run):
    """Mean total energy over the last third of the run."""
    total = run["energies"]["total"] if run["energies"] else []
    third = total[2 * len(total) // 3:]
    return statistics.fmean(third) if third else None


def curve(run, what="total"):
    """Points of an energy over time, up to where it leaves the scale of the start."""
    if not run["energies"]:
        return []
    energies = run["energies"]
    most = 10 * max(map(abs, energies["total"][:3] + energies["elastic"][:3] + energies["kinetic"][:3])) or 1
    points = list(zip(energies["time"], energies[what]))
    return points if run["outcome"] != "failed" else [p for p in points if abs(p[1]) <= most]


def name_of(row):
    return f"{row['scene']}, {row['stiffness']:.0e} Pa".replace("e+0", "e").replace("e+", "e")


# ---- Sections


def add_table(page, rows):
    page.add("## Table 2",
             "Seconds for 100 frames, a frame being a step. The paper's machine is a Core i7. A run was ended after a while; then its frames "
             "are named and the time is scaled. *Fails*: a step of the given size could not be made, or the motion blew up; as in the paper, "
             "steps are not halved in cuboid-untwist, rope-uncoil and tree. *Stopped*: the paper gave up, at far more than 20 times SIERE. The "
             "paper has BE in its text only. Stiffness is that of the stiffest part.")
    page.table(["scene", "stiffness [Pa]", "nodes", "tets"] + METHODS + [f"paper: {m}" for m in METHODS],
               [[row["scene"], f"{row['stiffness']:.1e}", row["runs"]["SI"]["nodes"], row["runs"]["SI"]["tets"]] +
                [cell(row["runs"][m], row["frames"]) for m in METHODS] + [said(row["paper"][m]) for m in METHODS] for row in rows])
    ratios = [(name_of(row), ratio(row, "SIERE", "SI")) for row in rows]
    known = [value for _, value in ratios if value]
    page.claim(f"SIERE costs a small multiple of SI (bound: at most {RATIO_OF_PAPER}, the largest of the paper's own ratios).",
               max(known) <= RATIO_OF_PAPER if known else None,
               "; ".join(f"{name} {value:.2f}" for name, value in ratios if value) + ".")
    add_stiffer(page, rows)
    for scene in DIVERGING:
        add_divergence(page, [row for row in rows if row["scene"] == scene])
    slow = [(name_of(row), ratio(row, "ERE", "SIERE")) for row in rows if row["paper"]["ERE"] == "x"]
    none = [name for name, value in slow if value is None]
    page.claim(f"ERE is out of the question on the large bodies (bound: at least {SLOW} times SIERE, or it fails, or makes no frame in its time).",
               all(value is None or value >= SLOW for _, value in slow) if slow else None,
               "; ".join(f"{name} {value:.1f}" for name, value in slow if value) + (f"; no result: {', '.join(none)}" if none else "") + ".")
    for scene, paper in (("cuboid-untwist-arap", "87 against 129 s"), ("rope-uncoil", "651 against 1257 s")):
        for row in (row for row in rows if row["scene"] == scene):
            value = ratio(row, "SIERE", "BE")
            page.claim(f"SIERE is cheaper than BE on {scene} (paper: {paper}).", value < 1 if value else None,
                       f"it takes {value:.2f} of BE's time." if value else "one of the two has no time.")


def add_stiffer(page, rows):
    for method, grows in (("SI", False), ("SIERE", False), ("ERE", True)):
        found = []
        for scene in ("ball-hang", "honeycomb", "moebius"):
            both = [hundred(row["runs"][method]) for row in rows if row["scene"] == scene]
            if len(both) == 2 and all(both):
                found.append((scene, both[1] / both[0]))
        words = (f"The cost of {method} grows with the stiffness (bound: more than {STEADY} times as dear)" if grows else
                 f"The cost of {method} does not depend on the stiffness (bound: within a factor of {STEADY})")
        holds = None if not found else all(v > STEADY if grows else 1 / STEADY <= v <= STEADY for _, v in found)
        page.claim(f"{words}, the stiffest part being 100 times as stiff.", holds,
                   "; ".join(f"{scene} {value:.2f} times" for scene, value in found) + ".")


def add_divergence(page, rows):
    for row in rows:
        si, siere, be = (row["runs"][m] for m in ("SI", "SIERE", "BE"))
        words = [f"SI {si['outcome']}" + (f" at {figure(si['time'])} s ({si['why'].removeprefix('rubato: ')})" if not finished(si) else ""),
                 f"SIERE {siere['outcome']} after {siere['frames']} frames, {siere['projected']} of them with projected stiffness",
                 f"BE {be['outcome']} after {be['frames']} frames"]
        further = finished(siere) and siere["frames"] >= min(row["frames"], 2 * si["frames"] + 10)
        page.claim(f"SI diverges on {row['scene']}, SIERE does not (bound: SI fails, SIERE has all frames or went more than twice as far).",
                   not finished(si) and further, "; ".join(words) + ".")


def add_swings(page, swings):
    page.add("## Energies",
             "Total energy over time; for bodies in wind or hit by a push it is what these leave. Large bodies are coarser here than in the table, "
             "so that there are enough frames.")
    page.plot("energies", "Total energy", [(row["scene"], "time [s]", "energy [J]", "", {m: curve(run) for m, run in row["runs"].items()})
                                           for row in swings])
    for row in swings:
        runs = row["runs"]
        if "SI" not in runs:
            values = {m: level(run) for m, run in runs.items()}
            elastic = {m: swing(run) for m, run in runs.items()}
            known = all(value is not None for value in (*values.values(), *elastic.values()))
            page.claim(f"On {row['scene']} SIERE moves more than BE (bound: elastic energy swings more in the last third).",
                       elastic["SIERE"] > elastic["BE"] if known else None,
                       "; ".join(f"{m} {figure(v)} J" for m, v in elastic.items() if v is not None) + ".")
            continue
        left = {m: swing(run) for m, run in runs.items()}
        known = left["SI"] is not None and left["SIERE"] is not None
        page.claim(f"On {row['scene']} SIERE still swings where SI has come to rest or nearly so (bound: the elastic energy varies at "
                   "least three times as much over the last third).", left["SIERE"] >= 3 * left["SI"] if known else None,
                   "; ".join(f"{m} {figure(v)} J" for m, v in left.items() if v is not None) + ".")
    add_ball(page, next((row["runs"] for row in swings if row["scene"] == "ball-hang"), None))


def add_ball(page, runs):
    if not runs or "ERE" not in runs:
        return
    lost = {m: abs(level(run) - run["energies"]["total"][0]) for m, run in runs.items() if level(run) is not None}
    known = {"SI", "SIERE", "ERE"} <= set(lost)
    page.claim("The hanging ball keeps its energy with SIERE as with ERE (bound: SIERE loses at most a tenth of what SI loses).",
               lost["SIERE"] <= 0.1 * lost["SI"] if known else None,
               "change of the total energy, mean of the last third: " + "; ".join(f"{m} {figure(v)} J" for m, v in lost.items()) + ".")


def add_modes(page, modes):
    runs = modes["runs"]
    page.add("## How many modes: the untwisting cuboid")
    page.plot("modes", "Elastic energy of the untwisting cuboid",
              [("from the start", "time [s]", "elastic energy [J]", "y", {s: [p for p in curve(run, "elastic") if p[1] > 0]
                                                                          for s, run in runs.items()})])
    levels = {s: level(run) for s, run in runs.items() if finished(run)}
    page.table(["modes", "outcome", "frames", "projected steps", "mean total energy of the last third [J]"],
               [[s, run["outcome"], run["frames"], run["projected"], levels.get(s)] for s, run in runs.items()])
    five, six, twenty = (levels.get(f"s = {s}") for s in (5, 6, 20))
    page.claim("Six modes keep more energy than five.", six > five if five and six else None,
               f"{figure(six)} J and {figure(five)} J." if five and six else "one of them has no result.")
    page.claim("Twenty modes add little to six (bound: less than six add to five).",
               abs(twenty - six) < abs(six - five) if five and six and twenty else None,
               f"{figure(twenty)} J beside {figure(six)} J." if six and twenty else "one of them has no result.")
    cut, factored = modes["cut"], modes["factored"]
    page.add(f"What the stable runs owe to our additions: the stiffness is projected in steps whose matrix is indefinite. With "
             f"`\"indefinite\": \"factor\"`, the paper's formula as it stands, five modes: {factored['outcome']} after {factored['frames']} frames. "
             f"Semi-implicit Euler that may halve its steps eight times: {cut['outcome']} after {cut['frames']} frames.")


def add_stiffnesses(page, rows):
    page.add("## Cost against stiffness", "The hanging ball of one material; seconds for 100 frames.")
    methods = list(rows[0]["runs"])
    costs = {m: [(row["young"], hundred(row["runs"][m])) for row in rows if hundred(row["runs"][m])] for m in methods}
    page.table(["stiffness [Pa]"] + methods, [[f"{row['young']:.0e}"] + [cell(row["runs"][m], row["runs"]["SI"]["frames"]) for m in methods]
                                              for row in rows])
    page.plot("stiffness", "Seconds for 100 frames against stiffness", [("", "Young's modulus [Pa]", "seconds", "xy", costs)])
    siere = [cost for _, cost in costs["SIERE"]]
    page.claim(f"The cost of SIERE does not grow with the stiffness (bound: within a factor of {STEADY} over all of them).",
               max(siere) <= STEADY * min(siere) if len(siere) == len(rows) else None,
               f"largest over smallest {max(siere) / min(siere):.2f}." if siere else "no result.")
    exponent = growth(costs["ERE"])
    page.claim("The cost of ERE grows with the stiffness, until it is prohibitive (bound: at least as stiffness^0.2).",
               exponent >= 0.2 if len(costs["ERE"]) > 1 else None, f"as stiffness^{exponent:.2f}, over {len(costs['ERE'])} of {len(rows)}.")


def write_page(tools, folder, data):
    page = Page(tools, folder, "siere")
    page.add("# siere, ere and their rivals")
    page.about("make reproduce-siere" + (" ARGS=--quick" if data["quick"] else ""), data["here"])
    page.add("The paper is Chen, Sheen, Ascher and Pai, *SIERE: a hybrid semi-implicit exponential integrator for efficiently simulating "
             "stiff deformable objects*, 2020. Its bodies are others, of the same size: here they are generated (`scenes/siere`), so that anyone "
             "can repeat it; where its text leaves loads and lengths open they are our choice. SI is `semi-implicit`, SIERE `siere`, ERE `ere` "
             "and BE `backward-euler` with `newton`. Times come from one run of each, one after the other, so some per cent are noise.")
    if data["quick"]:
        page.add("**Made with --quick, with few steps: good for trying the script, not for conclusions.**")
    add_table(page, data["table"])
    add_swings(page, data["swings"])
    add_modes(page, data["modes"])
    add_stiffnesses(page, data["stiffnesses"])
    page.add("## One oscillator", "The damping of BE and BDF2 on a single oscillator (the paper's Figures 18 and 19), and its absence in ERE and "
             "the implicit midpoint rule, is in [docs/verification.md](../verification.md).")
    return page.write()
