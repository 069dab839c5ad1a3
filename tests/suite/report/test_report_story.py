"""The story of a failing case, in names in place of ids."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.report.case_text import explain
from conformance.report.story import MOST_STEPS, difference, story
from conformance.verdict import Conversation, ConversationExchange, Failure, Outcome, Verdict

WALLET = "0x" + "ab" * 32
OTHER = "0x" + "cd" * 32
REFUSAL = '{"title": "Forbidden", "status": 403, "code": "not-permitted", "detail": "no group lists it"}'


def asked(
    operation: str, body: str = "{}", *, by: str = "", status: int = 200, answer: str = "{}", **given: str
) -> ConversationExchange:
    return ConversationExchange(
        method="POST",
        url=f"http://127.0.0.1/core/v1/{operation}",
        request_headers={"X-Api-Key": f"${{{by}}}"} if by else {},
        request_body=body,
        status=status,
        response_body=answer,
        seconds=0,
        given=given,
        operation=operation,
    )


CONVERSATION = Conversation(
    exchanges=(
        asked("new_account", API_KEY_1=".api_key"),
        asked("new_account", API_KEY_2=".api_key"),
        asked("list_wallets", by="API_KEY_1", ID_3=".[0].id", ID_4=".[1].id"),
        asked("add_group", '{"pkp_ids_permitted":["${ID_3}"],"name":"G"}', by="API_KEY_1", GROUP_5=".group_id"),
        asked("add_group", '{"pkp_ids_permitted":["${ID_4}"]}', by="API_KEY_1", GROUP_6=".group_id"),
        asked("add_usage_api_key", '{"execute_in_groups":[${GROUP_5}],"can_create_pkps":false}', by="API_KEY_1",
              API_KEY_7=".usage_api_key"),
        asked("list_groups", by="API_KEY_2"),
        asked("remove_usage_api_key", '{"usage_api_key":"${API_KEY_7}"}', by="API_KEY_1"),
        asked("run_action", '{"jsParams":{"pkpId":"${ID_3}"}}', by="API_KEY_7", status=403, answer=REFUSAL),
        asked("list_groups", by="API_KEY_1"),
    ),
    left_out=2,
    departed=8,
    names={"ID_3": WALLET, "ID_4": OTHER},
)  # fmt: skip


def test_story_tells_the_steps_that_concern_the_failing_request() -> None:
    assert story(CONVERSATION).steps == (
        "… 4 more",
        "alice: list_wallets → 200, P, P2",
        'alice: add_group pkp_ids_permitted [P], name "G" → 200, G',
        "… 1 more",
        "alice: add_usage_api_key execute_in_groups [G], 1 false or empty → 200, K",
        "… 1 more",
        "alice: remove_usage_api_key usage_api_key K → 200",
        "K: run_action jsParams {pkpId:P} → 403, not-permitted: no group lists it",
    )


def test_story_resolves_the_names_that_it_uses() -> None:
    told = story(CONVERSATION)
    assert told.used == {"P": WALLET, "P2": OTHER}
    assert told.names.shown(f"{WALLET} of $API_KEY_7, not 0x{'12' * 32}") == "P of K, not 0x1212…1212"


def test_story_tells_that_an_answer_gives_the_same_group_again() -> None:
    made = (asked("new_account", API_KEY_1=".api_key"), asked("add_group", by="API_KEY_1", GROUP_2=".group_id"))
    again = (asked("remove_group", '{"group_id":"${GROUP_2}"}', by="API_KEY_1"), made[1])
    told = story(
        Conversation((*made, *again, asked("list_groups", "${GROUP_2}", by="API_KEY_1")), names={"GROUP_2": "1"})
    )
    assert told.steps[1:4] == (
        "alice: add_group → 200, G",
        "alice: remove_group group_id G → 200",
        "alice: add_group → 200, G again",
    )
    assert told.used == {"G": "1"}
    assert told.names.shown("1 of 11") == "1 of 11"


def test_story_tells_the_header_that_is_not_the_usual_one() -> None:
    made = asked("new_account", API_KEY_1=".api_key")
    bearer = replace(asked("list_groups", by="API_KEY_1"), request_headers={"Authorization": "Bearer ${API_KEY_1}"})
    assert story(Conversation((made, bearer))).steps[-1] == "alice as Bearer: list_groups → 200, {}"


def test_words_that_an_answer_gives_are_told_as_they_are() -> None:
    exchanges = (asked("openapi", OPERATION_ID_1=".a"), asked("${OPERATION_ID_1}", '{"a":"${OPERATION_ID_1}"}'))
    told = story(Conversation(exchanges, names={"OPERATION_ID_1": "stripe_config"}))
    assert told.steps[0] == "anybody: openapi → 200, stripe_config"
    assert told.names.shown("GET /stripe_config") == "GET /stripe_config"
    assert told.used == {}


def test_long_story_keeps_its_beginning_and_its_end() -> None:
    renamed = [asked("update_group", f'{{"group_id":"${{GROUP_2}}","name":"{n}"}}', by="API_KEY_1") for n in range(30)]
    made = [asked("new_account", API_KEY_1=".api_key"), asked("add_group", by="API_KEY_1", GROUP_2=".group_id")]
    steps = story(Conversation((*made, *renamed))).steps
    assert len([step for step in steps if not step.startswith("…")]) == MOST_STEPS
    assert steps[-1] == 'alice: update_group group_id G, name "29" → 200, {}'
    assert "… 22 more" in steps


@pytest.mark.parametrize(
    ("expected", "got", "rows"),
    [
        ('ids to be ["a","b"]', '["b","c"]', [("missing", '["a"]'), ("too many", '["c"]')]),
        ('ids to be ["a","b"]', '["b","a"]', [("order", "another than expected")]),
        ("what runs with ['K'] and [0] to be [\"a\"]", '["a","b"]', [("too many", '["b"]')]),
        ('ids to be ["a"]', '["a","a"]', [("too many", '["a"]')]),
        ('ids to be ["a"] or ["b"]', '["c"]', []),
        ("length 1 of ids", "[]", []),
        ('ids to be ["a"]', "status 404", []),
        ('name to be "a"', '["a"]', []),
        (
            'ids to be ["a"]',
            '["b"] (and 2 more: c)',
            [("missing", '["a"]'), ("too many", '["b"]'), ("and", "2 more: c")],
        ),
        ("in any order [1, 2] at *.id of `seen`", "[1,2,3]", [("too many", "[3]")]),
        ("in any order [true] of list_groups", "[1]", [("missing", "[true]"), ("too many", "[1]")]),
        (
            'in any order [{cid: "x", name: "anew"}, {cid: "y"}] of list_actions',
            '[{"cid":"y","name":"other"},{"cid":"x","name":"old"}]',
            [("missing", '[{"cid":"x","name":"anew"}]'), ("too many", '[{"cid":"x","name":"old"}]')],
        ),
    ],
)
def test_difference_of_lists(expected: str, got: str, rows: list[tuple[str, str]]) -> None:
    assert list(difference(expected, got)) == rows


def test_report_of_a_case_fits_on_a_screen() -> None:
    failure = Failure("steps[3]", f"the wallet {WALLET}", f"[{OTHER!r}]" * 100, conversation=CONVERSATION)
    requirements = tuple(f"GRP-{number}0" for number in range(10, 30))
    text = explain(Outcome("p::c", "A title.", requirements, Verdict.FAIL, failure=failure), "again")
    assert len(text.splitlines()) <= 25
    assert "the wallet P\n" in text
    assert "and GRP-130, GRP-140" in text
    assert max(map(len, text.splitlines())) < 450
