"""Each limit, below, at and over it."""

from __future__ import annotations

import json

import pytest
from running import failed, returned, run

from reference_node.sandbox import Limits, RunResult, Sandbox
from reference_node.sandbox.limits import KIB, MIB

LIMITS = Limits()


def response_of(sandbox: Sandbox, text: str, count: int) -> RunResult:
    return run(sandbox, f"async function main() {{ return '{text}'.repeat({count}) }}")


@pytest.mark.parametrize(("text", "size"), [("x", 1), ("é", 2), ("€", 3), ("😀", 4), ("\\u0001", 6)])
def test_response_may_be_as_long_as_the_limit(sandbox: Sandbox, text: str, size: int) -> None:
    room = MIB - len('""')
    fits = room // size
    below = response_of(sandbox, text, fits)
    assert not below.has_error
    assert below.response is not None
    assert len(below.response.encode()) == 2 + fits * size
    message = f"the response is too long: the limit is {MIB} bytes of JSON"
    assert failed(response_of(sandbox, text, fits + 1)) == message


def test_response_may_nest_as_deep_as_the_limit(sandbox: Sandbox) -> None:
    code = "async function main({ levels }) { let v = '[{'; for (let i = 0; i < levels; i++) v = [v]; return v }"
    at = run(sandbox, code, {"levels": LIMITS.response_depth})
    assert at.response is not None
    assert json.loads(at.response)
    over = run(sandbox, code, {"levels": LIMITS.response_depth + 1})
    assert failed(over) == f"the response nests too deep: the limit is {LIMITS.response_depth} levels"


MARK = f"[logs cut: the limit is {100 * KIB} bytes]"


@pytest.mark.parametrize("short", [0, 1, 500])
def test_logs_up_to_the_limit_are_whole(sandbox: Sandbox, short: int) -> None:
    size = 100 * KIB - short
    result = run(sandbox, f"async function main() {{ console.log('x'.repeat({size})) }}")
    assert result.logs == "x" * size
    assert not result.has_error


@pytest.mark.parametrize(("text", "size"), [("x", 1), ("€", 3), ("\\u0001", 1), ("😀", 4)])
def test_logs_over_the_limit_are_cut_with_a_mark(sandbox: Sandbox, text: str, size: int) -> None:
    count = 100 * KIB // size + 1
    result = run(sandbox, f"async function main() {{ console.log('{text}'.repeat({count})); return 'well' }}")
    kept, mark = result.logs.rsplit("\n", 1)
    assert mark == MARK
    assert len(kept.encode()) == 100 * KIB // size * size
    assert returned(result) == "well"


def test_many_lines_count_with_their_line_ends(sandbox: Sandbox) -> None:
    code = "async function main({ lines }) { for (let i = 0; i < lines; i++) console.log('123') }"
    at = run(sandbox, code, {"lines": 25 * KIB})  # the last line has no end
    assert len(at.logs) == 100 * KIB - 1
    over = run(sandbox, code, {"lines": 25 * KIB + 1})
    assert over.logs.endswith(f"123\n{MARK}") or over.logs.endswith(f"123\n\n{MARK}")
    assert not over.has_error


def test_error_stands_after_cut_logs(sandbox: Sandbox) -> None:
    result = run(
        sandbox, "async function main() { for (let i = 0; i < 300; i++) console.log('x'.repeat(999)); throw 'end' }"
    )
    assert result.logs.endswith(f"\n{MARK}\nend")


def allocate(sandbox: Sandbox, size: int) -> RunResult:
    return run(sandbox, f"async function main() {{ return new Uint8Array({size}).fill(1).length }}")


def test_memory_up_to_the_limit_can_be_used(sandbox: Sandbox) -> None:
    at = 64 * MIB - 64 * KIB  # the script itself takes some too
    assert returned(allocate(sandbox, at)) == at
    assert allocate(sandbox, 64 * MIB).has_error


@pytest.mark.parametrize(
    "code",
    [
        "async function main() { const a = []; for (;;) a.push(new Array(100)) }",
        "const a = []; for (;;) a.push(new Array(100))",
        "const a = []; function main() { for (;;) a.push({}) }",
        "async function main() { let text = 'ab'; for (;;) text = text.replace(/./g, '$&$&') }",
        "async function main() { const all = []; for (;;) { all.push(new Uint8Array(1 << 20)); await null } }",
        "let f = () => 0; async function main() { for (;;) { const g = f; f = () => g } }",
    ],
)
def test_memory_over_the_limit_is_named(sandbox: Sandbox, code: str) -> None:
    assert failed(run(sandbox, code)) == "out of memory: the limit is 64 MiB"


@pytest.mark.parametrize(
    "code",
    [
        "async function main() { const go = (v) => Promise.resolve([v]).then(go); return go(0) }",
        "async function main() { await new Promise(() => { const a = []; try { for (;;) a.push([1]) } catch {} }) }",
    ],
)
def test_main_that_never_settles_since_memory_ran_out_says_so(sandbox: Sandbox, code: str) -> None:
    said = failed(run(sandbox, code))
    assert said.startswith("main never settles: ")
    assert said.endswith(", and its memory had come near the limit of 64 MiB")


def test_main_that_never_settles_with_memory_left_does_not_blame_it(sandbox: Sandbox) -> None:
    code = "async function main() { new Uint8Array(30 << 20).fill(1); await new Promise(() => {}) }"
    assert failed(run(sandbox, code)) == "main never settles: nothing is left that it could wait for"


def test_memory_that_is_given_back_can_be_used_again(sandbox: Sandbox) -> None:
    code = "async function main() { for (let i = 0; i < 50; i++) new Uint8Array(20 << 20).fill(1); return 'well' }"
    assert returned(run(sandbox, code)) == "well"


def sleeping(milliseconds: int) -> str:
    return f"async function main() {{ await new Promise((r) => setTimeout(r, {milliseconds})); return 'awake' }}"


def test_time_below_the_limit_is_left_alone_and_over_it_ends_the_run() -> None:
    with Sandbox(Limits(wall_seconds=1.0)) as quick:
        assert returned(run(quick, sleeping(100))) == "awake"
        over = run(quick, sleeping(60_000))
        assert failed(over) == "the run took too long: the limit is 1 s"
        assert over.seconds >= 1.0


def test_argument_may_be_as_long_as_the_limit() -> None:
    seen: list[int] = []

    def host(_: str, argument: object) -> None:
        seen.append(len(json.dumps(argument, separators=(",", ":"))))

    code = "async function main({ size }) { await Service.Actions.signMessage({ m: 'x'.repeat(size) }); return 'well' }"
    frame = len('{"m":""}')
    with Sandbox(Limits(argument_bytes=2000)) as small:
        assert returned(run(small, code, {"size": 2000 - frame}, host=host)) == "well"
        over = run(small, code, {"size": 2001 - frame}, host=host)
    assert failed(over) == "TypeError: the argument of signMessage is too long: the limit is 2000 bytes of JSON"
    assert seen == [2000]
