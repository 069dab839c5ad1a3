"""A process whose engine is broken can send anything. It can lie about its own run, and nothing else."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Mapping

import pytest

from reference_node.sandbox import Limits, RunResult, SandboxBroken
from reference_node.sandbox.conversation import Conversation
from reference_node.sandbox.frames import HEADER, Kind, frame
from reference_node.sandbox.stream import Stream
from reference_node.strict_json import Json

LIMITS = Limits(host_calls=3)
SHORT = Limits(wall_seconds=0.2)
BEGUN = frame(Kind.BEGUN, b"")


def converse(
    sent: bytes, *, silent: bool = False, limits: Limits = LIMITS, calls: list[object] | None = None
) -> RunResult:
    """The node's side of a run whose process sends these bytes, then ends, or stays and is silent."""

    def host(name: str, argument: Mapping[str, Json]) -> Json:
        if calls is not None:
            calls.append((name, argument))
        return "answer"

    ours, theirs = socket.socketpair()
    writer = threading.Thread(target=_write, args=(theirs, sent, silent))
    writer.start()
    try:
        with ours:
            conversation = Conversation(Stream(ours, limits.frame_bytes), limits, host, None)
            conversation.begin("code", "{}")
            return conversation.finish()
    finally:
        theirs.close()
        writer.join()


def _write(end: socket.socket, sent: bytes, silent: bool) -> None:
    try:
        end.sendall(sent)
        if not silent:
            end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the node has hung up, as it should


def call(*parts: object) -> bytes:
    return frame(Kind.CALL, json.dumps(parts).encode())


RESPONSE = frame(Kind.RESPONSE, b'"done"')
DEEP = b"[" * 100_000 + b"]" * 100_000

BROKEN = {
    "a length beyond all limits": struct.pack(">IB", 2**32 - 1, Kind.RESPONSE),
    "a length just beyond the limit": HEADER.pack(LIMITS.frame_bytes + 1, Kind.LOG),
    "an unknown kind": frame(Kind.RESPONSE, b"1")[:4] + b"\xff" + b"1",
    "a kind that only the node sends": frame(Kind.ANSWER, b"{}"),
    "beginning twice": BEGUN,
    "a response that is no JSON": frame(Kind.RESPONSE, b'1,"has_error":false'),
    "a response of two values": frame(Kind.RESPONSE, b"{}{}"),
    "a response that is not UTF-8": frame(Kind.RESPONSE, b'"\xff'),
    "a response of NaN": frame(Kind.RESPONSE, b"NaN"),
    "an empty response": frame(Kind.RESPONSE, b""),
    "a number without end": frame(Kind.RESPONSE, b"9" * 100_000),
    "a log that is no text": frame(Kind.LOG, b"[1]"),
    "a log that is no JSON": frame(Kind.LOG, b"plain"),
    "a deep log": frame(Kind.LOG, DEEP),
    "an error that is no text": frame(Kind.ERROR, b"{}"),
    "a call without parts": frame(Kind.CALL, b"{}"),
    "a deep call": frame(Kind.CALL, b'[1,"signMessage",' + DEEP + b"]"),
    "a call of something else": call(1, "shutdown", {}),
    "a call of an attribute": call(1, "__init__", {}),
    "a call without an object": call(1, "signMessage", "text"),
    "a call with a text for a number": call("1", "signMessage", {}),
    "a call with too much": call(1, "signMessage", {}, 1),
}


@pytest.mark.parametrize("what", BROKEN)
def test_frame_that_no_honest_run_sends_ends_the_run(what: str) -> None:
    calls: list[object] = []
    result = converse(BEGUN + BROKEN[what] + RESPONSE, calls=calls)
    assert result.has_error
    assert result.response is None
    assert calls == []
    assert "broke a rule of the sandbox" in result.logs


def test_deep_response_is_refused() -> None:
    result = converse(BEGUN + frame(Kind.RESPONSE, DEEP))
    assert result.logs == "the response nests too deep: the limit is 500 levels"


