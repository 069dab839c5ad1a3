"""Faults about groups: their ids and labels, and how their lists are filled."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from http import HTTPStatus

from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.selftest.tools.accounts import account_of, change_list, group_of, groups_of_usage_keys, lists_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_answer,
    change_body,
    change_items,
    change_query,
    each,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.concurrent_requests import one_answer_at_a_time
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import WILDCARD, Group, Wallet
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key

NAMING_A_GROUP = (
    "update_group",
    "remove_group",
    "add_pkp_to_group",
    "remove_pkp_from_group",
    "add_action_to_group",
    "remove_action_from_group",
)
LISTS_OF_A_GROUP = ("list_wallets_in_group", "list_actions")
HASH_LENGTH = 66
U64_MAX = 2**64 - 1

Write = Callable[..., object]
Hashes = Sequence[bytes]


def _number(value: JsonValue) -> int:
    return int(str(value))


@mutant(
    each=[
        row("hex-text", lambda number: f"{number:#x}", breaks="GRP-010", also="GRPLIFE-190 VER-050"),
        row("above-u64", lambda number: number + 2**64, breaks="GRP-010", also="GRPLIFE-190 VER-050"),
        row("2-for-all-but-the-first", lambda number: min(number, 2), breaks="GRP-190"),
    ]
)
def group_ids_are_listed_otherwise(node: Node, change: Callable[[int], JsonValue]) -> None:
    """Show other ids in `list_groups` than groups have; the label says which."""
    change_items(node, "list_groups", each(lambda item: {**item, "id": change(_number(item["id"]))}))


@mutant(
    each=[
        row("labels-exchanged", lambda name, text, *lists: (text, name, *lists), breaks="GRP-020 GRP-030 ACC-070"),
        row(
            "without-description", lambda name, _, *lists: (name, "", *lists), breaks="GRP-030", also="EP-160 LIST-170"
        ),
        row(
            "without-wallets",
            lambda name, text, _, cids: (name, text, [], cids),
            breaks="GRP-040 GRP-270",
            also="GRP-070 LIST-170",
        ),
        row(
            "without-actions",
            lambda name, text, pkps, _: (name, text, pkps, []),
            breaks="GRP-050 GRP-270",
            also="GRP-080 LIST-170",
        ),
        row(
            "without-lists",
            lambda name, text, *_: (name, text, [], []),
            breaks="EP-160",
            also="GRP-040 GRP-050 GRP-070 GRP-080 GRP-270 LIST-170",
        ),
        row(
            "first-wallet-alone",
            lambda name, text, pkps, cids: (name, text, pkps[:1], cids),
            breaks="GRP-040",
            also="GRP-100 GRP-270 LIST-170",
        ),
        row(
            "without-actions-alike-in-a-byte",
            lambda name, text, pkps, cids: (name, text, pkps, list({cid[0]: cid for cid in cids}.values())),
            breaks="GRP-050",
            also="GRP-270 LIST-170",
        ),
    ]
)
def new_group_is_stored_otherwise(node: Node, change: Callable[..., tuple[object, ...]]) -> None:
    """Store something else of a group than `add_group` was sent; the label says what."""
    wrap(node.accounts, "add_group", lambda write, key, *sent: write(key, *change(*sent)))


@mutant("GRP-020", also="EP-160 LIST-170")
def group_names_are_cut(node: Node) -> None:
    """Cut a group's name after 16 characters."""
    wrap(node.accounts, "add_group", lambda write, key, name, *rest: write(key, name[:16], *rest))


@mutant("GRP-020", also="EP-160 GRPLIFE-020 GRPLIFE-090 LIST-170")
def groups_share_the_last_name(node: Node) -> None:
    """Show every group with the name of the newest in `list_groups`."""
    wrap(
        node.accounts,
        "groups",
        lambda view, *asked: [group._replace(name=view(*asked)[-1].name) for group in view(*asked)],
    )


@mutant("GRP-040", "GRP-050", also="EP-160 GRP-120 GRP-140")
def new_group_starts_with_the_last_ones_lists(node: Node) -> None:
    """Add to a new group what the group before it was created with."""
    last: dict[int, tuple[Hashes, Hashes]] = {}

    def add(write: Callable[..., int], key: int, name: str, description: str, pkps: Hashes, cids: Hashes) -> int:
        earlier_pkps, earlier_cids = last.get(key, ([], []))
        last[key] = pkps, cids
        return write(key, name, description, [*pkps, *earlier_pkps], [*cids, *earlier_cids])

    wrap(node.accounts, "add_group", add)


