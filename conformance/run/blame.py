"""Decides whether a failure is a case's own, or whether a foundation that the case builds on does not hold.

`conformance.run.foundations` lists them. The case that judges one runs at most once more in a process, and only when
another one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Literal

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.client import Target
from conformance.problems import (
    Departure,
    Inconclusive,
    LeakyRefusal,
    NotAccepted,
    NotJson,
    NotRefused,
    OtherKeyUsed,
    SecretTold,
    ServerFault,
    ServerFaultAtRefusal,
    SetupFailed,
    StateChanged,
    StepProblem,
    WrongRefusal,
)
from conformance.profile import listening
from conformance.requirements import Matter, catalogue
from conformance.run.assumed import relied_on
from conformance.run.case import Case
from conformance.run.foundations import FOUNDATIONS, Foundation
from conformance.run.offered import not_offered
from conformance.run.trials import TRIALS
from conformance.service.cleanup import clean_up, set_clock_right
from conformance.service.refusal import ExpectedRefusal
from conformance.service.reliance import Reliance

JUDGES = frozenset(foundation.judged_by for foundation in FOUNDATIONS)
"""The cases that judge foundations."""


def own_or_blocked(problem: Departure, case: Case, run: CaseRun) -> StepProblem:
    """The problem to report for a case that failed.

    It is the problem itself where every foundation holds. Where one does not hold and states some of the charged
    requirements, the problem is charged to those alone. Otherwise the case is blocked: a SetupFailed.
    """
    if not run.target.judging:
        return problem
    judged = _judgement(_Failed(problem, problem.requirements or case.requirements, run), case, FOUNDATIONS)
    if isinstance(judged, SetupFailed):
        return judged
    problem.requirements = judged
    return problem


@dataclass(frozen=True)
class _Failed:
    """How a case failed."""

    problem: Departure
    judged: tuple[str, ...]
    """What the failing step judges."""
    run: CaseRun


def _judgement(failed: _Failed, case: Case, among: Sequence[Foundation]) -> tuple[str, ...] | SetupFailed:
    """What is charged for a failure, or what blocks the case."""
    problem, run = failed.problem, failed.run
    charged = _contradicted(problem, failed.judged, run)
    if not charged:
        return SetupFailed.of(problem)
    set_clock_right(run)  # the judging cases sign by the right time, and what they find counts for the whole process
    for foundation in _before_its_own(case, failed, charged, among):
        if not _bears(foundation, problem, run):
            continue
        departure = _problem(foundation, run.target)
        if departure is None:
            continue
        stated = foundation.requirements | _about(Matter.DESCRIPTION)
        own = tuple(name for name in charged if name in failed.judged and name in stated)
        return own or _blocked(problem, foundation, departure)
    return charged


RECOGNISABLE, LEAST_OF_REFUSALS = "ERR-140", 400
"""What every answer with a lower status to a request that must be refused contradicts, also in cases that are not about
it: it is no success, and says that the request was not refused either.
"""
ABOUT_ONE_THING: Sequence[tuple[type[Departure], Matter, str]] = (
    (SecretTold, Matter.SECRETS, "ERR-160"),
    (ServerFaultAtRefusal, Matter.NO_SERVER_FAULT, RECOGNISABLE),
    (OtherKeyUsed, Matter.WALLETS_KEYS, "PKP-170"),
    (LeakyRefusal, Matter.NO_SUCCESS, RECOGNISABLE),
    (NotJson, Matter.BODIES, "EP-010"),
)
"""Kinds of failure that contradict nothing but statements about one thing, and which of these also in cases that are
not about it: every refusal that tells a secret or what a success gives, or is a server fault, every body that is no
JSON, and every run that uses another key.
"""


def _contradicted(problem: Departure, charged: Sequence[str], run: CaseRun) -> tuple[str, ...]:
    """What such a departure can contradict of the charged requirements: a refused request is no accepted one.

    An accepted one is no refused one either. Where all that is charged is about refusals, what forbids the answer of a
    success stays.
    """
    if isinstance(problem, NotAccepted):
        about_key = _refused_as({"unauthenticated", "forbidden"}, problem, run)
        beside = _about(Matter.ACCEPTED_REQUESTS) | _about(Matter.PATHS if about_key else Matter.ACCOUNT_KEYS)
        return _beside([name for name in charged if name not in beside], _demanding("refusal"))
    if isinstance(problem, NotRefused):
        refused = _about(Matter.REFUSED_REQUESTS)
        about_others = _beside([name for name in charged if name not in refused], _demanding("acceptance"))
        return about_others or tuple(name for name in charged if name in _about(Matter.NO_SUCCESS))
    if (
        isinstance(problem, WrongRefusal)
        and (run.log.status(problem.exchange) or LEAST_OF_REFUSALS) < LEAST_OF_REFUSALS
    ):
        return (RECOGNISABLE,)
    for kind, matter, stated in ABOUT_ONE_THING:
        if isinstance(problem, kind):
            return tuple(name for name in charged if name in _about(matter)) or (stated,)
    alone = _alone(problem, charged)
    return tuple(name for name in charged if name in alone) or tuple(charged)


def _about(matter: Matter) -> frozenset[str]:
    return catalogue().about[matter]


def _beside(charged: Sequence[str], others: Set[str]) -> tuple[str, ...]:
    """The charged requirements without the others, where any is left."""
    return tuple(name for name in charged if name not in others) or tuple(charged)


@cache
def _demanding(answer: Literal["acceptance", "refusal"]) -> frozenset[str]:
    """The requirements that demand nothing else."""
    return frozenset(found.id for found in catalogue().requirements if found.demands == answer)


def _alone(problem: Departure, charged: Sequence[str]) -> frozenset[str]:
    """What alone of the charged requirements such a departure contradicts, where it is about any of them."""
    if isinstance(problem, StateChanged):
        state = _about(Matter.UNCHANGED_STATE)
        return state if state & {*charged} else frozenset(charged) - _about(Matter.REJECTION)
    if isinstance(problem, ServerFault) and RECOGNISABLE in charged:
        return _about(Matter.NO_SERVER_FAULT)
    return frozenset(charged)


def _before_its_own(
    case: Case, failed: _Failed, charged: Sequence[str], among: Sequence[Foundation]
) -> Iterator[Foundation]:
    """The foundations up to the last that this failure shows not to hold: the case of the first of those fails."""
    own = [
        foundation.judged_by == case.id.partition("[")[0]
        and _shows(foundation, failed)
        and not foundation.requirements.isdisjoint(charged)
        and (foundation.name not in TRIALS or _problem(foundation, failed.run.target) is not None)
        for foundation in among
    ]
    last = max((at for at, judged in enumerate(own) if judged), default=len(among))
    for foundation, judged in zip(among[: last + 1], own, strict=False):
        if not judged or foundation.name in TRIALS:
            yield foundation


def _bears(foundation: Foundation, problem: Departure, run: CaseRun) -> bool:
    """Whether the failure may come from the foundation, and a case of the run judges it.

    Without such a case, a broken foundation would block cases and fail none.
    """
    return (
        isinstance(problem, foundation.departures)
        and foundation.bears(run.log.operations)
        and foundation.judged_by in run.target.judging
        and _refused_as(foundation.refused_as, problem, run)
    )


def _shows(foundation: Foundation, failed: _Failed) -> bool:
    """Whether such a failure of the case that judges a foundation can show that it does not hold."""
    problem, classes = failed.problem, foundation.refused_as
    fits = not isinstance(problem, NotAccepted) or _refused_as(classes, problem, failed.run)
    return isinstance(problem, foundation.shown_by) and fits


def _refused_as(classes: Set[str], problem: Departure, run: CaseRun) -> bool:
    """Whether the answer that departed has a status of one of these classes of refusals; of no classes, any has."""
    return not classes or run.log.status(problem.exchange) in ExpectedRefusal.of(classes, run.target.profile).statuses


def _blocked(problem: Departure, foundation: Foundation, departure: Departure) -> SetupFailed:
    failure = SetupFailed(departure.expected, departure.got, problem.exchange)
    failure.step = f"{problem.step}, which builds on {foundation.name}"
    failure.judged_by = foundation.judged_by
    return failure


def _problem(foundation: Foundation, target: Target) -> Departure | None:
    return target.remembered(f"foundation {foundation.name}", lambda: _tried(foundation, target))


def _tried(foundation: Foundation, target: Target) -> Departure | None:
    """Why the foundation does not hold. None where it holds, where nothing can be told, or where its case passes.

    Of a table one row that fails is enough.
    """
    trial = TRIALS.get(foundation.name)
    if trial and not _departure(trial, CaseRun(target, f"foundation {foundation.name}")):
        return None
    before = FOUNDATIONS[: FOUNDATIONS.index(foundation)]
    rows = target.judging.get(foundation.judged_by, ())
    for case in (row for row in rows if isinstance(row, Case)):
        failed = _failed(case, target)
        if failed is None or not _shows(foundation, failed):
            continue
        charged = _judgement(failed, case, before)
        if not isinstance(charged, SetupFailed) and foundation.requirements.intersection(charged):
            return failed.problem
    return None


def note(case: Case, run: CaseRun, problem: Departure | None) -> None:
    """Remember how a case ended that judges foundations: it need not run again to tell whether these hold."""
    if run.target.judging and case.id.partition("[")[0] in JUDGES:
        ended = _Failed(problem, problem.requirements or case.requirements, run) if problem else None
        run.target.remembered(f"foundations of {case.id}", lambda: ended)


def _failed(case: Case, target: Target) -> _Failed | None:
    """How a case that judges foundations failed; where it has not run yet in this process, it does."""
    return target.remembered(f"foundations of {case.id}", lambda: _failing(case, target))


def _failing(case: Case, target: Target) -> _Failed | None:
    if not_offered(case, target):
        return None
    run = CaseRun(target, f"foundations of {case.id}", Reliance(target, case.info.relied_on))
    problem = _departure(case.perform, run)
    return None if problem is None else _Failed(problem, problem.requirements or case.requirements, run)


def _departure(perform: Callable[[CaseRun], None], run: CaseRun) -> Departure | None:
    try:
        with listening(run.reliance.note):
            perform(run)
    except Departure as problem:
        return None if relied_on(problem, run.reliance) else problem
    except Inconclusive:
        return None
    finally:
        clean_up(run)
    return None
