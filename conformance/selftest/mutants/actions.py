"""Faults about actions: their hashes, their metadata, and the groups that they are in."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.alter import (
    Answered,
    Forward,
    Received,
    change_body,
    change_items,
    each,
    intercept,
    members,
    refusal,
    silence,
    wrap,
)
from conformance.selftest.mutant import mutant
from conformance.selftest.permissions import account_of
from reference_node.chain.account_config import Action
from reference_node.cid import cid_hash
from reference_node.node import Node

RAW = ("add_action", "add_action_to_group")
"""The operations that take a raw CID."""

HASHED = ("delete_action", "remove_action_from_group", "update_action_metadata")
"""The operations that take a hashed CID."""

Write = Callable[..., object]


def _hash_raw_cids_by(node: Node, rule: Callable[[str], bytes]) -> None:
    """Let the operations that take a raw CID store another hash of it."""
    texts: dict[bytes, str] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        text = _text(request, "action_ipfs_cid")
        texts[cid_hash(text)] = text
        return await forward(request)

    def register(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        write(acting_key, rule(texts[cid]), *labels)

    def add(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        write(acting_key, group_id, rule(texts[cid]))

    intercept(node, RAW, remember)
    wrap(node.accounts, "add_action", register)
    wrap(node.accounts, "add_action_to_group", add)


def _text(request: Received, name: str) -> str:
    try:
        return str(members(json.loads(request.body)).get(name))
    except ValueError:
        return ""


def _actions(node: Node, acting_key: int) -> list[Action]:
    return node.accounts.actions(account_of(node, acting_key), 0, 100)


@mutant("ACT-040", "ACT-090")
def cid_is_hashed_with_sha3(node: Node) -> None:
    """The stored hash is SHA3-256 of the raw CID, which differs from keccak256 in its padding."""
    _hash_raw_cids_by(node, lambda text: hashlib.sha3_256(text.encode()).digest())


@mutant("ACT-040", "ACT-090")
def cid_is_hashed_with_sha256(node: Node) -> None:
    """The stored hash is SHA-256 of the raw CID."""
    _hash_raw_cids_by(node, lambda text: hashlib.sha256(text.encode()).digest())


@mutant("ACT-090")
def cid_of_a_group_is_hashed_otherwise(node: Node) -> None:
    """`add_action_to_group` hashes the CID with a line feed behind it."""
    texts: dict[bytes, str] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        texts[cid_hash(_text(request, "action_ipfs_cid"))] = _text(request, "action_ipfs_cid")
        return await forward(request)

    intercept(node, "add_action_to_group", remember)
    wrap(
        node.accounts,
        "add_action_to_group",
        lambda write, acting_key, group_id, cid: write(acting_key, group_id, cid_hash(f"{texts[cid]}\n")),
    )


@mutant("ACT-050")
def cid_is_put_in_lower_case(node: Node) -> None:
    """The CID's text is put in lower case before it is hashed."""
    _hash_raw_cids_by(node, lambda text: cid_hash(text.lower()))


@mutant("ACT-050")
def cid_v1_is_stored_as_v0(node: Node) -> None:
    """The CIDv1 of a dag-pb content is turned into its CIDv0 before it is hashed."""
    version_0 = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG"
    _hash_raw_cids_by(node, lambda text: cid_hash(version_0 if text.startswith("bafybei") else text))


@mutant("ACT-040")
def hash_is_listed_without_0x(node: Node) -> None:
    """`list_actions` shows hashes without 0x."""
    change_items(
        node,
        "list_actions",
        each(lambda item: {**item, "hashed_cid": str(item["hashed_cid"]).removeprefix("0x")}),
    )


@mutant("ACT-010")
def deletion_takes_the_newest_action(node: Node) -> None:
    """`delete_action` deletes the action registered last, whichever hash it is given."""
    wrap(
        node.accounts,
        "delete_action",
        lambda write, acting_key, _: write(acting_key, _actions(node, acting_key)[-1].cid_hash),
    )


