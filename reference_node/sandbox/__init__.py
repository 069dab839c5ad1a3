"""The sandbox that actions run in ("What the service does", 2; Endpoints / run action).

Each run is a process of its own, forked from a warm one that holds no secret, locked down before it sees any code,
and killed in the end. What it sends is taken for hostile: it can lie about its own response and nothing else.
"""

from reference_node.sandbox.limits import Limits
from reference_node.sandbox.outcome import (
    HostCall,
    HostError,
    HostRefusal,
    RunResult,
    SandboxBroken,
    SandboxBusy,
    SandboxError,
    SandboxUnavailable,
)
from reference_node.sandbox.sandbox import Sandbox

__all__ = [
    "HostCall",
    "HostError",
    "HostRefusal",
    "Limits",
    "RunResult",
    "Sandbox",
    "SandboxBroken",
    "SandboxBusy",
    "SandboxError",
    "SandboxUnavailable",
]
