"""Draws the acts of a history: those that prepare the account, and those of each round, by the state before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from conformance.drivers.model.acts import OWNERS_ALONE, Act, Drawn, meant
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.world import World

TRIES = 12
"""How often an act is drawn anew that would be refused, or is the same as another one of its round."""
BY_USAGE_KEY = (0, 0, 0, 7)
"""Numbers for `Drawn.by`: one of four acts is a usage key's, where its operation is not for owners alone."""
SAME_AGAIN = 0.25
"""How often an act may repeat another one of its round."""


@dataclass(frozen=True)
class Acts:
    """The acts of a history."""

    before: tuple[Act, ...]
    """Those that prepare the account, one after the other."""
    rounds: tuple[tuple[Act, ...], ...]
    """Those that are sent at the same time."""


class Drawing:
    """Draws acts whose labels and objects have names that no other act of the history gives."""

    def __init__(self, rules: ExpectedOutcomeRules, random: Random) -> None:
        self._rules = rules
        self._random = random
        self._target = random.randrange(6)
        """Chooses the object that the acts are about: the same in all rounds."""
        self._acts = 0
        self._made = Counter[str]()

    def one(self, operation: str, world: World) -> Act | None:
        """An act that must be accepted; None where none was drawn."""
        for _ in range(TRIES):
            act = self._drawn(operation, world, by=0)
            if act is not None and self._rules.reasons(act, world) == ():
                return self._named(act)
        return None

    def round(self, operations: Sequence[str], world: World) -> list[Act]:
        """Acts of these operations, mostly such as must be accepted if they come first."""
        acts: list[Act] = []
        for operation in operations:
            act = self._beside(acts, operation, world)
            if act is not None:
                acts.append(self._named(act))
        return acts

    def _beside(self, others: Sequence[Act], operation: str, world: World) -> Act | None:
        act = None
        for _ in range(TRIES):
            by = 0 if operation in OWNERS_ALONE else self._random.choice(BY_USAGE_KEY)
            act = self._drawn(operation, world, by) or act
            if act is None or self._rules.reasons(act, world):
                continue
            if all(_asks(act) != _asks(other) for other in others) or self._random.random() < SAME_AGAIN:
                return act
        return act

    def _drawn(self, operation: str, world: World, by: int) -> Act | None:
        other, some, more = self._random.randrange(8), self._random.randrange(256), self._random.randrange(256)
        numbers = Drawn(1, 0, 0, by, self._target, other, some, more)
        return meant(numbers, world, [operation], label="")

    def _named(self, act: Act) -> Act:
        """The act with a label of its own, and a new name for what it creates."""
        self._acts += 1
        kind = act.makes.rstrip("0123456789")
        if kind:
            self._made[kind] += 1
        return replace(act, label=str(self._acts), makes=f"{kind}{self._made[kind]}" if kind else "")


def _asks(act: Act) -> Act:
    """What an act asks for, whoever asks."""
    return replace(act, by=act.account, label="", makes="")
