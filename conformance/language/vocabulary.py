"""The names that a pack may use: requirements, operations, capabilities and profile keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from typing import get_args

from conformance.language.shapes import ANYTHING, SCALAR, Array, Object, Shape, names_in
from conformance.profile import OPERATIONS, Auth, known_paths
from conformance.profile.members import MemberNames, member_names
from conformance.requirements import catalogue
from conformance.values.capability import Capability

OF_ANY_FORM = frozenset({"response", "logs", "addresses"})
"""Members of answers that may hold any JSON value."""


@dataclass(frozen=True)
class Vocabulary:
    """The names that a pack may use, with the shapes of what they name."""

    requirements: frozenset[str]
    operations: frozenset[str]
    capabilities: frozenset[str]
    profile_keys: frozenset[str]
    requests: Mapping[str, frozenset[str]]
    """Operation to the canonical members that its request may have."""
    answers: Mapping[str, Shape]
    """Operation to the shape of its accepted answer."""

    @cached_property
    def members(self) -> frozenset[str]:
        """Every name that a request or an answer gives to a member."""
        names = {name for shape in self.answers.values() for name in names_in(shape)}
        return frozenset(names.union(*self.requests.values()))


@cache
def standard() -> Vocabulary:
    """The names of the specification's catalogue and of the profile's model."""
    return Vocabulary(
        requirements=frozenset(requirement.id for requirement in catalogue().requirements),
        operations=frozenset(OPERATIONS),
        capabilities=frozenset(get_args(Capability)) | {"http"},
        profile_keys=known_paths(),
        requests={name: names.request for name, names in member_names().items()},
        answers={name: _answer(names) for name, names in member_names().items()},
    )


def _answer(names: MemberNames) -> Shape:
    if names.answer is None:
        return ANYTHING
    members = Object({name: _member(name) for name in sorted(names.answer)})
    return Array(members) if names.is_list else members


def _member(name: str) -> Shape:
    if name in OF_ANY_FORM:
        return ANYTHING
    return Array(SCALAR) if name.endswith(("_in_groups", "_to_groups", "_from_groups")) else SCALAR


def writes(operation: str) -> bool:
    """Whether an accepted call changes what lists show; the case of its refusal then has to read `unchanged`."""
    return OPERATIONS[operation].writes


def takes_credential(operation: str) -> bool:
    """Whether the operation authenticates the caller."""
    return OPERATIONS[operation].auth is not Auth.NONE


def suggestion(name: str, known: Iterable[str], limit: int = 1) -> str:
    """The hint `; did you mean 'length'?`, with the closest known names first; empty where none is close."""
    close = get_close_matches(name, known, n=limit)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
