"""Faults about which action a code is: texts taken for the same, and what must be known of an action beside."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus

from pydantic import JsonValue

from conformance.selftest.tools.accounts import account_of, whole
from conformance.selftest.tools.alter import Answered, Forward, Received, body_of, intercept, wrap
from conformance.selftest.tools.alter_runs import RUN, change_code, change_verdicts
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import KeyInfo
from reference_node.node import Node


@mutant("EXEC-220", also="ACT-140 EXEC-040")
def codes_alike_at_both_ends_are_one_action(node: Node) -> None:
    """Take codes of one length with the same ends for one action: that which ran first."""
    known: dict[str, bytes] = {}

    def action(original: Callable[[str], bytes], code: str) -> bytes:
        return known.setdefault(f"{code[:400]}{code[-400:]}{len(code)}", original(code))

    wrap(node.runs, "action", action)


@mutant(
    "EXEC-220",
    each=[
        row("line-feeds", lambda code: code.replace("\r\n", "\n")),
        row("without-byte-order-mark", lambda code: code.removeprefix("\ufeff")),
    ],
    also="ACT-140 EXEC-040",
)
def refused_codes_run_in_another_form(node: Node, canonical: Callable[[str], str]) -> None:
    """Where a code may not run, decide by its canonical form, and run it; the label names the form."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given, sent = await forward(request), body_of(request)
        form = canonical(str(sent["code"]))
        if given.status != HTTPStatus.FORBIDDEN or form == sent["code"]:
            return given
        return await forward(request.having({**sent, "code": form}))

    intercept(node, RUN, handler)


@mutant("EXEC-040", also="EXEC-220")
def one_code_is_decided_and_another_run(node: Node) -> None:
    """Decide on the first of two members `code` in a request, and run the last."""
    other: dict[str, str] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        codes = [value for name, value in _pairs(request.body) if name == "code" and isinstance(value, str)]
        if len(codes) < 2:
            return await forward(request)
        first, *_, last = codes
        other[first] = last
        given = await forward(request.having({"code": first}))
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


@mutant("EXEC-010", "EXEC-020", "EXEC-330", also="ACT-140 EXEC-090 EXEC-100 GRP-060 GRP-080 UKEY-260 UKEY-280")
def actions_have_to_be_registered(node: Node) -> None:
    """Run only actions with registered metadata."""
    change_verdicts(node, lambda right, question: right and _is_registered(node, question[0], question[1]))


@mutant("ACT-070", also="EXEC-040 EXEC-120 EXEC-130 EXEC-230 GRP-140")
def registered_actions_begin_without_a_group(node: Node) -> None:
    """Begin every run of an account key of an action with registered metadata; wallets are decided as ever."""
    _begin(node, lambda info: info.is_account_key, lambda key, action: _is_registered(node, key, action))


@mutant(
    each=[
        row("account-keys", lambda info: info.is_account_key, breaks="EXEC-120"),
        row("usage-keys", lambda info: not info.is_account_key, breaks="EXEC-040"),
    ],
    also="ACT-070 EXEC-130 EXEC-230 GRP-140",
)
def runs_begin_without_a_group(node: Node, whose: Callable[[KeyInfo], bool]) -> None:
    """Begin every run, for some keys; wallets are decided as ever."""
    _begin(node, whose, lambda *_: True)


def _begin(node: Node, whose: Callable[[KeyInfo], bool], which: Callable[[int, bytes], bool]) -> None:
    def change(right: bool, question: tuple[int, bytes, bytes | None]) -> bool:
        key, action, wallet = question
        return right or (wallet is None and whose(node.accounts.key_info(key)) and which(key, action))

    change_verdicts(node, change)


def _is_registered(node: Node, key: int, action: bytes) -> bool:
    return any(one.cid_hash == action for one in whole(node.accounts.actions, account_of(node, key)))
