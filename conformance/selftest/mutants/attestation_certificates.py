"""Faults of the certificate: what TLS shows, what the evidence shows, and what happens when it is renewed."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_attestation import (
    CHECKSUMS,
    QUOTE,
    bound,
    certificate_name,
    change_bound_file,
    change_evidence,
    changed,
    publish_caa,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.acme import Credentials, Issuer
from reference_node.tee.attestation import Evidence
from reference_node.tee.event_log import runtime_event
from reference_node.tee.tls import context_of

PATHS = ("/info", "/attestation", "/evidences/", "/evidences/sha256sum.txt", "/evidences/quote.json")
END = b"-----END CERTIFICATE-----\n"


def _other(node: Node, turn: int = 1000, domain: str | None = None, issuer: Issuer | None = None) -> Credentials:
    machine = node.attestation
    return (issuer or machine.issuer).issue(domain or machine.domain, node.clock.started, turn)


def _show_over_tls(node: Node, credentials: Credentials) -> None:
    change_evidence(node, lambda evidence: replace(evidence, tls=context_of(credentials)))


@mutant("ATT-180", "ATT-010")
def tls_shows_another_certificate(node: Node) -> None:
    """Show over TLS another certificate of the same issuer and domain than the evidence has."""
    _show_over_tls(node, _other(node))


@mutant("ATT-180")
def tls_shows_a_certificate_of_another_issuer(node: Node) -> None:
    """Show over TLS a certificate for the domain that another authority issued."""
    _show_over_tls(node, _other(node, issuer=Issuer(b"somebody", node.clock.started)))


@mutant("ATT-180")
def tls_shows_a_certificate_of_another_domain(node: Node) -> None:
    """Show over TLS a certificate of the same account for another domain."""
    _show_over_tls(node, _other(node, domain="other.example"))


@mutant("ATT-180")
def tls_shows_the_same_key_in_another_certificate(node: Node) -> None:
    """Renew the certificate over the same key, and leave the evidence as it is."""

    def renewed(evidence: Evidence) -> Evidence:
        later = node.attestation.issuer.issue(node.attestation.domain, node.clock.started + 60, 0)
        return replace(evidence, tls=context_of(later))

    change_evidence(node, renewed)


FILES = (
    row("issuer-first", lambda chain: b"".join(part + END for part in reversed(chain.split(END)[:-1]))),
    row("issuer-alone", lambda chain: chain.split(END)[1] + END),
)


@mutant("ATT-180", each=FILES)
def evidence_begins_with_another_certificate(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Bind a file whose first certificate is not the leaf that TLS shows."""
    change_bound_file(node, certificate_name(node), change)


@mutant("ATT-180")
def evidence_has_another_certificate_before(node: Node) -> None:
    """Bind a file in which an older certificate of the domain stands before the one that TLS shows."""
    before = _other(node).chain.split(END)[0] + END
    change_bound_file(node, certificate_name(node), lambda chain: before + chain)


@mutant("ATT-180")
def evidence_has_only_the_issuer_right(node: Node) -> None:
    """Bind another certificate of the same issuer than TLS shows."""
    change_bound_file(node, certificate_name(node), lambda _: _other(node).chain)


@mutant("ATT-180")
def certificate_is_renewed_before_its_evidence(node: Node) -> None:
    """Take a new certificate at once, and show the evidence of the one before."""
    machine = node.attestation
    before = machine.evidence
    machine.rotate()
    after = machine.evidence
    change_evidence(node, lambda _: replace(before, tls=after.tls))
    machine.rotate()


@mutant("ATT-180")
def evidence_is_renewed_before_its_certificate(node: Node) -> None:
    """Bind a new certificate at once, and show the one before over TLS."""
    machine = node.attestation
    before = machine.evidence
    change_evidence(node, lambda evidence: replace(evidence, tls=before.tls))
    machine.rotate()


@dataclass(frozen=True)
class _Alternating(Evidence):
    """Evidence of a front end with two certificates."""

    other: ssl.SSLContext
    is_others: Callable[[], bool]
    """Whether the next connection shows the other one."""

    def __getattribute__(self, name: str) -> object:
        """Show the other certificate on some connections."""
        if name == "tls" and object.__getattribute__(self, "is_others")():
            return object.__getattribute__(self, "other")
        return object.__getattribute__(self, name)


