"""Fetches a node's evidence once a run; every case judges the same bytes, over one pool of connections."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.client import Target
from conformance.problems import Inconclusive
from conformance.profile import Profile
from conformance.profile.attestation import AttestationForms
from conformance.verify import Evidence, FetchError, Policy, Sources, fetch, verify
from conformance.verify.faults import Fault
from conformance.verify.fetching import ROTATION
from conformance.verify.pccs import INTEL_PCS
from conformance.verify.reading import Reading
from conformance.verify.transport import contract_exists

NO_COLLATERAL = b"{}"
RENEWAL_SECONDS = 0.5
"""Between two fetches, where the first looks as if a certificate was renewed meanwhile."""


class NoEvidence(Inconclusive):
    """The node, or something else that the profile names, did not answer."""

    code = "no-evidence"
    cause = "the evidence cannot be fetched"
    hint = "`service-conformance verify URL` fetches the same; look at the profile's attestation section"


@dataclass(frozen=True)
class Fetched:
    """What a node serves, and what else was observed."""

    reading: TextReading | None
    """None: the node itself did not answer."""
    trouble: str = ""
    """What did not answer."""
    twice: bool = False
    """Whether it was fetched once more, since it looked as if a certificate was renewed meanwhile."""


def fetched(target: Target) -> Fetched:
    """The evidence of the node under test, fetched when it is first asked for. Thread-safe."""
    return target.remembered("attestation evidence", lambda: _fetch(target))


def _fetch(target: Target) -> Fetched:
    profile = target.profile
    url = profile.attestation.base_url or target.base_url
    policy, sources = policy_of(profile), sources_of(profile)
    trouble = ""
    try:
        evidence, twice = _settled(url, policy, sources)
        exists = _contract(profile, evidence)
    except (FetchError, ValueError) as problem:
        # one of the sources beside the node may be at fault: the rules that need none of them are judged nevertheless
        trouble, exists = str(problem), None
        alone = replace(sources, collateral=NO_COLLATERAL, rpc_url=None)
        try:
            evidence, twice = _settled(url, policy, alone)
        except (FetchError, ValueError) as other:
            return Fetched(None, str(other))
    forms = profile.attestation.forms or AttestationForms()
    return Fetched(TextReading(evidence, policy, forms, exists), trouble, twice)


def policy_of(profile: Profile) -> Policy:
    """The trusted root is the profile's; attributes of a TD that the text says nothing about are accepted."""
    root = profile.attestation.root_certificate
    return Policy(root=None if root is None else root.encode(), allow_ve_injection=True)


def sources_of(profile: Profile) -> Sources:
    """Where the profile says that things are."""
    stated = profile.attestation
    return Sources(
        pccs=stated.pccs_url or INTEL_PCS,
        resolver=stated.resolver,
        rpc_url=_authorisation_rpc(profile),
        gateway_domain=stated.gateway_domain,
        ask_dns=profile.offers("caa_dns"),
    )


def _authorisation_rpc(profile: Profile) -> str | None:
    if not profile.offers("app_authorisation_contract"):
        return None
    forms = profile.attestation.forms
    return (forms and forms.authorisation_rpc_url) or profile.chain.rpc_url


def _settled(url: str, policy: Policy, sources: Sources) -> tuple[Evidence, bool]:
    """The evidence; fetched once more if a certificate seems to be renewed meanwhile."""
    evidence = fetch(url, policy, sources)
    if not verify(evidence, policy).codes & ROTATION:
        return evidence, False
    time.sleep(RENEWAL_SECONDS)
    return fetch(url, policy, sources), True


def _contract(profile: Profile, evidence: Evidence) -> bool | None:
    rpc_url = _authorisation_rpc(profile)
    try:
        app_id = Reading(evidence, Policy()).info.app_id
    except Fault:
        return None
    return contract_exists(rpc_url, app_id) if rpc_url is not None and len(app_id) == 20 else None
