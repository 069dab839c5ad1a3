"""Fetches the evidence of a running service: bodies, certificates, collateral, CAA records, the chain's answer."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote as percent_encoded

from conformance.verify import documents
from conformance.verify.authorisation import AuthorisationChain
from conformance.verify.chain import PckChain, check_answered, check_root, read_pck_chain
from conformance.verify.dns_lookup import DECIDED, look_up_caa
from conformance.verify.evidence import (
    ACME_ACCOUNT,
    API_CERTIFICATE,
    ATTESTATION,
    CHAIN_CONFIG,
    CHECKSUMS,
    COLLATERAL,
    INFO,
    LISTING,
    MOST_FILES,
    OBSERVED,
    ROOT,
    STATEMENT,
    Evidence,
)
from conformance.verify.faults import Fault
from conformance.verify.listing import read_listing
from conformance.verify.observed import CaaAnswer, Observed
from conformance.verify.pccs import INTEL_PCS, fetch_collateral
from conformance.verify.policy import Policy, intel_root
from conformance.verify.reading import Reading
from conformance.verify.results import Verified
from conformance.verify.rules.connection import host_of, is_name
from conformance.verify.strict import pem_of
from conformance.verify.transport import Answer, Budget, ElsewhereError, FetchError, Limits, Transport, Witness
from conformance.verify.verifying import verify

API_PATH = "/core/v1/get_node_chain_config"
ROTATION = frozenset(
    {
        "tls-certificate-differs",
        "api-certificate-differs",
        "checksum-differs",
        "checksums-not-bound",
        "evidence-not-bound",
        "evidence-report-data-differs",
    }
)
"""What a certificate looks like that is renewed between two fetches."""
_BODIES = {INFO: "/info", ATTESTATION: "/attestation", LISTING: "/evidences/"}


@dataclass(frozen=True)
class Sources:
    """Where evidence comes from beside the service itself."""

    pccs: str = INTEL_PCS
    """Provisioning certification service, or a cache of one, for the collateral."""
    collateral: bytes | None = None
    """Collateral to use instead, as in `collateral.json`."""
    resolver: str | None = None
    """HOST:PORT of the DNS resolver; None: the system's."""
    rpc_url: str | None = None
    """JSON-RPC of the chain of the authorisation contract; None: nobody asks it, and rule 8 is not offered."""
    ca_file: Path | None = None
    """Certificates to trust at that JSON-RPC beside this machine's."""
    gateway_domain: str | None = None
    """Domain of the CAA records; None: the host of the URL, or the domain of the listed certificate."""
    ask_dns: bool = True
    """Whether CAA records are asked for at all; without, rule 5 is not offered."""
    statement: bytes | None = None
    """A statement of a verdict to judge the service by, as in `statement.json`."""


def fetch_and_verify(
    url: str, policy: Policy | None = None, sources: Sources | None = None, limits: Limits | None = None
) -> tuple[Evidence, Verified]:
    """Fetch and judge; a renewal of the certificate meanwhile is no fault.

    FetchError as `fetch`, and where another source than the service lies or knows nothing: no verdict follows.
    """
    policy, sources = policy or Policy(), sources or Sources()
    evidence, _ = fetch_settled(url, policy, sources, limits=limits)
    _check_resolver(evidence, sources)
    check_collateral(evidence, policy, sources)
    return evidence, verify(evidence, policy)


def _check_resolver(evidence: Evidence, sources: Sources) -> None:
    """FetchError: the resolver did not tell the CAA records."""
    observed = documents.read_observed(evidence[OBSERVED])
    if observed.caa is not None and observed.caa.status not in DECIDED:
        asked = sources.resolver or "of this system"
        domain = observed.gateway_domain
        raise FetchError(f"the resolver {asked} gives no CAA records of {domain}: {observed.caa.status}")


def check_collateral(evidence: Evidence, policy: Policy, sources: Sources) -> None:
    """FetchError: the collateral that was fetched is not genuine, of which the service is not to blame."""
    reading = Reading(evidence, policy)
    chain = _chain_under_root(reading) if sources.collateral is None else None
    if chain is not None:
        try:
            check_answered(evidence[COLLATERAL], chain, reading.root, reading.at)
        except Exception as problem:  # whatever the collateral is
            why = f"{problem.where}: {problem.compared}" if isinstance(problem, Fault) else str(problem)
            raise FetchError(f"the collateral from {sources.pccs} proves nothing: {why}") from problem


def fetch_settled(
    url: str,
    policy: Policy,
    sources: Sources | None = None,
    witness: Witness | None = None,
    pause: float = 0,
    limits: Limits | None = None,
) -> tuple[Evidence, bool]:
    """Fetch the evidence, and again after `pause` seconds if it looks as if the certificate was renewed meanwhile.

    The second fetch counts only if something was renewed. Also returns whether there was one. FetchError as `fetch`.
    """
    budget = Budget(limits)
    first = _fetch(url, policy, sources, witness, budget)
    if not verify(first, policy).codes & ROTATION:
        return first, False
    time.sleep(pause)
    second = _fetch(url, policy, sources, witness, budget)
    return (first if _renewable(first) == _renewable(second) else second), True


def _renewable(evidence: Evidence) -> tuple[object, ...]:
    """What a renewal changes: certificates, the ACME account, and their checksums, in whatever order these stand."""
    observed = documents.read_observed(evidence[OBSERVED])
    files = {name: body for name, body in evidence.items() if name.endswith(".pem") or name == ACME_ACCOUNT}
    checksums: object = evidence.get(CHECKSUMS)
    with suppress(KeyError, ValueError):  # else they are compared byte by byte
        checksums = documents.read_checksums(evidence[CHECKSUMS])
    return observed.tls_certificate, evidence.get(API_CERTIFICATE), files, checksums


