"""The attestation verifier: a library that says whether a service's evidence proves what it claims, and why not.

It implements the eight verification rules of the specification's "Endpoints / Attestation" and the chain of trust
beneath them. It needs nothing of the rest of the suite. Evidence is bytes: whatever they are, `verify` raises nothing.

    evidence = load_folder(Path("evidence"))                 # or: fetch("https://service.example")
    verified = verify(evidence, Policy())
    verified.accepted, verified.findings
    verify(evidence, Policy(), rules=[Rule.EVENT_LOG])       # one rule alone
    verify_quote(quote, collateral, Policy(root=pem, at=t))  # a quote alone
"""

from __future__ import annotations

from conformance.verify.evidence import Evidence, load_folder, save_folder
from conformance.verify.faults import FAULTS, Kind
from conformance.verify.fetching import Sources, fetch, fetch_and_verify
from conformance.verify.observed import CaaAnswer, CaaRecord, Observed
from conformance.verify.policy import (
    Expected,
    KeylessSigner,
    KeyProvider,
    MeasuredEvent,
    Measurements,
    Policy,
    Signer,
    StatementPolicy,
    TcbStatus,
    intel_root,
)
from conformance.verify.results import RULES, Finding, Outcome, Rule, RuleFacts, RuleResult, Severity, Verified
from conformance.verify.transport import FetchError, Limits, Witness
from conformance.verify.verifying import verify, verify_quote

__all__ = [
    "FAULTS",
    "RULES",
    "CaaAnswer",
    "CaaRecord",
    "Evidence",
    "Expected",
    "FetchError",
    "Finding",
    "KeyProvider",
    "KeylessSigner",
    "Kind",
    "Limits",
    "MeasuredEvent",
    "Measurements",
    "Observed",
    "Outcome",
    "Policy",
    "Rule",
    "RuleFacts",
    "RuleResult",
    "Severity",
    "Signer",
    "Sources",
    "StatementPolicy",
    "TcbStatus",
    "Verified",
    "Witness",
    "fetch",
    "fetch_and_verify",
    "intel_root",
    "load_folder",
    "save_folder",
    "verify",
    "verify_quote",
]
