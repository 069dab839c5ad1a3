"""The hint of a failure: the stated key of the profile whose other value would explain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tiny_node import DROP, Asked, TinyNode, Told, always

from conformance.verdict import Outcome, Verdict

HintOf = Callable[[str, int], tuple[Verdict, str]]
SHOWS = """
    setup: [{account: alice}, {call: add_group, with: {group_name: g}}]
    steps: [{list: list_groups, expect: {"": [{name: g}]}}]
    """
PREPARES = """
    setup: [{account: alice}, {call: add_group, with: {group_name: g}}, {list: list_groups, save: {g: 0.id}}]
    steps: [{call: remove_group, with: {group_id: "${g}"}}]
    """
FIRST_PAGE = "the profile states wire.paging.first_page_number: {}; correct it there if the node is right"


def counting_from(first: int) -> dict[str, object]:
    """What a profile states of the first page."""
    return {"wire": {"paging": {"first_page_number": first}}}


def counted_from_one(node: TinyNode) -> None:
    def answer(asked: Asked) -> Told:
        number = int(asked.query["page_number"])
        counted_from_zero = replace(asked, query={**asked.query, "page_number": str(number - 1)})
        return node.honest(counted_from_zero) if number else Told(422)

    node.faults["list_groups"] = answer


@pytest.fixture
def hint_of(run_stating: Callable[..., Outcome]) -> HintOf:
    """The verdict on a case and its hint, by a profile that numbers pages from so many."""

    def judge(body: str, first: int) -> tuple[Verdict, str]:
        outcome = run_stating(body, counting_from(first))
        return outcome.verdict, outcome.failure.hint if outcome.failure else ""

    return judge


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("body", [SHOWS, PREPARES])
def test_empty_or_refused_first_page_names_its_number_where_the_other_page_has_items(
    hint_of: HintOf, node: TinyNode, body: str, first: int
) -> None:
    if first == 0:
        counted_from_one(node)

    verdict, hint = hint_of(body, first)

    assert verdict is not Verdict.PASS
    assert hint == FIRST_PAGE.format(first)


@pytest.mark.parametrize("first", [0, 1])
def test_list_without_items_on_either_page_says_nothing_about_their_number(
    hint_of: HintOf, node: TinyNode, first: int
) -> None:
    node.faults["list_groups"] = always(200, [])

    verdict, hint = hint_of(SHOWS, first)

    assert verdict is Verdict.FAIL
    assert "first_page_number" not in hint


def test_case_fails_whatever_the_node_does_when_it_is_asked_for_the_other_page(hint_of: HintOf, node: TinyNode) -> None:
    node.faults["list_groups"] = lambda _: Told(200, []) if node.paths().count("list_groups") == 1 else Told(DROP)

    assert hint_of(SHOWS, 0)[0] is Verdict.FAIL


def test_trial_of_the_other_page_is_no_exchange_of_the_case(
    run_stating: Callable[..., Outcome], node: TinyNode
) -> None:
    outcome = run_stating(SHOWS, counting_from(1))

    assert outcome.failure is not None
    assert outcome.failure.conversation is not None
    asked = [one.url for one in outcome.failure.conversation.exchanges if one.operation == "list_groups"]
    assert all("page_number=1" in url for url in asked)
    assert "0" in {asked.query["page_number"] for asked in node.asked if asked.path == "list_groups"}


def test_name_of_an_answer_explains_no_acceptance(hint_of: HintOf, node: TinyNode) -> None:
    node.faults["billing/balance"] = always(200, {"balance_cents": 5})
    body = """
        setup:
          - account: alice
          - {list: list_api_keys}
        steps:
          - {call: balance, id: own}
          - {call: balance, as: nobody, refused: unauthenticated, control: own, unchanged: [balance]}
        """

    verdict, hint = hint_of(body, 0)

    assert verdict is Verdict.FAIL
    assert "balance" not in hint


@pytest.mark.parametrize(("status", "told"), [(404, False), (500, False), (200, True)])
def test_choice_to_refuse_explains_no_refusal_of_what_must_be_accepted(
    hint_of: HintOf, node: TinyNode, status: int, *, told: bool
) -> None:
    node.faults["list_wallets_in_group"] = always(status, [])
    body = """
        requirements: [LIST-160]
        setup: [{account: alice}]
        steps:
          - call: list_wallets_in_group
            with: {group_id: 1, page_number: 0, page_size: 2}
            expect: {"": [{name: g}]}
        """

    verdict, hint = hint_of(body, 0)

    assert verdict is Verdict.FAIL
    assert ("semantics.list_unknown_group" in hint) is told
