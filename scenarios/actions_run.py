"""Runs of actions: what is run, what goes in, what comes out, and what is logged.

Specification: "What the service does" 2 and run action of "Endpoints / Wallets and actions". Which runs are permitted
is the matter of other packs. How a node answers code that fails is silent (EXEC-320). No case takes any global of the
sandbox for granted but `console.log` and what JavaScript itself has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from conformance.cases import Judge, case
from conformance.service.acceptance import must_accept
from conformance.service.action_sources import namespace
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.lists import IN_GROUP, unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import ILL_FORMED, Refusals, must_refuse
from conformance.service.runs import Run
from conformance.service.sizes import NUMBERS
from conformance.values.ids import ApiKey, GroupId, UsageKey
from conformance.values.json_text import written
from conformance.values.json_values import MISSING, member, printed

NEEDS = ("managed_accounts",)
FORMS = "wire.group.cid_wildcard_form"
LISTS = ("list_groups", "list_wallets", "list_api_keys", "list_actions")

RETURNED: Mapping[str, object] = {
    "'a text'": "a text",
    "''": "",
    r"""'{\"a\":1}'""": '{"a":1}',
    "'0012'": "0012",
    r"""'a\"b\\c\n\t/'""": 'a"b\\c\n\t/',
    r"'zw\u00f6lf \u4e8c \ud83d\ude00 \u2028'": "zw\u00f6lf \u4e8c \U0001f600 \u2028",
    "0": 0,
    "-42": -42,
    "0.1": 0.1,
    "2 ** 53 - 1": 2**53 - 1,
    "1 < 2": True,
    "1 > 2": False,
    "null": None,
    "[]": [],
    "[3, 1, 2, [null, false, 'x']]": [3, 1, 2, [None, False, "x"]],
    "({})": {},
    "({a: {b: [{c: 'd'}]}, e: null, f: 0})": {"a": {"b": [{"c": "d"}]}, "e": None, "f": 0},
}
"""Expressions of JavaScript, and what they are as JSON."""
RETURNED_AT_LENGTH: Mapping[str, object] = {
    "'0123456789'.repeat(7000)": "0123456789" * 7000,
    "Array.from({length: 1500}, () => 7)": [7] * 1500,
}
TEXTS_LIKE_JSON = ('{"a":[1]}', "12", "null")
SENT: Mapping[str, object] = {
    "text": "a text",
    "empty text": "",
    "blanks": "  a  b\t\r\n ",
    "text that is JSON": '{"a": [1, null]}',
    "text like code": "`'\"\\ $ ${a} </script> */ // {{}} %s \\u0041",
    "text with dollars": "$$ $& $1 $` $' a$$b $$$$",
    "names with dollars": {"$$": 1, "a$$b": 2, "$&": 3},
    "controls": "\x00\x01\x1f\x7f",
    "unicode": "zw\u00f6lf \u4e8c \u05d0 e\u0301 \U0001f469\u200d\U0001f680 \ufeff\u2028\u2029\uffff",
    "text like a date": "2026-01-31",
    "text like a time": "2026-01-31T12:00:00+02:00",
    "text with escapes of the web": "a%20b+c &amp; &lt;d&gt; <e> & \\u0041",
    "text like a number": "1e3",
    "text like a word": "null",
    "big number as text": "340282366920938463463374607431768211455",
    "zero": 0,
    "negative": -1,
    "largest safe integer": 2**53 - 1,
    "smallest safe integer": -(2**53) + 1,
    "fraction": 0.1,
    "large fraction": 123456789.12345679,
    "tiny": 5.0e-324,
    "huge": 1.7976931348623157e308,
    "true": True,
    "false": False,
    "null": None,
    "empty array": [],
    "array": [3, 1, 2, 1, None, False, "", [], {}],
    "empty object": {},
    "nested": {"a": {"b": {"c": {"d": {"e": [[[[1]]]]}}}}, "z": {"y": None}},
    "names": {"": 1, " ": 2, "a.b": 3, "constructor": 4, "toString": 5, "length": 6, "0": 7, "\u4e8c": 8},
    "name of the prototype": {"__proto__": {"a": 1}, "b": 2},
    "names in any style": {"snake_case": 1, "camelCase": 2, "kebab-case": 3, "PascalCase": 4, "_id": 5, "$set": 6},
    "name with an index": {"a[0]": 7},
    "names of digits": {"0": "a", "1": "b"},
}
SENT_AT_LENGTH: tuple[object, ...] = (
    "0123456789 zw\u00f6lf \u4e8c \U0001f600 " * 2000,
    "0123456789" * 7000,
    list(range(300)),
    json.loads("[" * 24 + '{"a": 1}' + "]" * 24),
)
OF_NO_WEIGHT: Mapping[str, object] = {
    "null": None,
    "false": False,
    "zero": 0,
    "empty text": "",
    "empty array": [],
    "empty object": {},
    "null in an array": [None],
    "null in an object": {"a": None},
}
NAMES_OF_REQUESTS: Mapping[str, object] = {
    "code": 1,
    "jsParams": {"a": 2},
    "params": 3,
    "response": 4,
    "logs": [],
    "key": 5,
    "apiKey": 6,
    "ipfsId": 7,
}

RESULTS: Mapping[str, object] = {
    "0": 0,
    "1 > 2": False,
    "''": "",
    "[]": [],
    "[3, 'x']": [3, "x"],
    "[{a: 1}]": [{"a": 1}],
    "({})": {},
    "({error: 'none', message: 'm', code: 500})": {"error": "none", "message": "m", "code": 500},
    "({response: 1})": {"response": 1},
    "({data: {a: 1}})": {"data": {"a": 1}},
    "({result: 1, logs: 'l', has_error: 1 < 2})": {"result": 1, "logs": "l", "has_error": True},
    "({success: 1 > 2})": {"success": False},
}
"""Expressions that a node could take a part of, or for its own answer."""
AWAITED = (
    "return Promise.resolve({value: 41 + 1});",
    "const n = await Promise.resolve(41); return {value: n + 1};",
    "return Promise.resolve(41).then(n => Promise.resolve(n)).then(n => ({value: n + 1}));",
    "let n = 41 - 100; for (let i = 0; i < 101; i++) n = await Promise.resolve(n + 1); return {value: n};",
    "const all = await Promise.all([41, Promise.resolve(1)]); return {value: all[0] + all[1]};",
    "try { await Promise.reject(new Error('x')); } catch { return {value: 41 + 1}; }",
)
"""Bodies of `main` that return 42 after some steps."""
CODES: Mapping[str, str] = {
    "helpers before main": """const base = 40;
        function add(n) { return base + n; }
        async function main(params) { return {value: add(Number(params.n))}; }""",
    "helpers after main": """async function main(params) { return {value: add(Number(params.n))}; }
        function add(n) { return 40 + n; }""",
    "a class": """class Sum { constructor(n) { this.n = n; } get value() { return this.n + 40; } }
        async function main(params) { return {value: new Sum(Number(params.n)).value}; }""",
    "line ends of Windows": "async function main(params) {\r\n  return {value: Number(params.n) + 40}; // two\r\n}\r\n",
    "a template": "async function main(params) { return {value: Number(`4${params.n}`)}; }",
    "a regular expression": r"async function main(params) { return {value: /^\d$/.test(params.n) ? 42 : 0}; }",
    "names in other scripts": """/* \u4e8c \U0001f600 */ async function main(params) {
        const \u00f6 = {'\u4e8c': 40}; return {value: \u00f6['\u4e8c'] + Number(params.n)}; }""",
    "many brackets": f"const main = async params => ({{value: [{'[],' * 300}].length - 260 + Number(params.n)}});",
    "destructured parameters": "async function main({ n }) { return {value: Number(n) + 40}; }",
    "text like a template": """async function main(params) {
        return {value: '{{n}} %n% :n <n> $n'.length === 19 ? Number(params.n) + 40 : 0}; }""",
    "an arrow function": "const main = async (params) => ({value: Number(params.n) + 40});",
    "a function expression": "let main = async function (params) { return {value: Number(params.n) + 40}; };",
    "a variable": "var main = async params => { await null; return {value: Number(params.n) + 40}; }",
    "a comment at the end": "async function main(params) { return {value: Number(params.n) + 40}; } // the end",
    "a count of its calls": """let calls = 0;
        const before = calls;
        async function main(params) { calls++; await null; return {value: Number(params.n) + 39 + calls - before}; }""",
}
"""Code that returns 42 for n = "2", by what is special about it."""
LOOKS_AT_PARAMETERS = """async function main(params) {
  const kind = value => value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return {
    kinds: params.values.map(kind),
    sums: params.pairs.map(([one, other]) => one + other),
    exact: params.numbers.map(String),
    lengths: params.texts.map(text => text.length),
    codes: Array.from(params.texts[1], character => character.codePointAt(0)),
    own: Object.keys(params).sort(),
  };
}
"""
LOOKED_AT: Mapping[str, object] = {
    "values": ["a", 1, 1.5, True, None, [], {}],
    "pairs": [[1, 2], ["1", "2"], [-5, 5.25]],
    "numbers": [2**53 - 1, -(2**53) + 1, 0.1, 1.0e21, 2**32, 100],
    "texts": ["", "\u4e8c\U0001f600", "e\u0301"],
}
FOUND: Mapping[str, object] = {
    "kinds": ["string", "number", "number", "boolean", "null", "array", "object"],
    "sums": [3, "12", 0.25],
    "exact": ["9007199254740991", "-9007199254740991", "0.1", "1e+21", "4294967296", "100"],
    "lengths": [0, 3, 2],
    "codes": [0x4E8C, 0x1F600],
    "own": ["numbers", "pairs", "texts", "values"],
}
FAILING = (
    "async function main() { throw new Error('told'); }",
    "throw new Error('told');\nasync function main() { return 1; }",
    "async function main() { await null; throw new Error('told'); }",
    "async function main() { return Promise.reject(new Error('told')); }",
    "async function main() { throw 'told'; }",
    "async function main() { throw undefined; }",
    "async function main() { return undefined.member; }",
    "async function main() { return nobodyKnowsThisName; }",
    "async function main() { return (; }",
    "This is no JavaScript.",
    "async function other() { return 1; }",
    "var main = 1;",
    "function again() { return again() + 1; }\nasync function main() { return again(); }",
)
THROWN = (
    "Object.create(null)",
    "({toString() { throw this; }})",
    "new Proxy({}, {get() { throw new Error('x'); }})",
    "Symbol('x')",
    "() => 1",
    "undefined",
    "Object.defineProperty(new Error('x'), 'message', {get() { throw new Error('y'); }})",
)
"""What can be thrown and is hard to show."""
OF_EITHER_END = (
    "function main() { return 1; }",
    "async function main() { const a = {}; a.a = a; return a; }",
    "async function main() { return 10n; }",
    "async function main() { return Symbol('x'); }",
    "async function main() { return () => 1; }",
    "async function main() { return NaN; }",
    "async function main() { return {toJSON() { throw new Error('x'); }}; }",
    "async function main() { return {get a() { throw new Error('x'); }}; }",
    "async function main() { return '\\ud800'; }",
    " ",
)
"""Code that a node may take for an error or not."""


ONE = "async function main() { return 1; }"


@dataclass(frozen=True)
class Runner:
    """A usage key that runs whatever code it likes: its group lists a wallet and permits all actions."""

    node: Node
    owner: ApiKey
    p: Pkp
    g: GroupId
    key: UsageKey

    def run(self, code: str, params: Mapping[str, object] | None = None) -> Run:
        """Run code that must come to a result."""
        return self.node.runs.run(self.key, code, params=params)


def untried_runner(node: Node) -> Runner:
    """Make it in a fresh account."""
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    g = bound(node, alice, [p], [node.groups.all_actions])
    return Runner(node, alice, p, g, node.usage_keys.executing_in(alice, g))


def runner(node: Node) -> Runner:
    """Make it, and show that the node accepts its runs."""
    made = untried_runner(node)
    # Whether the group permits it is for others to judge, and so is how the run ends.
    must_accept(node.session.send(node.runs.request(made.key, ONE)))
    return made


# ------------------------------------------------------------------------------------------------------ response


@case(
    "answers-response-and-logs", requirements=["EP-380", "EXEC-140", "EXEC-150", "EXEC-370"], needs=NEEDS, uses=[FORMS]
)
def answers_response_and_logs(judge: Judge, node: Node) -> None:
    """A run with code and parameters answers `response` and `logs`, for either kind of key."""
    on = untried_runner(node)
    judge_answer(judge, node, on.key)
    # Whether the account key runs anything is for others to say.
    node.runs.run(on.owner, ONE)
    judge_answer(judge, node, on.owner)


def judge_answer(judge: Judge, node: Node, key: str) -> None:
    """A run with this key answers what `main` returns of its parameters, and what it logs."""
    code = """
        async function main(params) {
          console.log("logged " + params.word);
          return "returned " + params.word;
        }
    """
    with judge("EP-380", "EXEC-140"):
        run = node.runs.run(key, code, params={"word": node.label})
        for name in ("response", "logs"):
            judge.that(member(run.answer.value, name) is not MISSING, f"an answer with `{name}`", run.answer.value)
    with judge.apart("EXEC-150", "EXEC-370"):
        judge.same(run.result, f"returned {node.label}", "`response`, which carries what `main` returns,")
    with judge.apart("EXEC-140"):
        logs = text_of(run.logs)
        judge.that(f"logged {node.label}" in logs, "`logs` that hold what the action wrote to the console", logs)


@case(
    "nothing-returned",
    requirements=["EXEC-370"],
    needs=NEEDS,
    uses=[FORMS, {"exec.response_form": ["value", "parsed_text"]}, {"exec.nothing_returned": "null_or_absent"}],
)
def nothing_returned(judge: Judge, node: Node) -> None:
    """A `main` that returns nothing ends without an error, and `response` makes nothing up."""
    on = untried_runner(node)
    for body in ("", "return undefined;", "return null;"):
        with judge.apart():
            answer = on.run(f"async function main() {{ console.log('here'); {body} }}").answer.value
            # JSON has no undefined: null, or no such member.
            nothing = isinstance(answer, dict) and answer.get("response") is None
            judge.that(
                nothing, f"an answer of which `response` is null or missing, after {body or 'no return'}", answer
            )


@case("response-carries-every-value", requirements=["EXEC-370"], needs=NEEDS, uses=[FORMS])
def response_carries_every_value(judge: Judge, node: Node) -> None:
    """`response` carries what `main` returns: texts, numbers, booleans, null, arrays and objects."""
    on = runner(node)
    with judge():
        # In an array the values keep their types, whatever form the profile says that `response` has.
        values = on.run(f"async function main() {{ return {{values: [{', '.join(RETURNED)}]}}; }}").result
    for place, (expression, value) in enumerate(RETURNED.items()):
        with judge.apart():
            judge.same(member(member(values, "values"), str(place)), value, f"what `main` returned of {expression}")
    for expression, value in RETURNED_AT_LENGTH.items():
        with judge.apart():
            result = on.run(f"async function main() {{ return {{value: {expression}}}; }}").result
            judge.same(result, {"value": value}, f"what `main` returned of {expression}")
    # A value that stands alone is carried, too; as a text, where the profile says so, it has no other form.
    with judge():
        judge.same(on.run("async function main() { return 42; }").result, 42, "the number that `main` returned")
        judge.same(on.run("async function main() { return 'plain'; }").result, "plain", "the text that `main` returned")
        for text in TEXTS_LIKE_JSON if node.session.stated("exec.response_form") == "value" else ():
            result = on.run(f"async function main() {{ return {json.dumps(text)}; }}").result
            judge.same(result, text, "the text that `main` returned, which looks like JSON,")


# ---------------------------------------------------------------------------------------------------- parameters


@case("parameters-come-unchanged", requirements=["EXEC-150", "EXEC-160"], needs=NEEDS, uses=[FORMS])
def parameters_come_unchanged(judge: Judge, node: Node) -> None:
    """`main` gets the values of `jsParams` unchanged."""
    on = runner(node)
    echo = node.actions.source("echo")
    for turn, value in enumerate((SENT, *SENT_AT_LENGTH), 1):
        with judge("EXEC-150"):
            got = member(on.run(echo, {"value": value, "turn": turn}).result, "params")
        with judge.apart("EXEC-150"):
            judge.same(printed(member(got, "turn")), str(turn), "the `turn` that `main` gets")
        with judge.apart("EXEC-160"):
            for name, part in SENT.items() if value is SENT else ():
                judge.same(member(member(got, "value"), name), part, f"the parameter that is a {name}")
            judge.same(got, {"value": value, "turn": turn}, "all parameters that `main` gets")
    # Outermost members are values like all others; their names are the caller's own, also those of the request itself.
    for outermost in (OF_NO_WEIGHT, NAMES_OF_REQUESTS):
        with judge.apart("EXEC-160"):
            judge.same(on.run(echo, outermost).result, {"params": outermost}, f"all of {', '.join(outermost)}")


@case("code-runs-as-it-was-sent", requirements=["EXEC-150", "EXEC-370"], needs=NEEDS, uses=[FORMS])
def code_runs_as_it_was_sent(judge: Judge, node: Node) -> None:
    """Code of any form runs as it was sent, the promise of `main` is awaited, and `response` is what it returns."""
    on = runner(node)
    for special, code in CODES.items():
        with judge.apart("EXEC-150"):
            judge.same(on.run(code, {"n": "2"}).result, {"value": 42}, f"what code with {special} returns")
    for body in AWAITED:
        with judge.apart("EXEC-150", "EXEC-370"):
            result = on.run(f"async function main() {{ {body} }}").result
            judge.same(result, {"value": 42}, "what `main` promised")
    for expression, value in RESULTS.items():
        with judge.apart("EXEC-370"):
            code = f"async function main() {{ console.log('no error'); return {expression}; }}"
            judge.same(on.run(code).result, value, "what `main` returned")


@case(
    "main-finds-its-parameters",
    requirements=["EXEC-150", "EXEC-160", "EXEC-170", "EP-380"],
    needs=NEEDS,
    uses=[FORMS],
)
def main_finds_its_parameters(judge: Judge, node: Node) -> None:
    """`main` finds the types, the order and the exact numbers that were sent, and nothing where nothing was sent."""
    on, hello = runner(node), node.actions.source("hello")
    # An echo would also come back from a node that passes the text through: here the code looks at the values.
    with judge("EXEC-150", "EP-380"):
        result = on.run(LOOKS_AT_PARAMETERS, LOOKED_AT).result
        judge.that(isinstance(result, dict), "what `main` makes of the parameters that were sent", result)
    with judge.apart("EXEC-160"):
        judge.same(result, dict(FOUND), "what `main` finds in the parameters that were sent")
    with judge.apart("EXEC-170"):
        without = node.runs.must_succeed(node.session.request("run_action", on.key, code=hello))
        judge.same(
            [without.result, on.run(hello).result], ["hello"] * 2, "the results without and with empty parameters"
        )
    # What is not given is nowhere, also where another run gave it before.
    with judge.apart("EXEC-170"):
        found = on.run("async function main(params) { return {found: Object.keys(params || {})}; }").result
        judge.same(found, {"found": []}, "the parameters of a run without any")


BEYOND_SAFE_INTEGERS = NUMBERS["jsParams"]
"""Integers that JavaScript's numbers hold exactly, though not each of their neighbours."""


