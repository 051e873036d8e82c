#!/usr/bin/env python3
"""reproduce.py RUBATO [--seconds S] [--frames N] [--scenes N | --only NAME …] [--page-only]: writes docs/auto.md.

Every shipped scene without its method, step and solver: what rubato chooses, and each candidate beside it. A candidate
is a method and solver that the choice found able. It runs for 20 frames or 60 s of the processor, one thread; times
are compared over the frames that the slowest of those compared has made. The error is that of the worst node over the
size of its body, against the scene's own kind of reference at a sixteenth of its step: async-contact where the scene
is one of async-contact, else backward-euler with newton. A candidate counts if its error is at most that of auto, or
what was asked for. The regret is auto's time over the least of these: a candidate is ended when it has taken longer
than auto took for all its frames, since it can no longer be the fastest.

A third of the scenes, drawn by SEED, is for fitting (whoever changes a constant of the choice may look at them), the
others for judging. What was measured is kept, a file for each scene, in bench/auto/measured: all scenes take hours, and
a second call, also of another checkout, continues with those that are missing; --again measures again. --seconds and
--frames make it shorter; the page says with what it was made.

--choose-again is for whoever has changed how rubato chooses: only choices are made again, and what was measured of a
candidate stands for auto where that is chosen now. Scenes of which it was not measured to the end are named and are to
be measured with --again --only.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from study import Ended, ROOT, TooLong, Tools, figure, measured_here, progress  # noqa: E402

SEED = 25
PAGE = ROOT / "docs" / "auto.md"
KEPT = ROOT / "bench" / "auto" / "measured"
REFERENCE = ROOT / "out" / "auto" / "reference.bin"
FINER = 16
MARK = "<!-- measured: what follows is written by bench/auto/reproduce.py -->\n"
WITHIN, NEVER, SHARE = 1.5, 3, 0.8  # of the fastest, on so many scenes; on none


def names_of_scenes():
    return sorted(str(path.relative_to(ROOT / "scenes").with_suffix("")) for path in
                  (ROOT / "scenes").glob("**/*.json"))


def fitted(names):
    """A third of the scenes, drawn by the seed: each name draws a number, so a new scene moves hardly any other."""
    drawn = sorted(names, key=lambda name: random.Random(f"{SEED} {name}").random())
    return set(drawn[:len(names) // 3])


def step_of(scene):
    step = scene.get("time", {}).get("step", 0.01)
    return step if isinstance(step, float) else 0.01


class Study:
    def __init__(self, tools, asked):
        self.tools, self.asked = tools, asked
        self.seconds, self.frames = asked.seconds, asked.frames
        for folder in (KEPT, REFERENCE.parent):
            folder.mkdir(parents=True, exist_ok=True)

    def precision(self, path, settings, *words, limit=None):
        settings = {"integrator": "null", **settings}
        assigned = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        limit = limit or self.seconds
        said = self.tools.call("precision", [path, *assigned, "--threads", 1, "--steps", self.frames, "--budget", limit,
                                             *words], processor=int(1.2 * limit + 30))
        run = json.loads(said)
        run.pop("local")
        return run

    def attempt(self, *words, **more):
        """A run, or why there is none."""
        try:
            run = self.precision(*words, **more)
        except Ended as why:
            said = str(why).replace(f"{ROOT}/", "")
            return {"good": False, "failed": said[-300:], "long": isinstance(why, TooLong), "frames": 0}
        return run

    def scene(self, name):
        own = json.loads((ROOT / "scenes" / f"{name}.json").read_text())
        step, path, reference = step_of(own), ROOT / "scenes" / f"{name}.json", REFERENCE
        method = "async-contact" if own.get("integrator", {}).get("method") == "async-contact" else "backward-euler"
        finest = self.attempt(path, {"integrator.method": method, "time.step": repr(step / FINER)}, "--save",
                              reference, limit=4 * self.seconds)
        auto = self.attempt(path, {"integrator.method": "auto", "time.step": "auto"}, "--load", reference)
        candidates = {}
        choice = auto.get("choice") or {"candidates": []}
        for c in choice["candidates"]:
            if c["fate"] in ("unable", "unwanted"):
                continue
            settings = {"integrator.method": c["method"], "time.step": "auto", "goal.error": choice["error"]}
            if c["solver"]:
                settings["integrator.solver"] = c["solver"]
            label = label_of(c)
            limit = min(self.seconds, 1.05 * auto["processor_seconds"] + 0.1) if auto["good"] else self.seconds
            candidates[label] = self.attempt(path, settings, "--load", reference, limit=limit)
            progress(f"{name}, {label}: {words_of(candidates[label])}")
        reference.unlink(missing_ok=True)
        return {"name": name, "reference": {"method": method, "step": step / FINER, **finest}, "auto": auto,
                "candidates": candidates, "seconds": self.seconds, "frames": self.frames, "here": measured_here()}


    def choose_again(self, found):
        """found with what is chosen now in the place of auto; None: that has not been measured to the end"""
        path = ROOT / "scenes" / f"{found['name']}.json"
        choice = self.attempt(path, {"integrator.method": "auto", "time.step": "auto"}, "--budget", 1e-9)["choice"]
        before, label = found["auto"], chosen(choice)
        if label == chosen(before["choice"]):
            return {**found, "auto": {**before, "choice": choice}}
        run = found["candidates"].get(label, {"good": False, "frames": 0})
        whole = run["good"] and (run["frames"] == run["last_frame"] or run["processor_seconds"] >= found["seconds"])
        return {**found, "auto": {**run, "choice": choice}} if whole else None


def label_of(c):
    return c["method"] + (f":{c['solver']}" if c["solver"] else "")


def chosen(choice):
    """The label of what was chosen"""
    return next(label_of(c) for c in choice["candidates"] if c["fate"] == "chosen")


def words_of(run):
    if not run["good"]:
        return f"failed: {run['failed'][:100]}"
    return f"{run['frames']} of {run['last_frame']} frames, {run['processor_seconds']:.2f} s, error {run['error']:.1e}"


def pace(run):
    """Seconds a frame; None if there is no frame, or the run failed."""
    return run["processor_seconds"] / run["frames"] if run["good"] and run["frames"] else None


def judge(found):
    """(auto's label, seconds a frame, error, fastest candidate, its seconds a frame, regret)"""
    auto = found["auto"]
    own = pace(auto)
    if own is None:
        return None
    asked = auto["choice"]["asked"]
    may = max(asked, auto["error"])
    able = {label: pace(run) for label, run in found["candidates"].items()
            if pace(run) is not None and run["frames"] >= auto["frames"] and run["error"] <= may}
    best = min(able, key=able.get) if able else None
    least = min(own, able[best]) if best else own
    return chosen(auto["choice"]), own, auto["error"], best or "–", able.get(best), own / least


def summary(found):
    """Of one half of the scenes: a sentence."""
    regrets = [judged[-1] for judged in map(judge, found) if judged]
    failed = [f["name"] for f in found if judge(f) is None]
    if not found:
        return "None measured yet."
    text = f"{len(found)} measured, auto made {len(regrets)} of them"
    if failed:
        text += f" (not: {', '.join(failed)})"
    if regrets:
        near = sum(r <= WITHIN for r in regrets)
        text += (f"; within {WITHIN} times the fastest on {near} of {len(regrets)} ({100 * near / len(regrets):.0f} %, "
                 f"asked for: {100 * SHARE:.0f} %), at most {max(regrets):.2f} times (asked for: {NEVER}), in the "
                 f"middle {statistics.median(regrets):.2f}")
    return text + "."


def table(found):
    lines = ["| scene | chosen | s a frame | error | fastest that is as right | s a frame | regret |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for f in found:
        judged = judge(f)
        if judged is None:
            lines.append(f"| {f['name']} | – | {f['auto']['failed'][:80]} | | | | |")
        else:
            lines.append(f"| {f['name']} | " + " | ".join(figure(cell) for cell in judged) + " |")
    return "\n".join(lines) + "\n"


def write_page(names, fit):
    kept = {name: json.loads(path.read_text()) for name in names
            if (path := KEPT / f"{name.replace('/', '--')}.json").exists()}
    before = PAGE.read_text().split(MARK)[0] if PAGE.exists() else "# Leaving it to rubato\n\n"
    text = "\n## Measured\n\n"
    if kept:
        here = next(iter(kept.values()))["here"]
        commits = sorted({f["here"]["commit"] for f in kept.values()})
        dates = sorted({f["here"]["date"] for f in kept.values()})
        limits = sorted({(f["frames"], f["seconds"]) for f in kept.values()})
        text += textwrap.fill(
            f"By `make reproduce-auto` on {' and '.join(dates)} at commit {', '.join(f'`{c}`' for c in commits)}: "
            f"{here['machine']}, one thread; "
            + " and ".join(f"{frames} frames or {seconds:g} s" for frames, seconds in limits)
            + f" of the processor for each candidate. {len(kept)} of {len(names)} shipped scenes are measured; the "
            f"others are not. A third of all, drawn with seed {SEED}, is for fitting, the rest for judging. Errors are "
            "those of the last frame that was made; the fastest is the one of the candidates that made as many frames "
            "with an error of at most auto's or what was asked for. Times of auto are without the choice itself.",
            120) + "\n\n"
    for title, half in (("For judging", [n for n in names if n not in fit]), ("For fitting", sorted(fit))):
        found = [kept[n] for n in half if n in kept]
        text += f"### {title}\n\n" + textwrap.fill(summary(found), 120) + "\n\n"
        text += table(found) + "\n" if found else ""
        missing = [n for n in half if n not in kept]
        if missing:
            text += textwrap.fill("Not measured: " + ", ".join(missing) + ".", 120, break_on_hyphens=False) + "\n\n"
    PAGE.write_text(before.rstrip("\n") + "\n\n" + MARK + text.rstrip("\n") + "\n")
    return PAGE


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("rubato")
    words.add_argument("--seconds", type=float, default=60)
    words.add_argument("--frames", type=int, default=20)
    words.add_argument("--scenes", type=int, help="so many more scenes at most")
    words.add_argument("--only", nargs="+", metavar="NAME")
    words.add_argument("--again", action="store_true")
    words.add_argument("--page-only", action="store_true")
    words.add_argument("--choose-again", action="store_true")
    asked = words.parse_args()
    names = names_of_scenes()
    fit = fitted(names)
    wrong = set(asked.only or []) - set(names)
    if wrong:
        sys.exit(f"there is no scene {', '.join(sorted(wrong))}; a name is as async-contact/trash")
    study, made = Study(Tools(asked.rubato), asked), 0
    for name in [] if asked.page_only else asked.only or names:
        path = KEPT / f"{name.replace('/', '--')}.json"
        if asked.choose_again:
            found = study.choose_again(json.loads(path.read_text())) if path.exists() else None
            if found:
                path.write_text(json.dumps(found))
            elif path.exists():
                print(f"{name}: what is chosen now has not been measured to the end")
            continue
        if (path.exists() and not asked.again) or (asked.scenes is not None and made >= asked.scenes):
            continue
        found = study.scene(name)
        path.write_text(json.dumps(found))
        progress(f"{name}, auto: {words_of(found['auto'])}")
        made += 1
    print(write_page(names, fit))


if __name__ == "__main__":
    main()
