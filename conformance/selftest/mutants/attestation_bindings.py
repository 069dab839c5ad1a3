"""Faults of what ties the evidence together: each part is genuine, but not of one machine, application or moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter_attestation import OF_EVIDENCE, QUOTE, change_members, change_report
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.attestation import Attestation
from reference_node.tee.boot import boot_events
from reference_node.tee.event_log import as_text, replay, runtime_events
from reference_node.tee.identity import Identity

Altered = Callable[[Identity], Identity]


@mutant("ATT-300")
def evidence_quote_is_of_another_application(node: Node) -> None:
    """Make the evidence quote on the same machine while it ran something that no log tells."""
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=b"\1" * 48))


IDENTITIES = (
    row("compose-hash", lambda known: replace(known, app_compose=known.app_compose.replace("0.1.0", "0.1.1"))),
    row("app-id", lambda known: replace(known, app_id=b"\1" * 20)),
)


@mutant("ATT-300", each=IDENTITIES)
def evidence_is_of_another_application(node: Node, change: Altered) -> None:
    """Make the evidence on the same machine while it ran another application, with a log that says so."""
    events = [*boot_events(), *runtime_events(change(node.attestation.identity))]
    rtmr3 = replay(events)[3]
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=rtmr3))
    change_members(node, QUOTE, lambda shown: {**shown, "event_log": as_text(events)})


def _neighbour(node: Node) -> Attestation:
    """The attestation of another node, which runs the same application on a machine of its own."""
    settings = replace(node.settings, root_secret=b"\x2a" * 32)
    identity = replace(node.attestation.identity, instance_id=b"\x2a" * 20)
    return Attestation(settings, node.clock, identity, node.attestation.authorisation)


@mutant("ATT-140", "ATT-240", "ATT-120", also="ATT-300")
def evidence_quote_is_of_a_neighbour(node: Node) -> None:
    """Show the quote of another node's certificate in quote.json, beside one's own report data."""
    other = _neighbour(node)
    change_members(node, QUOTE, lambda shown: {**shown, "quote": other.quote(b"\1" * 64).hex()})
