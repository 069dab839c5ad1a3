"""Ends a process with the one that started it, however that ends. Linux only; elsewhere nothing is done."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Have this process get a signal when the thread that started it ends: call it in the new process."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
