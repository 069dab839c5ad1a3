"""What each kind of step sends, saves and expects."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from eth_abi import encode
from eth_utils import keccak
from tiny_node import Asked, TinyNode, Told, always

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

    passed(run(f"steps: [{{account: alice}}, {{account: bob}}, {{let: {{other: somebody else's key}}}}, {step}]"))

    keys = dict(zip(("KEY", "BOB"), node.groups, strict=True))
    sent = node.asked[-1].headers
    wanted = {name: value.replace("KEY", keys["KEY"]).replace("BOB", keys["BOB"]) for name, value in headers.items()}
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
    ("call: remove_group\n    body: {json: {group_id: 1}}", "POST", "remove_group", {}, '{"group_id":1}'),
    ("call: remove_group\n    body: {raw: '{\"a\": '}", "POST", "remove_group", {}, '{"a": '),
    ("call: remove_group\n    body: {json: null}", "POST", "remove_group", {}, "null"),
    ("call: add_group\n    method: GET\n    with: {group_name: a}", "GET", "add_group", {"group_name": "a"}, ""),
    ("call: list_groups\n    method: POST\n    with: {page_size: 1}", "POST", "list_groups", {"page_size": "1"}, ""),
    ("call: list_groups\n    path: /core/v2/x?a=b\n    extra: {c: d}", "GET", "/core/v2/x", {"a": "b", "c": "d"}, ""),
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
              "@headers.x-none": {absent: true}
              a.0.b: 1
              paths.1: {absent: true}
              "": {a: {length: 1}}
          - check: {that: "${all.x-note} ${raw}", matches: 'here .*"b"'}
        """)
    )


def test_failure_of_a_request_tells_first_why(run: Run) -> None:
    outcome = run("""\
        steps:
          - {account: alice}
          - {list: list_groups, expect: {"": {length: 1}}, why: an account begins with one group}
        """)

    assert outcome.failure is not None
    assert outcome.failure.expected == "an account begins with one group: length 1 of list_groups"


def test_check_tells_why(run: Run) -> None:
    outcome = run('steps: [{let: {a: 1}}, {check: {that: "${a}", equals: 2, why: two are needed}}]')

    assert outcome.verdict is Verdict.FAIL
    assert "two are needed" in outcome.reason


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


def test_repeat_gives_index_and_rows(run: Run, node: TinyNode) -> None:
    passed(
        run("""\
        setup: [{account: a}]
        steps:
          - repeat:
              times: 3
              steps: [{call: add_group, with: {group_name: "g${index}"}, save: {g: group_id}}]
          - repeat:
              each: [{id: one, word: x}, {id: two, word: y}]
              steps: [{call: add_group, with: {group_name: "${word}${index}"}}]
          - check: {that: "${g}", equals: 3}
        """)
    )

    names = [asked.body["group_name"] for asked in node.asked if asked.path == "add_group"]
    assert names == ["g0", "g1", "g2", "x0", "y1"]


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


UNPREPARED = """\
    setup: [{account: alice}]
    steps:
      - repeat:
          each: [{id: one, name: taken}, {id: two, name: free}]
          steps:
            - {call: add_group, judges: [], with: {group_name: "${name}"}, save: {g: group_id}}
            - {check: {that: "${g}", equals: LISTED, why: the id of the group}}
    """


@pytest.mark.parametrize(("listed", "verdict"), [(99, Verdict.FAIL), (1, Verdict.INCONCLUSIVE)])
def test_row_that_cannot_be_prepared_hides_no_other(run: Run, node: TinyNode, listed: int, verdict: Verdict) -> None:
    node.faults["add_group"] = lambda asked: (
        Told(status=409) if asked.body["group_name"] == "taken" else node.honest(asked)
    )

    outcome = run(UNPREPARED.replace("LISTED", str(listed)))

    assert node.paths().count("add_group") == 2
    assert outcome.verdict is verdict, outcome.reason
    assert outcome.failure is not None
    assert outcome.failure.step.endswith("round two" if verdict is Verdict.FAIL else "round one")


def test_chain_steps_read_the_contract_through_json_rpc(run_stating: Callable[..., Outcome], node: TinyNode) -> None:
    data = encode(["bool", "address", "string", "string"], [True, "0x" + "ab" * 20, "n", "d"])

    def rpc(asked: Asked) -> Told:
        result = "0x" + data.hex() if asked.body["method"] == "eth_call" else "0x7a69"
        return Told(body={"jsonrpc": "2.0", "id": asked.body["id"], "result": result})

    node.faults["/rpc"] = rpc
    steps = """\
        steps:
          - {chain: get_account, with: [5], expect: {managed: true, adminWalletAddress: {matches: "^0xab"}, name: n}}
          - {chain: get_account, with: [5], expect: {managed: false}}
        """
    chain = {"capabilities": ("managed_accounts", "chain_rpc"), "chain": {"rpc_url": f"{node.url}/rpc"}}

    outcome = run_stating(steps, chain)

    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert outcome.failure.step == "steps[1] chain get_account"
    requests = [json.loads(asked.text) for asked in node.asked if asked.path == "/rpc"]
    sent = next(request for request in requests if request["method"] == "eth_call")
    selector = keccak(text="getAccount(uint256)")[:4].hex()
    assert sent["params"] == [{"to": "0x" + "11" * 20, "data": f"0x{selector}{5:064x}"}, "latest"]
