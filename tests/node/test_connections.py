"""Clients that are silent, slow, half closed or ambiguous: what they may cost the node, and everybody else."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from connecting import connect, connect_to, exchange, head, status_of, statuses, until_closed
from nodes import NEW_GROUP, Running, serving
from processes import client, node_process, stopped

from reference_node.serving.connections import FILES_KEPT, Connections, Phase
from reference_node.serving.protocol import TimeLimits
from reference_node.settings import Settings

PAYERS = "/core/v1/get_api_payers"
NEW_ACCOUNT = json.dumps({"account_name": "n", "account_description": "d"}).encode()
NEVER = 100_000
"""Seconds of a limit that a test must not reach."""


def creation(*headers: str) -> bytes:
    """The head of a request for a new account."""
    return head("POST", "/core/v1/new_account", "Content-Type: application/json", *headers)


UNFINISHED = creation("Content-Length: 1000000")


@contextlib.contextmanager
def limited(connections: Connections | None = None, **seconds: float) -> Iterator[Running]:
    """A node with these time limits, and no others."""
    limits = {"head": NEVER, "body": NEVER, "idle": NEVER} | seconds
    with serving(Settings(port=0), TimeLimits(**limits), connections) as running:  # type: ignore[arg-type]
        yield running


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\r\n"])
def test_head_that_does_not_come_in_time_ends_the_connection(sent: bytes) -> None:
    with limited(head=1) as running:
        answer = exchange(running, sent)
    if sent:
        assert status_of(answer) == 408
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "request-too-slow"
    else:
        assert answer == b""


def test_further_head_that_does_not_come_in_time_ends_the_connection() -> None:
    with limited(head=1) as running, connect(running) as connection:
        connection.sendall(head("GET", PAYERS))
        assert status_of(connection.recv(65536)) == 200
        connection.sendall(b"GET / HT")
        assert status_of(until_closed(connection)) == 408


@pytest.mark.parametrize(
    "body_headers", [("Content-Length: 100",), ("Transfer-Encoding: chunked",), ("Content-Length: 9", "Expect: x")]
)
def test_body_that_does_not_come_in_time_is_refused(body_headers: tuple[str, ...]) -> None:
    with limited(body=1) as running:
        assert status_of(exchange(running, creation(*body_headers))) == 408


def test_connection_without_requests_is_closed_after_the_idle_time() -> None:
    with limited(idle=1) as running:
        answer = exchange(running, head("GET", PAYERS))
    assert statuses(answer) == [200]


def must_be_served(connection: socket.socket) -> None:
    connection.sendall(head("GET", PAYERS, "Connection: close"))
    assert status_of(until_closed(connection)) == 200


@pytest.mark.parametrize(
    ("most", "others", "sent"), [(30, 100, b""), (5, 20, UNFINISHED)], ids=["silent", "in the middle of a body"]
)
def test_silent_connections_make_room_for_an_honest_one(most: int, others: int, sent: bytes) -> None:
    with limited(Connections(most=most)) as running, contextlib.ExitStack() as opened:
        for _ in range(others):
            opened.enter_context(connect(running)).sendall(sent)
        for _ in range(3):
            with connect(running) as honest:
                must_be_served(honest)


def test_more_silent_connections_than_files_do_not_stop_an_honest_one(tmp_path: Path) -> None:
    files = FILES_KEPT + 100
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, before[1]))
    with contextlib.ExitStack() as stack:
        try:
            process, ready = stack.enter_context(node_process(tmp_path / "ready.json"))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for _ in range(files + 50):
            stack.enter_context(connect_to(ready["base_url"]))
        with client(ready) as honest:
            assert honest.get(PAYERS).status_code == 200
        output = stopped(process)
    assert "Too many open files" not in output


class Fake:
    """A connection that does nothing but stand in the list."""

    def __init__(self, phase: Phase = Phase.SERVED) -> None:
        self.phase = phase
        self.end = ""

    def drop(self) -> None:
        self.end = "dropped"

    def refuse_body(self) -> None:
        self.end = "refused"


def test_connections_that_are_served_make_no_room() -> None:
    connections = Connections(most=2)
    served = [Fake(), Fake()]
    assert [connections.admit(fake) for fake in served] == [True, True]
    assert not connections.admit(Fake())
    connections.leave(served[0])
    assert connections.admit(Fake())
    assert [fake.end for fake in served] == ["", ""]


def test_room_is_made_by_who_is_silent_before_who_is_idle_before_who_is_sending() -> None:
    connections = Connections(most=4)
    phases = (Phase.SENDING, Phase.IDLE, Phase.SILENT, Phase.SILENT)
    first = [Fake(phase) for phase in phases]
    for fake in first:
        connections.admit(fake)
    order = []
    for _ in range(4):
        assert connections.admit(Fake())
        order.append(next(index for index, fake in enumerate(first) if fake.end and index not in order))
    assert order == [2, 3, 1, 0]


def test_unfinished_bodies_together_are_bounded_and_the_slowest_is_refused() -> None:
    connections = Connections(most=9, body_bytes=100)
    first, second, third = Fake(Phase.SENDING), Fake(Phase.SENDING), Fake(Phase.SENDING)
    connections.hold_body(first, 40)
    connections.hold_body(second, 40)
    connections.finish_body(first)
    connections.hold_body(third, 60)
    assert [fake.end for fake in (first, second, third)] == ["", "", ""]
    connections.hold_body(third, 1)
    assert [fake.end for fake in (first, second, third)] == ["", "refused", ""]


def test_unfinished_body_is_refused_where_all_hold_too_much() -> None:
    with limited(Connections(most=9, body_bytes=1000)) as running, connect(running) as slow:
        slow.sendall(UNFINISHED + b" " * 900)
        with connect(running) as other:
            other.sendall(UNFINISHED + b" " * 900)
            answer = until_closed(slow)
    assert status_of(answer) == 503
    assert b"too-many-bodies" in answer


@pytest.mark.parametrize("operation", ["add_group", "service_action", "billing/confirm_payment", "groups/1/actions"])
@pytest.mark.parametrize("headers", [(), ("X-Api-Key: nobodys",), ("X-Wallet-Auth: nonsense",)])
def test_body_without_a_key_that_counts_is_not_waited_for(
    running: Running, operation: str, headers: tuple[str, ...]
) -> None:
    sent = head("POST", f"/core/v1/{operation}", "Content-Length: 1000000", "Connection: close", *headers)
    assert status_of(exchange(running, sent + b"{")) == 401


def test_body_is_not_asked_for_where_the_key_does_not_count(running: Running) -> None:
    expecting = head("POST", "/core/v1/add_group", "Content-Length: 9", "Expect: 100-continue")
    assert statuses(exchange(running, expecting)) == [401]


def test_body_is_asked_for_where_the_client_expects_that(running: Running, account: str) -> None:
    body = json.dumps(NEW_GROUP).encode()
    expecting = head(
        "POST", "/core/v1/add_group", f"X-Api-Key: {account}", "Content-Type: application/json",
        f"Content-Length: {len(body)}", "Expect: 100-continue", "Connection: close",
    )  # fmt: skip
    with connect(running) as connection:
        connection.sendall(expecting)
        assert status_of(connection.recv(65536)) == 100
        connection.sendall(body)
        assert status_of(until_closed(connection)) == 200


def test_client_that_closes_its_half_gets_its_answer(running: Running) -> None:
    whole = creation(f"Content-Length: {len(NEW_ACCOUNT)}") + NEW_ACCOUNT
    with connect(running) as connection:
        connection.sendall(whole * 2)
        connection.shutdown(socket.SHUT_WR)
        answer = until_closed(connection)
    assert statuses(answer) == [200, 200]


def test_client_that_closes_its_half_in_a_body_is_told_so(running: Running) -> None:
    with connect(running) as connection:
        connection.sendall(UNFINISHED + b"{")
        connection.shutdown(socket.SHUT_WR)
        answer = until_closed(connection)
    assert status_of(answer) == 400
    assert b"body-incomplete" in answer


AMBIGUOUS = {
    "a length beside chunks": head("POST", PAYERS, "Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
    "chunks beside a length": head("POST", PAYERS, "transfer-encoding: chunked", "content-length: 5") + b"0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds": head("GET", PAYERS).replace(b"\r\n", b"\n"),
    "one bare line feed": f"GET {PAYERS} HTTP/1.1\r\nHost: 127.0.0.1\nX: a\r\n\r\n".encode(),
    "a bare line feed at the end": f"GET {PAYERS} HTTP/1.1\r\nHost: 127.0.0.1\r\n\n".encode(),
    "a folded header": head("GET", PAYERS, "X: a\r\n b"),
    "a header folded by a tab": head("GET", PAYERS, "X: a\r\n\tb"),
}


@pytest.mark.parametrize("sent", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_ambiguous_request_is_refused(running: Running, sent: bytes) -> None:
    answer = exchange(running, sent)
    assert status_of(answer) == 400
    assert b'"not-http"' in answer


CHUNKED = creation("Transfer-Encoding: chunked")
BODY_CHUNK = f"{len(NEW_ACCOUNT):x}".encode() + b"\r\n" + NEW_ACCOUNT + b"\r\n"
AMBIGUOUS_CHUNKS = {
    "a bare line feed after a size": b"1\n{\r\n",
    "a bare line feed in an extension": b"1;a\nb\r\n{\r\n",
    "a bare carriage return in an extension": b"1;a\rb\r\n{\r\n",
    "an extension without end": b"1;" + b"a" * 1000,
    "a long extension": b"1;" + b"a" * 1000 + b"\r\n{\r\n",
    "a bare line feed behind a chunk": b"1\r\n{\n",
    "a chunk longer than its size": b"1\r\n{{\r\n",
    "a signed size": b"+1\r\n{\r\n",
    "a size with a prefix": b"0x1\r\n{\r\n",
    "a bare line feed after the last chunk": BODY_CHUNK + b"0\n\r\n",
    "a bare line feed for trailers": BODY_CHUNK + b"0\r\n\n",
    "a trailer that ends with a bare line feed": BODY_CHUNK + b"0\r\nX: a\n\r\n",
    "trailers that end with a bare line feed": BODY_CHUNK + b"0\r\nX: a\r\n\n",
    "a folded trailer": BODY_CHUNK + b"0\r\nX: a\r\n b\r\n\r\n",
    "trailers without end": BODY_CHUNK + b"0\r\n" + b"X: a\r\n" * 20_000,
}


def send_chunked(connection: socket.socket, chunks: bytes, *, at_once: bool) -> None:
    """Send a chunked request, at once or with its head in two parts and its chunks byte by byte."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for part in [CHUNKED + chunks] if at_once else [CHUNKED[:20], CHUNKED[20:], *map(bytes, zip(chunks))]:
        connection.sendall(part)


