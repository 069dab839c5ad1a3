"""Faults about which action a code is: texts taken for the same, and what must be known of an action beside."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_execution import RUN, change_code, change_verdicts
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import account_of
from reference_node.node import Node

COMMENT = re.compile(r"//[^\n]*")


def _same(node: Node, canonical: Callable[[str], str]) -> None:
    """Codes with the same canonical form are the action that was asked for first."""
    known: dict[str, bytes] = {}

    def action(original: Callable[[str], bytes], code: str) -> bytes:
        return known.setdefault(canonical(code), original(code))

    wrap(node.runs, "action", action)


@mutant("EXEC-220")
def space_around_the_code_is_ignored(node: Node) -> None:
    """The action is that of the code without the space around it."""
    _same(node, str.strip)


@mutant("EXEC-220")
def plain_space_after_the_code_is_ignored(node: Node) -> None:
    """The action is that of the code without blanks after it."""
    _same(node, lambda code: code.rstrip(" "))


@mutant("EXEC-220")
def ends_of_statements_are_ignored(node: Node) -> None:
    """The action is that of the code without the semicolons at the end of its lines."""
    _same(node, lambda code: code.replace(";\n", ""))


@mutant("EXEC-220")
def case_of_the_code_is_ignored(node: Node) -> None:
    """The action is that of the code in lower case."""
    _same(node, str.lower)


@mutant("EXEC-220")
def composition_of_the_code_is_ignored(node: Node) -> None:
    """The action is that of the code in Unicode's composed form."""
    _same(node, lambda code: unicodedata.normalize("NFC", code))


@mutant("EXEC-220")
def accents_in_the_code_are_ignored(node: Node) -> None:
    """The action is that of the code in ASCII."""
    _same(node, lambda code: unicodedata.normalize("NFKD", code).encode("ascii", "ignore").decode())


@mutant("EXEC-220")
def line_ends_of_the_code_are_ignored(node: Node) -> None:
    """The action is that of the code with line feeds for line ends."""
    _same(node, lambda code: code.replace("\r\n", "\n"))


@mutant("EXEC-220")
def code_ends_at_a_zero(node: Node) -> None:
    """The action is that of the code up to the character zero, as a library in C reads it."""
    _same(node, lambda code: code.split("\0")[0])


@mutant("EXEC-220")
def byte_order_mark_is_ignored(node: Node) -> None:
    """The action is that of the code without the mark that some editors write at its beginning."""
    _same(node, lambda code: code.removeprefix("\ufeff"))


@mutant("EXEC-220")
def characters_without_width_are_ignored(node: Node) -> None:
    """The action is that of the code as it looks: without characters that have no width."""
    _same(node, lambda code: code.replace("\u200b", ""))


@mutant("EXEC-220")
def tabs_in_the_code_are_blanks(node: Node) -> None:
    """The action is that of the code with a blank for each tab."""
    _same(node, lambda code: code.replace("\t", " "))


@mutant("EXEC-220")
def long_codes_are_known_by_their_beginning(node: Node) -> None:
    """The action is that of the code's first four thousand characters."""
    _same(node, lambda code: code[:4000])


@mutant("EXEC-220")
def codes_are_known_by_both_ends(node: Node) -> None:
    """The action is that of the code's beginning, its end and its length."""
    _same(node, lambda code: f"{code[:400]}{code[-400:]}{len(code)}")


@mutant("EXEC-220", "EXEC-040")
def one_code_is_decided_and_another_run(node: Node) -> None:
    """Of two members `code` in one request the first decides what is permitted and the last is run."""
    other: dict[str, str] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        codes = [value for name, value in _pairs(request.body) if name == "code" and isinstance(value, str)]
        if len(codes) < 2:
            return await forward(request)
        first, *_, last = codes
        other[first] = last
        given = await forward(replace(request, body=json.dumps({"code": first}).encode()))
        del other[first]
        return given

    intercept(node, RUN, handler)
    change_code(node, lambda code: other.get(code, code))


def _pairs(body: bytes) -> list[tuple[str, JsonValue]]:
    try:
        found = json.loads(body, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return []
    return [pair for pair in found if isinstance(pair, tuple)] if isinstance(found, list) else []


@mutant("EXEC-220", "EXEC-040", "ERR-100")
def comments_in_the_code_are_ignored(node: Node) -> None:
    """The action is that of the code without its comments."""
    _same(node, lambda code: COMMENT.sub("", code))


@mutant("EXEC-220")
def end_of_the_code_is_ignored(node: Node) -> None:
    """The action is that of the code's first two hundred characters and its length in hundreds."""
    _same(node, lambda code: f"{code[:200]}{len(code) // 100}")


@mutant("EXEC-010", "EXEC-020", "EXEC-330")
def actions_have_to_be_registered(node: Node) -> None:
    """Only actions with registered metadata run."""
    change_verdicts(node, lambda right, question: right and _is_registered(node, question[0], question[1]))


@mutant("EXEC-330")
def registered_actions_need_no_group(node: Node) -> None:
    """An action with registered metadata counts as listed in every group."""

    def change(right: bool, question: tuple[int, bytes, bytes | None]) -> bool:
        return right or _is_registered(node, question[0], question[1])

    change_verdicts(node, change)


def _is_registered(node: Node, key: int, action: bytes) -> bool:
    return any(one.cid_hash == action for one in node.accounts.actions(account_of(node, key), 0, 100))
