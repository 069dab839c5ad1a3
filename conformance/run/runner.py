"""Runs cases against a node, one at a time, and returns the outcome of each. Independent of pytest.

cases = load([scenarios()], ["usage_*"])
with Target("http://127.0.0.1:8000", profile, seed="1") as target:
    outcomes = [run_case(case, target) for case in cases]
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.client import Target
from conformance.endpoints.conversation import GroupMembers, conversation
from conformance.endpoints.interruption import cleaning_up
from conformance.endpoints.redaction import Secrets
from conformance.endpoints.requests import GROUP_IDS
from conformance.problems import (
    Departure,
    IdleConnectionClosed,
    Problem,
    ProfileSilent,
    SetupFailed,
    StepProblem,
)
from conformance.profile import Operation, listening
from conformance.run.assumed import added, hint, relied_on, when_settled
from conformance.run.blame import note, own_or_blocked
from conformance.run.case import Case
from conformance.run.credit import left_behind, provide_after_conversions
from conformance.run.judging_case import JUDGED_BY
from conformance.run.known import Entry, Known, load_known
from conformance.run.loader import load
from conformance.run.offered import is_for_others, not_offered
from conformance.run.stated import assumed_that_explains, open_where_blocked, stated_hint
from conformance.run.unanswered import when_answered
from conformance.service.cleanup import clean_up, set_clock_right
from conformance.service.contract_calls import ContractCalls, own_names
from conformance.service.reliance import Reliance
from conformance.service.session import LABEL, labels_of
from conformance.values.shown_text import cut
from conformance.verdict import ASSUMED, NOT_APPLICABLE, Conversation, Failure, Outcome, Verdict

__all__ = ["Case", "Entry", "Known", "Target", "load", "load_known", "run_case"]

CLEAN_UP_SECONDS = 5.0
"""How long a case that is interrupted may clean up: its node may have stopped answering."""

LONGEST_TEXT = 20_000
"""Characters that are kept of what was expected, and of what came: both may hold texts of the node."""
MOST_BESIDE = 100
"""How many of a case's further failures are kept."""
LONGEST_IN_REASON = 400
"""Characters of each in the reason, which is told in one line."""

ENDED_FROM_OUTSIDE = frozenset({"KeyboardInterrupt", "GeneratorExit", "GreenletExit"})
"""Exceptions by which a signal, Python or gevent end what runs. By name: gevent is there in campaigns alone."""


def run_case(case: Case, target: Target) -> Outcome:
    """Run a case and clean up after it. Raises nothing: an error in the case itself is the verdict suite error."""
    began = time.perf_counter()
    run: CaseRun | None = None
    reliance = Reliance(target, case.info.relied_on)
    try:
        with listening(reliance.note):
            missing = not_offered(case, target)
        if missing:
            return _outcome(
                case, Verdict.NOT_OFFERED, missing, began, problem=NOT_APPLICABLE if is_for_others(case, target) else ""
            )
        with listening(reliance.note):
            run = CaseRun(target, case.id, reliance)
            outcome = _run(case, run, began)
            if outcome.properties.get("problem") == IdleConnectionClosed.code:
                outcome = _without_kept_connections(case, target, reliance, outcome, began)
            if run.change_is_unclear:
                outcome = _pinned_down(case, target, reliance, outcome, began)
            again = partial(_again, case, reliance, began)
            outcome = when_answered(outcome, run, partial(again, target.without_kept_connections()))
            return when_settled(outcome, target, reliance, again)
    except BaseException as error:  # SystemExit and pytest.skip, too, become a verdict, and the other cases run
        if type(error).__name__ in ENDED_FROM_OUTSIDE:
            raise
        return _suite_error(case, error, run, target, began)


def _without_kept_connections(
    case: Case, target: Target, reliance: Reliance, outcome: Outcome, began: float
) -> Outcome:
    """Run the case again from its beginning, each request on a connection of its own: no idle one can be closed."""
    return added(_again(case, reliance, began, target.without_kept_connections()), outcome)


def _again(case: Case, reliance: Reliance, began: float, target: Target) -> Outcome:
    return _run(case, CaseRun(target, case.id, reliance), began)


def _pinned_down(case: Case, target: Target, reliance: Reliance, outcome: Outcome, began: float) -> Outcome:
    """Run the case again, reading the state after each refused request, to name the request that changed it."""
    run = CaseRun(target, case.id, reliance)
    run.compares_at_once = True
    again = _run(case, run, began)
    return added(again, outcome) if again.verdict is Verdict.FAIL else added(outcome, again)


def _run(case: Case, run: CaseRun, began: float) -> Outcome:
    spent = run.log.spending
    outcome = _judged(case, run, began)
    cells = tuple(
        replace(cell, got=run.secrets.hide_beginning(cell.got, LONGEST_IN_REASON)) for cell in run.cells.values()
    )
    return replace(
        outcome,
        cells=cells,
        exchanges=run.log.sent,
        charged_cents=spent.charged,
        bought_cents=spent.bought,
        gas=spent.gas,
        waited_seconds=spent.waited,
        tried={name: tuple(values) for name, values in run.tried.items()},
    )


def _judged(case: Case, run: CaseRun, began: float) -> Outcome:
    provide_after_conversions(run)
    try:
        with run.target.turn() as turn:
            outcome = _performed(case, run, began)
        return replace(outcome, seconds=outcome.seconds - turn.waited)
    finally:
        with cleaning_up():
            clean_up(run)


