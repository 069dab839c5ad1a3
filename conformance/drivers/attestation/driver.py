"""Judges the node's evidence by rules of the verifier and charges what the case is about.

A finding about another requirement is left to the case about that requirement.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.drivers.attestation.evidence import Fetched, NoEvidence
from conformance.drivers.attestation.form import RuleName
from conformance.drivers.attestation.judgements import JUDGEMENTS
from conformance.drivers.attestation.reading import TextReading
from conformance.endpoints.log import ExchangeLog
from conformance.problems import Inconclusive, Mismatch, ProfileSilent
from conformance.verify import FAULTS, Finding, Severity
from conformance.verify.fetching import ROTATION
from conformance.verify.judging import Notes, run_rule
from conformance.verify.reading import Reading

NO_FAULT_OF_THE_NODE = frozenset(
    {"caa-lookup-failed", "collateral-missing", "td-attributes", "verifier-fault", "readings-differ"}
)
"""Findings that are no failure of the node: a source did not answer, or the specification is silent."""
NEED_MORE: frozenset[RuleName] = frozenset({"quotes", "authorisation", "authorisation-contract"})
"""Rules that need another source than the node: the collateral service, or the chain."""


class NotJudged(Inconclusive):
    """A rule cannot be judged: another source is at fault, or the evidence has a form that the suite cannot read."""

    code = "not-judged"
    cause = "the evidence does not let the rule be judged"


def judge_rules(got: Fetched, title: str, requirement: str, rules: Sequence[RuleName], log: ExchangeLog) -> None:
    """Judge these rules for one requirement. Raises like `Judge.judge`."""
    Judge(got, title, frozenset({requirement}), (requirement,), log).judge(rules)


class Judge:
    """Judges rules for a case."""

    def __init__(
        self, got: Fetched, title: str, charged: frozenset[str], requirements: Sequence[str], log: ExchangeLog
    ) -> None:
        self._got = got
        self._log = log
        self._title = title
        self._charged = charged
        self._requirements = requirements
        self._all = charged == frozenset(requirements)

    def judge(self, rules: Sequence[RuleName]) -> None:
        """Raise Mismatch, Inconclusive or ProfileSilent, in this order, where a rule does not hold."""
        if self._got.reading is None:
            raise NoEvidence("an answer", self._got.trouble)
        answered = [rule for rule in rules if rule not in NEED_MORE or not self._got.trouble]
        findings = [finding for rule in answered for finding in self._findings(rule, self._got.reading)]
        mine = [finding for finding in findings if self._is_charged(finding)]
        if mine:
            raise self._departure(mine)
        if len(answered) < len(rules):
            raise NoEvidence("answers of whoever the profile names beside the node", self._got.trouble)
        for finding in findings:
            if finding.severity in {Severity.REFUSED, Severity.BLOCKED, Severity.NOT_SUPPORTED}:
                raise self._unjudged(finding)
        silent = [finding for finding in findings if finding.severity is Severity.NOT_OFFERED]
        if silent and len(silent) == len(rules):
            raise ProfileSilent(f"a profile that lets {rules[0]} be observed", silent[0].compared)

    def _findings(self, rule: RuleName, reading: TextReading) -> list[Finding]:
        of, judge = JUDGEMENTS[rule]

        def on_text(_: Reading, notes: Notes) -> str:
            return judge(reading, notes)

        return run_rule(of, on_text, reading, alone=False)[1]

    def _is_charged(self, finding: Finding) -> bool:
        return (
            finding.severity is Severity.REFUSED
            and finding.requirement in self._charged
            and finding.code not in NO_FAULT_OF_THE_NODE
        )

    def _departure(self, findings: Sequence[Finding]) -> Mismatch:
        first = findings[0]
        again = "; everything was fetched twice" if self._got.twice and first.code in ROTATION else ""
        problem = Mismatch(self._title, f"{_told(first)}{again}", self._shown(first))
        if self._all:
            contradicted = {finding.requirement for finding in findings}
            problem.requirements = tuple(
                requirement for requirement in self._requirements if requirement in contradicted
            )
        return problem

    def _unjudged(self, finding: Finding) -> Inconclusive:
        if finding.code == "evidence-quote-missing" and self._got.reading and not self._got.reading.shows_quote:
            return ProfileSilent("a node whose quote.json holds its quote", "a profile with none")
        at_fault = f" ({finding.requirement} is at fault)" if finding.severity is Severity.BLOCKED else ""
        return NotJudged(self._title, f"{_told(finding)}{at_fault}", self._shown(finding))

    def _shown(self, finding: Finding) -> int | None:
        """The number of the exchange that shows a finding. The first case of the run sent it."""
        exchange = self._got.exchange_of(finding)
        return None if exchange is None else self._log.show(exchange)


def _told(finding: Finding) -> str:
    return f"{FAULTS[finding.code].meaning}: {finding.compared} ({finding.where})"
