"""The limits of a run. The specification sets none; these are the reference node's choices."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB

ESCAPED_BYTES = 6
"""Bytes that one character may take as a JSON escape."""

UTF8_BYTES = 3
"""Bytes that one UTF-16 unit may take in UTF-8."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run and of the queue before it; sizes in bytes of UTF-8, times in seconds."""

    wall_seconds: float = 30.0
    """Time from the start of a run to its answer, without time spent waiting for a CPU."""

    memory_bytes: int = 64 * MIB
    """Memory of the engine beyond what it used before the run."""

    response_bytes: int = MIB
    """The response as JSON text."""

    response_depth: int = 500
    """Arrays and objects inside one another: common JSON parsers give up at 1000."""

    log_bytes: int = 100 * KIB
    """Captured console output; the rest is cut, with a mark."""

    error_bytes: int = 4 * KIB
    """The message and stack of the error that ended a run."""

    host_calls: int = 1000
    """Uses of a wallet."""

    argument_bytes: int = MIB
    """The argument of one host call as JSON text."""

    sent_bytes: int = 16 * MIB
    """All bytes that a run sends to the node, including wallet calls."""

    queued_runs: int = 256
    """Runs that wait for a free process, of all accounts."""

    queued_runs_per_account: int = 128
    """Runs of one account that wait."""

    queue_seconds: float = 30.0
    """How long a run waits for a free process."""

    @property
    def elapsed_seconds(self) -> float:
        """The most wall-clock time of a run, including time spent waiting for a CPU."""
        return 2 * self.wall_seconds

    @property
    def frame_bytes(self) -> int:
        """The largest frame of an honest run."""
        texts = max(self.response_bytes, self.argument_bytes)
        return max(UTF8_BYTES * texts, ESCAPED_BYTES * max(self.log_bytes, self.error_bytes)) + KIB
