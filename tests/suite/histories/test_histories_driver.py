"""The driver `histories` against nodes: right ones, which may refuse what comes at the same time, and a faulty one."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.histories.blame import EVERY
from conformance.drivers.model.blame import watched
from conformance.endpoints.extent import SampleOptions
from conformance.resources import scenarios
from conformance.run.runner import Case, run_case
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import target_node
from conformance.values.marked_yaml import Document
from conformance.verdict import Verdict
from reference_node.node import Node

PACK = """\
pack: small
title: A small history
cases:
  - id: groups
    title: Groups
    driver: histories
    requirements: [GRPLIFE-230, LIST-170]
    before: [create_wallet, add_group]
    rounds:
      - [add_action_to_group, add_action_to_group]
      - [update_group, update_group, add_action_to_group]
"""
OTHER_ACCOUNTS = frozenset({"ACC-120", "KEYLIFE-180", "PKP-160"})
"""Broken where objects of another account count; a history has one account."""
OF_ONE_WRITE = frozenset({"GRP-040", "GRP-050", "GRPLIFE-020", "GRPLIFE-030", "GRPLIFE-040", "GRPLIFE-050"})
"""Broken where the contents of a group are wrong after one write; after several GRPLIFE-230 is."""


def test_failure_tells_a_short_history_from_the_state_before_it(only_case: Callable[[str], Case]) -> None:
    mutant = next(mutant for mutant in all_mutants() if mutant.name == "update-is-two-writes")
    with target_node(mutant.alter, "0") as target:
        target.extent = SampleOptions(budget=8)
        outcome = run_case(only_case(PACK), target)
    assert outcome.verdict is Verdict.FAIL
    assert "GRPLIFE-230" in outcome.contradicted
    assert outcome.failure is not None
    assert "explains all answers, from alice_g1 named " in outcome.failure.expected
    assert outcome.failure.got.count("update_group alice_g1") == 2
    assert "add_action_to_group" not in outcome.failure.got


def test_write_that_is_refused_as_a_conflict_beside_another_is_no_failure(only_case: Callable[[str], Case]) -> None:
    under_way: list[Received] = []

    async def one_at_a_time(request: Received, forward: Forward) -> Answered:
        if under_way:
            return refusal(409)
        under_way.append(request)
        try:
            return await forward(request)
        finally:
            under_way.remove(request)

    def alter(node: Node) -> None:
        intercept(node, ("add_action_to_group", "update_group"), one_at_a_time)

    with target_node(alter, "0") as target:
        target.extent = SampleOptions(budget=4)
        outcome = run_case(only_case(PACK), target)
    assert outcome.verdict is Verdict.PASS, outcome.reason


def test_lists_of_a_node_whose_writes_take_time_to_show_are_read_after_the_round(
    only_case: Callable[[str], Case],
) -> None:
    with target_node(lambda _: None, "0", {"semantics": {"settle_time_seconds": 0.1}}) as target:
        assert run_case(only_case(PACK), target).verdict is Verdict.PASS


def test_shipped_case_lists_what_it_can_tell_of() -> None:
    pack = Document(scenarios() / "parallel_writes.yaml").value
    assert isinstance(pack, dict)
    for case in pack["cases"]:
        operations = {*case["before"], *(operation for row in case["rounds"] for operation in row)}
        can_tell = watched(sorted(operations), chain=False) | EVERY
        assert sorted(can_tell - OTHER_ACCOUNTS - OF_ONE_WRITE) == case["requirements"]
