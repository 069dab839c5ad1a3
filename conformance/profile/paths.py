"""The dotted keys of the profile: which exist, and what a profile holds there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import get_args

from conformance.problems import Problem
from conformance.profile.model import Profile
from conformance.profile.section import Section


class UnknownKey(Problem):
    """The profile has no such key."""

    code = "unknown-key"
    cause = "a name refers to no key of the profile"

    def __init__(self, path: str) -> None:
        super().__init__(f"the profile has no key {path!r}")


@cache
def known_paths() -> frozenset[str]:
    """Every key of the profile, sections included: ``wire.paging`` as well as ``wire.paging.container.form``."""
    return frozenset(_paths(Profile, ""))


def _paths(section: type[Section], prefix: str) -> Iterator[str]:
    for name, info in section.model_fields.items():
        yield prefix + name
        for inner in (info.annotation, *get_args(info.annotation)):
            if isinstance(inner, type) and issubclass(inner, Section):
                yield from _paths(inner, f"{prefix}{name}.")


def value_at(profile: Profile, path: str) -> object:
    """What the profile holds at a key; None when it or a section above it is null. UnknownKey: there is no such key."""
    if path not in known_paths():
        raise UnknownKey(path)
    value: object = profile
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def states(profile: Profile, path: str) -> bool:
    """Whether the vendor states anything at a key."""
    return value_at(profile, path) is not None
