"""Faults of the contract as wallets and readers see it: accounts made by wallets, arguments of writes, who converts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.tools.accounts import whole
from conformance.selftest.tools.alter import change_answer, members, wrap
from conformance.selftest.tools.alter_chain_answers import Values, admins_made, change_result, change_view
from conformance.selftest.tools.alter_contract import Sent, account_behind, change_contract, let_in, payers_of
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Account, Wallet
from reference_node.chain.contract_abi import creation_code, event_topic
from reference_node.chain.interface import ZERO_ADDRESS, Address, Receipt
from reference_node.node import Node

ATTACH = ("register_wallet_derivation", "set_usage_api_key")
CONVERSION = ("convert_to_chain_secured_account",)
FLAGS, ARRAYS = 6, 9
"""Where the bools and the arrays of groups begin in the arguments of `setUsageApiKey`."""


def _changed(sent: Sent, index: int, value: object) -> Sent:
    """Replace one argument."""
    return replace(sent, arguments=(*sent.arguments[:index], value, *sent.arguments[index + 1 :]))


# ------------------------------------------------------------------------------------------------ accounts of wallets


@mutant("ACC-050", "ACC-180")
def accounts_of_wallets_are_managed(node: Node) -> None:
    """Show accounts that wallets made as managed."""
    made = admins_made(node)
    change_view(node, "get_account", lambda asked, told: (asked[0] in made or told[0], *told[1:]))


@mutant("ACC-030", "ACC-180", also="AUTH-170")
def accounts_of_wallets_are_a_payers(node: Node) -> None:
    """Show a payer as the admin of accounts that wallets made."""
    payer = to_checksum_address(node.accounts.api_payers()[0])
    made = admins_made(node)
    change_view(node, "get_account", lambda asked, told: (told[0], payer, *told[2:]) if asked[0] in made else told)


@mutant("ACC-060")
def accounts_are_named_by_the_padded_address(node: Node) -> None:
    """Find the account of a wallet under the hash of its address in 32 bytes."""
    made = admins_made(node)

    def exists(asked: Values, told: Values) -> Values:
        padded = {int.from_bytes(keccak(admin.rjust(32, b"\x00"))) for admin in made.values()}
        return (asked[0] in padded or (told[0] and asked[0] not in made),)

    change_view(node, "account_exists", exists)


@mutant("ACC-060")
def accounts_are_named_by_the_text_of_the_address_too(node: Node) -> None:
    """Find the account of a wallet also under the hash of its address as text."""
    made = admins_made(node)

    def exists(asked: Values, told: Values) -> Values:
        texts = {int.from_bytes(keccak(text=to_checksum_address(admin))) for admin in made.values()}
        return (told[0] or asked[0] in texts,)

    change_view(node, "account_exists", exists)


# ------------------------------------------------------------------------------------------------ arguments of writes


# ------------------------------------------------------------------------------------------------ whose account it is


@mutant("CHAIN-180", "ACC-150", also="ACC-120 AUTH-170 CHAIN-090 KEYLIFE-180 MINT-030 PKP-080")
def writes_of_wallets_land_in_the_first_account(node: Node) -> None:
    """Write what a wallet registers, attaches and groups into the account that a wallet made first."""

    def change(sent: Sent) -> Sent:
        if sent.arguments[0] not in made:
            return sent
        first, admin = next(iter(made.items()))
        return replace(_changed(sent, 0, first), sender=admin)

    change_contract(node, change, (*ATTACH, "add_group"))
    made = admins_made(node)


@mutant("MINT-060", "MINT-160", also="CHAIN-090 CHAIN-110")
def any_admin_attaches_to_any_account(node: Node) -> None:
    """Let the admin of any account register and attach in every account."""
    let_in(node, lambda sender, _: sender in made.values(), ATTACH)
    made = admins_made(node)


@mutant("CHAIN-180", also="ACC-110")
def attached_keys_show_in_every_account(node: Node) -> None:
    """Show the usage keys of all accounts that wallets made in the contract's list of each of these."""
    made = admins_made(node)

    def everybodys(asked: Values, told: Values) -> Values:
        account, page, _ = asked
        if account not in made or page:
            return told
        keys = [key for account in made for key in whole(node.accounts.usage_keys, account)]
        return (
            [
                (key.key_hash, key.expiration, key.balance, key.name, key.description, *key.permissions.arguments())
                for key in keys
            ],
        )

    change_view(node, "list_usage_api_keys", everybodys)