def fetch(
    url: str,
    policy: Policy | None = None,
    sources: Sources | None = None,
    witness: Witness | None = None,
    limits: Limits | None = None,
) -> Evidence:
    """Fetch all evidence of a service. What it does not serve is absent. A witness is told of each request.

    FetchError: the service, or something else that was named, does not answer. ValueError: a URL or address is none.
    """
    return _fetch(url, policy, sources, witness, Budget(limits))


def _fetch(
    url: str, policy: Policy | None, sources: Sources | None, witness: Witness | None, budget: Budget
) -> Evidence:
    with Transport(url, budget, witness) as transport:
        return fetch_over(transport, policy, sources, witness)


def fetch_over(
    transport: Transport, policy: Policy | None = None, sources: Sources | None = None, witness: Witness | None = None
) -> Evidence:
    """The same over a client that is there already, its connection, and its budget."""
    policy, sources = policy or Policy(), sources or Sources()
    files, certificates = _bodies(transport)
    answer = _api_answer(transport)
    if answer is not None and answer.status == 200:
        files[CHAIN_CONFIG] = answer.body
    base_url = transport.base_url
    served = certificates.get(CHECKSUMS)
    other = next((der for der in certificates.values() if der != served), answer.certificate if answer else None)
    if other is not None:
        files[API_CERTIFICATE] = other
    files[ROOT] = _root_pem(policy)
    at = int(time.time()) if policy.at is None else policy.at
    reading = Reading(Evidence(files), policy)
    collateral = _collateral(reading, sources, transport.budget)
    if collateral is not None:
        files[COLLATERAL] = collateral
    gateway = sources.gateway_domain or _gateway(base_url, reading)
    allowed = _allowed(reading, sources, witness, transport.budget)
    caa = _caa(gateway, served, sources, transport.budget)
    observed = Observed(base_url, at, gateway, served, caa, allowed)
    files[OBSERVED] = observed.as_json()
    if sources.statement is not None:
        files[STATEMENT] = sources.statement
    return Evidence(files)


def _bodies(transport: Transport) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Bodies that were served, and the certificates of their connections, by file name."""
    answers = {name: transport.get(path_of(name)) for name in (*_BODIES, CHECKSUMS)}
    for name in _listed(answers):
        file = f"evidences/{name}"
        answers[file] = transport.get(path_of(file))
    served = {name: answer for name, answer in answers.items() if answer.status == 200}
    certificates = {name: answer.certificate for name, answer in answers.items()}
    return (
        {name: answer.body for name, answer in served.items()},
        {name: der for name, der in certificates.items() if der is not None},
    )


def path_of(file: str) -> str:
    """Where a service serves a file of evidence."""
    return _BODIES.get(file) or f"/{percent_encoded(file)}"


def _listed(answers: dict[str, Answer]) -> list[str]:
    """Files of `/evidences/`: the two that the specification names, those linked and those with a checksum."""
    names = dict.fromkeys(("quote.json", "acme-account.json"))
    for file, read in ((LISTING, read_listing), (CHECKSUMS, documents.read_checksums)):
        if answers[file].status == 200:
            try:
                names |= dict.fromkeys(read(answers[file].body))
            except ValueError:
                continue
    names.pop("sha256sum.txt", None)
    names.pop("index.html", None)
    return list(names)[: MOST_FILES // 2]


def _api_answer(transport: Transport) -> Answer | None:
    """The answer of the API, which comes with the certificate of its connection; None: it is somewhere else."""
    try:
        return transport.get(API_PATH)
    except ElsewhereError:
        return None


def _root_pem(policy: Policy) -> bytes:
    """The root that was trusted, as PEM, so that an auditor knows which it was."""
    reading = Reading(Evidence({}), policy)
    try:
        return pem_of((reading.root.der,)).encode()
    except Fault:
        return intel_root() if policy.root is None else policy.root


def _gateway(base_url: str, reading: Reading) -> str | None:
    host = host_of(base_url)
    if is_name(host):
        return host
    try:
        return reading.certificate.domain
    except Fault:
        return None


def _caa(gateway: str | None, certificate: bytes | None, sources: Sources, budget: Budget) -> CaaAnswer | None:
    """CAA records of the gateway domain; not asked for without TLS, unless somebody named where to ask."""
    if gateway is None or not sources.ask_dns or (certificate is None and sources.resolver is None):
        return None
    return look_up_caa(gateway, sources.resolver, budget)


def _allowed(reading: Reading, sources: Sources, witness: Witness | None, budget: Budget) -> bool | None:
    if sources.rpc_url is None:
        return None
    try:
        info = reading.info
    except Fault:
        return None
    if len(info.app_id) != 20:
        return False
    with AuthorisationChain(sources.rpc_url, witness, sources.ca_file, budget) as chain:
        return chain.allows(info.app_id, info.compose_hash)


def _collateral(reading: Reading, sources: Sources, budget: Budget) -> bytes | None:
    """Collateral of the quote; None where the quote cannot be read or ends in another root: then none is needed."""
    if sources.collateral is not None:
        return sources.collateral
    chain = _chain_under_root(reading)
    return None if chain is None else fetch_collateral(sources.pccs, chain, reading.root, budget)


def _chain_under_root(reading: Reading) -> PckChain | None:
    """The PCK chain of the quote; None: it cannot be read, or ends in another root than the trusted one."""
    try:
        quote = reading.quote
        chain = read_pck_chain(quote.chain_type, quote.chain, ATTESTATION)
        check_root(chain.root, reading.root, ATTESTATION)
    except Fault:
        return None
    return chain
