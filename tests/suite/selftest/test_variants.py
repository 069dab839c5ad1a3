"""The correct nodes of the self-test: together they leave no case out, and they choose otherwise as they say."""

from __future__ import annotations

import json

import httpx

from conformance.drivers.attestation.evidence import fetched
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import Secrets
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.offered import not_offered
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants import VARIANTS
from conformance.selftest.variants.other_evidence import GATEWAY, SECOND
from conformance.selftest.variants.variant import Choices
from conformance.verify import Evidence

REFERENCE = Choices({}, lambda _: None)


def test_every_case_is_for_some_correct_node() -> None:
    left = {case.id: case for case in load([scenarios()])}
    for node in (REFERENCE, *VARIANTS.values()):
        with target_node(node.alter, "0", node.profile, restarts=True) as target:
            left = {name: case for name, case in left.items() if not_offered(case, target)}
    assert not left, "no correct node shows that these can pass"


def _shown(variant: str) -> Evidence:
    """The evidence of a correct node."""
    node = VARIANTS[variant]
    with target_node(node.alter, "0", node.profile) as target:
        reading = fetched(target, ExchangeLog(Secrets())).reading
    assert reading is not None
    return reading.evidence


def test_evidence_in_other_forms_has_them() -> None:
    evidence = _shown("minimal-answers")
    attestation = json.loads(evidence["attestation.json"])
    assert attestation["quote"].startswith("0x0500"), "version 5, with 0x"
    assert isinstance(json.loads(evidence["info.json"])["tcb_info"], str)
    assert all(event["digest"] for event in json.loads(attestation["event_log"]))
    assert json.loads(evidence["evidences/quote.json"]).keys() == {"quote", "report_data"}
    assert json.loads(evidence["evidences/acme-account.json"]).keys() == {"account_uri"}


def test_quotes_in_other_forms_are_made_anew() -> None:
    node = VARIANTS["minimal-answers"]
    with target_node(node.alter, "0", node.profile) as target:
        quotes = {httpx.get(f"{target.base_url}/attestation").json()["quote"] for _ in range(3)}
    assert len(quotes) == 3


def test_evidence_in_other_places_is_there() -> None:
    evidence = _shown("stricter")
    events = [event["event"] for event in json.loads(json.loads(evidence["attestation.json"])["event_log"])]
    observed = json.loads(evidence["observed.json"])
    assert events[events.index("system-ready") + 1 :] == ["compose-hash", "started"], "events of the application"
    assert evidence[f"evidences/cert-{GATEWAY}.pem"].count(b"BEGIN CERTIFICATE") == 1
    assert f"evidences/cert-{SECOND}.pem" in evidence, "a file more"
    assert observed["gateway_domain"] == GATEWAY
    assert len(observed["caa"]["records"]) > 2, "those of further accounts and issuers, at the parent domain"
