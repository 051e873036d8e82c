"""python -m rubato SCENE.json: runs a scene with a progress bar. python -m rubato COMMAND …: any command of rubato."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

from . import _command, _rubato, run

USAGE = """usage: python -m rubato SCENE.json [-o DIR] [-n FRAMES] [-t THREADS] [--set PATH=VALUE …] [--resume] [-q]
       python -m rubato COMMAND …      any command of rubato, as in: python -m rubato help

Runs the scene into DIR (out/NAME) and says what is in it."""


class Bar:
    """A line that grows, with the time that is left."""

    WIDTH = 30

    def __init__(self, stream: Any) -> None:
        self.stream, self.live, self.start, self.first, self.last = stream, stream.isatty(), time.monotonic(), 0, 0

    def __call__(self, event: dict[str, Any]) -> None:
        if event["event"] == "start":
            self.first, self.last = event["frame"], event["last_frame"]
            print(f"{event['method']}, step {event['step']:g} s, {event['nodes']} nodes, {event['tets']} tets, "
                  f"{event['threads']} threads", file=self.stream)
        elif event["event"] == "frame" and self.live:
            done, total = event["frame"] - self.first, max(self.last - self.first, 1)
            left = (time.monotonic() - self.start) * (total - done) / max(done, 1)
            bar = ("#" * (self.WIDTH * done // total)).ljust(self.WIDTH, ".")
            print(f"\r[{bar}] frame {event['frame']} of {self.last}, {event['time']:.4g} s, {left:.0f} s left   ",
                  end="", file=self.stream, flush=True)

    def end(self) -> None:
        if self.live:
            print("\r" + " " * 79 + "\r", end="", file=self.stream, flush=True)


def parse(words: list[str]) -> dict[str, Any]:
    """The words of the command line; SystemExit with 2 if they make no sense."""
    found: dict[str, Any] = {"settings": {}, "quiet": False, "resume": False}
    names = {"-o": "output", "--output": "output", "-n": "frames", "--frames": "frames", "-t": "threads",
             "--threads": "threads"}
    rest = iter(words)
    for word in rest:
        if word in names or word == "--set":
            value = next(rest, None)
            if value is None:
                sys.exit(_complain(f"{word} needs a value"))
            if word == "--set":
                path, equals, text = value.partition("=")
                if not equals:
                    sys.exit(_complain(f"--set {value}: write PATH=VALUE"))
                found["settings"][path] = _value(text)
            else:
                found[names[word]] = value if names[word] == "output" else _whole(word, value)
        elif word in ("-q", "--quiet", "--resume"):
            found["resume" if word == "--resume" else "quiet"] = True
        elif word.startswith("-") or "scene" in found:
            sys.exit(_complain(f"what is {word!r}?"))
        else:
            found["scene"] = word
    return found


def _complain(text: str) -> int:
    print(f"rubato: {text}\n{USAGE}", file=sys.stderr)
    return 2


def _whole(word: str, text: str) -> int:
    if not text.isdigit():
        sys.exit(_complain(f"{word} {text}: a whole number is needed"))
    return int(text)


def _value(text: str) -> Any:
    import json
    try:
        return json.loads(text)
    except ValueError:
        return text


def main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if words else 2
    if not words[0].startswith("-") and not os.path.exists(words[0]) and not words[0].endswith(".json"):
        return subprocess.run([_command.path(), *words]).returncode
    found = parse(words)
    name = os.path.splitext(os.path.basename(found["scene"]))[0]
    output = found.get("output", os.path.join("out", name))
    bar = Bar(sys.stderr)
    try:
        result = run(found["scene"], output, set=found["settings"], frames=found.get("frames"),
                     threads=found.get("threads"), resume=found["resume"], progress=None if found["quiet"] else bar)
    except _rubato.Error as trouble:
        bar.end()
        print(f"rubato: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        bar.end()
        print(f"rubato: stopped; whole frames are in {output}; --resume continues", file=sys.stderr)
        return 130
    bar.end()
    if not found["quiet"]:
        print(f"{len(result.frames)} frames in {output}; import rubato; rubato.open_run({output!r})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
