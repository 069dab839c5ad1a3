"""Answers that come in drops, that come packed or in odd charsets, and that want to be remembered."""

from __future__ import annotations

import gzip
import itertools
import json
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from hostile_connections import SLOW, Connection
from http_server import serve
from tiny_node import TinyNode, always

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.patience import Patience
from conformance.endpoints.redaction import Secrets
from conformance.problems import BeyondLimits, Malformed, NoAnswerInTime, NodeSilent
from conformance.profile import Profile
from conformance.service import Session

OPERATION = "get_node_chain_config"


def answering(told: Callable[[], bytes]) -> AbstractContextManager[str]:
    """A server that sends these bytes to whoever asks; its address."""
    return serve(lambda _: lambda connection: connection.sendall(told()))


def target_at(url: str, seconds: float = 5.0) -> Target:
    return Target(url, Profile(), patience=Patience(seconds))


def get(target: Target, log: ExchangeLog | None = None) -> Answer:
    """The answer to a request, which stands in this log or in one of its own."""
    message = Message("GET", f"/core/v1/{OPERATION}", {}, None)
    return target.exchange(message, ExchangeLog(Secrets()) if log is None else log, target.operation(OPERATION))


def asked(url: str, seconds: float = 5.0) -> Answer:
    with target_at(url, seconds) as target:
        return get(target)


@pytest.mark.parametrize("name", ["drips a header", "drips its body", "drips 1xx"])
def test_answer_that_comes_in_drops_is_none_in_time(name: str) -> None:
    stopped, began = threading.Event(), time.monotonic()
    with serve(lambda _: lambda connection: SLOW[name](Connection(connection, stopped))) as url:
        with pytest.raises(NoAnswerInTime):
            asked(url, 2.0)  # a busy machine may take a second to connect
        stopped.set()
    assert time.monotonic() - began < 30


def packed(raw: bytes, encoding: str, media: str = "application/json") -> Callable[[], bytes]:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(raw)}\r\n"
    return lambda: f"{head}\r\n".encode() + raw


JSON = json.dumps({"chain_id": 5, "contract_address": "é"}, ensure_ascii=False).encode()


def test_answer_that_a_gateway_packs_is_read() -> None:
    with answering(packed(gzip.compress(JSON), "gzip")) as url:
        assert asked(url).text == JSON.decode()


def plain_body(raw: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(raw), raw)


def test_long_answers_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LONG_ANSWER", 1_000), ("MOST_OF_LONG_ANSWERS", 5_000)):
        monkeypatch.setattr(f"conformance.endpoints.bodies.{name}", value)
    long = gzip.compress(b" " * 3_000)
    with answering(packed(long, "gzip")) as url, target_at(url) as target:
        for _ in range(2):
            assert len(get(target).text) == 3_000
        with pytest.raises(BeyondLimits, match="more than 1000 bytes, since so many answers were long"):
            get(target)


def test_answers_of_a_case_together_have_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.log.MOST_OF_A_CASE", 1_000_000)
    objects = b"[" + b"{}," * 3_000 + b"{}]"  # 9 kB of text, and 600 kB for Python
    with answering(lambda: plain_body(objects)) as url, target_at(url) as target:
        log = ExchangeLog(Secrets())
        assert len(get(target, log).text) == len(objects)
        for _ in range(2):
            with pytest.raises(BeyondLimits, match="answers of one case that take more than 1000000 bytes of memory"):
                get(target, log)
        assert len(get(target).text) == len(objects)
        log.forget()
        assert len(get(target, log).text) == len(objects)


def test_answers_of_a_run_are_small_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SMALL_ANSWER", 10_000), ("MOST_OF_A_RUN", 100_000)):
        monkeypatch.setattr(f"conformance.endpoints.bodies.{name}", value)
    sizes = itertools.chain([60_000, 60_000, 9_900, 10_001, *[1_000] * 7, 30_000], itertools.repeat(0))
    with answering(lambda: plain_body(b"a" * next(sizes))) as url, target_at(url) as target:
        assert [len(get(target).text) for _ in range(3)] == [60_000, 60_000, 9_900]
        with pytest.raises(BeyondLimits, match="more than 10000 bytes, since so many answers were long"):
            get(target)
        assert [len(get(target).text) for _ in range(8)] == [1_000] * 7 + [30_000]


CHARSETS = ["iso-8859-1", "utf-16", "hex", "zlib", "rot13", "idna", "punycode", "undefined", "nonsense", "'", "utf-8"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_json_is_utf_8_whatever_its_label_says(charset: str) -> None:
    with answering(packed(JSON, "identity", f"application/json; charset={charset}")) as url:
        assert asked(url).at(("contract_address",)) == "é"


@pytest.mark.parametrize("charset", CHARSETS)
def test_what_is_no_utf_8_is_no_json(charset: str) -> None:
    raw = JSON.decode().encode("iso-8859-1")
    with answering(packed(raw, "identity", f"application/json; charset={charset}")) as url:
        answer = asked(url)
    with pytest.raises(Malformed, match="no UTF-8"):
        _ = answer.value


def test_page_is_read_by_its_label() -> None:
    with answering(packed("<html>é".encode("iso-8859-1"), "", "text/html; charset=iso-8859-1")) as url:
        assert asked(url).text == "<html>é"


def test_cookies_are_not_kept(node: TinyNode, session: Session) -> None:
    node.faults[OPERATION] = always(200, {}, Set_Cookie="session=1; Path=/")
    for _ in range(2):
        session.call(OPERATION)
    assert [request.headers.get("cookie") for request in node.asked] == [None, None]
    assert node.asked[0].headers["accept-encoding"] == "identity"


def test_node_that_puts_off_every_request_is_silent(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.client.LONGEST_WAIT_SECONDS", 0.3)
    node.faults[OPERATION] = always(429, Retry_After="0")
    with Target(node.url, Profile(), patience=Patience(most=2)) as target:
        for _ in range(2):
            assert get(target).status == 429
        with pytest.raises(NodeSilent):
            get(target)


def test_run_that_is_ended_waits_for_nothing_any_more(node: TinyNode, target: Target) -> None:
    node.faults[OPERATION] = node.hang
    target.end_within(0.3)
    with pytest.raises(NoAnswerInTime):
        get(target)
    with pytest.raises(NodeSilent):
        get(target)