@mutant("CHAIN-180", also="CHAIN-050")
def registrations_rename_the_owners_wallet(node: Node) -> None:
    """Name a wallet in every account as the wallet did that registered it last, in lists over HTTP and of the chain."""
    newest: dict[bytes, tuple[str, str]] = {}

    def send(mine: Callable[[bytes], Receipt], raw: bytes) -> Receipt:
        receipt = mine(raw)
        for log in receipt.logs:
            if log.topics[0] == event_topic("WalletRegistered"):
                wallet = node.accounts.wallet(int.from_bytes(log.topics[1]), log.topics[2])
                newest[wallet.id] = (wallet.name, wallet.description)
        return receipt

    def over_http(wallets: Callable[..., list[Wallet]], *asked: int) -> list[Wallet]:
        listed = [(wallet, newest.get(wallet.id, (wallet.name, wallet.description))) for wallet in wallets(*asked)]
        return [wallet._replace(name=name, description=description) for wallet, (name, description) in listed]

    def on_chain(_: Values, told: Values) -> Values:
        return ([(*wallet[:3], *newest.get(wallet[0], wallet[3:])) for wallet in told[0]],)

    wrap(node.chain, "send", send)
    wrap(node.accounts, "wallets", over_http)
    change_view(node, "list_wallets", on_chain)


@mutant(
    "MINT-170",
    each=[
        row("anybody", lambda *_: True, also="CHAIN-130 MINT-160"),
        row("its-own-wallet", lambda sender, account: sender == account.admin_wallet),
    ],
)
def others_attach_to_managed_accounts(node: Node, who: Callable[[Address, Account], bool]) -> None:
    """Let the contract attach usage keys to managed accounts for others than the service; the label says for whom."""
    payer = node.accounts.api_payers()[0]

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        return replace(sent, sender=payer) if account and account.managed and who(sent.sender, account) else sent

    change_contract(node, change, ATTACH[1:])


# ------------------------------------------------------------------------------------------------------ who converts


@mutant("MODE-200", also="CHAIN-130")
def anybody_converts_accounts(node: Node) -> None:
    """Let the contract take a conversion from anybody."""
    payer = node.accounts.api_payers()[0]
    change_contract(node, lambda sent: replace(sent, sender=payer), CONVERSION)


@mutant("MODE-200")
def makers_of_accounts_convert_others(node: Node) -> None:
    """Let the contract take a conversion from whoever has made an account on the chain."""
    payer, makers = node.accounts.api_payers()[0], set[Address]()

    def note(sent: Sent) -> Sent:
        makers.add(sent.sender)
        return sent

    change_contract(node, note, {"new_chain_secured_account"})
    change_contract(node, lambda sent: replace(sent, sender=payer) if sent.sender in makers else sent, CONVERSION)


@mutant("MODE-200")
def owners_convert_nothing(node: Node) -> None:
    """Let the contract refuse a conversion that the account's owner sends."""
    payers = payers_of(node)
    change_contract(
        node, lambda sent: sent if sent.sender in payers else replace(sent, sender=ZERO_ADDRESS), CONVERSION
    )


# ------------------------------------------------------------------------------------------------ what readers are told


@mutant("CHAIN-160")
def no_write_leaves_a_log(node: Node) -> None:
    """Leave logs out of receipts."""
    change_result(
        node, "eth_getTransactionReceipt", lambda _, told: {**members(told), "logs": []} if told is not None else told
    )


@mutant("CHAIN-160")
def updates_leave_no_log(node: Node) -> None:
    """Leave logs of updated groups out of receipts."""
    quiet = f"0x{keccak(text='GroupUpdated(uint256,uint64,string,string,bytes32[],bytes32[])').hex()}"

    def without(_: dict[str, JsonValue], told: JsonValue) -> JsonValue:
        logs = members(told).get("logs")
        kept = [log for log in logs if quiet not in str(log)] if isinstance(logs, list) else logs
        return {**members(told), "logs": kept} if told is not None else told

    change_result(node, "eth_getTransactionReceipt", without)


@mutant("CHAIN-160")
def writes_of_payers_leave_no_log(node: Node) -> None:
    """Leave logs of payers' transactions out of `eth_getLogs`."""
    payers = {f"0x{payer.hex()}" for payer in payers_of(node)}

    def without(_: dict[str, JsonValue], told: JsonValue) -> JsonValue:
        logs = [members(log) for log in told] if isinstance(told, list) else []
        return [log for log in logs if _sender(node, str(log["transactionHash"])) not in payers]

    change_result(node, "eth_getLogs", without)


def _sender(node: Node, transaction_hash: str) -> str:
    """Return who sent a transaction, in lower case."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionByHash", "params": [transaction_hash]}
    told = node.rpc.handle(json.dumps(request).encode()) if node.rpc else None
    return str(members(members(json.loads(told or b"{}")).get("result")).get("from")).lower()


@mutant("CHAIN-040")
def config_names_an_older_contract(node: Node) -> None:
    """Answer as `contract_address` another AccountConfig, which knows none of the accounts."""
    payers = node.accounts._payers
    receipt = payers.submit(b"", creation_code(node.accounts.admin_api_payer(), node.accounts.api_payers()))
    older = to_checksum_address(receipt.contract_address or ZERO_ADDRESS)
    change_answer(node, "get_node_chain_config", lambda value: {**members(value), "contract_address": older})
