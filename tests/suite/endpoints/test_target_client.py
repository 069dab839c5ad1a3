"""Requests are paced and counted; JSON is read strictly; the chain is read by human signatures."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext

import pytest
from eth_abi import encode

from conformance.endpoints.chain import decoded, encoded
from conformance.endpoints.pace import Budget, Pace, lowest_rate
from conformance.problems import BudgetSpent, Malformed, Mismatch
from conformance.profile import Function
from conformance.values.json_text import parse


def test_requests_are_evenly_spaced_over_all_threads() -> None:
    pace = Pace(50)
    began = time.monotonic()
    threads = [threading.Thread(target=lambda: time.sleep(pace.take())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert time.monotonic() - began >= 5 / 50 - 0.001


@pytest.mark.parametrize(
    ("option", "stated", "rate"),
    [
        (None, "unlimited", None),
        (None, None, None),
        (5.0, "unlimited", 5.0),
        (None, 3.0, 3.0),
        (5.0, 3.0, 3.0),
        (2.0, 3.0, 2.0),
    ],
)
def test_lower_of_the_users_and_the_profiles_rate_is_kept(
    option: float | None, stated: float | str | None, rate: float | None
) -> None:
    assert lowest_rate(option, stated) == rate


def test_budget_is_never_exceeded_and_refused_calls_cost_nothing() -> None:
    budget = Budget(3)
    budget.take(2)
    with pytest.raises(BudgetSpent):
        budget.take(2)
    budget.give_back(2)
    budget.take(3)

    assert budget.spent == 3


@pytest.mark.parametrize("text", ["", "{", '{"a":1,"a":1}', '[{"a":1,"b":2,"a":3}]', "NaN", "-Infinity", "[1,]", "'a'"])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * 200 + "]" * 200, False),
        ("[" * 201 + "]" * 201, True),
        ("[" + ",".join(['"]["'] * 201) + "]", False),
        ('["\\"' + "[" * 201 + '"]', False),
        ('["\\n' + "[" * 201 + '"]', False),
        ("[" * 201 + '"' + '\\"' * 1_000_000, True),
    ],
    ids=["deepest", "too-deep", "brackets-in-strings", "behind-a-quote", "behind-a-line-feed", "string-without-an-end"],
)
def test_depth_counts_brackets_outside_of_strings(text: str, deep: bool) -> None:
    with pytest.raises(ValueError, match="nested too deeply") if deep else nullcontext():
        parse(text)


@pytest.mark.parametrize(
    ("signature", "arguments", "abi", "values"),
    [
        ("f(uint256 a)", ["42"], ["uint256"], [42]),
        ("f(uint256 a)", ["0x2a"], ["uint256"], [42]),
        ("f(bytes32 a)", ["0x" + "ab" * 32], ["bytes32"], [b"\xab" * 32]),
        ("f(bytes32[] a, string b)", [["0x" + "00" * 32], "0x00"], ["bytes32[]", "string"], [[bytes(32)], "0x00"]),
        ("f(address a, bool b)", ["0x" + "11" * 20, True], ["address", "bool"], ["0x" + "11" * 20, True]),
    ],
)
def test_arguments_are_encoded(signature: str, arguments: list[object], abi: list[str], values: list[object]) -> None:
    assert encoded(Function.parse(signature).inputs, arguments) == encode(abi, values)


@pytest.mark.parametrize(
    ("signature", "arguments"),
    [
        ("f(uint256 a)", []),
        ("f(uint256 a)", ["x"]),
        ("f(uint64 a)", [2**64]),
        ("f(address a)", [5]),
        ("f(bytes32 a)", ["0xz"]),
    ],
)
def test_arguments_of_other_types_depart(signature: str, arguments: list[object]) -> None:
    with pytest.raises(Mismatch):
        encoded(Function.parse(signature).inputs, arguments)


@pytest.mark.parametrize("result", ["0x", "0x12", None, "zz"])
def test_result_of_another_form_is_malformed(result: object) -> None:
    with pytest.raises(Malformed):
        decoded(Function.parse("f() returns (uint256)").outputs, result)
