#!/usr/bin/env python3
"""view_server.py RUBATO SOURCE: who is refused and dropped, that the run does not notice, and that it has the same bits
with and without somebody who looks; acts by several methods, and the same from the file."""

import filecmp
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

RUBATO, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "test/view"))
from client import Page, Server, ask_http, frame_of  # noqa: E402

JELLY = {
    "rubato": 1,
    "bodies": [{"name": "jelly", "mesh": {"shape": {"cuboid": {"size": [0.2, 0.1, 0.1], "cells": [6, 3, 3]}}},
                "material": {"young": 2e4, "poisson": 0.45, "density": 1000},
                "fixed": [{"box": {"min": [0, 0, 0], "max": [0.01, 1, 1], "relative": True}}]}],
    "forces": [{"gravity": {}}],
    "time": {"step": 0.005, "frame": 0.02, "end": 0.6},
    "integrator": {"method": "semi-implicit"},
}


def scene(at, name, **changes):
    path = at / f"{name}.json"
    path.write_text(json.dumps({**JELLY, **changes}))
    return path


def run(*words):
    subprocess.run([RUBATO, *map(str, words)], check=True, capture_output=True)


def assert_same(a, b):
    names = [sorted(p.name for p in (f / "frames").iterdir()) for f in (a, b)]
    assert names[0] == names[1], f"{a} has {len(names[0])} frames, {b} {len(names[1])}"
    for name in [*(f"frames/{n}" for n in names[0]), "energy.csv"]:
        assert filecmp.cmp(a / name, b / name, shallow=False), f"{name} differs between {a.name} and {b.name}"


def refusals(at):
    """Tokens, origins, hosts and paths, at a folder that is shown."""
    run("run", scene(at, "shown"), "-o", at / "shown", "-q")
    (at / "secret.txt").write_text("nobody may read this")
    (at / "shown/probes.csv").symlink_to("../secret.txt")
    server = Server(RUBATO, "view", at / "shown")
    base = f"/{server.token}"
    status, body = ask_http(server, f"{base}/")
    assert status == 200 and b"<!doctype html>" in body.lower()
    assert ask_http(server, base)[0] == 301
    assert ask_http(server, f"{base}/", method="POST")[0] == 405
    tricks = ["/", "/ws", "/wrong/", f"/{server.token[:-1]}/", f"/{server.token}0/", f"/{server.token.upper()}x/",
              f"{base}/../secret.txt", f"{base}/..%2fsecret.txt", f"{base}/%2e%2e/secret.txt", f"{base}//etc/passwd",
              f"{base}/run.json", f"{base}/frames/frame_000000.vtu", f"{base}/....//secret.txt", "/etc/passwd",
              f"{base}/x%00", f"{base}/\\..\\secret.txt", "/../../../../../../etc/passwd", "/" + "a" * 10000]
    for path in tricks:
        status, body = ask_http(server, path)
        assert status != 200 and b"nobody may" not in body and b"root:" not in body, f"{path}: {status}"
    for headers in [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"},
                    {"Host": f"evil.example:{server.port}", "Origin": f"http://evil.example:{server.port}"}]:
        assert ask_http(server, f"{base}/", headers)[0] == 403, headers
    for page in [Page(server, token=""), Page(server, token="0" * 32), Page(server, path="/ws"),
                 Page(server, origin="http://evil.example"), Page(server, host="evil.example"),
                 Page(server, path=f"{base}/ws/../ws2"), Page(server, path=f"{base}/")]:
        assert page.status != 101, page.status
        page.close()
    page = Page(server, origin=f"http://{server.host}:{server.port}")
    assert page.status == 101
    assert page.text("hello")["runs"][0]["live"] is False
    # files are those of the table, never through a link
    page.send({"file": {"run": 0, "name": "probes.csv"}})
    assert len(page.binary(3)) == 48
    for name in ["../secret.txt", "scene.json", "/etc/passwd"]:
        page.send({"file": {"run": 0, "name": name}})
        assert "name" in page.text("error")["message"]
    for request in [{"frame": {"run": 0, "number": 999}}, {"frame": {"run": 1, "number": 0}}, {"live": {}}, {},
                    {"frame": {}}, {"pause": {"on": True}}, {"act": {"event": "{}"}},
                    {"frame": {"run": -1, "number": 0}}]:
        page.send(request)
        assert page.text("error")["message"], request
    page.send({"frame": {"run": 0, "number": 3, "fields": 15}})
    assert frame_of(page.binary(2))["number"] == 3
    page.close()
    assert server.end() == 0
    for words in ["without the token", "for the host", 'by a page of "http://evil.example"',
                  "a request that is none"]:
        assert words in server.log(), f"no line about {words}: {server.log()}"


