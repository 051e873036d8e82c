"""The page that bench/multirate/reproduce.py writes."""

from study import Page, figure

PAPER = {  # vertices, tets, vertices in parts, substeps, and seconds per frame: multirate, warping, single rate H
    "dinosaur": ("5,413", "20,150", "916 / 824", "8 / 15", 0.066, 0.014, 0.023),
    "flower": ("2,980", "9,382", "855 / 1,236", "12 / 10", 0.056, 0.011, 0.019),
    "asian-dragon": ("9,961", "34,441", "1,146", "10", 0.058, 0.025, 0.046),
    "dragon-1": ("2,717", "8,252", "156", "10", 0.0079, 0.0056, 0.0078),
    "dragon-2": ("2,717", "8,252", "574", "10", 0.016, 0.0057, 0.0078),
    "dragon-3": ("2,717", "8,252", "814", "10", 0.022, 0.0056, 0.0078),
    "dragon-4": ("2,717", "8,252", "1,403", "10", 0.029, 0.0056, 0.0078),
    "dragon-5": ("2,717", "8,252", "1,904", "10", 0.053, 0.0056, 0.0078),
    "dragon-6": ("2,717", "8,252", "2,671", "10", 0.085, 0.0056, 0.0078),
}
PARTS = {"dinosaur": "919 / 829", "flower": "854 / 1,181", "asian-dragon": "847 + 299", "dragon-1": "160", "dragon-2":
    "578",
         "dragon-3": "815", "dragon-4": "1,403", "dragon-5": "1,917", "dragon-6": "2,671"}


def series(values):
    return list(enumerate(values, 1))


def write_costs(page, data, rows):
    page.add("## Cost per frame (Table 1)",
             "Everything is factored once; the times are medians over long steps, two threads. Single rate is "
             "backward Euler at the long "
             "step H, the faster of two programs that solve the same equation. The paper's single rate takes 3 µs "
             "per vertex and "
             "step, ours 0.2 to 0.7: its parts are cheap beside it, ours are not, and ratios are harder to reach.")
    table = []
    for row, (target, _) in rows.items():
        here, paper = data["times"][row], PAPER[row]
        table.append([row, f"{here['nodes']:,} / {here['tets']:,}", PARTS[row],
                      paper[3], 1e3 * here["single"], 1e3 * here["multirate"],
                      here["ratio"], paper[4] / paper[6], 1e3 * here["warp"], here["warp ratio"], paper[5] / paper[6],
                          f"≤ {target:g} {'met' if here['ratio'] <= target else 'missed'}" if target else "–",
                      here["first"]])
    page.table(["scene", "vertices / tets", "in parts", "m", "single H [ms]", "multirate [ms]", "ratio",
        "paper's ratio", "warping [ms]",
                "over single H", "paper's", "target", "factors, once [s]"], table)
    page.table(["scene, single rate", "numbers in L", "solve and its vectors [ms]", "L read at [GB/s]",
        "plain reading [GB/s]", "distance"],
               [[row, f"{s['fill']:,.0f}", 1e3 * s["seconds"], 16e-9 * s["fill"] / s["seconds"], 1e-9 * s["rate"],
                 s["rate"] * s["seconds"] / (16 * s["fill"])] for row, s in data["solve"].items()])
    page.add("A solve reads every number of L twice, 16 bytes for each. The limit is what two threads get by "
             "reading as many numbers over and "
             "over; the distance is how many times longer the solve takes.")
    missed = [row for row, (target, _) in rows.items() if target and data["times"][row]["ratio"] > target]
    page.claim("Parts with short steps cost little beside the long step of the whole (bound: the targets of the "
               "table).", not missed,
               "all are met" if not missed else f"missed on {', '.join(missed)}")
    warping = {row: here["warp ratio"] for row, here in data["times"].items()}
    page.claim("Warping a frame (`output.warp`) costs at most 60 % of a single-rate step (bound: that).",
               max(warping.values()) <= 0.6, ", ".join(f"{row} {figure(value)}" for row, value in warping.items()))


