"""The one source of time in the node: everything that asks for the time asks a `Clock`."""

from __future__ import annotations

import time


class Clock:
    """Unix time in whole seconds, with an offset that the test-control interface may move."""

    def __init__(self) -> None:
        self.offset_seconds = 0
        self.started = self.right_time()
        """When the node was started; a reset does not change it."""

    def now(self) -> int:
        """The present Unix time, in whole seconds."""
        return self.right_time() + self.offset_seconds

    def right_time(self) -> int:
        """The Unix time without the offset."""
        return int(time.time())
