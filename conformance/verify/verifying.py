"""Verification of evidence, and of a quote alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType

from conformance.verify.evidence import COLLATERAL, Evidence
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes, RuleFunction, run_rule
from conformance.verify.policy import Policy
from conformance.verify.reading import MOST_QUOTE_BYTES, Reading, read_quote
from conformance.verify.results import REFUSING, Finding, Outcome, Rule, RuleResult, Verified
from conformance.verify.rules import connection, forms, quotes, service

JUDGES: Mapping[Rule, RuleFunction] = MappingProxyType(
    {
        Rule.COMPOSE_HASH: service.compose_hash,
        Rule.IMAGE_PINS: service.image_pins,
        Rule.CHECKSUM_BINDING: connection.checksum_binding,
        Rule.TLS_CERTIFICATE: connection.tls_certificate,
        Rule.CAA_ACCOUNT: connection.caa_account,
        Rule.EVENT_LOG: quotes.event_log,
        Rule.REPORT_DATA: quotes.report_data,
        Rule.AUTHORISATION: service.authorisation,
        Rule.QUOTES: quotes.quotes,
        Rule.REGISTERS: quotes.registers,
        Rule.EVIDENCE_QUOTE: quotes.evidence_quote,
        Rule.SAME_MACHINE: quotes.same_machine,
        Rule.API_CONNECTION: connection.api_connection,
        Rule.INFO: forms.info,
        Rule.ATTESTATION: forms.attestation,
        Rule.EVIDENCE_FILES: forms.evidence_files,
        Rule.EXPECTED_COMPOSE: service.expected_compose,
    }
)


def verify(evidence: Evidence, policy: Policy | None = None, rules: Iterable[Rule] | None = None) -> Verified:
    """Judge evidence. Raises nothing, whatever the evidence is.

    `rules`: judge these alone; by default all of them, `EXPECTED_COMPOSE` only if the policy names a compose file.
    Findings name the rule that was judged; one that another rule's fault keeps from being judged is `blocked`.
    """
    policy = policy or Policy()
    chosen = set(Rule if rules is None else rules)
    if rules is None and policy.expected_compose is None:
        chosen.discard(Rule.EXPECTED_COMPOSE)
    reading = Reading(evidence, policy)
    judged = [run_rule(rule, JUDGES[rule], reading, alone=False) for rule in Rule if rule in chosen]
    return _verified(reading, judged, _identity(reading))


def verify_quote(quote: bytes, collateral: bytes, policy: Policy | None = None) -> Verified:
    """Judge a quote alone, with collateral as in `collateral.json`: rule `QUOTES`. The policy must name the time."""
    reading = Reading(Evidence({COLLATERAL: collateral}), policy or Policy())

    def judge(reading: Reading, notes: Notes) -> str:
        if len(quote) > MOST_QUOTE_BYTES:
            raise Fault("quote-layout", f"{len(quote)} bytes are no quote", "the quote")
        parsed = read_quote(quote, "the quote", "quote-layout", "tee-unsupported")
        platform = reading.platform(parsed, "the quote")
        quotes.note_root(reading, notes)
        quotes.note_platform(platform, "the quote", notes)
        return f"a quote signed under {reading.root.full_name}, platform {platform.fmspc.hex()} {platform.status}"

    return _verified(reading, [run_rule(Rule.QUOTES, judge, reading, alone=True)], {})


def _verified(
    reading: Reading, judged: list[tuple[RuleResult, list[Finding]]], identity: Mapping[str, str]
) -> Verified:
    findings = tuple(finding for _, found in judged for finding in found)
    results = tuple(result for result, _ in judged)
    refused = any(finding.severity in REFUSING for finding in findings)
    return Verified(
        accepted=not refused and any(result.outcome is Outcome.HOLDS for result in results),
        at=_at(reading),
        root_sha256=_root(reading),
        rules=results,
        findings=findings,
        identity=MappingProxyType(dict(identity)),
    )


def _at(reading: Reading) -> int | None:
    try:
        return reading.at
    except Fault:
        return None


def _root(reading: Reading) -> str:
    try:
        return sha256(reading.root.der).hexdigest()
    except Fault:
        return ""


def _identity(reading: Reading) -> dict[str, str]:
    """What the evidence says of itself, as far as it can be read. Only what `Verified.accepted` covers is proven."""
    identity: dict[str, str] = {}
    try:
        report = reading.quote.report
        identity["mrtd"] = report.mr_td.hex()
        identity |= {f"rtmr{index}": register.hex() for index, register in enumerate(report.registers)}
        measured = reading.identity
        identity["app_id"] = measured.app_id.hex()
        identity["compose_hash"] = measured.compose_hash.hex()
        if measured.instance_id is not None:
            identity["instance_id"] = measured.instance_id.hex()
    except Exception:  # noqa: BLE001 - the rules tell what is wrong; here it only ends what can be shown
        return identity
    return identity
