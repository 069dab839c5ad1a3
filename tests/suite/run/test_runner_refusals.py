"""Refusals: what counts as one, and that it is worth nothing without its control and the unchanged state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from textwrap import dedent

import pytest
from tiny_node import DROP, Asked, Fault, TinyNode, Told, always

from conformance.endpoints.client import Target
from conformance.problems import Departure
from conformance.service.accounts import Accounts
from conformance.service.groups import Groups
from conformance.service.lists import unchanged_list
from conformance.service.refusal import must_refuse
from conformance.service.session import Session
from conformance.verdict import Outcome, Verdict

Run = Callable[[str], Outcome]
REFUSED_WRITE = dedent("""\
    setup:
      - account: alice
      - {call: add_usage_api_key, with: {name: k, description: d}, save: {key: usage_api_key}}
    steps:
      - {call: add_usage_api_key, id: owner-adds, with: {name: l, description: d}}
      - call: add_usage_api_key
        as: ${key}
        with: {name: m, description: d}
        refused: forbidden
        control: owner-adds
        unchanged: [list_groups, list_api_keys]
    """)


def by_key(node: TinyNode, told: Fault) -> Fault:
    """Answer usage keys in another way; the account itself gets what it should."""
    return lambda asked: told(asked) if asked.key in node.owners else node.honest(asked)


def test_refusal_with_control_and_unchanged_state_passes(run: Run, node: TinyNode) -> None:
    outcome = run(REFUSED_WRITE)

    assert outcome.verdict is Verdict.PASS, outcome.reason
    reads = [path for path in node.paths() if path.startswith("list_")]
    assert reads == ["list_groups", "list_api_keys", "list_groups", "list_api_keys"]


NOT_THE_REFUSAL: dict[str, tuple[Fault, str]] = {
    "accepted": (always(200, {"success": True}), "not-refused"),
    **{f"status {status}": (always(status), "wrong-refusal") for status in (400, 401, 404, 422)},
    "page": (always(403, "<html>"), "malformed"),
    "key in the body": (lambda asked: Told(403, {"title": f"the key {asked.key} may not"}), "leaky-refusal"),
    "key in a header": (lambda asked: Told(403, {"title": "no"}, {"X-Debug": asked.key}), "leaky-refusal"),
    "key, escaped": (lambda asked: Told(403, {"title": asked.key.replace("/", "\\/")}), "leaky-refusal"),
    "a new key": (always(403, {"usage_api_key": "a fresh key"}), "leaky-refusal"),
    "success": (always(403, {"success": True}), "leaky-refusal"),
}


@pytest.mark.parametrize("name", NOT_THE_REFUSAL)
def test_answer_that_is_not_the_refusal_fails_by_its_kind(run: Run, node: TinyNode, name: str) -> None:
    told, problem = NOT_THE_REFUSAL[name]
    node.faults["add_usage_api_key"] = by_key(node, told)

    outcome = run(REFUSED_WRITE)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.FAIL, problem)


@pytest.mark.parametrize(
    ("classes", "told", "verdict"),
    [
        *((classes, Told(status), Verdict.FAIL) for classes in ("forbidden", "any") for status in (500, 503, DROP)),
        ("any", Told(402), Verdict.INCONCLUSIVE),
        ("any", Told(429, headers={"Retry-After": "9999"}), Verdict.INCONCLUSIVE),
        ("insufficient_credit", Told(402), Verdict.PASS),
        ("forbidden", Told(403, {"success": False}), Verdict.PASS),
        ("forbidden", Told(403, {"success": None, "usage_api_key": ""}), Verdict.PASS),
        ("forbidden", Told(403, {"usage_api_key": None}), Verdict.PASS),
    ],
)
def test_trouble_is_no_refusal_of_any_class(
    run: Run, node: TinyNode, classes: str, told: Told, verdict: Verdict
) -> None:
    node.faults["add_usage_api_key"] = by_key(node, lambda _: told)

    assert run(REFUSED_WRITE.replace("refused: forbidden", f"refused: {classes}")).verdict is verdict


def test_server_fault_is_told_with_what_was_expected_in_its_place(run: Run, node: TinyNode) -> None:
    node.faults["add_usage_api_key"] = by_key(node, always(500))
    refused = run(REFUSED_WRITE).failure
    node.faults["add_usage_api_key"] = always(500)
    accepted = run(REFUSED_WRITE).failure

    assert refused is not None
    assert refused.expected == "a refusal of add_usage_api_key (forbidden: 403)"
    assert accepted is not None
    assert accepted.expected == "acceptance (2xx) of add_usage_api_key"


@pytest.mark.parametrize("patience", [1.0])
def test_time_out_is_never_a_refusal(run: Run, node: TinyNode) -> None:
    node.faults["add_usage_api_key"] = by_key(node, node.hang)

    outcome = run(REFUSED_WRITE)

    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.FAIL, "no-answer-in-time")


def test_changed_state_is_charged_to_the_requirement_that_refusals_change_nothing(run: Run, node: TinyNode) -> None:
    def refuse_and_add(asked: Asked) -> Told:
        node.groups[node.owners[asked.key]].append({"id": 9, "name": "changed", "description": ""})
        return Told(403)

    node.faults["add_usage_api_key"] = by_key(node, refuse_and_add)
    about_both = REFUSED_WRITE.replace(
        "    refused: forbidden", "    judges: [ERR-140, ERR-150]\n    refused: forbidden"
    )

    outcome = run("requirements: [ERR-140, ERR-150]\n" + about_both)

    assert (outcome.properties["problem"], outcome.blamed) == ("state-changed", ("ERR-150",))


ELSEWHERE = {
    "outside": {"path": "/core/v2/add_group"},
    "unknown": {"path": "/core/v1/add_groups"},
    "method": {"method": "PUT"},
}


@pytest.mark.parametrize(
    ("place", "told", "problem"),
    [
        ("outside", Told(404, "<html>"), None),
        ("outside", Told(200, "<html>"), None),
        ("outside", Told(308, "", {"Location": "/docs"}), None),
        ("outside", Told(200, {"success": True}), "not-refused"),
        ("outside", Told(200, ""), "not-refused"),
        ("outside", Told(500, "<html>"), "server-fault"),
        ("unknown", Told(404, "not found"), None),
        ("unknown", Told(200, "<html>"), "malformed"),
        ("method", Told(405, "<html>"), None),
        ("method", Told(308, ""), "wrong-refusal"),
        ("method", Told(405, {"success": True}), "leaky-refusal"),
    ],
)
def test_what_is_no_endpoint_may_have_pages_of_its_own(
    target: Target, node: TinyNode, place: str, told: Told, problem: str | None
) -> None:
    def elsewhere(asked: Asked) -> Told:
        return told if place == "method" and asked.method == "PUT" else node.honest(asked)

    node.faults |= {"/core/v2/add_group": lambda _: told, "add_groups": lambda _: told, "add_group": elsewhere}
    session = Session(target, "trial::one")
    alice = Accounts(session).new().key
    adds, groups = Groups(session).add(alice).accepted, unchanged_list(session, "list_groups", alice)
    request = replace(adds.changed(), **ELSEWHERE[place])

    with nullcontext() if problem is None else pytest.raises(Departure) as raised:
        must_refuse(session, request, ["any"], control=adds, unchanged=[groups])

    assert problem is None or raised.value.code == problem


@pytest.mark.parametrize(
    ("codes", "verdict"),
    [
        ({"forbidden": (403,)}, Verdict.FAIL),
        ({"forbidden": (403, 418)}, Verdict.PASS),
        ({"forbidden": None}, Verdict.PASS),
        (None, Verdict.PASS),
    ],
)
def test_profile_decides_the_statuses_of_a_class(
    run_stating: Callable[..., Outcome], node: TinyNode, codes: object, verdict: Verdict
) -> None:
    node.faults["add_usage_api_key"] = by_key(node, always(418))

    assert run_stating(REFUSED_WRITE, {"errors": {"status_codes": codes}}).verdict is verdict


ABSENT = """\
    setup: [{account: alice}]
    steps:
      - {call: remove_group, id: removes, with: {group_id: 1}}
      - {call: remove_group, with: {group_id: 1}, refused: not_found, control: removes, unchanged: [list_groups]}
    """


@pytest.mark.parametrize(
    ("stated", "answer", "verdict"),
    [
        ("not_found", 404, Verdict.PASS),
        ("not_found", 200, Verdict.FAIL),
        ("conflict", 409, Verdict.PASS),
        ("accepted", 200, Verdict.PASS),
        ("accepted", 404, Verdict.PASS),
        ("accepted", 403, Verdict.FAIL),
        (None, 200, Verdict.PASS),
        (None, 410, Verdict.PASS),
    ],
)
def test_deletion_of_what_is_not_there_does_what_the_profile_says(
    run_stating: Callable[..., Outcome], node: TinyNode, stated: str | None, answer: int, verdict: Verdict
) -> None:
    def told(_: Asked) -> Told:
        status = 200 if node.paths().count("remove_group") == 1 else answer
        return Told(status, {"success": True} if status == 200 else {})

    node.faults["remove_group"] = told

    assert run_stating(ABSENT, {"semantics": {"delete_absent": stated}}).verdict is verdict


MAYBE = """\
    setup: [{account: alice}]
    steps:
      - call: remove_group
        with: {group_id: 1}
        may_be_refused: not_found
        expect: {success: true, "@status": {at_most: 404}}
    """


@pytest.mark.parametrize(("status", "verdict"), [(404, Verdict.PASS), (403, Verdict.FAIL), (500, Verdict.FAIL)])
def test_step_that_may_be_refused_takes_its_class_only(run: Run, node: TinyNode, status: int, verdict: Verdict) -> None:
    node.faults["remove_group"] = always(status)

    assert run(MAYBE).verdict is verdict


def test_step_that_may_be_refused_is_judged_when_accepted(run: Run, node: TinyNode) -> None:
    node.faults["remove_group"] = always(200, {"success": False})

    outcome = run(MAYBE)

    assert outcome.verdict is Verdict.FAIL
    assert "at success" in outcome.reason
