"""The one source of time in the node: everything that asks for the time asks a `Clock`."""

from __future__ import annotations

import time


class Clock:
    """Unix time in whole seconds, with an offset that the test-control interface may move."""

    def __init__(self) -> None:
        self.offset_seconds = 0

    def now(self) -> int:
        """The present Unix time, in whole seconds."""
        return int(time.time()) + self.offset_seconds
