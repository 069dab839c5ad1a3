"""How runs of actions end: with a result, with an error as the profile says, or with neither."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import JsonValue
from tiny_node import TinyNode, always

from conformance.problems import BadShape
from conformance.run.runner import Case
from conformance.verdict import Outcome, Verdict

Judged = Callable[..., tuple[Verdict, str]]
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


@pytest.fixture
def judged(run_stating: Callable[..., Outcome]) -> Judged:
    """The verdict on a run and the kind of its problem, where the profile states how runs fail."""

    def judge(body: str, **exec_keys: JsonValue) -> tuple[Verdict, str]:
        outcome = run_stating(body, {"exec": exec_keys})
        return outcome.verdict, outcome.properties.get("problem", "")

    return judge


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
    judged: Judged, node: TinyNode, body: str, answer: dict[str, object], verdict: Verdict
) -> None:
    node.faults["service_action"] = always(200, answer)
    assert judged(body) == (verdict, "" if verdict is Verdict.PASS else "run-ended-otherwise")


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
    judged: Judged, node: TinyNode, body: str, status: int, verdict: Verdict
) -> None:
    node.faults["service_action"] = always(status, {"response": None, "logs": ""})
    assert judged(body, failure_and_limits=OWN_STATUS)[0] is verdict


def test_failure_may_have_a_status_that_is_else_a_fault(judged: Judged, node: TinyNode) -> None:
    node.faults["service_action"] = always(500, {"logs": ""})
    assert judged(FAILS, failure_and_limits={**OWN_STATUS, "status": 500})[0] is Verdict.PASS


def test_failure_is_for_nodes_that_say_how_they_answer_it(judged: Judged) -> None:
    assert judged(FAILS, failure_and_limits=None)[0] is Verdict.NOT_OFFERED


def test_run_that_may_fail_may_also_be_refused(judged: Judged, node: TinyNode) -> None:
    node.faults["service_action"] = always(403, {"title": "no"})
    body = EITHER.replace("fails: either", "fails: either, may_be_refused: any")
    assert judged(body) == (Verdict.PASS, "")


@pytest.mark.parametrize(
    "more",
    [
        "call: add_group, fails: true",
        "call: run_action, fails: true, may_be_refused: any",
        "call: run_action, fails: either, refused: any",
    ],
)
def test_failure_beside_what_has_none_is_a_load_error(cases_of: Callable[[str], list[Case]], more: str) -> None:
    with pytest.raises(BadShape, match="a run"):
        cases_of(f"steps:\n  - account: alice\n  - {{{more}}}\n")
