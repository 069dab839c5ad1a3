"""What scripts are given, what becomes of their answers, and what they are told when they fail."""

from __future__ import annotations

import pytest
from running import evaluated, failed, raising, returned, run

from reference_node.sandbox import HostError, Sandbox
from reference_node.sandbox.limits import MIB


@pytest.mark.parametrize(
    "code",
    [
        "function main() { return 7 }",
        "let main = () => Promise.resolve(7);",
        "var main = () => new Promise((resolve) => setTimeout(() => resolve(7), 3));",
        "globalThis.main = function () { return { then(resolve) { resolve(7) } } };",
        "'use strict'; const seven = 7; async function main() { return seven }",
        "#!/usr/bin/env node\nasync function main() { return 7 }",
        "async function main() { return 7 }\n'\\ud800'",
        "async function main() { return 7 }\n7n",
        "\ufeff// a byte order mark\nasync function main() { return 7 } // and no line end",
    ],
)
def test_main_may_be_any_function_of_the_top_level(sandbox: Sandbox, code: str) -> None:
    assert returned(run(sandbox, code)) == 7


@pytest.mark.parametrize(
    ("expression", "response"),
    [
        ("undefined", "null"),
        ("() => 1", "null"),
        ("Symbol('s')", "null"),
        ("NaN", "null"),
        ("-0", "0"),
        ("1e21", "1e+21"),
        ("new Date(0)", '"1970-01-01T00:00:00.000Z"'),
        ("[undefined, { u: undefined, n: null }]", '[null,{"n":null}]'),
        ("new Map([[1, 2]])", "{}"),
        ("new Uint8Array([1, 2])", '{"0":1,"1":2}'),
    ],
)
def test_response_is_the_json_of_what_main_returns(sandbox: Sandbox, expression: str, response: str) -> None:
    assert run(sandbox, f"async function main() {{ return {expression} }}").response == response


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("async function main() { throw new TypeError('no') }", "TypeError: no"),
        ("async function main() { throw new Error() }", "Error"),
        ("async function main() { throw 'text' }", "text"),
        ("async function main() { throw { code: 1n } }", '{"code":"1n"}'),
        ("async function main() { throw undefined }", "undefined"),
        ("async function main() { throw null }", "null"),
        ("async function main() { throw Symbol('s') }", "Symbol(s)"),
        ("async function main() { return missing }", "ReferenceError: missing is not defined"),
        ("async function main() { await Promise.reject(new RangeError('late')) }", "RangeError: late"),
        ("throw new Error('top')", "Error: top"),
        ("throw 42", "42"),
        ("throw Symbol('top')", "[an error that can't be shown]"),
        ("const x = ;", "SyntaxError: unexpected token in expression: ';'"),
        ("await 1; async function main() {}", "SyntaxError: expecting ';'"),
        ("export async function main() {}", "SyntaxError: unsupported keyword: export"),
        ("async function main() { return '\0' }", "SyntaxError: the code holds a NUL character"),
        ("", "the code defines no function main(params)"),
        ("const main = 7;", "the code defines no function main(params)"),
        ("async function Main() {}", "the code defines no function main(params)"),
        ("class main {}", "TypeError: class constructors must be invoked with 'new'"),
        (
            "async function main() { return 1n }",
            "the response can't be written as JSON: TypeError: BigInt are forbidden in JSON.stringify",
        ),
        (
            "async function main() { const a = []; a.push(a); return a }",
            "the response can't be written as JSON: TypeError: circular reference",
        ),
        (
            "async function main() { await new Promise(() => {}) }",
            "main never settles: nothing is left that it could wait for",
        ),
        (
            "async function main() { setTimeout(() => { throw new Error('timer') }); await new Promise(() => {}) }",
            "Error: timer",
        ),
        ("async function main() { queueMicrotask(() => { throw new Error('task') }); await 1 }", "Error: task"),
    ],
)
def test_failure_ends_the_logs_with_its_message(sandbox: Sandbox, code: str, message: str) -> None:
    assert failed(run(sandbox, code)) == message


