"""The forms of the report beside results.json: Markdown, badge, and what changed between two runs."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft6Validator, FormatChecker
from made_runs import FAILED, PASSED, UNSURE, outcome, results

from conformance.cli import main
from conformance.report import ExitCode, write_results
from conformance.report import summary as summary_module
from conformance.report.compare import Change, compare
from conformance.report.compare import markdown as told_changes
from conformance.report.har import har
from conformance.report.renderers import RENDERERS, badge
from conformance.report.summary import code, markdown
from conformance.report.write import make_writable, write_whole
from conformance.run.options import SPELLINGS
from conformance.verdict import Conversation, ConversationExchange, Exchange, Failure, Outcome, Verdict


def test_summary_tells_what_is_broken_where_and_how_to_see_it_again() -> None:
    told = markdown(results(PASSED, FAILED))
    assert told.startswith("# ❌ Conformance of `http://n`\n")
    assert "- **A-010** (must) The node counts." in told
    assert "`p::b`: `steps[1] call x` expected `a [b] list`; got `nothing`" in told
    assert "again: `service-conformance run --seed 7 --case p::b`" in told
    assert "| A |" in told


def test_summary_of_a_known_failure_does_not_call_it_broken() -> None:
    told = markdown(results(outcome("p::b", Verdict.KNOWN, "A-010")))
    assert told.startswith("# ✅ ")
    assert "breaks" not in told


def test_summary_of_a_run_without_a_verdict_has_a_mark_of_its_own() -> None:
    assert markdown(results(PASSED, UNSURE)).startswith("# ⚠️ Conformance of ")


def test_summary_tells_one_reason_once_for_all_its_cases() -> None:
    many = [replace(UNSURE, case=f"p::{name}", reason="no answer") for name in "bcd"]
    told = markdown(results(PASSED, *many))
    assert "- `p::b` and 2 more: `no answer`" in told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "`plain`"),
        ("a `b` c", "``a `b` c``"),
        ("``x``", "``` ``x`` ```"),
        ("![](http://evil)\n# head", "`![](http://evil) # head`"),
        ("", ""),
    ],
)
def test_text_of_a_node_is_never_read_as_markdown(text: str, shown: str) -> None:
    assert code(text) == shown


def test_summary_ends_where_it_would_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = markdown(results(PASSED, FAILED))
    monkeypatch.setattr(summary_module, "MOST_BYTES", 600)
    told = markdown(results(PASSED, FAILED))
    assert len(told.encode()) <= 600 < len(whole.encode())
    assert "more lines would not fit" in told


@pytest.mark.parametrize(
    ("outcomes", "colour", "message"),
    [
        ((PASSED,), "brightgreen", "1 passed"),
        ((PASSED, FAILED), "red", "1 failed, 1 passed"),
        ((PASSED, UNSURE), "lightgrey", "1 inconclusive, 1 passed"),
        ((PASSED, outcome("p::b", Verdict.KNOWN, "A-020")), "brightgreen", "1 passed, 1 known failure"),
        (
            (PASSED, *(outcome(f"p::{name}", Verdict.KNOWN) for name in "bc")),
            "brightgreen",
            "1 passed, 2 known failures",
        ),
    ],
)
def test_badge_tells_the_verdict(outcomes: tuple[Outcome, ...], colour: str, message: str) -> None:
    told = json.loads(badge(results(*outcomes)))
    assert told == {"schemaVersion": 1, "label": "conformance", "message": message, "color": colour}


BOTH_PASS = (PASSED, outcome("p::b", Verdict.PASS, "A-010", "A-020"))


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (BOTH_PASS, BOTH_PASS, {}),
        (BOTH_PASS, (PASSED, FAILED), {"A-010": Change.BROKEN, "A-020": Change.BROKEN, "A-030": Change.BROKEN}),
        ((PASSED, FAILED), BOTH_PASS, {"A-010": Change.MENDED, "A-020": Change.MENDED}),
        (BOTH_PASS, (PASSED, UNSURE), {"A-010": Change.LOST, "A-020": Change.LOST}),
        ((PASSED, UNSURE), BOTH_PASS, {"A-010": Change.SHOWN, "A-020": Change.SHOWN}),
    ],
)
def test_comparison_names_what_became_of_each_requirement(
    before: tuple[Outcome, ...], after: tuple[Outcome, ...], changes: dict[str, Change]
) -> None:
    found = {one.id: one.change for one in compare(results(*before), results(*after))}
    assert {name: found.get(name) for name in changes} == changes
    if not changes:
        assert found == {}


def test_runs_of_other_cases_are_compared_where_both_tried_a_statement() -> None:
    whole, quick = results(*BOTH_PASS), results(PASSED, quick=True)
    assert compare(whole, quick) == compare(quick, whole) == ()
    assert "only statements that both tried are compared" in told_changes(whole, quick, ())
    assert Change.BROKEN in {one.change for one in compare(whole, results(FAILED, quick=True))}


HAR_SCHEMA = Path(__file__).with_name("har_1_2.schema.json")


def told_in_har(failure: Failure) -> dict[str, Any]:
    """The log of a run in which a case failed so, held against the schema of HAR 1.2."""
    text = har(results(PASSED, replace(FAILED, failure=failure)))
    found = json.loads(text)
    validator = Draft6Validator(json.loads(HAR_SCHEMA.read_text(encoding="utf-8")), format_checker=FormatChecker())
    assert [error.message for error in validator.iter_errors(found)] == []
    log: dict[str, Any] = found["log"]
    return log


def exchange_of(url: str, status: int | None, answer: str, body: str | None = None) -> ConversationExchange:
    return ConversationExchange("POST", url, {"X-Api-Key": "${API_KEY_1}"}, body, status, answer, 0.25)


def test_har_holds_the_exchanges_of_failing_cases() -> None:
    exchanges = (
        exchange_of("http://n/x?page_number=0&name=", 200, '{"a":1}', '{"b":2}'),
        exchange_of("http://n/y", None, ""),
        exchange_of("http://n/z", 799, "text"),
    )
    departing = Exchange("POST", "http://n/z", {}, None, 799, {"content-type": "text/css"}, "text", 0.25, "curl")
    log = told_in_har(Failure("steps[1]", "a", "b", departing, conversation=Conversation(exchanges, departed=2)))
    first, silent, last = log["entries"]
    assert log["pages"][0]["id"] == "p::b"
    assert log["pages"][0]["comment"] == "steps[1]: expected a; got b"
    assert first["request"]["queryString"] == [{"name": "page_number", "value": "0"}, {"name": "name", "value": ""}]
    assert first["request"]["postData"] == {"mimeType": "application/json", "text": '{"b":2}'}
    assert first["request"]["headers"] == [{"name": "X-Api-Key", "value": "${API_KEY_1}"}]
    assert (first["response"]["status"], first["response"]["statusText"]) == (200, "OK")
    assert first["response"]["content"] == {"size": 7, "mimeType": "application/json", "text": '{"a":1}'}
    assert (silent["response"]["status"], silent["response"]["comment"]) == (0, "no answer came")
    assert last["startedDateTime"] == "2026-01-02T03:04:05.500000+00:00"
    assert last["response"]["content"]["mimeType"] == "text/css"
    assert [entry["comment"] for entry in log["entries"]] == ["", "", "this one shows the failure"]


def test_har_of_a_failure_without_a_conversation_holds_the_exchange_that_shows_it() -> None:
    assert FAILED.failure is not None
    assert [entry["request"]["url"] for entry in told_in_har(FAILED.failure)["entries"]] == ["http://n/x"]
    assert told_in_har(Failure("", "a", "b"))["entries"] == []
    assert json.loads(har(results(PASSED)))["log"]["pages"] == []


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of a run that passed and of one that failed."""
    for name, outcomes in (("good", BOTH_PASS), ("bad", (PASSED, FAILED))):
        write_results(results(*outcomes), tmp_path / name)
    return tmp_path / "good", tmp_path / "bad"


