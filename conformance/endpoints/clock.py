"""Moves the node's clock through its test control."""

from __future__ import annotations

from conformance.endpoints.client import Target
from conformance.endpoints.control import tell_control
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer


class NodeClock:
    """The clock as one case has set it."""

    def __init__(self, target: Target, log: ExchangeLog) -> None:
        self._target = target
        self._log = log
        self.offset = 0
        """Seconds from the right time."""

    def set(self, offset: int) -> Answer:
        """Move it by this many seconds from the right time. No other case runs until this one has ended."""
        self._target.be_alone()
        answer = tell_control(self._target, self._log, "clock", {"offset_seconds": offset})
        if answer.accepted:
            self.offset = offset
        return answer