@pytest.mark.parametrize(
    ("code", "logs"),
    [
        (
            "function deep() {\n  null.x;\n}\nasync function main() {\n  console.log('before');\n  deep();\n}",
            [
                "before",
                "TypeError: cannot read property 'x' of null",
                "    at deep (<input>:2:3)",
                "    at main (<input>:6:3)",
            ],
        ),
        (
            "async function main() {\n  new URL('nope');\n}",
            ["TypeError: Invalid URL: nope", "    at main (<input>:2:7)"],
        ),
        ("\nnew URL('nope');", ["TypeError: Invalid URL: nope", "    at <eval> (<input>:2:5)"]),
        (
            "async function main() {\n  setTimeout(() => {\n    null.x;\n  });\n  await new Promise(() => {});\n}",
            ["TypeError: cannot read property 'x' of null", "    at <anonymous> (<input>:3:5)"],
        ),
        (
            "async function main() {\n  await null;\n  await Service.Actions.signMessage({});\n}",
            ["Error: no such wallet", "    at main (<input>:3:25)"],
        ),
    ],
    ids=["script", "builtin", "top", "timer", "wallet"],
)
def test_stack_names_lines_of_the_script_alone(sandbox: Sandbox, code: str, logs: list[str]) -> None:
    assert run(sandbox, code, host=raising(HostError("no such wallet"))).logs.splitlines() == logs


def test_lines_of_the_longest_script_are_its_own(sandbox: Sandbox) -> None:
    lines = MIB - 100
    assert run(sandbox, "\n" * lines + "null.x").logs.endswith(f"<input>:{lines + 1}:1)")


def test_syntax_error_names_its_line(sandbox: Sandbox) -> None:
    assert "<input>:3:" in run(sandbox, "async function main() {\n  return 1;\n  } }").logs


def test_failure_names_no_path_of_the_machine(sandbox: Sandbox) -> None:
    code = "async function main() { const e = new Error('x'); console.log(e.stack, e.fileName, e); throw e }"
    logs = run(sandbox, code).logs
    assert "/" not in logs
    assert ".py" not in logs


def test_long_error_keeps_its_message(sandbox: Sandbox) -> None:
    result = run(sandbox, "async function main() { throw new Error('x'.repeat(9000)) }")
    assert result.has_error
    assert len(result.logs) == sandbox.limits.error_bytes
    assert result.logs.startswith("Error: xxx")


def test_console_lines_stand_in_order(sandbox: Sandbox) -> None:
    code = """
    console.debug('before');
    async function main() {
      console.log('one', 2, 3n, null, undefined, true);
      console.warn({ a: [1n], m: new Map([['k', 1]]), e: new TypeError('t') });
      await null;
      console.error();
      console.info(() => 1, function named() {}, Symbol('s'), 'two\\nlines');
      const cyclic = {}; cyclic.cyclic = cyclic;
      console.log(cyclic, new Set([1]));
    }"""
    assert run(sandbox, code).logs.split("\n") == [
        "before",
        "one 2 3n null undefined true",
        '{"a":["1n"],"m":[["k",1]],"e":"TypeError: t"}',
        "",
        "[function ] [function named] Symbol(s) two",
        "lines",
        "[a value that can't be shown] [1]",
    ]


def test_answer_does_not_wait_for_what_main_left_behind(sandbox: Sandbox) -> None:
    code = "async function main() { setTimeout(() => {}, 60000); new Promise(() => {}); return 'early' }"
    assert returned(run(sandbox, code)) == "early"


def test_clock_is_universal_time(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    expected = [0, "Thu Jan 01 1970 00:00:00 GMT+0000", 0]
    expression = "[new Date().getTimezoneOffset(), `${new Date(0)}`, new Date(0).getHours()]"
    assert evaluated(sandbox, expression) == expected


@pytest.mark.parametrize("expression", ["'\\ud800'", "['a', '\\udfff x']", "({['\\ud800']: 1})"])
def test_response_that_is_no_unicode_text_is_an_error(sandbox: Sandbox, expression: str) -> None:
    result = run(sandbox, f"async function main() {{ return {expression}; }}")
    assert failed(result) == "the response holds half of a surrogate pair, which is no Unicode text"
