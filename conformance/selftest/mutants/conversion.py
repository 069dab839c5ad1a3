"""Faults of the conversion: what becomes of the account and of all that it has ("States and transitions")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import Write
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    intercept,
    note_accepted,
    refusal,
    text_member,
    wrap,
)
from conformance.selftest.tools.alter_chain_answers import wrap_rpc
from conformance.selftest.tools.alter_contract import Sent, around_conversion, change_contract, converted_accounts
from conformance.selftest.tools.alter_payments import BALANCE, charge_to, claimed, give
from conformance.selftest.tools.alter_runs import all_groups
from conformance.selftest.tools.api_keys import header, presented
from conformance.selftest.tools.mutant import mutant
from reference_node.billing import Cents, charged
from reference_node.chain.account_config import AccountConfig, Group, Permissions, UsageKey
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key
from reference_node.permission.runs import Run

ALL = 100
CONVERSION = "convert_to_chain_secured_account"


def _before_conversion(node: Node, act: Callable[[AccountConfig, int], None]) -> None:
    """Do something to the account before its conversion."""

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


@mutant(
    "MODE-010",
    "MODE-020",
    "MODE-030",
    also="ERR-080 MODE-090 MODE-100 MODE-110 MODE-160 MODE-190 MODE-250 MODE-260 MODE-360",
)
def conversion_does_nothing(node: Node) -> None:
    """Answer success to a conversion, and convert nothing."""
    around_conversion(node, lambda *_: None)


@mutant("MODE-110", also="MODE-010")
def conversion_to_the_own_wallet_does_nothing(node: Node) -> None:
    """Answer success to a conversion to the wallet that is the account's already, and convert nothing."""

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        if new_admin != node.accounts.account(account_hash).admin_wallet:
            write(account_hash, new_admin)

    around_conversion(node, convert)


@mutant("MODE-030", "MODE-160", "MODE-250", also="BILL-320 MODE-090 MODE-100 MODE-360")
def conversion_sets_no_admin(node: Node) -> None:
    """Keep the admin wallet that the account had in a conversion."""
    around_conversion(node, lambda write, account, _: write(account, node.accounts.account(account).admin_wallet))


@mutant("MODE-040")
def conversion_changes_the_hash(node: Node) -> None:
    """Answer `eth_call` for a converted account under the hash of its new admin wallet only."""
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
    wrap_rpc(node, handle)


@mutant("MODE-080", "MODE-090")
def conversion_widens_permissions(node: Node) -> None:
    """Let usage keys run in every group after a conversion."""
    everywhere: Callable[[Permissions], Permissions] = lambda given: replace(given, execute_in_groups=[0])  # noqa: E731 - short
    _before_conversion(node, lambda accounts, account: _permit(accounts, account, everywhere))


@mutant("MODE-070", also="MODE-050")
def conversion_forgets_actions(node: Node) -> None:
    """Delete the account's registered actions in a conversion."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        for action in accounts.actions(account_hash, 0, ALL):
            accounts.delete_action(account_hash, action.cid_hash)

    _before_conversion(node, act)


@mutant("MODE-070")
def conversion_keeps_actions_of_groups_alone(node: Node) -> None:
    """Delete in a conversion those of the account's registered actions that no group lists."""

    def act(accounts: AccountConfig, account_hash: int) -> None:
        listed = {cid for group in all_groups(node, account_hash) for cid in group.actions}
        for action in accounts.actions(account_hash, 0, ALL):
            if action.cid_hash not in listed:
                accounts.delete_action(account_hash, action.cid_hash)

    _before_conversion(node, act)


@mutant("MODE-050", also="CHAIN-090 GRP-190 GRPLIFE-010 LIST-010 MODE-250")
def new_groups_of_converted_accounts_replace_the_oldest(node: Node) -> None:
    """Write a group that the admin wallet of a converted account adds over the account's oldest one."""
    converted = converted_accounts(node)

    def change(sent: Sent) -> Sent:
        account, *given = sent.arguments
        oldest = node.accounts.groups(account, 0, 1) if account in converted else []
        return replace(sent, function="update_group", arguments=(account, oldest[0].id, *given)) if oldest else sent

    change_contract(node, change, {"add_group"})


@mutant("MODE-250", also="CHAIN-090 CHAIN-180")
def admins_write_for_their_latest_account_alone(node: Node) -> None:
    """Let the contract refuse writes for a converted account once its admin wallet has come to another one."""
    latest: dict[Address, int] = {}

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        write(account_hash, new_admin)
        latest[new_admin] = account_hash

    def change(sent: Sent) -> Sent:
        if sent.function == "new_chain_secured_account":
            latest[sent.sender] = int.from_bytes(keccak(sent.sender))
            return sent
        is_of_the_latest = latest.get(sent.sender, sent.arguments[0]) == sent.arguments[0]
        return sent if is_of_the_latest else replace(sent, sender=Address(b"\x01" * 20))

    around_conversion(node, convert)
    change_contract(node, change)


