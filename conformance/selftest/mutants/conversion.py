"""Faults of the conversion: what becomes of the account and of all that it has ("States and transitions")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import NOTHING, Write
from conformance.selftest.tools.alter import silence, wrap
from conformance.selftest.tools.alter_contract import around_conversion
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import AccountConfig, Group, Permissions, UsageKey
from reference_node.chain.interface import Address
from reference_node.node import Node

ALL = 100


def _before_conversion(node: Node, act: Callable[[AccountConfig, int], None]) -> None:
    """Something done to the account before it is handed over."""

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        act(node.accounts, account_hash)
        write(account_hash, new_admin)

    around_conversion(node, convert)


def _keys(accounts: AccountConfig, account_hash: int) -> Sequence[UsageKey]:
    return accounts.usage_keys(account_hash, 0, ALL)


def _permit(accounts: AccountConfig, account_hash: int, change: Callable[[Permissions], Permissions]) -> None:
    for key in _keys(accounts, account_hash):
        permissions = change(key.permissions)
        accounts.update_usage_key(account_hash, key.key_hash, key.name, key.description, permissions)


@mutant("MODE-010", "MODE-020", "MODE-030")
def conversion_does_nothing(node: Node) -> None:
    """The conversion answers success, and the account stays as it is."""
    around_conversion(node, lambda *_: None)


@mutant("MODE-030", "MODE-160", "MODE-250")
def conversion_sets_no_admin(node: Node) -> None:
    """The account becomes unmanaged under the admin wallet that it had."""
    around_conversion(node, lambda write, account, _: write(account, node.accounts.account(account).admin_wallet))


@mutant("MODE-030", "MODE-160", "CHAIN-100")
def payer_becomes_the_admin(node: Node) -> None:
    """The payer that sends the conversion becomes the new admin."""
    around_conversion(node, lambda write, account, _: write(account, node.accounts.api_payers()[0]))


@mutant("MODE-040")
def conversion_changes_the_hash(node: Node) -> None:
    """To whom asks the contract, a converted account is known by the hash of its admin wallet, no more by its own."""
    swapped: dict[bytes, bytes] = {}

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        write(account_hash, new_admin)
        old, new = (f"{number:064x}".encode() for number in (account_hash, int.from_bytes(keccak(new_admin))))
        swapped.update({old: new, new: old})

    def handle(original: Callable[[bytes], bytes | None], body: bytes) -> bytes | None:
        for old, new in swapped.items():
            if old in body and b"eth_call" in body:
                return original(body.replace(old, new))
        return original(body)

    around_conversion(node, convert)
    wrap(node.rpc, "handle", handle)


@mutant("MODE-080", "MODE-090", "MODE-360")
def conversion_drops_usage_keys(node: Node) -> None:
    """Usage keys are removed when their account is converted."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for key in _keys(accounts, account_hash):
            accounts.remove_usage_key(account_hash, key.key_hash)

    _before_conversion(node, act)


@mutant("MODE-080", "MODE-090")
def conversion_clears_permissions(node: Node) -> None:
    """Usage keys lose what they may do."""
    _before_conversion(node, lambda accounts, account: _permit(accounts, account, lambda _: NOTHING))


@mutant("MODE-080", "MODE-090")
def conversion_widens_permissions(node: Node) -> None:
    """Usage keys may run in every group from then on."""
    everywhere: Callable[[Permissions], Permissions] = lambda given: replace(given, execute_in_groups=[0])  # noqa: E731 - short
    _before_conversion(node, lambda accounts, account: _permit(accounts, account, everywhere))


@mutant("MODE-080")
def conversion_renames_usage_keys(node: Node) -> None:
    """Usage keys lose their names."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for key in _keys(accounts, account_hash):
            accounts.update_usage_key_metadata(account_hash, key.key_hash, "", key.description)

    _before_conversion(node, act)


@mutant("MODE-050")
def conversion_removes_groups(node: Node) -> None:
    """The account's last group is gone after the conversion."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for group in accounts.groups(account_hash, 0, ALL)[-1:]:
            accounts.remove_group(account_hash, group.id)

    _before_conversion(node, act)


@mutant("MODE-050", "MODE-090")
def conversion_empties_groups(node: Node) -> None:
    """Groups stay, and list neither wallets nor actions any more."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for group in accounts.groups(account_hash, 0, ALL):
            accounts.update_group(account_hash, Group(*group), [], [])

    _before_conversion(node, act)


@mutant("MODE-070")
def conversion_forgets_actions(node: Node) -> None:
    """The account's registered actions are deleted."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for action in accounts.actions(account_hash, 0, ALL):
            accounts.delete_action(account_hash, action.cid_hash)

    _before_conversion(node, act)


@mutant("MODE-070")
def conversion_forgets_names_of_actions(node: Node) -> None:
    """The account's actions lose their descriptions."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for action in accounts.actions(account_hash, 0, ALL):
            accounts.update_action_metadata(account_hash, action.cid_hash, action.name, "")

    _before_conversion(node, act)


@mutant("MODE-060", "MODE-360")
def wallets_of_converted_accounts_are_hidden(node: Node) -> None:
    """No wallet of a converted account is listed."""

    def wallets(read: Write, account_hash: int, *page: int) -> object:
        return read(account_hash, *page) if node.accounts.account(account_hash).managed else []

    wrap(node.accounts, "wallets", wallets)


@mutant("MODE-060", "MODE-090")
def converted_accounts_sign_with_other_wallets(node: Node) -> None:
    """A wallet of a converted account is derived anew: runs sign with another key."""

    def wallet_key(derive: Callable[..., bytes], run: object, pkp_id: bytes) -> bytes:
        key = derive(run, pkp_id)
        account_hash = run.caller.account_hash  # type: ignore[attr-defined]
        return key if node.accounts.account(account_hash).managed else keccak(key)

    wrap(node.runs, "wallet_key", wallet_key)


@mutant("MODE-090", "MODE-330", "MODE-360")
def converted_accounts_run_nothing(node: Node) -> None:
    """Usage keys of unmanaged accounts are refused every run."""

    def can_run(ask: Callable[..., bool], hashed: int, *rest: object) -> bool:
        return node.accounts.key_info(hashed).managed and ask(hashed, *rest)

    wrap(node.accounts, "can_run", can_run)


@mutant("MODE-100")
def credits_stay_behind(node: Node) -> None:
    """The record of credits does not follow the account to its new admin wallet."""
    silence(node.billing, "move")


@mutant("MODE-100")
def billing_looks_up_the_former_wallet(node: Node) -> None:
    """What a converted account owes is booked where the lookup of before the conversion says, and not seen any more."""

    def charged(charge: Callable[..., AbstractContextManager[None]], account_hash: int, cents: int) -> object:
        managed = node.accounts.account(account_hash).managed
        return charge(account_hash, cents) if managed else nullcontext()

    wrap(node, "charged", charged)
