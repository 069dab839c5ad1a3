"""The promise of docs/results.md about earlier files; `results_format_1.json` is a small one of format 1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from made_runs import outcome, results
from pydantic import JsonValue

from conformance.cli import main
from conformance.report import ExitCode
from conformance.report.judgement import Judgement
from conformance.report.publish import SCHEMA_FILE
from conformance.report.results import FORMAT
from conformance.verdict import CellOutcome, CellVerdict, Verdict

EARLIER = Path(__file__).with_name("results_format_1.json")
"""Never changed while the format is 1: members that came later are not in it."""
WORDS = {
    *("pass", "fail", "not offered", "known", "inconclusive", "suite error"),
    *("pass in part", "not run", "not yet covered", "not judged"),
    *("granted", "refused", "wrong", "not tried"),
}
"""The verdicts of format 1."""


def types(value: JsonValue, place: str = "") -> Iterator[tuple[str, str]]:
    """The types of all members, by their places; items of an array have one place."""
    yield place, "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__
    if isinstance(value, dict):
        for name, member in value.items():
            yield from types(member, f"{place}.{name}")
    if isinstance(value, list):
        for item in value:
            yield from types(item, f"{place}[]")


def written_now() -> JsonValue:
    """What this version writes of a run like that of the earlier file."""
    cell = CellOutcome("account/this/none/1", False, CellVerdict.WRONG, "the rule", "it ran")
    failed = replace(outcome("p::a", Verdict.FAIL, "A-010"), cells=(cell,), charged_cents=2, contradicted=("A-010",))
    run = results(failed, outcome("p::b", Verdict.KNOWN, "A-010", "A-020"), faults=("an entry passes",))
    now: JsonValue = json.loads(run.content)
    return now


def test_no_member_of_the_format_goes_away_or_changes_its_type() -> None:
    assert FORMAT == 1, "a new format needs a file of its own"
    earlier = set(types(json.loads(EARLIER.read_text("utf-8"))))
    assert earlier - set(types(written_now())) == set()


def test_no_verdict_of_the_format_gets_another_name() -> None:
    assert {*map(str, Verdict), *map(str, Judgement), *map(str, CellVerdict)} >= WORDS


def test_earlier_file_follows_the_schema_of_this_version() -> None:
    Draft202012Validator(json.loads(SCHEMA_FILE.read_text("utf-8"))).validate(json.loads(EARLIER.read_text("utf-8")))


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["report", str(EARLIER), "--html", "page.html", "--summary", "summary.md", "--badge", "badge.json"], 0),
        (["report", str(EARLIER), "--replay", "replays"], 0),
        (["compare", str(EARLIER), str(EARLIER)], ExitCode.CONFORMS),
        (["known", "from", str(EARLIER), "--link", "https://tracker.example/1"], 0),
        (["site", "runs", "-o", "site"], 0),
    ],
    ids=["report", "replay", "compare", "known", "site"],
)
def test_every_reader_takes_an_earlier_file(
    command: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "acme").mkdir(parents=True)
    (tmp_path / "runs" / "acme" / "results.json").write_bytes(EARLIER.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main(command) == code


def test_file_of_another_format_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = json.loads(EARLIER.read_text("utf-8")) | {"format": FORMAT + 1}
    (tmp_path / "results.json").write_text(json.dumps(later))
    assert main(["compare", str(tmp_path), str(EARLIER)]) == ExitCode.USAGE
    assert f"holds no results of a run in format {FORMAT}: format: Input should be" in capsys.readouterr().err
