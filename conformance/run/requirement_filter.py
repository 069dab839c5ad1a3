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
    """The requirements that the options select; all of them without such options."""

    def __init__(self, ids: frozenset[str] | None) -> None:
        self._ids = ids

    @classmethod
    def of(cls, options: Options) -> Self:
        """Combine `--requirement`, `--family` and `--level`. Raises NothingSelected for unknown names."""
        if not (options.requirements or options.families or options.levels):
            return cls(None)
        known = catalogue()
        _check(options.requirements, known.by_id, "requirement")
        _check(options.families, known.families, "family")
        _check(options.levels, [level.value for level in Level], "level")
        chosen = [requirement for requirement in known.requirements if _is_asked_for(requirement, options)]
        if not chosen:
            raise NothingSelected("no requirement fits --requirement, --family and --level together")
        return cls(frozenset(name for requirement in chosen for name in _proved_by(requirement, known)))

    @property
    def is_open(self) -> bool:
        """Whether every case fits."""
        return self._ids is None

    def fits(self, requirements: Iterable[str]) -> bool:
        """Whether a case that names these requirements is selected."""
        return self._ids is None or not self._ids.isdisjoint(requirements)


def _is_asked_for(requirement: Requirement, options: Options) -> bool:
    return all(
        not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
        for patterns, name in (
            (options.requirements, requirement.id),
            (options.families, requirement.family),
            (options.levels, requirement.level),
        )
    )


def _proved_by(requirement: Requirement, known: Catalogue) -> tuple[str, ...]:
    """The requirement and those that it restates: cases name the restated ones."""
    return (requirement.id, *known.targets(requirement.id))


def _check(patterns: Iterable[str], known: Iterable[str], what: str) -> None:
    names = list(known)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            near = suggestion(pattern.upper() if what != "level" else pattern.lower(), names)
            raise NothingSelected(f"no {what} is called {pattern!r}{near}")
