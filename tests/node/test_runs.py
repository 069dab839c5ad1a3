"""`run_action` over HTTP (specification, "Wallets and actions"): what goes in, what comes out, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from actions import ECHO, RUN, permitted, ran, run
from nodes import Running, refused, serving

from reference_node.sandbox import RunResult
from reference_node.settings import Settings


@pytest.fixture
def runner(running: Running, account: str) -> str:
    """The key of an account that may run anything."""
    running.group(account, cid_hashes_permitted=[0])
    return account


def test_params_are_known_by_their_name_however_it_is_written(running: Running, runner: str) -> None:
    body = b' {"js\\u0050arams" : {"code": "}\\""} , "code" : ' + json.dumps(ECHO).encode() + b" } "
    assert running.send(RUN, runner, body).json()["response"] == {"code": '}"'}


def test_half_surrogates_of_a_script_still_make_an_answer(running: Running, runner: str) -> None:
    code = "async function main() { console.log('\\ud800'); return '\\ud800'; }"
    answered = run(running, runner, code)
    assert answered.status_code == 200
    answered.json()


def test_answer_holds_the_responses_very_text(running: Running, runner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = RunResult('{"n": 1e999, "n": 12345678901234567890}', "a\nb", False, 0.1)
    monkeypatch.setattr(running.node.sandbox, "run", lambda *_: result)
    text = run(running, runner, ECHO).text
    assert text == '{"response":{"n": 1e999, "n": 12345678901234567890},"logs":"a\\nb","has_error":false}'


@pytest.mark.parametrize(
    ("params", "status", "code"),
    [
        (b'{"a": {"b": 1, "b": 2}}', 400, "duplicate-member"),
        (b'{"a": 1e400}', 422, "number-out-of-range"),
        (b'{"a": ' + b"9" * 400 + b"}", 422, "number-out-of-range"),
        (b'{"a": "\\ud800"}', 422, "lone-surrogate"),
        (b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", 400, "body-too-deep"),
    ],
)
def test_params_that_could_not_arrive_unchanged_are_refused(
    running: Running, runner: str, params: bytes, status: int, code: str
) -> None:
    body = b'{"code": ' + json.dumps(ECHO).encode() + b', "jsParams": ' + params + b"}"
    refused(running.send(RUN, runner, body), status, code)


def test_code_up_to_the_limit_of_bodies_runs(running: Running, runner: str) -> None:
    long = ECHO + "//" + "x" * (1024 * 1024 - len(ECHO) - 100)
    assert ran(running, runner, long, a=1) == {"a": 1}
    refused(run(running, runner, long + "x" * 200), 413, "body-too-large")


def test_actions_find_what_was_preloaded_and_can_not_leave_anything_in_it(tmp_path: Path) -> None:
    (tmp_path / "first.js").write_text("globalThis.library = { twice: (n) => 2 * n };")
    (tmp_path / "second.js").write_text("library.thrice = (n) => library.twice(n) + n;")
    libraries = (tmp_path / "first.js", tmp_path / "second.js")
    code = "async function main() { const found = library.thrice(2); library.thrice = null; return found; }"
    with serving(Settings(port=0, starter_credits=100, preload=libraries)) as node:
        mine = permitted(node, code)
        assert [ran(node, mine.key, code) for _ in range(2)] == [6, 6]


def test_actions_go_by_the_title_of_the_brand() -> None:
    code = "async function main() { return [Object.keys(Acme.Actions), typeof Service]; }"
    with serving(Settings(port=0, starter_credits=100, slug="acme", title="Acme")) as node:
        mine = permitted(node, code)
        outcome = node.done("acme_action", mine.key, code=code)
        assert outcome["response"] == [["getPrivateKey", "signMessage", "signDigest"], "undefined"]
        assert node.post("service_action", mine.key, code=code).status_code == 404
