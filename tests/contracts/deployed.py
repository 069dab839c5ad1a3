"""A compiled contract on the in-memory chain, spoken to in Python values.

Addresses are lower-case hex text, hashes and bytes are bytes, structs and arrays are tuples. A refusal and an event are
tuples too: the name, then the arguments in declared order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from eth.vm.forks.london.transactions import UnsignedDynamicFeeTransaction
from eth_abi.abi import decode, encode
from eth_keys.datatypes import PrivateKey
from eth_typing import ABI, ABIElement, Address
from eth_utils.abi import abi_to_signature, get_abi_input_types, get_abi_output_types
from eth_utils.crypto import keccak

from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_calls import Call
from reference_node.chain.evm_state import Account
from reference_node.chain.interface import Log, Receipt, Reverted
from reference_node.resources import artifacts

Named: TypeAlias = tuple[object, ...]
"""An event or a custom error: its name, then its arguments."""


@dataclass(frozen=True)
class Wallet:
    """A private key with its address."""

    key: PrivateKey

    @classmethod
    def numbered(cls, number: int) -> Wallet:
        """The same wallet for the same number, which is its private key."""
        return cls(PrivateKey(number.to_bytes(32, "big")))

    @property
    def raw_address(self) -> bytes:
        """The 20 bytes."""
        return self.key.public_key.to_canonical_address()

    @property
    def address(self) -> str:
        """Lower-case hex, as the ABI decoder gives addresses."""
        return "0x" + self.raw_address.hex()


class Refused(AssertionError):  # noqa: N818 - named for what happened
    """A write that a test expected to succeed was refused."""

    def __init__(self, what: str, refusal: Named) -> None:
        super().__init__(f"{what} was refused: {refusal}")
        self.refusal = refusal


class Deployed:
    """One contract. Writes are signed transactions, each in a block of its own."""

    def __init__(self, chain: EvmChain, name: str, constructor_arguments: tuple[object, ...], deployer: Wallet) -> None:
        self.chain = chain
        self.interface = Interface(name)
        receipt = self._send(deployer, b"", self.interface.creation(constructor_arguments))
        if receipt.contract_address is None:
            raise Refused(f"deploying {name}", self.interface.refusal(receipt.revert_data))
        self.raw_address = receipt.contract_address
        self.deployment = receipt

    @property
    def address(self) -> str:
        """Lower-case hex."""
        return "0x" + self.raw_address.hex()

    def call(self, function: str, *arguments: object, sender: Wallet | None = None) -> object:
        """A view's result: the value, or a tuple where there are several. Raises `Refused`."""
        raw_sender = sender.raw_address if sender else bytes(20)
        try:
            output = self.chain.call(self.raw_address, self.interface.call_data(function, arguments), raw_sender)
        except Reverted as reverted:
            raise Refused(f"{function}{arguments}", self.interface.refusal(reverted.data)) from reverted
        return self.interface.result(function, output)

    def rows(self, function: str, *arguments: object) -> tuple[tuple[object, ...], ...]:
        """The result of a view that lists structs."""
        rows = self.call(function, *arguments)
        assert isinstance(rows, tuple)
        return rows

    def call_refusal(self, function: str, *arguments: object) -> Named:
        """How a view is refused; fails where it is not."""
        try:
            result = self.call(function, *arguments)
        except Refused as refused:
            return refused.refusal
        raise AssertionError(f"{function}{arguments} was not refused: {result}")

    def write(self, function: str, *arguments: object, sender: Wallet) -> list[Named]:
        """Send a write and return the events it emitted. Raises `Refused`."""
        receipt = self.receipt(function, *arguments, sender=sender)
        if not receipt.succeeded:
            raise Refused(f"{function}{arguments}", self.interface.refusal(receipt.revert_data))
        return [self.interface.event(log) for log in receipt.logs]

    def refusal(self, function: str, *arguments: object, sender: Wallet) -> Named:
        """How a write is refused; fails where it is not, or where the refused write left a trace."""
        before = self.storage()
        receipt = self.receipt(function, *arguments, sender=sender)
        assert not receipt.succeeded, f"{function}{arguments} was not refused"
        assert not receipt.logs
        assert self.storage() == before
        return self.interface.refusal(receipt.revert_data)

    def receipt(self, function: str, *arguments: object, sender: Wallet) -> Receipt:
        """Send a write, refused or not."""
        return self._send(sender, self.raw_address, self.interface.call_data(function, arguments))

    def call_gas(self, function: str, *arguments: object) -> int:
        """Gas that a view would cost as a transaction."""
        execution = self.chain.run(Call(to=self.raw_address, data=self.interface.call_data(function, arguments)))
        assert execution.error is None
        return execution.gas_used

    def storage(self) -> dict[int, int]:
        """Every slot of the contract that is not zero."""
        return dict(self._account.storage)

    def restore(self, storage: dict[int, int]) -> None:
        """Put every slot back to what `storage` once said."""
        self._account.storage = dict(storage)

    @property
    def _account(self) -> Account:
        # The chain's own view gives one slot at a time.
        return self.chain._state._accounts._accounts[Address(self.raw_address)]

    def _send(self, sender: Wallet, to: bytes, data: bytes) -> Receipt:
        fees = self.chain.fees()
        unsigned = UnsignedDynamicFeeTransaction(
            chain_id=self.chain.chain_id,
            nonce=self.chain.next_nonce(sender.raw_address),
            max_priority_fee_per_gas=fees.max_priority_fee_per_gas,
            max_fee_per_gas=fees.max_fee_per_gas,
            gas=self.chain.gas_limit(to, data, sender.raw_address),
            to=Address(to),
            value=0,
            data=data,
            access_list=(),
        )
        return self.chain.send(unsigned.as_signed_transaction(sender.key).encode())


