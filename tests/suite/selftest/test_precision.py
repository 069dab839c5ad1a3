"""What a sample of mutants says of the charges, and which mutants it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.requirements import catalogue
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.tools import harness
from conformance.selftest.tools.harness import Trial, TrialRunner
from conformance.selftest.tools.kept import KeptOutcomes
from conformance.selftest.tools.mutant import Mutant, all_mutants
from conformance.selftest.tools.precision import Blame, Precision, blame_of, follows, sample
from conformance.verdict import Outcome, Verdict

MUTANTS = all_mutants()


def outcome(case: str, verdict: Verdict, *blamed: str) -> Outcome:
    return Outcome(case, "t", ("GRP-010", "LIST-060"), verdict, contradicted=blamed)


def blame(*outcomes: Outcome) -> Blame:
    mutant = Mutant("m", "groups", "a fault", ("GRP-010",), lambda _: None)
    return blame_of(mutant, Trial("m", ("GRP-010",), outcomes))


def test_precision_is_the_share_of_charged_requirements_that_are_broken() -> None:
    told = blame(outcome("a::b", Verdict.FAIL, "GRP-010"), outcome("a::c", Verdict.FAIL, "GRP-010", "LIST-060"))

    assert (told.precision, told.failing, told.wrongly) == (0.5, ("a::b", "a::c"), {"LIST-060": ("a::c",)})


def test_only_failures_charge() -> None:
    told = blame(outcome("a::b", Verdict.INCONCLUSIVE), outcome("a::c", Verdict.PASS))

    assert (told.precision, told.failing) == (1.0, ())


def test_figures_of_a_sample_are_its_mean_median_and_95th_percentile() -> None:
    blames = [
        Blame(str(number), "f", frozenset({"GRP-010"}), {"GRP-010": ("a",)}, ("a",) * number) for number in range(1, 21)
    ]
    measured = Precision([*blames[:-1], Blame("20", "f", frozenset(), {"GRP-010": ("a",)}, ("a",) * 20)])

    assert (measured.mean, measured.median_fan_out, measured.p95_fan_out) == (0.95, 10.5, 19)
    assert not measured.reached
    assert measured.worst()[0].mutant == "20"


def test_sample_goes_over_all_families_and_begins_alike_whatever_its_size() -> None:
    families = {mutant.family for mutant in MUTANTS}
    chosen = sample(MUTANTS, len(families), "1")

    assert {mutant.family for mutant in chosen} == families
    assert sample(MUTANTS, 20, "1") == chosen[:20]
    assert sample(MUTANTS, 20, "2") != chosen[:20]


def test_table_of_what_follows_names_requirements_of_the_catalogue() -> None:
    known = {requirement.id for requirement in catalogue().requirements}

    assert {*follows()} | {name for following in follows().values() for name in following.ids} <= known


def test_mutants_name_requirements_of_the_catalogue_once() -> None:
    known = {requirement.id for requirement in catalogue().requirements}
    for mutant in all_mutants():
        named = (*mutant.breaks, *mutant.also)
        assert known >= {*named}, mutant.name
        assert len({*named}) == len(named), mutant.name


def test_every_case_runs_on_a_mutant_whose_blame_is_measured(tmp_path: Path) -> None:
    name = "group-names-are-cut"
    cases = [case for case in load([scenarios()], ["groups"]) if "GRP-020" in case.requirements]
    (mutant,) = [mutant for mutant in MUTANTS if mutant.name == name]

    runner = TrialRunner({name: mutant}, cases, "0", kept=KeptOutcomes(tmp_path / "blame.jsonl", "0"))

    trial = runner.try_node(name)

    assert {outcome.case for outcome in trial.outcomes} == {case.id for case in cases}
    assert "GRP-020" in blame_of(mutant, trial).charged
    assert [again.verdict for again in runner.try_node(name).outcomes] == [one.verdict for one in trial.outcomes]


def test_outcomes_are_kept_while_pack_and_seed_are_the_same(tmp_path: Path) -> None:
    cases = load([scenarios()], ["groups"])[:2]
    outcomes = [Outcome(cases[0].id, "t", ("GRP-010",), Verdict.FAIL, "so", contradicted=("GRP-010",))]
    KeptOutcomes(tmp_path / "blame.jsonl", "0").keep("m", cases, outcomes)

    (kept,) = KeptOutcomes(tmp_path / "blame.jsonl", "0").of("m", cases)

    assert (kept.case, kept.verdict, kept.blamed) == (cases[0].id, Verdict.FAIL, ("GRP-010",))
    assert KeptOutcomes(tmp_path / "blame.jsonl", "1").of("m", cases) == ()
    assert KeptOutcomes(tmp_path / "blame.jsonl", "0").of("other", cases) == ()


def test_measurement_stops_where_enough_cases_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "groups-are-not-created"
    (mutant,) = [mutant for mutant in MUTANTS if mutant.name == name]
    cases = [case for case in load([scenarios()], ["accounts"]) if "ACC-070" in case.requirements]
    monkeypatch.setattr(harness, "MOST_FAILING", 1)

    trial = TrialRunner({name: mutant}, cases, "0", kept=KeptOutcomes(tmp_path / "b.jsonl", "0")).try_node(name)

    assert trial.outcomes[-1].verdict is Verdict.FAIL
    assert sum(outcome.verdict is Verdict.FAIL for outcome in trial.outcomes) == 1