@mutant("MODE-050", also="CHAIN-050 GRP-010 MODE-360")
def groups_of_converted_accounts_are_renumbered(node: Node) -> None:
    """Number the groups of a converted account without the gaps that removals left."""
    converted = converted_accounts(node)

    def groups(read: Callable[..., list[Group]], account_hash: int, page: int, size: int) -> list[Group]:
        found = read(account_hash, page, size)
        if account_hash not in converted:
            return found
        return [group._replace(id=page * size + place) for place, group in enumerate(found, 1)]

    wrap(node.accounts, "groups", groups)


@mutant("MODE-060", also="MINT-040 MODE-090 PKP-100 PKP-170")
def converted_accounts_sign_with_other_wallets(node: Node) -> None:
    """Derive other keys for the wallets of converted accounts."""
    converted = converted_accounts(node)

    def wallet_key(derive: Callable[..., bytes], run: Run, pkp_id: bytes) -> bytes:
        key = derive(run, pkp_id)
        return keccak(key) if run.caller.account_hash in converted else key

    wrap(node.runs, "wallet_key", wallet_key)


@mutant(
    "MODE-090",
    "MODE-330",
    "MODE-360",
    also="AUTH-160 AUTH-170 BILL-320 CHAIN-050 EXEC-010 EXEC-090 EXEC-250 MINT-120 MINT-150 SCOPE-020 UKEY-260",
)
def converted_accounts_run_nothing(node: Node) -> None:
    """Refuse every run with a usage key of an unmanaged account."""

    def can_run(ask: Callable[..., bool], hashed: int, *rest: object) -> bool:
        return node.accounts.key_info(hashed).managed and ask(hashed, *rest)

    wrap(node.accounts, "can_run", can_run)


@mutant("MODE-300")
def credits_follow_one_account_for_each_wallet(node: Node) -> None:
    """Move credits to a new admin wallet once, however many accounts are converted to it."""
    had: set[Address] = set()

    def move(original: Callable[..., None], account_hash: int, wallet: Address, new_wallet: Address) -> None:
        if new_wallet not in had:
            had.add(new_wallet)
            original(account_hash, wallet, new_wallet)

    wrap(node.billing, "move", move)


def _billing_wallets(node: Node) -> dict[int, Address]:
    """Charge each account's calls to the wallet that it had at the first of them, as long as the result holds it."""
    wallets: dict[int, Address] = {}

    @contextmanager
    def charge(_: object, account_hash: int, cents: Cents) -> Iterator[None]:
        with ExitStack() as stack:
            with node.handovers.of(account_hash):
                wallet = wallets.setdefault(account_hash, node.accounts.account(account_hash).admin_wallet)
                stack.enter_context(charged(node.billing, wallet, cents))
            yield

    wrap(node, "charged", charge)
    return wallets


@mutant("MODE-100", also="BILL-320 MODE-090")
def billing_wallet_is_looked_up_once(node: Node) -> None:
    """Charge an account's calls, for ever, to the wallet that it had at the first of them."""
    _billing_wallets(node)


@mutant("MODE-100", also="BILL-320 MODE-090 MODE-330")
def billing_wallet_outlives_the_owners_conversion(node: Node) -> None:
    """Charge on the former wallet after a conversion that the owner sends to the chain, not after one over HTTP."""
    wallets = _billing_wallets(node)

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        write(account_hash, new_admin)
        wallets.pop(account_hash, None)

    around_conversion(node, convert)


@mutant("BILL-320", "MODE-100")
def runs_are_paid_by_the_wallet_as_it_was_spelt(node: Node) -> None:
    """Charge the runs of a converted account to a record of its own where the address was spelt in lower case."""
    spelt: dict[int, Address] = {}

    def note(request: Received, _: Answered) -> None:
        address, secret = text_member(request, "new_admin_wallet_address"), parse_key(presented(request))
        if address == address.lower() and secret is not None:
            spelt[key_hash(secret)] = Address(keccak(text=address)[12:])
            give(node, spelt[key_hash(secret)], 100)

    note_accepted(node, CONVERSION, note)
    charge_to(node, spelt)


@mutant("MODE-240", also="ERR-150 MODE-210")
def refused_conversion_has_moved_billing(node: Node) -> None:
    """Charge an account's calls to the new admin wallet also after a conversion that was refused."""
    named: dict[int, Address] = {}

    async def convert(request: Received, forward: Forward) -> Answered:
        given, secret = await forward(request), parse_key(presented(request))
        if secret is not None and given.accepted:
            named.pop(key_hash(secret), None)
        elif secret is not None:
            address = text_member(request, "new_admin_wallet_address").removeprefix("0x")
            named[key_hash(secret)] = Address(bytes.fromhex(address))
        return given

    intercept(node, CONVERSION, convert)
    charge_to(node, named)


@mutant("MODE-100", also="BILL-230")
def wallet_without_an_account_is_remembered(node: Node) -> None:
    """Refuse the balance to a wallet that is no account's admin, and go on to refuse it when it becomes one."""
    unknown: set[Address] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        wallet, given = claimed(header(request, b"x-wallet-auth")), await forward(request)
        if wallet is not None and given.accepted and not node.billing.balance(wallet):
            unknown.add(wallet)
        return refusal(401) if wallet in unknown and given.accepted else given

    intercept(node, BALANCE, handler)
