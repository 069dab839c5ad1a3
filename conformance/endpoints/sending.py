"""Sends transactions of the suite's own wallets: estimates, signs, submits, and waits for the block.

The contract's decisions are reported as they are. Any other failure is a ChainTrouble and makes the case inconclusive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from conformance.endpoints.chain import ChainClient, quantity
from conformance.endpoints.messages import SHOWN
from conformance.endpoints.pace import GasBudget
from conformance.endpoints.patience import MiningPatience
from conformance.endpoints.signing import Fees, Transaction, signed
from conformance.problems import ChainReverted, ChainTrouble, Malformed, ServerFault
from conformance.values.json_values import member, printed
from conformance.values.typed_data import Wallet

FIRST_POLL_SECONDS, LONGEST_POLL_SECONDS = 0.01, 2.0
"""The first and the longest pause between two requests for a receipt; each pause is double the one before."""
MOST_TRIES = 5
GAS_OF_A_REVERT = 1_000_000
"""The gas limit of a transaction that has to be reverted, for which there is no estimate."""
MOST_OF_A_LIMIT = 0.9
"""A failed transaction that used this part of its limit may have run out of gas."""
TRANSFER_GAS = 21_000
"""What every transaction uses at least."""
KNOWN = ("already known", "already imported", "known transaction")
"""Errors of chains for a transaction that they have already."""
OUT_OF_TURN = ("nonce", "underpriced")
"""Errors of chains when another transaction has taken the nonce."""


@dataclass(frozen=True)
class Receipt:
    """The outcome of a transaction."""

    hash: str
    succeeded: bool
    block: int | None
    """None where the chain refused it with the contract's own revert, so that no block holds it."""
    gas_used: int
    contract_address: str | None
    logs: tuple[object, ...]
    """Each with `address`, `topics` and `data`."""


class Sender:
    """Sends transactions on the chain of one case."""

    def __init__(self, chain: ChainClient, budget: GasBudget, patience: MiningPatience | None = None) -> None:
        self.chain = chain
        self._budget = budget
        self._patience = patience or MiningPatience()
        self._mined_at_once: dict[str, object] = {}
        """The receipt, by hash, that the chain returned in the request which sent the last transaction."""

    def send(
        self,
        wallet: Wallet,
        transaction: Transaction,
        provide: Callable[[int, Fees], None],
        *,
        to_be_reverted: bool = False,
    ) -> Receipt:
        """Send a transaction and wait for its block; `provide` makes the wallet hold so many wei.

        Raises ChainReverted when the contract would revert what is not `to_be_reverted`, ChainTrouble and GasSpent.
        """
        with as_trouble():
            gas = GAS_OF_A_REVERT if to_be_reverted else self._likely_gas(wallet, transaction)
            receipt = self._paid(wallet, transaction, gas, provide)
            if receipt.succeeded or (to_be_reverted and receipt.gas_used < MOST_OF_A_LIMIT * gas):
                return receipt
            try:  # running out of gas would look like a refusal
                enough = self._estimate(wallet, transaction)
            except ChainReverted:
                if to_be_reverted:
                    return receipt
                raise
            return self._paid(wallet, transaction, enough, provide)

    def _paid(
        self, wallet: Wallet, transaction: Transaction, gas: int, provide: Callable[[int, Fees], None]
    ) -> Receipt:
        """Send it with this gas limit, within the budget."""
        fees = self.chain.fees()
        self._budget.take(gas)
        used = gas
        try:
            provide(transaction.value + gas * fees.most, fees)
            receipt = self._mined(wallet, transaction, gas, fees)
            if receipt.block is not None:  # what the chain refused may still be mined, and counts with its limit
                used = _plausible(receipt.gas_used, gas)
        finally:
            self._budget.give_back(gas - used)
            self.chain.count_gas(used)
        return receipt

    def hand_over(
        self, wallet: Wallet, transaction: Transaction, gas: int, fees: Fees, nonces: set[int] | None = None
    ) -> str:
        """Send it without waiting. Returns its hash. Raises ChainReverted, ChainTrouble and GasSpent.

        Each further nonce counts as a transaction of its own, since a chain might mine them all. `nonces` are those
        that earlier tries have used; this one's are added.
        """
        nonces = set() if nonces is None else nonces
        for _ in range(MOST_TRIES):
            nonce = self.chain.next_nonce(wallet.address)
            if nonces and nonce not in nonces:
                self._budget.take(gas)
            nonces.add(nonce)
            raw, expected = signed(transaction, wallet, chain_id=self.chain.chain_id(), nonce=nonce, gas=gas, fees=fees)
            if self._submitted(raw, expected):
                self.chain.note_sent(wallet.address, nonce)
                return expected
            self.chain.note_nonce(wallet.address, None)
        raise ChainTrouble("a nonce that is free", f"none in {MOST_TRIES} tries for {wallet.address}")

    def _likely_gas(self, wallet: Wallet, transaction: Transaction) -> int:
        """The estimate for the last transaction with the same function and number of arguments."""
        kind = f"gas {transaction.to} {transaction.data[:4].hex()} {len(transaction.data)}"
        return self.chain.remembered(kind, lambda: self._estimate(wallet, transaction))

    def _estimate(self, wallet: Wallet, transaction: Transaction) -> int:
        call: dict[str, object] = {"from": wallet.address, "data": f"0x{transaction.data.hex()}"}
        if transaction.to is not None:
            call["to"] = transaction.to
        if transaction.value:
            call["value"] = hex(transaction.value)
        estimate = self.chain.estimate(call)
        return estimate + estimate // 4

    def _mined(self, wallet: Wallet, transaction: Transaction, gas: int, fees: Fees) -> Receipt:
        try:
            sent = self.hand_over(wallet, transaction, gas, fees)
        except ChainReverted as refused:
            if not refused.by_contract:
                raise
            return Receipt("", succeeded=False, block=None, gas_used=0, contract_address=None, logs=())
        return self._awaited(sent)

    def _submitted(self, raw: str, expected: str) -> bool:
        """Whether the chain took it; False where another transaction has its nonce."""
        for last in (False, False, True):
            try:
                sent, receipt = self.chain.batch(
                    [("eth_sendRawTransaction", [raw]), ("eth_getTransactionReceipt", [expected])]
                )
            except ServerFault:  # submitting it again is harmless
                if last:
                    raise
                continue
            if not isinstance(sent, ChainReverted):
                self._mined_at_once = {expected: receipt}
                return True
            message = sent.got.lower()
            if any(words in message for words in KNOWN):
                return True
            if not sent.by_contract and any(words in message for words in OUT_OF_TURN):
                return False
            raise sent
        return True

    def _awaited(self, sent: str) -> Receipt:
        seconds = self._patience.seconds
        deadline = time.monotonic() + seconds
        pause = FIRST_POLL_SECONDS
        receipt = self._mined_at_once.pop(sent, None)
        while True:
            if receipt is None:
                receipt = self.chain.read("eth_getTransactionReceipt", [sent])
            if isinstance(receipt, dict) and receipt.get("blockNumber") is not None:
                self._patience.note(is_mined=True)
                if (found := receipt_of(receipt)).hash != sent:
                    raise ChainTrouble(f"the receipt of the transaction {sent}", f"that of {found.hash}")
                return found
            if time.monotonic() + pause > deadline:
                self._patience.note(is_mined=False)
                raise ChainTrouble(f"a block with the transaction {sent}", f"none in {seconds:.0f} s")
            self.chain.pause(pause)
            receipt = None
            pause = min(2 * pause, LONGEST_POLL_SECONDS)


