"""Servers on loopback that lie: the services, chains and resolvers that `verify` asks, one behaviour each."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from hostile_connections import Behaviour, Connection, accept_each, threads
from http_server import Answer, Request, serve
from served_evidence import Service


@dataclass
class Hostile:
    """A server whose paths `at` have a behaviour, while a service answers the others."""

    behaviour: Behaviour
    service: Service | None = None
    at: str = ""
    """A part of the paths; empty: all."""
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, stopped: threading.Event, request: Request) -> Answer | Callable[[socket.socket], object]:
        """The answer of the service, or what the behaviour does to the connection."""
        self.requests.append(request.target)
        if self.service is None or self.at in request.target:
            return lambda connection: self.behaviour(Connection(connection, stopped))
        status, headers, text = self.service.answer(request.target.partition("?")[0])
        return Answer(status, text, (*headers.items(), ("Connection", "close")))


@contextmanager
def hostile(server: Hostile) -> Iterator[Hostile]:
    """The server, listening on a free port."""
    stopped = threading.Event()
    with serve(partial(server.answer, stopped)) as server.url:
        try:
            yield server
        finally:
            stopped.set()


@contextmanager
def hostile_in_the_handshake(behaviour: Behaviour) -> Iterator[str]:
    """The https address of a server that behaves so before any request was read."""
    stopped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening, threads(stopped) as start:

        def behave(accepted: socket.socket) -> None:
            with accepted, suppress(OSError):
                behaviour(Connection(accepted, stopped))

        start(lambda: accept_each(listening, stopped, lambda accepted: start(lambda: behave(accepted))))
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"


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

        with threads(stopped) as start:
            start(answer_datagrams)
            if over_tcp is not None:
                start(lambda: accept_each(tcp, stopped, lambda accepted: start(lambda: serve(accepted))))
            yield f"127.0.0.1:{address[1]}"


Zone = dict[str, list[str] | dns.rcode.Rcode]
"""Name to CAA records as text, `CNAME target`, or the response code of a failure."""


def dns_serving(zone: Zone) -> AbstractContextManager[str]:
    """A sound resolver of CAA records; HOST:PORT."""

    def answer(query: dns.message.Message) -> bytes:
        records = zone.get(query.question[0].name.to_text().rstrip("."), dns.rcode.NXDOMAIN)
        if isinstance(records, dns.rcode.Rcode):
            return failing(records)(query)
        for alias in (text.removeprefix("CNAME ") for text in records if text.startswith("CNAME ")):
            return response(query, f"{alias}.", kind="CNAME").to_wire()
        return response(query, *records).to_wire()

    return hostile_resolver(answer)
