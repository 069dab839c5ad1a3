"""Which keys of the profile are read: a case that relies on a value that nobody stated learns nothing from a departure.

Sections tell here each key that is read of them, by its dotted name and with its value. Who listens belongs to the
context (`contextvars`): threads of a case run in copies of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, object], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_aside: ContextVar[dict[str, object] | None] = ContextVar("aside", default=None)


def tell(key: str, value: object) -> None:
    """A key was read."""
    aside = _aside.get()
    if aside is not None:
        aside[key] = value
    elif (listener := _listener.get()) is not None:
        listener(key, value)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell this listener, and no other, every key that is read in the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def read_aside() -> Iterator[dict[str, object]]:
    """A block whose reads are told nobody: what this thread reads in it, by key."""
    read: dict[str, object] = {}
    token = _aside.set(read)
    try:
        yield read
    finally:
        _aside.reset(token)