def _performed(case: Case, run: CaseRun, began: float) -> Outcome:
    try:
        if case.info.counts_time:
            run.target.be_alone()
        case.perform(run)
    except StepProblem as problem:
        if isinstance(problem, ProfileSilent):
            return _outcome(case, Verdict.NOT_OFFERED, f"it needs {problem.expected}", began)
        return _departed(case, problem, run, began)
    except KeyboardInterrupt:
        run.target.end_within(CLEAN_UP_SECONDS)
        raise
    finally:
        with cleaning_up():
            set_clock_right(run)
    note(case, run, None)
    return _outcome(case, Verdict.PASS, "", began)


def _departed(case: Case, problem: StepProblem, run: CaseRun, began: float) -> Outcome:
    hide = run.secrets.hide
    assumed = relied_on(problem, run.reliance) or left_behind(problem, run)
    if isinstance(problem, Departure) and not assumed:
        note(case, run, problem)
        problem = own_or_blocked(problem, case, run)
    verdict = Verdict.FAIL if isinstance(problem, Departure) and not assumed else Verdict.INCONCLUSIVE
    last = run.last_exchange if problem.exchange is None else problem.exchange
    exchange = None if last is None else run.log.redacted(last)  # also finds keys that the texts hold only in part
    replay = hide(problem.replay) if problem.replay else None
    shown = None if problem.exchange is None else exchange
    expected, got = (run.secrets.tell_beginning(text, LONGEST_TEXT) for text in (problem.expected, problem.got))
    beside = tuple(run.secrets.tell_beginning(text, LONGEST_IN_REASON) for text in problem.beside[:MOST_BESIDE])
    exchanges = _conversation(run, last, problem.others, " ".join([got, *beside])) if verdict is Verdict.FAIL else None
    failure = Failure(problem.step, expected, got, shown, replay, exchanges, beside=beside)
    open_keys = assumed | open_where_blocked(problem, case, run, exchange)
    explains = assumed_that_explains(open_keys, problem, case, run, failure, exchange) if open_keys else ""
    if explains:
        assumed = {explains: open_keys[explains], **assumed}
    of_profile = hint(assumed, explains) if assumed else stated_hint(problem, run, failure, exchange)
    judge, of_step = _judge(problem, run)
    told = of_profile or of_step
    failure = replace(failure, hint=told)
    expected, got = (cut(text, LONGEST_IN_REASON) for text in (expected, got))
    more = f" (and {len(problem.beside)} more)" if problem.beside else ""
    reason = f"{problem.cause}: expected {expected}; got {got}{more}{f'; {told}' if told else ''}"
    outcome = _outcome(case, verdict, reason, began, failure=failure, problem=ASSUMED if assumed else problem.code)
    return replace(
        outcome,
        contradicted=problem.requirements,
        assumed=assumed,
        explains=explains,
        waits_for="" if of_profile else judge,
    )


def _conversation(run: CaseRun, departed: int | None, others: Sequence[int], got: str) -> Conversation:
    calls = ContractCalls(run)
    found = conversation(run.log, run.secrets, departed, _group_members(run), calls.read, others)
    return replace(found, names=found.names | own_names(run) | _names_of_others(run, got))


def _names_of_others(run: CaseRun, got: str) -> dict[str, str]:
    """The labels of other cases of the run in what came, by what a report calls them."""
    labels = {*LABEL.findall(got)} - {run.label}
    others = [case.id for rows in run.target.judging.values() for case in rows if isinstance(case, Case)]
    return {
        name: label for name, label in labels_of(others if labels else (), run.target.seed).items() if label in labels
    }


def _group_members(run: CaseRun) -> GroupMembers:
    """What the profile calls the members that are group ids, in the requests and answers of the case."""
    called = [run.target.operation(name) for name in run.log.operations if name]
    return GroupMembers(
        sent=frozenset(
            _last(wire) for operation in called for name, wire in operation.request.items() if name in GROUP_IDS
        ),
        answered=frozenset(_last(wire) for operation in called for wire in _group_ids(operation)),
    )


def _group_ids(operation: Operation) -> list[str]:
    """The members of its answer that are the id of a group."""
    of_items = [operation.items.get("id", "id")] if operation.name == "list_groups" and operation.items else []
    return [*of_items, *(wire for name, wire in operation.response.items() if name == "group_id")]


def _last(wire: str) -> str:
    """The innermost member of a wire name."""
    return wire.rpartition(".")[2]


def _judge(problem: StepProblem, run: CaseRun) -> tuple[str, str]:
    """The case that judges the step which blocks a case, and what tells of it; no case, and the hint of the problem."""
    if not isinstance(problem, SetupFailed):
        return "", problem.hint
    if problem.judged_by:
        return problem.judged_by, f"{problem.judged_by} judges that"
    operation = run.log.operation(run.last_exchange if problem.exchange is None else problem.exchange)
    judge = JUDGED_BY.get(operation, "")
    return judge, f"{operation} is judged by {judge}" if judge else problem.hint


def _suite_error(case: Case, error: BaseException, run: CaseRun | None, target: Target, began: float) -> Outcome:
    """The outcome of an error in the case or its driver, with Python's traceback."""
    hide = (run.secrets if run else Secrets(target.seen_keys)).hide
    message = f"{error.cause}: {error}" if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
    hint = f"; {error.hint}" if isinstance(error, Problem) and error.hint else ""
    outcome = _outcome(case, Verdict.SUITE_ERROR, hide(message + hint), began, len(run.log) if run else 0)
    return replace(outcome, traceback=hide("".join(traceback.format_exception(error))))


def _outcome(
    case: Case,
    verdict: Verdict,
    reason: str,
    began: float,
    exchanges: int = 0,
    failure: Failure | None = None,
    problem: str = "",
) -> Outcome:
    return Outcome(
        case=case.id,
        title=case.title,
        requirements=case.requirements,
        verdict=verdict,
        reason=reason,
        failure=failure,
        exchanges=exchanges,
        seconds=time.perf_counter() - began,
        properties={"problem": problem} if problem else {},
    )