def _alternate(node: Node, other: ssl.SSLContext, is_others: Callable[[], bool]) -> None:
    change_evidence(node, lambda made: _Alternating(made.credentials, made.files, made.tls, other, is_others))


async def _last_of_its_connection(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return replace(given, headers=(*given.headers, (b"connection", b"close")))


OTHERS = (
    row("same-domain", _other),
    row("other-domain", lambda node: _other(node, domain="other.example")),
    row("other-issuer", lambda node: _other(node, issuer=Issuer(b"somebody", node.clock.started))),
)


@mutant("ATT-280", each=OTHERS)
def connections_end_at_two_certificates(node: Node, make: Callable[[Node], Credentials]) -> None:
    """Show another certificate on each second connection, and end each connection of the attestation paths."""
    intercept(node, PATHS, _last_of_its_connection)
    turns = count()
    _alternate(node, context_of(make(node)), lambda: next(turns) % 2 == 1)


@mutant("ATT-280", each=OTHERS)
def replica_has_a_certificate_of_its_own(node: Node, make: Callable[[Node], Credentials]) -> None:
    """Show on each third connection a certificate that no evidence names: that of a replica beside the TEE."""
    turns = count()
    _alternate(node, context_of(make(node)), lambda: next(turns) % 3 == 2)


# Renewed while clients look


def _after_a_renewal(node: Node, then: Callable[[Evidence], None]) -> None:
    """Do something once the certificate is renewed; it gets the evidence that stood before."""

    def rotate(original: Callable[[], None]) -> None:
        before = node.attestation.evidence
        original()
        then(before)

    wrap(node.attestation, "rotate", rotate)


@mutant(
    each=[
        row(QUOTE, QUOTE, breaks="ATT-170 ATT-240"),
        row(CHECKSUMS, CHECKSUMS, breaks="ATT-170 ATT-110", also="ATT-240"),
    ]
)
def renewal_leaves_a_file_behind(node: Node, name: str) -> None:
    """Go on to serve the former `{name}` once the certificate is renewed."""

    def keep(before: Evidence) -> None:
        after = node.attestation.evidence
        node.attestation._evidence = replace(after, files={**after.files, name: before.files[name]})

    _after_a_renewal(node, keep)


@mutant("ATT-110", also="ATT-240")
def renewal_leaves_the_checksum_of_the_certificate_behind(node: Node) -> None:
    """Keep the former certificate's line in sha256sum.txt, and quote that, once the certificate is renewed."""

    def keep(before: Evidence) -> None:
        after = node.attestation.evidence
        files = bound(node, dict(after.files), before.files[CHECKSUMS])
        node.attestation._evidence = replace(after, files=files)

    _after_a_renewal(node, keep)


@mutant("ATT-180", each=["files", "tls"])
def renewal_renews_one_side(node: Node, stale: str) -> None:
    """Renew the certificate over TLS or in the evidence alone: the former {stale} stay."""

    def keep(before: Evidence) -> None:
        after = node.attestation.evidence
        node.attestation._evidence = (
            replace(after, files=before.files) if stale == "files" else replace(after, tls=before.tls)
        )

    _after_a_renewal(node, keep)


@mutant("ATT-130")
def renewal_leaves_the_event_log_behind(node: Node) -> None:
    """Measure each renewal as an event of the application, quote that, and serve the event log from before."""

    def measure(_: Evidence) -> None:
        machine = node.attestation
        shown = machine.attestation
        machine.events = [*machine.events, runtime_event("certificate-renewed", b"\1")]
        quoted = machine.quote(bytes(64)).hex()
        machine.attestation = changed(shown, lambda members: {**members, "quote": quoted})

    _after_a_renewal(node, measure)


@mutant("ATT-190")
def renewal_leaves_the_caa_records_behind(node: Node) -> None:
    """Renew the certificate under another ACME account than the CAA records name from then on."""
    former = node.attestation.issuer.account_uri

    def publish(_: Evidence) -> None:
        publish_caa(node, f'0 issue "acme.example; accounturi={former}1"')

    _after_a_renewal(node, publish)


@mutant("ATT-260")
def renewal_withdraws_the_compose_hash(node: Node) -> None:
    """Take the compose hash off the register once the certificate is renewed."""
    machine = node.attestation
    _after_a_renewal(node, lambda _: machine.authorisation.withdraw(machine.identity.compose_hash))
