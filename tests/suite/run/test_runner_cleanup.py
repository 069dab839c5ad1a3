"""After a case, also a failed one, what it made is taken away again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.endpoints.client import Target
from conformance.verdict import Outcome, Verdict

Run = Callable[[str], Outcome]
MAKES = """\
    setup: [{account: alice}]
    steps:
      - {call: add_usage_api_key, with: {can_create_groups: true}, save: {k: usage_api_key}}
      - {call: add_group, with: {group_name: a}}
      - {call: add_group, as: "${k}", with: {group_name: b}}
      - {list: list_groups, expect: {"": [{name: a}, {name: b}]}}
    """


def left(node: TinyNode) -> tuple[int, int]:
    return len(node.owners), sum(map(len, node.groups.values()))


@pytest.mark.parametrize(("listed", "verdict"), [("b", Verdict.PASS), ("c", Verdict.FAIL)], ids=["passed", "failed"])
def test_keys_and_groups_are_removed_after_a_case(run: Run, node: TinyNode, listed: str, verdict: Verdict) -> None:
    assert run(MAKES.replace("{name: b}]", f"{{name: {listed}}}]")).verdict is verdict
    assert left(node) == (0, 0)


def test_what_the_case_removed_is_not_removed_again(run: Run, node: TinyNode) -> None:
    run("""\
        steps:
          - account: alice
          - {call: add_usage_api_key, save: {k: usage_api_key}}
          - {call: remove_usage_api_key, with: {usage_api_key: "${k}"}}
          - {call: add_group, with: {group_name: a}, save: {g: group_id}}
          - {call: remove_group, with: {group_id: "${g}"}}
        """)

    assert [path for path in node.paths() if path.startswith("remove")] == ["remove_usage_api_key", "remove_group"]


def test_groups_whose_ids_the_answer_hides_are_found_by_listing(run: Run, node: TinyNode) -> None:
    def silent(asked: Asked) -> Told:
        node.honest(asked)
        return Told(body={"success": True})

    node.faults["add_group"] = silent

    assert run("steps: [{account: a}, {call: add_group, with: {group_name: a}}]").verdict is Verdict.PASS
    assert left(node) == (0, 0)


def test_trouble_in_the_clean_up_changes_no_verdict(run: Run, node: TinyNode) -> None:
    node.faults |= {"remove_group": always(500), "remove_usage_api_key": always(-1)}

    assert run(MAKES).verdict is Verdict.PASS


def test_node_that_ends_with_the_run_keeps_what_cases_made(run: Run, node: TinyNode, target: Target) -> None:
    target.ends_with_run = True

    assert run(MAKES).verdict is Verdict.PASS
    assert left(node) == (1, 2)
