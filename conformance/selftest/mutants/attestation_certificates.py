"""Faults of the certificate: what TLS shows, what the evidence shows, and what happens when it is renewed."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from conformance.selftest.tools.alter_attestation import change_evidence
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.tee.acme import Credentials
from reference_node.tee.attestation import Evidence
from reference_node.tee.tls import context_of


def _other(node: Node) -> Credentials:
    machine = node.attestation
    return machine.issuer.issue(machine.domain, node.clock.started, 1000)


@mutant("ATT-180", "ATT-010")
def tls_shows_another_certificate(node: Node) -> None:
    """Show over TLS another certificate of the same issuer and domain than the evidence has."""
    shown = context_of(_other(node))
    change_evidence(node, lambda evidence: replace(evidence, tls=shown))


@mutant("ATT-180")
def certificate_is_renewed_before_its_evidence(node: Node) -> None:
    """Take a new certificate at once, and show the evidence of the one before."""
    machine = node.attestation
    before = machine.evidence
    machine.rotate()
    after = machine.evidence
    change_evidence(node, lambda _: replace(before, tls=after.tls))
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


@mutant("ATT-280")
def replica_has_a_certificate_of_its_own(node: Node) -> None:
    """Show on each third connection a certificate that no evidence names: that of a replica beside the TEE."""
    turns = count()
    _alternate(node, context_of(_other(node)), lambda: next(turns) % 3 == 2)
