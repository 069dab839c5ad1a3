"""A run goes to the addresses of its profile, whatever other addresses the node's answers name."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest
from pydantic import JsonValue

from conformance.endpoints.client import Target
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants.minimal_answers import EVERYTHING
from conformance.survey import Asker, Notes, read, try_out
from conformance.verdict import Outcome
from reference_node.node import Node

HEADERS = ("Location", "Content-Location", "Link", "Alt-Svc", "Refresh", "Set-Cookie", "Origin", "Host", "Retry-At")
MEMBERS = ("$ref", "$id", "$schema", "url", "href", "next", "rpc_url", "servers", "api_base", "provider_url", "host")
PACKS = ["accounts", "attestation", "chain_information", "payments", "versioning"]
"""One for each answer from which an address could be taken: lists, evidence, the chain's, payments, a description."""


@dataclass
class Lure:
    """A server of another host: nobody has a reason to come."""

    url: str = ""
    visits: list[bytes] = field(default_factory=list)
    """The beginning of what each visitor sent."""


@contextmanager
def lure() -> Iterator[Lure]:
    made = Lure()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made.url = f"http://127.0.0.1:{listening.getsockname()[1]}"

        def welcome() -> None:
            with suppress(OSError):
                while True:
                    visitor, _ = listening.accept()
                    with visitor:
                        made.visits.append(visitor.recv(4_096))

        thread = threading.Thread(target=welcome, daemon=True)
        thread.start()
        yield made
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def naming(url: str, status: Callable[[Received], int | None]) -> Callable[[Node], None]:
    """Name the address in headers and objects of every answer; `status` answers otherwise where it is not None."""
    links = f'{url}/a; rel="next"'

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        headers = [(name.lower().encode(), (links if name == "Link" else f"{url}/a").encode()) for name in HEADERS]
        other = status(request)
        if other is not None:
            return Answered(other, tuple(headers), b"")
        with suppress(ValueError):
            given = replace(given, body=json.dumps(named(json.loads(given.body), url)).encode())
        kept = tuple(pair for pair in given.headers if pair[0] != b"content-length")
        return replace(given, headers=(*kept, *headers))

    return lambda node: intercept(node, EVERYTHING, handler)


def named(value: JsonValue, url: str) -> JsonValue:
    """The value with members in each object that name the address, where it has none of the name."""
    if isinstance(value, list):
        return [named(item, url) for item in value]
    if not isinstance(value, dict):
        return value
    return {**dict.fromkeys(MEMBERS, f"{url}/b"), **{name: named(item, url) for name, item in value.items()}}


def judged(target: Target) -> list[Outcome]:
    from_description = [case for case in load([scenarios()], ["fuzz"]) if case.id == "fuzz::answers"]
    return [run_case(case, target) for case in [*load([scenarios()], PACKS), *from_description]]


def test_run_visits_no_address_that_answers_name() -> None:
    with lure() as other, target_node(naming(other.url, lambda _: None), "1") as target:
        outcomes = judged(target)

    assert len({outcome.case.partition("::")[0] for outcome in outcomes}) == len(PACKS) + 1
    assert other.visits == []


@pytest.mark.parametrize("status", [302, 307, 426, 503])
def test_survey_follows_no_answer_elsewhere(status: int) -> None:
    def every_third(_: Received) -> int | None:
        count[0] += 1
        return status if count[0] % 3 == 0 else None

    count = [0]
    with lure() as other, target_node(naming(other.url, every_third), "1") as target:
        notes = Notes()
        ask = Asker(target)
        read(ask, notes)
        try_out(ask, notes)

    assert count[0] > 8
    assert other.visits == []
