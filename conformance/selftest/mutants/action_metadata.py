"""Faults about the registered metadata of actions and their membership in groups."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import (
    Write,
    account_of,
    accounts_made,
    actions_of,
    groups_listing,
    permissions_of,
)
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import Action
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node


@mutant("ACT-020", "ACT-210", also="ACC-110 ACC-120")
def metadata_is_shared(node: Node) -> None:
    """Keep one name and description of an action for all accounts: those written last."""
    shared: dict[bytes, tuple[str, str]] = {}

    def keep(write: Write, acting_key: int, cid: bytes, name: str, description: str) -> None:
        write(acting_key, cid, name, description)
        shared[cid] = (name, description)

    def actions(view: Callable[..., list[Action]], *arguments: int) -> list[Action]:
        labels = {found.cid_hash: (found.name, found.description) for found in view(*arguments)}
        return [Action(cid, *shared.get(cid, own)) for cid, own in labels.items()]

    wrap(node.accounts, "add_action", keep)
    wrap(node.accounts, "update_action_metadata", keep)
    wrap(node.accounts, "actions", actions)


@mutant("ACT-210", also="ACC-120 EP-260 LIST-170")
def deletion_reaches_every_account(node: Node) -> None:
    """List an action in no account once `delete_action` deletes it in one, until an account registers it again."""
    made = accounts_made(node)
    hidden: set[tuple[int, bytes]] = set()

    def register(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        write(acting_key, cid, *labels)
        hidden.discard((account_of(node, acting_key), cid))

    def delete(write: Write, acting_key: int, cid: bytes) -> None:
        write(acting_key, cid)
        hidden.update((account, cid) for account in made)

    def actions(view: Callable[..., list[Action]], account: int, *page: int) -> list[Action]:
        return [found for found in view(account, *page) if (account, found.cid_hash) not in hidden]

    wrap(node.accounts, "add_action", register)
    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "actions", actions)


@mutant("ACT-030", also="EP-360 GRP-270")
def groups_take_registered_actions_only(node: Node) -> None:
    """Refuse `add_action_to_group` with a CID that the account has not registered."""

    def join(write: Write, acting_key: int, group: int, cid: bytes) -> None:
        if cid not in [action.cid_hash for action in actions_of(node, acting_key)]:
            raise ContractRefusal("ActionUnknown", {"accountHash": account_of(node, acting_key), "cidHash": cid.hex()})
        write(acting_key, group, cid)

    wrap(node.accounts, "add_action_to_group", join)


@mutant("ACT-060", "ACC-090", "EP-280")
def description_of_an_action_is_lost(node: Node) -> None:
    """Store the name and no description in `add_action`."""
    wrap(node.accounts, "add_action", lambda write, acting_key, cid, name, _: write(acting_key, cid, name, ""))


@mutant("ACT-060", "ACT-100", "EP-300")
def metadata_of_all_actions_is_updated(node: Node) -> None:
    """Rename every action of the account in `update_action_metadata`."""

    def update(write: Write, acting_key: int, cid: bytes, *labels: str) -> None:
        write(acting_key, cid, *labels)
        for action in actions_of(node, acting_key):
            write(acting_key, action.cid_hash, *labels)

    wrap(node.accounts, "update_action_metadata", update)


@mutant("ACT-060", "CHAIN-050", also="ACC-140")
def updated_metadata_stays_off_chain(node: Node) -> None:
    """Keep updated names and descriptions of actions in memory, and not in the contract."""
    kept: dict[tuple[int, bytes], tuple[str, str]] = {}

    def update(write: Write, acting_key: int, cid: bytes, name: str, description: str) -> None:
        account = account_of(node, acting_key)
        registered = cid in [action.cid_hash for action in actions_of(node, acting_key)]
        if registered and permissions_of(node, acting_key) is None and node.accounts.account(account).managed:
            kept[account, cid] = (name, description)
        else:
            write(acting_key, cid, name, description)

    def delete(write: Write, acting_key: int, cid: bytes) -> None:
        write(acting_key, cid)
        kept.pop((account_of(node, acting_key), cid), None)

    def actions(view: Callable[..., list[Action]], account: int, *page: int) -> list[Action]:
        labels = {found.cid_hash: (found.name, found.description) for found in view(account, *page)}
        return [Action(cid, *kept.get((account, cid), own)) for cid, own in labels.items()]

    wrap(node.accounts, "update_action_metadata", update)
    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "actions", actions)


@mutant("ACT-070", also="GRP-140")
def new_groups_hold_registered_actions(node: Node) -> None:
    """Put all registered actions of the account into a new group."""

    def add(write: Callable[..., int], key: int, name: str, description: str, pkps: object, cids: list[bytes]) -> int:
        registered = [action.cid_hash for action in actions_of(node, key)]
        return write(key, name, description, pkps, [*cids, *registered])

    wrap(node.accounts, "add_group", add)


@mutant("ACT-080", "EP-210")
def action_leaves_all_its_groups(node: Node) -> None:
    """Take an action out of all groups of the account in `remove_action_from_group`."""
    remove = node.accounts.remove_action_from_group

    def remove_everywhere(_: Write, acting_key: int, group_id: int, cid: bytes) -> None:
        remove(acting_key, group_id, cid)
        _leave(node, acting_key, group_id, cid, remove)

    wrap(node.accounts, "remove_action_from_group", remove_everywhere)


def _leave(node: Node, acting_key: int, but: int, cid: bytes, remove: Write) -> None:
    """Take an action out of all groups of the account but one."""
    for group in groups_listing(node, acting_key, cid):
        if group != but:
            remove(account_of(node, acting_key), group, cid)


@mutant("EP-360")
def deleted_actions_join_no_former_group(node: Node) -> None:
    """Accept `add_action_to_group` into a group that an action left by `delete_action`, and leave the action out."""
    left: set[tuple[int, int, bytes]] = set()

    def delete(write: Write, acting_key: int, cid: bytes) -> None:
        account = account_of(node, acting_key)
        left.update((account, group, cid) for group in groups_listing(node, acting_key, cid))
        write(acting_key, cid)

    def join(write: Write, acting_key: int, group: int, cid: bytes) -> None:
        if (account_of(node, acting_key), group, cid) not in left:
            write(acting_key, group, cid)

    wrap(node.accounts, "delete_action", delete)
    wrap(node.accounts, "add_action_to_group", join)
