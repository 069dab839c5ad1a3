"""Writes a failing request as a pack that shows the failure by itself and passes on a correct node."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from conformance.drivers.fuzz.examples import Example, Sort
from conformance.drivers.fuzz.judge import ABOUT, GONE_FROM, LABEL, SHOWN_BY, Choices, Finding
from conformance.drivers.fuzz.packs import fresh_run, replay_case, replay_text
from conformance.drivers.fuzz.shrink import Requests
from conformance.drivers.fuzz.values import LABELS
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.driver import compile_case
from conformance.language.form import Members
from conformance.language.models import StepsCase
from conformance.language.templates import CompileContext
from conformance.problems import Departure, Inconclusive, LoadProblem, Mismatch, NotAccepted, StateChanged
from conformance.profile import Auth, Operation

ANY: Members = {"may_be_refused": "any", "expect": {"@status": {"at_most": 499}}}


def replay_of(
    requests: Requests,
    finding: Finding,
    beginning: list[Members],
    operation: Callable[[str], Operation],
    choices: Choices,
) -> dict[str, JsonValue]:
    """The case: the steps that fill the account, the requests, and the steps that show the failure."""
    *earlier, last = requests
    title = f"{last.operation}: a {last.sort.value} request that goes wrong"
    calls = [_call(example, operation(example.operation)) for example in earlier]
    steps = [*calls, *_matter(last, finding, _call(last, operation(last.operation)), choices)]
    if earlier and last.operation in GONE_FROM and isinstance(finding.problem, Mismatch):
        steps = _without_effect(GONE_FROM[last.operation], [*calls, _call(last, operation(last.operation))])
    return replay_case([*beginning, *steps], title, [finding.requirement], [])


def _call(example: Example, operation: Operation) -> Members:
    known = operation.request
    call: Members = {
        "call": example.operation,
        **({} if operation.auth is Auth.NONE else {"as": "alice"}),
        "with": {n: v for n, v in example.members.items() if n in known},
    }
    extra = {name: value for name, value in example.members.items() if name not in known}
    if extra:
        call["extra"] = extra
    if example.made:
        call["save"] = {example.made: example.given}
    return call


def _without_effect(listed: str, calls: list[Members]) -> list[Members]:
    """The calls, which make an object and remove it, between two readings that must be the same."""
    return [_before(listed), *calls, _listing(listed, {"equals": "${before}"})]


def _before(listed: str) -> Members:
    return {"list": listed, "as": "alice", "save": {"before": ""}}


def _listing(listed: str, matcher: Members) -> Members:
    return {"list": listed, "as": "alice", "expect": {"": matcher}}


def _matter(example: Example, finding: Finding, call: Members, choices: Choices) -> list[Members]:
    listed = SHOWN_BY.get(example.operation, "list_groups")
    match finding.problem:
        case StateChanged():
            return [_before(listed), call | ANY, _listing(listed, {"equals": "${before}"})]
        case Mismatch() if example.operation in ABOUT:
            return [call, _listing(listed, {"includes": _shown(example, choices)})]
        case NotAccepted():
            return [call]
    return [call | (ANY if example.sort is not Sort.PLAIN else {})]


def _shown(example: Example, choices: Choices) -> Members:
    """The members of the item that show the request."""
    hidden = set() if choices.replaces_labels(example.operation) else LABELS
    members = ((LABEL.get((example.operation, name), (name,))[0], value) for name, value in example.members.items())
    return {
        name: {"any_order": value} if isinstance(value, list) else value
        for name, value in members
        if name not in hidden | {"group_id", "usage_api_key", "action_ipfs_cid", "hashed_cid"}
        and "permitted" not in name
    }


def shown_by(case: dict[str, JsonValue], run: CaseRun, context: CompileContext) -> Departure | None:
    """The departure that the replay shows on this node; None where it passes."""
    branch, fresh = fresh_run(run, context, "replay")
    try:
        program = compile_case(StepsCase.model_validate(case), fresh)
        fresh.check()
        program(branch)
    except Departure as problem:
        return problem
    except (Inconclusive, LoadProblem):
        return None
    return None


def replay_pack(case: dict[str, JsonValue], run: CaseRun) -> str:
    """The pack as text."""
    source = run.seed.rstrip("/").rpartition("/")[2]
    return replay_text(case, source=source, number=1, seed=run.target.seed)
