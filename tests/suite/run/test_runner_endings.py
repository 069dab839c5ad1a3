"""How runs of actions end: with a result, with an error as the profile says, or with neither."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import JsonValue
from tiny_node import TinyNode, always

from conformance.problems import BadShape
from conformance.profile import Profile
from conformance.run.runner import Case, Target, run_case
from conformance.verdict import Verdict

Cases = Callable[[str], list[Case]]
RUNS = """\
    steps:
      - account: alice
      - {call: run_action, with: {code: x}, expect: {logs: ""}FAILS}
    """
PLAIN = RUNS.replace("FAILS", "")
FAILS = RUNS.replace("FAILS", ", fails: true")
EITHER = RUNS.replace("FAILS", ", fails: either")
RESULT = {"response": 1, "logs": "", "has_error": False}
ERROR = {"response": None, "logs": "", "has_error": True}
OWN_STATUS: dict[str, JsonValue] = {"status": 422, "error_member": None}


def judged(cases_of: Cases, node: TinyNode, body: str, forms: JsonValue = None) -> tuple[Verdict, str]:
    stated = {} if forms is None else {"failure_and_limits": forms}
    with Target(node.url, Profile.model_validate({"exec": stated}), seed="7") as target:
        outcome = run_case(cases_of(body)[0], target)
    return outcome.verdict, outcome.properties.get("problem", "")


@pytest.mark.parametrize(
    ("body", "answer", "verdict"),
    [
        (PLAIN, RESULT, Verdict.PASS),
        (PLAIN, {"response": 1, "logs": ""}, Verdict.PASS),
        (PLAIN, ERROR, Verdict.FAIL),
        (FAILS, ERROR, Verdict.PASS),
        (FAILS, RESULT, Verdict.FAIL),
        (FAILS, {"response": None, "logs": ""}, Verdict.FAIL),
        (EITHER, RESULT, Verdict.PASS),
        (EITHER, ERROR, Verdict.PASS),
    ],
)
def test_run_is_told_from_a_failed_one_by_the_mark(
    cases_of: Cases, node: TinyNode, body: str, answer: dict[str, object], verdict: Verdict
) -> None:
    node.faults["service_action"] = always(200, answer)
    assert judged(cases_of, node, body) == (verdict, "" if verdict is Verdict.PASS else "run-ended-otherwise")


@pytest.mark.parametrize(
    ("body", "status", "verdict"),
    [
        (FAILS, 422, Verdict.PASS),
        (EITHER, 422, Verdict.PASS),
        (PLAIN, 422, Verdict.FAIL),
        (FAILS, 200, Verdict.FAIL),
        (EITHER, 200, Verdict.PASS),
        (FAILS, 403, Verdict.FAIL),
        (EITHER, 403, Verdict.FAIL),
        (FAILS, 500, Verdict.FAIL),
        (FAILS, 402, Verdict.INCONCLUSIVE),
        (FAILS, 429, Verdict.INCONCLUSIVE),
    ],
)
def test_run_is_told_from_a_failed_one_by_the_status(
    cases_of: Cases, node: TinyNode, body: str, status: int, verdict: Verdict
) -> None:
    node.faults["service_action"] = always(status, {"response": None, "logs": ""})
    assert judged(cases_of, node, body, OWN_STATUS)[0] is verdict


def test_failure_may_have_a_status_that_is_else_a_fault(cases_of: Cases, node: TinyNode) -> None:
    node.faults["service_action"] = always(500, {"logs": ""})
    assert judged(cases_of, node, FAILS, {**OWN_STATUS, "status": 500})[0] is Verdict.PASS


def test_failure_is_for_nodes_that_say_how_they_answer_it(cases_of: Cases, node: TinyNode) -> None:
    with Target(node.url, Profile.model_validate({"exec": {"failure_and_limits": None}}), seed="7") as target:
        assert run_case(cases_of(FAILS)[0], target).verdict is Verdict.NOT_OFFERED


def test_run_that_may_fail_may_also_be_refused(cases_of: Cases, node: TinyNode) -> None:
    node.faults["service_action"] = always(403, {"title": "no"})
    body = EITHER.replace("fails: either", "fails: either, may_be_refused: any")
    assert judged(cases_of, node, body) == (Verdict.PASS, "")


@pytest.mark.parametrize(
    "more",
    [
        "call: add_group, fails: true",
        "call: run_action, fails: true, may_be_refused: any",
        "call: run_action, fails: either, refused: any",
    ],
)
def test_failure_beside_what_has_none_is_a_load_error(cases_of: Cases, more: str) -> None:
    with pytest.raises(BadShape, match="a run"):
        cases_of(f"steps:\n  - account: alice\n  - {{{more}}}\n")
