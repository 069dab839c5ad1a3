"""Samples that repeat: the same seed gives the same order, evenly over the kinds of things."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def evenly(things: Iterable[T], kind: Callable[[T], str], seed: str) -> list[T]:
    """Shuffle things so that every beginning of the result has about as many of each kind."""
    rng = random.Random(seed)  # noqa: S311 - a repeatable sample, no secret
    kinds: dict[str, list[T]] = {}
    for thing in things:
        kinds.setdefault(kind(thing), []).append(thing)
    queues = [kinds[name] for name in sorted(kinds)]
    for queue in queues:
        rng.shuffle(queue)
    rng.shuffle(queues)
    rounds = range(max(map(len, queues), default=0))
    return [queue[turn] for turn in rounds for queue in queues if turn < len(queue)]
