"""The driver of the execution matrix on reference nodes, right and faulty."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import pytest

from conformance.endpoints.extent import SampleOptions
from conformance.endpoints.pace import Budget
from conformance.report.case_text import explain
from conformance.resources import scenarios
from conformance.run.loader import load_pack
from conformance.run.runner import run_case
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal, wrap
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.serving import target_node
from conformance.verdict import CellOutcome, CellVerdict, Outcome, Verdict
from reference_node.node import Node

WRONG = "account/none/none/1"


def matrix_of(
    cells: tuple[str, ...], alter: Callable[[Node], None] = lambda _: None, cents: int | None = None
) -> Outcome:
    (case,) = [case for case in load_pack(scenarios() / "execution_rule.yaml") if case.id.endswith("::matrix")]
    with target_node(alter, "0") as target:
        target.extent = SampleOptions(cells=cells)
        target.budget = Budget(cents)
        return run_case(case, target)


def tried(outcome: Outcome) -> dict[str, CellOutcome]:
    return {cell.cell: cell for cell in outcome.cells if cell.verdict is not CellVerdict.NOT_TRIED}


def account_key_needs_nothing(node: Node) -> None:
    def may(original: Callable[..., bool], *question: object) -> bool:
        run = question[0]
        return original(*question) or run.caller.is_account_key  # type: ignore[attr-defined]  # a run

    wrap(node.runs, "may_run", may)
    wrap(node.runs, "may_use", may)


def test_wrong_cell_is_named_with_the_rules_reason_and_the_command_that_tries_it_alone() -> None:
    outcome = matrix_of(("account/*/none/1",), account_key_needs_nothing)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert "cell account/" in outcome.failure.step
    assert "no group that the key may use lists the" in outcome.failure.expected
    assert WRONG in outcome.failure.step + outcome.failure.got
    wrong = tried(outcome)[WRONG]
    assert wrong.verdict is CellVerdict.WRONG
    assert wrong.got.startswith("status 200")
    text = explain(outcome, "service-conformance run --case execution_rule::matrix")
    assert f"{WRONG}  must be refused (no group" in text
    assert text.endswith("again: service-conformance run --case execution_rule::matrix")


def test_wrong_cell_is_told_in_words_beside_a_right_one() -> None:
    outcome = matrix_of(("account/this/this/1", "account/none/this/1"), account_key_needs_nothing)
    assert outcome.failure is not None
    assert "by an account key, the action in no group, the wallet in 'this': " in outcome.failure.expected
    assert outcome.failure.got.endswith("; right are account/this/this/1 (granted)")


def test_other_cells_are_tried_after_a_wrong_one() -> None:
    verdicts = [cell.verdict for cell in matrix_of(("account/*/*/1",), account_key_needs_nothing).cells]
    assert (verdicts.count(CellVerdict.GRANTED), verdicts.count(CellVerdict.WRONG)) == (12, 13)


def test_cell_that_is_refused_with_another_status_is_refused_all_the_same() -> None:
    def answers_401(node: Node) -> None:
        async def handler(request: Received, forward: Forward) -> Answered:
            given = await forward(request)
            return refusal(HTTPStatus.UNAUTHORIZED) if given.status == HTTPStatus.FORBIDDEN else given

        intercept(node, RUN, handler)

    outcome = matrix_of(("account/*/none/1",), answers_401)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.properties["problem"] == "wrong-refusal"
    assert tried(outcome)[WRONG].verdict is CellVerdict.REFUSED
    assert CellVerdict.WRONG not in {cell.verdict for cell in outcome.cells}


def test_run_without_credit_leaves_cells_untried_and_is_inconclusive() -> None:
    outcome = matrix_of(("account/*/*/1",), cents=15)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.properties["problem"] == "budget-spent"
    assert 0 < len(tried(outcome)) < 25


def test_wrong_cell_outweighs_what_stops_the_matrix() -> None:
    assert matrix_of(("account/*/*/1",), account_key_needs_nothing, cents=25).verdict is Verdict.FAIL


def test_refusals_of_a_removed_key_that_never_ran_anything_prove_nothing() -> None:
    def usage_keys_run_nothing(node: Node) -> None:
        wrap(node.runs, "may_run", lambda original, run: run.caller.is_account_key and original(run))

    outcome = matrix_of(("removed-this/this/this/1",), usage_keys_run_nothing)
    assert outcome.verdict is Verdict.FAIL, "the granted cell that it is held against"
    assert "removed-this/this/this/1" not in tried(outcome)


def test_second_accounts_keys_that_run_nothing_there_prove_nothing() -> None:
    def second_account_runs_nothing(node: Node) -> None:
        seen: list[int] = []

        def may_run(original: Callable[..., bool], run: object) -> bool:
            account = run.caller.account_hash  # type: ignore[attr-defined]  # a run
            if account not in seen:
                seen.append(account)
            return account == seen[0] and original(run)

        wrap(node.runs, "may_run", may_run)

    outcome = matrix_of(("account/this/this/1", "other_usage-zero/this/this/2"), second_account_runs_nothing)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.properties["problem"] == "control-not-accepted"
    assert "other_usage-zero/this/this/2" not in tried(outcome)


def test_node_that_cannot_lay_the_accounts_out_is_inconclusive() -> None:
    def no_groups(node: Node) -> None:
        wrap(node.accounts, "add_group", lambda *_: 1)

    outcome = matrix_of((WRONG,), no_groups)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert tried(outcome) == {}


@pytest.mark.parametrize("kinds", ["[]", "[account, nobody]", "[usage, expired]", "[account], mode: chain_secured"])
def test_pack_with_unknown_kinds_of_keys_is_refused(tmp_path: Path, kinds: str) -> None:
    pack = tmp_path / "p.yaml"
    pack.write_text(
        "pack: p\ntitle: t\ncases:\n"
        f"  - {{id: m, title: t, driver: execution_matrix, requirements: [EXEC-090], keys: {kinds}}}\n",
        encoding="utf-8",
    )
    with pytest.raises(Exception, match=r"p\.yaml:4: (cases\.0\.keys|a \w+ account has no such keys)"):
        load_pack(pack)
