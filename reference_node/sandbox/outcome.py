"""How a run ends, and what the sandbox and its caller tell each other."""

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
    """The sandbox could not run a script; no fault of the script's."""


class SandboxBusy(SandboxError):  # noqa: N818 - a state
    """Too many runs wait already."""


class SandboxUnavailable(SandboxError):  # noqa: N818 - a state
    """The sandbox can't start here; the message says why and what to do."""


class SandboxBroken(SandboxError):  # noqa: N818 - a state
    """The machinery failed during a run."""


@dataclass(frozen=True)
class RunResult:
    """What a run came to."""

    response: str | None
    """JSON text as the script made it; None after an error."""

    logs: str
    """Console output, one line a call; after an error its message and stack come last."""

    has_error: bool

    seconds: float
    """What the run used: time in its process, without the time in which others had the processor."""