def _plausible(used: int, limit: int) -> int:
    """The gas that a receipt states. ChainTrouble: no transaction with this limit can have used it."""
    if not TRANSFER_GAS <= used <= limit:
        raise ChainTrouble(f"a receipt with {TRANSFER_GAS} to {limit} units of gas", f"{used} units")
    return used


def receipt_of(fields: dict[str, object]) -> Receipt:
    """A receipt as the chain writes it; hex in lower case. Raises Malformed."""
    logs = fields.get("logs")
    address = fields.get("contractAddress")
    try:
        return Receipt(
            hash=str(fields["transactionHash"]).lower(),
            succeeded=quantity(fields["status"]) == 1,
            block=quantity(fields["blockNumber"]),
            gas_used=quantity(fields["gasUsed"]),
            contract_address=address.lower() if isinstance(address, str) else None,
            logs=tuple(
                {name: in_lower_case(member(log, name)) for name in ("address", "topics", "data")}
                for log in (logs if isinstance(logs, list) else ())
            ),
        )
    except (KeyError, Malformed) as problem:
        raise Malformed("a receipt", printed(fields)[:SHOWN]) from problem


def in_lower_case(value: object) -> object:
    """Texts, alone or in an array, in lower case; null for anything else."""
    if isinstance(value, list):
        return [in_lower_case(item) for item in value]
    return value.lower() if isinstance(value, str) else None


@contextmanager
def as_trouble() -> Iterator[None]:
    """Turn errors of the chain, except reverts of the contract, into ChainTrouble."""
    try:
        yield
    except ChainReverted as problem:
        if problem.by_contract:
            raise
        raise ChainTrouble(problem.expected, problem.got, problem.exchange) from problem
    except (ServerFault, Malformed) as problem:
        raise ChainTrouble(problem.expected, problem.got, problem.exchange) from problem
