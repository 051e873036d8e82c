"""The programs of docs/python.md and of the README, run from top to bottom; what they print is what the page shows.

python test_docs.py --fix writes what they print into the page."""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)


def programs(path):
    return list(BLOCK.finditer((SOURCE / path).read_text(encoding="utf-8")))


def outputs(path):
    """(line, what the page shows, what was printed) for every program."""
    names, found, before = {"__name__": "page"}, [], os.getcwd()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        try:
            for match in programs(path):
                line = match.string[:match.start()].count("\n") + 2
                code = compile("\n" * (line - 1) + match[1], str(SOURCE / path), "exec")
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(code, names)
                found.append((line, match[2], printed.getvalue()))
        finally:
            os.chdir(before)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path, least", [("docs/python.md", 10), ("README.md", 1)])
def test_pages(path, least):
    found = outputs(path)
    assert len(found) >= least
    for line, shown, printed in found:
        assert printed == (shown or ""), f"{path}:{line}"


def fix(path):
    text, at, result = (SOURCE / path).read_text(encoding="utf-8"), 0, []
    for match, (_, shown, printed) in zip(programs(path), outputs(path)):
        if shown is not None:
            result += [text[at:match.start(2)], printed]
            at = match.end(2)
    (SOURCE / path).write_text("".join(result) + text[at:], encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:] == ["--fix"]:
    for page in ("docs/python.md", "README.md"):
        fix(page)
