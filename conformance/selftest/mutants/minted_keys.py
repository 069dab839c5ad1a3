"""Faults of what mints give, which show in many of them or in use: secrets alike, keys and wallets that open more."""

from __future__ import annotations

import base64
from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    change_answer,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_envelopes import MINTS
from conformance.selftest.tools.api_keys import header, presented
from conformance.selftest.tools.minted import follow_mints
from conformance.selftest.tools.mutant import mutant
from reference_node.keys import key_hash, pkp_id
from reference_node.node import Node
from reference_node.runs import Run


def _secrets(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Minted secrets are what `change` makes of them."""

    def changed(value: JsonValue) -> JsonValue:
        secret = change(base64.b64decode(str(members(value)["usage_api_key"])))
        return {**members(value), "usage_api_key": base64.b64encode(secret).decode()}

    change_answer(node, MINTS[1], changed)


@mutant("MINT-100")
def minted_secrets_begin_alike(node: Node) -> None:
    """Half of each minted secret is zero."""
    _secrets(node, lambda secret: bytes(16) + secret[16:])


@mutant("MINT-100")
def minted_secrets_are_hex_digits(node: Node) -> None:
    """A minted secret is 32 hex digits, so that a byte of it holds four random bits."""
    _secrets(node, lambda secret: secret[:16].hex().encode())


def _for_minted_keys(node: Node, operations: tuple[str, ...], given: JsonValue, *, bearer: bool = False) -> None:
    """Minted keys, attached or not, are answered this; with `bearer` in the header `Authorization` alone."""
    minted = follow_mints(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        answered = await forward(request)
        try:
            known = key_hash(base64.b64decode(presented(request), validate=True)) in minted.keys
        except ValueError:
            known = False
        wanted = known and (not bearer or bool(header(request, b"authorization")))
        return answer(200, given) if wanted else answered

    intercept(node, operations, handler)


@mutant("MINT-110")
def minted_keys_list_as_bearer(node: Node) -> None:
    """A minted key that nobody has attached is let into the lists, where it comes as a Bearer key."""
    _for_minted_keys(node, ("list_groups", "list_api_keys"), [], bearer=True)


@mutant("MINT-110")
def minted_keys_are_an_accounts(node: Node) -> None:
    """The account of a minted key that nobody has attached exists."""
    _for_minted_keys(node, ("account_exists",), True)


@mutant("MINT-110")
def minted_keys_have_nothing_left(node: Node) -> None:
    """Who sends a minted key that nobody has attached is shown a balance of nothing."""
    _for_minted_keys(node, ("billing/balance",), {"balance_cents": 0, "balance_display": "$0.00"})


@mutant("MINT-040")
def registered_wallets_are_in_every_group(node: Node) -> None:
    """A minted wallet may be used wherever the action may run, whatever the groups list."""
    minted = follow_mints(node)

    def may_use(decide: Callable[[Run, bytes], bool], run: Run, pkp: bytes) -> bool:
        return decide(run, pkp) or pkp in {pkp_id(address) for address in minted.wallets}

    wrap(node.runs, "may_use", may_use)
