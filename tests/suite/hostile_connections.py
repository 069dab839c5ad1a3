"""Behaviours of a server on its connection: it hangs, drips, redirects, breaks off or sends without an end."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

STOPPED_WITHIN = 20.0
"""Seconds in which the threads of a server end once it is stopped, on a slow machine."""
DRIP_SECONDS = 0.02
BLOCK = b"x" * 65536


@dataclass
class Connection:
    """One connection of a client."""

    socket: socket.socket
    stopped: threading.Event

    def send(self, *parts: bytes) -> None:
        self.socket.sendall(b"".join(parts))

    def wait(self) -> None:
        self.stopped.wait()

    def drip(self, data: Iterator[bytes]) -> None:
        for part in data:
            if self.stopped.wait(DRIP_SECONDS):
                return
            self.send(part)

    def flood(self, data: bytes) -> None:
        while not self.stopped.is_set():
            self.send(data)


Behaviour = Callable[[Connection], object]
"""What is done once a request was read."""

OK = b"HTTP/1.1 200 OK\r\n"
LONG = b"Content-Length: 1000000\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS_X = itertools.repeat(b"x")


def body(text: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    """A behaviour that answers with a whole body. It says that it closes, so that no client sends a further request."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(text)}", "Connection: close", *headers, "", ""]
    return lambda connection: connection.send("\r\n".join(lines).encode(), text)


def redirect(location: str) -> Behaviour:
    return body(b"", f"Location: {location}", status="302 Found")


SLOW: dict[str, Behaviour] = {
    "silent": lambda c: c.wait(),
    "drips a header": lambda c: c.drip(iter(itertools.chain([OK, b"X: "], ENDLESS_X))),
    "drips its body": lambda c: c.drip(iter(itertools.chain([OK, LONG], ENDLESS_X))),
    "drips chunks": lambda c: c.drip(iter(itertools.chain([OK, CHUNKED], itertools.repeat(b"1\r\nx\r\n")))),
    "drips 1xx": lambda c: c.drip(itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n")),
    "drips trailers": lambda c: c.drip(iter(itertools.chain([OK, CHUNKED, b"0\r\n"], itertools.repeat(b"X: y\r\n")))),
}
"""Behaviours that only a bound on time ends."""

LARGE: dict[str, tuple[Behaviour, str]] = {
    "body without an end": (lambda c: (c.send(OK, b"\r\n"), c.flood(BLOCK)), "more than"),
    "chunks without an end": (lambda c: (c.send(OK, CHUNKED), c.flood(b"10000\r\n" + BLOCK + b"\r\n")), "more than"),
    "chunks of one byte without an end": (lambda c: (c.send(OK, CHUNKED), c.flood(b"1\r\nx\r\n" * 9999)), "more than"),
    "gigabytes announced": (lambda c: (c.send(OK, b"Content-Length: 9999999999\r\n\r\n"), c.flood(BLOCK)), "more than"),
    "100,000 headers": (lambda c: c.send(OK, b"X: y\r\n" * 100_000, b"\r\n"), "bytes of headers"),
    "header without an end": (lambda c: (c.send(OK, b"X: "), c.flood(BLOCK)), "bytes of headers"),
    "headers without an end": (lambda c: (c.send(OK), c.flood(b"X: y\r\n" * 9999)), "bytes of headers"),
    "1xx without an end": (lambda c: c.flood(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 999), "sends more than"),
    "trailers without an end": (
        lambda c: (c.send(OK, CHUNKED, b"0\r\n"), c.flood(b"X: y\r\n" * 9999)),
        "bytes of headers",
    ),
    "extension of a chunk without an end": (
        lambda c: (c.send(OK, CHUNKED, b"1;x="), c.flood(BLOCK)),
        "bytes of headers",
    ),
    "gzip bomb": (body(gzip.compress(bytes(300_000_000), 1), "Content-Encoding: gzip"), "Content-Encoding"),
    "bomb in two layers": (body(b"x", "Content-Encoding: gzip, gzip"), "Content-Encoding"),
}
"""Behaviours that would fill memory or never end, and what is said of each."""

BROKEN: dict[str, tuple[Behaviour, str]] = {
    "closes at once": (lambda _: None, "cannot be fetched"),
    "closes in the headers": (lambda c: c.send(OK, b"Content-Le"), "cannot be fetched"),
    "closes in the body": (lambda c: c.send(OK, LONG, b"{}"), "cannot be fetched"),
    "closes in a chunk": (lambda c: c.send(OK, CHUNKED, b"ff\r\n{"), "cannot be fetched"),
    "two lengths": (lambda c: c.send(OK, b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), "cannot be fetched"),
    "negative length": (lambda c: c.send(OK, b"Content-Length: -1\r\n\r\n{}"), "cannot be fetched"),
    "length of letters": (lambda c: c.send(OK, b"Content-Length: x\r\n\r\n{}"), "cannot be fetched"),
    "no HTTP": (lambda c: c.send(b"\x15\x03\x01\x00\x02\x02\x46" * 99), "cannot be fetched"),
    "line breaks in what it says": (lambda c: c.send(b"VERIFIED\n\x1b[2Jrm -rf\r\n\r\n"), "cannot be fetched"),
    "switches protocols": (lambda c: c.send(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), ""),
    "busy": (body(b"{}", status="503 Busy"), "status 503"),
    "limits the rate": (body(b"{}", status="429 Slow"), "status 429"),
}
"""Behaviours after which nothing can be said, and what is said of each."""

REDIRECTS: dict[str, tuple[Behaviour, str]] = {
    "redirects without an end": (redirect("/more"), "redirects more than 3 times"),
    "redirects to another origin": (redirect("http://127.0.0.1:1/"), "redirects to another origin"),
    "redirects to a file": (redirect("file:///etc/passwd"), "redirects to another origin"),
    "redirects to no URL": (redirect("http://["), "is no URL"),
    "redirects to no port": (redirect("http://127.0.0.1:99999/"), "redirects to another origin"),
    "redirects far": (redirect("/" + "x" * 60_000), "redirects more than 3 times"),
}

HANDSHAKES: dict[str, Behaviour] = {
    "silent in the handshake": lambda c: c.wait(),
    "drips the handshake": lambda c: c.drip(iter(itertools.chain([b"\x16\x03\x03\x40\x00"], itertools.repeat(b"\2")))),
}
"""Of TLS, before any request."""


def accept_each(listening: socket.socket, stopped: threading.Event, take: Callable[[socket.socket], object]) -> None:
    listening.settimeout(0.05)
    while not stopped.is_set():
        try:
            accepted, _ = listening.accept()
        except TimeoutError:
            continue
        accepted.settimeout(STOPPED_WITHIN)
        take(accepted)


@contextmanager
def threads(stopped: threading.Event) -> Iterator[Callable[[Callable[[], object]], None]]:
    """Starts threads, tells them when to stop, and waits for them."""
    started: list[threading.Thread] = []

    def start(work: Callable[[], object]) -> None:
        started.append(threading.Thread(target=work, daemon=True))
        started[-1].start()

    try:
        yield start
    finally:
        stopped.set()
        for thread in started:  # one that accepts connections starts no other one after it ends
            thread.join(STOPPED_WITHIN)
