"""Nodes of the self-test are restarted in this process: what they keep, and what an end by force leaves out."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from conformance.endpoints.restart import How, restart
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.tools.alter import lasting, wrap
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import target_node
from conformance.values.addresses import CORE
from conformance.verdict import Verdict
from reference_node.node import Node

ALICE = {"account_name": "alice", "account_description": "of a test"}


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_restarted_node_keeps_accounts_and_address_and_is_altered_again(how: How) -> None:
    altered: list[Node] = []
    with target_node(altered.append, "0", restarts=True) as target:
        made = httpx.post(f"{target.base_url}{CORE}/new_account", json=ALICE).json()
        restart(target.profile, target.base_url, how, target.restarter)
        key = {"X-Api-Key": made["api_key"]}
        assert httpx.get(f"{target.base_url}{CORE}/account_exists", headers=key).json() is True
    assert len(altered) == 2
    assert altered[0] is not altered[1]


@pytest.mark.parametrize(("how", "ends"), [("stop", 2), ("kill", 1)])
def test_killed_node_does_nothing_at_its_end(how: How, ends: int) -> None:
    ended: list[None] = []

    def alter(node: Node) -> None:
        def close(original: Callable[[], None]) -> None:
            ended.append(None)
            original()

        wrap(node, "close", close)

    with target_node(alter, "0", restarts=True) as target:
        restart(target.profile, target.base_url, how, target.restarter)
    assert len(ended) == ends


def test_memory_of_an_alteration_is_that_of_one_node_over_its_restarts() -> None:
    memories: list[list[int]] = []

    def alter(node: Node) -> None:
        memory: list[int] = lasting(node, "starts", [])
        memory.append(len(memory))
        memories.append(memory)

    with target_node(alter, "0", restarts=True) as target:
        restart(target.profile, target.base_url, "stop", target.restarter)
    with target_node(alter, "0"):
        pass
    assert memories == [[0, 1], [0, 1], [0]]


def test_node_that_is_not_to_be_restarted_does_not_offer_it() -> None:
    with target_node(lambda _: None, "0") as target:
        assert not target.profile.offers("restart")
        assert target.restarter is None


def test_case_that_kills_the_node_among_writes_is_decided_by_its_first_run() -> None:
    (case,) = (one for one in load([scenarios()]) if one.id == "restarts::account-is-kept")
    (mutant,) = (one for one in all_mutants() if one.name == "restart-loses-the-first-item:wallets")
    with target_node(mutant.alter, "0", restarts=True) as target:
        outcome = run_case(case, target)
    assert (outcome.verdict, outcome.contradicted, outcome.repeats) == (Verdict.FAIL, ("EP-230",), 0)
