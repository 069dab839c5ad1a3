"""The names that a pack may use: requirements, operations, capabilities, profile keys and contract views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import get_args

from conformance.profile import OPERATIONS, Auth, Capability, Function, known_paths
from conformance.profile.chain import CREATION, FUNCTION_KEYS, AccountAbi
from conformance.requirements import catalogue


@dataclass(frozen=True)
class Vocabulary:
    """What names mean something."""

    requirements: frozenset[str]
    operations: frozenset[str]
    capabilities: frozenset[str]
    profile_keys: frozenset[str]
    chain_views: frozenset[str]
    """Canonical names of the contract's views."""
    chain_writes: Mapping[str, str]
    """Canonical names of the contract's administrative writes, with the profile key of each one's signature."""


@cache
def standard() -> Vocabulary:
    """The names of the specification's catalogue and of the profile's model."""
    return Vocabulary(
        requirements=frozenset(requirement.id for requirement in catalogue().requirements),
        operations=frozenset(OPERATIONS),
        capabilities=frozenset(get_args(Capability)) | {"http"},
        profile_keys=known_paths(),
        chain_views=frozenset(_views()),
        chain_writes=_writes(),
    )


def _views() -> list[str]:
    signatures = AccountAbi().model_dump()
    return [name for name, signature in signatures.items() if signature and Function.parse(signature).outputs]


def _writes() -> dict[str, str]:
    readable = AccountAbi.model_fields.keys() - {CREATION}
    return {name: key for name, key in FUNCTION_KEYS.items() if name not in readable}


def writes(operation: str) -> bool:
    """Whether an accepted call changes what an account's lists show, so that its refusal must show nothing changed."""
    return OPERATIONS[operation].writes


def takes_credential(operation: str) -> bool:
    """Whether the operation asks who calls."""
    return OPERATIONS[operation].auth is not Auth.NONE


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'length'?` for a name that is close to a known one; else nothing."""
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
