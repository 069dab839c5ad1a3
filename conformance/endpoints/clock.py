"""Moves the node's clock through its test control. Other cases wait while this or another control is in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from conformance.endpoints.client import Target
from conformance.endpoints.control import tell_control
from conformance.endpoints.locks import between_processes
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
        """Move it by this many seconds from the right time."""
        answer = tell_control(self._target, self._log, "clock", {"offset_seconds": offset})
        if answer.accepted:
            self.offset = offset
        return answer


def _has_controls(target: Target) -> bool:
    """Whether a case can change what other cases of the run meet: the time, the certificate, the payment provider."""
    profile = target.profile
    controls = any(profile.offers(name) for name in ("clock_control", "certificate_control"))
    return controls or profile.payments.control_url is not None


@contextmanager
def turn(target: Target, *, alone: bool) -> Iterator[None]:
    """Hold the node while a case runs, exclusively for a case that has to run `alone`."""
    if not target.shared or not _has_controls(target):
        yield
        return
    with ExitStack() as held:
        with between_processes(
            f"gate of {target.base_url}"
        ):  # keeps later cases from overtaking one that waits for all others
            held.enter_context(between_processes(f"clock of {target.base_url}", shared=not alone))
        yield