AT_ONCE = pytest.mark.parametrize("at_once", [True, False], ids=["at once", "byte by byte"])


@pytest.mark.parametrize("sent", AMBIGUOUS_CHUNKS.values(), ids=AMBIGUOUS_CHUNKS)
@AT_ONCE
def test_ambiguous_chunks_are_refused(running: Running, sent: bytes, at_once: bool) -> None:
    with connect(running) as connection:
        with contextlib.suppress(ConnectionError):  # the node may have refused it before its end
            send_chunked(connection, sent, at_once=at_once or len(sent) > 2000)
        answer = until_closed(connection)
    assert status_of(answer) == 400


@pytest.mark.parametrize("trailers", [b"", b"X: a\r\n", b"X: a\r\nY: b\r\n"])
@AT_ONCE
def test_chunks_with_extensions_and_trailers_are_taken(running: Running, trailers: bytes, at_once: bool) -> None:
    pieces = NEW_ACCOUNT[:9], NEW_ACCOUNT[9:10], NEW_ACCOUNT[10:]
    chunks = [b"%x;a=b\r\n%s\r\n" % (len(piece), piece) for piece in pieces]
    sent = b"".join(chunks) + b"0;c\r\n" + trailers + b"\r\n"
    with connect(running) as connection:
        send_chunked(connection, sent, at_once=at_once)
        assert status_of(connection.recv(65536)) == 200


def test_ambiguous_request_behind_another_is_refused(running: Running) -> None:
    answer = exchange(running, head("GET", PAYERS) + AMBIGUOUS["bare line feeds"])
    assert statuses(answer) == [200, 400]


def test_requests_sent_at_once_are_answered_in_order(running: Running) -> None:
    paths = ("/core/v1/get_admin_api_payer", PAYERS, "/core/v1/nothing")
    sent = b"".join(head("GET", path) for path in paths[:-1]) + head("GET", paths[-1], "Connection: close")
    answer = exchange(running, sent)
    assert statuses(answer) == [200, 200, 404]


def test_silent_tls_connections_do_not_stop_an_honest_one() -> None:
    settings = Settings(port=0, tls_domain="node.example", tls_port=0)
    with serving(settings) as running, contextlib.ExitStack() as silent:
        for _ in range(300):
            silent.enter_context(connect_to(running.ready["https_url"]))
        context = ssl.create_default_context(cadata=running.ready["tls_root_certificate"])
        raw = silent.enter_context(connect_to(running.ready["https_url"]))
        with context.wrap_socket(raw, server_hostname="node.example") as honest:
            must_be_served(honest)
