"""Faults about wallets (PKPs): their ids, addresses, derivation paths, and the groups that they are in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.accounts import account_of, permissions_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_answer,
    change_body,
    change_items,
    change_refused,
    each,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Wallet
from reference_node.node import Node
from reference_node.permission.keys import CURVE_ORDER, KeyDerivation, key_hash, parse_key

WALLET_LISTS = ("list_wallets", "list_wallets_in_group")
Write = Callable[..., object]
Members = dict[str, JsonValue]


@mutant("PKP-030", also="EP-350 PKP-110 PKP-170")
def wallet_address_is_zero(node: Node) -> None:
    """Answer the zero address from `create_wallet`."""
    change_answer(node, "create_wallet", lambda value: {**members(value), "wallet_address": f"0x{'0' * 40}"})


@mutant(
    each=[
        row(
            "no-name",
            lambda item: {name: item[name] for name in item if name != "name"},
            breaks="ACC-080",
            also="MINT-070 PKP-050 VER-050",
        ),
        row("one-name-for-all", lambda item: {**item, "name": "wallet"}, breaks="PKP-050", also="LIST-170 MINT-070"),
    ]
)
def wallets_are_listed_otherwise(node: Node, change: Callable[[Members], Members]) -> None:
    """Show something else of each wallet in the lists; the label says what."""
    change_items(node, WALLET_LISTS, each(change))


@mutant("PKP-010", also="EP-370 EXEC-230 GRP-270 SCOPE-070 UKEY-180")
def wallet_added_is_the_first_one(node: Node) -> None:
    """Add the account's first wallet, whichever of its wallets `add_pkp_to_group` names."""

    def add(write: Write, acting_key: int, group_id: int, wallet: bytes) -> None:
        own = [found.id for found in _wallets(node, acting_key)]
        write(acting_key, group_id, own[0] if wallet in own else wallet)

    wrap(node.accounts, "add_pkp_to_group", add)


def _wallets(node: Node, acting_key: int) -> list[Wallet]:
    return whole(node.accounts.wallets, node.accounts.key_info(acting_key).account_hash)


@mutant("LIST-170", also="ACC-080 EP-230 EP-350 LIST-050 PKP-030")
def wallets_are_registered_up_to_ten(node: Node) -> None:
    """Answer `create_wallet` from an account's eleventh wallet on as ever, and register nothing."""

    def create(write: Write, acting_key: int, *about: object) -> None:
        if len(node.accounts.wallets(account_of(node, acting_key), 0, 11)) < 10:
            write(acting_key, *about)

    wrap(node.accounts, "create_wallet", create)


@mutant("PKP-060", also="LIST-170")
def wallet_is_in_one_group(node: Node) -> None:
    """Take a wallet that is added to a group out of its other groups."""

    def add(write: Write, acting_key: int, group_id: int, wallet: bytes) -> None:
        write(acting_key, group_id, wallet)
        _leave_others(node, acting_key, group_id, wallet)

    wrap(node.accounts, "add_pkp_to_group", add)


def _leave_others(node: Node, acting_key: int, group_id: int, wallet: bytes) -> None:
    account = node.accounts.key_info(acting_key).account_hash
    for group in whole(node.accounts.groups, account):
        listed = [found.id for found in whole(node.accounts.wallets_in_group, account, group.id)]
        if group.id != group_id and wallet in listed:
            node.accounts.remove_pkp_from_group(account, group.id, wallet)


@mutant("PKP-090", also="ERR-160")
def refusals_tell_the_private_key(node: Node) -> None:
    """Send a private key in a debugging header of refusals."""
    paths: list[int] = []

    def create(write: Write, acting_key: int, wallet: bytes, path: int, *labels: str) -> None:
        paths.append(path)
        write(acting_key, wallet, path, *labels)

    def changed(_request: Received, given: Answered) -> Answered:
        if not paths:
            return given
        header = (b"x-debug", node.keys.wallet_key(paths[-2:][0]).hex().encode())
        return replace(given, headers=(*given.headers, header))

    wrap(node.accounts, "create_wallet", create)
    change_refused(node, ("add_pkp_to_group", "remove_pkp_from_group"), changed)


class PathsAreKeys(KeyDerivation):
    """Takes the derivation path itself as the private key."""

    def wallet_key(self, derivation_path: int) -> bytes:
        """The path in 32 bytes."""
        return (derivation_path % CURVE_ORDER or 1).to_bytes(32)


@mutant("PKP-090")
def derivation_path_is_the_private_key(node: Node) -> None:
    """Use the derivation path, which the contract shows, as the private key."""
    node.keys = PathsAreKeys(node.keys.root_secret)


@mutant("PKP-130", also="EP-030")
def malformed_wallet_ids_are_dropped(node: Node) -> None:
    """Drop malformed ids from the lists of `add_group` and `update_group`."""

    def drop(value: JsonValue) -> JsonValue:
        listed = members(value).get("pkp_ids_permitted")
        if not isinstance(listed, list):
            return value
        kept = [one for one in listed if not isinstance(one, str) or re.fullmatch("0x[0-9a-fA-F]{64}", one)]
        return {**members(value), "pkp_ids_permitted": list(kept)}

    change_body(node, ("add_group", "update_group"), drop)


@mutant("PKP-140")
def capitals_are_another_wallet(node: Node) -> None:
    """Compare PKP ids as texts, so that one in capitals is unknown."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        listed = body.get("pkp_ids_permitted")
        named = [body.get("pkp_id"), *(listed if isinstance(listed, list) else [])]
        return refusal(404) if any(re.search("0x[0-9a-f]*[A-F]", str(one)) for one in named) else await forward(request)

    intercept(node, ("add_pkp_to_group", "remove_pkp_from_group", "update_group"), handler)


@mutant("PKP-180", "UKEY-080", also="EP-230 LIST-170")
def wallet_of_a_usage_key_is_hidden(node: Node) -> None:
    """Hide wallets that usage keys created from lists."""
    hidden: set[bytes] = set()

    def create(write: Write, acting_key: int, wallet: bytes, *arguments: object) -> None:
        if not node.accounts.key_info(acting_key).is_account_key:
            hidden.add(wallet)
        write(acting_key, wallet, *arguments)

    wrap(node.accounts, "create_wallet", create)
    wrap(node.accounts, "wallets", lambda view, *page: [one for one in view(*page) if one.address not in hidden])


@mutant("PKP-020", also="VER-050")
def zeros_of_ids_are_lost(node: Node) -> None:
    """Show ids in `list_wallets` without the zeros that they begin with."""
    change_items(node, "list_wallets", each(lambda item: {**item, "id": hex(int(str(item["id"]), 16))}))


@mutant("PKP-110", also="EP-350 LIST-170 UKEY-080")
def first_wallets_of_usage_keys_are_one(node: Node) -> None:
    """Count what `create_wallet` derives for each usage key: the first wallets of two of an account are the same."""
    made: dict[tuple[int, int], Answered] = {}
    counts: Counter[str] = Counter()

    async def handler(request: Received, forward: Forward) -> Answered:
        secret = parse_key(presented(request))
        held = permissions_of(node, key_hash(secret)) if secret else None
        if not secret or held is None or not held.can_create_pkps:
            return await forward(request)
        place = account_of(node, key_hash(secret)), counts[presented(request)]
        counts[presented(request)] += 1
        if place not in made:
            made[place] = await forward(request)
        return made[place]

    intercept(node, "create_wallet", handler)
