"""The payers: wallets of the service that pay for its administrative writes (section "Chain and payer information")."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from eth.vm.forks.london.transactions import UnsignedDynamicFeeTransaction
from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

from reference_node.chain.interface import Address, Chain, Hash, Receipt, Reverted

_before_sending: ContextVar[Callable[[Hash], None]] = ContextVar("before_sending", default=lambda _: None)


@contextmanager
def told_before_sending(tell: Callable[[Hash], None]) -> Iterator[None]:
    """Have `tell` called with the hash of each transaction of this thread before the chain can know of it."""
    token = _before_sending.set(tell)
    try:
        yield
    finally:
        _before_sending.reset(token)


class PayerPool:
    """Several payers on one chain. A write takes a free payer and gives it back once mined, so none can be doubled.

    With more writes at once than payers, the rest wait their turn.
    """

    def __init__(self, chain: Chain, private_keys: Sequence[bytes]) -> None:
        """`private_keys` are 32 bytes each, at least one."""
        if not private_keys:
            raise ValueError("a payer pool needs at least one private key")
        self._chain = chain
        self._free: queue.SimpleQueue[PrivateKey] = queue.SimpleQueue()
        payers = [PrivateKey(key) for key in private_keys]
        for payer in payers:
            self._free.put(payer)
        self.addresses: tuple[Address, ...] = tuple(payer.public_key.to_canonical_address() for payer in payers)
        """The payers' addresses, in the order of the keys."""

    def submit(self, to: Address, data: bytes, gas: int | None = None) -> Receipt:
        """Send one write and return its receipt once it is mined and has succeeded.

        Raises `Reverted` when the contract refuses, be it beforehand or in the block, `TransactionRefused` when the
        transaction can't enter a block, `ChainUnavailable` when an external chain does not answer. Without `gas` the
        chain says how much to offer.
        """
        with self._payer() as payer:
            raw = self._signed(payer, to, data, gas)
            _before_sending.get()(keccak(raw))
            receipt = self._chain.send(raw)
        if not receipt.succeeded:
            raise Reverted(receipt.revert_data)
        return receipt

    @contextmanager
    def _payer(self) -> Iterator[PrivateKey]:
        payer = self._free.get()
        try:
            yield payer
        finally:
            self._free.put(payer)

    def _signed(self, payer: PrivateKey, to: Address, data: bytes, gas: int | None) -> bytes:
        """An EIP-1559 transaction. The nonce is asked of the chain each time: others may use the same key."""
        address = payer.public_key.to_canonical_address()
        fees = self._chain.fees()
        unsigned = UnsignedDynamicFeeTransaction(
            chain_id=self._chain.chain_id,
            nonce=self._chain.next_nonce(address),
            max_priority_fee_per_gas=fees.max_priority_fee_per_gas,
            max_fee_per_gas=fees.max_fee_per_gas,
            gas=self._chain.gas_limit(to, data, address) if gas is None else gas,
            to=to,
            value=0,
            data=data,
            access_list=(),
        )
        return unsigned.as_signed_transaction(payer).encode()
