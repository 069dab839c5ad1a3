"""The table of mutants and seeds: what counts as found, and which seeds are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from conformance.selftest.tools import kept
from conformance.selftest.tools.catches import Catch, load_catches
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.seeds import Seeds, found_by_fuzzing, row, try_of, try_seeds
from conformance.verdict import Outcome, Verdict

NAME = "fails-on-a-rare-body:email-without-description"
MUTANTS = {mutant.name: mutant for mutant in all_mutants()}


def trial(verdict: Verdict, exchanges: int) -> Trial:
    return Trial("m", ("R-1",), (Outcome("fuzz::groups", "t", ("R-1",), verdict, exchanges=exchanges),))


def test_row_names_the_seeds_that_missed() -> None:
    told = (("1", Verdict.FAIL, 10), ("2", Verdict.PASS, 500), ("3", Verdict.FAIL, 30))
    tries = [try_of(trial(verdict, exchanges), seed, "s") for seed, verdict, exchanges in told]
    assert row("m", tries) == ["m", "fuzz::groups", "2 of 3", "2", "20", "30"]


def test_crash_of_the_suite_is_no_find() -> None:
    crashed = try_of(Trial("m", ("R-1",), crash="LookupError: no such node"), "1", "s")
    assert row("m", [crashed]) == ["m", "", "0 of 1", "1", "-", "-"]


def test_mutants_that_another_pack_caught_are_left_out() -> None:
    catches = {"a": Catch(("fuzz::groups",), 9), "b": Catch(("fuzz::groups", "groups::name"), 9), "c": Catch((), 0)}
    assert found_by_fuzzing(catches) == {"a"}


def test_fuzzing_alone_finds_15_mutants() -> None:
    assert len(found_by_fuzzing(load_catches()) & MUTANTS.keys()) >= 15


def test_seeds_are_tried_on_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert try_seeds(Console(force_terminal=False), {NAME: MUTANTS[NAME]}, 2, 1, tmp_path) == 0
    assert f"| {NAME} | fuzz::accounts-and-lists | 2 of 2 |" in (tmp_path / "seeds.md").read_text()
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("seed 1: found 1 of 1 in ")
    assert second.startswith("seed 2: found 1 of 1 in ")


def seeds(output: Path) -> Seeds:
    """A measurement without cases: each mutant that is tried is missed."""
    return Seeds(Console(), {NAME: MUTANTS[NAME]}, [], 1, output)


def test_kept_tries_are_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tried = seeds(tmp_path).run("1")
    assert seeds(tmp_path).run("1") == tried
    assert "seed 1: found 0 of 1 in 0 s (1 kept from before); missed " + NAME in capsys.readouterr().out
    assert len((tmp_path / "seeds.jsonl").read_text().splitlines()) == 1


def test_kept_tries_of_another_suite_or_seed_are_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds(tmp_path).run("1")
    seeds(tmp_path).run("2")
    assert len((tmp_path / "seeds.jsonl").read_text().splitlines()) == 2
    monkeypatch.setattr(kept, "_of_suite", lambda: "changed")
    seeds(tmp_path).run("1")
    assert len((tmp_path / "seeds.jsonl").read_text().splitlines()) == 3


def test_table_holds_the_seeds_tried_so_far(tmp_path: Path) -> None:
    running = seeds(tmp_path)
    running.write(running.run("1"))
    assert f"| {NAME} |  | 0 of 1 | 1 | - | - |" in (tmp_path / "seeds.md").read_text()
