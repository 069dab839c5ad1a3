"""The AccountConfig contract: its address, its views, and writes by the suite's own wallets ("Chain", `chain.abi`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from eth_utils.address import is_hex_address

from conformance.endpoints.chain import encoded, eth_call, selector
from conformance.endpoints.sending import Receipt, as_trouble, in_lower_case
from conformance.endpoints.signing import Transaction
from conformance.problems import (
    ChainReverted,
    ChainTrouble,
    Malformed,
    Mismatch,
    NotAccepted,
    ProfileSilent,
    SetupFailed,
)
from conformance.profile import Function
from conformance.profile.abi_names import DoesNotFit, Translation, translation
from conformance.profile.chain import CREATION, FIXED_WRITES, FUNCTION_KEYS, SUITE_SIGNATURES
from conformance.service.acceptance import Accepted
from conformance.service.reads import Read
from conformance.service.refusal import Control, Refusals
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import Address
from conformance.values.json_values import member, printed, whole_number

EXECUTE = Function.parse("execute(address target, bytes data)")
"""The contract wallet's function with which its owner sends a call."""
MOST_BLOCKS = 500
"""The most blocks to search. A case's writes span fewer unless the node is slow and the chain fast."""
SHOWN = 300
PAGE = 100
"""No case creates more objects of one kind in an account."""


def chain_id(session: Session) -> int:
    """The settlement chain's id from `get_node_chain_config`, requested once for each target."""
    return session.target.remembered("chain id", lambda: _stated_chain_id(session))


def _stated_chain_id(session: Session) -> int:
    answer = session.call("get_node_chain_config")
    stated = printed(member(answer.value, "chain_id"))
    if (number := whole_number(stated)) is None:
        raise Malformed("a chain id", stated[:SHOWN], answer.exchange)
    return number


def contract_address(session: Session) -> Address:
    """The contract's address from `get_node_chain_config`, requested once for each target."""
    return session.target.remembered("contract address", lambda: _stated_address(session))


def _stated_address(session: Session) -> Address:
    answer = session.call("get_node_chain_config")
    address = member(answer.value, "contract_address")
    if not isinstance(address, str):
        raise Malformed("a contract_address", printed(answer.value)[:SHOWN], answer.exchange)
    return Address(address)


def payers(session: Session) -> list[Address]:
    """The addresses of `get_api_payers`, then that of `get_admin_api_payer`; each is requested once for a target."""
    return [*session.target.remembered("payers", lambda: _stated_payers(session)).values()]


def known_payers(session: Session) -> dict[str, Address]:
    """The same without a request, by what a report calls them: none where no case has asked yet."""
    found = session.target.known("payers")
    return found if isinstance(found, dict) else {}


def _stated_payers(session: Session) -> dict[str, Address]:
    answer = session.call("get_api_payers")
    addresses = member(answer.value, "addresses")
    admin = member(session.call("get_admin_api_payer").value, "address")
    if not isinstance(addresses, list) or not addresses or not isinstance(admin, str):
        raise Malformed("addresses of payers and of the admin payer", printed(answer.value)[:SHOWN], answer.exchange)
    unique = {address.lower(): Address(address) for address in [*map(printed, addresses), admin]}
    return {
        "admin payer" if address == admin.lower() else f"payer{number if number > 1 else ''}": found
        for number, (address, found) in enumerate(unique.items(), 1)
    }


def send_call(name: str) -> str:
    """The call name of a transaction, which a control and its refusal must share."""
    return f"send {name}"


def dry_run_call(name: str) -> str:
    """The call name of a dry run, which a control and its refusal must share."""
    return f"dry_run {name}"


