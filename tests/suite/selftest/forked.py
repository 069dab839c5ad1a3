"""Calls in a process of their own: what they plant into loaded code ends with it."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")


def forked(call: Callable[[], T]) -> T:
    """What a call returns in a fork of this process. Raises EOFError where it raises anything."""
    ours, theirs = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=lambda: theirs.send(call()))
    process.start()
    theirs.close()
    try:
        told: T = ours.recv()
    finally:
        process.join()
    return told
