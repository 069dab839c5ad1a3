"""Whether answers to requests at the same time fit some order of these: linearizability (doi:10.1145/78969.78972)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True)
class Answered(Generic[State]):
    """A request of a history, with what its answer means."""

    told: str
    """Who asked for what, and what came back."""
    begun: float
    ended: float
    """When it was sent and answered, in seconds of one clock."""
    after: Callable[[State], State | None]
    """The state that it leaves; None where the answer does not fit the state before it."""
    writes: bool
    """Whether it may leave another state than the one before it."""


def left_by(history: Sequence[Answered[State]], before: Collection[State]) -> frozenset[State]:
    """The states that a history can have left; none where no order of its requests explains all answers.

    It began in one of the states `before`. What was answered before another was sent comes before that.
    """
    *_, last = _reached(history, before)
    return frozenset(chain(*last.values()))


def met_in(history: Sequence[Answered[State]], before: Collection[State]) -> frozenset[State]:
    """The states that there can have been before, within and after a history, until an answer is not explained."""
    return frozenset(chain(*(states for reached in _reached(history, before) for states in reached.values())))


def _reached(
    history: Sequence[Answered[State]], before: Collection[State]
) -> Iterator[Mapping[frozenset[int], Collection[State]]]:
    """The states after none, one, two, … of the requests, by which of them these are."""
    reached: Mapping[frozenset[int], Collection[State]] = {frozenset(): before}
    yield reached
    for _ in history:
        following = defaultdict[frozenset[int], set[State]](set)
        for done, states in reached.items():
            left = [number for number in range(len(history)) if number not in done]
            first_end = min(history[number].ended for number in left)
            for number in left:
                if history[number].begun <= first_end:
                    found = {history[number].after(state) for state in states}
                    following[done | {number}] |= {state for state in found if state is not None}
        reached = {done: states for done, states in following.items() if states}
        yield reached


def unexplained(history: Sequence[Answered[State]], before: Collection[State]) -> list[Answered[State]]:
    """A history that no order explains, without the reads that it can lose and stay so."""
    kept = [*history]
    for one in history:
        fewer = [other for other in kept if other is not one]
        if not one.writes and not left_by(fewer, before):
            kept = fewer
    return kept


def table(history: Sequence[Answered[State]]) -> str:
    """When each request was sent and answered, in milliseconds from the first, and what came back."""
    first = min(one.begun for one in history)
    ordered = sorted(history, key=lambda one: one.begun)
    return "; ".join(
        f"{(one.begun - first) * 1000:.0f} to {(one.ended - first) * 1000:.0f} ms: {one.told}" for one in ordered
    )
