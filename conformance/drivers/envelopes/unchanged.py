"""Checks that refused requests change nothing: state is read before and after a sequence of them, not around each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.drivers.sections import broken_by_change
from conformance.problems import StateChanged
from conformance.service.reads import SECONDS_TO_REMEMBER, Read
from conformance.service.refusal import must_be_unchanged, read_before
from conformance.service.session import Session


@dataclass(frozen=True)
class RefusedRow:
    """A row whose reads have not been repeated yet."""

    label: str
    exchange: int
    judges: tuple[str, ...] | None
    """The requirements that it judges; None: the caller decides."""


class UnchangedState:
    """The reads of refused rows. They are repeated at the end, and where they get old."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before: dict[str, tuple[Read, object]] = {}
        """The earlier result of each read, by what it asks."""
        self._began = 0.0
        self._refused: list[RefusedRow] = []

    def forget(self) -> None:
        """Drop the reads so far: a reported failure may have changed the state."""
        self._before, self._refused = {}, []

    def end_if_old(self) -> None:
        """Compare reads that are too old: a case may wait for an expiration. Raises StateChanged."""
        if self._before and time.monotonic() - self._began > SECONDS_TO_REMEMBER:
            self.compare()

    def read(self, reads: Sequence[Read]) -> None:
        """Read the state before requests that must be refused; reads that were taken already count."""
        if not self._before:
            self._began = time.monotonic()
        missing = [read for read in reads if _asked(read) not in self._before]
        for read, value in zip(missing, read_before(self._session, missing), strict=True):
            self._before[_asked(read)] = read, value

    def note(self, label: str, exchange: int, judges: tuple[str, ...] | None) -> None:
        """Note a refused request. A change that it made breaks what its row judges."""
        self._refused.append(RefusedRow(label, exchange, judges))
        if self._session.compares_at_once:
            self.compare()

    def compare(self) -> None:
        """Repeat the reads. StateChanged: a request since the first reads changed something."""
        before, refused = list(self._before.values()), self._refused
        self._before, self._refused = {}, []
        if not refused:
            return
        reads, values = [read for read, _ in before], [value for _, value in before]
        try:
            must_be_unchanged(self._session, reads, values, refused[-1].exchange)
        except StateChanged as problem:
            is_unclear = self._session.change_is_unclear = len(refused) > 1
            others = f", or a refused row before it since {refused[0].label}" if is_unclear else ""
            problem.step = refused[-1].label + others
            if all(row.judges is not None for row in refused):
                problem.blame(broken_by_change([name for row in refused for name in row.judges or ()]))
            raise


def _asked(read: Read) -> str:
    return read.asks if read.asks is not None else f"{read.name} {id(read)}"
