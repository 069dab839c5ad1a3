"""The node's only source of time."""

from __future__ import annotations

import time


class Clock:
    """Unix time in whole seconds, with an offset that the test-control interface may move."""

    def __init__(self, started: int | None = None, offset_seconds: int = 0) -> None:
        self.offset_seconds = offset_seconds
        self.started = self.right_time() if started is None else started
        """When the node was first started. A reset does not change it."""

    def now(self) -> int:
        """The current Unix time in whole seconds, with the offset."""
        return self.right_time() + self.offset_seconds

    def right_time(self) -> int:
        """The Unix time without the offset."""
        return int(time.time())
