"""Which mutants prove nothing that another one does not prove."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.selftest.tools.command import main
from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.overlap import RECORD, Caught, caught_of, smallest
from conformance.verdict import Failure, Outcome, Verdict


def failed(case: str, got: str, *requirements: str) -> Outcome:
    return Outcome(case, "", requirements, Verdict.FAIL, failure=Failure("line 7", "length 1", got))


def caught(mutant: str, *outcomes: Outcome, breaks: tuple[str, ...] = ("GRP-010",)) -> Caught:
    return caught_of(Trial(mutant, breaks, outcomes))


def test_same_check_with_other_drawn_values_is_one() -> None:
    one, other = (caught(name, failed("groups::a", f"status 200: {name}", "GRP-010")) for name in ("m1", "m2"))

    assert one.noticed == other.noticed


def test_check_that_alone_notices_a_mutant_keeps_one_of_them() -> None:
    alone = [caught(name, failed("groups::a", "1", "GRP-010")) for name in ("m:x", "m:y")]
    by_two = caught("by-two", failed("groups::a", "1", "GRP-010"), failed("groups::b", "1", "GRP-010"))

    assert smallest([*alone, by_two]) == {"m:x"}


def test_every_broken_requirement_keeps_a_mutant() -> None:
    by_two = caught("by-two", failed("groups::a", "1", "GRP-010"), failed("groups::b", "1", "GRP-010"))

    assert smallest([by_two, caught("missed")]) == {"by-two"}


def test_failure_that_charges_something_else_notices_nothing() -> None:
    assert caught("m", failed("groups::a", "1", "LIST-010")).noticed == {}


def test_command_names_mutants_that_add_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--mutant", "page-number-is-ignored:list_groups", "--mutant", "groups-come-in-an-object"]

    assert main(["--overlap", *names, "--jobs", "1", "--output", str(tmp_path)]) == 0

    told = capsys.readouterr().out
    assert "of 2 mutants prove as much as all" in " ".join(told.split())
    assert len((tmp_path / RECORD).read_text(encoding="utf-8").splitlines()) == 2
