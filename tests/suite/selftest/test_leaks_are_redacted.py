"""Private keys that a faulty node leaks are in nothing that the suite writes: outcomes, reports, JUnit."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from conformance.report.case_text import explain
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.mutants import custody_leaks
from conformance.selftest.tools.alter import change_answer, members, wrap
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.serving import target_node
from conformance.values.secret_text import candidates
from conformance.verdict import Outcome, Verdict
from reference_node.node import Node
from reference_node.permission.runs import Run

Alter = Callable[[Node], None]
CASES = {case.id: case for case in load([scenarios()], ["key_custody"])}


def outcome_on(alter: Alter, case: str, used: list[bytes]) -> Outcome:
    """What comes of a case on an altered node. The private keys that its runs use are added to `used`."""

    def watch(key_of: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        used.append(key := key_of(run, pkp))
        return key

    def altered(node: Node) -> None:
        wrap(node.runs, "wallet_key", watch)
        alter(node)

    with target_node(altered, "0") as target:
        return run_case(CASES[case], target)


def written(outcome: Outcome) -> str:
    return json.dumps(dataclasses.asdict(outcome)) + explain(outcome, "again")


LEAKS = [
    custody_leaks.logs_hold_the_private_key,
    custody_leaks.headers_hold_the_private_key,
    custody_leaks.refusals_hold_the_private_key,
    custody_leaks.sandbox_holds_the_last_private_key,
]


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: str(leak.__name__))
def test_private_key_that_a_mutant_leaks_is_written_nowhere(leak: Alter) -> None:
    used: list[bytes] = []
    outcome = outcome_on(leak, "key_custody::runs-reveal-no-key-material", used)

    assert outcome.verdict is Verdict.FAIL
    assert used
    assert not {*used} & {found.secret for found in candidates(written(outcome), {*used})}


FORMS: dict[str, Callable[[bytes], str]] = {
    "hex": bytes.hex,
    "hex in capitals": lambda key: f"0x{key.hex().upper()}",
    "base64": lambda key: base64.b64encode(key).decode(),
    "base64 without padding": lambda key: base64.b64encode(key).decode().rstrip("="),
    "base64url": lambda key: base64.urlsafe_b64encode(key).decode(),
    "decimal": lambda key: str(int.from_bytes(key)),
    "inside of other bytes": lambda key: base64.b64encode(b"key:" + key + b";").decode(),
    "hex with colons": lambda key: key.hex(":"),
    "base64 of hex": lambda key: base64.b64encode(key.hex().encode()).decode(),
    "base32": lambda key: base64.b32encode(key).decode(),
    "escaped twice": lambda key: "".join(f"\\u{ord(digit):04x}" for digit in key.hex()),
    "cut off": lambda key: " " * 270 + key.hex(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_private_key_in_a_wrong_result_is_written_in_no_form(form: Callable[[bytes], str]) -> None:
    used: list[bytes] = []

    def leaking(node: Node) -> None:
        def with_key(value: JsonValue) -> JsonValue:
            return {**members(value), "response": {"signature": form(used[-1])}} if used else value

        change_answer(node, RUN, with_key)

    outcome = outcome_on(leaking, "key_custody::messages-are-signed-with-the-wallets-key", used)

    assert outcome.verdict is Verdict.FAIL
    text = written(outcome)
    for key in used:
        assert form(key).strip()[:40] not in text
        assert key.hex()[:40] not in text
