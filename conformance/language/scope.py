"""The scope of a running case: its variables and the profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import ClassVar

from conformance.problems import Mismatch, ProfileSilent
from conformance.values.json_values import MISSING, member

ProfileReader = Callable[[str], object]
"""Returns the value of a dotted profile key; None where the profile leaves it out."""


class ObjectWithDefault(dict[str, object]):
    """An object with a default member: `${alice}` is that member, `${alice.name}` the member `name`."""

    value_member: ClassVar[str]

    @property
    def value(self) -> object:
        """The default member."""
        return self[self.value_member]


class Account(ObjectWithDefault):
    """The answer of account creation, with canonical names. Used as a value, it stands for its API key."""

    value_member = "api_key"


def key_and_items(path: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Split a path into the profile key and the indices into its value."""
    names = list(takewhile(lambda part: not part.isdecimal(), path))
    return ".".join(names), path[len(names) :]


class Scope:
    """The variables that a step sees."""

    def __init__(self, profile: ProfileReader, variables: dict[str, object]) -> None:
        self.profile = profile
        self.variables = variables

    def branch(self) -> Scope:
        """A scope for steps beside those of the case, with a copy of the variables."""
        return Scope(self.profile, dict(self.variables))

    def lookup(self, root: str, path: Sequence[str]) -> object:
        """The value of `${root.path}`. Raises Mismatch where a member is missing, ProfileSilent for an unstated key."""
        value: object
        if root == "profile":
            key, rest = key_and_items(path)
            value = self._profile_value(key)
        else:
            value, rest = self.variables.get(root, MISSING), path
        for part in rest:
            value = member(value, part)
        if value is MISSING:
            name = ".".join((root, *path))
            raise Mismatch(f"a value for ${{{name}}}", "nothing there")
        return value.value if isinstance(value, ObjectWithDefault) else value

    def _profile_value(self, key: str) -> object:
        value = self.profile(key)
        if value is None:
            raise ProfileSilent(f"a profile that says {key}", "a profile that leaves it out")
        return value
