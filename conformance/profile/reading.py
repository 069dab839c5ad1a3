"""Records which keys of the profile are read.

A departure proves nothing in a case that relied on a key which the vendor did not state. Each section reports the keys
that are read from it, by dotted name and with the value, to the listener of the context (`contextvars`); the threads of
a case run in copies of that context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, object], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_aside: ContextVar[dict[str, object] | None] = ContextVar("aside", default=None)


def tell(key: str, value: object) -> None:
    """Report that a key was read."""
    aside = _aside.get()
    if aside is not None:
        aside[key] = value
    elif (listener := _listener.get()) is not None:
        listener(key, value)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report every key that is read in the block to this listener alone."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def read_aside() -> Iterator[dict[str, object]]:
    """Report nothing of this block to the listener. Yields the keys that are read in it, with their values."""
    read: dict[str, object] = {}
    token = _aside.set(read)
    try:
        yield read
    finally:
        _aside.reset(token)
