"""Servers on loopback that lie, hang, drip, redirect or send without an end: one behaviour each."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from served_evidence import Service

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
    "drips its status line": lambda c: c.drip(iter(itertools.chain([b"HTTP/1.1 200 "], ENDLESS_X))),
    "drips a header": lambda c: c.drip(iter(itertools.chain([OK, b"X: "], ENDLESS_X))),
    "drips headers": lambda c: c.drip(iter(itertools.chain([OK], itertools.repeat(b"X: y\r\n")))),
    "drips its body": lambda c: c.drip(iter(itertools.chain([OK, LONG], ENDLESS_X))),
    "drips chunks": lambda c: c.drip(iter(itertools.chain([OK, CHUNKED], itertools.repeat(b"1\r\nx\r\n")))),
    "drips the size of a chunk": lambda c: c.drip(iter(itertools.chain([OK, CHUNKED], itertools.repeat(b"0")))),
    "drips 1xx": lambda c: c.drip(itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n")),
    "drips trailers": lambda c: c.drip(iter(itertools.chain([OK, CHUNKED, b"0\r\n"], itertools.repeat(b"X: y\r\n")))),
    "stops in the body": lambda c: (c.send(OK, LONG, b"{"), c.wait()),
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


@dataclass
class Hostile:
    """A server whose paths `at` have a behaviour, while a service answers the others."""

    behaviour: Behaviour
    service: Service | None = None
    at: str = ""
    """A part of the paths; empty: all."""
    scheme: str = "http"
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, connection: Connection) -> None:
        """Read the request of a connection and answer it."""
        if self.scheme == "https":
            self.behaviour(connection)
            return
        reader = connection.socket.makefile("rb")
        if not (line := reader.readline()):
            return
        path, length = line.split()[1].decode(), 0
        while (header := reader.readline()) not in {b"\r\n", b""}:
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        reader.read(length)
        self.requests.append(path)
        if self.service is None or self.at in path:
            self.behaviour(connection)
            return
        status, headers, text = self.service.answer(path.partition("?")[0])
        body(text, *(f"{name}: {value}" for name, value in headers.items()), status=f"{status} X")(connection)


@contextmanager
def hostile(server: Hostile) -> Iterator[Hostile]:
    """The server, listening on a free port."""
    stopped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening, _threads(stopped) as start:

        def serve(accepted: socket.socket) -> None:
            with accepted, suppress(OSError, ValueError, IndexError):
                server.answer(Connection(accepted, stopped))
                accepted.shutdown(socket.SHUT_WR)

        start(lambda: _accept(listening, stopped, lambda accepted: start(lambda: serve(accepted))))
        server.url = f"{server.scheme}://127.0.0.1:{listening.getsockname()[1]}"
        yield server


def _accept(listening: socket.socket, stopped: threading.Event, take: Callable[[socket.socket], object]) -> None:
    listening.settimeout(0.05)
    while not stopped.is_set():
        try:
            accepted, _ = listening.accept()
        except TimeoutError:
            continue
        accepted.settimeout(STOPPED_WITHIN)
        take(accepted)


@contextmanager
def _threads(stopped: threading.Event) -> Iterator[Callable[[Callable[[], object]], None]]:
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


Answering = Callable[[dns.message.Message], bytes | None]
"""The bytes that answer a question; None: nothing."""


def response(query: dns.message.Message, *records: str, kind: str = "CAA", flags: int = 0) -> dns.message.Message:
    """An answer to a question, with records of its name."""
    answer = dns.message.make_response(query)
    answer.flags |= dns.flags.RA | flags
    if records:
        answer.answer.append(dns.rrset.from_text(query.question[0].name, 60, "IN", kind, *records))
    return answer


def truncated(query: dns.message.Message) -> bytes:
    return response(query, flags=dns.flags.TC).to_wire()


def wrong_id(query: dns.message.Message) -> bytes:
    answer = response(query)
    answer.id ^= 1
    return answer.to_wire()


def other_question(query: dns.message.Message) -> bytes:
    asked = dns.message.make_query("other.example", "CAA", id=query.id)
    return response(asked, '0 issue "ca.example"').to_wire()


def alias_loop(query: dns.message.Message) -> bytes:
    """Two names that are aliases of one another, in one message."""
    answer, name = response(query), query.question[0].name
    for one, other in ((name, "loop.test."), ("loop.test.", name.to_text())):
        answer.answer.append(dns.rrset.from_text(one, 60, "IN", "CNAME", other))
    return answer.to_wire()


_NUMBERS = itertools.count()


def aliases_without_an_end(query: dns.message.Message) -> bytes:
    return response(query, f"{next(_NUMBERS)}.test.", kind="CNAME").to_wire()


def many_records(query: dns.message.Message) -> bytes:
    """As many as a message over TCP holds."""
    return response(query, *(f'0 issue "ca{number}.example"' for number in range(1_700))).to_wire(max_size=65535)


def failing(rcode: dns.rcode.Rcode) -> Answering:
    def answer(query: dns.message.Message) -> bytes:
        message = response(query)
        message.set_rcode(rcode)
        return message.to_wire()

    return answer


@contextmanager
def hostile_resolver(
    over_udp: Answering, over_tcp: Callable[[Connection, bytes], object] | None = None, times: int = 1
) -> Iterator[str]:
    """A resolver that answers over UDP, `times` for each question, and over TCP if it listens there. HOST:PORT.

    `over_tcp` gets the connection and the answer to the question that came over it, as `many_records` gives it.
    """
    stopped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        address = tcp.getsockname()
        udp.bind(address)
        udp.settimeout(0.05)
        if over_tcp is None:
            tcp.close()

        def answer_datagrams() -> None:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    data, client = udp.recvfrom(65535)
                    answer = over_udp(dns.message.from_wire(data))
                    for _ in range(times if answer is not None else 0):
                        udp.sendto(answer or b"", client)

        def serve(accepted: socket.socket) -> None:
            with accepted, suppress(OSError):
                data = accepted.recv(65535)
                if over_tcp is not None:
                    over_tcp(Connection(accepted, stopped), many_records(dns.message.from_wire(data[2:])))

        with _threads(stopped) as start:
            start(answer_datagrams)
            if over_tcp is not None:
                start(lambda: _accept(tcp, stopped, lambda accepted: start(lambda: serve(accepted))))
            yield f"127.0.0.1:{address[1]}"