@case("integers-past-2-to-the-53rd", requirements=["EXEC-160", "EXEC-370"], needs=NEEDS, uses=[FORMS])
def integers_past_2_to_the_53rd(judge: Judge, node: Node) -> None:
    """Large integers that are JavaScript's own reach `main` with their value, and come back with it."""
    on = runner(node)
    code = "async function main(params) { return {texts: params.numbers.map(n => typeof n + ' ' + n.toString(16))}; }"
    with judge.apart("EXEC-160"):
        texts = on.run(code, {"numbers": list(BEYOND_SAFE_INTEGERS)}).result
        expected = {"texts": [f"number {number:x}" for number in BEYOND_SAFE_INTEGERS]}
        judge.same(texts, expected, "type and hex digits of the numbers that `main` gets")
    code = f"async function main() {{ return {{numbers: [{', '.join(map(str, BEYOND_SAFE_INTEGERS))}]}}; }}"
    with judge.apart("EXEC-370"):
        numbers = member(on.run(code).result, "numbers")
        # JSON.stringify writes as many digits as tell a number from its neighbours, and zeros after them.
        for place, number in enumerate(BEYOND_SAFE_INTEGERS):
            got = member(numbers, str(place))
            is_it = isinstance(got, int | float) and float(got) == float(number)
            judge.that(is_it, f"the number {number} that `main` returned", got)


