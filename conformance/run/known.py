"""The list of known failures: what a vendor knows to fail, with reason and link. It is strict: it must stay true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from conformance.problems import BadKnownList, DuplicateId
from conformance.run.listing import ListedCase
from conformance.values.marked_yaml import Document
from conformance.verdict import Outcome, Verdict

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Link = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]


class Entry(BaseModel):
    """One known failure."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    case: Text | None = None
    """`pack::case` with all its rows, or `pack::case[row]`."""
    requirement: Text | None = None
    reason: Text
    link: Link

    @property
    def name(self) -> str:
        """What it lists."""
        return self.case or self.requirement or ""

    def matches(self, case: str, requirements: Iterable[str]) -> bool:
        """Whether it lists the case."""
        if self.case is not None:
            return case == self.case or case.partition("[")[0] == self.case
        return self.requirement is not None and self.requirement in requirements


@dataclass(frozen=True)
class Known:
    """The entries of the list, none by default."""

    entries: tuple[Entry, ...] = ()

    def apply(self, outcome: Outcome) -> Outcome:
        """The outcome in the light of the list: a listed failure is known; a case listed by name that passes fails."""
        entry = next((one for one in self.entries if one.matches(outcome.case, outcome.blamed)), None)
        if entry is None:
            return outcome
        if outcome.verdict is Verdict.FAIL:
            reason = f"known: {entry.reason} ({entry.link}); {outcome.reason}"
            return replace(outcome, verdict=Verdict.KNOWN, reason=reason)
        if outcome.verdict is Verdict.PASS and entry.case is not None:
            reason = f"it passes, but is listed as a known failure ({entry.link}): take it off the list"
            properties = {**outcome.properties, "problem": "known-passes"}
            return replace(outcome, verdict=Verdict.FAIL, reason=reason, properties=properties)
        return outcome

    def faults(self, cases: Sequence[ListedCase], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
        """What is no longer true of the list, after a run of some of the cases.

        An entry that matches no case, and a requirement entry none of whose cases failed though all that ran
        passed. An entry whose cases were not selected is not judged.
        """
        found: list[str] = []
        for entry in self.entries:
            if not any(entry.matches(case.id, case.requirements) for case in cases):
                found.append(f"the known failure {entry.name!r} matches no case")
                continue
            verdicts = {one.verdict for one in outcomes if entry.matches(one.case, one.blamed)}
            if entry.requirement is not None and Verdict.PASS in verdicts and not verdicts & NOT_TELLING:
                found.append(f"the known failure {entry.name!r} does not fail any more: take it off the list")
        return tuple(found)


NOT_TELLING = frozenset({Verdict.KNOWN, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SUITE_ERROR})
"""With one of these among the verdicts of a requirement's cases, its entry is not shown to be out of date."""


def load_known(path: Path) -> Known:
    """Read a list. Raises LoadProblem with file and line."""
    document = Document(path)
    content = document.value
    raw = content.get("known") if isinstance(content, dict) and content.keys() == {"known"} else None
    if not isinstance(raw, list):
        raise BadKnownList("a list of known failures has one member, `known`, a list", path, 1)
    entries: list[Entry] = []
    for index, item in enumerate(raw):
        line = document.line(("known", index))
        try:
            entry = Entry.model_validate(item)
        except ValidationError as problem:
            error = problem.errors(include_url=False)[0]
            place = ("known", index, *error["loc"])
            where = ".".join(map(str, place))
            raise BadKnownList(f"{where}: {error['msg'].lower()}", path, document.line(place)) from None
        if (entry.case is None) == (entry.requirement is None):
            raise BadKnownList("an entry has either `case` or `requirement`", path, line)
        if any(entry.name == earlier.name for earlier in entries):
            raise DuplicateId(f"{entry.name!r} is listed twice", path, line)
        entries.append(entry)
    return Known(tuple(entries))
