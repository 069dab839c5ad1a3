"""Nodes that are faulty under load alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conformance.load.campaign import Campaign
from conformance.load.results import LoadRecord, Sample, load_results
from conformance.profile import Profile
from conformance.resources import scenarios
from conformance.selftest import main
from conformance.selftest.under_load.mutants import load_mutants
from conformance.selftest.under_load.trial import LoadTrial, try_under_load
from conformance.verdict import Outcome, Verdict

PASS, FAIL = Verdict.PASS, Verdict.FAIL
MUTANTS = {mutant.name: mutant for mutant in load_mutants()}


def trial(alone: Verdict, *under_load: Verdict) -> LoadTrial:
    record = LoadRecord(Campaign(seed="s"), Profile(), "http://127.0.0.1", datetime.now(UTC))
    record.alone["groups::one"] = Outcome("groups::one", "Title", ("GRP-010",), alone, "" if alone is PASS else "why")
    record.samples = [Sample(seconds=0.0, users=3, rate=20.0)]
    for verdict in under_load:
        record.tally.note(Outcome("groups::one", "Title", ("GRP-010",), verdict, "why"))
    return LoadTrial(MUTANTS["keys-are-unknown-when-busy"], load_results(record, ()))


def test_load_mutants_are_many_and_name_packs_that_there_are() -> None:
    packs = {path.stem for path in scenarios().iterdir()}
    assert len(MUTANTS) >= 10
    assert {mutant.pack for mutant in MUTANTS.values()} <= packs
    assert all("{" not in mutant.fault for mutant in MUTANTS.values())


@pytest.mark.parametrize(
    ("found", "caught", "said"),
    [
        (trial(PASS, PASS, FAIL), True, "at 3 users and 20 requests a second, by groups::one"),
        (trial(PASS, PASS), False, "not caught"),
        (trial(FAIL), False, "faulty without load: groups::one"),
    ],
    ids=["under load", "never", "without load"],
)
def test_fault_counts_as_caught_where_load_alone_shows_it(found: LoadTrial, caught: bool, said: str) -> None:
    assert found.is_caught is caught
    assert said in str(found)


def test_fault_that_one_client_never_sees_is_caught_under_load() -> None:
    found = try_under_load(MUTANTS["group-id-of-whoever-made-the-last-group"], "1")
    assert found.is_caught, str(found)


def test_load_mutants_are_listed_and_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--load", "--list", "--mutant", "nonce-*"]) == 0
    assert capsys.readouterr().out.count("nonce-is-taken-twice") == 3
    assert main(["--load", "--mutant", "nothing"]) == 2
