"""An external settlement chain, over its JSON-RPC. Permission state then outlives the node."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from eth_utils.crypto import keccak

from reference_node.chain import rpc_values as values
from reference_node.chain.evm_transactions import decode
from reference_node.chain.external_rpc import NotReached, RpcClient, RpcFailure
from reference_node.chain.interface import (
    ZERO_ADDRESS,
    Address,
    ChainError,
    ChainUnavailable,
    Fees,
    Hash,
    Log,
    OutcomeUnknown,
    Receipt,
    Reverted,
    TransactionRefused,
    WrongChain,
)
from reference_node.chain.rpc_values import METHOD_NOT_FOUND, InvalidParams, Json, hex_data

T = TypeVar("T")

DEFAULT_PRIORITY_FEE = 10**9
"""Wei per gas on top, where the chain has no opinion."""

KNOWN_TRANSACTION = ("already known", "already imported", "known transaction")
"""What chains say when they are handed a transaction a second time."""

FIRST_POLL_SECONDS, LONGEST_POLL_SECONDS = 0.005, 1.0
"""The time between two looks for a receipt doubles from the one to the other."""


class ExternalChain:
    """The chain behind `rpc_url`. Raises `WrongChain` at once when its id is not `chain_id`.

    `confirmation_seconds` is how long a sent transaction may take to be mined before `send` gives up on it.
    """

    def __init__(self, rpc_url: str, chain_id: int | None = None, confirmation_seconds: float = 60.0) -> None:
        self._rpc = RpcClient(rpc_url)
        self._confirmation_seconds = confirmation_seconds
        try:
            self._chain_id = self._read(values.quantity, "eth_chainId")
            if chain_id not in {None, self._chain_id}:
                raise WrongChain(f"the chain at {rpc_url} has id {self._chain_id}, not {chain_id}")
        except ChainError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections."""
        self._rpc.close()

    @property
    def chain_id(self) -> int:
        """The id that the chain gave at the start."""
        return self._chain_id

    def call(self, to: Address, data: bytes, sender: Address = ZERO_ADDRESS) -> bytes:
        """Run a view on the latest block; raises `Reverted`."""
        return self._execute(values.data, "eth_call", _request(to, data, sender), "latest")

    def gas_limit(self, to: Address, data: bytes, sender: Address) -> int:
        """The chain's estimate and a quarter more, for state may move meanwhile; raises `Reverted`."""
        estimate = self._execute(values.quantity, "eth_estimateGas", _request(to, data, sender))
        return estimate + estimate // 4

    def next_nonce(self, address: Address) -> int:
        """The nonce after all transactions of this address, those included that wait to be mined."""
        return self._read(values.quantity, "eth_getTransactionCount", hex_data(address), "pending")

    def balance(self, address: Address) -> int:
        """The balance in wei."""
        return self._read(values.quantity, "eth_getBalance", hex_data(address), "latest")

    def code(self, address: Address) -> bytes:
        """The runtime code, empty where there is no contract."""
        return self._read(values.data, "eth_getCode", hex_data(address), "latest")

    def fees(self) -> Fees:
        """Enough for the base fee to double before the transaction is mined."""
        latest = self._read(values.mapping, "eth_getBlockByNumber", "latest", False)
        tip = self._priority_fee()
        return Fees(2 * (values.member(latest, "baseFeePerGas", values.quantity) or 0) + tip, tip)

    def _priority_fee(self) -> int:
        try:
            return _parsed(values.quantity, self._rpc.request("eth_maxPriorityFeePerGas"))
        except RpcFailure as failure:
            if failure.code != METHOD_NOT_FOUND:
                raise failure.unavailable() from failure
            return DEFAULT_PRIORITY_FEE

    def timestamp(self) -> int:
        """The latest block's time, which a call sees."""
        latest = self._read(values.mapping, "eth_getBlockByNumber", "latest", False)
        return _parsed(values.quantity, latest.get("timestamp"))

    def block_number(self) -> int:
        """The number of the newest block."""
        return self._read(values.quantity, "eth_blockNumber")

    def logs(self, address: Address, first_block: int, last_block: int) -> Sequence[Log]:
        """Every event that this contract emitted in these blocks, both included, in their order."""
        criteria: Json = {"address": hex_data(address), "fromBlock": hex(first_block), "toBlock": hex(last_block)}
        return self._read(values.list_of(_log), "eth_getLogs", criteria)

    def landed(self, transaction_hash: Hash) -> bool | None:
        """Whether a transaction was mined and succeeded; `None` while it waits to be mined."""
        receipt = self._receipt(transaction_hash)
        if receipt is not None:
            return receipt.succeeded
        waiting = self._read(lambda value: value is not None, "eth_getTransactionByHash", hex_data(transaction_hash))
        return None if waiting else False

    def send(self, raw: bytes) -> Receipt:
        """Submit a signed transaction and wait until it is mined.

        Raises `TransactionRefused` when the chain does not take it, `ChainUnavailable` when the chain can't be
        reached, and `OutcomeUnknown` when no block held the transaction in time: it may still be mined later.
        """
        deadline = time.monotonic() + self._confirmation_seconds
        self._submit(raw, deadline)
        receipt = self._await_receipt(keccak(raw), deadline)
        return receipt if receipt.succeeded else self._with_revert_data(raw, receipt)

    def _submit(self, raw: bytes, deadline: float) -> None:
        """Hand the transaction over. Doing so again is harmless, so a lost answer is no reason to give up."""
        pause, doubtful = FIRST_POLL_SECONDS, False
        while True:
            try:
                self._rpc.request("eth_sendRawTransaction", hex_data(raw))
            except RpcFailure as failure:
                self._check_refusal(raw, failure)
            except ChainUnavailable as error:
                doubtful = doubtful or not isinstance(error, NotReached)
                if not doubtful or time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_POLL_SECONDS)
                continue
            return

    def _check_refusal(self, raw: bytes, failure: RpcFailure) -> None:
        """Return when the chain has this very transaction already; else say why it does not take it."""
        known = any(phrase in failure.message.lower() for phrase in KNOWN_TRANSACTION)
        if known or self._receipt(keccak(raw)) is not None:
            return
        if failure.refuses_transaction:
            raise TransactionRefused(failure.message) from failure
        raise failure.unavailable() from failure

    def _await_receipt(self, transaction_hash: Hash, deadline: float) -> Receipt:
        pause, reason = FIRST_POLL_SECONDS, "no block held it in time"
        while time.monotonic() < deadline:
            try:
                receipt = self._receipt(transaction_hash)
            except ChainUnavailable as error:
                receipt, reason = None, str(error)
            if receipt is not None:
                return receipt
            time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(2 * pause, LONGEST_POLL_SECONDS)
        raise OutcomeUnknown(f"transaction {hex_data(transaction_hash)} was sent, its outcome is unknown: {reason}")

    def _receipt(self, transaction_hash: Hash) -> Receipt | None:
        return self._read(_receipt_or_none, "eth_getTransactionReceipt", hex_data(transaction_hash))

    def _with_revert_data(self, raw: bytes, receipt: Receipt) -> Receipt:
        """The receipt with what the contract said, learnt by trying the transaction again on the latest state."""
        signed = decode(raw)
        request = _request(signed.to, signed.data, signed.sender)
        request["value"] = hex(signed.value)
        request["gas"] = hex(signed.gas)
        try:
            self._execute(values.data, "eth_call", request, "latest")
        except Reverted as refusal:
            return replace(receipt, revert_data=refusal.data)
        except ChainError:
            pass  # the outcome stands, only its reason stays unknown
        return receipt

    def _read(self, decoder: Callable[[object], T], method: str, *params: Json) -> T:
        """A request that no contract has a say in."""
        try:
            return _parsed(decoder, self._rpc.request(method, *params))
        except RpcFailure as failure:
            raise failure.unavailable() from failure

    def _execute(self, decoder: Callable[[object], T], method: str, request: dict[str, Json], *params: Json) -> T:
        """A request that runs a contract."""
        try:
            return _parsed(decoder, self._rpc.request(method, request, *params))
        except RpcFailure as failure:
            if refusal := failure.revert():
                raise refusal from failure
            if "insufficient funds" in failure.message.lower():
                raise TransactionRefused(failure.message) from failure
            raise failure.unavailable() from failure


