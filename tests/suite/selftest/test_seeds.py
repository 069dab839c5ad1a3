"""The table of mutants and seeds: what counts as found, and which seeds are named."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from conformance.selftest.tools.catches import Catch, load_catches
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.seeds import Found, found_by_fuzzing, try_seeds
from conformance.verdict import Outcome, Verdict

NAME = "fails-on-a-rare-body:email-without-description"
MUTANTS = {mutant.name: mutant for mutant in all_mutants()}


def trial(verdict: Verdict, exchanges: int) -> Trial:
    return Trial("m", ("R-1",), (Outcome("fuzz::groups", "t", ("R-1",), verdict, exchanges=exchanges),))


def test_table_names_the_seeds_that_missed() -> None:
    found = Found()
    for seed, verdict, exchanges in (("1", Verdict.FAIL, 10), ("2", Verdict.PASS, 500), ("3", Verdict.FAIL, 30)):
        found.add(seed, trial(verdict, exchanges))
    assert found.told == ["fuzz::groups", "2 of 3", "2", "20", "30"]


def test_crash_of_the_suite_is_no_find() -> None:
    found = Found()
    found.add("1", Trial("m", ("R-1",), crash="LookupError: no such node"))
    assert found.told == ["", "0 of 1", "1", "-", "-"]


def test_mutants_that_another_pack_caught_are_left_out() -> None:
    catches = {"a": Catch(("fuzz::groups",), 9), "b": Catch(("fuzz::groups", "groups::name"), 9), "c": Catch((), 0)}
    assert found_by_fuzzing(catches) == {"a"}


def test_fuzzing_alone_finds_15_mutants() -> None:
    assert len(found_by_fuzzing(load_catches()) & MUTANTS.keys()) >= 15


def test_seeds_are_tried_on_nodes(tmp_path: Path) -> None:
    assert try_seeds(Console(quiet=True), {NAME: MUTANTS[NAME]}, 2, 1, tmp_path) == 0
    assert f"| {NAME} | fuzz::accounts-and-lists | 2 of 2 |" in (tmp_path / "seeds.md").read_text()
