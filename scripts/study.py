"""What the studies of methods share (bench/*/bench.py and reproduce.py): runs of bench/tools, and pages with plots.

A run is a process of its own, so that memory is its own and one run does not leave threads for the next.
"""

import argparse
import json
import math
import os
import pathlib
import re
import resource
import signal
import statistics
import subprocess
import sys
import time

from figures import ROOT, commit, now, processor

THREADS = 2
MESHES = ROOT.parent / "shared" / "meshes"


def meshes_are_there(*names):
    return all((MESHES / name).exists() for name in names)


# ---- Running


class Ended(Exception):
    """A program ended without a result; the words say which and why."""


class TooLong(Ended):
    """It was ended because it took longer than it may."""


def memory():
    """Of the machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def limit_memory():
    """A program that wants more than there is shall hear so, instead of having the system end whatever it likes."""
    most = int(0.9 * memory())
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit(processor):
    limit_memory()
    if processor:
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 1))


def busy_seconds():
    """That all processors together have been busy with whatever, as Linux counts; None elsewhere."""
    try:
        user, nice, system, _, _, interrupts, soft, stolen = map(
            int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Of the processors, that the programs called so far have had."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Tools:
    """The programs of bench/tools, found beside the rubato of the same build."""

    def __init__(self, rubato):
        self.folder = pathlib.Path(rubato).resolve().parent / "bench_tools"
        if not (self.folder / "measure").exists():
            sys.exit(f"{self.folder}/measure is not there; 'make bench-dot' and the like build it")

    def call(self, tool, words, environment=None, text=None, seconds=None, processor=None):
        """seconds: of the clock; processor: of the processors. A program that needs more is ended."""
        command = [self.folder / tool, *map(str, words)]
        try:
            said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, input=text, timeout=seconds,
                                  preexec_fn=lambda: limit(processor), env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            raise TooLong(f"no end within {seconds} s") from None
        if said.returncode == -signal.SIGXCPU:
            raise TooLong(f"no end within {processor} s of the processors")
        if said.returncode != 0:
            raise Ended(f"{tool} {words[0]} ended with {said.returncode}: {said.stderr.strip()}")
        return said.stdout

    def measure(self, scene, settings, *words, seconds=None, processor=None):
        """The first steps of a scene; settings: path -> value. See bench/tools/measure.c for words and result."""
        assigned = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
        busy, own, start = busy_seconds(), own_seconds(), time.monotonic()
        run = json.loads(self.call("measure", [scene, *assigned, "--threads", THREADS, *words], seconds=seconds,
                                   processor=processor))
        others = 0 if busy is None else (busy_seconds() - busy) - (own_seconds() - own)
        # processors that others kept busy; ticks blur 0.05 s
        run["others"] = max(0, others - 0.05) / (time.monotonic() - start)
        return run

    def unit(self, scene, environment, repeats=5):
        """Seconds of one factorisation by CHOLMOD, the median of several in one process."""
        words = [scene, "--threads", THREADS, "--repeats", repeats]
        return statistics.median(json.loads(self.call("unit", words, environment))["seconds"])

    def draw(self, path, plot):
        self.call("draw", [path], text=json.dumps(plot))


def seconds_per_step(run):
    """Mean over the steps that were done; None if a step failed, so that no figure pretends to be one."""
    return None if "failed" in run else statistics.fmean(step["seconds"] for step in run["steps"])


def iterations_per_step(run):
    return None if "failed" in run else statistics.fmean(step["iterations"] for step in run["steps"])


def unsolved_steps(run):
    """Steps that were accepted although the gradient was above the tolerance."""
    return sum(1 for step in run["steps"] if step["residual"] is None or step["residual"] > 1)


def shares(run, least=0.01):
    """Where the time goes: (stage, share of all stages), largest first."""
    total = sum(run["stages"].values())
    parts = sorted(run["stages"].items(), key=lambda part: -part[1])
    return [(name, seconds / total) for name, seconds in parts if total > 0 and seconds >= least * total]


def growth(points):
    """The exponent p of value ~ size^p for points (size, value), by least squares in logarithms; NaN for fewer than
    two."""
    pairs = [(math.log(size), math.log(value)) for size, value in points if value]
    if len(pairs) < 2:
        return math.nan
    x0, y0 = (statistics.fmean(axis) for axis in zip(*pairs))
    return sum((x - x0) * (y - y0) for x, y in pairs) / sum((x - x0) ** 2 for x, _ in pairs)


def progress(sentence):
    print(f"{now()[11:]}  {sentence}", flush=True)


# ---- Pages


def figure(value, digits=3):
    """A number in few digits; "–" for one that is not there."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        if value != 0 and not 1e-3 <= abs(value) < 1e5:
            return f"{value:.{digits - 1}e}"
        return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}" if value else "0"
    return f"{value:,}" if isinstance(value, int) else str(value)


VERDICTS = {True: "Holds", False: "Does not hold here", None: "Not measured"}
CLAIM = re.compile(rf"- \*(.+?)\* \*\*({'|'.join(VERDICTS.values())})\*\*: (.*)")


def five_lines(lines):
    """The block after a page's title."""
    if len(lines) != 5:
        raise ValueError(f"a page begins with five lines, not with {len(lines)}")
    return "\n".join(["## What holds, and what does not", "", *(f"- {line}" for line in lines)])


