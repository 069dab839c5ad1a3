"""Cases of the driver `attestation`: each charges what the specification's text says, and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from made_evidence import ACCOUNT, COMPOSE, DOMAIN, Made, der, in_json, observed, tls_certificate

from conformance.drivers.attestation.driver import Judge
from conformance.drivers.attestation.evidence import Fetched
from conformance.drivers.attestation.form import RuleName
from conformance.drivers.attestation.judgements import JUDGEMENTS
from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import Secrets
from conformance.problems import Inconclusive, Mismatch, ProfileSilent
from conformance.profile.attestation import AttestationForms
from conformance.verify import CaaAnswer, CaaRecord, Evidence
from reference_node.tee.quotes import TdReport

MADE = Made()
DIGEST = f"@sha256:{'ab' * 32}"
LONGER_TEXT = {"app_compose": f"{MADE.app_compose_text} "}
OTHER_CERTIFICATE = der(tls_certificate(days=9))
HONEST = MADE.evidence()
INFO, ATTESTATION, QUOTE_JSON = "info.json", "attestation.json", "evidences/quote.json"
HASH = str(json.loads(HONEST[INFO])["compose_hash"])
DESCRIPTION_AS_OBJECT = in_json(HONEST, INFO, tcb_info={"app_compose": json.loads(MADE.app_compose_text)})
CERTIFICATE = f"evidences/cert-{DOMAIN}.pem"
CHECKSUMS = "evidences/sha256sum.txt"


def judge(evidence: Evidence, rule: RuleName, requirement: str, *, made: Made = MADE, trouble: str = "") -> None:
    reading = TextReading(evidence, replace(made.policy(), allow_ve_injection=True), AttestationForms(), True)
    judge_of(Fetched(reading, trouble), requirement).judge([rule])


def judge_of(got: Fetched, requirement: str) -> Judge:
    return Judge(got, "it holds", frozenset({requirement}), [requirement], ExchangeLog(Secrets()))


def with_caa(*records: str, status: str = "NOERROR") -> Evidence:
    answer = CaaAnswer(status, tuple(CaaRecord(0, "issue", record) for record in records))
    return HONEST.with_file("observed.json", observed(caa=answer).as_json())


def with_compose(compose: str) -> Evidence:
    return Made(compose=compose).evidence()


@pytest.mark.parametrize("rule", JUDGEMENTS)
def test_every_rule_holds_of_honest_evidence(rule: RuleName) -> None:
    judge(HONEST, rule, "ATT-010")


BROKEN: dict[str, tuple[Evidence, RuleName, str]] = {
    "no app id": (in_json(HONEST, INFO, app_id=...), "info", "ATT-020"),
    "compose file is no YAML": (with_compose("services: ["), "app-compose", "ATT-030"),
    "no vm_config": (in_json(HONEST, ATTESTATION, vm_config=...), "attestation", "ATT-040"),
    "quote is a list": (in_json(HONEST, ATTESTATION, quote=["00"]), "quote", "ATT-050"),
    "event log is a list": (in_json(HONEST, ATTESTATION, event_log=[]), "events", "ATT-060"),
    "no listing": (HONEST.with_file("evidences/index.html", None), "listing", "ATT-070"),
    "no checksums": (HONEST.with_file(CHECKSUMS, None), "checksum-file", "ATT-080"),
    "short report data": (in_json(HONEST, QUOTE_JSON, report_data="00"), "evidence-document", "ATT-090"),
    "no account": (HONEST.with_file("evidences/acme-account.json", b"{}"), "acme-account", "ATT-100"),
    "account changed": (in_json(HONEST, "evidences/acme-account.json", extra=1), "evidence-files", "ATT-110"),
    "certificate changed": (HONEST.with_file(CERTIFICATE, HONEST[CERTIFICATE] * 2), "certificate-bound", "ATT-110"),
    "other report data": (in_json(HONEST, QUOTE_JSON, report_data="01" * 64), "evidence-quote", "ATT-120"),
    "log cut": (in_json(HONEST, ATTESTATION, event_log="[]"), "registers", "ATT-130"),
    "text changed": (in_json(HONEST, INFO, tcb_info=LONGER_TEXT), "compose-hash", "ATT-150"),
    "hash of 20 bytes": (in_json(HONEST, INFO, compose_hash=HASH[:40]), "compose-hash", "ATT-150"),
    "hash of 4 bytes": (in_json(HONEST, INFO, compose_hash=HASH[:8]), "compose-hash", "ATT-150"),
    "description is an object": (DESCRIPTION_AS_OBJECT, "app-compose", "ATT-030"),
    "quote is a hash": (in_json(HONEST, ATTESTATION, quote="97" * 32), "quote", "ATT-050"),
    "quote is a report": (in_json(HONEST, ATTESTATION, quote=MADE.quote()[48:632].hex()), "quote", "ATT-050"),
    "quote is zeros": (in_json(HONEST, ATTESTATION, quote="00" * 5000), "quote", "ATT-050"),
    "tag alone": (with_compose("services: {a: {image: 'a:1'}}"), "image-pins", "ATT-160"),
    "digest in a comment": (with_compose(f"services:\n  a:\n    image: a:1 # {DIGEST}\n"), "image-pins", "ATT-160"),
    "short digest": (with_compose(f"services: {{a: {{image: 'a@sha256:{'ab' * 31}'}}}}"), "image-pins", "ATT-160"),
    "merged tag": (with_compose("x: &x {image: 'a:1'}\nservices: {a: {<<: *x}}"), "image-pins", "ATT-160"),
    "key twice": (with_compose(COMPOSE + "    image: a:1\n"), "image-pins", "ATT-160"),
    "longer checksums": (HONEST.with_file(CHECKSUMS, HONEST[CHECKSUMS] + b"\n"), "checksum-binding", "ATT-170"),
    "other certificate": (
        HONEST.with_file("observed.json", observed(tls_certificate=OTHER_CERTIFICATE).as_json()),
        "tls-certificate",
        "ATT-180",
    ),
    "account is a prefix": (with_caa(f"acme.example; accounturi={ACCOUNT}4"), "caa-account", "ATT-190"),
    "no records": (with_caa(), "caa-account", "ATT-190"),
    "no domain": (with_caa(status="NXDOMAIN"), "caa-account", "ATT-190"),
    "digest of the hex": (
        in_json(HONEST, ATTESTATION, event_log=json.dumps([{**MADE.events()[5], "digest": "00" * 48}])),
        "event-digests",
        "ATT-220",
    ),
    "no runtime event": (in_json(HONEST, ATTESTATION, event_log="[]"), "event-types", "ATT-200"),
    "report data": (in_json(HONEST, ATTESTATION, quote=MADE.quote(b"1" * 64).hex()), "report-data", "ATT-230"),
    "nothing bound": (in_json(HONEST, QUOTE_JSON, quote=MADE.quote().hex()), "evidence-binding", "ATT-240"),
    "no quote": (in_json(HONEST, QUOTE_JSON, quote=...), "evidence-binding", "ATT-240"),
    "no address": (in_json(HONEST, INFO, app_id="00"), "authorisation-contract", "ATT-250"),
    "not allowed": (
        HONEST.with_file("observed.json", observed(allowed_compose_hash=False).as_json()),
        "authorisation",
        "ATT-260",
    ),
    "other connection": (HONEST.with_file("api-certificate.der", OTHER_CERTIFICATE), "api-connection", "ATT-280"),
    "other app": (
        HONEST.with_file(QUOTE_JSON, Made(app_id=bytes(20)).evidence()[QUOTE_JSON]),
        "same-app",
        "ATT-300",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_evidence_is_charged(name: str) -> None:
    evidence, rule, requirement = BROKEN[name]
    with pytest.raises(Mismatch) as caught:
        judge(evidence, rule, requirement)
    assert caught.value.requirements == (requirement,)


RIGHT: dict[str, tuple[Evidence, RuleName]] = {
    "further account": (
        with_caa(f"acme.example; accounturi={ACCOUNT}", "acme.example; accounturi=https://acme.example/2"),
        "caa-account",
    ),
    "unpinned issuer beside": (with_caa("other.example", f"acme.example; accounturi={ACCOUNT}"), "caa-account"),
    "built service beside": (with_compose(COMPOSE + "  own:\n    build: .\n"), "image-pins"),
    "image in an environment": (with_compose(COMPOSE + "    environment: {image: 'a:1'}\n"), "image-pins"),
    "description is an object": (DESCRIPTION_AS_OBJECT, "info"),
    "another machine": (
        HONEST.with_file(QUOTE_JSON, Made(report=TdReport(mr_td=b"9" * 48)).evidence()[QUOTE_JSON]),
        "same-app",
    ),
    "another instance": (HONEST.with_file(QUOTE_JSON, Made(instance_id=b"2").evidence()[QUOTE_JSON]), "same-app"),
    "event log as a list": (in_json(HONEST, QUOTE_JSON, event_log=[]), "evidence-document"),
    "comment in PEM": (HONEST.with_file(CERTIFICATE, b"subject=x\n" + HONEST[CERTIFICATE]), "listing"),
    "filled digests": (Made(filled_digests=True).evidence(), "event-digests"),
    "events of the application": (Made(later_events=(("compose-hash", b"x"),)).evidence(), "registers"),
    "hex with 0x": (in_json(HONEST, ATTESTATION, quote=f"0x{MADE.quote().hex()}"), "quote"),
    "version 5": (Made(version=5).evidence(), "quotes"),
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
        judge(with_caa(status="SERVFAIL"), "caa-account", "ATT-190")


def test_event_of_another_version_is_inconclusive() -> None:
    events = [{**MADE.events()[5], "version": 2}]
    with pytest.raises(Inconclusive):
        judge(in_json(HONEST, ATTESTATION, event_log=json.dumps(events)), "event-types", "ATT-200")


def test_plain_http_is_not_offered() -> None:
    with pytest.raises(ProfileSilent):
        judge(HONEST.with_file("observed.json", observed(tls_certificate=None).as_json()), "tls-certificate", "ATT-180")


def test_collateral_that_did_not_come_is_inconclusive() -> None:
    with pytest.raises(Inconclusive, match="no answer of the PCCS"):
        judge(HONEST, "quotes", "ATT-140", trouble="no answer of the PCCS")


def test_quote_that_the_profile_says_is_absent_is_judged_by_its_report_data() -> None:
    evidence = in_json(HONEST, QUOTE_JSON, quote=...)
    forms = AttestationForms(quote_json_members=("report_data",))
    reading = TextReading(evidence, MADE.policy(), forms, True)
    got = Fetched(reading)
    judge_of(got, "ATT-240").judge(["evidence-binding"])
    with pytest.raises(ProfileSilent):
        judge_of(got, "ATT-120").judge(["evidence-quote"])


def test_checksum_of_a_certificate_with_comments_is_that_of_the_file() -> None:
    commented = b"subject=x\n" + HONEST[CERTIFICATE]
    line = f"{hashlib.sha256(commented).hexdigest()}  cert-{DOMAIN}.pem\n".encode()
    judge(HONEST.with_file(CERTIFICATE, commented).with_file(CHECKSUMS, line), "certificate-bound", "ATT-240")
