"""Verification of evidence, and of a quote alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType

from conformance.verify.evidence import COLLATERAL, Evidence
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes, RuleFunction, run_rule
from conformance.verify.policy import Expected, MeasuredEvent, Policy
from conformance.verify.quote import Quote
from conformance.verify.reading import MOST_QUOTE_BYTES, Reading, read_quote
from conformance.verify.results import REFUSING, Finding, Outcome, Rule, RuleResult, Verified
from conformance.verify.rules import connection, expectations, forms, quotes, service, statement
from conformance.verify.strict import printable

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
        Rule.BOOT_MEASUREMENTS: expectations.boot_measurements,
        Rule.EXPECTED_COMPOSE: service.expected_compose,
        Rule.EXPECTED_IDENTITY: expectations.expected_identity,
        Rule.STATEMENT: statement.statement,
        Rule.STATEMENT_SIGNATURE: statement.signature,
        Rule.JUDGED_CODE: statement.judged_code,
        Rule.JUDGED_RUN: statement.judged_run,
        Rule.JUDGED_RESULT: statement.judged_result,
        Rule.JUDGED_TIME: statement.judged_time,
    }
)


OF_STATEMENTS = (
    Rule.STATEMENT,
    Rule.STATEMENT_SIGNATURE,
    Rule.JUDGED_CODE,
    Rule.JUDGED_RUN,
    Rule.JUDGED_RESULT,
    Rule.JUDGED_TIME,
)
"""Rules of a statement, which are judged if the policy names signers."""


def verify(evidence: Evidence, policy: Policy | None = None, rules: Iterable[Rule] | None = None) -> Verified:
    """Judge evidence. Raises nothing, whatever the evidence is.

    `rules`: judge these alone; by default all of them, those of the policy only if it names something for them.
    Findings name the rule that was judged; one that another rule's fault keeps from being judged is `blocked`.
    """
    policy = policy or Policy()
    chosen = set(Rule if rules is None else rules)
    if rules is None:
        chosen -= _not_asked_for(policy)
    reading = Reading(evidence, policy)
    judged = [run_rule(rule, JUDGES[rule], reading, alone=False) for rule in Rule if rule in chosen]
    return _verified(reading, judged, _identity(reading), boot=expectations.boot_of(reading))


def _not_asked_for(policy: Policy) -> set[Rule]:
    """Rules for which the policy names nothing."""
    named = {
        Rule.BOOT_MEASUREMENTS: bool(policy.measurements),
        Rule.EXPECTED_COMPOSE: policy.expected_compose is not None,
        Rule.EXPECTED_IDENTITY: policy.expected != Expected(),
        **dict.fromkeys(OF_STATEMENTS, policy.statement is not None),
    }
    return {rule for rule, is_named in named.items() if not is_named}


def verify_quote(quote: bytes, collateral: bytes, policy: Policy | None = None) -> Verified:
    """Judge a quote alone, with collateral as in `collateral.json`. The policy must name the time.

    The rules are `QUOTES` and, if the policy names measurements, `BOOT_MEASUREMENTS`.
    """
    reading = Reading(Evidence({COLLATERAL: collateral}), policy or Policy())

    def parsed_quote() -> Quote:
        if len(quote) > MOST_QUOTE_BYTES:
            raise Fault("quote-layout", f"{len(quote)} bytes are no quote", "the quote")
        return read_quote(quote, "the quote", "quote-layout", "tee-unsupported")

    def judge(reading: Reading, notes: Notes) -> str:
        parsed = parsed_quote()
        platform = reading.platform(parsed, "the quote")
        quotes.note_root(reading, notes)
        quotes.note_platform(platform, "the quote", notes)
        return f"a quote signed under {reading.root.full_name}, platform {platform.fmspc.hex()} {platform.status}"

    def judge_boot(reading: Reading, notes: Notes) -> str:
        return expectations.judge_boot(parsed_quote().report, (), reading.policy.measurements, notes, "the quote")

    judged = [run_rule(Rule.QUOTES, judge, reading, alone=True)]
    if reading.policy.measurements:
        judged.append(run_rule(Rule.BOOT_MEASUREMENTS, judge_boot, reading, alone=False))
    return _verified(reading, judged, {})


def _verified(
    reading: Reading,
    judged: list[tuple[RuleResult, list[Finding]]],
    identity: Mapping[str, str],
    boot: tuple[MeasuredEvent, ...] = (),
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
        boot=boot,
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
        if (image := reading.measured_once("os-image-hash")) is not None:
            identity["os_image_hash"] = image.hex()
        if (provider := reading.measured_once("key-provider")) is not None:
            identity["key_provider"] = printable(provider.decode("utf-8", "backslashreplace"))
    except Exception:  # noqa: BLE001 - the rules tell what is wrong; here it only ends what can be shown
        return identity
    return identity