def write_motion(page, data):
    page.add("## Motion of probes (Fig. 4, 5 and 6)",
             "Distance of a node from its place at rest: with parts that take short steps, with the long step for "
             "all, with the short "
             "step of its part for all, and with one step for all that costs as much as the first (a whole number "
             "of steps a frame). "
             "Two kinds of multirate are shown. In the paper's equations, as far as they could be restored, the "
             "rest goes H times its velocity at the "
             "end of a step (`\"interpolation\": \"end\"`); our default lets it go as far as the parts beside it "
             "see (`\"averaged\"`). They "
             "cost the same.")
    rows = []
    for row, probes in data["motion"].items():
        page.plot(row, f"{row}: how far the probes are", [
            (name, "frame", "distance [m]", "",
             {"multirate, averaged": series(p["many"]), "multirate, end": series(p["end"]),
              "single H": series(p["long"]), f"single H/{p['equal']} (equal cost)": series(p["same"]),
              f"single H/{p['substeps']}": series(p["short"])}) for name, p in probes.items()])
        for name, p in probes.items():
            rows.append([row, name, p["substeps"], p["equal"], *(p[f"error {kind}"] / p["size"] for kind in ("end",
                "many", "long", "same")),
                         p["error end"] / p["error same"], p["error many"] / p["error same"]])
    page.table(["scene", "probe", "m", "steps of equal cost", "error, multirate `end` (the paper's)",
        "error, multirate `averaged` (ours)",
                "error, single H", "error, equal cost", "`end` / equal cost", "`averaged` / equal cost"], rows)
    page.add("Errors are root mean squares over the frames of the distance to the run with the short step "
             "everywhere, over the size of its "
             "motion.")
    for at, kind in ((-2, "the paper's `end`"), (-1, "our `averaged`")):
        page.claim(f"At equal cost, parts with short steps move more like the short step, with {kind} (bound: at "
                   f"most half the error, all probes).",
                   all(row[at] <= 0.5 for row in rows),
                   ", ".join(f"{row[0]} {row[1]} {figure(row[at])}" for row in rows))


def write_symmetry(page, data):
    s = data["symmetry"]
    page.add("## Symmetric and unsymmetric matrix (Fig. 2 and 3)",
             "The condensed matrix is not symmetric. By default its symmetric part is factored (Cholesky); "
             "`--solver lu` factors it as it is "
             "(KLU), on the Asian dragon.")
    page.plot("symmetry", "Asian dragon: tail with both matrices", [
        ("tail", "frame", "distance [m]", "", {name: series(way) for name, way in s["ways"].items()})])
    rows = [["symmetrised, L L^T", 1e3 * s["times"]["cholesky"]], ["as it is, L U", 1e3 * s["times"]["lu"]]]
    naive = data["naive"]["asian-dragon"]
    if "seconds" in naive:
        rows.append([f"naive: one system of {naive['unknowns']:,} unknowns, L U", 1e3 * naive["seconds"]])
    page.table(["matrix", "ms per long step"], rows)
    worst = max(s["difference"].values())
    page.claim("The motion is the same for all purposes (bound: 1 % of it).", worst <= 0.01,
               ", ".join(f"{name} {figure(d)}" for name, d in s["difference"].items()) + " of its motion")
    page.claim("Both take about the same time (bound: 10 %).",
               abs(s["times"]["lu"] / s["times"]["cholesky"] - 1) <= 0.1,
               f"LU takes {figure(s['times']['lu'] / s['times']['cholesky'])} times as long")
    page.add("The naive method has all velocities at all short steps as unknowns of one system "
             "(`bench/tools/naive.c`), factored once. It is the same "
             "step as multirate-euler's with `\"interpolation\": \"end\"` and `lu`: velocities differed by "
             + " and ".join(f"{figure(n['difference'])} ({row})"
                            for row, n in data["naive"].items() if "difference" in n) + " of the largest.")
    slowest = None if "seconds" not in naive else naive["seconds"] > max(s["times"].values())
    page.claim("The naive method, one factor of the whole system with all short steps, is slowest (bound: slower "
               "than both).", slowest,
               f"it takes {figure(naive['seconds'] / s['times']['cholesky'])} times as long as the symmetrised "
               f"matrix, and its factor "
               f"{figure(naive['factor'])} s once" if slowest is not None else naive["ended"])


