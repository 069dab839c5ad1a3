"""How rules are run: each alone, its faults turned into findings, and a fault of another rule into `blocked`."""

from __future__ import annotations

from collections.abc import Callable

from conformance.verify.faults import FAULTS, Fault
from conformance.verify.reading import Reading
from conformance.verify.results import RULES, Finding, Outcome, Rule, RuleResult, Severity
from conformance.verify.strict import printable

_OUTCOMES = (
    (Severity.REFUSED, Outcome.REFUSED),
    (Severity.NOT_SUPPORTED, Outcome.NOT_SUPPORTED),
    (Severity.BLOCKED, Outcome.BLOCKED),
    (Severity.NOT_OFFERED, Outcome.NOT_OFFERED),
)


class Notes:
    """Collects what a rule finds without stopping at it."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def add(self, code: str, compared: str, where: str) -> None:
        """Keep a finding. Its severity is that of its code."""
        self.faults.append(Fault(code, compared, where))


RuleFunction = Callable[[Reading, Notes], str]
"""Judges one rule: gives what was compared, or raises Fault."""


def run_rule(rule: Rule, judge: RuleFunction, reading: Reading, *, alone: bool) -> tuple[RuleResult, list[Finding]]:
    """One rule's result and findings. `alone`: faults of other rules refuse as well, since those do not run."""
    notes = Notes()
    compared = ""
    try:
        compared = judge(reading, notes)
    except Fault as fault:
        notes.faults.append(fault)
    except Exception as problem:  # noqa: BLE001 - whatever the bytes are, nothing is raised and nothing accepted
        notes.add("verifier-fault", f"{type(problem).__name__}: {problem}"[:300], "the verifier")
    findings = [_finding(rule, fault, alone) for fault in notes.faults]
    severities = {finding.severity for finding in findings}
    outcome = next((outcome for severity, outcome in _OUTCOMES if severity in severities), Outcome.HOLDS)
    holds = outcome is Outcome.HOLDS
    return RuleResult(rule, outcome, printable(compared) if holds else "", RULES[rule].trust if holds else ""), findings


def _finding(rule: Rule, fault: Fault, alone: bool) -> Finding:
    kind = FAULTS[fault.code]
    severity = kind.severity
    foreign = kind.rule is not rule and not alone and fault.code != "verifier-fault"
    if foreign and severity in {Severity.REFUSED, Severity.NOT_SUPPORTED}:
        severity = Severity.BLOCKED
    return Finding(fault.code, rule, kind.requirement, severity, printable(fault.compared), printable(fault.where))
