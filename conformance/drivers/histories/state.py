"""The model at one moment of a history, and what acts make of it."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass

from conformance.drivers.model.acts import Act
from conformance.drivers.model.effects import apply
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.world import World


@dataclass(frozen=True)
class State:
    """A state of the model. Two are equal where no list can tell them apart."""

    world: World = field(compare=False)
    key: Hashable

    @classmethod
    def of(cls, world: World) -> State:
        """The state of this world, which must not change from now on."""
        return cls(world, _key(world))


@dataclass
class Steps:
    """The states that accepted acts leave, each computed once."""

    rules: ExpectedOutcomeRules
    _left: dict[tuple[Act, State], State] = field(default_factory=dict)

    def after(self, act: Act, state: State) -> State:
        """The state that an accepted act leaves."""
        if (act, state) not in self._left:
            world = copy.deepcopy(state.world)
            apply(act, world, self.rules)
            self._left[act, state] = State.of(world)
        return self._left[act, state]


def _key(value: object, *, ordered: bool = False) -> Hashable:
    """A value to compare; the order of groups is compared, since a list shows it."""
    if is_dataclass(value):
        return tuple(_key(getattr(value, one.name), ordered=one.name == "groups") for one in fields(value))
    if isinstance(value, dict):
        items = [(name, _key(item)) for name, item in value.items()]
        return tuple(items) if ordered else frozenset(items)
    if isinstance(value, list | set | frozenset | tuple):
        return tuple(sorted((_key(item) for item in value), key=repr))
    return repr(value)


def decided(acts: Sequence[Act], states: Iterable[State], steps: Steps) -> list[Act]:
    """The acts about which the specification and the profile decide, whichever of the others come before."""
    silent: set[Act] = set()
    seen: set[tuple[State, frozenset[Act]]] = set()
    waiting = [(state, frozenset(acts)) for state in states]
    while waiting:
        state, left = waiting.pop()
        if (state, left) in seen:
            continue
        seen.add((state, left))
        for act in left:
            reasons = steps.rules.reasons(act, state.world)
            if reasons is None:
                silent.add(act)
            elif not reasons:
                waiting.append((steps.after(act, state), left - {act}))
    return [act for act in acts if act not in silent]


def stand(group: str, states: Iterable[State], account: str) -> bool:
    """Whether a group stands in all states."""
    return all(group in state.world.accounts[account].groups for state in states)
