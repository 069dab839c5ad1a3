"""Compares the results of two runs, requirement by requirement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.report.judgement import Judgement
from conformance.report.results import RequirementResult, Results
from conformance.report.summary import code


class Change(StrEnum):
    """How the verdict on a requirement changed."""

    BROKEN = "broken"
    """It fails, and did not before."""
    MENDED = "mended"
    """It failed, and passes."""
    LOST = "no longer shown"
    """It passed, and now it neither passes nor fails."""
    SHOWN = "newly shown"
    """It passes, and before it neither passed nor failed."""
    OTHER = "otherwise"
    """Another verdict, and neither run passes it."""
    NEW = "new"
    """The earlier run does not know it."""
    GONE = "gone"
    """The later run does not know it."""


MEANINGS = {
    Change.BROKEN: "it fails, and did not before",
    Change.MENDED: "it failed, and passes",
    Change.LOST: "it passed, and now it neither passes nor fails",
    Change.SHOWN: "it passes, and before it neither passed nor failed",
    Change.OTHER: "another verdict, and neither run passes it, or one of them in part only",
    Change.NEW: "the earlier run does not know it",
    Change.GONE: "the later run does not know it",
}
"""What each change means."""
PASSING = {Judgement.PASS, Judgement.PASS_IN_PART}


@dataclass(frozen=True)
class Changed:
    """One requirement whose verdict differs between the runs."""

    id: str
    text: str
    change: Change
    before: Judgement | None
    after: Judgement | None
    failed: tuple[str, ...]
    """The cases that fail now."""


def cases_of(results: Results) -> str:
    """Which cases a run chose, in words."""
    return ("quick " if results.quick else "") + (" ".join(results.selected) or "every case")


def compare(before: Results, after: Results) -> tuple[Changed, ...]:
    """Every requirement whose verdict changed, by change and then in the order of the catalogue.

    Where the runs chose other cases, what follows from the choice alone is no change.
    """
    old = {requirement.id: requirement for requirement in before.requirements}
    new = {requirement.id: requirement for requirement in after.requirements}
    changed = list(filter(None, (_changed(old.get(name), new.get(name)) for name in {**old, **new})))
    if cases_of(before) != cases_of(after):
        changed = [one for one in changed if not _chosen_otherwise(one)]
    order = list(Change)
    return tuple(sorted(changed, key=lambda item: order.index(item.change)))


def _chosen_otherwise(one: Changed) -> bool:
    """Whether the choice of cases explains the change."""
    verdicts = {one.before, one.after}
    return Judgement.NOT_RUN in verdicts or verdicts == PASSING


def _changed(before: RequirementResult | None, after: RequirementResult | None) -> Changed | None:
    known = after or before
    old, new = (requirement.verdict if requirement else None for requirement in (before, after))
    if known is None or old == new:
        return None
    failed = after.failed if after and new is Judgement.FAIL else ()
    return Changed(known.id, known.text, _change(old, new), old, new, failed)


def _change(old: Judgement | None, new: Judgement | None) -> Change:
    if new is None:
        return Change.GONE
    if new is Judgement.FAIL:
        return Change.BROKEN
    if old is None:
        return Change.NEW
    if new in PASSING:
        return Change.MENDED if old is Judgement.FAIL else Change.OTHER if old in PASSING else Change.SHOWN
    return Change.LOST if old in PASSING else Change.OTHER


def markdown(before: Results, after: Results, changed: Iterable[Changed]) -> str:
    """The changes as Markdown."""
    lines = ["# Changes between two runs", "", "| | before | after |", "|---|---|---|"]
    lines += [f"| {name} | {old} | {new} |" for name, (old, new) in _facts(before, after).items()]
    if cases_of(before) != cases_of(after):
        lines += ["", "The runs chose other cases: only statements that both tried are compared."]
    groups: dict[Change, list[Changed]] = {}
    for one in changed:
        groups.setdefault(one.change, []).append(one)
    for change, members in groups.items():
        lines += ["", f"## {change.capitalize()} ({len(members)})", ""]
        for one in members:
            lines.append(f"- **{one.id}** {one.before or 'unknown'} → {one.after or 'unknown'}: {one.text}")
            lines += [f"  - {code(case)}" for case in one.failed]
    if not groups:
        lines += ["", "No requirement has another verdict."]
    return "\n".join(lines) + "\n"


def _facts(before: Results, after: Results) -> Mapping[str, tuple[str, str]]:
    def of(results: Results) -> list[str]:
        return [
            code(results.target.base_url),
            "conforms" if results.conforms else "does not conform",
            f"{results.started:%Y-%m-%d %H:%M} UTC",
            code(cases_of(results)),
            results.suite.version,
            code(results.specification.sha256[:16]),
            code(f"{results.profile.source} {results.profile.sha256[:16]}"),
        ]

    names = ("node", "verdict", "run", "cases", "suite", "specification", "profile")
    return dict(zip(names, zip(of(before), of(after), strict=True), strict=True))
