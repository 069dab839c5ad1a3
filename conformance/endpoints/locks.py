"""Locks between the threads of a run, and between runs on one machine."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eth_utils.crypto import keccak

_within: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""Locks within the process, by name: a gevent thread that waits for a file lock would block the one that holds it."""


@contextmanager
def between_processes(name: str) -> Iterator[None]:
    """Hold a lock within the block."""
    import fcntl  # noqa: PLC0415 - where there is none, runs that lock nothing go on working

    path = Path(tempfile.gettempdir()) / f"service-conformance-{os.getuid()}-{keccak(text=name).hex()[:24]}.lock"
    with _within[name]:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
