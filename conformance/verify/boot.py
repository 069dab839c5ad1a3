"""Boot events by name: what firmware, boot loader and kernel measured into RTMR0 to RTMR2.

Types and payloads are those of the TCG PC Client Platform Firmware Profile as OVMF writes them. Only digests extend a
register: a name is what the log says, and services may leave payloads out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.verify.event_log import Event, of_register
from conformance.verify.policy import MeasuredEvent

BOOT_RTMRS = (0, 1, 2)
SEPARATOR, EVENT_TAG, PLATFORM_CONFIG = 0x4, 0x6, 0xA
BOOT_APPLICATION, ACTION, FIRMWARE_BLOB, HANDOFF_TABLES = 0x80000003, 0x80000007, 0x8000000A, 0x8000000B
VARIABLES = frozenset({0x80000001, 0x80000002, 0x8000000C, 0x800000E0})
"""Configuration, boot (two versions) and authority."""
_NAMES = {
    SEPARATOR: "separator",
    BOOT_APPLICATION: "kernel",
    FIRMWARE_BLOB: "firmware configuration volume",
    HANDOFF_TABLES: "TD hand-off block",
}
_TAGS = {"LOADED_IMAGE::LoadOptions": "kernel command line", "Linux initrd": "initrd"}
_ORDERED = {
    PLATFORM_CONFIG: ("ACPI loader", "ACPI RSDP", "ACPI tables"),
    EVENT_TAG: ("kernel command line", "initrd"),
}
"""Events that their payloads do not tell apart: named in the order in which firmware measures them."""
_ACPI = "ACPI DATA"
_MOST_NAME = 60


def boot_events(events: Iterable[Event]) -> tuple[MeasuredEvent, ...]:
    """The events of RTMR0 to RTMR2 by name, register by register."""
    listed = tuple(events)
    return tuple(
        MeasuredEvent(register, name, event.digest)
        for register in BOOT_RTMRS
        for event, name in _named(of_register(listed, register))
    )


def _named(events: list[Event]) -> Iterable[tuple[Event, str]]:
    seen: Counter[int] = Counter()
    for event in events:
        name = _name(event)
        if name is None:
            order = _ORDERED.get(event.type, ())
            name = order[seen[event.type]] if seen[event.type] < len(order) else f"event of type {event.type:#010x}"
            seen[event.type] += 1
        yield event, name


def _name(event: Event) -> str | None:
    """What type and payload say; None: the order has to."""
    if event.type in _NAMES:
        return _NAMES[event.type]
    if event.type in VARIABLES:
        return f"variable {_variable(event.payload)}".rstrip()
    text = event.payload[8:] if event.type == EVENT_TAG else event.payload
    said = text.rstrip(b"\0").decode("ascii", "replace")[:_MOST_NAME]
    if event.type == EVENT_TAG:
        return _TAGS.get(said, said) or None
    if event.type in {ACTION, PLATFORM_CONFIG}:
        return None if said == _ACPI else said or None
    return f"event of type {event.type:#010x}"


def _variable(payload: bytes) -> str:
    """The name in UEFI_VARIABLE_DATA: GUID, length of the name in characters, length of the data, name, data."""
    length = int.from_bytes(payload[16:24], "little")
    return payload[32 : 32 + 2 * min(length, _MOST_NAME)].decode("utf-16-le", "replace")
