"""What each kind of step sends, saves and expects."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tiny_node import TinyNode, always

from conformance.run.runner import Case, Target, run_case
from conformance.verdict import Outcome, Verdict

Run = Callable[[str], Outcome]


def passed(outcome: Outcome) -> None:
    assert outcome.verdict is Verdict.PASS, outcome.reason


@pytest.mark.parametrize(
    ("step", "headers"),
    [
        ("{call: list_groups}", {"x-api-key": "KEY"}),
        ('{call: list_groups, as: "${other}"}', {"x-api-key": "somebody else's key"}),
        ("{call: list_groups, as: bob}", {"x-api-key": "BOB"}),
        ("{call: list_groups, as: nobody}", {}),
        ("{call: get_api_payers}", {}),
        ("{call: get_api_payers, as: alice}", {"x-api-key": "KEY"}),
    ],
)
def test_credential_travels_as_the_step_says(run: Run, node: TinyNode, step: str, headers: dict[str, str]) -> None:
    node.faults |= {"list_groups": always(200, []), "get_api_payers": always(200, [])}
    node.faults["add_usage_api_key"] = always(200, {"usage_api_key": "somebody else's key"})

    makes_key = "{call: add_usage_api_key, save: {other: usage_api_key}}"
    passed(run(f"steps: [{{account: alice}}, {{account: bob}}, {makes_key}, {step}]"))

    keys = dict(zip(("KEY", "BOB"), node.groups, strict=True))
    sent = next(asked for asked in node.asked if asked.path in ("list_groups", "get_api_payers")).headers
    wanted = {name: keys.get(value, value) for name, value in headers.items()}
    assert {name: sent[name] for name in ("x-api-key", "authorization") if name in sent} == wanted


WAYS = [
    (
        "call: add_group\n    with: {group_name: a}\n    extra: {n: [1, true]}",
        "POST",
        "add_group",
        {},
        '{"group_name":"a","n":[1,true]}',
    ),
    (
        "call: list_actions\n    with: {group_id: 3}\n    extra: {x: true}",
        "GET",
        "list_actions",
        {"group_id": "3", "x": "true"},
        "",
    ),
    ("call: create_wallet", "POST", "create_wallet", {}, ""),
    ("call: get_action_ipfs_id\n    with: {code: 'a \"b\"'}", "POST", "get_service_action_ipfs_id", {}, '"a \\"b\\""'),
    ("call: remove_group\n    with: {group_id: 1}", "POST", "remove_group", {}, '{"group_id":"1"}'),
]


@pytest.mark.parametrize(("step", "method", "path", "query", "text"), WAYS)
def test_members_travel_where_the_operation_takes_them(
    run: Run, node: TinyNode, step: str, method: str, path: str, query: dict[str, str], text: str
) -> None:
    node.faults[path] = always(200)

    passed(run(f"steps:\n  - account: alice\n  - {step}\n"))

    sent = node.asked[1]
    assert (sent.method, sent.path, sent.query, sent.text) == (method, path, query, text)
    assert ("content-type" in sent.headers) == bool(text)


def test_saved_member_that_is_missing_fails(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = always(200, {"success": True})

    outcome = run("steps: [{account: a}, {call: add_group, save: {g: group_id}}]")

    assert outcome.verdict is Verdict.FAIL
    assert "group_id" in outcome.reason


def test_paths_reach_around_the_body(run: Run, node: TinyNode) -> None:
    node.faults["openapi.json"] = always(201, {"a": [{"b": 1}]}, X_Note="here")

    passed(
        run("""\
        steps:
          - account: a
          - call: openapi
            save: {raw: "@text", all: "@headers"}
            expect:
              "@status": 201
              "@accepted": true
              "@headers.x-note": here
              "@text": {matches: '"b"'}
              a.0.b: 1
              "": {a: [{b: 1}]}
          - {call: add_group, with: {group_name: "${all.x-note} ${raw}"}}
        """)
    )

    assert node.asked[2].body["group_name"] == 'here {"a": [{"b": 1}]}'


def test_rows_run_once_each_with_their_variables(
    cases_of: Callable[[str], list[Case]], target: Target, node: TinyNode
) -> None:
    cases = cases_of("""\
        each:
          - {id: x, word: "${label}", n: 1}
          - {id: y, word: w, n: 2}
        steps:
          - account: a
          - {call: add_group, with: {group_name: "${word}"}, extra: {n: "${n}"}}
        """)

    assert [case.id for case in cases] == ["trial::one[x]", "trial::one[y]"]
    for case in cases:
        passed(run_case(case, target))
    first, second = (asked.body for asked in node.asked if asked.path == "add_group")
    assert str(first["group_name"]).startswith("suite ")
    assert (first["n"], second) == (1, {"group_name": "w", "n": 2})


def test_a_list_that_a_step_has_just_read_is_not_read_again_for_the_refusal_after_it(run: Run, node: TinyNode) -> None:
    passed(
        run("""\
        setup: [{account: a}]
        steps:
          - {call: add_group, id: adds, with: {group_name: g}}
          - {list: list_groups}
          - {call: add_group, as: nobody, with: {group_name: h}, refused: any, control: adds, unchanged: [list_groups]}
          - {list: list_groups}
        """)
    )

    asked = [asked.path for asked in node.asked if asked.path in ("list_groups", "add_group")]
    assert asked == ["add_group", "list_groups", "add_group", "list_groups", "list_groups"]
