"""What a case's verdict is, whatever a node does."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest
from tiny_node import DROP, Asked, Fault, TinyNode, Told, always

from conformance.problems import Mismatch
from conformance.profile import Profile
from conformance.run import unanswered
from conformance.run.runner import Case, Target, run_case
from conformance.verdict import NOT_APPLICABLE, Outcome, Verdict

Run = Callable[[str], Outcome]
ADD = """\
    setup:
      - account: alice
    steps:
      - call: add_group
        id: adds
        judges: [GRP-010]
        with: {group_name: a, group_description: d}
        save: {g: group_id}
      - list: list_groups
        expect: {"": [{id: "${g}", name: a}]}
"""
LISTS = "steps: [{account: a}, {call: list_groups}]"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between looks whether a gateway still answers in the node's place."""
    monkeypatch.setattr(unanswered, "WAITS_BEHIND_A_GATEWAY", (0.01, 0.01))


def once(node: TinyNode, fault: Fault) -> Fault:
    """A fault of the first request alone."""
    asked: list[Asked] = []

    def answer(request: Asked) -> Told:
        asked.append(request)
        return fault(request) if len(asked) == 1 else node.honest(request)

    return answer


def test_case_passes_when_every_step_holds(run: Run) -> None:
    outcome = run(ADD)

    assert (outcome.verdict, outcome.reason) == (Verdict.PASS, "")
    assert (outcome.case, outcome.requirements) == ("trial::one", ("GRP-010",))


def test_wrong_value_fails_and_shows_step_and_exchange(run: Run, node: TinyNode) -> None:
    node.faults["list_groups"] = always(200, [{"id": 1, "name": "b"}])

    outcome = run(ADD)

    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert outcome.failure.step == "steps[1] list list_groups"
    assert (outcome.failure.expected, outcome.failure.got) == ('"a" at 0.name of list_groups', '"b"')
    assert outcome.failure.exchange is not None
    assert "list_groups" in outcome.failure.exchange.url


PAGE = "<!DOCTYPE html><html><head><title>{}</title></head><body></body></html>"
BEHIND_A_GATEWAY = "status 502: a page in HTML, '502 Bad Gateway' from a gateway ("


@pytest.mark.parametrize(
    ("fault", "problem", "words"),
    [
        (always(403, {"title": "no"}), "not-accepted", ""),
        *((always(status, {"title": "oops"}), "server-fault", "") for status in (500, 502, 503, 599)),
        (always(502, PAGE.format("502 Bad Gateway"), Content_Type="text/html"), "server-fault", BEHIND_A_GATEWAY),
        (
            always(200, PAGE.format("Sign in"), Content_Type="text/html"),
            "malformed",
            "got status 200: a page in HTML, 'Sign in'",
        ),
        *(
            (always(200, body), "malformed", "")
            for body in ("not json", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000, '{"a": 1} trailing')
        ),
    ],
)
def test_answer_that_is_no_acceptance_fails_by_its_kind(
    run: Run, node: TinyNode, fault: Fault, problem: str, words: str
) -> None:
    node.faults["add_group"] = fault

    outcome = run(ADD)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.FAIL, problem)
    assert words in outcome.reason


def test_case_runs_again_where_a_kept_connection_was_closed(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = once(node, always(DROP))

    outcome = run(ADD)

    assert (outcome.verdict, len(node.groups)) == (Verdict.PASS, 2)
    assert outcome.exchanges == len(node.asked)


def test_dropped_connection_in_a_step_is_a_failure_of_its_own(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = always(DROP)

    outcome = run(ADD)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.FAIL, "server-fault")
    assert outcome.failure is not None
    assert outcome.failure.exchange is not None
    assert outcome.failure.exchange.status is None


@pytest.mark.parametrize("patience", [1.0])
def test_time_out_that_repeats_is_a_failure_of_its_own(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = node.hang

    outcome = run(ADD)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.FAIL, "no-answer-in-time")
    assert "no answer in time" in outcome.reason
    assert node.paths().count("add_group") == 2


@pytest.mark.parametrize("patience", [1.0])
def test_time_out_that_does_not_repeat_is_no_failure(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = once(node, node.hang)

    assert run(ADD).verdict is Verdict.PASS
    assert node.paths().count("add_group") == 2


@pytest.mark.parametrize(
    "fault",
    [always(403), always(500), always(DROP), always(200, "not json"), always(200, {"no": "key"})],
    ids=["refused", "server error", "dropped", "no JSON", "no key"],
)
def test_trouble_with_the_account_is_inconclusive(run: Run, node: TinyNode, fault: Fault) -> None:
    node.faults["new_account"] = fault

    outcome = run(ADD)

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.failure is not None
    assert outcome.failure.step == "setup[0] account alice"


def test_account_made_among_the_steps_is_still_setup(run: Run, node: TinyNode) -> None:
    node.faults["new_account"] = always(500)

    assert run(LISTS).verdict is Verdict.INCONCLUSIVE
    assert run("steps: [{call: new_account}]").verdict is Verdict.FAIL


def test_departure_in_setup_is_inconclusive(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = always(403)

    outcome = run("""\
        setup: [{account: alice}, {call: add_group, with: {group_name: a}}]
        steps: [{list: list_groups, expect: {"": [{name: a}]}}]
        """)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, "blocked")


@pytest.mark.parametrize("fault", [always(403), always(500), always(DROP)], ids=["refused", "5xx", "dropped"])
def test_step_that_judges_nothing_is_setup_among_the_steps(run: Run, node: TinyNode, fault: Fault) -> None:
    node.faults["add_group"] = fault

    outcome = run(ADD.replace("        judges: [GRP-010]\n", ""))

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, "blocked")
    assert outcome.failure is not None
    assert outcome.failure.step == "steps[0] call add_group (adds)"


TWO = """\
    requirements: [GRP-010, LIST-060]
    setup:
      - account: alice
    steps:
      - call: add_group
        judges: [GRP-010]
        with: {group_name: a, group_description: d}
      - list: list_groups
        judges: [LIST-060]
"""


@pytest.mark.parametrize(("operation", "contradicted"), [("add_group", ("GRP-010",)), ("list_groups", ("LIST-060",))])
def test_departure_charges_what_its_step_judges(
    run: Run, node: TinyNode, operation: str, contradicted: tuple[str, ...]
) -> None:
    node.faults[operation] = always(403)

    assert run(TWO).blamed == contradicted


def test_expectation_of_a_step_that_judges_nothing_is_setup(run: Run, node: TinyNode) -> None:
    node.faults["list_groups"] = always(200, [{"id": 1, "name": "b"}])

    outcome = run(ADD.replace("list: list_groups", "list: list_groups\n        judges: []"))

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, "blocked")


