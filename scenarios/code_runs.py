"""Code that differs from what a group lists is another action, and refused code is not run.

Specification: "Endpoints / Execution rule".
"""

from __future__ import annotations

import json
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import message
from conformance.service.bindings import one_group
from conformance.service.derivations import random_hash
from conformance.service.node import Node
from conformance.service.refusal import ILL_FORMED, Refusals

NEEDS = ("managed_accounts",)
UNREADABLE = ("forbidden", *ILL_FORMED)
"""The refusal classes of code that a node need not read."""
SLOW_RUN, QUICK_REFUSAL = 1.5, 1.0
"""Seconds. A refusal that comes so much sooner than the run's result has not waited for the code."""


@case("one-byte-off", requirements=["EXEC-220"], needs=NEEDS)
def one_byte_off(judge: Judge, node: Node) -> None:
    """Code that differs from the listed action in one byte is another action."""
    # Listed is the form that others fold into: without blanks at its ends, lines end with LF.
    code = node.actions.source("sign_message").strip()
    on = one_group(node, node.actions.of_code(code))
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    behind, before = (" ", "\n", "\r\n", "//X", "\u00a0", "\u200b"), (" ", "\t", ";")
    lines = code.replace("\n", "\r\n", 1)
    for other in (*(code + text for text in behind), *(text + code for text in before), lines):
        with judge.apart():
            node.signing.must_be_refused(on.key, other, on.p, control=runs)
    # A node may take neither a byte order mark nor a control character in a code at all.
    for other in (f"\ufeff{code}", f"{code}\0", f"{code}\0 // more", f"{code}\x1a"):
        with judge.apart():
            node.signing.must_be_refused(on.key, other, on.p, control=runs, classes=UNREADABLE)


ONE_LETTER_OFF = [
    ("Caf\u00e9", "caf\u00e9"),
    ("Caf\u00e9", "Caf\u00c9"),
    ("Caf\u00e9", "Cafe\u0301"),
    ("Caf\u00e9", "Cafe"),
    ("// Caf\u00e9 A\r\n", ""),
    (" A\r\n", " B\r\n"),
    (" A\r\n", " \uff21\r\n"),  # of full width
    (" A\r\n", " A\n"),
    (" A\r\n", " A\r\n\n"),
    ("in the middle", "In the middle"),
    ("1\tz", "1 z"),
    ("1\tz", "1\t\u200bz"),  # a blank of no width
    ("z;\n", "z\n"),
    ("z;\n", "z;"),
    ("z;\n", "z"),
    ("//;;", "//;y"),
    ("//;;", "//;"),
]


@case("one-letter-off", requirements=["EXEC-220"], needs=NEEDS)
def one_letter_off(judge: Judge, node: Node) -> None:
    """Code that differs in a letter, its case or composition, a blank, a line or a semicolon is another action."""
    half = "// a comment of 32 bytes and more\n" * 75
    plain = node.actions.source("sign_message", "x")
    code = f"{plain}// Caf\u00e9 A\r\n{half}// in the middle\n{half}// 1\tz;\n//;;"
    on = one_group(node, node.actions.of_code(code))
    runs = node.signing.must_sign(on.key, code, on.p).accepted
    for part, other in ONE_LETTER_OFF:
        with judge.apart():
            node.signing.must_be_refused(on.key, code.replace(part, other), on.p, control=runs)


STAND_INS = ("\ufffd", "?", "", "\ufffd\ufffd\ufffd")
"""What writers of UTF-8 put in the place of half of a surrogate pair."""
HALVES = ("\ud800", "\udbff", "\udc00", "\udfff")


@case("half-of-a-surrogate-pair", requirements=["EXEC-220", "ERR-140"], needs=NEEDS)
def half_of_a_surrogate_pair(judge: Judge, node: Node) -> None:
    """Code with half of a surrogate pair is not the listed code with what stands in for it where UTF-8 is written."""
    plain = node.actions.source("sign_message", "x")
    listed = [node.actions.of_code(f"{plain}// {stand_in}.\n") for stand_in in STAND_INS]
    on = one_group(node, listed[0])
    for action in listed[1:]:
        node.groups.add_action(on.alice, on.g, action.cid)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    for half in HALVES:
        request = node.signing.request(on.key, f"{plain}// {half}.\n", on.p)
        # UTF-8 has no bytes for it: it goes as the escape of JSON.
        body = (message(request).body or "").replace(half, f"\\u{ord(half):x}")
        with judge.apart(), Refusals(node.session, control=runs, unchanged=[]) as refusals:
            refusals.send(replace(request, body=body), UNREADABLE)


@case("two-codes-in-one-request", requirements=["EXEC-040"], needs=NEEDS)
def two_codes_in_one_request(judge: Judge, node: Node) -> None:
    """A request with two codes never runs the one that no group lists."""
    # The word that a run answers stands in neither code.
    listed, unlisted = (f"async function main() {{ return '{part}' + 'ed'; }}" for part in ("list", "unlist"))
    on = one_group(node, node.actions.of_code(listed))
    judge.set_up(node.runs.run(on.key, listed).result == "listed", "the result of the listed code")
    request = node.runs.request(on.key, listed)
    x, y = json.dumps(listed), json.dumps(unlisted)
    for name, code, other, other_code in (
        ("code", x, "code", y),
        ("code", y, "code", x),
        ("code", x, "Code", y),
        ("code", x, "c\\u006fde", y),
    ):
        with judge.apart():
            body = f'{{"{name}": {code}, "{other}": {other_code}}}'
            answer = node.runs.any_end(replace(request, body=body)).text
            judge.that("unlisted" not in answer, "code that no group lists to be refused", answer)


# Code that was run before its refusal shows in what the refusal holds, or in the time that it takes. A slow moment of
# the network must not look like that: one quick refusal of three is enough. The code takes two seconds where the
# sandbox has a clock that goes; where it takes less, time tells nothing.
SLOW_CODE = """async function main(params) {
  console.log(params.mark);
  const begun = Date.now();
  const goesOn = () => Date.now() > begun && Date.now() < begun + 2000;
  for (let i = 0; i < 1e6 || goesOn(); i++);
  return params.mark;
}
"""


@case("refused-code-does-not-run", requirements=["EXEC-210"], needs=NEEDS)
def refused_code_does_not_run(judge: Judge, node: Node) -> None:
    """Code that the key may not run, or that no group lists, is refused without being run."""
    mark = random_hash(node.session.random)
    on = one_group(node, node.actions.of_code(SLOW_CODE))
    in_none = node.usage_keys.executing_in(on.alice)
    run = node.runs.run(on.key, SLOW_CODE, pkp_id=on.p.id, params={"mark": mark})
    judge.set_up(run.result == mark and mark in str(run.logs), "the mark in the result and the logs of the run")
    for key, code in ((in_none, SLOW_CODE), (on.key, f"{SLOW_CODE} ")):
        request = node.runs.request(key, code, pkp_id=on.p.id, params={"mark": mark})
        with judge(), Refusals(node.session, control=run.accepted, unchanged=[]) as refusals:
            answers = [refusals.send(request, ["forbidden"]) for _ in range(3)]
            for answer in answers:
                judge.that(mark not in answer.text, "a refusal that holds nothing of what the code wrote", answer.text)
            quick = min(answer.seconds for answer in answers) <= QUICK_REFUSAL
            expected = f"a refusal before the {run.answer.seconds:.1f} s that the code takes"
            judge.that(run.answer.seconds <= SLOW_RUN or quick, expected, [answer.seconds for answer in answers])
