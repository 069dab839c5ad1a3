"""What a blocked case names: the operation that failed, and the case that judges it."""

from __future__ import annotations

from collections.abc import Callable

from tiny_node import TinyNode, always

from conformance.profile import OPERATIONS
from conformance.resources import scenarios
from conformance.run.judging_case import JUDGED_BY
from conformance.run.loader import load
from conformance.verdict import Outcome


def test_each_operation_is_judged_by_a_case_that_there_is() -> None:
    bases = {case.id.partition("[")[0] for case in load([scenarios()])}

    assert {*JUDGED_BY} == {*OPERATIONS}
    assert {*JUDGED_BY.values()} <= bases


def test_blocked_case_names_the_operation_and_the_case_that_judges_it(
    run: Callable[[str], Outcome], node: TinyNode
) -> None:
    node.faults["list_groups"] = always(403)

    outcome = run(
        "steps: [{account: a}, {list: list_groups}, {call: add_group, with: {group_name: a}, expect: {'': {}}}]"
    )

    assert outcome.waits_for == "endpoints::list-groups"
    assert f"list_groups is judged by {outcome.waits_for}" in outcome.reason