def write_sizes(page, data):
    soft, stiff = data["sizes"]["soft"], data["sizes"]["stiff"]
    rows = [name for name in soft if name.startswith("dragon")]
    page.add("## Larger parts (Fig. 7)",
             "The jaw's tip with six sizes of the part that takes 10 steps in each long one. On the stiff and heavy "
             "rest that the scenes have "
             "(1e7 Pa beside jaws of 300 Pa) the size of the part says nothing: the jaws are all that moves, and "
             "the smallest part has them "
             "all. So this is judged on the soft rest of the section below, 1e5 Pa everywhere, chosen because there "
             "the jaw goes where neck "
             "and body go; the force is the one of that section, and no other was tried. The stiff rest stands "
             "beside it.")
    curves = {f"{PARTS[row]} vertices": series(soft[row]["averaged"]["way"]) for row in rows}
    ends = {f"{PARTS[row]} vertices": series(soft[row]["end"]["way"]) for row in rows}
    page.plot("sizes", "dragon, soft rest: the jaw with ever larger parts", [
        (words, "frame", "distance [m]", "",
         {"single H": series(soft["long"]), **ways, "single H/10": series(soft["short"])})
        for words, ways in (("averaged (ours)", curves), ("end (the paper's)", ends))])
    page.table(["vertices in the part", "soft rest, `averaged` (ours)", "soft rest, `end` (the paper's)",
        "stiff rest, `averaged`", "stiff rest, `end`",
                "ms per long step"],
               [[PARTS[row], *(own[row][kind]["error"] for own in (soft, stiff) for kind in ("averaged", "end")),
                 1e3 * data["times"][row]["multirate"]] for row in rows]
               + [["none: single H", soft["error long"], soft["error long"], stiff["error long"], stiff["error long"],
                   1e3 * data["times"]["dragon-1"]["single"]]])
    page.add("Errors against single H/10, over the size of its motion.")
    for kind, whose in (("end", "the paper's `end`"), ("averaged", "our `averaged`")):
        errors = [soft[row][kind]["error"] for row in rows]
        page.claim(f"The larger the part, the nearer to the short step everywhere, with {whose} on the soft rest "
                   f"(bound: no part has more than 1.1 times the "
                   "error of the one before, the largest has the least, and every one less than single H).",
                   all(b <= 1.1 * a for a, b in zip(errors, errors[1:]))
                   and min(errors) == errors[-1] and max(errors) < soft["error long"],
                   ", ".join(f"{PARTS[row]}: {figure(e)}" for row, e in zip(rows, errors))
                   + f", single H: {figure(soft['error long'])}")


def write_soft(page, data):
    page.add("## Where it gains little: a soft rest",
             "The scenes above were tuned: their parts are light and softer than the rest, which is stiff and heavy "
             "enough to stand almost "
             "still (the paper's parts are stiffer or lighter). Before that they had a rest as soft as the part, "
             "and multirate-euler gained "
             "little or lost. This is dragon-1 with Young's modulus 1e5 Pa everywhere: the jaw hangs on the body's "
             "own swing, "
             "which takes the long step and is damped by it.",
             "With the paper's `end` a part with long steps goes H times its velocity at the end of a step, while "
             "the parts beside it see their "
             "border go with the interpolated velocity: the two disagree by about half the change times H.")
    page.table(["dragon-1, soft rest", "error of the jaw, relative"],
               [[name, value] for name, value in data["soft"].items()])
    page.add("Likewise the flower on a soft stem, all of its petals pulled together: they go where the stem goes.")
    page.table(["flower, soft stem", "error of the petal, relative"],
               [[name, value] for name, value in data["swinging"].items()])
    for kind, whose in (("multirate, end (the paper's)", "the paper's `end`"), ("multirate, averaged (default)",
        "our `averaged`")):
        pairs = [(words, own[kind], own["single H/2"])
                 for words, own in (("dragon-1", data["soft"]), ("flower", data["swinging"]))]
        page.claim(f"Parts with short steps move more like the short step also on a soft rest, with {whose} (bound: "
                   f"at most half the error of single "
                   "H/2, both bodies).", all(value <= 0.5 * other for _, value, other in pairs),
                   ", ".join(f"{words} {figure(value)} against {figure(other)}" for words, value, other in pairs))


def write_corotational(page, data):
    c = data["corotational"]
    page.add("## A non-linear material (Fig. 8)",
             "Corotational elements: the stiffness is looked up once per long step and the condensation made anew. "
             "The paper compares with "
             "four steps a frame of the whole body.")
    page.plot("corotational", "dragon, corotational: the jaw", [
        ("jaw", "frame", "distance [m]", "", {"multirate": series(c["many"]), "single H": series(c["long"]),
                                              "single H/4": series(c["same"]), "single H/10": series(c["short"])})])
    times = c["times"]
    page.table(["", "ms per frame"], [["multirate", 1e3 * times["multirate"]], ["single H", 1e3 * times["single"]],
                                      ["single H/4", 1e3 * times["four"]]])
    page.claim("It costs no more than four steps of the whole body (bound: 10 %).",
               times["multirate"] <= 1.1 * times["four"], f"{figure(times['multirate'] / times['four'])} of them")
    page.claim("It is nearer to the short step than those (bound: less error).", c["error many"] < c["error same"],
               f"{figure(c['error many'])} m against {figure(c['error same'])} m")