# ---------------------------------------------------------------------------------------------------------- logs


def text_of(logs: object) -> str:
    """Logs as text. Their form is silent: each item of an array stands on a line of its own."""
    return "\n".join(printed(item) for item in logs) if isinstance(logs, list) else printed(logs)


LINE_END = re.compile(r"\r?\n|\\n")
"""As it is or with the escapes of JSON. What a node writes before each line is silent."""


def holds(logs: str, part: str) -> bool:
    """Whether the text of logs holds a part, as it is or with the escapes of JSON."""
    return part in logs or json.dumps(part)[1:-1] in logs


@case("logs-in-order", requirements=["EXEC-180"], needs=NEEDS, uses=[FORMS])
def logs_in_order(judge: Judge, node: Node) -> None:
    """`logs` holds what the action wrote, all of it as it is and in order."""
    key = runner(node).key
    judge_order(judge, node, key)
    judge_lines(judge, node, key)


def judge_order(judge: Judge, node: Node, key: str) -> None:
    """Lines come in the order in which they were written, also those outside of `main`."""
    code = """
        console.log("line-000 outside of main");
        async function main(params) {
          for (let i = 1; i <= 120; i++) {
            console.log("line-" + String(i).padStart(3, "0") + " " + params.word);
            if (i % 10 === 0) await null;
          }
          await Promise.resolve().then(() => console.log("line-121 later"));
          console.log("line-122 zw\u00f6lf \u4e8c");
          return "not a log";
        }
    """
    with judge():
        run = node.runs.run(key, code, params={"word": node.label})
        logs = text_of(run.logs)
        judge.same(re.findall("line-[0-9]{3}", logs), [f"line-{n:03}" for n in range(123)], "the lines of the logs")
    for part in (f"line-001 {node.label}", "line-122 zw\u00f6lf \u4e8c"):
        with judge.apart():
            judge.that(holds(logs, part), f"logs that hold {part!r}", logs)
    with judge():
        judge.that("not a log" not in logs, "logs without what `main` returned", logs)