class Interface:
    """A contract's ABI and bytecode, from its committed artifact."""

    def __init__(self, name: str) -> None:
        abi, self._bytecode = _artifact(name)
        self._constructor = next(entry for entry in abi if entry["type"] == "constructor")
        self.functions = {entry["name"]: entry for entry in abi if entry["type"] == "function"}
        self.errors = {_topic(entry)[:4]: entry for entry in abi if entry["type"] == "error"}
        self.events = {_topic(entry): entry for entry in abi if entry["type"] == "event"}

    @property
    def writes(self) -> set[str]:
        """The names of all functions that change state."""
        return {name for name, entry in self.functions.items() if entry["stateMutability"] == "nonpayable"}

    def creation(self, arguments: tuple[object, ...]) -> bytes:
        """Init code with the constructor's arguments."""
        return self._bytecode + encode(get_abi_input_types(self._constructor), arguments)

    def call_data(self, function: str, arguments: tuple[object, ...]) -> bytes:
        """Selector and arguments."""
        entry = self.functions[function]
        return _topic(entry)[:4] + encode(get_abi_input_types(entry), arguments)

    def result(self, function: str, output: bytes) -> object:
        """A function's result."""
        values = decode(get_abi_output_types(self.functions[function]), output)
        return values[0] if len(values) == 1 else values

    def refusal(self, data: bytes) -> Named:
        """A custom error; anything else is a fault of the contract."""
        entry = self.errors.get(data[:4])
        assert entry is not None, f"reverted without a custom error: 0x{data.hex()}"
        return (entry["name"], *decode(get_abi_input_types(entry), data[4:]))

    def event(self, log: Log) -> Named:
        """An event with indexed and other arguments in declared order."""
        entry = self.events[log.topics[0]]
        types = get_abi_input_types(entry)
        indexed = [bool(component.get("indexed")) for component in entry["inputs"]]
        rest = iter(decode([kind for kind, topic in zip(types, indexed, strict=True) if not topic], log.data))
        topics = iter(log.topics[1:])
        return (
            entry["name"],
            *(
                decode([kind], next(topics))[0] if topic else next(rest)
                for kind, topic in zip(types, indexed, strict=True)
            ),
        )


@cache
def _artifact(name: str) -> tuple[ABI, bytes]:
    content = json.loads((artifacts() / f"{name}.json").read_text(encoding="utf-8"))
    return content["abi"], bytes.fromhex(content["bytecode"].removeprefix("0x"))


def _topic(entry: ABIElement) -> bytes:
    return keccak(text=abi_to_signature(entry))
