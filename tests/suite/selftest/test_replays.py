"""Scripts that repeat failing cases: what bash, curl and jq see is what the case saw, and no key stands in them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from conformance.endpoints import conversation as conversation_of_a_case
from conformance.endpoints.client import Target
from conformance.endpoints.conversation import VARIABLE
from conformance.report import Results, results_of
from conformance.report.record import RunRecord
from conformance.report.replay import FUNCTIONS, SHOW_ANSWER, script, write_replays
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import target_node
from conformance.values.secret_text import candidates
from conformance.verdict import Conversation, Outcome, Verdict
from reference_node.node import Node

MUTANTS = {mutant.name: mutant for mutant in all_mutants()}
CASES = {case.id: case for case in load([scenarios()], ["endpoints", "usage_keys", "mint_wallet", "authentication"])}
NOW = datetime(2026, 1, 2, tzinfo=UTC)

needs_programs = pytest.mark.skipif(
    not os.environ.get("CI") and any(shutil.which(program) is None for program in ("bash", "curl", "jq")),
    reason="needs bash, curl and jq",
)


KEPT = ("update-keeps-the-description", "endpoints::update-group")
LEAVES = ("a-wallet-leaves-all-groups-at-once", "usage_keys::wallets-in-named-groups")
"""A faulty node, and a case that fails on it."""


def results_with(target: Target, outcome: Outcome) -> Results:
    return results_of(RunRecord(target.base_url, False, target.profile, "p", "0", NOW, NOW, (outcome,), {}))


def results_on(mutant: str, case: str, *, before: str = "") -> tuple[Results, set[bytes]]:
    """The results of a case on a faulty node, and the secrets of the keys that it met; after another case, if asked."""
    with target_node(MUTANTS[mutant].alter, "0") as target:
        if before:
            run_case(CASES[before], target)
        outcome = run_case(CASES[case], target)
        assert outcome.verdict is Verdict.FAIL, outcome.reason
        return results_with(target, outcome), target.seen_keys.secrets


failing = cache(results_on)


def conversation_in(results: Results) -> Conversation:
    failure = results.cases[0].failure
    assert failure is not None
    assert failure.conversation is not None
    return failure.conversation


def bash(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the suite's own scripts
        [shutil.which("bash") or "bash", *arguments],
        check=False,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )


def replayed(results: Results, folder: Path, alter: Callable[[Node], None]) -> subprocess.CompletedProcess[str]:
    """What the script of the only case prints against a new node."""
    (path,) = write_replays(results, folder)
    with target_node(alter, "0") as target:
        return bash(str(path), NODE_URL=target.base_url)


@needs_programs
@pytest.mark.parametrize(
    ("mutant", "case", "answer"),
    [
        (*LEAVES, '"code": "not-in-group"'),
        (*KEPT, '"description":"made by a conformance case"}'),
    ],
)
def test_script_sees_the_answers_of_the_case(tmp_path: Path, mutant: str, case: str, answer: str) -> None:
    results, _ = failing(mutant, case)

    seen = replayed(results, tmp_path, MUTANTS[mutant].alter)

    assert seen.returncode == 0, seen.stdout + seen.stderr
    assert not seen.stderr
    assert answer in seen.stdout.partition("the answer now: ")[2]


@needs_programs
def test_script_reads_the_ids_that_the_case_computed(tmp_path: Path) -> None:
    mutant, case = LEAVES
    results, _ = results_on(mutant, case, before=case)

    seen = replayed(results, tmp_path, MUTANTS[mutant].alter)

    assert "which gives what the run computed: 200" in seen.stdout
    assert "add_pkp_to_group: 200, in the run it was" not in seen.stdout
    assert seen.returncode == 0, seen.stdout + seen.stderr


@needs_programs
def test_script_ends_with_1_on_a_node_without_the_fault(tmp_path: Path) -> None:
    results, _ = failing(*LEAVES)

    seen = replayed(results, tmp_path, lambda _: None)

    assert seen.returncode == 1
    assert "remove_pkp_from_group: 200, in the run it was 404" in seen.stdout


def test_script_and_results_hold_no_key() -> None:
    results, secrets = failing(*LEAVES)
    text = script(results.cases[0], results.target.base_url)

    assert secrets
    for written in (text, results.model_dump_json()):
        assert not secrets & {found.secret for found in candidates(written, secrets)}
    assert "API_KEY_1=$(given '.[\"api_key\"]')" in text


def test_script_says_which_answer_it_shows_and_does_not_judge() -> None:
    results, _ = failing(*KEPT)
    text = script(results.cases[0], results.target.base_url)
    departed = conversation_in(results).departed

    assert departed is not None
    head = text.partition("NODE_URL=")[0]
    assert f"not judged: the answer to request {departed + 1}, which showed the failure" in head


def test_script_says_what_it_cannot_repeat() -> None:
    results, _ = results_on("chain-id-is-of-another-chain", "mint_wallet::mints")
    text = script(results.cases[0], results.target.base_url)

    assert "POST /core/v1/create_wallet_with_signature: not repeated, it holds a signature" in text
    assert SHOW_ANSWER not in text.splitlines()
    assert "not judged" not in text


@needs_programs
def test_answer_is_shown_in_one_line_without_what_controls_a_terminal(tmp_path: Path) -> None:
    words = "words ü\n::error::mine\r\x1b]0;mine\x07 \x9b31m\u202egnp"
    (tmp_path / "answer").write_bytes(words.encode() + b"\xff" + b"x" * 50_000)
    shown = bash("-c", f"{FUNCTIONS}\nanswer={tmp_path / 'answer'}\n{SHOW_ANSWER}")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("    the answer now: words ü ::error::mine")
    assert shown.stdout.endswith("x\n")
    assert shown.stdout.removesuffix("\n").isprintable()
    assert len(shown.stdout) < 5_000


def test_passing_case_has_no_script() -> None:
    with target_node(lambda _: None, "0") as target:
        outcome = run_case(CASES["endpoints::list-groups"], target)
        results = results_with(target, outcome)

    assert script(results.cases[0], "http://n") == ""


def test_long_conversation_keeps_what_gave_its_keys_and_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_of_a_case, "MOST_EXCHANGES", 2)
    results, _ = results_on(*LEAVES)

    conversation = conversation_in(results)
    exchanges = conversation.exchanges
    held = {name for one in exchanges for name in VARIABLE.findall(" ".join((one.url, *one.request_headers.values())))}
    assert "new_account" in exchanges[0].url
    assert conversation.left_out > 0
    assert held <= {name for one in exchanges for name in one.given}
    assert exchanges[conversation.departed].operation == "remove_pkp_from_group"
