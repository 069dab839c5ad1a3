"""Faults of the conversion: the old master key lives on ("States and transitions / Account mode")."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.accounts import Write, change_list
from conformance.selftest.tools.alter import Answered, Received, body_of, change_refused, wrap
from conformance.selftest.tools.alter_contract import (
    Sent,
    account_behind,
    around_conversion,
    change_contract,
    converted_accounts,
)
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key


def old_key_lives(
    node: Node, *functions: str, seconds: float = 1e9, converted: dict[int, float] | None = None, goes_on: bool = True
) -> None:
    """Let the old master key count for so long, and let the contract take these writes from payers for it.

    `converted` are accounts that were converted before, with the time of it; `goes_on`: so are those that follow.
    """
    converted = {} if converted is None else converted

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        write(account_hash, new_admin)
        converted[account_hash] = time.monotonic()

    def alive(hashed: int) -> bool:
        return time.monotonic() < converted.get(hashed, -seconds) + seconds

    def key_info(ask: Callable[[int], object], hashed: int) -> object:
        info = ask(hashed)
        return info._replace(managed=True) if alive(hashed) else info  # type: ignore[attr-defined]

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        if account is None or account.managed or not alive(sent.arguments[0]):
            return sent
        return replace(sent, sender=account.admin_wallet)

    if goes_on:
        around_conversion(node, convert)
    wrap(node.accounts, "key_info", key_info)
    change_contract(node, change, functions)


GROUP_WRITES = ("add_group", "update_group", "remove_group", "add_action_to_group", "remove_action_from_group")
KEY_WRITES = ("set_usage_api_key", "update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key")
OTHER_WRITES = ("create_wallet", "add_action", "update_action_metadata", "delete_action", "add_pkp_to_group")


@mutant(
    "MODE-110",
    "MODE-230",
    "ERR-080",
    "MODE-370",
    "CHAIN-100",
    "CHAIN-110",
    also="ACC-150 ACC-160 MINT-160 MODE-280 MODE-290",
)
def old_key_writes_on(node: Node) -> None:
    """Let the old master key do everything after the conversion."""
    old_key_lives(node, *GROUP_WRITES, *KEY_WRITES, *OTHER_WRITES, "remove_pkp_from_group")


@mutant(
    "MODE-110",
    "ERR-080",
    "CHAIN-100",
    "CHAIN-110",
    each=[*GROUP_WRITES, *KEY_WRITES, *OTHER_WRITES, "remove_pkp_from_group"],
    also="ACC-150 ACC-160 MODE-010 MODE-280 MODE-290",
)
def old_key_keeps_one_write(node: Node, function: str) -> None:
    """Let the old master key read, run and do `{function}` after it, and no other write: the node takes it."""
    old_key_lives(node, function)


@mutant("MODE-110", also="CHAIN-050 ERR-080 ERR-150 MODE-050 MODE-360")
def refused_updates_by_the_old_key_rename_groups(node: Node) -> None:
    """List a group of a converted account by the name that a refused update by its old master key gave it."""
    converted = converted_accounts(node)
    names: dict[tuple[int, int], str] = {}

    def note(request: Received, given: Answered) -> Answered:
        secret, told = parse_key(presented(request)), body_of(request)
        account = key_hash(secret) if secret else 0
        if account in converted:
            names[account, int(str(told["group_id"]))] = str(told["name"])
        return given

    change_refused(node, "update_group", note)
    change_list(
        node,
        "groups",
        lambda account, found: [one._replace(name=names.get((account, one.id), one.name)) for one in found],
    )


@mutant("MODE-280", "MODE-290")
def old_key_reads_and_runs_on(node: Node) -> None:
    """Let the old master key list and run, though the profile states that it is refused."""
    old_key_lives(node)
