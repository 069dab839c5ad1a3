"""Decides whether a failure is a case's own: where something that it builds on does not hold, it has learnt nothing.

What cases build on stands in `foundations`. Each is tried once in a process, and only when a case fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.client import Target
from conformance.problems import Departure, Inconclusive, SetupFailed, StepProblem
from conformance.profile import listening
from conformance.run.assumed import relied_on
from conformance.run.foundations import FOUNDATIONS, Foundation
from conformance.service.cleanup import clean_up
from conformance.service.reliance import Reliance


def own_or_blocked(problem: Departure, charged: Sequence[str], run: CaseRun) -> StepProblem:
    """The problem of a case as it counts: its own, charged to what does not hold where it is about that, or blocked.

    `charged` are the requirements that it would be a failure of.
    """
    for foundation in FOUNDATIONS:
        if not _bears(foundation, problem, run):
            continue
        wrong = _problem(foundation, run.target)
        if wrong is None:
            continue
        own = tuple(name for name in charged if name in foundation.requirements)
        if not own:
            return _blocked(problem, foundation, wrong)
        problem.requirements = own
        return problem
    return problem


def _bears(foundation: Foundation, problem: Departure, run: CaseRun) -> bool:
    """Whether the case builds on it, and a case of the run judges it: else nothing would fail because of it."""
    return (
        isinstance(problem, foundation.departures)
        and (not foundation.operation or foundation.operation in run.log.operations)
        and foundation.judged_by in run.target.judging
    )


def _blocked(problem: Departure, foundation: Foundation, wrong: Departure) -> SetupFailed:
    failure = SetupFailed(wrong.expected, wrong.got, problem.exchange)
    failure.step = f"{problem.step}, which builds on {foundation.name}"
    failure.judged_by = foundation.judged_by
    return failure


def _problem(foundation: Foundation, target: Target) -> Departure | None:
    return target.remembered(f"foundation {foundation.name}", lambda: _tried(foundation, target))


def _tried(foundation: Foundation, target: Target) -> Departure | None:
    """What is wrong with it. Nothing is said where what it builds on does not hold, or the trial came to nothing."""
    if _is_beside_the_point(foundation, target):
        return None
    reliance = Reliance(target, set())
    run = CaseRun(target, f"foundation {foundation.name}", reliance)
    try:
        with listening(reliance.note):
            foundation.holds(run)
    except Departure as problem:
        return None if relied_on(problem, reliance) else problem
    except Inconclusive:
        return None
    finally:
        clean_up(run)
    return None


def _is_beside_the_point(foundation: Foundation, target: Target) -> bool:
    upon = [one for one in FOUNDATIONS if one.name in foundation.upon]
    return any(_problem(one, target) or _is_beside_the_point(one, target) for one in upon)
