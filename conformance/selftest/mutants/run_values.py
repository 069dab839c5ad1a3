"""Faults in carrying values to `main` and back: what is large, deep, oddly named, or looks like something else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import (
    Sandboxed,
    change_code,
    change_params,
    change_response,
    change_result,
    everywhere,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.sandbox import RunResult

UNDERSCORE = re.compile(r"(?<=[a-z])_([a-z])")
TEXT_LENGTH = 2**16 - 1
MANY_ITEMS = 1000
DEPTH = 16
RESERVED = ("code", "jsParams")


# ------------------------------------------------------------------------------------------ parameters


@mutant("EXEC-160")
def names_arrive_in_camel_case(node: Node) -> None:
    """Turn parameters' names with underscores into camel case."""

    def renamed(value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        return {UNDERSCORE.sub(lambda found: found[1].upper(), name): inner for name, inner in value.items()}

    change_params(node, everywhere(renamed))


@mutant("EXEC-160")
def reserved_names_do_not_arrive(node: Node) -> None:
    """Drop parameters that are named like members of the request."""

    def without(value: JsonValue) -> JsonValue:
        return (
            {name: inner for name, inner in value.items() if name not in RESERVED} if isinstance(value, dict) else value
        )

    change_params(node, without)


@mutant("EXEC-160")
def names_of_digits_make_an_array(node: Node) -> None:
    """Pass an object whose names are digits as an array."""

    def as_array(value: JsonValue) -> JsonValue:
        numbered = isinstance(value, dict) and value and all(name.isdecimal() for name in value)
        return list(value.values()) if isinstance(value, dict) and numbered else value

    change_params(node, everywhere(as_array))


@mutant("EXEC-160")
def deep_values_arrive_as_null(node: Node) -> None:
    """Pass null for parameters deeper than sixteen levels."""

    def shallow(value: JsonValue, depth: int = 0) -> JsonValue:
        if depth > DEPTH:
            return None
        if isinstance(value, dict):
            return {name: shallow(inner, depth + 1) for name, inner in value.items()}
        return [shallow(inner, depth + 1) for inner in value] if isinstance(value, list) else value

    change_params(node, shallow)


@mutant("EXEC-160", "EXEC-370")
def texts_end_after_64_kib(node: Node) -> None:
    """Cut texts in parameters and responses after 65,535 characters."""
    cut = everywhere(lambda value: value[:TEXT_LENGTH] if isinstance(value, str) else value)
    change_params(node, cut)
    change_response(node, cut)


@mutant("EXEC-150")
def parameters_are_put_into_the_code(node: Node) -> None:
    """Replace `{{name}}` in the code with the parameter of that name."""

    def run(sandboxed: Sandboxed, code: str, params: str, *others: object) -> RunResult:
        values = json.loads(params)
        filled = re.sub(r"\{\{(\w+)\}\}", lambda found: str(values.get(found[1], found[0])), code)
        return sandboxed(filled, params, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-150")
def main_is_called_twice(node: Node) -> None:
    """Call `main` twice, and answer with the second result."""
    change_code(
        node,
        lambda code: (
            f"{code}\n;try {{ main = (again => async params => {{ const log = console.log; console.log = () => {{}};"
            " try { await again(params); } catch {} console.log = log; return again(params); })(main); } catch {}"
        ),
    )


# ------------------------------------------------------------------------------------------ the response


def _read_json(value: JsonValue) -> JsonValue:
    try:
        read: JsonValue = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
    return read


def _without_nulls(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: inner for name, inner in value.items() if inner is not None}
    return value


@mutant(
    "EXEC-370",
    each=[
        row("false-as-null", lambda value: value or None),
        row("undefined-as-text", lambda value: "undefined" if value is None else value, also="EXEC-400"),
        row("texts-read-as-json", everywhere(_read_json), also="EXEC-390"),
        row("without-nulls", everywhere(_without_nulls), breaks="EXEC-160"),
        row("its-member-response", lambda v: v["response"] if isinstance(v, dict) and "response" in v else v),
        row("array-as-object", lambda v: {str(at): one for at, one in enumerate(v)} if isinstance(v, list) else v),
        row("at-most-2^63", everywhere(lambda v: min(v, 2**63 - 2**10) if type(v) is int else v)),
        row("arrays-cut", everywhere(lambda value: value[:MANY_ITEMS] if isinstance(value, list) else value)),
    ],
)
def response_is_altered(node: Node, change: Callable[[JsonValue], JsonValue]) -> None:
    """Answer another response than `main` returned; the label says which."""
    change_response(node, change)


@mutant("EXEC-370", also="EXEC-320")
def member_called_error_is_a_failure(node: Node) -> None:
    """Take a returned object with a member `error` for a failure."""

    def failing(_code: str, _params: str, result: RunResult) -> RunResult:
        value = json.loads(result.response or "null")
        failed = isinstance(value, dict) and "error" in value
        return replace(result, response=None, has_error=True) if failed else result

    change_result(node, failing)


@mutant("EXEC-370", also="EXEC-390")
def texts_that_look_like_json_are_parsed(node: Node) -> None:
    """Answer a text that `main` returns alone as the JSON that it holds."""
    change_response(node, _read_json)
