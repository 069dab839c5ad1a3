"""The tiers of the self-test, and the second trial of a mutant that slipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

from conformance.selftest.tools import command, findings
from conformance.selftest.tools.catches import load_catches
from conformance.selftest.tools.command import Tier
from conformance.selftest.tools.harness import Trial, TrialRunner
from conformance.selftest.tools.mutant import Mutant, all_mutants
from conformance.selftest.tools.seeds import found_by_fuzzing
from conformance.selftest.tools.shams import SHAMS
from conformance.selftest.variants import VARIANTS
from conformance.verdict import Outcome, Verdict

CAUGHT = (Outcome("p::a", "t", ("GRP-010",), Verdict.FAIL, "why", contradicted=("GRP-010",)),)


def tiers(*arguments: str) -> list[Tier]:
    mutants = {mutant.name: mutant for mutant in all_mutants()}
    return command._tiers(mutants, load_catches(), command._parser().parse_args(arguments))


def test_tier_two_is_what_tier_one_leaves_out() -> None:
    one, two = tiers("--full")

    assert not {*one.names} & {*two.names}
    assert {*one.names, *two.names} == {*(mutant.name for mutant in all_mutants()), *SHAMS, *VARIANTS}
    assert tiers() == [one]


def test_rest_is_tier_two_without_most_of_what_fuzzing_alone_finds() -> None:
    (_, two), (rest,), fuzzed = tiers("--full"), tiers("--rest"), found_by_fuzzing(load_catches())

    assert {*two.names} - {*rest.names} < fuzzed
    assert len({*rest.names} & fuzzed) <= command.FUZZED


def test_parts_of_the_rest_are_the_rest() -> None:
    (rest,), parts = tiers("--rest"), [tiers("--rest", f"{part}/3")[0].names for part in (1, 2, 3)]

    assert sorted(name for names in parts for name in names) == sorted(rest.names)


@pytest.mark.parametrize("text", ["3", "0/3", "4/3", "a/b", "-1/3"])
def test_what_is_no_part_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tiers(f"--rest={text}")
    assert "has to be one part of several, as in 2/3" in capsys.readouterr().err


@pytest.mark.parametrize(("second", "missed"), [(CAUGHT, ()), ((), ("GRP-010",))], ids=["is caught", "slips again"])
def test_mutant_that_slipped_is_tried_once_more_alone(
    monkeypatch: pytest.MonkeyPatch, second: tuple[Outcome, ...], missed: tuple[str, ...]
) -> None:
    tried: list[int] = []

    def trials(_: TrialRunner, names: Sequence[str], jobs: int) -> Iterator[Trial]:
        tried.append(jobs)
        for name in names:
            yield Trial(name, ("GRP-010",), CAUGHT if name == "caught" else second if len(tried) > 1 else ())

    monkeypatch.setattr(command, "trials", trials)
    runner = TrialRunner({}, [], "0")
    done, lines = command._run(Console(quiet=True), runner, [Tier("one", ["caught", "slips"])], jobs=3)

    assert tried == [3, 1]
    assert done["slips"].missed == missed
    assert lines[-1] == "tried once more, alone: slips"


@pytest.mark.parametrize(
    ("outcome", "code", "told"),
    [
        (CAUGHT[0], 0, "p::a catches m: it charges GRP-010: why"),
        (
            replace(CAUGHT[0], contradicted=("GRP-020",)),
            1,
            "p::a does not catch m: it charges GRP-020 alone, not GRP-010: why",
        ),
        (replace(CAUGHT[0], verdict=Verdict.PASS, reason=""), 1, "p::a does not catch m: pass"),
        (replace(CAUGHT[0], verdict=Verdict.INCONCLUSIVE), 1, "p::a does not catch m: inconclusive: why"),
    ],
)
def test_case_is_told_to_catch_a_mutant_or_not(
    outcome: Outcome, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def trials(runner: TrialRunner, names: Sequence[str], _: int) -> Iterator[Trial]:
        ran.extend(case.id for case in runner.cases)
        return iter([Trial(name, ("GRP-010",), (outcome,)) for name in names])

    monkeypatch.setattr(command, "trials", trials)
    monkeypatch.setattr(command, "all_mutants", lambda: [Mutant("m", "f", "Fault.", ("GRP-010",), lambda _: None)])
    monkeypatch.setattr(command, "load", lambda *_: [SimpleNamespace(id="p::a"), SimpleNamespace(id="p::b")])
    assert command.main(["--mutant", "m", "--case", "p::a"]) == code
    assert {*ran} == {"p::a"}
    assert capsys.readouterr().out == f"{told}\n"


@pytest.mark.parametrize(
    ("verdict", "code", "told"),
    [
        (Verdict.PASS, 0, "other: 1 pass\n"),
        (Verdict.NOT_OFFERED, 0, "other: 1 not offered\n"),
        (Verdict.FAIL, 1, "other: 1 fail\nthe other node: p::a is fail: [why]\n"),
        (Verdict.INCONCLUSIVE, 1, "other: 1 inconclusive\nthe other node: p::a is inconclusive: [why]\n"),
    ],
)
def test_correct_nodes_must_pass_the_chosen_cases(
    verdict: Verdict, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trials(runner: TrialRunner, names: Sequence[str], _: int) -> Iterator[Trial]:
        (case,) = runner.cases
        return iter([Trial(name, (), (Outcome(case.id, "", (), verdict, "[why]"),)) for name in names])

    monkeypatch.setattr(command, "trials", trials)
    for module in (command, findings):
        monkeypatch.setattr(module, "VARIANTS", {"other": None})
    monkeypatch.setattr(command, "load", lambda _, opt_in=(): [SimpleNamespace(id="p::b" if opt_in else "p::a")])
    assert command.main(["--variants", "--case", "p::a"]) == code
    assert capsys.readouterr().out == told


def test_case_that_is_not_there_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "load", lambda *_: [])
    assert command.main(["--case", "p::none"]) == 2