def judge_lines(judge: Judge, node: Node, key: str) -> None:
    """Equal lines come as often as they were written, long ones whole, and every argument."""
    code = r"""
        async function main(params) {
          for (let i = 0; i < 3; i++) console.log("again " + params.word);
          console.log("    indented\tonce " + params.word);
          console.log("%s %d 100% " + params.word);
          console.log("above " + params.word + "\n\nbelow");
          console.log("one", "two", "three", 4);
          console.log("rocket \u{1F680} " + params.word);
          console.log("x".repeat(5000) + " end of " + params.word);
          // What else the console offers is output as well.
          for (const name of ["info", "warn", "error"]) {
            if (typeof console[name] === "function") console[name](name + "-" + params.word);
            else console.log(name + "-" + params.word);
          }
        }
    """
    with judge():
        run = node.runs.run(key, code, params={"word": node.label})
        logs, word = text_of(run.logs), node.label
    with judge.apart():
        judge.same(logs.count(f"again {word}"), 3, "how often a line stands that was written three times")
    with judge.apart():
        judge.that(bool(re.search("one.{1,5}two.{1,5}three.{1,5}4", logs)), "logs that hold every argument", logs)
    with judge.apart():
        lines = LINE_END.split(logs)
        at = next((number for number, line in enumerate(lines) if f"above {word}" in line), len(lines))
        is_there = ["below" in line for line in lines[at + 2 : at + 3]]
        judge.that(any(is_there), f"logs with the line 'above {word}', then an empty one, then 'below'", logs)
    for part in (
        *(f"    indented\tonce {word}", f"%s %d 100% {word}", f"rocket \U0001f680 {word}"),
        *(f"{'x' * 5000} end of {word}", f"info-{word}", f"warn-{word}", f"error-{word}"),
    ):
        with judge.apart():
            judge.that(holds(logs, part), f"logs that hold {part!r}", logs)
    with judge():
        written = re.findall(f"(end of|info-|warn-|error-) ?{word}", logs)
        judge.same(written, ["end of", "info-", "warn-", "error-"], "the order of what the console got")


