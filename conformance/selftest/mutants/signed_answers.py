"""Faults about what the wallet-signed endpoints answer ("Wallet-signed endpoints")."""

from __future__ import annotations

from pydantic import JsonValue

from conformance.selftest.tools.alter import Answered, Forward, Received, change_answer, intercept
from conformance.selftest.tools.alter_envelopes import CONVERSION, MINTS
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

WALLET_MINT, KEY_MINT = MINTS


@mutant(
    each=[
        row("wallet_mint", WALLET_MINT, breaks="AKEY-050 UKEY-360", also="WSIG-090"),
        row("key_mint", KEY_MINT, breaks="AKEY-050 UKEY-360", also="WSIG-090"),
        row("conversion", CONVERSION, breaks="AKEY-050", also="ACC-160"),
    ],
    also="VER-050",
)
def signed_answer_holds_the_presented_key(node: Node, operation: str) -> None:
    """Answer `{operation}` with the key that came with the request beside what it answers."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted or not presented(request):
            return given
        return given.having({**given.told, "caller": presented(request)})

    intercept(node, operation, handler)


@mutant(
    "VER-050",
    each=[
        row(
            "wallet_mint",
            WALLET_MINT,
            {"wallet_address": 7, "derivation_path": "m/0"},
            breaks="WSIG-010",
            also="EP-430 MINT-010 MINT-040 MINT-180 MINT-210 WSIG-080",
        ),
        row(
            "key_mint",
            KEY_MINT,
            {"usage_api_key": None, "wallet_address": "0x", "derivation_path": "m/0"},
            breaks="WSIG-030",
            also="EP-430 MINT-080 MINT-090 MINT-100 WSIG-080",
        ),
        row("conversion", CONVERSION, {"success": "yes"}, also="MODE-310"),
    ],
)
def signed_answer_is_not_as_described(node: Node, operation: str, value: JsonValue) -> None:
    """Answer `{operation}` with {value}, which the OpenAPI description does not say."""
    change_answer(node, operation, lambda _: value)
