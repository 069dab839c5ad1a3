"""The list of known failures, each with a reason and a link. An entry that is no longer true fails the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from conformance.problems import BadKnownList, DuplicateId
from conformance.run.case import matches
from conformance.run.listing import ListedCase
from conformance.values.marked_yaml import Document
from conformance.verdict import Outcome, Verdict

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Link = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]


def _day(value: object) -> object:
    """Parse a day such as 2027-01-31."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(f"must be a day such as 2027-01-31, unlike {value!r}") from None


class Entry(BaseModel):
    """One known failure."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    case: Text | None = None
    """`pack::case` with all its rows, `pack::case[row]`, or a glob with `*` and `?`."""
    requirement: Text | None = None
    """An id, or a glob."""
    reason: Text
    link: Link
    expires: Annotated[date, BeforeValidator(_day)] | None = None
    """The last day, in UTC, on which it counts."""

    @property
    def name(self) -> str:
        """The case or requirement that the entry lists."""
        return self.case or self.requirement or ""

    @property
    def names_cases(self) -> bool:
        """Whether each listed case has to fail. For a glob or a requirement one failing case is enough."""
        return self.case is not None and not {"*", "?"} & set(self.case)

    def matches(self, case: str, requirements: Iterable[str]) -> bool:
        """Whether the entry lists the case."""
        if self.case is not None:
            return matches(case, self.case) or matches(case.partition("[")[0], self.case)
        return any(fnmatchcase(name, self.requirement or "") for name in requirements)


NOT_A_MEMBER = f"not a member of an entry, which takes {', '.join(Entry.model_fields)}"


@dataclass(frozen=True)
class Known:
    """The entries of the list, none by default."""

    entries: tuple[Entry, ...] = ()
    source: str = "the list"
    """Its file, as messages name it."""
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    @property
    def valid(self) -> tuple[Entry, ...]:
        """The entries that have not expired."""
        return tuple(entry for entry in self.entries if entry.expires is None or entry.expires >= self.today)

    def apply(self, outcome: Outcome) -> Outcome:
        """Apply the list to an outcome: a listed failure becomes known."""
        entry = next((entry for entry in self.valid if entry.matches(outcome.case, outcome.blamed)), None)
        if entry is None or outcome.verdict is not Verdict.FAIL:
            return outcome
        reason = f"known: {entry.reason} ({entry.link}); {outcome.reason}"
        return replace(
            outcome, verdict=Verdict.KNOWN, reason=reason, properties={**outcome.properties, "link": entry.link}
        )

    def faults(self, cases: Sequence[ListedCase], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
        """The faults of the list, after a run of some of the cases.

        An entry is at fault if it has expired, matches no case, names a case that passed, or is a glob or requirement
        of which every case that ran passed. An entry whose cases were not selected is not judged.
        """
        faults = [
            f"the known failure {entry.name!r} has expired on {entry.expires} ({entry.link})"
            for entry in self.entries
            if entry not in self.valid
        ]
        for entry in self.valid:
            if not any(entry.matches(case.id, case.requirements) for case in cases):
                faults.append(f"the known failure {entry.name!r} matches no case")
                continue
            faults += [f"{name} no longer fails: remove it from {self.source}" for name in _mended(entry, outcomes)]
        return tuple(faults)


def _mended(entry: Entry, outcomes: Sequence[Outcome]) -> Iterable[str]:
    """The cases, or the glob or requirement, of an entry that the outcomes show not to fail any more."""
    listed = [outcome for outcome in outcomes if entry.matches(outcome.case, outcome.blamed)]
    passed = [outcome.case for outcome in listed if outcome.verdict is Verdict.PASS]
    if entry.names_cases:
        return passed
    return [entry.name] if passed and not {outcome.verdict for outcome in listed} & NOT_TELLING else []


NOT_TELLING = frozenset({Verdict.KNOWN, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SUITE_ERROR})
"""Where a listed case has one of these verdicts, the entry may still be true."""


def load_known(path: Path, today: date | None = None) -> Known:
    """Read a list. Expiry is judged by `today`, by default the current day. Raises LoadProblem with file and line."""
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
            message = NOT_A_MEMBER if error["type"] == "extra_forbidden" else error["msg"].lower()
            raise BadKnownList(f"{where}: {message}", path, document.line(place)) from None
        if (entry.case is None) == (entry.requirement is None):
            raise BadKnownList("an entry has either `case` or `requirement`", path, line)
        if any(entry.name == earlier.name for earlier in entries):
            raise DuplicateId(f"{entry.name!r} is listed twice", path, line)
        entries.append(entry)
    listed = Known(tuple(entries), str(path))
    return replace(listed, today=today) if today else listed
