"""The functions of `let`, against values computed elsewhere."""

from __future__ import annotations

import re

import pytest

from conformance.language.functions import FUNCTIONS
from conformance.language.scope import Scope
from conformance.problems import Mismatch


def call(name: str, *arguments: object, seed: str = "1/a//") -> object:
    return FUNCTIONS[name](Scope(seed, lambda _: None, {}), *arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("hashed_cid", ["abc"], "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        ("to_integer", ["42"], 42),
        ("to_text", [5], "5"),
    ],
)
def test_function_gives(name: str, arguments: list[object], value: object) -> None:
    assert call(name, *arguments) == value


@pytest.mark.parametrize(
    ("name", "form"), [("random_key", "[A-Za-z0-9+/]{43}="), ("sample_cid", "Qm[1-9A-HJ-NP-Za-km-z]{44}")]
)
def test_random_values_have_their_form_and_follow_the_seed(name: str, form: str) -> None:
    assert re.fullmatch(form, str(call(name)))
    assert call(name) == call(name)
    assert call(name) != call(name, seed="2/a//")
    assert call(name) != call(name, seed="1/b//")


def test_sample_cid_is_the_same_in_every_branch_of_a_case() -> None:
    assert call("sample_cid", "x", seed="1/a//") == call("sample_cid", "x", seed="1/a///branch 1")
    assert call("sample_cid", "x") != call("sample_cid", "y")


def test_value_of_another_form_departs() -> None:
    with pytest.raises(Mismatch):
        call("to_integer", "1.5")