class Contract:
    """Calls of the contract's functions by canonical name, with the arguments and results of the suite's signatures.

    ProfileSilent: the profile does not give the signature, or the node's function lacks what a call needs.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def address(self) -> Address:
        """The contract's address. SetupFailed: there is no contract, which `chain_information` judges (CHAIN-040)."""
        address = contract_address(self._session)
        if not self._session.target.remembered("contract has code", lambda: self._has_code(address)):
            raise SetupFailed(f"a contract at the contract_address {address}", "an address without code")
        return address

    def _has_code(self, address: Address) -> bool:
        # A malformed address is for the chain to refuse.
        return not is_hex_address(address) or self._session.chain.read("eth_getCode", [address, "latest"]) != "0x"

    def signature(self, name: str) -> str:
        """The signature of a function: the specification's where that gives one, else the profile's."""
        if name in FIXED_WRITES:
            return FIXED_WRITES[name]
        return str(self._session.stated(FUNCTION_KEYS[name]))

    def argument_names(self, name: str) -> list[str]:
        """The names of a function's arguments in the order of the node's contract."""
        return [argument.name for argument in self._translation(name).own.inputs]

    def view(self, name: str, *arguments: object) -> object:
        """Call a view: an object of its results by the suite's names."""
        function, values = self._call(name, arguments)
        return self._translation(name).results(self._session.chain.view(self.address, function, values))

    def items(self, name: str, *arguments: object) -> list[object]:
        """The first page of a view that lists something of an account: up to a hundred items."""
        answer = self.view(name, *arguments, 0, PAGE)
        return _array(next(iter(answer.values()), None) if isinstance(answer, dict) else answer, "items")

    def unchanged_items(self, name: str, *arguments: object) -> Read:
        """The same page as a read that must stay unchanged."""
        return self.unchanged_view(name, *arguments, 0, PAGE)

    def unchanged_view(self, name: str, *arguments: object) -> Read:
        """The same view as a read that must stay unchanged."""

        def read() -> object:
            self._session.settle()
            return self.view(name, *arguments)

        return Read(name, read, f"{name} of the contract {arguments!r}")

    def dry_run(self, name: str, arguments: Sequence[object], *, sender: str) -> Accepted:
        """Ask by eth_call whether a write would go through. ChainReverted: the contract refuses it."""
        function, values = self._call(name, arguments, without_labels=True)
        self._session.chain.view(self.address, replace(function, outputs=()), values, sender)
        return Accepted(dry_run_call(name))

    def must_revert_dry(self, refusals: Refusals, name: str, arguments: Sequence[object], *, sender: str) -> None:
        """Ask by eth_call for a write that the contract must refuse."""
        refusals.must_revert_dry(dry_run_call(name), lambda: self.dry_run(name, arguments, sender=sender))

    def dry_runs(self, name: str, calls: Sequence[tuple[str, Sequence[object]]]) -> list[Callable[[], object]]:
        """Dry-run a write with these senders and arguments in one request.

        Returns one function for each call; it raises ChainReverted if the contract refuses that call.
        """
        asked = [
            eth_call(self.address, *self._call(name, arguments, without_labels=True), sender)
            for sender, arguments in calls
        ]
        with as_trouble():
            return [partial(_raise_reverted, result) for result in self._session.chain.batch(asked)]

    def send(
        self, wallet: SuiteWallet, name: str, arguments: Sequence[object], *, to_be_reverted: bool = False
    ) -> Receipt:
        """Send a write and wait for its block. The owner of a contract wallet sends it through that wallet."""
        function, values = self._call(name, arguments, without_labels=name == CREATION)
        to, data = str(self.address), selector(function) + encoded(function.inputs, values)
        if wallet.contract:
            data = selector(EXECUTE) + encoded(EXECUTE.inputs, [to, f"0x{data.hex()}"])
            to = wallet.address
        return self._session.transact(wallet.signer, Transaction(to, data), to_be_reverted=to_be_reverted)

    def write(self, wallet: SuiteWallet, name: str, *arguments: object) -> tuple[Receipt, Accepted]:
        """Send a write that the contract must take; its receipt, and the control for refusals of the same write."""
        receipt = self.send(wallet, name, arguments)
        must_succeed(receipt, f"a {name} that the contract takes", self._session.last_exchange)
        return receipt, Accepted(send_call(name))

    def must_revert(self, refusals: Refusals, wallet: SuiteWallet, name: str, arguments: Sequence[object]) -> None:
        """Send a write that the contract must refuse."""
        refusals.must_revert(send_call(name), lambda: self.send(wallet, name, arguments, to_be_reverted=True))

    def _translation(self, name: str) -> Translation:
        return translation(SUITE_SIGNATURES[name], self.signature(name))

    def _call(
        self, name: str, arguments: Sequence[object], *, without_labels: bool = False
    ) -> tuple[Function, list[object]]:
        """The node's function with its arguments."""
        matched = self._translation(name)
        try:
            return matched.own, matched.arguments(arguments, without_labels=without_labels)
        except DoesNotFit as problem:
            raise ProfileSilent(str(problem), "another one") from problem
        except ValueError as problem:
            raise Mismatch("the suite's arguments", str(problem)) from problem

    def must_refuse(
        self, wallet: SuiteWallet, name: str, *arguments: object, control: Control, unchanged: Sequence[Read]
    ) -> None:
        """Send one write that the contract must refuse, held against its control and an unchanged state."""
        with Refusals(self._session, control=control, unchanged=unchanged) as refusals:
            self.must_revert(refusals, wallet, name, arguments)

    def transactions_after(self, block: int, holding: str = "") -> list[dict[str, object]]:
        """The transactions in the blocks after this one: {hash, from, to, input, block, logs}, hex in lower case.

        With `holding`, a hex text with or without 0x, those alone whose calldata hold its digits. ChainTrouble: the
        chain has grown by more than `MOST_BLOCKS`, or has fewer blocks than before.
        """
        self._session.settle()
        chain, part = self._session.chain, holding.removeprefix("0x").lower()
        newest = chain.block_number()
        if newest - block > MOST_BLOCKS:
            raise ChainTrouble(f"at most {MOST_BLOCKS} blocks after block {block}", f"the chain is at block {newest}")
        if newest < block:
            raise ChainTrouble(f"a chain that has block {block}, as before", f"the chain is at block {newest}")
        if newest == block:
            return []
        logs = defaultdict[object, list[object]](list)
        for log in _array(chain.logs({"fromBlock": hex(block + 1), "toBlock": hex(newest)}), "logs"):
            logs[printed(in_lower_case(member(log, "transactionHash")))].append(log)
        mined = [
            _with_logs(transaction, number, logs)
            for number in range(block + 1, newest + 1)
            for transaction in _array(
                member(chain.read("eth_getBlockByNumber", [hex(number), True]), "transactions"), "transactions"
            )
        ]
        return [transaction for transaction in mined if part in printed(transaction["input"])]


def _raise_reverted(result: object) -> object:
    if isinstance(result, ChainReverted):
        raise result
    return result


def must_succeed(receipt: Receipt, expected: str, exchange: int | None = None) -> None:
    """Raise NotAccepted for a transaction that was reverted."""
    if not receipt.succeeded:
        raise NotAccepted(expected, f"{receipt.hash} was reverted", exchange)


def _with_logs(transaction: object, number: int, logs: Mapping[object, list[object]]) -> dict[str, object]:
    parts: dict[str, object] = {
        name: in_lower_case(member(transaction, name)) for name in ("hash", "from", "to", "input")
    }
    emitted = [
        {name: in_lower_case(member(log, name)) for name in ("address", "topics", "data")}
        for log in logs.get(printed(parts["hash"]), ())
    ]
    return {**parts, "block": number, "logs": emitted}


def _array(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise Malformed(f"an array of {what}", printed(value)[:SHOWN])
    return value
