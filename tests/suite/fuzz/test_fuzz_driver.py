"""The driver `fuzz` against nodes: a right one, faulty ones, and the packs that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from conformance.drivers import fuzz
from conformance.drivers.fuzz import shrink
from conformance.drivers.fuzz.generated import generated
from conformance.drivers.fuzz.links import Link, Sequences
from conformance.drivers.fuzz.shrink import Requests
from conformance.endpoints.client import Target
from conformance.endpoints.extent import SampleOptions
from conformance.endpoints.pace import Budget
from conformance.profile import Operation
from conformance.report.case_text import explain
from conformance.resources import scenarios
from conformance.run.loader import load_pack
from conformance.run.runner import Case, run_case
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Failure, Verdict

MUTANTS = {mutant.name: mutant for mutant in all_mutants()}
CASES = {case.id: case for case in load_pack(scenarios() / "fuzz.yaml")}
PACK = """\
pack: small
title: A few requests
cases:
  - id: groups
    title: Requests about groups
    driver: fuzz
    requirements: [EP-160, GRP-020, ERR-150]
    operations: [add_group]
    generated: 0
"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixth of the requests of `--budget 1`, and one of each sort by the description."""
    monkeypatch.setattr(fuzz, "OF_BUDGET", 10)
    monkeypatch.setattr(fuzz, "generated", lambda document, one, sort, _, seed: generated(document, one, sort, 1, seed))


@pytest.fixture
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few tries to make a failing request simple: each takes an account of its own."""
    monkeypatch.setattr(shrink, "MOST_TRIES", 9)


@pytest.fixture
def long_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the sequences, those alone that change a description to one of over 1,000 bytes."""
    every = Sequences.of

    def of(made: Sequences, links: Sequence[Link], operations: Mapping[str, Operation]) -> Iterator[Requests]:
        for requests in every(made, links, operations):
            if any(len(str(one.members.get("description")).encode()) > 1000 for one in requests[1:]):
                yield requests

    monkeypatch.setattr(Sequences, "of", of)


@pytest.fixture
def small(only_case: Callable[[str], Case]) -> Case:
    return only_case(PACK)


@pytest.fixture(scope="module")
def right_node() -> Iterator[Target]:
    with target_node(lambda _: None, "right") as target:
        target.extent = SampleOptions(budget=1)
        yield target


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_right_node_passes(case: Case, right_node: Target) -> None:
    outcome = run_case(case, right_node)
    assert outcome.verdict is Verdict.PASS, explain(outcome, "")


@pytest.mark.usefixtures("few")
def test_node_without_a_description_is_asked_by_the_profile() -> None:
    with target_node(lambda _: None, "right", {"capabilities": ["managed_accounts"]}) as target:
        target.extent = SampleOptions(budget=1)
        outcome = run_case(CASES["fuzz::groups"], target)
    assert outcome.verdict is Verdict.PASS, explain(outcome, "")


@pytest.mark.usefixtures("few_tries")
@pytest.mark.parametrize(
    ("name", "requirement", "simplest"),
    [
        ("fails-on-a-rare-body:letter-beyond-16-bits", "EP-160", "group_description: a"),
        ("group-names-are-normalised", "GRP-020", "group_name: "),
    ],
)
def test_failure_is_made_simple_and_shown_by_a_pack(
    small: Case, only_case: Callable[[str], Case], name: str, requirement: str, simplest: str
) -> None:
    failure = shown_by_a_pack(small, name, "e", requirement, only_case)  # a seed that comes to both faults early
    assert simplest in str(failure.replay)
    assert failure.exchange is not None


@pytest.mark.usefixtures("few_tries", "long_descriptions")
def test_failing_sequence_is_shown_by_a_pack(only_case: Callable[[str], Case]) -> None:
    """With this seed the long description comes beside a name that the node refuses, which hides nothing."""
    name = "removing-a-long-described-group-takes-another"
    shown_by_a_pack(CASES["fuzz::links-of-groups"], name, "1", "GRPLIFE-100", only_case)


def shown_by_a_pack(case: Case, mutant: str, seed: str, requirement: str, only_case: Callable[[str], Case]) -> Failure:
    """The failure of a case on a mutant, whose pack fails there as well and passes on the right node."""
    with target_node(MUTANTS[mutant].alter, seed) as target:
        outcome = run_case(case, target)
        assert outcome.failure is not None
        assert outcome.failure.replay is not None, explain(outcome, "")
        replay = only_case(outcome.failure.replay)
        again = run_case(replay, target)
    assert (outcome.verdict, outcome.contradicted) == (Verdict.FAIL, (requirement,))
    assert (again.verdict, again.blamed) == (Verdict.FAIL, (requirement,))
    with target_node(lambda _: None, "right") as target:
        right = run_case(replay, target)
    assert right.verdict is Verdict.PASS, explain(right, "")
    return outcome.failure


def test_budget_of_cents_ends_it_inconclusive(small: Case) -> None:
    with target_node(lambda _: None, "right") as target:
        target.budget = Budget(20)
        outcome = run_case(small, target)
        assert target.budget.spent <= 20
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "budget" in outcome.reason
