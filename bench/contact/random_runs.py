#!/usr/bin/env python3
"""Random scenes with contact for implicit steps, each run in a process of its own and judged exactly.

    bench/contact/random_runs.py RUBATO [--seeds A-B] [--jobs N] [--log FILE]
    bench/contact/random_runs.py RUBATO --only SEED --keep DIR

Every state is judged by `--verify-steps`, and the frames on disk by `rubato verify`; every fifth run by
`--verify-events`: all accepted iterates, and the straight moves between them. Endings:

    finished, finished with warnings     what is wanted
    outcome                              the run stopped, with a sentence that names what stopped it
    time limit                           it was ended after --seconds of processor time
    refused                              the scene was not accepted: the generator's fault, or the check's
    crossing, crash                      a bug, and exit code 1

For --same-bits of the seeds the run is repeated with 2, 3 and 8 threads, and for --resume of them in two halves, the
second from a checkpoint: energy.csv must be the same to the last bit. --log appends one JSON object a run, with what
the scene is like; --table prints shares of runs that finished by such traits.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import random_scenes

BUGS = ("crossing", "crash", "other bits", "resume differs")
EVENTS_EVERY = 5


def call(command, seconds):
    """Exit code (None: time limit), standard error. Seconds of the processor count, so that a busy machine changes
    nothing; a process that waits for ever is ended as well."""
    limited = ["/bin/sh", "-c", f'ulimit -t {max(1, round(seconds))}; exec "$@"', "sh", *command]
    try:
        done = subprocess.run(limited, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              timeout=40 * seconds)
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM, "hangs"
    out_of_time = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return None if out_of_time else done.returncode, done.stderr.strip()


def write(made, folder):
    scene, files, _ = made
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    path = folder / "scene.json"
    path.write_text(json.dumps(scene, indent=1) + "\n")
    return path


def crossings(report):
    """Number of crossings that the run's own judge found."""
    seen = report.get("verify", {})
    return seen.get("intersections", 0) + seen.get("on_ways", 0), seen.get("states", 0), seen.get("touching", 0)


def judge_frames(rubato, folder):
    judged = subprocess.run([rubato, "verify", str(folder), "--json", "--frames-only"], capture_output=True, text=True)
    if judged.returncode == 2:
        return 0, judged.stderr.strip()
    return json.loads(judged.stdout)["intersections"], None


def has_contact(report):
    """Whether pairs have pushed each other."""
    method = report.get(report["scene"]["integrator"]["method"], {})
    return method.get("contact", {}).get("most_pairs", 0) > 0


def one(rubato, seed, folder, seconds, events):
    """Runs a seed in a folder: a dict that says how it ended."""
    made = random_scenes.make(seed)
    path, out = write(made, folder), folder / "run"
    verify = "--verify-events" if events else "--verify-steps"
    begin = time.monotonic()
    code, said = call([rubato, "run", str(path), "-o", str(out), "-q", "--threads", "1", verify], seconds)
    result = {"seed": seed, "events": events, "ending": "?", "said": said, "wall": time.monotonic() - begin,
              "traits": made[2]}
    if code is not None and (code < 0 or code > 3):
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return {**result, "ending": "crash", "said": f"{name}: {said[-300:]}"}
    if not (out / "run.json").exists():
        return {**result, "ending": "refused" if code is not None else "time limit"}
    report = json.loads((out / "run.json").read_text())
    count, states, touching = crossings(report)
    on_disk, problem = judge_frames(rubato, out)
    result.update(states=states, steps=report.get("steps", 0), iterations=report.get("iterations", 0),
                  halved=report.get("halved_steps", 0), frame=report.get("frame", 0), contact=has_contact(report),
                  stages=report.get("seconds", {}).get("stages", {}))
    if count + on_disk:
        said = f"{count} crossings ({touching} touching) in {states} states, {on_disk} in frames"
        result.update(ending="crossing", said=said)
    elif problem:
        result.update(ending="crash", said=f"verify: {problem}")
    elif code is None:
        result["ending"] = "time limit"
    elif report["status"] == "finished":
        warnings = [w for w in report.get("warnings", []) if "surface is open" not in str(w)]  # some obstacles are
        result["ending"] = "finished with warnings" if warnings else "finished"
        result["said"] = "; ".join(w if isinstance(w, str) else json.dumps(w) for w in warnings)
    elif "failure" in report:
        failure = report["failure"]
        failed = [line for line in said.split("\n") if "a step failed" in line]
        result.update(ending="outcome", outcome=failure["outcome"], said=(failed or [said])[0])
    else:
        result.update(ending="crash", said=f"status {report['status']}, exit code {code}: {said[:300]}")
    return result