def test_nobody_listening_is_inconclusive_also_in_steps(cases_of: Callable[[str], list[Case]]) -> None:
    (case,) = cases_of("steps: [{call: get_node_chain_config}]")
    with Target("http://127.0.0.1:9", Profile()) as target:
        outcome = run_case(case, target)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, "unreachable")
    assert "--node-url" in outcome.reason


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (always(402), "out-of-credit"),
        (always(429, None, Retry_After="3600"), "throttled"),
        (always(503, None, Retry_After="1"), "throttled"),
    ],
)
def test_lack_of_credit_and_patience_is_inconclusive_with_a_hint(
    run: Run, node: TinyNode, fault: Fault, problem: str
) -> None:
    node.faults["add_group"] = fault

    outcome = run(ADD)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, problem)
    assert outcome.reason.count(";") >= 2, "cause; got; hint"


@pytest.mark.parametrize(
    ("body", "profile", "word"),
    [
        (f"needs: [chain_rpc]\n{LISTS}", {}, "chain_rpc"),
        (f"uses: [semantics.group_id_scope]\n{LISTS}", {"semantics": {"group_id_scope": None}}, "group_id_scope"),
        (
            'steps: [{account: a}, {call: list_groups, with: {page_size: "${profile.limits.page_size_max}"}}]',
            {"limits": {"page_size_max": None}},
            "page_size_max",
        ),
        (f"uses: [{{semantics.group_id_scope: global}}]\n{LISTS}", {}, "group_id_scope is global; here it is account"),
        (
            "steps: [{call: create_wallet}]",
            {"wire": {"operations": {"method_and_path": {"create_wallet": None}}}},
            "create_wallet",
        ),
        (
            "steps: [{call: get_api_payers}]",
            {"wire": {"chain_info": None}},
            "get_api_payers needs a profile that says wire.chain_info",
        ),
        (LISTS, {"accounts": {"credits": None}}, "accounts.credits"),
    ],
    ids=["needs", "uses", "uses of a variable", "uses a value", "operation", "answer", "no credits"],
)
def test_case_the_profile_rules_out_is_not_offered_and_sends_nothing(
    run_stating: Callable[..., Outcome], node: TinyNode, body: str, profile: dict[str, object], word: str
) -> None:
    outcome = run_stating(body, profile)

    assert outcome.verdict is Verdict.NOT_OFFERED
    assert word in outcome.reason
    assert node.asked == []


@pytest.mark.parametrize(
    ("profile", "problem"),
    [
        ({"wire": {"list_items": {"fields": {"wallet": {"name": None}}}}}, NOT_APPLICABLE),
        ({"wire": {"list_items": {"fields": None}}}, None),
        ({"semantics": {"group_id_scope": "global"}}, NOT_APPLICABLE),
        ({"semantics": {"group_id_scope": None}}, None),
    ],
    ids=["no such member", "members not stated", "another choice", "no choice stated"],
)
def test_case_for_nodes_that_choose_otherwise_is_told_from_one_that_lacks_an_answer(
    run_stating: Callable[..., Outcome], profile: dict[str, object], problem: str | None
) -> None:
    uses = "uses: [wire.list_items.fields.wallet.name, {semantics.group_id_scope: account}]\n"
    outcome = run_stating(uses + LISTS, profile)

    assert outcome.verdict is Verdict.NOT_OFFERED
    assert outcome.properties.get("problem") == problem