def write_schroeder(page, data):
    s = data["schroeder"]
    page.add("## Schroeder's method (Fig. 9)",
             "`schroeder` lets the jaws walk alone, explicitly, for 149 of 150 steps and couples them with the rest "
             "in the last one "
             "(src/step/multirate/schroeder.c; its filter of forces on the border is left out). The dragon is of "
             "one soft material here: with the "
             "stiff head of the other scenes it blows up within a few steps, since what the border does to the "
             "light jaws comes in jerks.")
    page.plot("schroeder", "dragon, m = 150: the jaw with both couplings", [
        ("jaw", "frame", "distance [m]", "", {name: series(way) for name, way in s["ways"].items()})])
    page.table(["", "error of the jaw, relative"], [[name, value] for name, value in s["errors"].items() if value > 0])
    most = {name: max(way) for name, way in s["ways"].items()}
    ratio = most["schroeder"] / most["single H/150"]
    page.claim("With Schroeder's method the part hangs on the rest too softly (bound: twice as far as with short "
               "steps everywhere).", ratio > 2,
               f"it goes {figure(ratio)} times as far")
    own = most["multirate-euler"] / most["single H/150"]
    page.claim("multirate-euler's coupling holds (bound: within 20 % of how far it goes with short steps "
               "everywhere).", abs(own - 1) <= 0.2,
               f"it goes {figure(own)} times as far")


def write_drop(page, data):
    page.add("## A fall with contact",
             "A dragon falls on the ground. How far the tip of the jaw is from where it would be if it went with "
             "the head:")
    for row, d in data["drop"].items():
        opened, times = d["opened"], d["times"]
        page.plot(row, f"{row}: the jaw against the head", [
            ("jaw", "frame", "distance [m]", "", {name: series(way) for name, way in opened.items()})])
        size = {name: (sum(x * x for x in way) / len(way)) ** 0.5 for name, way in opened.items()}
        page.table([row, "mean size of the motion [m]", "ms per frame"],
                   [[name, size[name], 1e3 * times[name]] for name in opened])
        equal = [name for name in ("single H", "single H/2", "single H/4")
                 if times[name] <= times["multirate"]][-1:] or ["single H"]
        page.claim(f"{row}: the jaw moves more than with one step that costs as much (bound: nearer to single H/10 "
                   f"in size than {equal[0]}).",
                   abs(size["multirate"] - size["single H/10"]) < abs(size[equal[0]] - size["single H/10"]),
                   f"{figure(size['multirate'])} m against {figure(size[equal[0]])} m, single H/10 "
                   f"{figure(size['single H/10'])} m")


# The five lines at the top; see study.lines_of_claims().
TOPICS = {
    "Motion on a stiff rest": {r"At equal cost, .*?, with (.+?) \(bound": "parts are at least twice as near to the "
                                                                          "short step as one step of equal cost ({})",
                               r"It is nearer": "a non-linear dragon is nearer to it than with four steps ({})",
                               r"([\w-]+): the jaw moves more": "jaws move more than with one step of equal cost "
                                                                "after a fall ({})"},
    "Motion on a soft rest": {r"Parts with short steps move more like .*, with (.+?) \(bound": "parts have at most "
                                                                                               "half the error of "
                                                                                               "single H/2 ({})",
                              r"The larger the part, .*?, with (.+?) on the": "the larger the part, the nearer to "
                                                                              "the short step ({})"},
    "Cost": {r"Parts with short steps cost": "the targets beside a single-rate step ({})", r"Warping":
        "warping costs at most 60 % of a step",
             r"It costs no more than four": "a non-linear part costs no more than four steps of the whole ({})"},
    "The matrix": {r"The motion is the same": "symmetrised and unsymmetric matrix give the same motion", r"Both take":
        "both matrices take about the same time ({})",
                   r"The naive": "the naive system of all short steps is slowest"},
    "The coupling": {r"With Schroeder": "Schroeder's method is too soft ({})", r"multirate-euler's coupling":
        "multirate-euler's coupling is as stiff as it should be ({})"},
}


def write_page(tools, folder, data, rows):
    page = Page(tools, folder, "multirate")
    page.add("# multirate-euler and one rate for all")
    page.about("make reproduce-multirate", data["here"])
    page.add("The paper is Zhao, Li and Barbič, *Asynchronous Implicit Backward Euler Integration*, 2016. Its "
             "meshes are not available: the "
             "bodies are generated, near its numbers of vertices, with parts on the same features, cut where their "
             "border is short (chosen "
             "after seeing what long borders cost). Materials and forces are not in the paper and were tuned by "
             "hand, several tries a "
             "scene, until the probes swung with a frequency that the short step resolves and the long one does "
             "not, on a rest that "
             "hardly moves: this favours the method, and the section on a soft rest shows the other side.")
    if "note" in data:
        page.add(data["note"])
    write_costs(page, data, rows)
    for write in (write_motion, write_symmetry, write_sizes, write_soft, write_corotational, write_schroeder,
                  write_drop):
        write(page, data)
    page.begin(TOPICS)
    return page.write()
