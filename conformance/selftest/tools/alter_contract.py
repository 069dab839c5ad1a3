"""Alters which sender and arguments the account contract sees in a call.

The contract itself stays as it is. A transaction or an `eth_call` reaches it as if somebody else had sent it, or with
other arguments: that is how a contract with a faulty check looks from outside.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import local
from typing import Any

from eth.abc import MessageAPI, StateAPI, TransactionContextAPI
from eth_abi.abi import decode as decode_arguments
from eth_abi.abi import encode as encode_arguments

from conformance.endpoints.chain import selector
from conformance.profile import Function
from conformance.profile.chain import FIXED_WRITES, AccountAbi, AttachAbi, WriteAbi
from conformance.selftest.tools.alter import wrap
from reference_node.chain.account_config import Account, AccountConfig
from reference_node.chain.contract_abi import ContractRefusal, call_data, refusal
from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_calls import Call, Execution
from reference_node.chain.evm_machine import MemoryComputation
from reference_node.chain.evm_transactions import decode
from reference_node.chain.interface import Address, Receipt, Reverted
from reference_node.node import Node


def _signatures() -> dict[str, Function]:
    stated: dict[str, str | None] = {**FIXED_WRITES}
    for section in (AttachAbi(), WriteAbi()):
        stated |= section.model_dump()
    stated["new_chain_secured_account"] = AccountAbi().new_chain_secured_account
    return {name: Function.parse(signature) for name, signature in stated.items() if signature}


WRITES: Mapping[str, Function] = _signatures()
"""The writes that wallets may send, by canonical name."""
BY_SELECTOR = {selector(function): name for name, function in WRITES.items()}


@dataclass(frozen=True)
class Sent:
    """A call of a write."""

    sender: Address
    function: str
    """Its canonical name."""
    arguments: tuple[Any, ...]

    def data(self) -> bytes:
        """Encode the call as the contract takes it."""
        function = WRITES[self.function]
        return selector(function) + encode_arguments([one.type for one in function.inputs], self.arguments)


Change = Callable[[Sent], Sent]


def change_contract(node: Node, change: Change, functions: Collection[str] = WRITES.keys()) -> None:
    """Call the contract with what `change` makes of these writes."""

    def heard_as(sender: Address, data: bytes) -> tuple[Address, bytes]:
        name = BY_SELECTOR.get(data[:4])
        if name is None or name not in functions:
            return sender, data
        try:
            values = decode_arguments([one.type for one in WRITES[name].inputs], data[4:])
        except Exception:  # noqa: BLE001 - what does not decode goes to the contract as it is
            return sender, data
        changed = change(Sent(sender, name, tuple(values)))
        return changed.sender, changed.data()

    hear(node, heard_as)


def hear(node: Node, heard_as: Callable[[Address, bytes], tuple[Address, bytes]], *, deep: bool = False) -> None:
    """Call the contract with the sender and the data that `heard_as` makes of each call; once for each node.

    With `deep` calls by other contracts as well, not only those of a transaction or of JSON-RPC.
    """
    chain = node.chain
    if not isinstance(chain, EvmChain):
        raise TypeError("the contract of a node on an external chain is not within reach")
    heard = local()

    def reaches(sender: Address, to: Address | None, data: bytes) -> tuple[Address, bytes]:
        return heard_as(sender, data) if to == node.accounts.address else (sender, data)

    def call(original: Callable[..., Execution], asked: Call, overrides: object = None) -> Execution:
        sender, data = reaches(asked.sender, asked.to, asked.data)
        return original(replace(asked, sender=sender, data=data), overrides)

    def send(original: Callable[[bytes], Receipt], raw: bytes) -> Receipt:
        transaction = decode(raw)
        with chain.lock:
            heard.sent = reaches(Address(transaction.sender), Address(transaction.to), transaction.data)
            try:
                return original(raw)
            finally:
                del heard.sent

    class Hearing(MemoryComputation):
        """Runs a transaction's message as the changed call; other threads run calls meanwhile, as they are."""

        def __init__(self, state: StateAPI, message: MessageAPI, transaction: TransactionContextAPI) -> None:
            if message.depth == 0 and hasattr(heard, "sent"):
                message.sender, message.data = heard.sent
            elif deep and message.depth:
                called = reaches(Address(message.sender), Address(message.to), bytes(message.data))
                message.sender, message.data = called  # type: ignore[assignment]
            super().__init__(state, message, transaction)

    chain._state.computation_class = Hearing  # type: ignore[assignment]  # the machine of this one chain
    wrap(chain, "run", call)
    wrap(chain, "estimate", call)
    wrap(chain, "send", send)


def account_behind(node: Node, acting_hash: int) -> Account | None:
    """Return the account that a write with this acting hash is for; None where nobody has the hash."""
    info = node.accounts.key_info(acting_hash)
    try:
        return node.accounts.account(info.account_hash)
    except ContractRefusal:
        return None


def let_in(node: Node, who: Callable[[Address, Account], bool], functions: Collection[str] = WRITES.keys()) -> None:
    """Take writes of such senders for an unmanaged account as if its admin wallet had sent them."""

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0]) if isinstance(sent.arguments[0], int) else None
        if account is None or account.managed or not who(sent.sender, account):
            return sent
        return replace(sent, sender=account.admin_wallet)

    change_contract(node, change, functions)


def payers_of(node: Node) -> frozenset[Address]:
    """Return the addresses of all payers."""
    return frozenset({node.accounts.admin_api_payer(), *node.accounts.api_payers()})


class _Accepted(Exception):  # noqa: N818 - no fault
    """The contract would accept a write."""


def judge_only(node: Node) -> AccountConfig:
    """Return the gateway to the contract with writes that the contract judges, and that are never sent.

    A refused one raises as ever; one that would be accepted raises, too: see `accepted_for_nothing`.
    """
    gateway = copy.copy(node.accounts)
    payer = node.accounts.api_payers()[0]

    def write(function: str, *arguments: object) -> Receipt:
        try:
            node.chain.call(gateway.address, call_data(function, *arguments), payer)
        except Reverted as reverted:
            raise refusal(reverted) from None
        raise _Accepted

    gateway._write = write  # type: ignore[method-assign]  # of this copy
    return gateway


def accepted_for_nothing(gateway: AccountConfig, method: str, *arguments: object) -> None:
    """Do nothing where the contract would accept this write of a gateway that `judge_only` made."""
    with suppress(_Accepted):
        getattr(gateway, method)(*arguments)


def around_conversion(node: Node, around: Callable[[Callable[..., object], int, Address], object]) -> None:
    """Replace the conversion's write to the contract; `around` gets it first."""
    wrap(node.accounts, "convert_to_chain_secured", around)


def former_admins(node: Node) -> dict[Address, Address]:
    """Map the new admin wallet to the former one, of accounts that are converted from now on."""
    former: dict[Address, Address] = {}

    def convert(write: Callable[..., object], account: int, new_admin: Address) -> None:
        before = node.accounts.account(account).admin_wallet
        write(account, new_admin)
        former[new_admin] = before

    around_conversion(node, convert)
    return former


def converted_accounts(node: Node) -> set[int]:
    """Return the accounts that are converted from now on; it grows with them."""
    converted: set[int] = set()

    def convert(write: Callable[..., object], account: int, new_admin: Address) -> None:
        write(account, new_admin)
        converted.add(account)

    around_conversion(node, convert)
    return converted
