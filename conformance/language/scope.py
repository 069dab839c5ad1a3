"""What a running case knows: its variables, the profile, and randomness decided by the run's seed and the case's id."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import ClassVar

from conformance.problems import Mismatch, ProfileSilent
from conformance.values.json_values import MISSING, member

ProfileReader = Callable[[str], object]
"""Gives the value of a dotted profile key; None when the profile leaves it out."""


class ObjectWithDefault(dict[str, object]):
    """An object of which one member is its value: `${alice}` is that member, `${alice.name}` any other."""

    value_member: ClassVar[str]

    @property
    def value(self) -> object:
        """What it stands for."""
        return self[self.value_member]


class Account(ObjectWithDefault):
    """The answer of account creation by canonical names. Used as a value, it stands for its API key."""

    value_member = "api_key"


class ChainAccount(ObjectWithDefault):
    """A ChainSecured account that a wallet made. Used as a value, it stands for its `apiKeyHash`."""

    value_member = "account_hash"


def key_and_items(path: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The key of the profile in a path, and the indices that go into its value."""
    names = list(takewhile(lambda part: not part.isdecimal(), path))
    return ".".join(names), path[len(names) :]


class Scope:
    """The variables that a step sees, and the source of its random values."""

    def __init__(self, seed: str, profile: ProfileReader, variables: dict[str, object]) -> None:
        self.seed = seed
        self.profile = profile
        self.variables = variables
        self.random = random.Random(seed)  # noqa: S311 - repeatable test data, no secret

    def branch(self, name: str) -> Scope:
        """A scope of its own for one of several steps at the same time: same variables, other randomness."""
        return Scope(f"{self.seed}/{name}", self.profile, dict(self.variables))

    def lookup(self, root: str, path: Sequence[str]) -> object:
        """The value of `${root.path}`. Raises Mismatch when an answer did not have that member."""
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
