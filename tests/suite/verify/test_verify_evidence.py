"""Whole evidence: rules alone, rules that others block, and what nobody observed. The rest has shipped vectors."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_evidence import AT, ATTESTATION, HONEST, INFO, MADE, POLICY, in_json, made, seen

from conformance.attestation_vectors.files import shipped
from conformance.selftest.attestation.sound_evidence import COMPOSE
from conformance.verify import FAULTS, RULES, Evidence, Outcome, Rule, Severity, Verified, verify
from conformance.verify.policy_file import policy_of
from conformance.verify.verifying import OF_STATEMENTS

OF_THE_POLICY = {Rule.BOOT_MEASUREMENTS, Rule.EXPECTED_COMPOSE, Rule.EXPECTED_IDENTITY, *OF_STATEMENTS}


def judged(evidence: Evidence, **policy: object) -> Verified:
    return verify(evidence, replace(POLICY, **policy))  # type: ignore[arg-type]


def refusals(verified: Verified) -> set[tuple[str, str | None]]:
    """Codes and requirements of what refuses, without what is only blocked by it."""
    refusing = {Severity.REFUSED, Severity.NOT_SUPPORTED}
    return {(finding.code, finding.requirement) for finding in verified.findings if finding.severity in refusing}


def test_honest_evidence_holds_by_every_rule() -> None:
    verified = judged(HONEST)
    assert verified.accepted
    assert {result.rule for result in verified.rules} == set(Rule) - OF_THE_POLICY
    assert all(result.outcome is Outcome.HOLDS and result.compared and result.trust for result in verified.rules)
    assert {finding.severity for finding in verified.findings} == {Severity.NOTE}


def test_files_and_members_that_no_rule_is_about_are_ignored() -> None:
    links = HONEST["evidences/index.html"].replace(b"</ul>", b"<li><a href=extra.txt>extra</a></ul>")
    evidence = HONEST.with_file("evidences/index.html", links).with_file("evidences/extra.txt", b"extra")
    verified = judged(in_json(evidence, ATTESTATION, report_data="00"))
    assert verified.accepted, verified.findings


REFUSED = {
    vector.rule: vector for vector in reversed(shipped()) if vector.kind == "evidence" and vector.result == "refused"
}
"""The first refused evidence of each rule."""


@pytest.mark.parametrize("rule", REFUSED)
def test_rule_asked_for_alone_says_the_same_of_its_fault(rule: str) -> None:
    vector = REFUSED[rule]
    evidence = Evidence(vector.files)
    policy = replace(policy_of(vector.policy).policy, root=vector.root.encode())
    whole, alone = verify(evidence, policy), verify(evidence, policy, [Rule(rule)])
    assert vector.finding in whole.codes, whole.findings
    assert not alone.accepted
    assert alone.rules == (whole.result(Rule(rule)),)


def test_fault_of_one_rule_blocks_others_without_charging_them() -> None:
    verified = judged(in_json(HONEST, ATTESTATION, quote="zz"))
    assert refusals(verified) == {("quote-not-hex", "ATT-050")}
    blocked = {result.rule for result in verified.rules if result.outcome is Outcome.BLOCKED}
    assert blocked == {Rule.REPORT_DATA, Rule.QUOTES, Rule.REGISTERS, Rule.SAME_MACHINE}


def test_hash_that_is_not_of_what_runs_is_called_neither_unregistered_nor_unmeasured() -> None:
    verified = judged(in_json(seen(allowed_compose_hash=False), INFO, compose_hash="ab" * 32))
    assert refusals(verified) == {("compose-hash-differs", "ATT-150")}
    assert verified.result(Rule.AUTHORISATION).outcome is Outcome.BLOCKED
    assert verified.result(Rule.REGISTERS).outcome is Outcome.BLOCKED


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"tls_certificate": None}, {"tls-not-offered", "api-connection-not-offered"}),
        ({"caa": None}, {"caa-not-offered"}),
        ({"allowed_compose_hash": None}, {"authorisation-not-offered"}),
    ],
)
def test_what_nobody_observed_is_not_offered_and_does_not_refuse(changes: dict[str, object], codes: set[str]) -> None:
    verified = judged(seen(**changes))
    assert verified.accepted
    assert {f.code for f in verified.findings if f.severity is Severity.NOT_OFFERED} == codes


def test_rule_that_nobody_observed_is_not_accepted_alone() -> None:
    assert not verify(seen(caa=None), POLICY, [Rule.CAA_ACCOUNT]).accepted


def test_no_time_is_no_verdict() -> None:
    without = HONEST.with_file("observed.json", None)
    assert "time-unknown" in judged(without).codes
    assert judged(without, at=AT).accepted
    assert judged(without, at=-1).at is None


def test_expected_compose_is_compared_byte_for_byte() -> None:
    for expected in (COMPOSE.encode(), MADE.who.app_compose.encode()):
        verified = judged(HONEST, expected_compose=expected)
        assert verified.accepted
        assert verified.result(Rule.EXPECTED_COMPOSE).outcome is Outcome.HOLDS
    assert ("compose-unexpected", None) in refusals(judged(HONEST, expected_compose=COMPOSE.encode() + b"\n"))


def test_same_evidence_gives_the_same_bytes() -> None:
    assert judged(HONEST).as_json() == judged(made()).as_json()
    document = json.loads(judged(HONEST).as_json())
    assert document["verdict"] == "verified"
    assert [rule["rule"] for rule in document["rules"]] == [str(rule) for rule in Rule if rule not in OF_THE_POLICY]


def test_every_rule_has_facts_and_every_code_a_rule_and_a_meaning() -> None:
    assert list(RULES) == list(Rule)
    assert all(kind.meaning for kind in FAULTS.values())
    assert {kind.rule for kind in FAULTS.values()} == set(Rule)
    for kind in FAULTS.values():
        assert kind.requirement is None or kind.requirement in RULES[kind.rule].requirements