@mutant("GRP-180", also="AUTH-080 EXEC-030 EXEC-070 SCOPE-110 UKEY-110 UKEY-150 UKEY-190 UKEY-230 UKEY-270 UKEY-290")
def group_ids_start_at_zero(node: Node) -> None:
    """Number groups from 0; in the permissions of a usage key 0 stands for all groups, too."""
    change_items(node, "list_groups", each(lambda item: {**item, "id": _number(item["id"]) - 1}))
    change_answer(node, "add_group", lambda made: {**members(made), "group_id": _number(members(made)["group_id"]) - 1})
    change_items(node, "list_api_keys", each(lambda item: _arrays_numbered(item, -1)))
    change_body(
        node,
        ("add_usage_api_key", "update_usage_api_key"),
        lambda body: _arrays_numbered(body, 1) if isinstance(body, dict) else body,
    )
    change_body(node, NAMING_A_GROUP, lambda value: _numbered_up(members(value)))
    change_query(node, LISTS_OF_A_GROUP, _query_numbered_up)


def _arrays_numbered(given: dict[str, JsonValue], step: int) -> dict[str, JsonValue]:
    arrays = {name: given[name] for name in PERMISSION_ARRAYS if name in given}
    return given | {name: _ids_numbered(array, step) for name, array in arrays.items()}


def _ids_numbered(array: JsonValue, step: int) -> JsonValue:
    if not isinstance(array, list):
        return array
    return [one + step if type(one) is int and 0 < one < U64_MAX else one for one in array]


def _numbered_up(body: dict[str, JsonValue]) -> JsonValue:
    given = body.get("group_id")
    number = _number(given) + 1
    return {**body, "group_id": str(number) if isinstance(given, str) else number}


def _query_numbered_up(query: dict[str, str]) -> dict[str, str]:
    return {**query, "group_id": str(int(query["group_id"]) + 1)} if "group_id" in query else query


@mutant("GRPLIFE-220", also="GRP-190 GRPLIFE-010 LIST-170")
def groups_made_at_once_are_one(node: Node) -> None:
    """Answer concurrent `add_group` requests of an account with one group."""
    one_answer_at_a_time(node, "add_group", lambda request: request.key)


@mutant("GRP-230", each=["add_group", "update_group"])
def duplicates_are_refused(node: Node, operation: str) -> None:
    """Refuse lists of `{operation}` with an entry that is there twice."""

    async def handler(request: Received, forward: Forward) -> Answered:
        body = members(json.loads(request.body))
        lists = [
            [str(entry) for entry in _entries(body, name)] for name in ("pkp_ids_permitted", "cid_hashes_permitted")
        ]
        return refusal(422) if any(len(set(one)) != len(one) for one in lists) else await forward(request)

    intercept(node, operation, handler)


def _entries(body: dict[str, JsonValue], name: str) -> list[JsonValue]:
    entries = body.get(name)
    return entries if isinstance(entries, list) else []


@mutant("GRP-230")
def duplicates_count_twice(node: Node) -> None:
    """List a wallet twice that `add_group` was sent twice."""
    twice: set[tuple[int, int, bytes]] = set()

    def add(write: Callable[..., int], key: int, name: str, description: str, pkps: Hashes, cids: Hashes) -> int:
        group_id = write(key, name, description, pkps, cids)
        account = account_of(node, key)
        twice.update((account, group_id, pkp) for pkp in pkps if list(pkps).count(pkp) > 1)
        return group_id

    def doubled(account: int, group_id: int, found: list[Wallet]) -> list[Wallet]:
        return [*found, *(wallet for wallet in found if (account, group_id, wallet.id) in twice)]

    wrap(node.accounts, "add_group", add)
    change_list(node, "wallets_in_group", doubled)


