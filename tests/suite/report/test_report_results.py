"""results.json: contents, schema, exit code, writing."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from made_runs import FAILED, PASSED, UNSURE, outcome, record, results, terminal
from pydantic import JsonValue

from conformance.profile import Profile
from conformance.report import ExitCode, Results, results_of, write_results
from conformance.report.judgement import Judgement
from conformance.report.profile_used import profile_digest, without_secrets
from conformance.report.publish import SCHEMA_FILE, schema_text
from conformance.report.write import RESULTS_NAME
from conformance.verdict import Verdict

UNOFFERED = outcome("p::b", Verdict.NOT_OFFERED, "A-010")
LISTED_FAILURE = outcome("p::b", Verdict.KNOWN, "A-010")


def test_assumed_key_that_explains_one_case_is_named_for_the_others_that_hang_on_it() -> None:
    titled = replace(
        outcome("p::a", Verdict.INCONCLUSIVE), assumed={"brand.title": "S", "x.y": 1}, explains="brand.title"
    )
    shown = replace(titled, failure=FAILED.failure)
    other = replace(shown, case="p::b", assumed={"x.y": 1, "brand.title": "S"}, explains="")
    unclear = replace(shown, case="p::c", assumed={"x.y": 1}, explains="")
    whole = results(shown, other, unclear)
    found = whole.assumed
    advice = "`service-conformance init http://n --try --profile node.yaml -o NEW.yaml` tries the node"
    assert terminal(whole, width=200).count(advice) == 1
    assert advice not in terminal(results(FAILED))
    assert [(key.key, key.cases, key.explains) for key in found] == [
        ("brand.title", ("p::a", "p::b"), True),
        ("x.y", ("p::c",), False),
    ]


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        (results(PASSED), ExitCode.CONFORMS, "1 of 1 passed, 0 not offered."),
        (
            results(PASSED, UNOFFERED),
            ExitCode.CONFORMS,
            "1 of 2 passed, 1 not offered. 2 of 4 must and should statements have no check yet.",
        ),
        (results(PASSED, LISTED_FAILURE), ExitCode.CONFORMS, "1 failed as known."),
        (
            results(PASSED, selected=("--pack=p",), quick=True),
            ExitCode.CONFORMS,
            "(a quick run): 1 of 1 passed, 0 not offered. A part of the cases was run: 1 of 4 must and should"
            " statements was not tried.",
        ),
        (results(PASSED, FAILED), ExitCode.FAILS, "does not conform: 1 of 2 cases failed"),
        (results(PASSED, FAILED, interrupted="ctrl-c"), ExitCode.FAILS, "does not conform"),
        (results(PASSED, faults=("p::z matches nothing",)), ExitCode.FAILS, "list of known failures is out of date"),
        (results(faults=("p::z matches nothing",)), ExitCode.FAILS, "out of date"),
        (results(FAILED, interrupted="ctrl-c"), ExitCode.FAILS, "cases that ended failed. The run was interrupted"),
        (results(PASSED, interrupted="ctrl-c"), ExitCode.INTERRUPTED, "interrupted: ctrl-c"),
        (results(interrupted="ctrl-c"), ExitCode.INTERRUPTED, "interrupted: ctrl-c"),
        (results(), ExitCode.NOTHING_SELECTED, "No case was selected."),
        (results(PASSED, UNSURE), ExitCode.INCONCLUSIVE, "1 of 2 cases was inconclusive"),
        (results(FAILED, outcome("p::a", Verdict.INCONCLUSIVE)), ExitCode.FAILS, "does not conform"),
        (results(UNOFFERED), ExitCode.INCONCLUSIVE, "Nothing was learnt"),
    ],
)
def test_exit_code_and_sentence(found: Results, code: ExitCode, said: str) -> None:
    assert found.exit_code is code
    assert said in found.sentence
    assert found.conforms is (code is ExitCode.CONFORMS)


def test_results_follow_their_published_schema() -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    written = json.loads(results(PASSED, FAILED, faults=("f",)).model_dump_json())
    Draft202012Validator(schema).validate(written)
    assert json.loads(results_of(record(PASSED)).model_dump_json())["requirements"]


def test_published_schema_is_made_from_the_model() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()


def test_results_of_a_failed_case_tell_all_of_it() -> None:
    case = next(one for one in results(PASSED, FAILED).cases if one.case == "p::b")
    assert case.failure is not None
    assert case.failure.exchange is not None
    assert case.failure.exchange.curl == "curl http://n/x"
    assert (case.exchanges, case.seconds, case.reason) == (3, 0.5, "reason of p::b")


def test_rerun_command_names_node_seed_and_case_and_is_quoted() -> None:
    run = results(outcome("p::a[b c]", Verdict.PASS), seed="5 6", rerun=("--node-url", "http://n?x=1&y"))
    command = run.cases[0].rerun
    assert shlex.split(command) == [
        *("service-conformance", "run", "--node-url", "http://n?x=1&y"),
        *("--seed", "5 6", "--case", "p::a[b c]"),
    ]


def test_totals_count_cases_and_judged_requirements() -> None:
    totals = results(PASSED, FAILED).totals
    assert totals.cases == {Verdict.PASS: 1, Verdict.FAIL: 1}
    assert totals.requirements == {Judgement.FAIL: 3, Judgement.NOT_YET_COVERED: 1}
    assert totals.exchanges == 6


def test_requirement_tells_what_its_checks_leave_out() -> None:
    by_id = {one.id: one for one in results(PASSED, FAILED).requirements}
    assert (by_id["A-020"].coverage, by_id["A-020"].note) == ("partly covered", "the run")
    assert (by_id["B-010"].verdict, by_id["B-010"].note) == ("not yet covered", "needs a run")
    assert by_id["A-030"].restates == ("A-010", "A-020")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:hunter2@node.example:8443/base?key=hunter2#hunter2", "https://node.example:8443/base"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
    ],
)
def test_address_of_the_node_is_shown_without_secrets(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
    assert "hunter2" not in results(PASSED, base_url=url).model_dump_json()


def test_profile_is_shown_without_what_its_addresses_give_away() -> None:
    profile = Profile.model_validate(
        {
            "base_url": "https://node.example/base",
            "control_url": "https://node.example/hunter2",
            "chain": {"rpc_url": "https://chain.example/v3/hunter2?hunter2"},
            "payments": {"provider_url": "https://pay.example"},
        }
    )
    found = results(PASSED, profile=profile)
    assert "hunter2" not in found.model_dump_json()
    content = found.profile.content
    assert (content["base_url"], content["control_url"]) == ("https://node.example/base", "https://node.example/[path]")
    assert keys(content)["chain.rpc_url"] == "https://chain.example/[path]"
    assert keys(content)["payments.provider_url"] == "https://pay.example"


def test_profile_is_shown_whole_and_says_what_was_assumed() -> None:
    profile = Profile().assuming(frozenset({"brand.slug"}))
    shown = results(PASSED, profile=profile).profile
    assert shown.content == Profile().model_dump(mode="json")
    assert shown.assumed == ("brand.slug",)


def keys(content: Mapping[str, JsonValue], above: str = "") -> dict[str, JsonValue]:
    """Every key of a profile by its dotted name, without sections."""
    found: dict[str, JsonValue] = {}
    for name, value in content.items():
        found |= keys(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return found


def test_profile_digest_changes_with_every_value() -> None:
    assert profile_digest(Profile()) == profile_digest(Profile.model_validate_json("{}"))
    other = Profile.model_validate_json('{"semantics": {"account_wallet_listed": true}}')
    assert profile_digest(other) != profile_digest(Profile())


def test_results_that_cannot_be_written_leave_the_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(results(PASSED), tmp_path)
    before = (tmp_path / RESULTS_NAME).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_results(results(FAILED), tmp_path)
    assert (tmp_path / RESULTS_NAME).read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [RESULTS_NAME]


def test_reader_of_the_old_results_keeps_them_whole(tmp_path: Path) -> None:
    path = write_results(results(PASSED), tmp_path)
    before = path.read_bytes()
    with path.open("rb") as reader:
        write_results(results(FAILED), tmp_path)
        assert reader.read() == before
    assert path.read_bytes() != before


def test_results_read_back_equal(tmp_path: Path) -> None:
    found = results(PASSED, FAILED, UNSURE)
    path = write_results(found, tmp_path / "new" / "folder")
    assert Results.model_validate_json(path.read_text(encoding="utf-8")) == found
    assert [entry.name for entry in path.parent.iterdir()] == [RESULTS_NAME]


def test_spending_is_told_by_case_and_by_pack() -> None:
    spent = [
        replace(outcome("p::a", Verdict.PASS), charged_cents=3, bought_cents=500),
        replace(outcome("q::a", Verdict.PASS), charged_cents=2),
        replace(outcome("p::b", Verdict.FAIL), bought_cents=700),
        outcome("r::a", Verdict.PASS),
    ]
    totals = results(*spent).totals

    assert (totals.spent.charged_cents, totals.spent.bought_cents) == (5, 1200)
    assert {pack: (one.charged_cents, one.bought_cents) for pack, one in totals.spent_by_pack.items()} == {
        "p": (3, 1200),
        "q": (2, 0),
    }
