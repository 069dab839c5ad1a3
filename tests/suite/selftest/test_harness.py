"""The order of cases on a mutant, and when its trial is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.tools.harness import TrialRunner, trials
from conformance.selftest.tools.mutant import all_mutants
from conformance.verdict import Verdict

NAME = "group-names-are-cut"
MUTANTS = {mutant.name: mutant for mutant in all_mutants()}
CASES = [case for case in load([scenarios()], ["groups"]) if "GRP-020" in case.requirements]


def tried(*first: str) -> list[str]:
    """The cases that ran on the mutant, in their order."""
    runner = TrialRunner({NAME: MUTANTS[NAME]}, CASES, "0", {NAME: first})
    trial = runner.try_node(NAME)
    assert trial.missed == ()
    assert trial.server_faults == ()
    assert trial.outcomes[-1].verdict is Verdict.FAIL
    return [outcome.case for outcome in trial.outcomes]


def test_trial_runs_the_recorded_case_first_and_ends_when_it_fails() -> None:
    recorded = tried()[-1]
    assert tried(recorded) == [recorded]


def test_trial_runs_the_other_cases_when_the_recorded_ones_do_not_fail() -> None:
    assert tried("groups::gone") == tried()


class UnsendableError(Exception):
    """Cannot be sent between processes."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


@pytest.mark.parametrize("error", [LookupError("no such node"), UnsendableError("no", "pickle")], ids=repr)
def test_trial_that_raises_is_reported_as_a_crash(error: Exception) -> None:
    def broken(_: object) -> None:
        raise error

    runner = TrialRunner({NAME: replace(MUTANTS[NAME], alter=broken)}, CASES, "0")
    (trial,) = trials(runner, [NAME], 1)
    assert trial.crash == f"{type(error).__name__}: {error}"
    assert trial.missed == ("GRP-020",)