@case("logs-of-nothing", requirements=["EXEC-180"], needs=NEEDS, uses=[FORMS])
def logs_of_nothing(judge: Judge, node: Node) -> None:
    """The logs of a run that writes nothing hold nothing of the runs before it, nor of a timer that one left."""
    on, mark = runner(node), f"mark of {node.label}"
    # Whether there are timers, and what becomes of one that is left, is silent (EXEC-310).
    leaves = f"if (typeof setTimeout === 'function') setTimeout(() => console.log('{mark}'), 150);"
    waits = "if (typeof setTimeout === 'function') await new Promise(done => setTimeout(done, 400));"
    for end in ("return 1;", "throw new Error('x');"):
        code = f"async function main() {{ console.log('{mark}'); {leaves} {end} }}"
        node.runs.any_end(node.runs.request(on.key, code))
        with judge.apart():
            answer = node.runs.any_end(node.runs.request(on.key, f"async function main() {{ {waits} return 1; }}"))
            judge.that(mark not in answer.text, "logs that hold nothing of the run before", answer.text)


@case("failing-code", requirements=["EXEC-320"], needs=NEEDS, uses=[FORMS, "exec.failure_and_limits"])
def failing_code(judge: Judge, node: Node) -> None:
    """Code that fails, whatever it throws, ends as the profile says, and the next run is right."""
    on = runner(node)
    right = node.runs.request(on.key, "async function main() { return {n: 7}; }", params={"n": "7"})

    def is_right() -> None:
        judge.same(node.runs.must_succeed(right).result, {"n": 7}, "what the run after it returns")

    for code in FAILING:
        with judge.apart():
            node.runs.must_fail(node.runs.request(on.key, code))
            is_right()
    for thrown in THROWN:
        with judge.apart():
            node.runs.must_fail(node.runs.request(on.key, f"throw {thrown};\nasync function main() {{ return 1; }}"))
    for code in OF_EITHER_END:
        with judge.apart():
            node.runs.any_end(node.runs.request(on.key, code))
    with judge():
        is_right()


