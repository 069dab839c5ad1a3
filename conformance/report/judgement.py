"""Judges each requirement by the outcomes of the cases that name it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.problems import NotAccepted, NotRefused
from conformance.requirements import Coverage, Status
from conformance.verdict import NOT_APPLICABLE, Outcome, Verdict


class Judgement(StrEnum):
    """The verdict of a run on a requirement."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    """Every check passed, apart from those for nodes with another choice where the specification is silent."""
    PASS_IN_PART = "pass in part"  # noqa: S105 - a verdict, not a password
    """Some checks passed; the others were not offered or not selected."""
    FAIL = "fail"
    KNOWN = "known"
    """A check failed that the vendor's list of known failures names, and no other check failed."""
    INCONCLUSIVE = "inconclusive"
    """A check was inconclusive or met an error of the suite, and none failed."""
    NOT_OFFERED = "not offered"
    NOT_RUN = "not run"
    """The run selected none of its checks."""
    NOT_YET_COVERED = "not yet covered"
    NOT_JUDGED = "not judged"
    """May and silent statements that no check names."""


MEANINGS = {
    Judgement.FAIL: "a check failed: the node contradicts the statement",
    Judgement.KNOWN: "a check failed that the list of known failures names, and no other",
    Judgement.INCONCLUSIVE: "a check taught nothing, and none failed",
    Judgement.PASS: "every check passed",
    Judgement.PASS_IN_PART: "some checks passed; the others were not offered or not selected",
    Judgement.NOT_OFFERED: "the profile does not claim what its checks need",
    Judgement.NOT_RUN: "the run selected none of its checks",
    Judgement.NOT_YET_COVERED: "the suite has no check yet",
    Judgement.NOT_JUDGED: "a may or silent statement that no check names",
}
"""What each verdict means, in the order in which reports show them: the worst first."""


@dataclass(frozen=True)
class Judged:
    """The verdict on one requirement."""

    status: Status
    judgement: Judgement
    failed: tuple[str, ...]
    """The cases that failed, known ones included."""


WORST_FIRST = (
    (Verdict.FAIL, Judgement.FAIL),
    (Verdict.SUITE_ERROR, Judgement.INCONCLUSIVE),
    (Verdict.INCONCLUSIVE, Judgement.INCONCLUSIVE),
    (Verdict.KNOWN, Judgement.KNOWN),
)

DEPARTS_FROM = {NotAccepted.code: "acceptance", NotRefused.code: "refusal"}
"""What a request was not answered with that had to be, by the code of the problem."""


def judge(statuses: Iterable[Status], outcomes: Iterable[Outcome]) -> tuple[Judged, ...]:
    """The verdict on every requirement, in the order of the catalogue."""
    by_case = {outcome.case: outcome for outcome in outcomes}
    return tuple(_judged(status, by_case) for status in statuses)


def _judged(status: Status, by_case: Mapping[str, Outcome]) -> Judged:
    checks = {*status.checks, *_told_by_others(status, by_case)}
    ran = [outcome for case, outcome in by_case.items() if case in checks]
    relevant = [outcome for outcome in ran if _is_relevant(outcome, status)]
    if ran and not relevant:
        return Judged(status, Judgement.INCONCLUSIVE, ())
    failed = tuple(outcome.case for outcome in relevant if outcome.verdict in {Verdict.FAIL, Verdict.KNOWN})
    return Judged(status, _judgement(status, relevant), failed)


def _told_by_others(status: Status, by_case: Mapping[str, Outcome]) -> list[str]:
    """The cases that are not about the requirement, and fail in a way that contradicts it all the same."""
    return [case for case, outcome in by_case.items() if status.requirement.id in outcome.contradicted]


def _is_relevant(outcome: Outcome, status: Status) -> bool:
    """Whether the outcome bears on the requirement.

    A failure that is charged to other requirements of its case alone does not. A request that was accepted wrongly
    breaks no statement that demands acceptance alone, nor does a wrong refusal break one that demands refusals.
    """
    demands, departed = status.requirement.demands, DEPARTS_FROM.get(outcome.properties.get("problem", ""))
    restated = () if demands and departed and demands != departed else status.restates
    return not outcome.contradicted or not {status.requirement.id, *restated}.isdisjoint(outcome.contradicted)


def _judgement(status: Status, ran: list[Outcome]) -> Judgement:
    seen = Counter(outcome.verdict for outcome in ran)
    for_others = sum(outcome.properties.get("problem") == NOT_APPLICABLE for outcome in ran)
    for verdict, judgement in WORST_FIRST:
        if seen[verdict]:
            return judgement
    if status.coverage is Coverage.NOT_YET:
        return Judgement.NOT_YET_COVERED
    if status.coverage is Coverage.NOT_JUDGED:
        return Judgement.NOT_JUDGED
    if seen[Verdict.PASS]:
        return Judgement.PASS if seen[Verdict.PASS] + for_others == len(status.checks) else Judgement.PASS_IN_PART
    return Judgement.NOT_OFFERED if seen[Verdict.NOT_OFFERED] else Judgement.NOT_RUN