def test_failure_keeps_the_beginning_of_what_a_node_answered(
    cases_of: Callable[[str], list[Case]], target: Target
) -> None:
    (case,) = cases_of(LISTS)

    def departs(_: object) -> None:
        raise Mismatch("n" * 1_000_000, "g" * 1_000_000)

    outcome = run_case(dataclasses.replace(case, program=departs), target)

    assert outcome.failure is not None
    for text in (outcome.failure.expected, outcome.failure.got):
        assert 20_000 < len(text) < 20_100
        assert text.endswith("… (1000000 characters)")
    assert len(outcome.reason) < 1_000


def test_answer_without_an_end_teaches_nothing(run: Run, node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.endpoints.bodies.LONGEST_ANSWER", 1_000)
    node.faults["add_group"] = always(200, "[" + "1," * 1_000 + "1]")

    outcome = run("steps: [{account: a}, {call: add_group, with: {group_name: x}}]")

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.INCONCLUSIVE, "beyond-limits")
    assert (outcome.repeats, outcome.waited_seconds) == (0, 0.0), "it is an answer"


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        ('{"a": ' + "[" * 450 + "]" * 450 + "}", '{call: openapi, expect: {a: "${a}"}}'),
        ('{"a": "\\ud800"}', "{call: openapi, expect: {a: x}}"),
        ('{"a": "\\ud800"}', '{call: list_actions, with: {group_id: "${a}"}}'),
    ],
    ids=["deep", "half a character shown", "half a character sent"],
)
def test_strange_values_end_in_a_verdict_that_can_be_written_down(
    run: Run, node: TinyNode, answer: str, steps: str
) -> None:
    node.faults["openapi.json"] = always(200, answer)

    outcome = run(f"steps: [{{account: a}}, {{call: openapi, save: {{a: a}}}}, {steps}]")

    assert outcome.verdict is not Verdict.SUITE_ERROR
    json.dumps(dataclasses.asdict(outcome), ensure_ascii=False).encode()


def test_empty_accepted_answer_is_null(run: Run, node: TinyNode) -> None:
    node.faults["add_group"] = always(200)

    outcome = run('steps: [{account: a}, {call: add_group, with: {group_name: x}, expect: {"": {type: "null"}}}]')

    assert outcome.verdict is Verdict.PASS, outcome.reason


def test_text_is_an_answer_of_the_viewer_only(run: Run, node: TinyNode) -> None:
    node.faults |= {"swagger-ui": always(200, "<html>", Content_Type="text/html"), "add_group": always(200, "ok")}

    assert run('steps: [{call: swagger_ui, expect: {"@text": {matches: html}}}]').verdict is Verdict.PASS
    assert run("steps: [{account: a}, {call: add_group}]").verdict is Verdict.FAIL


def test_same_seed_gives_the_same_requests_and_another_seed_does_not(
    cases_of: Callable[[str], list[Case]], node: TinyNode
) -> None:
    (case,) = cases_of('steps: [{account: a}, {call: add_group, with: {group_name: "${label}"}}]')
    bodies = []
    for seed in ("1", "1", "2"):
        node.groups.clear()
        node.asked.clear()
        with Target(node.url, Profile(), seed=seed) as target:
            run_case(case, target)
        bodies.append(sorted(asked.text for asked in node.asked if asked.path == "add_group"))

    assert bodies[0] == bodies[1]
    assert bodies[0] != bodies[2]


@pytest.mark.parametrize(
    "fault", [always(502, "<html><title>Bad Gateway"), always(503), always(504)], ids=["502", "503", "504"]
)
def test_answer_of_a_gateway_while_the_node_restarts_charges_nothing(run: Run, node: TinyNode, fault: Fault) -> None:
    node.faults["add_group"] = once(node, fault)
    node.faults["get_node_chain_config"] = once(node, fault)

    outcome = run(ADD)

    assert (outcome.verdict, outcome.repeats) == (Verdict.PASS, 1)
    assert outcome.waited_seconds == 0.02


def test_node_that_stays_away_behind_its_gateway_is_waited_for_in_one_case(
    cases_of: Callable[[str], list[Case]], node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unanswered, "WAITS_BEHIND_A_GATEWAY", (0.0, 0.01, 0.01))
    (case,) = cases_of(ADD)
    with Target(node.url, Profile()) as target:
        node.faults["add_group"] = node.faults["get_node_chain_config"] = always(503)
        waited = [run_case(case, target).waited_seconds for _ in range(3)]
        node.faults.clear()
        assert run_case(case, target).verdict is Verdict.PASS
        node.faults["add_group"] = node.faults["get_node_chain_config"] = always(503)
        waited.append(run_case(case, target).waited_seconds)
    assert waited == [0.02, 0.0, 0.0, 0.02]


@pytest.mark.parametrize(("status", "asked"), [(500, 1), (503, 2)], ids=["the node itself", "a gateway, again"])
def test_server_fault_is_asked_about_again_only_behind_a_gateway(
    run: Run, node: TinyNode, status: int, asked: int
) -> None:
    node.faults["add_group"] = always(status)

    assert (run(ADD).verdict, node.paths().count("add_group")) == (Verdict.FAIL, asked)