@mutant("GRP-230", also="EP-220")
def duplicates_outlive_one_removal(node: Node) -> None:
    """Require two removals of a wallet that `update_group` was sent twice."""
    counts: dict[tuple[int, bytes], int] = {}

    def update(write: Write, key: int, group: Group, pkps: Hashes, cids: Hashes) -> None:
        counts.update({(group.id, pkp): list(pkps).count(pkp) for pkp in pkps})
        write(key, group, pkps, cids)

    def remove(write: Write, key: int, group_id: int, pkp: bytes) -> None:
        counts[group_id, pkp] = counts.get((group_id, pkp), 1) - 1
        if counts[group_id, pkp] < 1:
            write(key, group_id, pkp)

    wrap(node.accounts, "update_group", update)
    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant("GRP-240", also="ACT-130 EP-030 GRP-130")
def hashes_are_repaired(node: Node) -> None:
    """Cut or pad a hashed CID of the wrong length, and read digits that are not hex as 0."""
    change_body(node, ("add_group", "update_group"), lambda value: _repaired_list(members(value)))
    change_body(
        node,
        ("remove_action_from_group", "update_action_metadata", "delete_action"),
        lambda value: {**members(value), "hashed_cid": _repaired(str(members(value).get("hashed_cid")))},
    )


def _repaired_list(body: dict[str, JsonValue]) -> JsonValue:
    return {**body, "cid_hashes_permitted": [_repaired(str(i)) for i in _entries(body, "cid_hashes_permitted")]}


def _repaired(text: str) -> str:
    digits = "".join(digit if digit in "0123456789abcdefABCDEF" else "0" for digit in text.removeprefix("0x"))
    return f"0x{digits:0<64}"[:HASH_LENGTH]


@mutant("GRP-250", also="AKEY-070 AUTH-150")
def groups_belong_to_their_maker(node: Node) -> None:
    """Refuse writes of the account key to groups that a usage key made."""
    foreign = groups_of_usage_keys(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        group_id = _number(members(json.loads(request.body)).get("group_id"))
        secret = parse_key(presented(request))
        theirs = secret is not None and (key_hash(secret), group_id) in foreign  # the account's hash is its key's
        return refusal(403) if theirs else await forward(request)

    intercept(node, NAMING_A_GROUP, handler)


@mutant("GRP-250", also="GRPLIFE-010")
def groups_of_usage_keys_are_hidden(node: Node) -> None:
    """Hide groups that usage keys made from `list_groups`."""
    foreign = groups_of_usage_keys(node)
    change_list(node, "groups", lambda account, found: [one for one in found if (account, one.id) not in foreign])


@mutant("GRP-270", "EP-370", also="GRPLIFE-230")
def later_additions_replace(node: Node) -> None:
    """Leave the added wallet as the only one that the group names in `add_pkp_to_group`."""

    def add(write: Write, key: int, group_id: int, pkp: bytes) -> None:
        write(key, group_id, pkp)
        account = account_of(node, key)
        for wallet in whole(node.accounts.wallets_in_group, account, group_id):
            if wallet.id not in (pkp, WILDCARD):
                node.accounts.remove_pkp_from_group(account, group_id, wallet.id)

    wrap(node.accounts, "add_pkp_to_group", add)


@mutant("GRP-270", "GRPLIFE-040", "GRPLIFE-050", also="EP-180 GRPLIFE-060 GRPLIFE-070 GRPLIFE-080 LIST-170")
def update_group_ignores_its_lists(node: Node) -> None:
    """Keep both lists of a group in `update_group`."""

    def update(write: Write, key: int, group: Group, *_: object) -> None:
        write(key, group, *lists_of(node, key, group.id))

    wrap(node.accounts, "update_group", update)


@mutant("PKP-130", also="ERR-150 GRPLIFE-050 LIST-170")
def actions_are_replaced_before_wallets_are_read(node: Node) -> None:
    """Replace a group's actions in `update_group` before it turns out that the id of a wallet is malformed."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        body, secret = body_of(request), parse_key(presented(request))
        if given.status == HTTPStatus.UNPROCESSABLE_ENTITY and secret:
            group = group_of(node, key_hash(secret), _number(body["group_id"]))
            wallets: list[JsonValue] = [f"0x{one.hex()}" for one in lists_of(node, key_hash(secret), group.id)[0]]
            labels = {"name": group.name, "description": group.description}
            await forward(request.having({**body, **labels, "pkp_ids_permitted": wallets}))
        return given

    intercept(node, "update_group", handler)
