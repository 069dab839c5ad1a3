"""Uses of wallets: what the host is asked, and that a refusal can't be undone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from running import evaluated, failed, raising, returned, run

from reference_node.sandbox import HostError, HostRefusal, Sandbox
from reference_node.strict_json import Json


def echo(name: str, argument: Mapping[str, Json]) -> Json:
    return {"name": name, "argument": dict(argument)}


def test_host_is_asked_with_name_and_argument_as_the_script_meant_it(sandbox: Sandbox) -> None:
    code = """async function main(params) {
      const { getPrivateKey, signMessage, signDigest } = Service.Actions;
      const odd = { a: undefined, b: [undefined], c: 1e21, d: { "": "" }, "é": null };
      const signed = await signMessage({ ...params, message: '\\u0000é' });
      return [await getPrivateKey(params), signed, await signDigest(odd)];
    }"""
    assert returned(run(sandbox, code, {"pkpId": "0x1"}, echo)) == [
        {"name": "getPrivateKey", "argument": {"pkpId": "0x1"}},
        {"name": "signMessage", "argument": {"pkpId": "0x1", "message": "\u0000é"}},
        {"name": "signDigest", "argument": {"b": [None], "c": 1e21, "d": {"": ""}, "é": None}},
    ]


@pytest.mark.parametrize(
    "argument", ["", "undefined", "null", "'0x1'", "7", "7n", "[]", "() => 1", "{ toJSON: () => 1 }"]
)
def test_argument_that_is_no_object_is_refused_before_the_host_is_asked(sandbox: Sandbox, argument: str) -> None:
    code = f"async function main() {{ await Service.Actions.signMessage({argument}) }}"
    assert failed(run(sandbox, code)) == "TypeError: signMessage takes an object"


def test_namespace_can_not_be_changed_and_its_calls_return_promises(sandbox: Sandbox) -> None:
    names = evaluated(sandbox, "Object.isFrozen(Service.Actions) && Object.keys(Service.Actions).sort()")
    assert names == ["getPrivateKey", "signDigest", "signMessage"]
    assert evaluated(sandbox, "Service.Actions.signMessage() instanceof Promise") is True


def test_error_of_the_host_is_the_scripts_to_catch(sandbox: Sandbox) -> None:
    code = "async function main() { try { await Service.Actions.signMessage({}) } catch (e) { return `${e}` } }"
    assert returned(run(sandbox, code, host=raising(HostError("no such wallet")))) == "Error: no such wallet"


@pytest.mark.parametrize(
    "code",
    [
        "async function main() { try { await Service.Actions.signMessage({}) } catch { return 'swallowed' } }",
        "async function main() { Service.Actions.signMessage({}).catch(() => {}); for (;;) {} }",
        "async function main() { Service.Actions.signMessage({}); return 'not awaited' }",
        "async function main() { await Promise.any([Service.Actions.signMessage({}), 1]); return 'raced' }",
        "Service.Actions.signMessage({}); async function main() { return 'before main' }",
    ],
)
def test_refusal_ends_the_run_whatever_the_script_does(sandbox: Sandbox, code: str) -> None:
    with pytest.raises(HostRefusal, match="not permitted"):
        run(sandbox, code, host=raising(HostRefusal("not permitted")))


def test_fault_of_the_host_is_the_callers(sandbox: Sandbox) -> None:
    code = "async function main() { await Service.Actions.signMessage({}) }"
    with pytest.raises(ZeroDivisionError):
        run(sandbox, code, host=raising(ZeroDivisionError()))


def test_calls_that_are_not_awaited_one_by_one_are_all_answered(sandbox: Sandbox) -> None:
    code = """async function main() {
      const calls = Array.from({ length: 900 }, (_, i) => Service.Actions.signMessage({ i, message: 'x'.repeat(900) }));
      return (await Promise.all(calls)).map((answer) => answer.argument.i);
    }"""
    assert returned(run(sandbox, code, host=echo)) == list(range(900))


def test_call_during_timers_is_answered(sandbox: Sandbox) -> None:
    code = """async function main() {
      setInterval(() => {}, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const first = Service.Actions.signMessage({ n: 1 });
      await new Promise((resolve) => setTimeout(resolve, 5));
      return (await first).argument.n;
    }"""
    assert returned(run(sandbox, code, host=echo)) == 1


def test_answer_of_any_json_reaches_the_script(sandbox: Sandbox) -> None:
    values: list[Json] = [None, True, 0, -1.5, "", "\u2028\x00é😀", [], {"a": [{}]}]
    answers = iter(values)
    ask = "all.push(await Service.Actions.signMessage({}))"
    code = f"async function main({{ n }}) {{ const all = []; while (n--) {ask}; return all }}"
    assert returned(run(sandbox, code, {"n": len(values)}, lambda _, __: next(answers))) == values
