"""Selects cases by the requirements that they name: by id, by family and by level of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Self

from conformance.language.vocabulary import suggestion
from conformance.problems import NothingSelected
from conformance.requirements import Catalogue, Level, Requirement, catalogue
from conformance.run.options import Options


class RequirementFilter:
    """The requirements that a selection is about; all of them where nothing narrows it."""

    def __init__(self, ids: frozenset[str] | None) -> None:
        self._ids = ids

    @classmethod
    def of(cls, options: Options) -> Self:
        """What `--requirement`, `--family` and `--level` say together. Raises NothingSelected for unknown names."""
        if not (options.requirements or options.families or options.levels):
            return cls(None)
        known = catalogue()
        _check(options.requirements, known.by_id, "requirement")
        _check(options.families, known.families, "family")
        _check(options.levels, [level.value for level in Level], "level")
        chosen = [one for one in known.requirements if _is_asked_for(one, options)]
        if not chosen:
            raise NothingSelected("no requirement fits --requirement, --family and --level together")
        return cls(frozenset(name for one in chosen for name in _proved_by(one, known)))

    @property
    def is_open(self) -> bool:
        """Whether every case fits."""
        return self._ids is None

    def fits(self, requirements: Iterable[str]) -> bool:
        """Whether a case that names these requirements is selected."""
        return self._ids is None or not self._ids.isdisjoint(requirements)


def _is_asked_for(one: Requirement, options: Options) -> bool:
    return (
        (not options.requirements or any(fnmatchcase(one.id, pattern) for pattern in options.requirements))
        and (not options.families or any(fnmatchcase(one.family, pattern) for pattern in options.families))
        and (not options.levels or any(fnmatchcase(one.level, pattern) for pattern in options.levels))
    )


def _proved_by(one: Requirement, known: Catalogue) -> tuple[str, ...]:
    """The statement itself, and what it says again: its checks name those."""
    return (one.id, *known.targets(one.id))


def _check(patterns: Iterable[str], known: Iterable[str], what: str) -> None:
    names = list(known)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            near = suggestion(pattern.upper() if what != "level" else pattern.lower(), names)
            raise NothingSelected(f"no {what} is called {pattern!r}{near}")
