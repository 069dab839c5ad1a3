"""Faults about what of its parameters a run gets."""

from __future__ import annotations

import json
import math
import unicodedata

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_body,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.alter_execution import (
    RUN,
    change_input,
    change_params,
    everywhere,
)
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node

DIGITS = 15
"""How many significant digits are left of a rounded number."""


@mutant("EXEC-150", "EXEC-160")
def parameters_never_arrive(node: Node) -> None:
    """`main` always gets an empty object."""
    change_params(node, lambda _: {})


@mutant("EXEC-150", "EXEC-160")
def parameters_arrive_as_text(node: Node) -> None:
    """`main` gets the JSON text of the parameters."""
    change_input(node, lambda code, params: (code, json.dumps(params)))


@mutant("EXEC-160")
def large_numbers_are_rounded(node: Node) -> None:
    """Numbers in the parameters keep fifteen digits."""
    change_params(node, everywhere(_rounded))


def _rounded(value: JsonValue) -> JsonValue:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return float(f"{value:.{DIGITS}g}") if abs(value) > 1 and math.isfinite(value) else value


@mutant("EXEC-160")
def numbers_arrive_as_texts(node: Node) -> None:
    """Integers in the parameters reach `main` as decimal texts."""
    change_params(node, everywhere(lambda value: str(value) if type(value) is int else value))


@mutant("EXEC-160")
def arrays_arrive_without_their_doubles(node: Node) -> None:
    """An array in the parameters holds each text and each number once."""
    change_params(node, everywhere(_once))


def _once(value: JsonValue) -> JsonValue:
    if not isinstance(value, list):
        return value
    return [item for index, item in enumerate(value) if item not in value[:index]]


@mutant("EXEC-160")
def arrays_arrive_in_another_order(node: Node) -> None:
    """Arrays in the parameters are turned round."""
    change_params(node, everywhere(lambda value: value[::-1] if isinstance(value, list) else value))


@mutant("EXEC-160")
def texts_arrive_trimmed(node: Node) -> None:
    """Blanks around a text in the parameters are lost."""
    change_params(node, everywhere(lambda value: value.strip() if isinstance(value, str) else value))


@mutant("EXEC-160")
def texts_arrive_normalised(node: Node) -> None:
    """Texts in the parameters are brought to one form of Unicode."""
    change_params(
        node, everywhere(lambda value: unicodedata.normalize("NFC", value) if isinstance(value, str) else value)
    )


@mutant("EXEC-160")
def texts_arrive_in_the_basic_plane(node: Node) -> None:
    """Characters beyond 16 bits become question marks."""
    change_params(node, everywhere(lambda value: _basic(value) if isinstance(value, str) else value))


def _basic(text: str) -> str:
    return "".join(character if ord(character) < 0x10000 else "?" for character in text)


@mutant("EXEC-160")
def texts_end_at_a_zero(node: Node) -> None:
    """A text in the parameters ends where it holds the character zero."""
    change_params(node, everywhere(lambda value: value.partition("\0")[0] if isinstance(value, str) else value))


@mutant("EXEC-160")
def empty_values_do_not_arrive(node: Node) -> None:
    """Members of the parameters that are empty texts, arrays or objects are missing."""

    def kept(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {name: inner for name, inner in value.items() if inner not in ("", [], {})}
        return value

    change_params(node, everywhere(kept))


@mutant("EXEC-160")
def the_prototype_is_no_name_for_parameters(node: Node) -> None:
    """A member of the name `__proto__` does not arrive."""

    def kept(value: JsonValue) -> JsonValue:
        return (
            {name: inner for name, inner in value.items() if name != "__proto__"} if isinstance(value, dict) else value
        )

    change_params(node, everywhere(kept))


@mutant("EXEC-170")
def parameters_have_to_be_there(node: Node) -> None:
    """A run without `jsParams` is refused."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        return refusal(422) if "code" in body and "jsParams" not in body else await forward(request)

    intercept(node, RUN, handler)


@mutant("EXEC-170")
def parameters_that_are_missing_are_those_of_the_last_run(node: Node) -> None:
    """A run without parameters gets the parameters that were given before."""
    last = ["{}"]

    def given(code: str, params: str) -> tuple[str, str]:
        if params != "{}":
            last[0] = params
        return code, last[0]

    change_input(node, given)


@mutant("EP-030")
def odd_parameters_are_taken_for_none(node: Node) -> None:
    """`jsParams` that are no object count as an empty one."""

    def mended(value: JsonValue) -> JsonValue:
        body = members(value)
        odd = "jsParams" in body and not isinstance(body["jsParams"], dict)
        return {**body, "jsParams": {}} if odd else value

    change_body(node, RUN, mended)