def test_compare_ends_with_1_where_something_became_worse(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = runs
    assert main(["compare", str(good), str(bad)]) == ExitCode.FAILS
    told = capsys.readouterr().out
    assert "## Broken (3)" in told
    assert "- **A-010** pass → fail: The node counts.\n  - `p::b`" in told
    assert main(["compare", str(bad), str(good)]) == ExitCode.CONFORMS
    assert "## Mended (2)" in capsys.readouterr().out
    assert main(["compare", str(good), str(good / "results.json")]) == ExitCode.CONFORMS
    assert "No requirement has another verdict." in capsys.readouterr().out


def test_report_writes_every_form_of_an_earlier_run(runs: tuple[Path, Path], tmp_path: Path) -> None:
    files = {form: tmp_path / f"new.{form}" for form in RENDERERS}
    flags = [part for form, path in files.items() for part in (SPELLINGS[form].flag, str(path))]
    assert main(["report", str(runs[1]), *flags]) == 0
    assert files["html"].read_text().startswith("<!doctype html>")
    assert "❌" in files["summary"].read_text()
    assert json.loads(files["badge"].read_text())["color"] == "red"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "holds no results of a run in format 1: the file: Invalid JSON"),
        ("{}", "holds no results of a run in format 1: conforms: Field required"),
    ],
)
def test_results_that_cannot_be_read_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    file = tmp_path / "results.json"
    if content is not None:
        file.write_text(content)
    assert main(["report", str(tmp_path), "--html", str(tmp_path / "page.html")]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert told.startswith(f"{file}: {said}")
    assert len(told.splitlines()) == 1


def test_report_without_a_form_says_which_there_are(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(runs[0])]) == ExitCode.USAGE
    assert "--html or --summary or --badge" in capsys.readouterr().err


def test_failed_writing_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "no" / "page.html"
    with pytest.raises(FileNotFoundError) as raised:
        write_whole(file, "text")
    assert raised.value.filename == str(file)


def test_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        write_whole(pipe, "text")
        assert read.result() == "text"
    assert pipe.is_fifo()
    assert make_writable(tmp_path, "pipe") == []


def test_link_to_a_file_stays_and_one_of_a_device_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch()
    link.symlink_to(file)
    write_whole(link, "one")
    assert (link.is_symlink(), file.read_text()) == (True, "one")

    monkeypatch.setattr("conformance.report.write.DEVICES", str(tmp_path))
    before = file.stat().st_ino
    write_whole(link, "two")
    assert (link.is_symlink(), file.read_text(), file.stat().st_ino) == (True, "two", before)
