"""How runs of actions end: with a result, with an error as the profile says, or with neither."""

from __future__ import annotations

import pytest
from pydantic import JsonValue
from tiny_node import TinyNode, always

from conformance.endpoints.client import Target
from conformance.problems import StepProblem
from conformance.profile import Profile
from conformance.service.runs import Runs
from conformance.service.session import Session

SUCCEEDS, FAILS, EITHER = "must_succeed", "must_fail", "any_end"
RESULT = {"response": 1, "logs": "", "has_error": False}
ERROR = {"response": None, "logs": "", "has_error": True}
OWN_STATUS: dict[str, JsonValue] = {"status": 422, "error_member": None}


def problem(node: TinyNode, expected: str, **exec_keys: JsonValue) -> str:
    """The kind of the problem with a run of this expected end, where the profile states how runs fail; empty: none."""
    with Target(node.url, Profile.model_validate({"exec": exec_keys}), seed="7") as target:
        runs = Runs(Session(target, "trial::one"))
        try:
            getattr(runs, expected)(runs.request("a key", "x"))
        except StepProblem as raised:
            return raised.code
    return ""


@pytest.mark.parametrize(
    ("expected", "answer", "holds"),
    [
        (SUCCEEDS, RESULT, True),
        (SUCCEEDS, {"response": 1, "logs": ""}, True),
        (SUCCEEDS, ERROR, False),
        (FAILS, ERROR, True),
        (FAILS, RESULT, False),
        (FAILS, {"response": None, "logs": ""}, False),
        (EITHER, RESULT, True),
        (EITHER, ERROR, True),
    ],
)
def test_run_is_told_from_a_failed_one_by_the_mark(
    node: TinyNode, expected: str, answer: dict[str, object], *, holds: bool
) -> None:
    node.faults["service_action"] = always(200, answer)
    assert problem(node, expected) == ("" if holds else "run-ended-otherwise")


@pytest.mark.parametrize(
    ("expected", "status", "kind"),
    [
        (FAILS, 422, ""),
        (EITHER, 422, ""),
        (SUCCEEDS, 422, "not-accepted"),
        (FAILS, 200, "run-ended-otherwise"),
        (EITHER, 200, ""),
        (FAILS, 403, "not-accepted"),
        (EITHER, 403, ""),
        (FAILS, 500, "server-fault"),
        (FAILS, 402, "out-of-credit"),
        (FAILS, 429, "throttled"),
    ],
)
def test_run_is_told_from_a_failed_one_by_the_status(node: TinyNode, expected: str, status: int, kind: str) -> None:
    node.faults["service_action"] = always(status, {"response": None, "logs": ""}, Retry_After="3600")
    assert problem(node, expected, failure_and_limits=OWN_STATUS) == kind


def test_failure_may_have_a_status_that_is_else_a_fault(node: TinyNode) -> None:
    node.faults["service_action"] = always(500, {"logs": ""})
    assert problem(node, FAILS, failure_and_limits={**OWN_STATUS, "status": 500}) == ""
