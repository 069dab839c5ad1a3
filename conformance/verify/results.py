"""What a verification gives: a verdict, one result a rule, and findings with stable codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType

from conformance.verify.policy import MeasuredEvent


class Rule(StrEnum):
    """What is judged: the eight verification rules of "Endpoints / Attestation", and the chain beneath them."""

    COMPOSE_HASH = "compose-hash"
    IMAGE_PINS = "image-pins"
    CHECKSUM_BINDING = "checksum-binding"
    TLS_CERTIFICATE = "tls-certificate"
    CAA_ACCOUNT = "caa-account"
    EVENT_LOG = "event-log"
    REPORT_DATA = "report-data"
    AUTHORISATION = "authorisation"
    QUOTES = "quotes"
    REGISTERS = "registers"
    EVIDENCE_QUOTE = "evidence-quote"
    SAME_MACHINE = "same-machine"
    API_CONNECTION = "api-connection"
    INFO = "info"
    ATTESTATION = "attestation"
    EVIDENCE_FILES = "evidence-files"
    BOOT_MEASUREMENTS = "boot-measurements"
    EXPECTED_COMPOSE = "expected-compose"
    EXPECTED_IDENTITY = "expected-identity"
    STATEMENT = "statement"
    STATEMENT_SIGNATURE = "statement-signature"
    JUDGED_CODE = "judged-code"
    JUDGED_RUN = "judged-run"
    JUDGED_RESULT = "judged-result"
    JUDGED_TIME = "judged-time"


@dataclass(frozen=True)
class RuleFacts:
    """What stands about a rule in the specification and the catalogue."""

    number: int | None
    """The rule's number in the specification's list of verification rules."""
    requirements: tuple[str, ...]
    """Ids of the catalogue."""
    title: str
    trust: str
    """Where trust ends when the rule holds."""


RULES: Mapping[Rule, RuleFacts] = MappingProxyType(
    {
        Rule.COMPOSE_HASH: RuleFacts(1, ("ATT-150",), "compose hash", "the hash; registers tie it to the hardware"),
        Rule.IMAGE_PINS: RuleFacts(2, ("ATT-160",), "images pinned", "the digests, whatever the images do"),
        Rule.CHECKSUM_BINDING: RuleFacts(
            3,
            ("ATT-170",),
            "checksums in report data",
            "report_data; the evidence quote signs it",
        ),
        Rule.TLS_CERTIFICATE: RuleFacts(
            4, ("ATT-180",), "TLS certificate", "the app, meant to be its key's only holder"
        ),
        Rule.CAA_ACCOUNT: RuleFacts(
            5, ("ATT-190",), "ACME account in CAA", "the resolver asked, and CAs that obey CAA"
        ),
        Rule.EVENT_LOG: RuleFacts(
            6, ("ATT-200", "ATT-210", "ATT-220"), "event log", "the log; registers tie it to the hardware"
        ),
        Rule.REPORT_DATA: RuleFacts(7, ("ATT-230", "ATT-240"), "report data", "the quotes, which may be of any age"),
        Rule.AUTHORISATION: RuleFacts(
            8, ("ATT-250", "ATT-260"), "authorised on-chain", "the JSON-RPC asked, and the contract's owner"
        ),
        Rule.QUOTES: RuleFacts(None, ("ATT-140",), "quotes", "the root certificate and its collateral"),
        Rule.REGISTERS: RuleFacts(
            None, ("ATT-130",), "registers replayed", "MRTD and RTMR0-2; boot-measurements judges them"
        ),
        Rule.EVIDENCE_QUOTE: RuleFacts(None, ("ATT-120",), "evidence quote", "the quotes"),
        Rule.SAME_MACHINE: RuleFacts(None, ("ATT-300",), "one machine and app", "the quotes and the registers"),
        Rule.API_CONNECTION: RuleFacts(
            None, ("ATT-280",), "connection of the API", "the connections of this verification"
        ),
        Rule.INFO: RuleFacts(None, ("ATT-020", "ATT-030"), "/info", "its form"),
        Rule.ATTESTATION: RuleFacts(None, ("ATT-040", "ATT-050", "ATT-060"), "/attestation", "its form"),
        Rule.EVIDENCE_FILES: RuleFacts(
            None,
            ("ATT-070", "ATT-080", "ATT-090", "ATT-100", "ATT-110"),
            "/evidences/",
            "the checksums; report_data begins with theirs",
        ),
        Rule.BOOT_MEASUREMENTS: RuleFacts(None, (), "boot measurements", "the source of the measurements you named"),
        Rule.EXPECTED_COMPOSE: RuleFacts(None, (), "expected compose file", "the file that you named"),
        Rule.EXPECTED_IDENTITY: RuleFacts(None, (), "expected identity", "the policy that you named"),
        Rule.STATEMENT: RuleFacts(None, (), "statement", "its form"),
        Rule.STATEMENT_SIGNATURE: RuleFacts(
            None, (), "judged by", "the signer, and whoever else has the key or identity"
        ),
        Rule.JUDGED_CODE: RuleFacts(None, (), "judged code", "the registers, and the signer who compared them"),
        Rule.JUDGED_RUN: RuleFacts(None, (), "judged with", "the signer, and what the suite's checks tell"),
        Rule.JUDGED_RESULT: RuleFacts(None, (), "judged as", "the signer, and what the suite's checks tell"),
        Rule.JUDGED_TIME: RuleFacts(None, (), "judged when", "the signer's clock, and yours"),
    }
)
"""Every rule, in the order of the report."""


class Severity(StrEnum):
    """How much a finding weighs. All but the last two refuse."""

    REFUSED = "refused"
    """A rule is broken."""
    NOT_SUPPORTED = "not supported"
    """Something that this verifier cannot judge. Never taken for fine."""
    BLOCKED = "blocked"
    """The rule could not be judged because of another finding; `requirement` is that of the other."""
    NOT_OFFERED = "not offered"
    """Nobody observed what the rule needs."""
    NOTE = "note"
    """Something to know that breaks no rule."""


REFUSING = frozenset({Severity.REFUSED, Severity.NOT_SUPPORTED, Severity.BLOCKED})
"""Findings of these severities refuse."""


class Outcome(StrEnum):
    """How a rule came out: the weightiest of its findings, or that it holds."""

    HOLDS = "holds"
    REFUSED = "refused"
    NOT_SUPPORTED = "not supported"
    BLOCKED = "blocked"
    NOT_OFFERED = "not offered"


@dataclass(frozen=True)
class Finding:
    """One thing found."""

    code: str
    """Stable, in kebab case; `FAULTS` lists all of them."""
    rule: Rule
    requirement: str | None
    """The requirement that is broken, or that a finding which does not refuse is about. None: the caller's policy."""
    severity: Severity
    compared: str
    """What was compared and how it differs, for people."""
    where: str
    """File and member, and byte or line where that helps."""


