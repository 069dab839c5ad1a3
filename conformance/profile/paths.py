"""The dotted keys of the profile: which exist, and what a profile holds there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import get_args

from conformance.problems import Problem
from conformance.profile.abi import Signature
from conformance.profile.model import Profile
from conformance.profile.section import Section, WireName


class UnknownKey(Problem):
    """The profile has no such key."""

    code = "unknown-key"
    cause = "a name refers to no key of the profile"

    def __init__(self, path: str) -> None:
        super().__init__(f"the profile has no key {path!r}")


NAMES_THAT_MAY_BE_ABSENT = (WireName | None, Signature | None)
"""The types of keys that name a member of an answer, or a function of the contract."""


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


@cache
def choices(path: str) -> frozenset[str]:
    """The words among which a key chooses; none for a key that takes anything else. Raises UnknownKey."""
    if path not in known_paths():
        raise UnknownKey(path)
    section: type[Section] = Profile
    *above, last = path.split(".")
    for name in above:
        kinds = _kinds(section.model_fields[name].annotation)
        section = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section))
    return frozenset(kind for kind in _kinds(section.model_fields[last].annotation) if isinstance(kind, str))


def _kinds(annotation: object) -> Iterator[object]:
    """The parts of an annotation, the values of its literals included."""
    yield annotation
    for inner in get_args(annotation):
        yield from _kinds(inner)


@cache
def usual() -> Profile:
    """The profile of a vendor who states nothing. Making one takes milliseconds: what looks at each key takes this."""
    return Profile()


def value_at(profile: Profile, path: str) -> object:
    """Return the value of a key; None when it or a section above it is null. Raises UnknownKey."""
    if path not in known_paths():
        raise UnknownKey(path)
    value: object = profile
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def has_none(profile: Profile, path: str) -> bool:
    """Whether a null at a key is an answer: the node has no member or function of that kind.

    A null above says that the vendor states nothing. UnknownKey: there is no such key.
    """
    above, _, name = path.rpartition(".")
    if not above or value_at(profile, path) is not None:
        return False
    section = value_at(profile, above)
    return isinstance(section, Section) and type(section).model_fields[name].annotation in NAMES_THAT_MAY_BE_ABSENT


def states(profile: Profile, path: str) -> bool:
    """Whether the vendor states anything at a key."""
    return value_at(profile, path) is not None
