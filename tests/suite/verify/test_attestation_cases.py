"""Cases of the driver `attestation`: what the text allows is not charged, and what keeps a rule from being judged.

The correct nodes `other_evidence_forms` and `other_evidence_places` of the self-test write what else it allows.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

import pytest
from made_evidence import (
    ATTESTATION,
    CERTIFICATE,
    CHECKSUMS,
    DOMAIN,
    HONEST,
    INFO,
    MADE,
    POLICY,
    QUOTE_JSON,
    another,
    in_json,
    made,
    running,
    seen,
)

from conformance.drivers.attestation.driver import Judge
from conformance.drivers.attestation.evidence import Fetched
from conformance.drivers.attestation.form import RuleName
from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import Secrets
from conformance.problems import Inconclusive, ProfileSilent
from conformance.profile.attestation import AttestationForms
from conformance.selftest.attestation.sound_evidence import COMPOSE
from conformance.verify import CaaAnswer, Evidence
from reference_node.tee.quotes import TdReport

DESCRIPTION_AS_OBJECT = in_json(HONEST, INFO, tcb_info={"app_compose": json.loads(MADE.who.app_compose)})
COMMENTED = b"subject=x\n" + HONEST[CERTIFICATE]
SUMS_OF_COMMENTED = f"{sha256(COMMENTED).hexdigest()}  cert-{DOMAIN}.pem\n".encode()


def judge(evidence: Evidence, rule: RuleName, requirement: str, *, trouble: str = "") -> None:
    reading = TextReading(evidence, replace(POLICY, allow_ve_injection=True), AttestationForms(), True)
    judge_of(Fetched(reading, trouble), requirement).judge([rule])


def judge_of(got: Fetched, requirement: str) -> Judge:
    return Judge(got, "it holds", frozenset({requirement}), [requirement], ExchangeLog(Secrets()))


def with_compose(compose: str) -> Evidence:
    return made(who=running(compose))


RIGHT: dict[str, tuple[Evidence, RuleName]] = {
    "built service beside": (with_compose(COMPOSE + "  own:\n    build: .\n"), "image-pins"),
    "image in an environment": (with_compose(COMPOSE + "    environment: {image: 'a:1'}\n"), "image-pins"),
    "description is an object": (DESCRIPTION_AS_OBJECT, "info"),
    "another machine": (
        HONEST.with_file(QUOTE_JSON, made(report=TdReport(mr_td=b"9" * 48))[QUOTE_JSON]),
        "same-app",
    ),
    "another instance": (HONEST.with_file(QUOTE_JSON, made(who=another(instance_id=b"2"))[QUOTE_JSON]), "same-app"),
    "event log as a list": (in_json(HONEST, QUOTE_JSON, event_log=[]), "evidence-document"),
    "comment in PEM": (HONEST.with_file(CERTIFICATE, COMMENTED), "listing"),
    "checksum of PEM with a comment": (
        HONEST.with_file(CERTIFICATE, COMMENTED).with_file(CHECKSUMS, SUMS_OF_COMMENTED),
        "certificate-bound",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_the_text_allows_is_not_charged(name: str) -> None:
    evidence, rule = RIGHT[name]
    judge(evidence, rule, "ATT-010")


def test_fault_of_another_requirement_is_inconclusive_and_names_it() -> None:
    with pytest.raises(Inconclusive, match="ATT-020"):
        judge(in_json(HONEST, INFO, compose_hash=...), "compose-hash", "ATT-150")


def test_dns_that_does_not_answer_is_inconclusive() -> None:
    with pytest.raises(Inconclusive, match="SERVFAIL"):
        judge(seen(caa=CaaAnswer("SERVFAIL")), "caa-account", "ATT-190")


def test_event_of_another_version_is_inconclusive() -> None:
    events = [MADE.events[-1].as_json() | {"version": 2}]
    with pytest.raises(Inconclusive):
        judge(in_json(HONEST, ATTESTATION, event_log=json.dumps(events)), "event-types", "ATT-200")


def test_plain_http_is_not_offered() -> None:
    with pytest.raises(ProfileSilent):
        judge(seen(tls_certificate=None), "tls-certificate", "ATT-180")


def test_collateral_that_did_not_come_is_inconclusive() -> None:
    with pytest.raises(Inconclusive, match="no answer of the PCCS"):
        judge(HONEST, "quotes", "ATT-140", trouble="no answer of the PCCS")


def test_quote_that_the_profile_says_is_absent_is_judged_by_its_report_data() -> None:
    forms = AttestationForms(quote_json_members=("report_data",))
    got = Fetched(TextReading(in_json(HONEST, QUOTE_JSON, quote=...), POLICY, forms, True))
    judge_of(got, "ATT-240").judge(["evidence-binding"])
    with pytest.raises(ProfileSilent):
        judge_of(got, "ATT-120").judge(["evidence-quote"])