@dataclass(frozen=True)
class RuleResult:
    """How one rule came out."""

    rule: Rule
    outcome: Outcome
    compared: str
    """What was compared; empty unless the rule holds."""
    trust: str
    """Where trust ends when the rule holds."""


@dataclass(frozen=True)
class Verified:
    """The result of a verification."""

    accepted: bool
    """Whether no finding refuses and at least one rule holds."""
    at: int | None
    """Unix seconds for which the verdict holds. None: no time was stated or observed."""
    root_sha256: str
    """Of the DER of the root certificate that was trusted, hex."""
    rules: tuple[RuleResult, ...]
    findings: tuple[Finding, ...]
    identity: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What was attested, as text by name: app_id, compose_hash, mrtd, rtmr0 …; only what could be read."""
    boot: tuple[MeasuredEvent, ...] = ()
    """What the event log says that RTMR0 to RTMR2 were extended by; their names are not hashed."""

    def result(self, rule: Rule) -> RuleResult:
        """The result of one rule that was asked for. KeyError: it was not."""
        for result in self.rules:
            if result.rule is rule:
                return result
        raise KeyError(rule)

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all findings."""
        return frozenset(finding.code for finding in self.findings)

    def as_json(self) -> str:
        """The whole as indented JSON with a newline at its end: same input, same bytes."""
        document = {
            "verdict": "verified" if self.accepted else "refused",
            "at": self.at,
            "root_sha256": self.root_sha256,
            "identity": dict(self.identity),
            "boot": [asdict(event) | {"digest": event.digest.hex()} for event in self.boot],
            "rules": [
                asdict(result) | {"number": RULES[result.rule].number, "requirements": RULES[result.rule].requirements}
                for result in self.rules
            ],
            "findings": [asdict(finding) for finding in self.findings],
        }
        return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