@case(
    "error-is-told-in-the-logs",
    requirements=["EXEC-320"],
    needs=NEEDS,
    uses=[FORMS, {"exec.failure_and_limits.message_in_logs": True}],
)
def error_is_told_in_the_logs(judge: Judge, node: Node) -> None:
    """The logs of code that throws hold what it wrote, and the message last."""
    code = "async function main(params) { console.log('written before'); throw new Error('told ' + params.word); }"
    request = node.runs.request(runner(node).key, code, params={"word": node.label})
    with judge():
        logs = text_of(member(node.runs.must_fail(request).value, "logs"))
        told = re.findall("written before|told suite [0-9a-f]+", logs)
        judge.same(told[:1], ["written before"], "how the logs begin: with what the code wrote before it threw,")
        judge.same(told[-1:], [f"told {node.label}"], "how the logs end: with the message of the error,")


# ----------------------------------------------------------------------------------------------------- isolation

LEAVES = """// A node may freeze what a run finds: then nothing can be left there.
var declared = "left";
for (const place of [
  globalThis, Object.prototype, Array.prototype, Function.prototype, Promise.prototype, JSON, Math, console,
  JSON.stringify,
]) {
  try { place.left = "left"; } catch {}
}
try { $CALLS.left = "left"; } catch {}
async function main(params) {
  try { globalThis.parameters = params; } catch {}
  return {word: params.word};
}
"""
LOOKS = """async function main() {
  const names = ["left", "declared", "parameters", "word"];
  const places = {
    globals: globalThis, objects: Object.prototype, arrays: Array.prototype, functions: Function.prototype,
    promises: Promise.prototype, json: JSON, math: Math, console: console, stringify: JSON.stringify,
  };
  try { places.calls = $CALLS; } catch {}
  const found = [];
  for (const [place, object] of Object.entries(places)) {
    for (const name of names) if (object[name] !== undefined) found.push(place + "." + name);
  }
  return {found, works: JSON.stringify([1, {a: 2}]) + Math.max(1, 2)};
}
"""
"""Looks for what `LEAVES` leaves behind."""


@case("runs-leave-nothing-behind", requirements=["EXEC-270"], needs=NEEDS, uses=[FORMS])
def runs_leave_nothing_behind(judge: Judge, node: Node) -> None:
    """A run does not see what an earlier run changed in globals, prototypes and the library."""
    bob, alice = untried_runner(node), untried_runner(node)
    calls = namespace(node.session.target.profile_value)
    leaves, looks = (code.replace("$CALLS", calls) for code in (LEAVES, LOOKS))
    for _ in range(3):
        left = alice.run(leaves, {"word": node.label}).result
        judge.set_up(left == {"word": node.label}, "a run that could leave something behind")
        for what, other in {"the same account": alice, "another account": bob}.items():
            found = other.run(looks).result
            with judge.apart():
                judge.same(found, {"found": [], "works": '[1,{"a":2}]2'}, f"what a run of {what} finds after it")


COUNTS = """let count = 0;
async function main() {
  count++;
  const before = globalThis.calls || 0;
  try { globalThis.calls = before + 1; } catch {}
  return {count, before};
}
"""
REPLACES = """try { Math.max = () => -1; } catch {}
try { Object.keys = () => ["left"]; } catch {}
try { Array.prototype.map = () => ["left"]; } catch {}
try { console.log = () => {}; } catch {}
async function main() { return 1; }
"""
LOOKS_AND_WRITES = """async function main() {
  console.log("written");
  const left = [globalThis.left, globalThis.calls].filter(value => value !== undefined);
  return {left, works: [Math.max(1, 2), Object.keys({a: 1})[0], [1].map(String)[0]]};
}
"""
"""Looks for what the code of `left_by` leaves behind, and for what `REPLACES` replaces."""


