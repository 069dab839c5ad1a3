"""Decides which requirements a failure counts against, and whether it says anything about its case at all.

1. A departure counts only against requirements that its kind can break: a wrongly refused request breaks none that
   demands a refusal (`_contradicted`).
2. Where a foundation that the case builds on is broken (`conformance.run.foundations`), the failure counts against
   those of its requirements that state the foundation; where none does, the case is blocked: inconclusive.
3. A foundation is broken where the case that judges it fails. That case runs at most once more in a process, and only
   when another one fails.
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

FOUNDATION_CASES = frozenset(foundation.judged_by for foundation in FOUNDATIONS)
"""The cases that judge foundations."""


def own_or_blocked(problem: Departure, case: Case, run: CaseRun) -> StepProblem:
    """The problem to report for a case that failed: its own with the requirements it counts against, or a SetupFailed.

    The latter says that the case is blocked.
    """
    if not run.target.judging:
        return problem
    judged = _blame(_CaseFailure(problem, problem.requirements or case.requirements, run), case, FOUNDATIONS)
    if isinstance(judged, SetupFailed):
        return judged
    problem.requirements = judged
    return problem


@dataclass(frozen=True)
class _CaseFailure:
    """How a case failed, and in which run of it."""

    problem: Departure
    judged: tuple[str, ...]
    """What the failing step judges."""
    run: CaseRun


def _blame(failed: _CaseFailure, case: Case, among: Sequence[Foundation]) -> tuple[str, ...] | SetupFailed:
    """The requirements that a failure counts against, or what blocks the case."""
    problem, run = failed.problem, failed.run
    charged = _contradicted(problem, failed.judged, run)
    if not charged:
        return SetupFailed.of(problem)
    set_clock_right(run)  # the judging cases sign by the right time, and what they find counts for the whole process
    for foundation in _before_its_own(case, failed, charged, among):
        if not _bears(foundation, problem, run):
            continue
        departure = _why_broken(foundation, run.target)
        if departure is None:
            continue
        stated = foundation.requirements | _about(Matter.DESCRIPTION)
        own = tuple(name for name in charged if name in failed.judged and name in stated)
        return own or _blocked(problem, foundation, departure)
    return charged


RECOGNISABLE = "ERR-140"
"""It says that a refusal can be told from a success."""
LEAST_OF_REFUSALS = 400
"""A lower status where a refusal is due breaks RECOGNISABLE, whatever the case is about."""
ABOUT_ONE_THING: Sequence[tuple[type[Departure], Matter, str]] = (
    (SecretTold, Matter.SECRETS, "ERR-160"),
    (ServerFaultAtRefusal, Matter.NO_SERVER_FAULT, RECOGNISABLE),
    (OtherKeyUsed, Matter.WALLETS_KEYS, "PKP-170"),
    (LeakyRefusal, Matter.NO_SUCCESS, RECOGNISABLE),
    (NotJson, Matter.BODIES, "EP-010"),
)
"""Kinds of departure that break statements about one thing alone: the kind, the thing, and the statement that is broken
where the case is about none of them.
"""


def _contradicted(problem: Departure, charged: Sequence[str], run: CaseRun) -> tuple[str, ...]:
    """Those of the requirements that a departure of this kind can break.

    A request that was refused breaks none that is about accepted ones alone, nor the other way round. Where an accepted
    request was to be refused and all of the requirements are about refusals, those stay that forbid a success.
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
    """The requirements without the others, where any is left."""
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
    case: Case, failed: _CaseFailure, charged: Sequence[str], among: Sequence[Foundation]
) -> Iterator[Foundation]:
    """The foundations up to the last that this failure shows not to hold: the case of the first of those fails."""
    own = [
        foundation.judged_by == case.id.partition("[")[0]
        and _shows(foundation, failed)
        and not foundation.requirements.isdisjoint(charged)
        and (foundation.name not in TRIALS or _why_broken(foundation, failed.run.target) is not None)
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


def _shows(foundation: Foundation, failed: _CaseFailure) -> bool:
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


def _why_broken(foundation: Foundation, target: Target) -> Departure | None:
    """Why the foundation does not hold; None where it does. Found out once in a process."""
    return target.remembered(f"foundation {foundation.name}", lambda: _test_foundation(foundation, target))


def _test_foundation(foundation: Foundation, target: Target) -> Departure | None:
    """How the case that judges the foundation shows that it is broken; None where it does not.

    Of a case with rows, one row that fails is enough.
    """
    trial = TRIALS.get(foundation.name)
    if trial and not _departure_of(trial, CaseRun(target, f"foundation {foundation.name}")):
        return None
    before = FOUNDATIONS[: FOUNDATIONS.index(foundation)]
    rows = target.judging.get(foundation.judged_by, ())
    for case in (row for row in rows if isinstance(row, Case)):
        failed = _failure_of(case, target)
        if failed is None or not _shows(foundation, failed):
            continue
        charged = _blame(failed, case, before)
        if not isinstance(charged, SetupFailed) and foundation.requirements.intersection(charged):
            return failed.problem
    return None


def note(case: Case, run: CaseRun, problem: Departure | None) -> None:
    """Remember how a case ended that judges foundations: it need not run again to tell whether these hold."""
    if run.target.judging and case.id.partition("[")[0] in FOUNDATION_CASES:
        ended = _CaseFailure(problem, problem.requirements or case.requirements, run) if problem else None
        run.target.remembered(f"foundations of {case.id}", lambda: ended)


def _failure_of(case: Case, target: Target) -> _CaseFailure | None:
    """How a case that judges foundations failed; where it has not run yet in this process, it does."""
    return target.remembered(f"foundations of {case.id}", lambda: _run_for_failure(case, target))


def _run_for_failure(case: Case, target: Target) -> _CaseFailure | None:
    """Run a case that judges foundations; how it failed."""
    if not_offered(case, target):
        return None
    run = CaseRun(target, f"foundations of {case.id}", Reliance(target, case.info.relied_on))
    problem = _departure_of(case.perform, run)
    return None if problem is None else _CaseFailure(problem, problem.requirements or case.requirements, run)


def _departure_of(perform: Callable[[CaseRun], None], run: CaseRun) -> Departure | None:
    """How a case or a trial departs; None where that depends on a value that the profile leaves open."""
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
