"""Checks that each new connection shows a certificate that evidence names (ATT-280), also behind a load balancer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from conformance.drivers.attestation.driver import judge_rules
from conformance.drivers.attestation.evidence import NO_COLLATERAL, Fetched, Recorder, address_of, policy_of
from conformance.drivers.attestation.form import RuleName
from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.problems import StepProblem
from conformance.profile import Profile
from conformance.profile.attestation import AttestationForms
from conformance.verify import FetchError, Sources
from conformance.verify.evidence import CHECKSUMS
from conformance.verify.fetching import API_PATH, fetch_over, path_of
from conformance.verify.transport import Transport

CONNECTIONS = 6
"""How many connections are opened, in sequence; half of them for the API."""
NAMES_ITS_CERTIFICATE: Sequence[RuleName] = ("tls-certificate", "certificate-bound", "checksum-binding")
"""The rules by which evidence names a certificate."""
OWN_SOURCES = Sources(collateral=NO_COLLATERAL, ask_dns=False)
"""No sources beside the node: other cases judge the quote's signature."""


def unnamed_certificates(target: Target, log: ExchangeLog, named: bytes) -> list[str]:
    """The connections whose certificate is neither `named` nor named by the evidence that they serve.

    Each of several machines may have its own certificate: then its evidence comes over the same connection.
    FetchError: a connection does not answer.
    """

    def connect() -> Transport:
        return Transport(address_of(target), witness=Recorder(target, log))

    return strangers(connect, target.profile, log, {named})


def strangers(connect: Callable[[], Transport], profile: Profile, log: ExchangeLog, named: set[bytes]) -> list[str]:
    """The same for connections of one kind. `named`: certificates in DER."""
    unnamed = []
    for number in range(CONNECTIONS):
        path = path_of(CHECKSUMS) if number % 2 else API_PATH
        with connect() as transport:
            shown = transport.get(path).certificate
            if shown in named:
                continue
            if shown is not None and _names_itself(transport, shown, profile, log):
                named.add(shown)
                continue
        digest = "none" if shown is None else sha256(shown).hexdigest()
        unnamed.append(f"connection {number + 1}, for {path}: SHA-256 {digest}")
    return unnamed


def _names_itself(transport: Transport, shown: bytes, profile: Profile, log: ExchangeLog) -> bool:
    """Whether the evidence from the same connection names its certificate."""
    policy = policy_of(profile)
    try:
        evidence = fetch_over(transport, policy, OWN_SOURCES)
    except (FetchError, ValueError):
        return False
    reading = TextReading(evidence, policy, profile.attestation.forms or AttestationForms(), None)
    if reading.observed is None or reading.observed.tls_certificate != shown:
        return False
    try:
        judge_rules(Fetched(reading), "evidence that names its certificate", "ATT-280", NAMES_ITS_CERTIFICATE, log)
    except StepProblem:
        return False
    return True
