"""The self-test's sound evidence as the verifier takes it, and ways to change one thing about it."""

from __future__ import annotations

import json
from dataclasses import replace

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.selftest.attestation.sound_evidence import DOMAIN, SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import NOW
from conformance.verify import Evidence, Observed, Policy
from conformance.verify.documents import read_observed
from reference_node.tee.acme import Credentials
from reference_node.tee.identity import Identity

AT = int(NOW.timestamp())
SEED = b"made for tests"
MADE = SoundEvidence(SEED, identity(SEED))
ACCOUNT = MADE.issuer.account_uri
POLICY = Policy(root=MADE.platform.root_pem.encode())
"""Trusts the simulated root."""
INFO, ATTESTATION, QUOTE_JSON = "info.json", "attestation.json", "evidences/quote.json"
CERTIFICATE, CHECKSUMS = f"evidences/cert-{DOMAIN}.pem", "evidences/sha256sum.txt"


def made(**changes: object) -> Evidence:
    """The whole evidence of the service, with some things behind it replaced and the rest consistent."""
    behind = replace(MADE, **changes)  # type: ignore[arg-type]  # mypy cannot type **changes
    return Evidence({**behind.bodies, "api-certificate.der": behind.tls or der(behind.chain)})


def running(compose: str) -> Identity:
    """Who the machine is that runs another compose file."""
    return identity(SEED, compose)


def another(**changes: object) -> Identity:
    """Who a machine is that differs in some things."""
    return replace(MADE.who, **changes)  # type: ignore[arg-type]


def credentials(renewals: int = 0) -> Credentials:
    """The certificate of the service and its key after so many renewals."""
    return MADE.issuer.issue(DOMAIN, AT, renewals)


def renewed(renewals: int) -> Evidence:
    """The whole evidence after so many renewals of the certificate."""
    chain = credentials(renewals).chain
    return made(certificate=chain, tls=der(chain))


def observed(**changes: object) -> Observed:
    """What is observed of the service."""
    return replace(read_observed(HONEST["observed.json"]), **changes)  # type: ignore[arg-type]


def seen(**changes: object) -> Evidence:
    """The whole evidence, where some things were observed otherwise."""
    return HONEST.with_file("observed.json", observed(**changes).as_json())


def der(chain: bytes) -> bytes:
    """The leaf of a chain in PEM."""
    return x509.load_pem_x509_certificate(chain).public_bytes(Encoding.DER)


def in_json(evidence: Evidence, name: str, **changes: object) -> Evidence:
    """The evidence with members of one JSON body replaced; `...` takes one away."""
    document = json.loads(evidence[name]) | changes
    body = json.dumps({key: value for key, value in document.items() if value is not ...})
    return evidence.with_file(name, body.encode())


HONEST = made()