# ---- Same bits


def energies(folder):
    path = folder / "energy.csv"
    return path.read_text() if path.exists() else None


def plain_run(rubato, path, out, *options):
    call([rubato, "run", str(path), "-o", str(out), "-q", *options], 300)
    return energies(out)


def same_bits(rubato, seed, folder):
    path = write(random_scenes.make(seed), folder)
    first = plain_run(rubato, path, folder / "t1", "-t", "1")
    for threads in (2, 3, 8):
        if plain_run(rubato, path, folder / f"t{threads}", "-t", str(threads)) != first:
            return f"{threads} threads"
    return None


def resumes(rubato, seed, folder):
    path = write(random_scenes.make(seed), folder)
    whole = plain_run(rubato, path, folder / "whole", "-t", "1")
    if whole is None:
        return None
    half = max(1, (whole.count("\n") - 1) // 2)
    plain_run(rubato, path, folder / "parts", "-t", "1", "-n", str(half))
    return None if plain_run(rubato, path, folder / "parts", "-t", "1", "--resume") == whole else f"from frame {half}"


# ---- Reports


def cause(result):
    """A sentence with its numbers and names left out, to count alike ones together."""
    said = re.sub(r"\(?-?\d[\d.e+-]*\)?", "N", result["said"])
    said = re.sub(r'"body-N"|body-N', "BODY", said)
    return re.sub(r"^rubato: (a step failed: )?", "", said)[:150]


def bands(result):
    """Traits as words, for the table."""
    t = result["traits"]
    decade = lambda x: f"1e{len(f'{x:.0e}') and int(f'{x:.0e}'.split('e')[1]):+03d}" if x > 0 else "0"
    young = sorted(t["young"])
    yield "layout", t["layout"]
    yield "method", t["method"]
    yield "step", decade(t["step"])
    yield "speed", decade(t["speed"])
    yield "way per step", decade(t["way per step"])
    yield "thickness", t["thickness"] if t["thickness"] == "auto" else decade(t["thickness"])
    yield "softest", decade(young[0]) if young else "none"
    yield "friction", "0" if t["friction"] == 0 else "below 1" if t["friction"] < 1 else "above 1"
    yield "poisson", "above .49" if t["poisson"] > 0.49 else "below"
    yield "gap", "yes" if t["gap"] else "no"
    yield "start", "within the thickness" if t["close"] else "apart"
    for kind in set(t["kinds"]):
        yield "kind", kind
    for model in set(t["models"]) or {"no solid"}:
        yield "model", model
    for kind in set(t["obstacles"]) or {"none"}:
        yield "obstacle", kind


def table(results):
    counts = collections.defaultdict(lambda: [0, 0, 0.0, 0])
    for result in results:
        for key in bands(result):
            row = counts[key]
            row[0] += 1
            row[1] += result["ending"].startswith("finished")
            row[2] += result.get("iterations", 0)
            row[3] += result.get("steps", 0)
    print(f"{'trait':<14} {'':<22} {'runs':>5} {'finished':>9} {'iterations/step':>16}")
    for (name, value), (runs, good, iterations, steps) in sorted(counts.items()):
        print(f"{name:<14} {value:<22} {runs:>5} {100 * good / runs:>8.1f}% {iterations / max(steps, 1):>16.1f}")


def summarise(results):
    endings = collections.Counter(result["ending"] for result in results)
    print(f"{len(results)} runs, {sum(r.get('states', 0) for r in results)} states judged "
          f"({sum(r['events'] for r in results)} runs from iterate to iterate), contact in "
          f"{sum(r.get('contact', False) for r in results)} runs")
    for ending, count in endings.most_common():
        print(f"{count:6d}  {100 * count / len(results):5.1f} %  {ending}")
    causes = collections.defaultdict(list)
    for result in results:
        if result["ending"] != "finished":
            causes[result["ending"], cause(result)].append(result["seed"])
    for (ending, said), seeds in sorted(causes.items(), key=lambda item: -len(item[1])):
        named = " ".join(map(str, seeds[:30])) + (" …" if len(seeds) > 30 else "")
        print(f"{len(seeds):6d}  {ending}: {said}\n        seeds {named}")


def keep_one(arguments):
    folder = pathlib.Path(arguments.keep or f"contact-{arguments.only}")
    result = one(arguments.rubato, arguments.only, folder, arguments.seconds, arguments.events or
                 arguments.only % EVENTS_EVERY == 0)
    print(json.dumps(result, indent=1))
    print(f"{result['ending']}: {folder}/scene.json, {folder}/run")
    return 1 if result["ending"] in BUGS else 0


def in_folder(work, *arguments):
    with tempfile.TemporaryDirectory(prefix="rubato-contact-") as folder:
        return work(*arguments[:2], pathlib.Path(folder), *arguments[2:])


def run_all(arguments, seeds):
    results, bugs = [], 0
    log = open(arguments.log, "a", encoding="utf-8") if arguments.log else None
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = [pool.submit(in_folder, one, arguments.rubato, seed, arguments.seconds,
                               arguments.events or seed % EVENTS_EVERY == 0) for seed in seeds]
        for done in concurrent.futures.as_completed(waiting):
            result = done.result()
            results.append(result)
            bugs += result["ending"] in BUGS
            if log:
                print(json.dumps(result), file=log, flush=True)
            if arguments.progress:
                said = f"{result['seed']:6d} {result['wall']:6.1f} s {result['ending']}: {result['said'][:200]}"
                print(said, flush=True)
    return sorted(results, key=lambda result: result["seed"]), bugs


def compare_bits(arguments, results):
    bugs = 0
    good = [result["seed"] for result in results if result["ending"].startswith("finished")]
    tests = ("other bits", same_bits, arguments.same_bits), ("resume differs", resumes, arguments.resume)
    for what, test, count in tests:
        sample = good[:: max(1, len(good) // count)][:count] if count else []
        wrong = {seed: in_folder(test, arguments.rubato, seed) for seed in sample}
        wrong = {seed: said for seed, said in wrong.items() if said}
        bugs += len(wrong)
        print(f"{len(sample)} runs compared: {what} in {len(wrong)}")
        for seed, said in wrong.items():
            print(f"        seed {seed}: {said}")
    return bugs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rubato", nargs="?", default="build/rubato")
    parser.add_argument("--seeds", default="0-999", help="first and last seed, as 0-999")
    parser.add_argument("--only", type=int, help="one seed alone")
    parser.add_argument("--keep", help="with --only: the folder that the scene and its run stay in")
    parser.add_argument("--solver", default="newton", help="the step solver of all runs")
    parser.add_argument("--methods", help="methods to choose from, as semi-implicit,siere; else the implicit ones")
    parser.add_argument("--contact", default="barrier", help="the contact solver of all runs")
    parser.add_argument("--cuts", action="store_true", help="bodies are cut while they move")
    parser.add_argument("--body-methods", action="store_true",
                        help="semi-implicit and siere for some bodies, backward-euler for the others")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of a run, of the processor")
    parser.add_argument("--events", action="store_true", help="every run from iterate to iterate, not only every fifth")
    parser.add_argument("--same-bits", type=int, default=10, help="runs to repeat with other numbers of threads")
    parser.add_argument("--resume", type=int, default=10, help="runs to repeat in two halves")
    parser.add_argument("--log", help="a file that receives one JSON object a run")
    parser.add_argument("--progress", action="store_true", help="a line a run")
    parser.add_argument("--table", action="store_true", help="print shares by what scenes are like")
    parser.add_argument("--read", help="no runs: report those of this log")
    arguments = parser.parse_args()
    random_scenes.solver, random_scenes.contact_solver = arguments.solver, arguments.contact
    random_scenes.cuts = arguments.cuts
    random_scenes.body_methods = arguments.body_methods
    if arguments.body_methods:
        random_scenes.METHODS = ["backward-euler"]
    if arguments.methods:
        random_scenes.METHODS = arguments.methods.split(",")
    if arguments.only is not None:
        return keep_one(arguments)
    if arguments.read:
        results, bugs = [json.loads(line) for line in open(arguments.read, encoding="utf-8")], 0
    else:
        first, last = map(int, arguments.seeds.split("-"))
        results, bugs = run_all(arguments, range(first, last + 1))
    summarise(results)
    if arguments.table:
        table(results)
    if not arguments.read:
        bugs += compare_bits(arguments, results)
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main())
