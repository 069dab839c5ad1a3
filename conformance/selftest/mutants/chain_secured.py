"""Faults of the account contract: from whom it takes the writes of ChainSecured accounts ("Authentication" 8)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import Write, change_list, whole
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_contract import Sent, account_behind, change_contract, let_in, payers_of
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group, KeyInfo
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address
from reference_node.node import Node

NOBODY = Address(b"\x01" * 20)


# ------------------------------------------------------------------------------------------------ others are let in


@mutant(
    each=[
        row("payers", lambda node, sender: sender in payers_of(node), breaks="CHAIN-100 MINT-060 MINT-160"),
        row(
            "admins-of-others",
            lambda node, sender: node.accounts.account_exists(int.from_bytes(keccak(sender))),
            breaks="CHAIN-110 MINT-060 MINT-160",
        ),
    ]
)
def others_write_for_wallets(node: Node, who: Callable[[Node, Address], bool]) -> None:
    """Let the contract take writes for an unmanaged account from others than its admin; the label says from whom."""
    let_in(node, lambda sender, _: who(node, sender))


@mutant("CHAIN-110", also="MINT-060 MINT-160")
def former_owner_writes(node: Node) -> None:
    """Let the contract take writes from the account's former admin wallet after a conversion."""
    former: dict[Address, Address] = {}

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        former[new_admin] = node.accounts.account(account_hash).admin_wallet
        write(account_hash, new_admin)

    wrap(node.accounts, "convert_to_chain_secured", convert)
    let_in(node, lambda sender, account: former.get(account.admin_wallet) == sender)


# --------------------------------------------------------------------------------------------- the admin is kept out


@mutant(
    "CHAIN-090",
    each=[
        row("add_group", breaks="MODE-250 ACC-150"),
        row("update_action_metadata", also="ACC-150 MODE-250"),
        row("remove_usage_api_key", also="ACC-150 MODE-250"),
        row("add_pkp_to_group", also="ACC-150 MODE-250"),
    ],
)
def admin_is_refused_one_write(node: Node, function: str) -> None:
    """Let the contract refuse `{function}` to the admin wallet of an unmanaged account."""

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        return sent if account is None or account.managed else replace(sent, sender=NOBODY)

    change_contract(node, change, {function})


@mutant("CHAIN-090", also="ACC-150 MODE-250")
def admins_changes_of_keys_do_nothing(node: Node) -> None:
    """Change only the labels when the admin wallet changes a usage key's permissions."""

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        if account is None or account.managed:
            return sent
        return replace(sent, function="update_usage_api_key_metadata", arguments=sent.arguments[:4])

    change_contract(node, change, {"update_usage_api_key"})


@mutant("MODE-250", also="CHAIN-050 EP-200 LIST-170")
def new_admins_writes_are_not_seen(node: Node) -> None:
    """List the groups of a converted account as they were at its conversion."""
    seen: dict[int, list[Group]] = {}

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        seen[account_hash] = whole(node.accounts.groups, account_hash)
        write(account_hash, new_admin)

    wrap(node.accounts, "convert_to_chain_secured", convert)
    change_list(node, "groups", seen.get)


# ------------------------------------------------------------------------------------------------ keys of others


def _taken(node: Node) -> dict[int, int]:
    """Return the account for which each usage key's hash was last sent to be attached, whatever the contract said."""
    taken: dict[int, int] = {}

    def change(sent: Sent) -> Sent:
        account_hash, usage_key, *_ = sent.arguments
        taken[usage_key] = account_hash
        return sent

    change_contract(node, change, {"set_usage_api_key"})
    return taken


@mutant("ACC-120", also="CHAIN-180 KEYLIFE-180")
def attached_keys_change_hands(node: Node) -> None:
    """Count a usage key that an account has for the account that last tried to attach its hash."""
    taken = _taken(node)

    def key_info(view: Callable[[int], KeyInfo], presented: int) -> KeyInfo:
        info = view(presented)
        if info.is_account_key or not info.account_hash or presented not in taken:
            return info
        return info._replace(account_hash=taken[presented])

    wrap(node.accounts, "key_info", key_info)


@mutant("ACC-120", also="AKEY-060 AKEY-070 CHAIN-180 KEYLIFE-180")
def attached_account_keys_are_usage_keys(node: Node) -> None:
    """Count an account key as a usage key of the account that last tried to attach its hash."""
    taken = _taken(node)

    def key_info(view: Callable[[int], KeyInfo], presented: int) -> KeyInfo:
        info = view(presented)
        if not info.is_account_key or presented not in taken:
            return info
        return info._replace(account_hash=taken[presented], is_account_key=False)

    wrap(node.accounts, "key_info", key_info)


@mutant("KEYLIFE-180", also="ACC-120 CHAIN-110 CHAIN-130")
def removals_reach_keys_of_other_accounts(node: Node) -> None:
    """Let an admin's `removeUsageApiKey` remove the key from whatever account has it."""

    def change(sent: Sent) -> Sent:
        account_hash, usage_key = sent.arguments
        owner = node.accounts.key_info(usage_key).account_hash
        caller = node.accounts.key_info(account_hash)
        if owner and owner != account_hash and caller.is_account_key and not caller.managed:
            with suppress(ContractRefusal):  # a dry run beside this call has removed it
                node.accounts.remove_usage_key(owner, usage_key)
        return sent

    change_contract(node, change, {"remove_usage_api_key"})
