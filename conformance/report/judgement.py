"""The verdict on each requirement, from the outcomes of the cases that name it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.requirements import Coverage, Status
from conformance.verdict import NOT_APPLICABLE, Outcome, Verdict


class Judgement(StrEnum):
    """What is known about a requirement after a run."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    """Every check of it passed; checks for nodes that choose otherwise where the specification is silent apart."""
    PASS_IN_PART = "pass in part"  # noqa: S105 - a verdict, not a password
    """Some checks passed; the others were not offered or not selected."""
    FAIL = "fail"
    KNOWN = "known"
    """A check failed as the vendor's list of known failures says, and none failed otherwise."""
    INCONCLUSIVE = "inconclusive"
    """A check of it was inconclusive, or met an error of the suite."""
    NOT_OFFERED = "not offered"
    NOT_RUN = "not run"
    """It has checks, and the selection left out all of them."""
    NOT_YET_COVERED = "not yet covered"
    NOT_JUDGED = "not judged"
    """May and silent statements that no check names."""


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


def judge(statuses: Iterable[Status], outcomes: Iterable[Outcome]) -> tuple[Judged, ...]:
    """The verdict on every requirement, in the order of the catalogue."""
    by_case = {outcome.case: outcome for outcome in outcomes}
    return tuple(_judged(status, by_case) for status in statuses)


def _judged(status: Status, by_case: Mapping[str, Outcome]) -> Judged:
    ran = [by_case[case] for case in status.checks if case in by_case]
    told = [outcome for outcome in ran if _is_news(outcome, status)]
    if ran and not told:
        return Judged(status, Judgement.INCONCLUSIVE, ())
    failed = tuple(outcome.case for outcome in told if outcome.verdict in {Verdict.FAIL, Verdict.KNOWN})
    return Judged(status, _judgement(status, told), failed)


def _is_news(outcome: Outcome, status: Status) -> bool:
    """Whether the outcome says anything about the requirement: a failure may contradict others of its case alone."""
    mine = {status.requirement.id, *status.restates}
    return not outcome.contradicted or not mine.isdisjoint(outcome.contradicted)


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
