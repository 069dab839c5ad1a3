"""Faults of the event log: its form, its digests, and what it leaves out or adds to what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.alter_attestation import change_attestation, change_event, change_log
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.event_log import RUNTIME_EVENT

LOGS = (row("list", json.loads, also="VER-050"), row("cut", lambda text: text[:-1]))


@mutant("ATT-060", each=LOGS)
def event_log_is_no_text_of_a_list(node: Node, change: Callable[[str], JsonValue]) -> None:
    """Answer an `event_log` that is not the JSON text of a list."""
    change_attestation(node, lambda shown: {**shown, "event_log": change(str(shown["event_log"]))})


@mutant("ATT-200", "ATT-130")
def log_has_no_runtime_events(node: Node) -> None:
    """Show the boot events alone."""
    change_log(node, lambda events: [event for event in events if event["event_type"] != RUNTIME_EVENT])


@mutant("ATT-220")
def one_digest_is_of_another_event(node: Node) -> None:
    """Show the digest of `storage-fs` at the event `app-id`."""
    other = next(event.digest.hex() for event in node.attestation.events if event.name == "storage-fs")
    change_event(node, "app-id", lambda event: {**event, "digest": other})
