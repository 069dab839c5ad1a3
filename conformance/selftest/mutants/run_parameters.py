"""Faults about what of its parameters a run gets."""

from __future__ import annotations

import re
from collections.abc import Callable

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
from conformance.selftest.tools.alter_runs import RUN, change_code, change_input, change_params, everywhere
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.strict_json import DEPTH_LIMIT

ITEMS = 100
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def _texts(change: Callable[[str], str]) -> Callable[[JsonValue], JsonValue]:
    return lambda value: change(value) if isinstance(value, str) else value


def _lists(change: Callable[[list[JsonValue]], list[JsonValue]]) -> Callable[[JsonValue], JsonValue]:
    return lambda value: change(value) if isinstance(value, list) else value


def _members(keep: Callable[[str, JsonValue], bool]) -> Callable[[JsonValue], JsonValue]:
    def kept(value: JsonValue) -> JsonValue:
        return {name: inner for name, inner in value.items() if keep(name, inner)} if isinstance(value, dict) else value

    return kept


@mutant(
    "EXEC-160",
    each=[
        row("integers-of-64-bits", lambda value: (value + 2**63) % 2**64 - 2**63 if type(value) is int else value),
        row("arrays-cut", _lists(lambda items: items[:ITEMS])),
        row("texts-trimmed", _texts(str.strip)),
        row("texts-with-one-dollar-of-two", _texts(lambda text: text.replace("$$", "$"))),
        row("texts-up-to-zero", _texts(lambda text: text.partition("\0")[0])),
        row("dates-as-times", _texts(lambda text: f"{text}T00:00:00.000Z" if DATE.fullmatch(text) else text)),
        row("without-empty-members", _members(lambda _, inner: inner not in ("", [], {}))),
        row("without-the-prototype", _members(lambda name, _: name != "__proto__")),
    ],
)
def parameters_are_altered(node: Node, change: Callable[[JsonValue], JsonValue]) -> None:
    """Run with other values in the parameters than were sent, at any depth; the label says which."""
    change_params(node, everywhere(change))


@mutant(
    "EXEC-160",
    each=[row("zero", lambda value: type(value) is int and value == 0), row("empty-array", lambda value: value == [])],
)
def outermost_parameters_are_dropped(node: Node, dropped: Callable[[JsonValue], bool]) -> None:
    """Run without the members of `jsParams` itself whose value is this; what they hold is left as it is."""
    change_params(node, lambda params: {name: one for name, one in members(params).items() if not dropped(one)})


@mutant("EXEC-170", also="EP-380 EXEC-140")
def parameters_have_to_be_there(node: Node) -> None:
    """Refuse a run without `jsParams`."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        return refusal(422) if "code" in body and "jsParams" not in body else await forward(request)

    intercept(node, RUN, handler)


@mutant("EXEC-170", also="EXEC-160 EXEC-270")
def parameters_that_are_missing_are_those_of_the_last_run(node: Node) -> None:
    """Run without parameters with those of the last run."""
    last = ["{}"]

    def given(code: str, params: str) -> tuple[str, str]:
        if params != "{}":
            last[0] = params
        return code, last[0]

    change_input(node, given)


@mutant("EXEC-150")
def code_is_put_into_one_line(node: Node) -> None:
    """Put the code into a function, in the line that ends it."""
    change_code(node, lambda code: f"globalThis.main = (() => {{ {code}; return main; }})();")


@mutant("EXEC-150")
def many_brackets_are_taken_for_deep_ones(node: Node) -> None:
    """Refuse a run whose body has more opening brackets than levels are allowed, however shallow they nest."""

    async def handler(request: Received, forward: Forward) -> Answered:
        many = request.body.count(b"[") + request.body.count(b"{") > DEPTH_LIMIT
        return refusal(400) if many else await forward(request)

    intercept(node, RUN, handler)


@mutant("EP-030")
def odd_parameters_are_taken_for_none(node: Node) -> None:
    """Take `jsParams` that are no object for an empty one."""

    def mended(value: JsonValue) -> JsonValue:
        body = members(value)
        odd = "jsParams" in body and not isinstance(body["jsParams"], dict)
        return {**body, "jsParams": {}} if odd else value

    change_body(node, RUN, mended)
