"""The driver `model` against nodes: a right one, faulty ones, and the packs that it prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.endpoints.extent import SampleOptions
from conformance.endpoints.pace import Budget
from conformance.report.case_text import explain
from conformance.resources import scenarios
from conformance.run.loader import load_pack
from conformance.run.runner import Case, run_case
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import target_app, target_node
from conformance.selftest.tools.shams import SHAMS
from conformance.verdict import Outcome, Verdict

MUTANTS = {mutant.name: mutant for mutant in all_mutants()}
CASES = {case.id: case for case in load_pack(scenarios() / "model.yaml")}
PACK = """\
pack: small
title: A small model
cases:
  - id: groups
    title: Groups and wallets
    driver: model
    requirements: [GRPLIFE-010, GRPLIFE-100, GRPLIFE-140, LIST-170]
    operations: [create_wallet, add_group, remove_group]
    accounts: 1
    sequences: 4
    steps: 12
"""


@pytest.fixture
def small(only_case: Callable[[str], Case]) -> Case:
    return only_case(PACK)


def replay_of(outcome: Outcome) -> str:
    """The printed pack of a failure."""
    assert outcome.failure is not None
    assert outcome.failure.replay is not None
    return outcome.failure.replay


@pytest.mark.parametrize(
    ("name", "requirement"),
    [("group-is-promised-and-not-made", "GRPLIFE-010"), ("second-removal-takes-a-wallet", "GRPLIFE-140")],
)
def test_failure_is_printed_as_a_pack_that_shows_it(
    small: Case, only_case: Callable[[str], Case], name: str, requirement: str
) -> None:
    with target_node(MUTANTS[name].alter, "0") as target:
        target.extent = SampleOptions(budget=20)
        outcome = run_case(small, target)
        replay = only_case(replay_of(outcome))
        again = run_case(replay, target)
    assert (outcome.verdict, outcome.contradicted) == (Verdict.FAIL, (requirement,))
    assert (again.verdict, again.requirements) == (Verdict.FAIL, (requirement,)), again.reason
    with target_node(lambda _: None, "0") as target:
        right = run_case(replay, target)
    assert right.verdict is Verdict.PASS, right.reason
    assert "failure.replay" in explain(outcome, "")


def test_same_seed_finds_the_same_failure(small: Case) -> None:
    texts = []
    for _ in range(2):
        with target_node(MUTANTS["group-is-promised-and-not-made"].alter, "5") as target:
            texts.append(replay_of(run_case(small, target)))
    assert texts[0] == texts[1]


def test_usage_keys_and_groups_are_gone_afterwards() -> None:
    with target_node(lambda _: None, "clean") as target:
        target.extent = SampleOptions(budget=1)
        made: list[str] = []
        case = CASES["model::usage-keys"]
        send = target.exchange

        def watch(message: object, *rest: object) -> object:
            answer = send(message, *rest)  # type: ignore[arg-type]  # the method's own arguments
            if answer.operation is not None and answer.operation.name == "new_account":
                made.append(str(answer.at(("api_key",))))
            return answer

        target.exchange = watch  # type: ignore[method-assign, assignment]
        run_case(case, target)
        assert made
        for key in made:
            for path in ("list_groups", "list_api_keys"):
                answer = target._http.get(f"{target.base_url}/core/v1/{path}", headers={"X-Api-Key": key})
                assert answer.json() == []


def test_refused_list_of_a_new_account_is_a_failure(small: Case) -> None:
    async def refused(_: Received, __: Forward) -> Answered:
        return refusal(400)

    with target_node(lambda node: intercept(node, "list_groups", refused), "0") as target:
        target.extent = SampleOptions(budget=1)
        outcome = run_case(small, target)
    assert outcome.verdict is not Verdict.SUITE_ERROR, outcome.reason
    assert "status 400" in outcome.reason


def test_spent_budget_is_inconclusive(small: Case) -> None:
    with target_node(lambda _: None, "0") as target:
        target.budget = Budget(3)
        outcome = run_case(small, target)
    assert (outcome.verdict, outcome.properties) == (Verdict.INCONCLUSIVE, {"problem": "budget-spent"})


def test_failure_before_the_first_act_is_told_without_a_replay() -> None:
    with target_app(SHAMS["accept-everything"], "0") as target:
        outcome = run_case(CASES["model::usage-keys"], target)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert outcome.failure.replay is None
