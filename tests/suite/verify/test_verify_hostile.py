"""Whoever `verify` asks lies, hangs, drips, redirects or sends without an end: it ends, and says what failed where."""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import dns.rcode
import hostile_servers as servers
import pytest
from hostile_connections import BROKEN, HANDSHAKES, LARGE, REDIRECTS, SLOW, Behaviour, Connection, body, redirect
from hostile_servers import Hostile, hostile, hostile_resolver
from made_evidence import AT, DOMAIN, HONEST
from made_evidence import POLICY as WITHOUT_TIME
from served_evidence import PCCS, Service, serving

from conformance.verify import FetchError, Limits, Sources, Verified, fetch_and_verify, save_folder
from conformance.verify.fetching import API_PATH

POLICY = replace(WITHOUT_TIME, at=AT)
COLLATERAL = HONEST["collateral.json"]
SHORT = Limits(answer_seconds=2)
"""For peers that never end an answer."""
SMALL = Limits(answer_bytes=500_000)
"""For those that send much."""
WATCHDOG_SECONDS = 120
MEMORY_BYTES = 1024 * 1024 * 1024
"""Of addresses, for a command under attack; it takes a third of them on its own."""

TCB, IDENTITY = "/tdx/certification/v4/tcb", "/tdx/certification/v4/qe/identity"
PLACES = ("/info", API_PATH, TCB, "chain")
"""A path of the service, one of the collateral service, or the chain's JSON-RPC."""


def at_places(behaviours: Iterable[str], places: Sequence[str] = PLACES) -> pytest.MarkDecorator:
    """Each behaviour at one of the places, in turn: whatever is asked, one `Transport` asks it."""
    pairs = [*zip(behaviours, itertools.cycle(places), strict=False)]
    return pytest.mark.parametrize(("behaviour", "place"), pairs)


