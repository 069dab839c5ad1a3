"""What the documentation says in whole sentences and in tables: nothing is left out, nothing is made up."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter

import pytest
from pages import PAGES

from conformance.attestation_vectors.files import shipped
from conformance.drivers import DRIVERS
from conformance.language.matchers import OPERATORS
from conformance.report import ExitCode, Results
from conformance.report.judgement import Judgement
from conformance.requirements import catalogue
from conformance.resources import scenarios
from conformance.run.runner import load
from conformance.selftest.tools.mutant import all_mutants
from conformance.service.refusal import REFUSAL_CLASSES
from conformance.verdict import Verdict
from conformance.verify import FAULTS, RULES, Rule, Severity, TcbStatus
from reference_node.stripe_simulator.actions import ACTIONS
from reference_node.stripe_simulator.test_methods import TEST_METHODS

FAMILIES = {requirement.id.partition("-")[0] for requirement in catalogue().requirements}


def test_every_requirement_that_checks_prove_is_broken_by_a_faulty_node() -> None:
    proved = {requirement for case in load([scenarios()]) for requirement in case.requirements}
    broken = {requirement for mutant in all_mutants() for requirement in mutant.breaks}
    assert proved - broken == set()


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("docs/packs.md", {*OPERATORS, *REFUSAL_CLASSES}),
        ("docs/pack-reference.md", set(OPERATORS)),
        ("docs/drivers.md", set(DRIVERS)),
        ("docs/results.md", {*map(str, Verdict), *map(str, Judgement), *Results.model_fields}),
        ("docs/requirements.md", FAMILIES),
        ("docs/verify.md", {*map(str, Rule), *map(str, TcbStatus)}),
        ("docs/stripe-simulator.md", {*TEST_METHODS, *ACTIONS}),
    ],
)
def test_page_names_everything_that_there_is(page: str, names: set[str]) -> None:
    assert {name for name in names if not re.search(rf"`[{{`]?{name}\b", PAGES[page])} == set()


def test_every_case_that_a_page_names_exists() -> None:
    cases = {case.id.partition("[")[0] for case in load([scenarios()])}
    packs = {case.partition("::")[0] for case in cases}
    named = {name for text in PAGES.values() for name in re.findall(r"\b([a-z_]+::[a-z0-9*?-]+)", text)}
    ours = {name for name in named if name.partition("::")[0] in packs}
    assert ours
    assert {name for name in ours if not fnmatch.filter(cases, name)} == set()


def test_exit_codes_are_those_described() -> None:
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", PAGES["docs/results.md"], re.MULTILINE)] == list(ExitCode)


def test_findings_of_the_verifier_are_those_described() -> None:
    rows = [
        f"| `{code}` | {kind.requirement or ''} | {kind.severity} | {kind.meaning} |" for code, kind in FAULTS.items()
    ]
    assert PAGES["docs/verify.md"].rpartition("|---|---|---|---|\n")[2].splitlines() == rows
    assert {str(severity) for severity in Severity} - {"blocked"} == {str(kind.severity) for kind in FAULTS.values()}


def test_numbers_of_the_verifiers_rules_are_those_described() -> None:
    numbered = re.findall(r"^\| (\d) \| `([a-z-]+)` \|", PAGES["docs/verify.md"], re.MULTILINE)
    assert numbered == [(str(facts.number), str(rule)) for rule, facts in RULES.items() if facts.number]


def test_counts_of_attestation_vectors_are_those_told() -> None:
    vectors = shipped()
    counts = {rule: Counter(vector.result for vector in vectors if vector.rule == rule.value) for rule in RULES}
    rows = [
        f"| `{rule}` | {', '.join(facts.requirements)} | {counts[rule]['accepted']} | {counts[rule]['refused']} |"
        for rule, facts in RULES.items()
        if counts[rule]
    ]
    page = PAGES["docs/attestation-vectors.md"]
    assert re.findall(r"^\| `[a-z-]+` \| .*\| \d+ \| \d+ \|$", page, re.MULTILINE) == rows
    assert f"{len(vectors)} quotes and sets of evidence" in page
