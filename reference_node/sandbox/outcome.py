"""Results and exceptions of runs, and the interface between the sandbox and its caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from reference_node.strict_json import Json

HostCall: TypeAlias = "Callable[[str, Mapping[str, Json]], Json]"
"""Answers a script's use of a wallet: the call's name and argument object in, JSON out. Runs in the node's process."""


class HostError(Exception):
    """Raised by a `HostCall`: the script's promise rejects with an `Error` of this message."""


class HostRefusal(Exception):  # noqa: N818 - an answer
    """Raised by a `HostCall`: the run ends at once, and nothing that the script does turns it into a success."""


class SandboxError(Exception):
    """The sandbox could not run a script, through no fault of the script."""


class SandboxBusy(SandboxError):  # noqa: N818 - a state
    """Too many runs are waiting."""


class SandboxUnavailable(SandboxError):  # noqa: N818 - a state
    """The sandbox can't start here; the message says why and what to do."""


class SandboxBroken(SandboxError):  # noqa: N818 - a state
    """The sandbox itself failed during a run."""


@dataclass(frozen=True)
class RunResult:
    """The result of a run."""

    response: str | None
    """The script's JSON text; None after an error."""

    logs: str
    """Console output, one line a call; after an error its message and then its stack come last."""

    has_error: bool

    seconds: float
    """Seconds that the run used, without time spent waiting for a CPU."""
