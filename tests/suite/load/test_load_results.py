"""load.json, and how a campaign ends."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime

import jsonschema
import pytest

from conformance.load.campaign import Campaign
from conformance.load.memory import MemoryWatch
from conformance.load.publish import SCHEMA_FILE
from conformance.load.results import LoadRecord, LoadResults, Sample, load_results
from conformance.profile import Profile
from conformance.report import ExitCode
from conformance.report.publish import schema_text
from conformance.verdict import Outcome, Verdict

PASS, FAIL, UNCLEAR, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SUITE_ERROR


def outcome(case: str, verdict: Verdict) -> Outcome:
    return Outcome(case, "Title", ("A-1",), verdict, "" if verdict is PASS else f"reason of {verdict}")


def record(*, alone: tuple[Verdict, ...] = (PASS,), under_load: tuple[Verdict, ...] = (PASS,)) -> LoadRecord:
    found = LoadRecord(Campaign(seed="s", users=8), Profile(), "http://user:word@127.0.0.1", datetime.now(UTC))
    found.load_began, found.load_ended = 1.0, 3.0
    for number, verdict in enumerate(alone):
        found.alone[f"pack::{number}"] = outcome(f"pack::{number}", verdict)
    for verdict in under_load:
        found.tally.note(outcome("pack::0", verdict))
    return found


@pytest.mark.parametrize(
    ("alone", "under_load", "code"),
    [
        ((PASS,), (PASS, PASS), ExitCode.CONFORMS),
        ((PASS,), (PASS, FAIL, ERROR), ExitCode.FAILS),
        ((PASS, FAIL), (PASS,), ExitCode.FAILS),
        ((PASS,), (PASS, ERROR, UNCLEAR), ExitCode.SUITE_ERROR),
        ((PASS,), (PASS, UNCLEAR), ExitCode.INCONCLUSIVE),
        ((PASS, UNCLEAR), (PASS,), ExitCode.INCONCLUSIVE),
        ((PASS,), (), ExitCode.INCONCLUSIVE),
    ],
)
def test_exit_code_is_that_of_a_run(
    alone: tuple[Verdict, ...], under_load: tuple[Verdict, ...], code: ExitCode
) -> None:
    results = load_results(record(alone=alone, under_load=under_load), ())
    assert (results.exit_code, results.holds) == (code, code is ExitCode.CONFORMS)
    assert results.sentence


def test_campaign_that_was_cut_short_says_so_unless_a_case_failed() -> None:
    cut = record()
    cut.interrupted = "Ctrl-C"
    assert load_results(cut, ()).exit_code is ExitCode.INTERRUPTED
    cut.tally.note(outcome("pack::0", FAIL))
    assert load_results(cut, ()).exit_code is ExitCode.FAILS


def test_failure_is_told_with_the_load_at_which_it_began() -> None:
    found = record(under_load=(PASS, FAIL))
    found.samples = [Sample(seconds=0.5, users=1, rate=4.0), Sample(seconds=1.5, users=5, rate=20.0)]
    case = found.tally.cases["pack::0"]
    case.firsts[FAIL] = replace(case.firsts[FAIL], at=1.0 + 1.7)
    (shown,) = load_results(found, ("--profile", "node.yaml")).cases
    assert (shown.alone, shown.under_load) == (PASS, {PASS: 1, FAIL: 1})
    assert shown.began[0].load == found.samples[1]
    assert shown.rerun == "service-conformance run --profile node.yaml --seed s --case pack::0"


def test_results_follow_the_published_schema_and_hold_no_password() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(LoadResults), "python -m conformance.load.publish"
    text = load_results(record(under_load=(PASS, FAIL)), ()).model_dump_json()
    jsonschema.validate(json.loads(text), json.loads(schema_text(LoadResults)))
    assert "word@" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_told_for_each_thousand_requests_after_the_warm_up() -> None:
    watch = MemoryWatch(os.getpid())
    watch.note_warm(500)
    kept = b"x" * 200_000_000  # far more than what other parts of this process free meanwhile
    memory = watch.result(2500)
    assert memory is not None
    assert memory.end_mb - memory.warm_mb >= len(kept) / 1e6 / 2
    assert memory.requests_after_warm_up == 2000
    assert memory.mb_per_thousand_requests == pytest.approx((memory.end_mb - memory.warm_mb) / 2)


def test_memory_of_a_node_that_is_gone_is_unknown() -> None:
    watch = MemoryWatch(-1)
    watch.note_warm(1)
    assert not watch.is_warm
    assert watch.result(2) is None
