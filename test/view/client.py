"""A small WebSocket client, and runs of rubato with a viewer, for tests and measurements."""

import atexit
import base64
import json
import os
import re
import socket
import struct
import subprocess
import threading


class Server:
    """rubato with these words, once it serves. `said` and `complained` are what it printed so far."""

    def __init__(self, rubato, *words, cwd=None):
        self.run = subprocess.Popen([str(rubato), *map(str, words)], cwd=cwd, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        self.said, self.complained = [], []
        self.ready = threading.Event()
        atexit.register(self.run.kill)  # whatever becomes of the test
        self.threads = [threading.Thread(target=self.read, args=words, daemon=True)
                        for words in ((self.run.stdout, self.said), (self.run.stderr, self.complained))]
        for thread in self.threads:
            thread.start()
        self.ready.wait(120)
        match = re.search(r"^view: (http://([\w.:\[\]]+):(\d+)/(\w+)/)$", "".join(self.said), re.M)
        if not match:
            raise AssertionError(f"rubato does not serve: {''.join(self.said)} {''.join(self.complained)}")
        self.address, self.host, port, self.token = match.groups()
        self.port = int(port)

    def read(self, stream, lines):
        for line in stream:
            lines.append(line)
            if line.startswith("view: "):
                self.ready.set()
        self.ready.set()

    def log(self):
        return "".join(self.complained)

    def end(self, seconds=60):
        """Ctrl-C; the exit code."""
        if self.run.poll() is None:
            self.run.send_signal(2)
        return self.wait(seconds)

    def wait(self, seconds=300):
        code = self.run.wait(seconds)
        for thread in self.threads:
            thread.join()
        return code


def ask_http(server, path, headers=(), method="GET"):
    """Status and body of a plain request, sent as it stands."""
    with socket.create_connection((server.host, server.port), 30) as s:
        lines = [f"{method} {path} HTTP/1.1"]
        given = dict(headers)
        if "Host" not in given:
            lines.append(f"Host: {server.host}:{server.port}")
        lines += [f"{name}: {value}" for name, value in given.items()]
        s.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    return (int(head.split()[1]) if head else 0), body


class Page:
    """A page's connection. `recv` gives text messages as objects and binary ones as bytes."""

    def __init__(self, server, token=None, origin=None, host=None, path=None):
        self.socket = socket.create_connection((server.host, server.port), 60)
        key = base64.b64encode(os.urandom(16)).decode()
        host = host or f"{server.host}:{server.port}"
        path = path or f"/{server.token if token is None else token}/ws"
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        if origin:
            lines.append(f"Origin: {origin}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = b""
        head = b""
        while b"\r\n\r\n" not in head:
            chunk = self.socket.recv(4096)
            if not chunk:
                break
            head += chunk
        head, _, self.buffer = head.partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if head else 0

    def send_raw(self, data):
        self.socket.sendall(data)

    def send_frame(self, opcode, data, final=True, masked=True, length=None):
        size = len(data) if length is None else length
        first = (0x80 if final else 0) | opcode
        flag = 0x80 if masked else 0
        if size < 126:
            head = struct.pack("!BB", first, flag | size)
        elif size < 65536:
            head = struct.pack("!BBH", first, flag | 126, size)
        else:
            head = struct.pack("!BBQ", first, flag | 127, size)
        mask = os.urandom(4) if masked else b""
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if masked else data
        self.send_raw(head + mask + body)

    def send(self, request):
        self.send_frame(1, json.dumps(request).encode())

    def take(self, size):
        while len(self.buffer) < size:
            chunk = self.socket.recv(1 << 20)
            if not chunk:
                raise EOFError("the server has closed the connection")
            self.buffer += chunk
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def recv(self):
        while True:
            first, size = self.take(2)
            if size == 126:
                size, = struct.unpack("!H", self.take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.take(8))
            data = self.take(size)
            opcode = first & 15
            if opcode == 1:
                return json.loads(data)
            if opcode == 2:
                return data
            if opcode == 8:
                raise EOFError("the server has closed the connection")
            if opcode == 9:
                self.send_frame(10, data)

    def until(self, wanted):
        """The next message that `wanted` says yes to."""
        while True:
            message = self.recv()
            if wanted(message):
                return message

    def text(self, kind):
        return self.until(lambda m: isinstance(m, dict) and m["type"] == kind)

    def binary(self, kind):
        return self.until(lambda m: isinstance(m, bytes) and struct.unpack_from("<I", m, 4)[0] == kind)

    def is_closed(self, seconds=60):
        """Whether the server closes the connection, whatever it still sends."""
        self.socket.settimeout(seconds)
        try:
            while True:
                self.recv()
        except EOFError:
            return True
        except ConnectionError:
            return True
        except TimeoutError:
            return False

    def close(self):
        self.socket.close()


def frame_of(message):
    """Number, time, sequence and positions of a frame."""
    _, _, _, number, time, _ = struct.unpack_from("<4sIIIdQ", message)
    nodes, _, _, live, sequence = struct.unpack_from("<IIIIQ", message, 32)
    return {"number": number, "time": time, "live": live, "sequence": sequence,
            "x": struct.unpack_from(f"<{3 * nodes}f", message, 56)}
