#!/usr/bin/env python3
"""The page of the dot study from made-up figures: its verdicts follow the figures, and failed runs do not break it."""

import json
import math
import pathlib
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "bench" / "dot")]
from dot_page import write_page  # noqa: E402
from figures import met, parse  # noqa: E402
from study import figure, growth, iterations_per_step, seconds_per_step, shares, unsolved_steps  # noqa: E402

SOLVERS = ["dot", "dot, paper", "newton", "lbfgs-h", "lbfgs-pd"]


class Pen:
    """Stands in for the program that draws."""

    def draw(self, path, plot):
        for panel in plot["panels"]:
            for series in panel["series"]:
                assert len(series["x"]) == len(series["y"])
        path.write_text(json.dumps(plot))


def run(seconds, iterations=5.0, megabytes=100, nodes=1000):
    failed = {"outcome": "not converged"} if seconds is None else None
    return {"nodes": nodes, "tets": 5 * nodes, "seconds": seconds, "first": seconds, "later": seconds,
            "megabytes": megabytes, "iterations": None if seconds is None else iterations, "unsolved": 0, "stages": {},
            "failed": failed, "trace": None}


def traced(count, seconds, last):
    fall = [10 ** (4 - (4 - math.log10(last)) * i * i / (count * count)) for i in range(count + 1)]
    return {**run(seconds), "trace": {"seconds": [seconds * i / count for i in range(count + 1)], "residual": fall}}


def figures(dot, growing):
    """Figures of a world where a step of dot takes `dot` seconds, the others 1, and iterations grow as
    subdomains^growing."""
    rows = {solver: run(dot if solver.startswith("dot") else 1.0) for solver in SOLVERS}
    lame = {**rows, "lbfgs-pd": run(None)}
    ends = {"dot": (10, dot), "dot, paper": (10, dot), "dot, paper, whole": (9, dot), "newton": (4, 1.0),
            "lbfgs-h": (9, 1.0), "lbfgs-pd": (40, 1.0)}
    traces = {solver: traced(count, seconds, 0.5) for solver, (count, seconds) in ends.items()}
    traces["admm-pd"] = traced(400, 4.0, 30)
    counts = [{"count": s, **run(1.0, 10 * s**growing)} for s in (2, 8, 32)]
    sizes = {"bar": [{"runs": {**{name: run(1e-5 * n, megabytes=n / 100, nodes=n) for name in ("dot", "dot, paper")},
                               "lbfgs-pd": run(1e-5 * n / dot, megabytes=n / 50, nodes=n),
                               **({"newton": run(1.0)} if n < 1000 else {})},
                      "nodes": n, "tets": 5 * n, "steps": 5, "fill": n**1.5 * 30} for n in (100, 10000, 310000)]}
    return {"here": {"date": "today", "commit": "abc", "machine": "none", "threads": 2, "memory": 8}, "quick": False,
            "measured": 40, "disturbed": 2, "scenes": {"scenes/dot/a.json": rows, "bench/dot/b.json": lame},
            "stops": {"scenes/dot/a.json": {test: {**run(t), "kinetic": [0.0, 2.0, 2.0 + t]}
                                            for test, t in (("characteristic", 1.0), ("force", 2.5), ("tight", 3.0))},
                      "bench/dot/b.json": {"characteristic": run(1.0), "force": run(None), "tight": run(None)}},
            "admm": {"cap": 9, "steps": 2,
                     "runs": {"scenes/dot/a.json": {**run(1.0), "unsolved": 1}, "bench/dot/b.json": run(None)}},
            "convergence": {"scene": "a.json", "step": 3, "further": 0.01, "runs": traces},
            "subdomains": {"bar; paper": counts, "bar; fast": counts},
            "parameters": {key: [(0.01, rows), (0.04, lame)] for key in ("step", "young", "poisson")} |
            {"model": [("fixed-corotated", rows), ("stable-neo-hookean", lame)]}, "sizes": sizes}


def page_of(data):
    with tempfile.TemporaryDirectory(prefix="rubato-study-") as folder:
        path = write_page(Pen(), folder, data)
        text = path.read_text()
        for name in ("scenes", "convergence", "subdomains", "parameters", "size"):
            assert f"(dot-{name}.svg)" in text and (path.parent / f"dot-{name}.svg").exists(), name
    return text


def verdict(text, words):
    line = next(line for line in text.splitlines() if words in line)
    return line.split("**")[1]


def main():
    assert abs(growth([(1, 2), (10, 20), (100, 200)]) - 1) < 1e-12 and abs(growth([(1, 3), (4, 6)]) - 0.5) < 1e-12
    assert [figure(v) for v in (0.12345, 12.345, 3, 1234567, None, 1.5e-7)] == ["0.123", "12.3", "3", "1,234,567", "–",
                                                                                "1.50e-07"]
    assert met("1.0", "<=1") and not met("1.1", "<=1") and met("2", ">=2")
    assert list(parse("a name 3 s <=4\nnothing")) == [("a name", "3", "s", "", "<=4")]
    measured = {"steps": [{"seconds": 1, "iterations": 2, "residual": 0.5},
                          {"seconds": 3, "iterations": 4, "residual": 7}], "stages": {"solve": 1.0, "search": 3.0}}
    assert seconds_per_step(measured) == 2 and iterations_per_step(measured) == 3 and unsolved_steps(measured) == 1
    assert shares(measured) == [("search", 0.75), ("solve", 0.25)]
    assert seconds_per_step({**measured, "failed": {}}) is None

    good, bad = page_of(figures(0.5, 0.3)), page_of(figures(2.0, 1.1))
    for words, first, second in (("fastest converging solver", "Holds", "Does not hold here"),
                                 ("grow sub-linearly", "Holds", "Does not hold here"),
                                 ("converges super-linearly", "Holds", "Holds"),
                                 ("dot, paper is done before newton", "Holds", "Does not hold here"),
                                 ("fastest whatever the parameters", "Holds", "Does not hold here"),
                                 ("admm-pd converges on none", "Holds", "Holds"),
                                 ("admm-pd does not reach", "Holds", "Holds"),
                                 ("in under 12 GB", "Holds", "Holds"),
                                 ("faster than lbfgs-pd on large bodies (dot as published", "Holds",
                                  "Does not hold here"), ("takes less memory than lbfgs-pd", "Holds", "Holds"),
                                 ("larger Poisson's ratio", "Does not hold here", "Does not hold here")):
        assert verdict(good, words) == first, f"{words}: {verdict(good, words)}"
        assert verdict(bad, words) == second, f"{words}: {verdict(bad, words)}"
    assert "failed (not converged)" in good
    for text in (good, bad):
        begin = text.splitlines()[:9]
        assert begin[2] == "## What holds, and what does not" and all(line.startswith("- **")
                                                                      for line in begin[4:9]), begin
    print("the page follows the figures")


main()
