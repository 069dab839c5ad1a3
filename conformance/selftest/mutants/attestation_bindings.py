"""Faults of what ties the evidence together: each part is genuine, but not of one machine, application or moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter_attestation import (
    OF_ATTESTATION,
    OF_EVIDENCE,
    QUOTE,
    change_evidence,
    change_files,
    change_members,
    change_report,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.attestation import Attestation
from reference_node.tee.boot import boot_events
from reference_node.tee.event_log import as_text, replay, runtime_event, runtime_events
from reference_node.tee.identity import Identity

Altered = Callable[[Identity], Identity]


@mutant("ATT-300")
def evidence_quote_is_of_another_application(node: Node) -> None:
    """Make the evidence quote on the same machine while it ran something that no log tells."""
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=b"\1" * 48))


@mutant("ATT-130", also="ATT-300")
def attestation_quote_is_of_another_application(node: Node) -> None:
    """Make the quote of `/attestation` while the machine ran something that no log tells."""
    change_report(node, OF_ATTESTATION, lambda told: replace(told, rtmr3=b"\1" * 48))


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


@mutant("ATT-300", each=IDENTITIES)
def evidence_of_another_application_has_no_log(node: Node, change: Altered) -> None:
    """Make the evidence while another application ran, and show no log beside it."""
    rtmr3 = replay(runtime_events(change(node.attestation.identity)))[3]
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=rtmr3))

    def alone(shown: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in shown.items() if name != "event_log"}

    change_members(node, QUOTE, alone)  # type: ignore[arg-type]  # members of JSON are objects


@mutant("ATT-300")
def evidence_of_another_application_has_this_log(node: Node) -> None:
    """Make the evidence while another application ran, and show the log of `/attestation` beside it."""
    other = replace(node.attestation.identity, app_id=b"\1" * 20)
    rtmr3 = replay(runtime_events(other))[3]
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=rtmr3))


@mutant("ATT-300")
def evidence_of_another_application_measures_this_one_late(node: Node) -> None:
    """Make the evidence while another application ran that measured this one's identity after `system-ready`."""
    identity = node.attestation.identity
    late = [runtime_event("app-id", identity.app_id), runtime_event("compose-hash", identity.compose_hash)]
    events = [*boot_events(), *runtime_events(replace(identity, app_id=b"\1" * 20)), *late]
    rtmr3 = replay(events)[3]
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=rtmr3))
    change_members(node, QUOTE, lambda shown: {**shown, "event_log": as_text(events)})


@mutant("ATT-300")
def evidence_of_another_application_calls_its_identity_boot(node: Node) -> None:
    """Make the evidence while another application ran; call its identity boot events, and this one's runtime events."""
    identity = node.attestation.identity
    system = runtime_events(replace(identity, app_id=b"\1" * 20, app_compose=f"{identity.app_compose} "))
    late = [runtime_event("app-id", identity.app_id), runtime_event("compose-hash", identity.compose_hash)]
    rtmr3 = replay([*boot_events(), *system, *late])[3]
    change_report(node, OF_EVIDENCE, lambda told: replace(told, rtmr3=rtmr3))
    log = [*boot_events(), *(replace(event, kind=4) for event in system), *late]
    change_members(node, QUOTE, lambda shown: {**shown, "event_log": as_text(log)})


def _neighbour(node: Node) -> Attestation:
    """The attestation of another node, which runs the same application on a machine of its own."""
    settings = replace(node.settings, root_secret=b"\x2a" * 32)
    identity = replace(node.attestation.identity, instance_id=b"\x2a" * 20)
    return Attestation(settings, node.clock, identity, node.attestation.authorisation)


@mutant("ATT-180", "ATT-140", "ATT-190")
def all_evidence_is_of_a_neighbour(node: Node) -> None:
    """Show the whole evidence of another node behind a certificate of one's own."""
    other = _neighbour(node).evidence
    change_evidence(node, lambda evidence: replace(evidence, files=other.files))


@mutant("ATT-140")
def attestation_is_of_a_neighbour(node: Node) -> None:
    """Answer the `/attestation` of another node."""
    node.attestation.attestation = _neighbour(node).attestation


@mutant("ATT-140", "ATT-240", "ATT-120", also="ATT-300")
def evidence_quote_is_of_a_neighbour(node: Node) -> None:
    """Show the quote of another node's certificate in quote.json, beside one's own report data."""
    other = _neighbour(node)
    change_members(node, QUOTE, lambda shown: {**shown, "quote": other.quote(b"\1" * 64).hex()})


@mutant("ATT-170", each=[row("quote.json", also="ATT-240"), row("sha256sum.txt", also="ATT-110 ATT-240")])
def evidence_file_is_of_the_certificate_before(node: Node, name: str) -> None:
    """Show `{name}` of the certificate that the present one replaced."""
    machine = node.attestation
    before = machine.evidence.files[name]
    change_files(node, lambda files: {**files, name: before})
    machine.rotate()


@mutant("ATT-110", "ATT-180")
def certificate_file_is_of_the_certificate_before(node: Node) -> None:
    """Show the certificate file of the certificate that the present one replaced."""
    machine = node.attestation
    name = f"cert-{machine.domain}.pem"
    before = machine.evidence.files[name]
    change_files(node, lambda files: {**files, name: before})
    machine.rotate()


@mutant("ATT-180", "ATT-010")
def evidence_is_kept_when_the_certificate_is_renewed(node: Node) -> None:
    """Keep all evidence files of the first certificate when it is renewed."""
    machine = node.attestation
    before = machine.evidence.files
    change_evidence(node, lambda evidence: replace(evidence, files=before))
    machine.rotate()
