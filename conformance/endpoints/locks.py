"""Locks between the threads of a run, and between runs on one machine."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from eth_utils.crypto import keccak

_within: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""Locks within the process, by name: a gevent thread that waits for a file lock would block the one that holds it."""

POLL_SECONDS = 0.1


@contextmanager
def between_processes(name: str, pause: Callable[[float], object]) -> Iterator[None]:
    """Hold a lock within the block. While another run holds it, call `pause` again and again with some seconds."""
    import fcntl  # noqa: PLC0415 - where there is none, runs that lock nothing go on working

    path = Path(tempfile.gettempdir()) / f"service-conformance-{os.getuid()}-{keccak(text=name).hex()[:24]}.lock"
    while not _within[name].acquire(blocking=False):
        pause(POLL_SECONDS)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            while not _taken(partial(fcntl.flock, descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)):
                pause(POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)
    finally:
        _within[name].release()


def _taken(take: Callable[[], object]) -> bool:
    try:
        take()
    except BlockingIOError:
        return False
    return True
