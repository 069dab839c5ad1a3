"""What the failures of a run hold of requests and answers is bounded, whatever a node answers in each case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_node import TinyNode, Told

from conformance.cli import main
from conformance.report.results import Results
from conformance.run import volume
from conformance.run.volume import IN_SHORT, SHORT, FailureVolume
from conformance.verdict import Conversation, ConversationExchange, Exchange, Failure, Outcome, Verdict

LONG = "\x1b" * 100_000


def failing(case: str, text: str = LONG) -> Outcome:
    asked = ConversationExchange("POST", text, {text: text}, text, 200, text, 0.1)
    exchange = Exchange("GET", text, {"X-Own": text}, text, 200, {text: text}, text, 0.1, text)
    told = Failure(text, text, text, exchange, text, Conversation((asked,)), text)
    return Outcome(case, "a title", ("A-010",), Verdict.FAIL, "a reason", told)


def test_failures_beyond_the_limit_are_kept_in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = failing("p::a")
    monkeypatch.setattr(volume, "MOST_OF_FAILURES", len(volume._FAILURE.dump_json(whole.failure)) + 1_000_000)
    kept = FailureVolume()

    assert kept.kept(whole) is whole
    second, third = kept.kept(failing("p::b")), kept.kept(failing("p::c", "short"))

    assert second.failure is not None
    assert len(volume._FAILURE.dump_json(second.failure)) < 60 * SHORT, "of which each may take six bytes"
    assert second.failure.conversation is None
    assert second.failure.hint.endswith(IN_SHORT)
    assert (second.case, second.verdict, second.reason) == ("p::b", Verdict.FAIL, "a reason")
    assert third == failing("p::c", "short"), "a small one has room"


def test_run_beyond_the_limit_writes_whole_results(
    node: TinyNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume, "MOST_OF_FAILURES", 30_000)
    node.faults["list_groups"] = lambda _: Told(200, {"not a list": "x" * 20_000})
    reports = [f"--{form}={tmp_path / form}" for form in ("html", "har", "summary", "junit", "replay", "alluredir")]

    main(["run", "--node-url", node.url, "--case", "groups::*", "--jobs=1", f"--output={tmp_path}", *reports])

    results = Results.model_validate_json((tmp_path / "results.json").read_text(encoding="utf-8"))
    failures = [case.failure for case in results.cases if case.failure]
    in_short = [failure for failure in failures if failure.hint.endswith(IN_SHORT)]
    assert 0 < len(in_short) < len(failures)
    assert sum(len(json.dumps(failure.model_dump(mode="json"))) for failure in failures) < 30_000 + 6_000 * len(
        in_short
    )
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert written < 2_500_000
