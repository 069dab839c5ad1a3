"""The hint of a failure: the stated key of the profile whose other value would explain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tiny_node import DROP, Asked, TinyNode, Told, always

from conformance.profile import Profile
from conformance.run.runner import Case, Target, run_case
from conformance.verdict import Verdict

SHOWS = """
    setup: [{account: alice}, {call: add_group, with: {group_name: g}}]
    steps: [{list: list_groups, expect: {"": {items: [{name: g}]}}}]
    """
PREPARES = """
    setup: [{account: alice}, {call: add_group, with: {group_name: g}}, {list: list_groups, save: {g: 0.id}}]
    steps: [{call: remove_group, with: {group_id: "${g}"}}]
    """
FIRST_PAGE = "the profile states wire.paging.first_page_number: {}; correct it there if the node is right"


def counted_from_one(node: TinyNode) -> None:
    def answer(asked: Asked) -> Told:
        number = int(asked.query["page_number"])
        counted_from_zero = replace(asked, query={**asked.query, "page_number": str(number - 1)})
        return node.honest(counted_from_zero) if number else Told(422)

    node.faults["list_groups"] = answer


def hint_of(case: Case, node: TinyNode, first: int) -> tuple[Verdict, str]:
    profile = Profile.model_validate({"wire": {"paging": {"first_page_number": first}}})
    with Target(node.url, profile, seed="7") as target:
        outcome = run_case(case, target)
    return outcome.verdict, outcome.failure.hint if outcome.failure else ""


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("body", [SHOWS, PREPARES])
def test_empty_or_refused_first_page_names_its_number_where_the_other_page_has_items(
    cases_of: Callable[[str], list[Case]], node: TinyNode, body: str, first: int
) -> None:
    if first == 0:
        counted_from_one(node)
    (case,) = cases_of(body)

    verdict, hint = hint_of(case, node, first)

    assert verdict is not Verdict.PASS
    assert hint == FIRST_PAGE.format(first)


@pytest.mark.parametrize("first", [0, 1])
def test_list_without_items_on_either_page_says_nothing_about_their_number(
    cases_of: Callable[[str], list[Case]], node: TinyNode, first: int
) -> None:
    node.faults["list_groups"] = always(200, [])
    (case,) = cases_of(SHOWS)

    verdict, hint = hint_of(case, node, first)

    assert verdict is Verdict.FAIL
    assert "first_page_number" not in hint


def test_case_fails_whatever_the_node_does_when_it_is_asked_for_the_other_page(
    cases_of: Callable[[str], list[Case]], node: TinyNode
) -> None:
    node.faults["list_groups"] = lambda _: Told(200, []) if node.paths().count("list_groups") == 1 else Told(DROP)
    (case,) = cases_of(SHOWS)

    assert hint_of(case, node, 0)[0] is Verdict.FAIL


def test_trial_of_the_other_page_is_no_exchange_of_the_case(
    cases_of: Callable[[str], list[Case]], node: TinyNode
) -> None:
    (case,) = cases_of(SHOWS)
    with Target(node.url, Profile.model_validate({"wire": {"paging": {"first_page_number": 1}}}), seed="7") as target:
        outcome = run_case(case, target)

    assert outcome.failure is not None
    assert outcome.failure.conversation is not None
    asked = [one.url for one in outcome.failure.conversation.exchanges if one.operation == "list_groups"]
    assert all("page_number=1" in url for url in asked)
    assert "0" in {asked.query["page_number"] for asked in node.asked if asked.path == "list_groups"}


def test_name_of_an_answer_explains_no_acceptance(cases_of: Callable[[str], list[Case]], node: TinyNode) -> None:
    node.faults["billing/balance"] = always(200, {"balance_cents": 5})
    (case,) = cases_of("""
        setup:
          - account: alice
          - {list: list_api_keys}
        steps:
          - {call: balance, id: own}
          - {call: balance, as: nobody, refused: unauthenticated, control: own, unchanged: [balance]}
        """)

    verdict, hint = hint_of(case, node, 0)

    assert verdict is Verdict.FAIL
    assert "balance" not in hint


@pytest.mark.parametrize(("status", "told"), [(404, False), (500, False), (200, True)])
def test_choice_to_refuse_explains_no_refusal_of_what_must_be_accepted(
    only_case: Callable[[str], Case], node: TinyNode, status: int, *, told: bool
) -> None:
    node.faults["list_wallets_in_group"] = always(status, [])
    case = only_case("""
        pack: trial
        title: A trial
        cases:
          - id: one
            title: The one case
            requirements: [LIST-160]
            setup: [{account: alice}]
            steps:
              - call: list_wallets_in_group
                with: {group_id: 1, page_number: 0, page_size: 2}
                expect: {"": {length: 1}}
        """)

    verdict, hint = hint_of(case, node, 0)

    assert verdict is Verdict.FAIL
    assert ("semantics.list_unknown_group" in hint) is told
