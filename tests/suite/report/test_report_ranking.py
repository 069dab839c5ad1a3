"""Which of the broken statements stands first: the one that explains most of the failures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest
from made_runs import EXCHANGE, outcome, record
from rich.console import Console

from conformance.report import Results, results_of
from conformance.report.case_text import explain
from conformance.report.ranking import broken, failed_cases
from conformance.resources import scenarios
from conformance.run.listing import ListedCase, by_requirement, list_pack
from conformance.run.options import Options
from conformance.run.reporter import Reporter
from conformance.verdict import Conversation, ConversationExchange, Failure, Outcome, Verdict

MADE = Mapping[str, Sequence[str]]

RUNS_COST_NOTHING: MADE = {
    "metering::runs-are-charged-after-conversion": ["MODE-100", "BILL-320"],
    "metering::runs-on-bought-credit": ["BILL-320"],
}
DEBIT_IS_LOST: MADE = {
    "metering::payments-beside-writes-are-credited": ["BILL-070"],
    "metering::parallel-writes-are-billed-one-by-one": ["BILL-220"],
}
CONTRACT_IS_LATE: MADE = {
    "lists::items-go-one-by-one": ["EP-210"],
    "chain_lists::lists-follow-groups": ["CHAIN-050"],
    "chain_lists::lists-follow-wallets-and-actions": ["CHAIN-050"],
    "chain_runs::runs-follow-the-chain": ["CHAIN-050"],
}
PAGE_IS_LOST: MADE = {
    "group_lifecycle::removed-groups": ["GRPLIFE-100", "LIST-050"],
    "lists::pages-of-list-groups": ["LIST-050"],
    "lists::pages-of-list-actions": ["LIST-050"],
}


@cache
def cases() -> Sequence[ListedCase]:
    """The shipped cases."""
    return [case for file in sorted(scenarios().glob("*.*")) for case in list_pack(file)]


def run_that_breaks(failing: MADE) -> Results:
    """A run of the shipped cases in which these failed, each with what it contradicts."""
    passed = [outcome(case.id, Verdict.PASS, *case.requirements) for case in cases() if case.id not in failing]
    failed = [replace(outcome(case, Verdict.FAIL, *names), contradicted=(*names,)) for case, names in failing.items()]
    return results_of(record(*passed, *failed, checks=by_requirement(cases())))


@pytest.mark.parametrize(
    ("failing", "first", "later"),
    [
        (RUNS_COST_NOTHING, "BILL-320", "MODE-100"),
        (DEBIT_IS_LOST, "BILL-220", "BILL-070"),
        (CONTRACT_IS_LATE, "CHAIN-050", "EP-210"),
        (PAGE_IS_LOST, "LIST-050", "GRPLIFE-100"),
    ],
)
def test_statement_that_explains_most_failures_comes_first(failing: MADE, first: str, later: str) -> None:
    results = run_that_breaks(failing)
    assert [requirement.id for requirement in broken(results)][:2] == [first, later]
    assert first in failed_cases(results)[0].contradicted


def test_failure_of_a_request_alone_is_told_before_one_among_others_at_once() -> None:
    request = ConversationExchange("POST", "http://n/core/v1/add_group", {}, "{}", 200, "{}", 0.1)
    made = []
    for name, about, at_once in (("a::at-once", ["EXEC-230"], True), ("a::alone", ["EXEC-230", "EP-220"], False)):
        failure = Failure("", "", "", conversation=Conversation((replace(request, at_once=at_once),), departed=0))
        failed = replace(outcome(name, Verdict.FAIL, *about), contradicted=(*about,), failure=failure)
        made.append(failed)
    assert [case.case for case in failed_cases(results_of(record(*made)))] == ["a::alone", "a::at-once"]


def test_statement_for_whose_case_others_wait_comes_first() -> None:
    failing = {"accounts::wallet-has-labels": ["ACC-080"], "endpoints::create-wallet": ["EP-350"]}
    made = run_that_breaks(failing)
    blocked = {"verdict": Verdict.INCONCLUSIVE, "waits_for": "endpoints::create-wallet"}
    waiting = [case.model_copy(update=blocked) for case in made.cases[:20]]
    for cases, order in ((made.cases, ["ACC-080", "EP-350"]), ((*waiting, *made.cases[20:]), ["EP-350", "ACC-080"])):
        results = made.model_copy(update={"cases": cases})
        assert [requirement.id for requirement in broken(results)] == order
        assert [case.case for case in failed_cases(results)] == sorted(
            failing, key=lambda case: order.index(*failing[case])
        )


def test_general_statements_come_after_those_that_they_restate() -> None:
    results = run_that_breaks({"envelopes::outside-the-window": ["ENV-260"]})
    assert [requirement.id for requirement in broken(results)] == ["ENV-260", "ERR-050"]


def test_case_of_a_general_statement_comes_after_that_of_what_it_restates() -> None:
    rule = "attestation::nobody-chooses-the-report-data"
    made = run_that_breaks({"attestation::whole-chain": ["ATT-010"], rule: ["ATT-230"]})
    cases = [case.model_copy(update={"exchanges": 20 if case.case == rule else 0}) for case in made.cases]
    results = made.model_copy(update={"cases": (*cases,)})
    assert [requirement.id for requirement in broken(results)] == ["ATT-230", "ATT-010"]
    assert [case.case for case in failed_cases(results)] == [rule, "attestation::whole-chain"]


def test_what_the_specification_says_comes_before_what_it_leaves_to_the_profile() -> None:
    results = run_that_breaks(
        {"lists::order-of-the-other-lists": ["LIST-110"], "lists::pages-of-list-wallets-in-group": ["LIST-050"]}
    )
    assert [requirement.id for requirement in broken(results)][:2] == ["LIST-050", "LIST-110"]
    assert failed_cases(results)[0].case == "lists::pages-of-list-wallets-in-group"


def test_statements_that_fail_together_stand_as_the_step_judges_them() -> None:
    for names in (["EP-290", "EP-280"], ["EP-280", "EP-290"]):
        results = run_that_breaks({"endpoints::action-metadata": names})
        assert [requirement.id for requirement in broken(results)][:2] == names


def test_case_names_its_statements_in_the_order_of_the_run() -> None:
    results = run_that_breaks(RUNS_COST_NOTHING)
    case = "metering::runs-are-charged-after-conversion"
    failed = outcome(case, Verdict.FAIL, *RUNS_COST_NOTHING[case])
    text = explain(failed, "again", [requirement.id for requirement in broken(results)])
    assert text.index("BILL-320") < text.index("MODE-100")


TEN_CAUSES: MADE = {
    "actions::two-versions-are-two-actions": ["ACT-040", "ACT-050"],
    "endpoints::action-metadata": ["EP-280", "EP-290"],
    "group_runs::every-listed-pair": ["GRP-040"],
    "key_custody::digests-are-signed-with-the-wallets-key": ["PKP-170"],
    "lists::pages-of-list-groups": ["LIST-050", "LIST-060"],
    "metering::each-write-is-charged": ["BILL-140", "LIM-050"],
    "payments::payment-becomes-credit": ["BILL-070"],
    "usage_keys::may-create-and-delete-as-its-flags-say": ["UKEY-040"],
    "wallet_auth::outside-the-window": ["BILL-240", "LIM-020"],
    "wallets::created-wallet-has-an-address": ["PKP-020"],
}
WIDTH, SCREEN = 160, 60
"""Columns and lines of a terminal that fills a display."""


def test_ten_causes_fit_on_two_screens() -> None:
    results = run_that_breaks(TEN_CAUSES)
    exchanges = tuple(
        ConversationExchange("POST", f"http://n/core/v1/add_group?{number}", {}, "{}", 200, "{}" * 60, 0.1)
        for number in range(9)
    )
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
    reporter = Reporter(console)
    failed: dict[str, Outcome] = {}
    for case in failed_cases(results):
        failure = Failure("steps[3] call x", "a " * 60, "b " * 90, EXCHANGE, conversation=Conversation(exchanges))
        failed[case.case] = replace(outcome(case.case, Verdict.FAIL, *case.contradicted), failure=failure)
    reporter._run = SimpleNamespace(outcomes=failed, seed="7", options=Options(), unwritten="")  # type: ignore[assignment]
    reporter._reports = [(name, explain(one, "again")) for name, one in failed.items()]
    reporter.results = results
    reporter.tell()
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert sum(-(-len(line) // WIDTH) or 1 for line in lines) <= 2 * SCREEN
    assert all(name in console.file.getvalue() for name in TEN_CAUSES)