def wrong_frames(at):
    """Frames that are none, too large, or too many: each page is dropped with a line, and others are served."""
    server = Server(RUBATO, "view", at / "shown")

    def dropped(act, words=None):
        page = Page(server)
        page.text("hello")
        try:
            act(page)
        except ConnectionError:
            pass
        assert page.is_closed(), words
        page.close()

    dropped(lambda p: p.send_frame(1, b"x" * 70000), "more than")
    dropped(lambda p: p.send_frame(2, b"\x00" * 10), "no request")
    dropped(lambda p: p.send_frame(1, b"", length=1 << 62), "a length beyond any memory")
    dropped(lambda p: [p.send_frame(1, json.dumps({"frame": {"number": 1}}).encode()) for _ in range(3000)], "at once")
    for text in [b"", b"{", b"[" * 60000, b"\xff\xfe", b"null", b'{"frame": 3}', b'{"a": {"b": ' * 3000, b"\x00" * 100]:
        page = Page(server)
        page.text("hello")
        page.send_frame(1, text)
        assert page.text("error")["message"]
        page.send({"frames": {"run": 0}})
        assert page.text("frames")["times"]
        page.close()
    page = Page(server)
    page.send_raw(b"\x81")  # half a frame, and it is gone
    page.close()
    assert server.end() == 0
    for words in ["more than 65536: dropped", "no request (opcode 2): dropped", "things at once: dropped"]:
        assert words in server.log(), f"no line about {words}: {server.log()}"


def same_bits(at):
    """A run that is looked at by pages that read, do not read, vanish and swarm has the bits of one that is not."""
    changes = {"time": {"step": 0.002, "frame": 0.02, "end": 1}}
    run("run", scene(at, "plain", **changes), "-o", at / "plain", "-q")
    server = Server(RUBATO, "view", scene(at, "seen", **changes), "-o", at / "seen", "-q")
    seen, pages = [], [Page(server) for _ in range(3)]

    def look(page):  # reads what it asks for
        after = 0
        try:
            while True:
                page.send({"live": {"after": after, "fields": 15}})
                frame = frame_of(page.binary(2))
                after = frame["sequence"]
                seen.append(frame)
        except (EOFError, OSError):
            pass

    looker = threading.Thread(target=look, args=(pages[0],), daemon=True)
    looker.start()
    for _ in range(200):  # asks and never reads
        pages[1].send({"frame": {"run": 0, "number": 0, "fields": 15}})
    for _ in range(20):
        try:
            page = Page(server)
        except OSError:
            break
        page.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        page.close()  # vanishes
    crowd = []
    for _ in range(200):
        try:
            crowd.append(socket.create_connection((server.host, server.port), 30))
        except OSError:
            break
    for connection in crowd:
        connection.close()
    pages[2].until(lambda m: isinstance(m, dict) and m["type"] == "live" and m["over"])
    assert server.end() == 0, server.log()
    looker.join(60)
    assert_same(at / "plain", at / "seen")
    assert seen and all(a["sequence"] < b["sequence"] for a, b in zip(seen, seen[1:])), "states come in order"


def crowds(at):
    """No more pages than there are places, and a place is free again when a page goes."""
    server = Server(RUBATO, "view", at / "shown")
    pages = [Page(server) for _ in range(8)]
    assert all(page.status == 101 for page in pages)
    late = Page(server)
    assert late.status != 101
    assert "8 pages are open already" in server.log() or server.run.poll() is None
    pages[0].close()
    while True:  # its place becomes free
        again = Page(server)
        if again.status == 101:
            break
        again.close()
    again.text("hello")
    assert server.end() == 0
    assert "8 pages are open already" in server.log()


def acts(at, name, changes, events):
    """Events by hand while the run waits, and the same scene from its file."""
    changes = {"time": {"step": 0.005, "frame": 0.02, "end": 0.16}, **changes}
    server = Server(RUBATO, "run", scene(at, name, **changes), "-o", at / name, "--view", "--interact",
                    "--paused", "-q")  # it could be over before somebody says so
    page = Page(server)
    page.text("hello")
    page.until(lambda m: isinstance(m, dict) and m["type"] == "live" and m["paused"])
    for number, (steps, event) in enumerate(events):
        page.send({"act": {"id": number, "event": json.dumps(event)}})
        answer = page.until(lambda m: isinstance(m, dict) and m["type"] in ("act", "error"))
        if isinstance(steps, str):
            assert steps in (answer.get("error") or answer.get("message")), answer
            continue
        assert answer["type"] == "act" and answer["error"] is None, answer
        page.send({"pause": {"on": True, "steps": steps}})
        until = answer["time"] + (steps - 0.1) * changes["time"]["step"]
        page.until(lambda m: isinstance(m, dict) and m["type"] == "live" and m["time"] > until)
    page.send({"pause": {"on": False}})
    assert server.wait() == 0, server.log()
    acted = json.loads((at / name / "scene.json").read_text())
    assert len(acted["events"]) == sum(not isinstance(steps, str) for steps, _ in events)
    run("run", at / name / "scene.json", "-o", at / f"{name}-again", "-q")
    assert_same(at / name, at / f"{name}-again")
    run("run", scene(at, f"{name}-alone", **changes), "-o", at / f"{name}-alone", "-q")
    last = sorted((at / name / "frames").iterdir())[-1].name
    assert not filecmp.cmp(at / name / "frames" / last, at / f"{name}-alone/frames" / last, shallow=False)


