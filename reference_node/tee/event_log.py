"""The event log: what the machine measured into its registers (specification, "Endpoints / Attestation" rule 6).

A register (RTMR) begins as 48 zero bytes; each of its events extends it by SHA-384 over the register and the digest.
Runtime events have the digest that rule 6 states.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reference_node.tee.identity import Identity

REGISTERS = 4
REGISTER_BYTES = 48
RUNTIME_REGISTER = 3

RUNTIME_EVENT = 0x08000001
"""The event type of runtime events."""


@dataclass(frozen=True, slots=True)
class Event:
    """One measurement."""

    register: int
    """Which RTMR it extends, 0 to 3."""
    kind: int
    """The event type."""
    name: str
    payload: bytes
    digest: bytes
    """48 bytes, by which the register is extended."""

    def as_json(self) -> dict[str, object]:
        """As the log shows it: a runtime event without its digest, which anyone can compute."""
        return {
            "imr": self.register,
            "event_type": self.kind,
            "digest": "" if self.kind == RUNTIME_EVENT else self.digest.hex(),
            "event": self.name,
            "event_payload": self.payload.hex(),
        }


def runtime_digest(kind: int, name: str, payload: bytes) -> bytes:
    """SHA-384 over the event type in 4 little-endian bytes, `:`, the name, `:` and the payload (rule 6)."""
    return hashlib.sha384(kind.to_bytes(4, "little") + b":" + name.encode() + b":" + payload).digest()


def runtime_event(name: str, payload: bytes = b"") -> Event:
    """An event of the runtime register."""
    return Event(RUNTIME_REGISTER, RUNTIME_EVENT, name, payload, runtime_digest(RUNTIME_EVENT, name, payload))


def runtime_events(identity: Identity) -> list[Event]:
    """What the guest measures from its start until the application runs, in order."""
    provider = json.dumps({"name": "kms", "id": identity.key_provider_id.hex()}, separators=(",", ":"))
    return [
        runtime_event("system-preparing"),
        runtime_event("app-id", identity.app_id),
        runtime_event("compose-hash", identity.compose_hash),
        runtime_event("instance-id", identity.instance_id),
        runtime_event("boot-mr-done"),
        runtime_event("os-image-hash", identity.os_image_hash),
        runtime_event("key-provider", provider.encode()),
        runtime_event("storage-fs", b"zfs"),
        runtime_event("system-ready"),
    ]


def replay(events: Iterable[Event]) -> tuple[bytes, ...]:
    """The four registers after these events, 48 bytes each."""
    registers = [bytes(REGISTER_BYTES)] * REGISTERS
    for event in events:
        registers[event.register] = hashlib.sha384(registers[event.register] + event.digest).digest()
    return tuple(registers)


def as_text(events: Sequence[Event]) -> str:
    """The log as `event_log` holds it: the text of a JSON array."""
    return json.dumps([event.as_json() for event in events], separators=(",", ":"))