@pytest.mark.parametrize(
    "sent", [b"", b"\0", HEADER.pack(10, Kind.RESPONSE), HEADER.pack(10, Kind.RESPONSE) + b"12345"]
)
def test_process_that_ends_in_the_middle_is_an_error_of_the_run(sent: bytes) -> None:
    result = converse(BEGUN + sent)
    assert result.logs == "the run's process died: it used up its memory or broke a rule of the sandbox"


@pytest.mark.parametrize("sent", [b"", b"\0", HEADER.pack(10, Kind.RESPONSE) + b"12345"])
def test_process_that_falls_silent_is_cut_off(sent: bytes) -> None:
    result = converse(BEGUN + sent, silent=True, limits=SHORT)
    assert result.logs == "the run took too long: the limit is 0.2 s"


def test_calls_are_counted_by_the_node() -> None:
    calls: list[object] = []
    result = converse(BEGUN + b"".join(call(1, "signMessage", {"n": n}) for n in range(50)), silent=True, calls=calls)
    assert len(calls) == LIMITS.host_calls
    assert result.logs == "too many uses of wallets: the limit is 3 in one run"


def test_node_does_not_wait_for_a_process_that_reads_nothing() -> None:
    limits = Limits(wall_seconds=1.0, host_calls=100_000)
    flood = b"".join(call(n, "signMessage", {}) for n in range(20_000))
    assert not converse(BEGUN + flood + RESPONSE, silent=True, limits=Limits(host_calls=100_000)).has_error
    assert converse(BEGUN + flood, silent=True, limits=limits).has_error


def test_logs_are_bounded_by_the_node() -> None:
    line = frame(Kind.LOG, json.dumps("x" * 1000).encode())
    result = converse(BEGUN + line * 500 + RESPONSE)
    assert len(result.logs) < LIMITS.log_bytes + 100
    assert not result.has_error


def test_all_that_a_run_sends_is_bounded() -> None:
    line = frame(Kind.LOG, json.dumps("x" * 1000).encode())
    limits = Limits(sent_bytes=100_000, log_bytes=10_000)
    assert converse(BEGUN + line * 200, limits=limits).logs.endswith("the run sent too much: the limit is 100000 bytes")


def test_argument_is_measured_by_the_node() -> None:
    calls: list[object] = []
    limits = Limits(argument_bytes=1000)
    assert not converse(
        BEGUN + call(1, "signMessage", {"m": "x" * 980}) + RESPONSE, limits=limits, calls=calls
    ).has_error
    assert len(calls) == 1
    over = converse(BEGUN + call(1, "signMessage", {"m": "x" * 1100}) + RESPONSE, limits=limits, calls=calls)
    assert over.logs == "an argument is too long: the limit is 1000 bytes of JSON"
    assert len(calls) == 1


def test_empty_lines_without_end_are_a_broken_rule() -> None:
    result = converse(BEGUN + frame(Kind.LOG, b'""') * 10, limits=Limits(log_bytes=5))
    assert "broke a rule of the sandbox" in result.logs


def test_half_surrogate_pairs_in_logs_become_text() -> None:
    result = converse(BEGUN + frame(Kind.LOG, b'"a\\ud800b"') + frame(Kind.ERROR, b'"c\\udfff"'))
    assert result.logs.encode()


def test_long_error_is_cut() -> None:
    result = converse(BEGUN + frame(Kind.ERROR, json.dumps("x" * 100_000).encode()))
    assert len(result.logs) == LIMITS.error_bytes


def test_nothing_after_the_response_counts() -> None:
    result = converse(BEGUN + RESPONSE + frame(Kind.ERROR, b'"late"') + frame(Kind.LOG, b'"late"'))
    assert (result.response, result.logs) == ('"done"', "")


@pytest.mark.parametrize("sent", [RESPONSE, frame(Kind.BEGUN, b"x"), HEADER.pack(2**32 - 1, Kind.BEGUN)])
def test_process_that_does_not_begin_with_being_ready_is_broken(sent: bytes) -> None:
    with pytest.raises(SandboxBroken):
        converse(sent)


def test_process_that_never_becomes_ready_is_broken() -> None:
    with pytest.raises(EOFError):
        converse(b"")
