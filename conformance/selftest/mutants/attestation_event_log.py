"""Faults of the event log: its form, its digests, and what it leaves out or adds to what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.alter_attestation import (
    Members,
    change_attestation,
    change_event,
    change_log,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.event_log import RUNTIME_EVENT, Event

Events = list[Event]

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


def _without(event: Members, name: str) -> Members:
    return {member: value for member, value in event.items() if member != name}


@mutant("ATT-200", "ATT-130")
def log_has_no_runtime_events(node: Node) -> None:
    """Show the boot events alone."""
    change_log(node, lambda events: [event for event in events if event["event_type"] != RUNTIME_EVENT])


def _told(event: Members, digests: dict[str, bytes]) -> Members:
    if event["event_type"] != RUNTIME_EVENT:
        return event
    return {**event, "digest": digests[str(event["event"])].hex()}


@mutant("ATT-220", each=["app-id"])
def one_digest_is_of_another_event(node: Node, name: str) -> None:
    """Show the digest of `storage-fs` at the event `{name}`."""
    other = next(event.digest.hex() for event in node.attestation.events if event.name == "storage-fs")
    change_event(node, name, lambda event: {**event, "digest": other})
