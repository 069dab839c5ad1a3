"""Planted code that crashes is an error of its mutant, unless the mutant declares a server fault."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal, wrap
from conformance.selftest.tools.findings import findings
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.mutant import Mutant
from conformance.selftest.tools.server_faults import LOGGERS, ServerFaults
from conformance.selftest.tools.serving import target_node
from reference_node.node import Node


def faults_of(alter: Callable[[Node], None]) -> tuple[str, ...]:
    """What is recorded while an account is made on the altered node."""
    faults = ServerFaults()
    with target_node(alter, "0", faults=faults) as target:
        httpx.post(f"{target.base_url}/core/v1/new_account", json={"account_name": "n", "account_description": "d"})
    return faults.told


def crashing_service(node: Node) -> None:
    wrap(node.accounts, "new_account", lambda *_: {}["absent"])


def crashing_layer(node: Node) -> None:
    async def handler(_: Received, __: Forward) -> Answered:
        raise RuntimeError("planted")

    intercept(node, "new_account", handler)


def test_exception_in_a_service_is_recorded_with_its_place() -> None:
    assert any(fault.startswith("KeyError: 'absent' at ") for fault in faults_of(crashing_service))


def test_exception_in_an_http_layer_is_recorded() -> None:
    assert any(fault.startswith("RuntimeError: planted at ") for fault in faults_of(crashing_layer))


def test_request_that_a_fault_cannot_read_is_left_to_the_node() -> None:
    answers: list[Answered] = []

    def reading_numbers(node: Node) -> None:
        async def watch(request: Received, forward: Forward) -> Answered:
            answers.append(await forward(request))
            return answers[-1]

        async def handler(request: Received, forward: Forward) -> Answered:
            given = await forward(request)
            int(request.body)
            return replace(given, status=500)

        intercept(node, "new_account", handler)
        intercept(node, "new_account", watch)

    assert faults_of(reading_numbers) == ()
    assert [answer.status for answer in answers] == [200]


@pytest.mark.parametrize(
    ("answer", "recorded"),
    [
        (refusal(503), ("POST /core/v1/new_account was answered with 503",)),
        (replace(refusal(503), headers=((b"Retry-After", b"5"),)), ()),
        (refusal(409), ()),
    ],
    ids=["503", "503 that says when to come back", "409"],
)
def test_answer_of_5xx_is_recorded_with_its_request(answer: Answered, recorded: tuple[str, ...]) -> None:
    def answering(node: Node) -> None:
        async def handler(_: Received, __: Forward) -> Answered:
            return answer

        intercept(node, "new_account", handler)

    assert faults_of(answering) == recorded


def test_loggers_are_left_as_they_were() -> None:
    before = [(logger.handlers, logger.propagate) for logger in map(logging.getLogger, LOGGERS)]
    with ServerFaults().listening():
        pass
    assert [(logger.handlers, logger.propagate) for logger in map(logging.getLogger, LOGGERS)] == before


def mutant(*, server_fault: bool = False) -> Mutant:
    return Mutant("m", "family", "Do it wrong.", ("GRP-010",), lambda _: None, server_fault)


@pytest.mark.parametrize(
    ("declared", "server_faults", "told"),
    [
        (
            False,
            ("KeyError: 'a' at m.py:3", "KeyError: 'b' at m.py:4"),
            ["m: planted code failed: KeyError: 'a' at m.py:3 (the first of 2)"],
        ),
        (True, ("POST /x was answered with 500",), []),
        (True, (), ["m declares a server fault, and none occurred"]),
    ],
)
def test_mutant_has_server_faults_where_it_declares_one(
    declared: bool, server_faults: tuple[str, ...], told: list[str]
) -> None:
    trial = Trial("m", server_faults=server_faults)
    assert findings({"m": mutant(server_fault=declared)}, {"m": trial}, []) == told


def test_trial_in_which_the_suite_failed_is_reported_once() -> None:
    trial = Trial("m", ("GRP-010",), crash="LookupError: no such case")
    assert findings({"m": mutant()}, {"m": trial}, []) == ["m: the suite itself failed: LookupError: no such case"]
    assert trial.missed == ("GRP-010",)
