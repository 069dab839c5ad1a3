"""Faults about how actions are named: raw CIDs and their hashes."""

from __future__ import annotations

import base64
from collections.abc import Callable

from conformance.selftest.tools.accounts import Write, account_of, actions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_items,
    each,
    intercept,
    text_member,
    wrap,
)
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import RAW_CID_WRITES
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node
from reference_node.permission.cid import cid_hash

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _as_base16(cid: str) -> str:
    """Spell a CIDv1 of base58 in base16; leave other texts."""
    if not cid.startswith("z"):
        return cid
    number = 0
    for character in cid[1:]:
        number = number * len(BASE58) + BASE58.index(character)
    return f"f{number.to_bytes((number.bit_length() + 7) // 8).hex()}"


def _as_version_0(cid: str) -> str:
    """Spell a CIDv1 of base32 as the CIDv0 of the same content, where it has one; leave other texts."""
    if not cid.startswith("bafybei"):  # dag-pb with SHA2-256
        return cid
    text = cid[1:].upper()
    number, spelled = int.from_bytes(base64.b32decode(text + "=" * (-len(text) % 8))[2:]), ""
    while number:
        number, digit = divmod(number, len(BASE58))
        spelled = BASE58[digit] + spelled
    return spelled


@mutant(
    each=[
        row("version-0", lambda text: cid_hash(_as_version_0(text)), breaks="ACT-050", also="ACT-040 ACT-090"),
        row("lower-case", lambda text: cid_hash(text.lower()), breaks="ACT-050", also="ACT-090"),
        row("base58-as-base16", lambda text: cid_hash(_as_base16(text)), breaks="ACT-050", also="ACT-090"),
    ]
)
def raw_cid_has_another_hash(node: Node, rule: Callable[[str], bytes]) -> None:
    """Store another hash of a raw CID than keccak256 of its text; the label says which."""
    texts: dict[bytes, str] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        text = text_member(request, "action_ipfs_cid")
        texts[cid_hash(text)] = text
        return await forward(request)

    def register(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        write(acting_key, rule(texts[cid]), *labels)

    def add(write: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        write(acting_key, group_id, rule(texts[cid]))

    intercept(node, RAW_CID_WRITES, remember)
    wrap(node.accounts, "add_action", register)
    wrap(node.accounts, "add_action_to_group", add)


@mutant("ACT-090", also="ACT-140")
def cid_of_a_group_is_hashed_otherwise(node: Node) -> None:
    """Hash the CID with a line feed at its end in `add_action_to_group`."""
    texts: dict[bytes, str] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        texts[cid_hash(text_member(request, "action_ipfs_cid"))] = text_member(request, "action_ipfs_cid")
        return await forward(request)

    intercept(node, "add_action_to_group", remember)
    wrap(
        node.accounts,
        "add_action_to_group",
        lambda write, acting_key, group_id, cid: write(acting_key, group_id, cid_hash(f"{texts[cid]}\n")),
    )


@mutant("ACT-040", also="VER-050")
def hash_is_listed_without_0x(node: Node) -> None:
    """Show hashes without 0x in `list_actions`."""
    change_items(
        node, "list_actions", each(lambda item: {**item, "hashed_cid": str(item["hashed_cid"]).removeprefix("0x")})
    )


@mutant("ACT-010", also="ACT-100 EP-290 EP-310")
def deletion_takes_the_newest_action(node: Node) -> None:
    """Delete the action registered last, whichever hash `delete_action` names."""
    wrap(
        node.accounts,
        "delete_action",
        lambda write, acting_key, cid: write(
            acting_key, next((action.cid_hash for action in reversed(actions_of(node, acting_key))), cid)
        ),
    )


@mutant("ACT-010", also="ACT-100 EP-310 LIST-170")
def unknown_hash_updates_the_only_action(node: Node) -> None:
    """Update the account's first action where `update_action_metadata` names an unknown hash."""

    def update(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        known = [action.cid_hash for action in actions_of(node, acting_key)]
        write(acting_key, cid if cid in known or not known else known[0], *labels)

    wrap(node.accounts, "update_action_metadata", update)


@mutant("ACT-020", "ACT-210", also="EP-280")
def cid_belongs_to_who_comes_first(node: Node) -> None:
    """Refuse to register a CID that another account has registered."""
    owners: dict[bytes, int] = {}

    def register(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        account = account_of(node, acting_key)
        if owners.get(cid, account) != account:
            raise ContractRefusal("ActionExists", {"accountHash": account, "cidHash": cid.hex()})
        write(acting_key, cid, *labels)
        owners[cid] = account

    wrap(node.accounts, "add_action", register)
