"""The names that a pack may use: requirements, operations, capabilities, profile keys and contract views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from typing import get_args

from conformance.language.shapes import ANYTHING, SCALAR, Array, Object, Shape, names_in, of_outputs
from conformance.profile import OPERATIONS, Auth, Function, known_paths
from conformance.profile.chain import CREATION, FUNCTION_KEYS, AccountAbi
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
    chain_views: Mapping[str, Shape]
    """Canonical name of each view of the contract to the shape of its result."""
    chain_writes: Mapping[str, str]
    """Canonical names of the contract's administrative writes, with the profile key of each one's signature."""

    @cached_property
    def members(self) -> frozenset[str]:
        """Every name that a request, an answer or a view of the contract gives to a member."""
        shapes = [*self.answers.values(), *self.chain_views.values()]
        return frozenset({name for shape in shapes for name in names_in(shape)}.union(*self.requests.values()))


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
        chain_views=_views(),
        chain_writes=_writes(),
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


def _views() -> dict[str, Shape]:
    functions = {name: Function.parse(text) for name, text in AccountAbi().model_dump().items() if text}
    return {name: of_outputs(function.outputs) for name, function in functions.items() if function.outputs}


def _writes() -> dict[str, str]:
    readable = AccountAbi.model_fields.keys() - {CREATION}
    return {name: key for name, key in FUNCTION_KEYS.items() if name not in readable}


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