@pytest.fixture(autouse=True)
def _watchdog() -> Iterator[None]:
    """Ends a test that hangs, in whatever it hangs."""

    def bark(*_: object) -> None:
        raise AssertionError(f"no end after {WATCHDOG_SECONDS} s")

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(WATCHDOG_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@contextmanager
def surroundings(place: str, behaviour: Behaviour) -> Iterator[tuple[str, Sources]]:
    """A service, its collateral service and its chain, one of which has a behaviour at a place."""
    service = Service(HONEST, dict(PCCS))
    of_chain, of_service = place == "chain", place.startswith(("/info", "/evidences", "/core"))
    with serving(service) as sound, hostile(Hostile(behaviour, service, "" if of_chain else place)) as lying:
        pccs = sound.url if of_service or of_chain else lying.url
        sources = Sources(pccs=pccs, rpc_url=lying.url if of_chain else None, gateway_domain=DOMAIN)
        yield (lying.url if of_service else sound.url), sources


def told(place: str, behaviour: Behaviour, limits: Limits | None = None) -> str:
    """What is said where nothing can be said."""
    with surroundings(place, behaviour) as (url, sources), pytest.raises(FetchError) as raised:
        fetch_and_verify(url, POLICY, sources, limits)
    text = str(raised.value)
    assert text.isprintable()
    assert len(text) < 700
    assert "http://127.0.0.1:" in text
    assert place in text or place == "chain"
    return text


@at_places(SLOW)
def test_answer_that_never_ends_is_given_up(place: str, behaviour: str) -> None:
    assert "did not answer within 2 s" in told(place, SLOW[behaviour], SHORT)


@at_places(LARGE)
def test_answer_without_measure_is_given_up(place: str, behaviour: str) -> None:
    served, said = LARGE[behaviour]
    assert said in told(place, served, SMALL)


@at_places(BROKEN)
def test_answer_that_is_broken_is_no_verdict(place: str, behaviour: str) -> None:
    served, said = BROKEN[behaviour]
    assert said in told(place, served)


@at_places(REDIRECTS, ("/info", TCB))
def test_redirect_is_followed_within_the_origin_a_few_times(place: str, behaviour: str) -> None:
    served, said = REDIRECTS[behaviour]
    here = {"redirects without an end": redirect(place), "redirects far": redirect(f"{place}?{'x' * 60_000}")}
    assert said in told(place, here.get(behaviour, served))


def test_redirect_of_the_chain_is_not_followed() -> None:
    assert "answers with status 302" in told("chain", redirect("/"))


def test_service_whose_api_is_elsewhere_is_judged() -> None:
    with surroundings(API_PATH, redirect("http://127.0.0.1:1/")) as (url, sources):
        _, verified = fetch_and_verify(url, POLICY, sources)
    assert verified.accepted, verified.findings


@at_places([*HANDSHAKES, "silent in the handshake"], ("service", "collateral", "chain"))
def test_handshake_that_never_ends_is_given_up(place: str, behaviour: str) -> None:
    with servers.hostile_in_the_handshake(HANDSHAKES[behaviour]) as url, serving(Service(HONEST)) as sound:
        sources = Sources(
            pccs=url,
            collateral=None if place == "collateral" else COLLATERAL,
            rpc_url=url if place == "chain" else None,
            ask_dns=False,
        )
        with pytest.raises(FetchError, match=rf"{url}.* did not answer within 2 s"):
            fetch_and_verify(url if place == "service" else sound.url, POLICY, sources, SHORT)


# all answers together


def test_time_for_all_answers_is_bounded() -> None:
    """No answer takes long, but there are many."""
    slowly: Behaviour = lambda connection: (connection.stopped.wait(0.05), body(b"", "Connection: close")(connection))  # noqa: E731
    with hostile(Hostile(slowly)) as server, pytest.raises(FetchError) as raised:
        fetch_and_verify(server.url, POLICY, Sources(ask_dns=False), Limits(total_seconds=0.12))
    assert "did not answer within the 0.12 s for all answers together" in str(raised.value)
    assert len(server.requests) < 5


def test_bytes_of_all_answers_are_bounded() -> None:
    with (
        hostile(Hostile(body(b"x" * 100_000, "Connection: close"))) as server,
        pytest.raises(FetchError, match="it sends more than"),
    ):
        fetch_and_verify(server.url, POLICY, Sources(ask_dns=False), Limits(total_bytes=250_000))
    assert len(server.requests) == 3


def test_number_of_files_is_bounded() -> None:
    service = Service(HONEST)
    service.answers["/evidences/"] = (200, {}, b"".join(b"<a href='%d.txt'>x</a>" % n for n in range(50_000)))
    with serving(service), pytest.raises(FetchError):
        fetch_and_verify(service.url, POLICY, Sources(pccs=service.url))
    assert len(service.requests) < 50


def test_second_fetch_has_what_the_first_one_left() -> None:
    service = Service(HONEST)
    service.answers["/evidences/sha256sum.txt"] = (200, {}, b"0" * 64 + b"  quote.json\n")
    with serving(service):
        sources = Sources(collateral=COLLATERAL)
        size = sum(len(text) for name, text in HONEST.items() if name.startswith(("info", "att", "evidences")))
        with pytest.raises(FetchError, match="it sends more than"):
            fetch_and_verify(service.url, POLICY, sources, Limits(total_bytes=size + size // 2))
    assert service.requests.count("/info") == 2


# what is false, but an answer

FALSE = {
    "no JSON": b"<html>",
    "nothing": b"",
    "other JSON": b"[1]",
    "deep JSON": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "huge number": b'{"app_id": ' + b"9" * 400_000 + b"}",
    "huge exponent": b'{"app_id": 1e999999999}',
    "members twice": b'{"app_id": "", "app_id": ""}',
    "no UTF-8": b'{"app_id": "\xff"}',
    "many empty lists": b"[" + b"[]," * 100_000 + b"[]]",
}
"""Bodies that are no answer of the protocol."""


@pytest.mark.parametrize(
    ("place", "text"),
    [*((TCB, text) for text in FALSE), *((place, "no JSON") for place in ("pckcrl", IDENTITY, "rootcacrl"))],
)
def test_what_the_collateral_service_says_falsely_is_no_verdict(place: str, text: str) -> None:
    headers = {name: value for path, answer in PCCS.items() if place in path for name, value in answer[1].items()}
    served = body(FALSE[text], *(f"{name}: {value}" for name, value in headers.items()))
    with surroundings(place, served) as (url, sources), pytest.raises(FetchError) as raised:
        fetch_and_verify(url, POLICY, sources)
    assert sources.pccs in str(raised.value)
    assert "collateral" in str(raised.value)


LIES: dict[str, tuple[object, str]] = {
    "another id": ({"id": 2, "result": f"0x{1:064x}"}, "its id is not 1"),
    "no id": ({"result": f"0x{1:064x}"}, "its id is not 1"),
    "true as id": ({"id": True, "result": f"0x{1:064x}"}, "its id is not 1"),
    "no result": ({"id": 1}, "neither a result nor an error"),
    "no data": ({"id": 1, "result": True}, "something else than data in hex"),
    "null": ({"id": 1, "result": None}, "something else than data in hex"),
    "odd digits": ({"id": 1, "result": "0x1"}, "something else than data in hex"),
    "line breaks": ({"id": 1, "result": f"0x{1:064x}\n"}, "something else than data in hex"),
    "rate": ({"id": 1, "error": {"code": -32005, "message": "limit exceeded\n\x1b[2J"}}, "limit exceeded"),
    "unknown method": ({"id": 1, "error": {"code": -32601, "message": "no such method"}}, "no such method"),
    "text as error": ({"id": 1, "error": "x" * 100_000}, "with the error"),
}


@pytest.mark.parametrize("text", FALSE)
def test_what_the_chain_says_falsely_is_no_verdict(text: str) -> None:
    assert "answers eth_call with n" in told("chain", body(FALSE[text]))


@pytest.mark.parametrize("lie", LIES)
def test_answer_of_the_chain_that_says_nothing_of_the_contract_is_no_verdict(lie: str) -> None:
    answer, said = LIES[lie]
    assert said in told("chain", body(json.dumps(answer).encode()))


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 1, "result": "0x"},
        {"id": 1, "result": "0x" + "11" * 100_000},
        {"id": 1, "error": {"code": 3, "message": "execution reverted", "data": "0x"}},
        {"id": 1, "error": {"code": -32000, "message": "execution reverted"}},
    ],
    ids=["nothing", "much", "reverted", "reverted in words"],
)
def test_what_the_contract_answers_is_a_verdict(answer: object) -> None:
    with surroundings("chain", body(json.dumps(answer).encode())) as (url, sources):
        _, verified = fetch_and_verify(url, POLICY, sources)
    assert {finding.code for finding in verified.findings if finding.severity == "refused"} == {
        "compose-hash-not-allowed"
    }


