"""Faults of the event log: its form, its digests, and what it leaves out or adds to what was measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter_attestation import (
    Members,
    change_attestation,
    change_event,
    change_events,
    change_log,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.event_log import RUNTIME_EVENT, Event, runtime_digest, runtime_event

Events = list[Event]
Shown = list[Members]

LOGS = (
    row("list", json.loads, also="VER-050"),
    row("object", lambda text: json.dumps({"events": json.loads(text)})),
    row("lines", lambda text: "\n".join(json.dumps(event) for event in json.loads(text))),
    row("cut", lambda text: text[:-1]),
    row("empty", lambda _: "", also="ATT-130"),
    row("quoted-twice", json.dumps),
    row("comma-at-the-end", lambda text: text[:-1] + ",]"),
)


@mutant("ATT-060", each=LOGS)
def event_log_is_no_text_of_a_list(node: Node, change: Callable[[str], JsonValue]) -> None:
    """Answer an `event_log` that is not the JSON text of a list."""
    change_attestation(node, lambda shown: {**shown, "event_log": change(str(shown["event_log"]))})


@mutant(
    "ATT-060",
    each=[
        "digest",
        row("event_type", also="ATT-200"),
        row("event", also="ATT-130"),
        row("event_payload", also="ATT-130"),
    ],
)
def events_lack_a_member(node: Node, name: str) -> None:
    """Leave `{name}` out of every event."""
    change_log(node, lambda events: [_without(event, name) for event in events])


@mutant(
    "ATT-060",
    each=[
        "digest",
        row("event_type", also="ATT-200"),
        row("event", also="ATT-130"),
        row("event_payload", also="ATT-130"),
    ],
)
def one_event_lacks_a_member(node: Node, name: str) -> None:
    """Leave `{name}` out of one runtime event."""
    change_event(node, "storage-fs", lambda event: _without(event, name))


def _without(event: Members, name: str) -> Members:
    return {member: value for member, value in event.items() if member != name}


MEMBERS = (
    row("type-in-hex", "event_type", "0x08000001"),
    row("type-as-text", "event_type", "134217729"),
    row("payload-in-clear", "event_payload", "zfs", also="ATT-130"),
    row("payload-as-bytes", "event_payload", [122, 102, 115]),
    row("name-is-null", "event", None),
    row("digest-is-null", "digest", None),
    row("digest-is-short", "digest", "00" * 32),
)


@mutant("ATT-060", each=MEMBERS)
def event_member_is_of_another_form(node: Node, name: str, value: JsonValue) -> None:
    """Show one runtime event with `{name}` of another form."""
    change_event(node, "storage-fs", lambda event: {**event, name: value})


@mutant("ATT-200", "ATT-130")
def log_has_no_runtime_events(node: Node) -> None:
    """Show the boot events alone."""
    change_log(node, lambda events: [event for event in events if event["event_type"] != RUNTIME_EVENT])


@mutant(
    "ATT-200",
    each=[row("off-by-one", 0x08000000), row("big-endian", 0x01000008), row("boot", 0x0000000D)],
    also="ATT-130",
)
def runtime_events_have_another_type(node: Node, kind: int) -> None:
    """Measure and show runtime events with the type {kind}."""

    def otherwise(event: Event) -> Event:
        return replace(event, kind=kind, digest=runtime_digest(kind, event.name, event.payload))

    change_events(node, lambda events: [otherwise(event) if event.register == 3 else event for event in events])


def _big_endian(event: Event) -> bytes:
    return event.kind.to_bytes(4, "big") + b":" + event.name.encode() + b":" + event.payload


def _little(event: Event, separator: bytes = b":") -> bytes:
    return event.kind.to_bytes(4, "little") + separator + event.name.encode() + separator + event.payload


FORMULAS = (
    row("big-endian", _big_endian),
    row("eight-bytes", lambda event: event.kind.to_bytes(8, "little") + _little(event)[4:]),
    row("hex-text", lambda event: _little(replace(event, payload=event.payload.hex().encode()))),
    row("no-separators", lambda event: _little(event, b"")),
    row("nul-separators", lambda event: _little(event, b"\0")),
    row("type-in-text", lambda event: str(event.kind).encode() + _little(event)[4:]),
    row("no-type", lambda event: _little(event)[5:]),
    row("no-name", lambda event: event.kind.to_bytes(4, "little") + b"::" + event.payload),
    row("payload-alone", lambda event: event.payload),
    row("newline", lambda event: _little(event) + b"\n"),
)


@mutant("ATT-220", each=FORMULAS)
def runtime_digests_are_made_otherwise(node: Node, hashed: Callable[[Event], bytes]) -> None:
    """Measure runtime events by another formula, and show the digests."""
    digests = {event.name: hashlib.sha384(hashed(event)).digest() for event in _runtime(node)}
    change_events(node, lambda events: [_measured(event, digests) for event in events])
    change_log(node, lambda events: [_told(event, digests) for event in events])


@mutant("ATT-130", each=FORMULAS[:4], also="ATT-220")
def registers_are_extended_otherwise(node: Node, hashed: Callable[[Event], bytes]) -> None:
    """Measure runtime events by another formula, and leave the digests out."""
    digests = {event.name: hashlib.sha384(hashed(event)).digest() for event in _runtime(node)}
    change_events(node, lambda events: [_measured(event, digests) for event in events])


def _runtime(node: Node) -> Events:
    return [event for event in node.attestation.events if event.kind == RUNTIME_EVENT]


def _measured(event: Event, digests: dict[str, bytes]) -> Event:
    return replace(event, digest=digests[event.name]) if event.kind == RUNTIME_EVENT else event


def _told(event: Members, digests: dict[str, bytes]) -> Members:
    if event["event_type"] != RUNTIME_EVENT:
        return event
    return {**event, "digest": digests[str(event["event"])].hex()}


@mutant("ATT-220", each=["app-id", "compose-hash", "system-ready"])
def one_digest_is_of_another_event(node: Node, name: str) -> None:
    """Show the digest of `storage-fs` at the event `{name}`."""
    other = next(event.digest.hex() for event in node.attestation.events if event.name == "storage-fs")
    change_event(node, name, lambda event: {**event, "digest": other})


@mutant("ATT-220")
def zeros_stand_for_empty_digests(node: Node) -> None:
    """Show 48 zero bytes as the digest of each runtime event."""
    nothing = {event.name: bytes(48) for event in _runtime(node)}
    change_log(node, lambda events: [_told(event, nothing) for event in events])


def _put(event: Event, *, before: str) -> Callable[[Events], Events]:
    def changed(events: Events) -> Events:
        at = [known.name for known in events].index(before)
        return [*events[:at], event, *events[at:]]

    return changed


SHOWN = (
    row("left-out", lambda events: [event for event in events if event["event"] != "storage-fs"]),
    row("last-left-out", lambda events: events[:-1]),
    row("exchanged", lambda events: [*events[:-2], events[-1], events[-2]]),
    row("repeated", lambda events: [*events, events[-1]]),
    row("added", lambda events: [*events, {**events[-1], "event": "anything"}]),
    row("reversed", lambda events: events[::-1]),
    row("in-another-register", lambda events: [*events[:-1], {**events[-1], "imr": 2}]),
    row("payload-edited", lambda events: [*events[:-2], {**events[-2], "event_payload": "65787434"}, events[-1]]),
    row("name-edited", lambda events: [*events[:-2], {**events[-2], "event": "storage"}, events[-1]]),
    row("empty", lambda _: []),
)


@mutant("ATT-130", each=SHOWN)
def log_is_not_what_was_measured(node: Node, change: Callable[[Shown], JsonValue]) -> None:
    """Show a log that does not replay to the registers of the quote."""
    change_log(node, change)


@mutant(
    "ATT-130",
    each=[
        "compose-hash",
    ],
)
def identity_event_is_not_measured(node: Node, name: str) -> None:
    """Measure everything but `{name}`."""
    change_events(node, lambda events: [event for event in events if event.name != name])


@mutant(
    "ATT-130",
    each=[
        "compose-hash",
    ],
)
def identity_event_stands_twice(node: Node, name: str) -> None:
    """Measure another `{name}` before the right one."""
    change_events(node, _put(runtime_event(name, bytes(32)), before=name))


@mutant(
    "ATT-130",
    each=[
        "compose-hash",
    ],
)
def identity_event_stands_twice_the_wrong_one_last(node: Node, name: str) -> None:
    """Measure another `{name}` behind the right one."""
    change_events(node, _put(runtime_event(name, bytes(32)), before="boot-mr-done"))


@mutant(
    "ATT-130",
    each=[
        "compose-hash",
    ],
)
def identity_comes_after_the_system_is_ready(node: Node, name: str) -> None:
    """Have the application itself measure `{name}`, after `system-ready`."""

    def late(events: Events) -> Events:
        found = next(event for event in events if event.name == name)
        return [*(event for event in events if event is not found), found]

    change_events(node, late)


@mutant("ATT-130")
def application_overwrites_its_compose_hash(node: Node) -> None:
    """Boot another application, then measure the shown compose hash after `system-ready`."""

    def changed(events: Events) -> Events:
        found = next(event for event in events if event.name == "compose-hash")
        other = runtime_event("compose-hash", bytes(32))
        return [*(other if event is found else event for event in events), found]

    change_events(node, changed)


@mutant("ATT-130", each=[row("compose-hash", "compose-hash"), row("app-id", "app-id")])
def measured_identity_is_another(node: Node, name: str) -> None:
    """Measure zeros as `{name}`."""

    def changed(events: Events) -> Events:
        return [runtime_event(name, bytes(len(event.payload))) if event.name == name else event for event in events]

    change_events(node, changed)


@mutant("ATT-130", each=["COMPOSE-HASH", "compose_hash", "compose-hash ", " compose-hash"])
def compose_hash_event_is_named_otherwise(node: Node, name: str) -> None:
    """Measure the compose hash under the name `{name}`."""

    def changed(events: Events) -> Events:
        return [runtime_event(name, event.payload) if event.name == "compose-hash" else event for event in events]

    change_events(node, changed)


@mutant("ATT-130")
def compose_hash_is_measured_as_text(node: Node) -> None:
    """Measure the hex text of the compose hash instead of its bytes."""

    def changed(events: Events) -> Events:
        text = node.attestation.identity.compose_hash.hex().encode()
        return [runtime_event(event.name, text) if event.name == "compose-hash" else event for event in events]

    change_events(node, changed)


@mutant("ATT-130")
def compose_hash_is_in_a_boot_register(node: Node) -> None:
    """Measure the compose hash into a register that belongs to the boot."""

    def changed(events: Events) -> Events:
        return [replace(event, register=2) if event.name == "compose-hash" else event for event in events]

    change_events(node, changed)
