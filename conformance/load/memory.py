"""The resident memory of the bundled node during a campaign, from Linux's `/proc`."""

from __future__ import annotations

from pathlib import Path

from conformance.load.results import NodeMemory

MB = 1e6


class MemoryWatch:
    """Three readings of one process: before the first user, once all users have begun, and at the end."""

    def __init__(self, pid: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._start = self._resident()
        self._warm: tuple[float, int] | None = None

    @property
    def is_warm(self) -> bool:
        """Whether the second reading is taken."""
        return self._warm is not None

    def note_warm(self, requests: int) -> None:
        """Take the second reading, after so many requests."""
        resident = self._resident()
        self._warm = None if resident is None else (resident, requests)

    def result(self, requests: int) -> NodeMemory | None:
        """Take the last reading. Returns None where one is missing: on another system, or when the node has ended."""
        end = self._resident()
        if self._start is None or self._warm is None or end is None:
            return None
        warm, before = self._warm
        after = requests - before
        return NodeMemory(
            start_mb=self._start,
            warm_mb=warm,
            end_mb=end,
            requests_after_warm_up=after,
            mb_per_thousand_requests=(end - warm) / after * 1000 if after else 0.0,
        )

    def _resident(self) -> float | None:
        try:
            text = self._status.read_text(encoding="ascii")
        except OSError:
            return None
        found = text.partition("VmRSS:")[2].split()
        return int(found[0]) * 1024 / MB if found else None
