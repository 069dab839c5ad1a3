"""Waiting in tests: calls that are held until they are let go, and conditions that come true."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

LONGEST_SECONDS = 60
"""How long a test waits for what a node has to do: far longer than any node takes."""


class Held:
    """Calls of a function that wait until they are let go, all or those with such arguments."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        owner: object,
        name: str,
        which: Callable[..., bool] = lambda *_, **__: True,
    ) -> None:
        self._begun, self._go = threading.Semaphore(0), threading.Event()
        function = getattr(owner, name)

        def wait(*values: Any, **named: Any) -> Any:
            if which(*values, **named):
                self._begun.release()
                assert self._go.wait(LONGEST_SECONDS)
            return function(*values, **named)

        monkeypatch.setattr(owner, name, wait)

    def begun(self, calls: int = 1) -> None:
        """Wait for so many further calls."""
        for _ in range(calls):
            assert self._begun.acquire(timeout=LONGEST_SECONDS)

    def let_go(self) -> None:
        """Have all calls go on, those to come too."""
        self._go.set()


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition that nothing tells of."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)
