"""Makes the requests of a case: every rare value once, combinations of plain ones, and values of a wrong type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations
from random import Random

from pydantic import JsonValue

from conformance.drivers.fuzz.values import LABELS, ValueRules
from conformance.profile import Operation

COMBINED = 3
"""The number of members of which every combination of plain values is tried."""
MOST_COMBINATIONS = 60
CANDIDATES = 12
OMITTABLE = frozenset({"email", "jsParams"})
"""Members that the specification calls optional."""
CID = "action_ipfs_cid"
ONCE = frozenset({"add_pkp_to_group"})
"""Operations whose repetition a node may refuse."""
Members = dict[str, JsonValue]


class Sort(Enum):
    """How a node may answer a request."""

    PLAIN = "plain"
    """The node must accept it."""
    VALID = "valid"
    """It has the stated shape. The node may refuse it by a limit of its own."""
    WRONG = "wrong"
    """It does not have the stated shape."""


@dataclass(frozen=True)
class Example:
    """A request by canonical names."""

    operation: str
    sort: Sort
    members: Members
    made: str = ""
    """The variable that later requests of its sequence know what it makes by."""
    given: str = ""
    """The member of the answer with its id."""

    def with_members(self, members: Members) -> Example:
        """The same request with these members."""
        return replace(self, members=members)


class Examples:
    """Makes the requests of one operation."""

    def __init__(self, rules: ValueRules, random: Random) -> None:
        self._rules = rules
        self._random = random

    def of(self, operation: Operation) -> Iterator[Example]:
        """All requests of an operation, without those that a description gives."""
        names = list(operation.request)
        for members in self._combined(names):
            sort = Sort.VALID if operation.name in ONCE else Sort.PLAIN
            yield Example(operation.name, sort, self._with_fresh_cid(members))
        for members in self._valued(names):
            yield Example(operation.name, Sort.VALID, self._with_fresh_cid(members))
        for name in names:
            for value in self._rules.wrong(name):
                yield Example(operation.name, Sort.WRONG, {**self.plain(names), name: value})

    def _with_fresh_cid(self, members: Members) -> Members:
        """The request with a new action: a second registration may be refused."""
        return {name: self._rules.plain(name)[0] if name == CID else value for name, value in members.items()}

    def plain(self, names: list[str]) -> Members:
        """Plain values of all members."""
        return {name: self._random.choice(self._rules.plain(name)) for name in names}

    def _valued(self, names: list[str]) -> Iterator[Members]:
        """Requests with each value of each member at least once, beside plain values: a refusal hides no other value.

        Labels vary one at a time, all other members together.
        """
        labels = [[name] for name in names if name in LABELS]
        for varied in (*labels, [name for name in names if name not in LABELS]):
            values = {name: self._rules.valid(name) for name in varied}
            for several in values.values():
                self._random.shuffle(several)
            for index in range(max(map(len, values.values()), default=0)):
                rare = {name: several[index % len(several)] for name, several in values.items()}
                yield {**self.plain(names), **rare}

    def _combined(self, names: list[str]) -> Iterator[Members]:
        """Rows with all combinations of the plain values of any three members, within the budget."""
        choices: Mapping[str, list[JsonValue]] = {
            name: [*self._rules.plain(name), *([None] if name in OMITTABLE else [])] for name in names
        }
        open_ = {
            tuple(zip(chosen, picked, strict=True))
            for chosen in combinations(names, min(COMBINED, len(names)))
            for picked in _picks([len(choices[name]) for name in chosen])
        }
        for _ in range(MOST_COMBINATIONS):
            rows = [{name: self._random.randrange(len(choices[name])) for name in names} for _ in range(CANDIDATES)]
            best = max(rows, key=lambda row: sum(_holds(row, pairs) for pairs in open_))
            open_ -= {pairs for pairs in open_ if _holds(best, pairs)}
            values = {name: choices[name][index] for name, index in best.items()}
            yield {name: value for name, value in values.items() if value is not None}
            if not open_:
                return


def _picks(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    if not sizes:
        yield ()
        return
    for first in range(sizes[0]):
        for rest in _picks(sizes[1:]):
            yield (first, *rest)


def _holds(row: Mapping[str, int], pairs: tuple[tuple[str, int], ...]) -> bool:
    return all(row[name] == index for name, index in pairs)
