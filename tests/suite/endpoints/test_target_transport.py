"""Answers that never end, that come packed or in odd charsets, and that want to be remembered."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

import pytest
from tiny_node import TinyNode, Told

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.patience import Patience
from conformance.endpoints.redaction import Secrets
from conformance.problems import BeyondLimits, Malformed, NoAnswerInTime, NodeSilent
from conformance.profile import Profile
from conformance.service.session import Session

OPERATION = "get_node_chain_config"


@contextmanager
def answering(told: Callable[[], Iterable[bytes]]) -> Iterator[str]:
    """A server that sends these bytes to whoever connects, each as it comes; its URL."""
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65_536)
                    for part in told():
                        if over.is_set():
                            break
                        connection.sendall(part)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            with suppress(OSError):
                socket.create_connection(listening.getsockname()).close()
            thread.join()


def again_and_again(part: bytes, begin: bytes = b"") -> Iterator[bytes]:
    yield begin
    while True:
        yield part
        time.sleep(0.02)


def asked(url: str, seconds: float = 5.0) -> Answer:
    with Target(url, Profile(), patience=Patience(seconds)) as target:
        operation = target.operation(OPERATION)
        return target.exchange(Message("GET", "/x", {}, None), ExchangeLog(Secrets()), operation)


ENDLESS: dict[str, Callable[[], Iterator[bytes]]] = {
    "informational answers": lambda: again_and_again(b"HTTP/1.1 102 Processing\r\n\r\n"),
    "a header": lambda: again_and_again(b"a", b"HTTP/1.1 200 OK\r\nX: "),
    "a body": lambda: again_and_again(b" ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
}


@pytest.mark.parametrize("told", ENDLESS.values(), ids=ENDLESS)
def test_answer_that_comes_in_drops_is_none_in_time(told: Callable[[], Iterator[bytes]]) -> None:
    began = time.monotonic()
    with answering(told) as url, pytest.raises(NoAnswerInTime):
        asked(url, 2.0)  # a busy machine may take a second to connect
    assert time.monotonic() - began < 30


def packed(raw: bytes, encoding: str, media: str = "application/json") -> Callable[[], list[bytes]]:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(raw)}\r\n"
    return lambda: [f"{head}\r\n".encode() + raw]


JSON = json.dumps({"chain_id": 5, "contract_address": "é"}, ensure_ascii=False).encode()


def test_answer_that_a_gateway_packs_is_read() -> None:
    with answering(packed(gzip.compress(JSON), "gzip")) as url:
        assert asked(url).text == JSON.decode()


def plain_body(raw: bytes) -> list[bytes]:
    return [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(raw), raw]


BOMB = zlib.compressobj(9, wbits=31)
BOMBED = b"".join(BOMB.compress(b" " * 1_000_000) for _ in range(40)) + BOMB.flush()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (packed(BOMBED, "gzip")(), "unpacks to more than"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", b"X: y\r\n" * 300, b"\r\n"], "301 headers"),
        ([b"HTTP/1.1 200 OK\r\nX: ", b"y" * 200_000], "bytes of headers"),
    ],
    ids=["bomb", "many headers", "long header"],
)
def test_answer_beyond_the_limits_is_given_up(answer: Iterable[bytes], why: str) -> None:
    with answering(lambda: answer) as url, pytest.raises(BeyondLimits, match=why):
        asked(url)


def test_long_answers_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LONG_ANSWER", 1_000), ("MOST_OF_LONG_ANSWERS", 5_000)):
        monkeypatch.setattr(f"conformance.endpoints.bodies.{name}", value)
    long = gzip.compress(b" " * 3_000)
    with answering(packed(long, "gzip")) as url, Target(url, Profile(), patience=Patience(5.0)) as target:
        message, log = Message("GET", "/x", {}, None), ExchangeLog(Secrets())
        for _ in range(2):
            assert len(target.exchange(message, log).text) == 3_000
        with pytest.raises(BeyondLimits, match="more than 1000 bytes, since so many answers were long"):
            target.exchange(message, log)


def test_answers_of_a_case_together_have_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.log.MOST_OF_A_CASE", 1_000_000)
    objects = b"[" + b"{}," * 3_000 + b"{}]"  # 9 kB of text, and 600 kB for Python
    with answering(lambda: plain_body(objects)) as url, Target(url, Profile(), patience=Patience(5.0)) as target:
        message, log = Message("GET", "/x", {}, None), ExchangeLog(Secrets())
        assert len(target.exchange(message, log).text) == len(objects)
        for _ in range(2):
            with pytest.raises(BeyondLimits, match="answers of one case that take more than 1000000 bytes of memory"):
                target.exchange(message, log)
        assert len(target.exchange(message, ExchangeLog(Secrets())).text) == len(objects)
        log.forget()
        assert len(target.exchange(message, log).text) == len(objects)


def test_answers_of_a_run_are_small_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SMALL_ANSWER", 10_000), ("MOST_OF_A_RUN", 100_000)):
        monkeypatch.setattr(f"conformance.endpoints.bodies.{name}", value)
    sizes = itertools.chain([60_000, 60_000, 9_900, 10_001, *[1_000] * 7, 30_000], itertools.repeat(0))
    with (
        answering(lambda: plain_body(b"a" * next(sizes))) as url,
        Target(url, Profile(), patience=Patience(5.0)) as target,
    ):

        def length() -> int:
            return len(target.exchange(Message("GET", "/x", {}, None), ExchangeLog(Secrets())).text)

        assert [length() for _ in range(3)] == [60_000, 60_000, 9_900]
        with pytest.raises(BeyondLimits, match="more than 10000 bytes, since so many answers were long"):
            length()
        assert [length() for _ in range(8)] == [1_000] * 7 + [30_000]


@pytest.mark.parametrize(
    ("raw", "encoding", "why"),
    [
        (gzip.compress(gzip.compress(JSON)), "gzip, gzip", "identity was asked for"),
        (JSON, "br", "identity was asked for"),
        (JSON, "gzip", "no gzip"),
        (gzip.compress(JSON)[:-12], "gzip", "beginning of a gzip file"),
    ],
    ids=["twice", "brotli", "not-packed", "cut-off"],
)
def test_answer_packed_otherwise_is_not_read(raw: bytes, encoding: str, why: str) -> None:
    with answering(packed(raw, encoding)) as url:
        answer = asked(url)
    assert len(answer.text) <= len(raw)
    with pytest.raises(Malformed, match=why):
        _ = answer.value


CHARSETS = ["iso-8859-1", "utf-16", "hex", "zlib", "rot13", "idna", "punycode", "undefined", "nonsense", "'", "utf-8"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_json_is_utf_8_whatever_its_label_says(charset: str) -> None:
    with answering(packed(JSON, "identity", f"application/json; charset={charset}")) as url:
        assert asked(url).at(("contract_address",)) == "é"


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("raw", [JSON.decode().encode("iso-8859-1"), JSON + b"\xff", b"\xff"])
def test_what_is_no_utf_8_is_no_json(raw: bytes, charset: str) -> None:
    with answering(packed(raw, "identity", f"application/json; charset={charset}")) as url:
        answer = asked(url)
    with pytest.raises(Malformed, match="no UTF-8"):
        _ = answer.value


def test_page_is_read_by_its_label() -> None:
    with answering(packed("<html>é".encode("iso-8859-1"), "", "text/html; charset=iso-8859-1")) as url:
        assert asked(url).text == "<html>é"


def test_cookies_are_not_kept(node: TinyNode) -> None:
    node.faults[OPERATION] = lambda _: Told(200, {}, {"Set-Cookie": "session=1; Path=/"})
    with Target(node.url, Profile()) as target:
        session = Session(target, "pack::case")
        for _ in range(2):
            session.call(OPERATION)
    assert [request.headers.get("cookie") for request in node.asked] == [None, None]
    assert node.asked[0].headers["accept-encoding"] == "identity"


def test_node_that_puts_off_every_request_is_silent(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.client.LONGEST_WAIT_SECONDS", 0.3)
    node.faults[OPERATION] = lambda _: Told(429, headers={"Retry-After": "0"})
    with Target(node.url, Profile(), patience=Patience(most=2)) as target:
        log, message = ExchangeLog(Secrets()), Message("GET", f"/core/v1/{OPERATION}", {}, None)
        for _ in range(2):
            assert target.exchange(message, log).status == 429
        with pytest.raises(NodeSilent):
            target.exchange(message, log)


def test_run_that_is_ended_waits_for_nothing_any_more(node: TinyNode) -> None:
    node.faults[OPERATION] = node.hang
    with Target(node.url, Profile()) as target:
        log, message = ExchangeLog(Secrets()), Message("GET", f"/core/v1/{OPERATION}", {}, None)
        target.end_within(0.3)
        with pytest.raises(NoAnswerInTime):
            target.exchange(message, log)
        with pytest.raises(NodeSilent):
            target.exchange(message, log)


@pytest.mark.parametrize("location", ["javascript:alert(1)", "http://[", "//", "http://127.0.0.1:1/x"])
def test_redirect_is_an_answer_wherever_it_leads(location: str) -> None:
    raw = b"HTTP/1.1 308 Moved\r\nContent-Length: 0\r\nConnection: close\r\nLocation: %s\r\n\r\n" % location.encode()
    with answering(lambda: [raw]) as url:
        answer = asked(url)

    assert (answer.status, answer.headers["location"]) == (308, location)
