"""The event log beside a quote: its form, the digests of runtime events, and the registers that it replays to.

Verification rule 6. Names and payloads of boot events are not authenticated, only their digests are; identity is
therefore read from runtime events alone, before the application could write any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha384

from conformance.verify.strict import hex_bytes, json_value, text_member

RUNTIME = 0x08000001
RUNTIME_REGISTER = 3
SYSTEM_READY = "system-ready"
IDENTITY = ("app-id", "compose-hash", "instance-id")
MOST_EVENTS = 10_000
DIGEST = 48
_VERSION_1 = (None, 1, "1", "v1", "V1")


@dataclass(frozen=True)
class Event:
    """One event."""

    index: int
    register: int | None
    """RTMR that it extends, where the log says so."""
    type: int
    digest: bytes
    """Empty where the log leaves it out."""
    name: str
    payload: bytes
    """Of a boot event it is not hashed, and empty where it is no hex."""
    version_1: bool

    @property
    def runtime(self) -> bool:
        """Whether it is a runtime event."""
        return self.type == RUNTIME

    @property
    def computed_digest(self) -> bytes:
        """Digest of a runtime event by the rule's formula; of any other the one in the log."""
        if not self.runtime:
            return self.digest
        return sha384(self.type.to_bytes(4, "little") + b":" + self.name.encode() + b":" + self.payload).digest()


@lru_cache(maxsize=16)
def read_event_log(text: str) -> tuple[Event, ...]:
    """Read an event log. ValueError: it is not in its form."""
    events = json_value(text.encode())
    if not isinstance(events, list) or len(events) > MOST_EVENTS:
        raise ValueError(f"no list of at most {MOST_EVENTS} events")
    return tuple(_event(index, event) for index, event in enumerate(events))


def _event(index: int, event: object) -> Event:
    if not isinstance(event, dict):
        raise ValueError(f"event {index} is no object")  # noqa: TRY004 - a fault of the text, not of a caller
    try:
        return _read(index, event)
    except ValueError as problem:
        raise ValueError(f"event {index}: {problem}") from problem


def _read(index: int, event: dict[str, object]) -> Event:
    kind, register = event.get("event_type"), event.get("imr")
    if not isinstance(kind, int) or isinstance(kind, bool) or not 0 <= kind <= 0xFFFFFFFF:
        raise ValueError("event_type is no integer of 32 bits")
    if register is not None and (not isinstance(register, int) or isinstance(register, bool) or not 0 <= register <= 3):
        raise ValueError("imr is no integer from 0 to 3")
    digest = hex_bytes(text_member(event, "digest"))
    if len(digest) not in ({0, DIGEST} if kind == RUNTIME else {DIGEST}):
        raise ValueError(f"digest has {len(digest)} bytes")
    name, payload = text_member(event, "event"), text_member(event, "event_payload")
    name.encode()
    return Event(
        index, register, kind, digest, name, hex_bytes(payload) if kind == RUNTIME else _lenient(payload),
        event.get("version") in _VERSION_1,
    )  # fmt: skip


def _lenient(payload: str) -> bytes:
    try:
        return hex_bytes(payload)
    except ValueError:
        return b""


def extend(digests: Iterable[bytes]) -> bytes:
    """The value of a register that began as zeros and was extended by digests in turn."""
    value = bytes(DIGEST)
    for digest in digests:
        value = sha384(value + digest).digest()
    return value


def of_register(events: Iterable[Event], register: int) -> list[Event]:
    """The events of a register, in order. Runtime events that name none belong to the runtime register."""
    return [event for event in events if _register(event) == register]


def _register(event: Event) -> int | None:
    return RUNTIME_REGISTER if event.register is None and event.runtime else event.register


def before_ready(events: Iterable[Event]) -> list[Event]:
    """Runtime events of the runtime register before the first `system-ready`: those of the system."""
    of_system: list[Event] = []
    for event in of_register(events, RUNTIME_REGISTER):
        if event.runtime and event.name == SYSTEM_READY:
            break
        if event.runtime:
            of_system.append(event)
    return of_system
