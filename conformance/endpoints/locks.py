"""Locks between processes of one machine: the workers of a run, and parallel runs."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from eth_utils.crypto import keccak

_within: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""Locks within the process, by name: a gevent thread that waits for a file lock would block the one that holds it."""


@contextmanager
def between_processes(name: str, *, shared: bool = False) -> Iterator[None]:
    """Hold a lock within the block, exclusively or `shared`."""
    import fcntl  # noqa: PLC0415 - where there is none, runs that lock nothing go on working

    with nullcontext() if shared else _within[name], _locked(name, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(name: str, kind: int) -> Iterator[None]:
    import fcntl  # noqa: PLC0415 - see above

    path = Path(tempfile.gettempdir()) / f"service-conformance-{os.getuid()}-{keccak(text=name).hex()[:24]}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield
    finally:
        os.close(descriptor)