@mutant("ACT-010")
def unknown_hash_updates_the_only_action(node: Node) -> None:
    """`update_action_metadata` with a hash that is not registered updates the first action."""

    def update(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        known = [action.cid_hash for action in _actions(node, acting_key)]
        write(acting_key, cid if cid in known else known[0], *labels)

    wrap(node.accounts, "update_action_metadata", update)


@mutant("ACT-020", "ACT-210")
def cid_belongs_to_who_comes_first(node: Node) -> None:
    """A CID that one account registered can't be registered by another."""
    owners: dict[bytes, int] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        cid = cid_hash(_text(request, "action_ipfs_cid"))
        taken = owners.setdefault(cid, hash(request.key)) != hash(request.key)
        return refusal(409) if taken else await forward(request)

    intercept(node, "add_action", handler)


@mutant("ACT-020", "ACT-210")
def metadata_is_shared(node: Node) -> None:
    """An action has one name and description for all accounts: those written last."""
    shared: dict[bytes, tuple[str, str]] = {}

    def keep(write: Write, acting_key: int, cid: bytes, name: str, description: str) -> None:
        write(acting_key, cid, name, description)
        shared[cid] = (name, description)

    def actions(view: Callable[..., list[Action]], *arguments: int) -> list[Action]:
        return [Action(found.cid_hash, *shared[found.cid_hash]) for found in view(*arguments)]

    wrap(node.accounts, "add_action", keep)
    wrap(node.accounts, "update_action_metadata", keep)
    wrap(node.accounts, "actions", actions)


@mutant("ACT-210")
def deletion_reaches_everyaccount_of(node: Node) -> None:
    """`delete_action` deletes the action in all accounts."""
    deleted: set[bytes] = set()

    def delete(write: Write, acting_key: int, cid: bytes) -> None:
        write(acting_key, cid)
        deleted.add(cid)

    wrap(node.accounts, "delete_action", delete)
    wrap(
        node.accounts,
        "actions",
        lambda view, *arguments: [found for found in view(*arguments) if found.cid_hash not in deleted],
    )


@mutant("ACT-030")
def groups_take_registered_actions_only(node: Node) -> None:
    """`add_action_to_group` refuses a CID that the account has not registered."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return refusal(404) if _text(request, "action_ipfs_cid") not in registered else await forward(request)

    async def remember(request: Received, forward: Forward) -> Answered:
        registered.add(_text(request, "action_ipfs_cid"))
        return await forward(request)

    registered: set[str] = set()
    intercept(node, "add_action_to_group", handler)
    intercept(node, "add_action", remember)


@mutant("ACT-060")
def description_of_an_action_is_lost(node: Node) -> None:
    """`add_action` stores the name and no description."""
    wrap(
        node.accounts,
        "add_action",
        lambda write, acting_key, cid, name, _: write(acting_key, cid, name, ""),
    )


@mutant("ACT-060")
def action_labels_are_swapped(node: Node) -> None:
    """`add_action` stores the name as the description, and the other way round."""
    wrap(
        node.accounts,
        "add_action",
        lambda write, acting_key, cid, name, description: write(acting_key, cid, description, name),
    )


@mutant("ACT-060", "ACT-100")
def metadata_of_all_actions_is_updated(node: Node) -> None:
    """`update_action_metadata` renames every action of the account."""

    def update(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        write(acting_key, cid, *labels)
        for action in _actions(node, acting_key):
            write(acting_key, action.cid_hash, *labels)

    wrap(node.accounts, "update_action_metadata", update)


@mutant("ACT-060", "ACT-100")
def metadata_is_not_updated(node: Node) -> None:
    """`update_action_metadata` reports success and does nothing."""
    silence(node.accounts, "update_action_metadata")


@mutant("ACT-060")
def updated_metadata_stays_off_chain(node: Node) -> None:
    """`update_action_metadata` keeps the new labels in the node's memory; the contract has the old ones."""
    kept: dict[tuple[int, bytes], tuple[str, str]] = {}

    def update(_: Write, acting_key: int, cid: bytes, name: str, description: str) -> None:
        kept[account_of(node, acting_key), cid] = (name, description)

    def actions(view: Callable[..., list[Action]], account: int, *page: int) -> list[Action]:
        labels = {found.cid_hash: (found.name, found.description) for found in view(account, *page)}
        return [Action(cid, *kept.get((account, cid), own)) for cid, own in labels.items()]

    wrap(node.accounts, "update_action_metadata", update)
    wrap(node.accounts, "actions", actions)


@mutant("ACT-070")
def registering_joins_every_group(node: Node) -> None:
    """`add_action` also puts the action in every group of the account."""

    def register(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        write(acting_key, cid, *labels)
        for group in node.accounts.groups(account_of(node, acting_key), 0, 100):
            node.accounts.add_action_to_group(acting_key, group.id, cid)

    wrap(node.accounts, "add_action", register)


@mutant("ACT-070")
def new_groups_hold_registered_actions(node: Node) -> None:
    """A new group lists all actions that the account has registered."""

    def add(write: Callable[..., int], key: int, name: str, description: str, pkps: object, cids: list[bytes]) -> int:
        registered = [action.cid_hash for action in _actions(node, key)]
        return write(key, name, description, pkps, [*cids, *registered])

    wrap(node.accounts, "add_group", add)


@mutant("ACT-080")
def action_is_in_one_group(node: Node) -> None:
    """Adding an action to a group takes it out of the group that it was in."""

    def add(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        _leave(node, acting_key, cid, node.accounts.remove_action_from_group)
        write(acting_key, group_id, cid)

    wrap(node.accounts, "add_action_to_group", add)


@mutant("ACT-080")
def action_leaves_all_its_groups(node: Node) -> None:
    """`remove_action_from_group` takes the action out of all groups of the account."""
    remove = node.accounts.remove_action_from_group

    def remove_everywhere(_: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        remove(acting_key, group_id, cid)
        _leave(node, acting_key, cid, remove)

    wrap(node.accounts, "remove_action_from_group", remove_everywhere)


def _leave(node: Node, acting_key: int, cid: bytes, remove: Write) -> None:
    account = account_of(node, acting_key)
    for group in node.accounts.groups(account, 0, 100):
        if cid in [found.cid_hash for found in node.accounts.actions_in_group(account, group.id, 0, 100)]:
            remove(acting_key, group.id, cid)


@mutant("ACT-100")
def action_is_not_removed_from_group(node: Node) -> None:
    """`remove_action_from_group` reports success and does nothing."""
    silence(node.accounts, "remove_action_from_group")


@mutant("ACT-100")
def deleted_action_stays(node: Node) -> None:
    """`delete_action` reports success and does nothing."""
    silence(node.accounts, "delete_action")


@mutant("ACT-100")
def hashed_cid_takes_raw_cids_alone(node: Node) -> None:
    """The operations on a `hashed_cid` want the raw CID: the listed hash is refused."""

    async def handler(request: Received, forward: Forward) -> Answered:
        text = _text(request, "hashed_cid")
        return refusal(422) if text.startswith("0x") else await forward(_with_hash(request, text))

    intercept(node, HASHED, handler)


@mutant("ACT-110")
def hashed_cid_takes_raw_cids_too(node: Node) -> None:
    """The operations on a `hashed_cid` hash whatever is no hash."""

    async def handler(request: Received, forward: Forward) -> Answered:
        text = _text(request, "hashed_cid")
        return await forward(request if text.startswith("0x") else _with_hash(request, text))

    intercept(node, HASHED, handler)


def _with_hash(request: Received, raw_cid: str) -> Received:
    body = {**members(json.loads(request.body)), "hashed_cid": f"0x{cid_hash(raw_cid).hex()}"}
    return replace(request, body=json.dumps(body).encode())


@mutant("ACT-120")
def raw_cid_may_be_a_hash(node: Node) -> None:
    """What looks like a hash in `action_ipfs_cid` is taken as one already."""
    taken: dict[bytes, bytes] = {}
    stand_in = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG"

    def change(value: JsonValue) -> JsonValue:
        body = members(value)
        text = str(body.get("action_ipfs_cid")).removeprefix("0x")
        if len(text) != len(bytes(32).hex()):
            return body
        taken[cid_hash(stand_in)] = bytes.fromhex(text)
        return {**body, "action_ipfs_cid": stand_in}

    change_body(node, RAW, change)
    wrap(
        node.accounts,
        "add_action_to_group",
        lambda write, acting_key, group_id, cid: write(acting_key, group_id, taken.pop(cid, cid)),
    )


@mutant("ACT-130", "GRP-050")
def listed_hashes_are_hashed_again(node: Node) -> None:
    """`add_group` and `update_group` hash what they are given in `cid_hashes_permitted` once more."""

    def again(hashes: Iterable[bytes]) -> list[bytes]:
        return [cid_hash(f"0x{cid.hex()}") for cid in hashes]

    wrap(node.accounts, "add_group", lambda write, *head: write(*head[:-1], again(head[-1])))
    wrap(node.accounts, "update_group", lambda write, *head: write(*head[:-1], again(head[-1])))


@mutant("ACT-150")
def code_is_trimmed_before_its_cid(node: Node) -> None:
    """White space around the code does not count for its CID."""
    change_body(node, "get_service_action_ipfs_id", lambda value: str(value).strip())


@mutant("ACT-150")
def cid_is_that_of_the_beginning(node: Node) -> None:
    """The CID is that of the code's first 30 characters."""
    change_body(node, "get_service_action_ipfs_id", lambda value: str(value)[:30])


@mutant("ACT-170")
def any_text_is_a_cid(node: Node) -> None:
    """`action_ipfs_cid` may be any text."""
    texts: dict[bytes, str] = {}
    stand_in = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG"

    def change(value: JsonValue) -> JsonValue:
        body = members(value)
        text = str(body.get("action_ipfs_cid"))
        if text.startswith("Qm"):
            return body
        texts[cid_hash(stand_in)] = text
        return {**body, "action_ipfs_cid": stand_in}

    change_body(node, RAW, change)
    wrap(
        node.accounts,
        "add_action",
        lambda write, acting_key, cid, *labels: write(
            acting_key, cid_hash(texts[cid]) if cid in texts else cid, *labels
        ),
    )


@mutant("ACT-220")
def leaving_a_group_deletes_the_metadata(node: Node) -> None:
    """`remove_action_from_group` also deletes the action's name and description."""

    def remove(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        write(acting_key, group_id, cid)
        if cid in [action.cid_hash for action in _actions(node, acting_key)]:
            node.accounts.update_action_metadata(acting_key, cid, "", "")

    wrap(node.accounts, "remove_action_from_group", remove)


@mutant("ACT-220")
def leaving_a_group_deletes_the_action(node: Node) -> None:
    """`remove_action_from_group` deletes the action from the account."""

    def remove(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        write(acting_key, group_id, cid)
        if cid in [action.cid_hash for action in _actions(node, acting_key)]:
            node.accounts.delete_action(acting_key, cid)

    wrap(node.accounts, "remove_action_from_group", remove)


def _change_code(node: Node, change: Callable[[str], str]) -> None:
    """The CID that is answered is that of another code than was sent."""
    change_body(
        node,
        f"get_{node.settings.slug}_action_ipfs_id",
        lambda value: change(value) if isinstance(value, str) else value,
    )


@mutant("ACT-150")
def line_ends_are_all_one(node: Node) -> None:
    """The CID of a code takes CR LF for LF."""
    _change_code(node, lambda code: code.replace("\r\n", "\n"))


@mutant("ACT-150")
def letters_are_composed_before_the_cid(node: Node) -> None:
    """The CID of a code is that of its Unicode normal form C."""
    _change_code(node, lambda code: unicodedata.normalize("NFC", code))


@mutant("ACT-150")
def cid_is_that_of_the_first_chunk(node: Node) -> None:
    """Of a long code the CID is that of its first 256 KiB."""
    _change_code(node, lambda code: code[: 256 * 1024])
