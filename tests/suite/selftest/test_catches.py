"""Which cases are run first on a mutant, and which mutants make tier one."""

from __future__ import annotations

from pathlib import Path

from conformance.selftest.tools.catches import Catch, catch_of, load_catches, record, tier_one
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.mutant import Mutant
from conformance.verdict import Outcome, Verdict


def mutant(name: str, *breaks: str) -> Mutant:
    return Mutant(name, "family", "Do it wrong.", breaks, lambda _: None)


def chosen(mutants: list[Mutant], **requests: int) -> list[str]:
    return [made.name for made in tier_one(mutants, {name: Catch((), count) for name, count in requests.items()})]


def test_tier_one_takes_the_two_cheapest_mutants_of_a_requirement() -> None:
    mutants = [mutant("dear", "A-1"), mutant("cheap", "A-1"), mutant("cheaper", "A-1")]
    assert chosen(mutants, dear=30, cheap=20, cheaper=10) == ["cheap", "cheaper"]


def test_tier_one_covers_every_requirement() -> None:
    mutants = [mutant("cheap", "A-1"), mutant("cheaper", "A-1"), mutant("both", "A-1", "B-1")]
    assert chosen(mutants, cheap=2, cheaper=1, both=90) == ["cheap", "cheaper", "both"]


def test_tier_one_counts_a_mutant_for_each_requirement_that_it_breaks() -> None:
    mutants = [mutant("both", "A-1", "B-1"), mutant("too", "A-1", "B-1"), mutant("more", "B-1")]
    assert chosen(mutants, both=1, too=2, more=3) == ["both", "too"]


def test_tier_one_also_takes_mutants_of_which_no_catch_is_recorded() -> None:
    mutants = [mutant("one", "A-1"), mutant("two", "A-1"), mutant("new", "A-1")]
    assert chosen(mutants, one=1, two=2) == ["one", "two", "new"]


def outcome(case: str, verdict: Verdict, exchanges: int, *requirements: str) -> Outcome:
    return Outcome(case, "title", requirements, verdict, exchanges=exchanges)


def test_catch_names_the_first_failing_case_of_each_requirement_and_counts_its_requests() -> None:
    outcomes = (
        outcome("p::passes", Verdict.PASS, 100, "A-1", "B-1"),
        outcome("p::first", Verdict.FAIL, 5, "A-1"),
        outcome("p::second", Verdict.FAIL, 7, "A-1", "B-1"),
    )
    assert catch_of(Trial("m", ("A-1", "B-1"), outcomes)) == Catch(("p::first", "p::second"), 12)


def test_recorded_catches_are_read_back_without_mutants_that_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "catches.json"
    kept = Catch(("p::one", "p::two[row]"), 12)
    record({"kept": kept, "gone": Catch((), 1)}, ["kept", "never-caught"], path)
    assert load_catches(path) == {"kept": kept}