GRIP = {"body": "jelly", "where": {"nearest": {"point": [0.2, 0.05, 0.05], "count": 8}}}
EVENTS = [(3, {"drag": {**GRIP, "point": [0.25, 0.12, 0.02], "stiffness": 5}}),
          ("too stiff", {"drag": {**GRIP, "point": [0, 0, 0], "stiffness": 1e12}}),
          ("unknown key", {"pull": {}}),
          (2, {"drag": {**GRIP, "point": [0.22, 0.0, 0.02], "stiffness": 8}}),
          (2, {"force": {**GRIP, "force": [0.1, 0.2, 0]}}),
          (3, {"material": {"body": "jelly", "young": 4e4}}),
          (1, {"drag": {**GRIP, "point": [0, 0, 0], "stiffness": 0}})]
CUT = {"cut": {"deformed": True, "surface": {"rectangle": {"corner": [0.083, -1, -1], "along": [0, 2, 0],
                                                           "across": [0, 0, 2]}}}}


def all_acts(at):
    for method in ["semi-implicit", "bdf2", "siere"]:
        cuts = [(2, CUT), (1, {"force": {**GRIP, "force": [0, -0.3, 0]}}), (2, {**CUT, "cut": {
            "deformed": True, "surface": {"plane": {"point": [0.15, 0, 0], "normal": [1, 0.3, 0]}}}})]
        acts(at, f"by-{method}", {"integrator": {"method": method}}, EVENTS + cuts)
    touching = {"integrator": {"method": "backward-euler"}, "contact": {"friction": 0.3},
                "obstacles": [{"plane": {"point": [0, -0.06, 0]}}]}
    acts(at, "touching", touching, EVENTS + [(2, CUT)])
    explicit = {"integrator": {"method": "symplectic-euler"}, "time": {"step": 0.0004, "frame": 0.02, "end": 0.06}}
    acts(at, "explicit", explicit, EVENTS[:1] + EVENTS[4:])
    # meshes from files are found from the folder of the run too
    (at / "meshes").mkdir()
    run("mesh", "cuboid", "-o", at / "meshes/block.msh", "--set", "size=0.2,0.1,0.1", "--set", "cells=4,2,2")
    body = {**JELLY["bodies"][0], "mesh": {"file": "meshes/block.msh"}}
    acts(at, "from-file", {"bodies": [body]}, EVENTS[:1])


def comparisons(at):
    """The methods of a comparison side by side."""
    server = Server(RUBATO, "compare", scene(at, "both"), "--methods", "semi-implicit,backward-euler", "--repeat", "1",
                    "--frames", "2", "--reference", "none", "-o", at / "both", "-q", "--view")
    page = Page(server)
    assert [run["name"] for run in page.text("hello")["runs"]] == ["semi-implicit", "backward-euler"]
    seen = []
    for number in (0, 1):
        page.send({"frame": {"run": number, "number": 2}})
        seen.append(frame_of(page.binary(2)))
    assert seen[0]["time"] == seen[1]["time"] and seen[0]["x"] != seen[1]["x"]
    page.close()
    assert server.end() == 0


def hosts(at):
    """Other machines reach it only if told so, with a warning."""
    server = Server(RUBATO, "view", at / "shown", "--host", "0.0.0.0")
    assert server.end() == 0
    assert "other machines reach it" in server.log()  # whole once it has ended
    server = Server(RUBATO, "view", at / "shown")
    assert server.host == "127.0.0.1"
    other = subprocess.run([RUBATO, "view", at / "shown", "--port", str(server.port)], capture_output=True, text=True)
    assert other.returncode == 1 and "cannot listen" in other.stderr, other.stderr
    assert server.end() == 0 and "warning" not in server.log()
    for words, code in [(["view", at / "nowhere"], 1), (["view"], 2), (["view", at / "meshes"], 1),
                        (["run", scene(at, "x"), "--interact"], 2), (["run", scene(at, "x"), "--view", "--paused"], 2),
                        (["export", at / "nowhere"], 1),
                        (["view", at / "shown", at / "nowhere"], 1)]:
        said = subprocess.run([RUBATO, *map(str, words)], capture_output=True, text=True, cwd=at)
        assert said.returncode == code and said.stderr, f"{words}: {said.returncode} {said.stderr}"


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    tried = subprocess.run([RUBATO, "view", folder], capture_output=True, text=True)
    if "built without its viewer" in tried.stderr:
        print("this rubato was built without its viewer")
        sys.exit(77)
    place = pathlib.Path(folder)
    for test in [refusals, wrong_frames, crowds, same_bits, all_acts, comparisons, hosts]:
        test(place)
        print("ok", test.__name__, flush=True)