def test_collateral_that_is_changed_after_it_is_signed_is_no_verdict() -> None:
    answers = dict(PCCS)
    path = next(path for path in answers if TCB in path)
    status, headers, text = answers[path]
    assert text.count(b'"OutOfDate"')
    answers[path] = status, headers, text.replace(b'"OutOfDate"', b'"UpToDate"')
    with serving(Service(HONEST, answers)) as service, pytest.raises(FetchError) as raised:
        fetch_and_verify(service.url, POLICY, Sources(pccs=service.url))
    assert f"the collateral from {service.url} proves nothing" in str(raised.value)
    assert "the signature of collateral.json: tcb_info does not verify" in str(raised.value)


# the resolver


def _dripping(connection: Connection, _: bytes) -> None:
    connection.drip(iter([b"\xff\xff", *[b"x"] * 60_000]))


RESOLVERS: dict[str, tuple[Callable[[], AbstractContextManager[str]], str]] = {
    "silent": (partial(hostile_resolver, lambda _: None), "TIMEOUT"),
    "truncated and dripping over TCP": (partial(hostile_resolver, servers.truncated, _dripping), "TIMEOUT"),
    "aliases in a circle": (partial(hostile_resolver, servers.alias_loop), "FORMERR|SERVFAIL|TIMEOUT"),
    "aliases without an end": (partial(hostile_resolver, servers.aliases_without_an_end), "FORMERR"),
    "failing": (partial(hostile_resolver, servers.failing(dns.rcode.SERVFAIL)), "SERVFAIL"),
    "flooding with other answers": (partial(hostile_resolver, servers.wrong_id, times=5_000), "TIMEOUT"),
}


def resolved(resolver: str, limits: Limits) -> Verified:
    with serving(Service(HONEST)) as service:
        sources = Sources(collateral=COLLATERAL, resolver=resolver, gateway_domain=DOMAIN)
        return fetch_and_verify(service.url, POLICY, sources, limits)[1]


@pytest.mark.parametrize("behaviour", RESOLVERS)
def test_resolver_that_tells_nothing_is_no_verdict(behaviour: str) -> None:
    resolving, said = RESOLVERS[behaviour]
    with resolving() as resolver, pytest.raises(FetchError) as raised:
        resolved(resolver, SHORT)
    assert re.fullmatch(rf"the resolver {resolver} gives no CAA records of {DOMAIN}: ({said})", str(raised.value))


def test_more_records_than_any_domain_has_are_no_verdict() -> None:
    def answer(connection: Connection, message: bytes) -> None:
        connection.send(len(message).to_bytes(2, "big"), message)
        connection.wait()

    with (
        hostile_resolver(servers.truncated, answer) as resolver,
        pytest.raises(FetchError, match="TOO-MANY-RECORDS"),
    ):
        resolved(resolver, Limits())


# the command

GIGABYTES = (("/info", "headers without an end"), ("chain", "gzip bomb"))


def command(url: str, sources: Sources, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command under a bound on its memory."""
    save_folder(HONEST, folder)
    options = [url, "--root", str(folder / "root.pem"), "--pccs", sources.pccs, "--at", str(AT)]
    options += [] if sources.rpc_url is None else ["--rpc-url", sources.rpc_url]
    return subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-m", "conformance", "verify", *options],
        env={**os.environ, "MALLOC_ARENA_MAX": "2"},
        capture_output=True,
        text=True,
        timeout=WATCHDOG_SECONDS,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )


@pytest.mark.parametrize(("place", "behaviour"), GIGABYTES)
def test_command_ends_within_its_memory_with_no_verdict(place: str, behaviour: str, tmp_path: Path) -> None:
    served, said = LARGE[behaviour]
    with surroundings(place, served) as (url, sources):
        done = command(url, sources, tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("service-conformance verify: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_command_with_sound_sources_verifies_within_its_memory(tmp_path: Path) -> None:
    with surroundings("nowhere", body(b"")) as (url, sources):
        done = command(url, sources, tmp_path)
    assert done.returncode == 0, done.stderr
