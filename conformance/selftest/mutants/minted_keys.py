"""Faults of what mints give, which show in many of them or in use: secrets alike, keys and wallets that open more."""

from __future__ import annotations

import base64
from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, wrap
from conformance.selftest.tools.api_keys import header, presented
from conformance.selftest.tools.minted import follow_mints
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.permission.keys import key_hash, pkp_id
from reference_node.permission.runs import Run


def _for_minted_keys(node: Node, operations: tuple[str, ...], given: JsonValue, *, bearer: bool = False) -> None:
    """Answer this to minted keys, attached or not; with `bearer` only in `Authorization`."""
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


@mutant("MINT-110", also="AUTH-030 AUTH-050")
def minted_keys_list_as_bearer(node: Node) -> None:
    """Answer empty lists to a minted key that was never attached, as a Bearer key."""
    _for_minted_keys(node, ("list_groups", "list_api_keys"), [], bearer=True)


@mutant("MINT-110", also="MINT-080")
def minted_keys_are_an_accounts(node: Node) -> None:
    """Answer true from `account_exists` to a minted key that was never attached."""
    _for_minted_keys(node, ("account_exists",), True)


@mutant("MINT-110", also="AUTH-050")
def minted_keys_have_nothing_left(node: Node) -> None:
    """Answer a balance of zero to a minted key that was never attached."""
    _for_minted_keys(node, ("billing/balance",), {"balance_cents": 0, "balance_display": "$0.00"})


@mutant("MINT-040", also="ERR-100 EXEC-050")
def registered_wallets_are_in_every_group(node: Node) -> None:
    """Permit minted wallets wherever the action may run, whatever the groups list."""
    minted = follow_mints(node)

    def may_use(decide: Callable[[Run, bytes], bool], run: Run, pkp: bytes) -> bool:
        return decide(run, pkp) or pkp in {pkp_id(address) for address in minted.wallets}

    wrap(node.runs, "may_use", may_use)
