"""`run_action` over HTTP (specification, "Wallets and actions"): what goes in, what comes out, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from actions import ECHO, RUN, failed, ran, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nodes import Running, refused

from reference_node.sandbox import RunResult

ANYTHING = {"cid_hashes_permitted": [0]}


@pytest.fixture
def runner(running: Running, account: str) -> str:
    """The key of an account that may run anything."""
    running.group(account, **ANYTHING)
    return account


def send(running: Running, key: str, body: bytes) -> Any:
    headers = {"Content-Type": "application/json", "X-Api-Key": key}
    return running.http.post(f"/core/v1/{RUN}", content=body, headers=headers)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"a": None, "b": True, "c": [], "d": {}, "e": [1, [2, {"f": "g"}]]},
        {"text": "äöü 日本語 \U0001f600 \x00 \u2028 \\ \" '"},
        {"numbers": [0, -1, 1.5, 1e300, 5e-324, 2**53 - 1]},
        {"__proto__": {"polluted": 1}, "constructor": 2, "": 3},
        {"nested": json.loads("[" * 60 + "]" * 60)},
    ],
)
def test_params_reach_main_unchanged(running: Running, runner: str, params: dict[str, Any]) -> None:
    outcome = running.done(RUN, runner, code=ECHO, jsParams=params)
    assert outcome == {"response": params, "logs": "", "has_error": False}


TEXT = st.text(alphabet=st.characters(codec="utf-8"))

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@settings(deadline=None, max_examples=30, suppress_health_check=[*HealthCheck])
@given(st.dictionaries(TEXT, JSON))
def test_any_params_come_back_from_main_as_they_went_in(running: Running, runner: str, params: dict[str, Any]) -> None:
    text = run(running, runner, ECHO, params=params).text
    assert json.loads(text, parse_int=float)["response"] == {"params": params}  # JavaScript writes 1e20 in digits


def test_numbers_reach_main_as_javascript_reads_them(running: Running, runner: str) -> None:
    body = json.dumps({"code": ECHO}).encode()[:-1] + b', "jsParams": {"n": [12345678901234567890123, 1E2, -0.0, 2.0]}}'
    assert json.loads(send(running, runner, body).text)["response"]["n"] == [1.2345678901234568e22, 100, 0, 2]


def test_params_may_be_left_out(running: Running, runner: str) -> None:
    assert running.done(RUN, runner, code=ECHO)["response"] == {}


def test_params_are_known_by_their_name_however_it_is_written(running: Running, runner: str) -> None:
    body = b' {"js\\u0050arams" : {"code": "}\\""} , "code" : ' + json.dumps(ECHO).encode() + b" } "
    assert send(running, runner, body).json()["response"] == {"code": '}"'}


def test_logs_come_in_order_and_the_error_after_them_with_its_line(running: Running, runner: str) -> None:
    code = "async function main() { console.log('one', 2); console.error({ three: 3 }); throw new Error('four'); }"
    logs = failed(running, runner, code)
    assert "one 2" in logs
    assert logs.index("one 2") < logs.index("three") < logs.index("four")
    assert logs.splitlines()[-2:] == ["Error: four", "    at main (<input>:1:87)"]


@pytest.mark.parametrize(
    "code", ["", "return 1", "async function main( {", "const main = 3;", "async function other() {}", "\x00", "💥"]
)
def test_code_that_can_not_run_is_an_error_of_the_script(running: Running, runner: str, code: str) -> None:
    assert failed(running, runner, code)


@pytest.mark.parametrize(
    ("value", "response"),
    [
        ("undefined", None),
        ("null", None),
        ("12345678901234567890123", 1.2345678901234568e22),
        ("[undefined, NaN, Infinity]", [None, None, None]),
        ("{ toJSON() { return 'own'; } }", "own"),
        ("'\\u0000\\u2028\\u{1F600}'", "\x00\u2028\U0001f600"),
    ],
)
def test_response_is_what_main_resolves_with_as_json(running: Running, runner: str, value: str, response: Any) -> None:
    assert ran(running, runner, f"async function main() {{ return {value}; }}") == response


def test_deeply_nested_response_arrives_as_the_script_made_it(running: Running, runner: str) -> None:
    code = "async function main() { let a = []; for (let i = 0; i < 5000; i++) a = [a]; return a; }"
    answered = run(running, runner, code)
    assert answered.status_code == 200
    if '"has_error":false' in answered.text:
        assert answered.text.startswith('{"response":' + "[" * 5001 + "]" * 5001 + ",")


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
    "body",
    [
        {},
        {"jsParams": {}},
        {"code": None},
        {"code": 1},
        {"code": ["x"]},
        {"code": ECHO, "jsParams": None},
        {"code": ECHO, "jsParams": []},
        {"code": ECHO, "jsParams": "{}"},
        {"code": ECHO, "js_params": {}},
        {"code": ECHO, "jsParams": {}, "cid": "Qm"},
        {"ipfsId": "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"},
        [],
        "x",
        None,
    ],
)
def test_body_of_the_wrong_shape_is_refused(running: Running, runner: str, body: Any) -> None:
    problem = refused(send(running, runner, json.dumps(body).encode()), 422, "request-invalid")
    assert "dictionary" not in problem["detail"]


@pytest.mark.parametrize(
    ("params", "status", "code"),
    [
        (b'{"a": 1, "a": 1}', 400, "duplicate-member"),
        (b'{"a": {"b": 1, "b": 2}}', 400, "duplicate-member"),
        (b'{"a": NaN}', 400, "body-not-json"),
        (b'{"a": 1e400}', 422, "number-out-of-range"),
        (b'{"a": ' + b"9" * 400 + b"}", 422, "number-out-of-range"),
        (b'{"a": "\\ud800"}', 422, "lone-surrogate"),
        (b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", 400, "body-too-deep"),
        (b"{} {}", 400, "body-not-json"),
    ],
)
def test_params_that_could_not_arrive_unchanged_are_refused(
    running: Running, runner: str, params: bytes, status: int, code: str
) -> None:
    body = b'{"code": ' + json.dumps(ECHO).encode() + b', "jsParams": ' + params + b"}"
    refused(send(running, runner, body), status, code)


def test_code_that_no_utf8_holds_is_refused(running: Running, runner: str) -> None:
    refused(send(running, runner, b'{"code": "\\ud800"}'), 422, "lone-surrogate")


def test_code_up_to_the_limit_of_bodies_runs(running: Running, runner: str) -> None:
    long = ECHO + "//" + "x" * (1024 * 1024 - len(ECHO) - 100)
    assert ran(running, runner, long, a=1) == {"a": 1}
    refused(run(running, runner, long + "x" * 200), 413, "body-too-large")


def test_runs_share_nothing(running: Running, runner: str) -> None:
    code = """
    async function main({ mark }) {
      const before = [globalThis.mark, Array.prototype.mark];
      globalThis.mark = Array.prototype.mark = mark;
      console.log(mark);
      return before;
    }"""
    for mark in ("one", "two"):
        outcome = running.done(RUN, runner, code=code, jsParams={"mark": mark})
        assert outcome["response"] == [None, None]
        assert outcome["logs"].split() == [mark]