def left_by(label: str) -> str:
    """Code that changes globals and writes a mark to the logs, for other code to stand behind."""
    return f"""
        try {{ globalThis.left = "left"; }} catch {{}}
        try {{ globalThis.calls = (globalThis.calls || 0) + 1; }} catch {{}}
        console.log("mark of {label}");
    """


@case("no-run-leaves-anything-behind", requirements=["EXEC-270"], needs=NEEDS, uses=[FORMS])
def no_run_leaves_anything_behind(judge: Judge, node: Node) -> None:
    """A run does not see what an earlier run changed, even if that failed, was refused or had the same code."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    key = node.usage_keys.executing_in(alice, bound(node, alice, [p], [node.groups.all_actions]))
    leaves, sign = left_by(node.label), node.actions.source("sign_message")
    judge.set_up("written" in text_of(node.runs.run(key, LOOKS_AND_WRITES).logs), "logs that hold what a run wrote")
    permitted = node.runs.must_succeed(node.signing.request(key, leaves + sign, p))
    node.signing.must_be_refused(key, leaves + sign, q, control=permitted.accepted)
    must_see_nothing(judge, node, key, "was refused")
    for how, code in {
        "throws": f"{leaves}async function main() {{ throw new Error('x'); }}",
        "throws outside of `main`": f"{leaves}throw new Error('x');",
        "replaces functions": REPLACES,
    }.items():
        node.runs.any_end(node.runs.request(key, code))
        must_see_nothing(judge, node, key, how)
    for number in range(3):
        result = node.runs.run(key, COUNTS).result
        with judge.apart():
            judge.same(result, {"count": 1, "before": 0}, f"what run {number + 1} of the same code finds")


def must_see_nothing(judge: Judge, node: Node, key: str, how: str) -> None:
    """The next run sees no globals, replaced functions or logs of the run before it."""
    run = node.runs.run(key, LOOKS_AND_WRITES)
    logs = text_of(run.logs)
    with judge.apart():
        judge.same(run.result, {"left": [], "works": [2, "a", "1"]}, f"what a run finds after one that {how}")
        own = "written" in logs and f"mark of {node.label}" not in logs
        judge.that(own, f"the logs of the run itself, and nothing of the one before, which {how}", logs)


@case("host-is-out-of-reach", requirements=["EXEC-280"], needs=NEEDS, uses=[FORMS])
def host_is_out_of_reach(judge: Judge, node: Node) -> None:
    """An action finds no environment, files or processes of the host, also behind errors and when JSON was replaced."""
    on = untried_runner(node)
    found = on.run(node.actions.source("reach_host")).result
    with judge.apart():
        judge.same(found, {"found": []}, "what an action finds of the host")
    # A node may end or refuse a run whose calls are wrong: then the host is out of reach as well.
    code = node.actions.source("hostile/escape_errors")
    answer = node.runs.any_end(node.runs.request(on.key, code, pkp_id=on.p.id))
    with judge.apart():
        judge.that("reached the host" not in answer.text, "an action that cannot read the host", answer.text)


@case("runs-at-once-keep-to-themselves", requirements=["EXEC-180", "EXEC-270"], needs=NEEDS, uses=[FORMS])
def runs_at_once_keep_to_themselves(judge: Judge, node: Node) -> None:
    """Runs at the same time see their own parameters and write their own logs."""
    code = """
        async function main(params) {
          console.log('<' + params.n + '>');
          let n = 0;
          while (n < 300000) n++;
          let seen = globalThis.seen || [];
          seen = seen.concat(params.n);
          try { globalThis.seen = seen; } catch {}
          await null;
          console.log('[' + params.n + ']');
          return {n: params.n, seen: globalThis.seen || seen};
        }
    """
    key, names = runner(node).key, [f"run {number} of {node.label}" for number in range(8)]
    answers = send_at_once(node.session, [node.runs.request(key, code, params={"n": name}) for name in names])
    for name, run in zip(names, map(node.runs.succeeded, answers), strict=True):
        with judge.apart("EXEC-270"):
            judge.same(run.result, {"n": name, "seen": [name]}, "what one of eight runs sees")
        with judge.apart("EXEC-180"):
            lines = re.findall(r"[<\[]run [^>\]]*[>\]]", text_of(run.logs))
            result = member(run.result, "n")  # whether it is this run's own was judged above
            given = name if result is MISSING else result
            judge.same(lines, [f"<{given}>", f"[{given}]"], "the logs of one of eight runs")


@case("long-code-starts-anew", requirements=["EXEC-270"], needs=NEEDS, uses=[FORMS])
def long_code_starts_anew(judge: Judge, node: Node) -> None:
    """Code of some kilobytes, which a node may keep compiled, finds nothing of its own run before."""
    code = f"""// {"x" * 8192}
        let count = 0;
        async function main() {{
          count++;
          const before = globalThis.calls || 0;
          try {{ globalThis.calls = before + 1; }} catch {{}}
          return {{count, before}};
        }}
    """
    request = node.runs.request(runner(node).key, code)
    for number in range(3):
        result = node.runs.must_succeed(request).result
        with judge.apart():
            judge.same(result, {"count": 1, "before": 0}, f"what run {number + 1} of the same code finds")


@case(
    "runs-change-no-state",
    requirements=["EXEC-340", "ERR-150"],
    needs=NEEDS,
    uses=[FORMS, "exec.failure_and_limits"],
)
def runs_change_no_state(judge: Judge, node: Node) -> None:
    """Lists are the same after runs that succeed, that fail and that are refused."""
    on = untried_runner(node)
    alice, in_group = on.owner, {"group_id": on.g}
    node.actions.add(alice, node.actions.sample_cid("registered"))
    other = node.usage_keys.add(alice).key
    reads = [
        *(unchanged_list(node.session, name, alice) for name in LISTS),
        *(unchanged_list(node.session, name, alice, **in_group) for name in IN_GROUP),
    ]
    before = [read.get() for read in reads]
    sign = node.actions.source("sign_message")
    runs = node.runs.must_succeed(node.signing.request(on.key, sign, on.p))
    on.run("async function main() { globalThis.groups = []; return 1; }")
    node.runs.must_fail(node.runs.request(on.key, "async function main() { throw new Error('x'); }"))
    for read, earlier in zip(reads, before, strict=True):
        with judge.apart("EXEC-340"):
            judge.same(node.session.recent_reads.ask(read), earlier, f"{read.name} after the runs")
    refused = node.signing.request(other, sign, on.p)
    with judge("ERR-150"):
        must_refuse(node.session, refused, ["forbidden"], control=runs.accepted, unchanged=reads)


# ---------------------------------------------------------------------------------------------- requests of runs

UNREADABLE = (
    '{"code": "async function main() { return 1; }"',
    ONE,
    "",
    f'["{ONE}"]',
    f'"{ONE}"',
    "null",
    '{"jsParams": {}}',
    f'{{"source": "{ONE}"}}',
    '{"code": null}',
    '{"code": 1}',
    f'{{"code": ["{ONE}"]}}',
    f'{{"code": "{ONE}", "jsParams": [1]}}',
    f'{{"code": "{ONE}", "jsParams": "{{}}"}}',
    f'{{"code": "{ONE}", "jsParams": 1}}',
)
"""Bodies that are no JSON, or not of the stated shape."""


@case("malformed-run", requirements=["EP-030", "EP-420", "ERR-140"], needs=NEEDS, uses=[FORMS])
def malformed_run(judge: Judge, node: Node) -> None:
    """A run request that is no JSON or not of the stated shape is refused, and a valid one right after succeeds."""
    right = node.runs.request(untried_runner(node).key, ONE)
    runs = node.runs.must_succeed(right).accepted
    with judge.apart("EP-030", "ERR-140"), Refusals(node.session, control=runs, unchanged=[]) as refusals:
        for body in UNREADABLE:
            refusals.send(replace(right, body=body), ILL_FORMED)
    with judge.apart("EP-420", "ERR-140"):
        by_get = replace(node.session.request("run_action", right.credential, code=ONE), method="GET")
        must_refuse(node.session, by_get, ["any"], control=runs, unchanged=[])
    with judge("EP-030"):
        node.runs.must_succeed(right)


@case(
    "run-by-cid",
    requirements=["EXEC-360"],
    needs=NEEDS,
    uses=[FORMS, "exec.failure_and_limits", {"exec.run_by_cid": "refused"}],
)
def run_by_cid(judge: Judge, node: Node) -> None:
    """A CID in place of the code runs nothing, where the profile says that codes alone are run."""
    code = "async function main() { return 'by its CID'; }"
    right = node.runs.request(untried_runner(node).key, code)
    cid = node.actions.asked_cid(code)
    runs = node.runs.must_succeed(right).accepted
    # As code the CID is a name that nothing defines; in any other member it is no code.
    with judge.apart():
        node.runs.must_fail(right.changed(code=cid))
    with judge.apart(), Refusals(node.session, control=runs, unchanged=[]) as refusals:
        for name in ("action_ipfs_cid", "ipfsId"):
            refusals.send(replace(right, body=written({name: cid, "jsParams": {}})), ILL_FORMED)


@case("left-out-parameters-are-nobodys", requirements=["EXEC-270"], needs=NEEDS, uses=[FORMS])
def left_out_parameters_are_nobodys(judge: Judge, node: Node) -> None:
    """A run without `jsParams` sees nothing of those that an earlier run of the same code had."""
    code = "async function main(params) { return {seen: params === undefined ? 'nothing' : JSON.stringify(params)}; }"
    key = runner(node).key
    without = node.session.request("run_action", key, code=code)
    first = node.runs.must_succeed(without).result
    node.runs.run(key, code, params={"word": node.label})
    with judge():
        judge.same(node.runs.must_succeed(without).result, first, "what a run without parameters sees")