def _request(to: Address, content: bytes, sender: Address) -> dict[str, Json]:
    """A call object; `data` rather than `input`, which old chains don't know."""
    request: dict[str, Json] = {"from": hex_data(sender), "data": hex_data(content)}
    return {**request, "to": hex_data(to)} if to else request


def _parsed(decoder: Callable[[object], T], value: object) -> T:
    try:
        return decoder(value)
    except InvalidParams as error:
        raise ChainUnavailable(f"the chain answered with something unexpected: {error}") from error


def _receipt_or_none(value: object) -> Receipt | None:
    if value is None:
        return None
    fields = values.mapping(value)
    succeeded = values.quantity(fields.get("status")) == 1
    return Receipt(
        transaction_hash=values.hash32(fields.get("transactionHash")),
        block_number=values.quantity(fields.get("blockNumber")),
        succeeded=succeeded,
        gas_used=values.quantity(fields.get("gasUsed")),
        logs=tuple(values.list_of(_log)(fields.get("logs"))),
        contract_address=values.member(fields, "contractAddress", values.address) if succeeded else None,
        revert_data=b"",
    )


def _log(value: object) -> Log:
    fields = values.mapping(value)
    topics = values.list_of(values.hash32)(fields.get("topics"))
    return Log(values.address(fields.get("address")), tuple(topics), values.data(fields.get("data")))
