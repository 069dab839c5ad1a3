"""Whether each new connection shows a certificate that evidence names (ATT-280), also where several machines answer."""

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
"""How many are opened, one after the other; half of them for the API."""
NAMES_ITS_CERTIFICATE: Sequence[RuleName] = ("tls-certificate", "certificate-bound", "checksum-binding")
"""What makes evidence name a certificate."""
OWN_SOURCES = Sources(collateral=NO_COLLATERAL, ask_dns=False)
"""A quote that is signed is for other cases."""


def unnamed_certificates(target: Target, log: ExchangeLog, named: bytes) -> list[str]:
    """Which connections show another certificate than the one that is `named`, and serve no evidence that names it.

    A machine of several may have a certificate of its own, with its evidence: then both come over one connection.
    FetchError: a connection does not answer.
    """

    def connect() -> Transport:
        return Transport(address_of(target), witness=Recorder(target, log))

    return strangers(connect, target.profile, log, {named})


def strangers(connect: Callable[[], Transport], profile: Profile, log: ExchangeLog, named: set[bytes]) -> list[str]:
    """The same for connections of any kind. `named`: certificates in DER."""
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
    """Whether the evidence that the same client gets names the certificate that it was shown."""
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
