"""Locks between processes of one machine: the workers of a run, and runs beside each other."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eth_utils.crypto import keccak


@contextmanager
def between_processes(name: str, *, shared: bool = False) -> Iterator[None]:
    """Held while inside: by one process and thread alone, or by as many as ask for it as `shared`."""
    import fcntl  # noqa: PLC0415 - where there is none, runs that lock nothing go on working

    path = Path(tempfile.gettempdir()) / f"service-conformance-{os.getuid()}-{keccak(text=name).hex()[:24]}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
