"""The command `rubato`, which comes with the package: whole runs and studies are processes of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Any

from . import _rubato


def path() -> str:
    """Where the command is: in the package, where RUBATO_COMMAND says, or in the path."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "rubato")
    for candidate in (os.environ.get("RUBATO_COMMAND"), own, shutil.which("rubato")):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise _rubato.Error(f"the command rubato is not there: neither {own} nor in the path; set RUBATO_COMMAND")


def sentence(text: str) -> str:
    """What the command said on its error stream, without its name."""
    return re.sub(r"^rubato(?: \w+)?: ", "", text.strip(), flags=re.MULTILINE)


def call(*words: Any) -> str:
    """Runs the command to its end and returns what it printed; rubato.Error with its sentence if it failed."""
    done = subprocess.run([path(), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise _rubato.Error(sentence(done.stderr) or f"rubato {words[0]} ended with {done.returncode}")
    return done.stdout
