"""Fetches a node's evidence once for each run. Every case judges the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog, RawExchange
from conformance.endpoints.requests import JSON_TYPE
from conformance.problems import Inconclusive
from conformance.profile import Profile
from conformance.profile.attestation import AttestationForms
from conformance.verify import Evidence, FetchError, Finding, Policy, Sources, Witness
from conformance.verify.authorisation import AuthorisationChain
from conformance.verify.evidence import ACME_ACCOUNT, ATTESTATION
from conformance.verify.faults import Fault
from conformance.verify.fetching import API_PATH, check_collateral, fetch_settled, path_of
from conformance.verify.pccs import INTEL_PCS
from conformance.verify.reading import Reading
from conformance.verify.transport import Answer, Asked

NO_COLLATERAL = b"{}"
RENEWAL_SECONDS = 0.5
"""Seconds before a second fetch, where a certificate seems to have been renewed during the first."""
SHOWN_BY = {
    "caa-account-absent": path_of(ACME_ACCOUNT),
    "api-certificate-differs": API_PATH,
    "compose-hash-not-allowed": "eth_call",
}
"""For findings that concern no file: the path or the JSON-RPC method of the exchange that shows them."""


class NoEvidence(Inconclusive):
    """The node, or something else that the profile names, did not answer."""

    code = "no-evidence"
    cause = "the evidence cannot be fetched"
    hint = "`service-conformance verify URL` fetches the same; look at the profile's attestation section"


@dataclass(frozen=True)
class Fetched:
    """The fetched evidence of a node."""

    reading: TextReading | None
    """The evidence; None where the node did not answer."""
    trouble: str = ""
    """The source that did not answer; empty where all did."""
    twice: bool = False
    """Whether it was fetched twice, since a certificate seemed to have been renewed."""
    exchanges: Sequence[RawExchange] = ()
    """All requests of the node and of the chain, in order."""

    def exchange_of(self, finding: Finding) -> RawExchange | None:
        """The last exchange with the file of the finding, else the last with the quote."""
        file = finding.where.partition(":")[0].partition(",")[0]
        for place in (SHOWN_BY.get(finding.code) or path_of(file), path_of(ATTESTATION)):
            for exchange in reversed(self.exchanges):
                if urlsplit(exchange.url).path.endswith(place) or place in (exchange.request_body or ""):
                    return exchange
        return None


class Recorder(Witness):
    """Hooks of the verifier's client that keep the run's rate and log the exchanges in the case's log."""

    def __init__(self, target: Target, log: ExchangeLog) -> None:
        self._target = target
        self._log = log
        self.exchanges: list[RawExchange] = []

    def before(self) -> None:
        """Wait for the run's rate."""
        self._target.await_turn()

    def after(self, request: Asked, answer: Answer | None, seconds: float) -> None:
        """Log the exchange."""
        status, headers = (None, {}) if answer is None else (answer.status, dict(answer.headers))
        text = "" if answer is None else answer.body.decode("utf-8", "replace")
        sent = {} if request.body is None else {"Content-Type": JSON_TYPE}
        exchange = RawExchange(request.method, request.url, sent, request.body, status, headers, text, seconds)
        self._log.add(exchange)
        self.exchanges.append(exchange)


def fetched(target: Target, log: ExchangeLog) -> Fetched:
    """The node's evidence, fetched by the first case that needs it and logged there. Thread-safe."""
    return target.remembered("attestation evidence", lambda: _fetch(target, Recorder(target, log)))


def fetched_anew(target: Target, log: ExchangeLog) -> Fetched:
    """Fetch the evidence again, for one case."""
    return _fetch(target, Recorder(target, log))


def address_of(target: Target) -> str:
    """The URL of the evidence."""
    return target.profile.attestation.base_url or target.base_url


def _fetch(target: Target, recorder: Recorder) -> Fetched:
    profile = target.profile
    url = address_of(target)
    policy, sources = policy_of(profile), sources_of(profile)
    trouble = ""
    try:
        evidence, twice = fetch_settled(url, policy, sources, recorder, RENEWAL_SECONDS)
        if urlsplit(sources.pccs).netloc not in {urlsplit(own).netloc for own in (url, target.base_url)}:
            check_collateral(evidence, policy, sources)  # what the node itself serves is judged as the rest of it
        exists = _contract(profile, evidence, recorder)
    except (FetchError, ValueError) as problem:
        # another source than the node is at fault: rules that do not need it are still judged
        trouble, exists = str(problem), None
        alone = replace(sources, collateral=NO_COLLATERAL, rpc_url=None)
        try:
            evidence, twice = fetch_settled(url, policy, alone, recorder, RENEWAL_SECONDS)
        except (FetchError, ValueError) as other:
            return Fetched(None, str(other))
    forms = profile.attestation.forms or AttestationForms()
    return Fetched(TextReading(evidence, policy, forms, exists), trouble, twice, recorder.exchanges)


def policy_of(profile: Profile) -> Policy:
    """The policy: trusts the profile's root, and accepts TD attributes that the specification does not mention."""
    root = profile.attestation.root_certificate
    return Policy(root=None if root is None else root.encode(), allow_ve_injection=True)


def sources_of(profile: Profile) -> Sources:
    """The sources that the profile names."""
    stated = profile.attestation
    return Sources(
        pccs=stated.pccs_url or INTEL_PCS,
        resolver=stated.resolver,
        rpc_url=_authorisation_rpc(profile),
        ca_file=profile.trusted_file,
        gateway_domain=stated.gateway_domain,
        ask_dns=profile.offers("caa_dns"),
    )


def _authorisation_rpc(profile: Profile) -> str | None:
    if not profile.offers("app_authorisation_contract"):
        return None
    forms = profile.attestation.forms
    return (forms and forms.authorisation_rpc_url) or profile.chain.rpc_url


def _contract(profile: Profile, evidence: Evidence, witness: Witness) -> bool | None:
    rpc_url = _authorisation_rpc(profile)
    try:
        app_id = Reading(evidence, Policy()).info.app_id
    except Fault:
        return None
    if rpc_url is None or len(app_id) != 20:
        return None
    with AuthorisationChain(rpc_url, witness, profile.trusted_file) as chain:
        return chain.has_contract(app_id)