def lines_of_claims(page_lines, topics, strict=True):
    """One line a topic, from the verdicts on a page. topics: heading -> {pattern of a claim's words: its short form};
    {} in a short form stands for the pattern's group, of all claims that have it, or for the first words of the
    evidence. No claim may be left out, unless it is not strict: sections from before may have had other words."""
    claims = [match.groups() for match in map(CLAIM.match, page_lines) if match]
    lines, seen = [], set()
    for heading, forms in topics.items():
        found = {verdict: {} for verdict in VERDICTS.values()}
        for pattern, short in forms.items():
            for i, (words, verdict, evidence) in enumerate(claims):
                match = re.match(pattern, words)
                if match and i not in seen:
                    seen.add(i)
                    detail = match.group(1) if match.re.groups else re.split(r"; | \(|\. |\.$", evidence)[0]
                    found[verdict].setdefault(short, []).append(detail)
        parts = [f"{verdict.lower()}: " + "; ".join(short.format(", ".join(details)) for short, details in own.items())
                 for verdict, own in found.items() if own]
        lines.append(f"**{heading}**: " + (". ".join(part[0].upper() + part[1:] for part in parts) or "Not measured")
                     + ".")
    missed = [words for i, (words, _, _) in enumerate(claims) if i not in seen]
    if missed and strict:
        raise ValueError(f"no line at the top has these claims: {missed}")
    return lines


def plot_data(title, panels):
    """A plot as Tools.draw takes it; panels: (heading, x label, y label, log axes as "", "x", "y" or "xy", {series:
    [(x, y), …]})"""
    return {"title": title, "panels": [
        {"title": heading, "x_label": x, "y_label": y, "x_log": "x" in log, "y_log": "y" in log,
         "series": [{"name": key, "x": [p[0] for p in points], "y": [p[1] for p in points], "marks": len(points) <= 20}
                    for key, points in series.items()]}
        for heading, x, y, log, series in panels]}


def sections_of(path):
    """Heading -> lines, of a page that is there already."""
    text = path.read_text() if path.exists() else ""
    return {part.split("\n", 1)[0]: f"## {part}".rstrip().split("\n") + [""]
            for part in re.split(r"^## ", text, flags=re.M)[1:]}


class Page:
    """A Markdown page with plots beside it; the name of the page begins theirs."""

    def __init__(self, tools, folder, name):
        self.tools, self.folder, self.name, self.lines = tools, pathlib.Path(folder), name, []
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, *paragraphs):
        for paragraph in paragraphs:
            self.lines += [paragraph, ""]

    def about(self, command, measured):
        """`measured`: what measured_here() said when the figures were taken."""
        self.add(f"Made by `{command}` on {measured['date']} at commit `{measured['commit']}`: {measured['machine']}, "
                 f"{measured['threads']} threads, {measured['memory']:.0f} GB of memory. The page is written by a "
                 "script from what it measured, the verdicts included; each states the bound it goes by.")

    def table(self, heads, rows):
        self.lines += ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
        self.lines += ["| " + " | ".join(figure(cell) for cell in row) + " |" for row in rows] + [""]

    def claim(self, words, holds, evidence):
        """holds: True, False, or None if it could not be measured."""
        self.lines += [f"- *{words}* **{VERDICTS[holds]}**: {evidence}", ""]

    def sections(self, sections, data, quick):
        """sections: name -> (heading, function that writes it); data: name -> {"here": where and when, "found": its
        figures}. What was not measured this time stays as it is on the page."""
        before = sections_of(self.folder / f"{self.name}.md")
        if quick:
            self.add("**Made with --quick, with few steps: good for trying the script, not for conclusions.**")
        for name, (heading, write) in sections.items():
            if name in data:
                here = data[name]["here"]
                self.add(f"## {heading}", f"Measured on {here['date']} at commit `{here['commit']}`: "
                                          f"{here['machine']}, one thread.")
                write(self, data[name]["found"])
            else:
                self.lines += before.get(heading, [])

    def begin(self, topics, strict=True):
        """Puts the five lines after the title, once all claims are there; see lines_of_claims()."""
        self.lines[2:2] = [five_lines(lines_of_claims(self.lines, topics, strict)), ""]

    def plot(self, name, title, panels):
        file = f"{self.name}-{name}.svg"
        self.tools.draw(self.folder / file, plot_data(title, panels))
        self.lines += [f"![{title}]({file})", ""]

    def write(self):
        path = self.folder / f"{self.name}.md"
        path.write_text("\n".join(self.lines).rstrip() + "\n")
        return path


def measured_here():
    return {"date": now()[:10], "commit": commit(), "machine": processor(), "threads": THREADS,
            "memory": memory() / 2**30}


# ---- Pages of sections, each measured by a method of its name


def section_words(about, sections):
    """What the command line of such a script says."""
    words = argparse.ArgumentParser(description=about.split("\n\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--quick", action="store_true")
    words.add_argument("--only", nargs="+", metavar="SECTION", choices=list(sections), default=list(sections))
    words.add_argument("--output", type=pathlib.Path)
    words.add_argument("--page-only", action="store_true")
    return words.parse_args()


def section_places(name, asked):
    """The file that keeps the figures, and the folder of the page."""
    kept = ROOT / "out" / "reproduction" / (f"{name}-quick.json" if asked.quick else f"{name}.json")
    if asked.page_only and not kept.exists():
        sys.exit(f"reproduce-{name}: {kept} is not there yet; run it once without --page-only")
    kept.parent.mkdir(parents=True, exist_ok=True)
    return kept, asked.output or (kept.parent if asked.quick else ROOT / "docs" / "reproduction")


def measure_sections(study, asked, kept, write):
    """A section is kept and written as soon as it is measured."""
    if asked.page_only:
        print(write(json.loads(kept.read_text())))
        return
    here = measured_here()
    for name in asked.only:
        found = {"here": here, "found": getattr(study, name)()}
        kept.write_text(json.dumps({**(json.loads(kept.read_text()) if kept.exists() else {}), name: found}))
        print(write({name: found}))
