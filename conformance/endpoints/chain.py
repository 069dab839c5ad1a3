"""The settlement chain, read over JSON-RPC: views of the contract by the signatures that the profile gives."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from eth_abi.abi import encode
from eth_abi.exceptions import DecodingError, EncodingError
from eth_utils.address import is_hex_address
from eth_utils.crypto import keccak

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import SHOWN, Answer, Message
from conformance.endpoints.signing import Fees
from conformance.problems import (
    ChainReverted,
    ChainTrouble,
    Malformed,
    Mismatch,
    ProfileSilent,
    ServerFault,
    Throttled,
)
from conformance.profile import Function, Parameter
from conformance.values.abi_data import decode
from conformance.values.json_text import parse, written
from conformance.values.json_values import member
from conformance.values.shown_text import cut

_NUMBERS = itertools.count(1)
Call: TypeAlias = tuple[str, Sequence[object]]
"""A JSON-RPC method and its parameters."""
PAUSES_SECONDS = (0.1, 0.4)
"""Seconds before a read that the chain could not answer is retried."""
SECONDS_OF_FEES = 10.0
"""How long fees are cached. The base fee rises by at most an eighth with each block, and fees allow for its double."""
MOST_FEE = 10_000 * 10**9
"""The most wei that the suite offers for a unit of gas, many times what the busiest chains ever took."""
QUANTITY = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,64}")
REVERTED = 3
"""The error code with which most clients report a revert."""
WORDS_OF_REVERTS = ("revert", "invalid opcode", "out of gas", "invalid jump", "vm execution error")
"""The error messages with which other clients report a revert."""


class ChainClient:
    """JSON-RPC of the chain that the profile names, for one case."""

    def __init__(self, target: Target, log: ExchangeLog) -> None:
        self._target = target
        self._log = log
        self._nonces: dict[str, int] = {}
        """The next nonce of each wallet from which only this case sends."""

    def request(self, method: str, params: Sequence[object] = ()) -> object:
        """The result of a JSON-RPC method. Raises ChainReverted for its error, Malformed for what is no JSON-RPC."""
        reply, answer = self._asked(_written_call(next(_NUMBERS), method, params))
        return _result(method, reply, answer)

    def batch(self, calls: Sequence[Call]) -> list[object]:
        """The results of several methods in one request, with a ChainReverted in place of each error.

        Where the chain takes no batches, they are asked for one after the other. Raises as `request` does otherwise.
        """
        if not self._target.remembered("takes batches", self._takes_batches):
            return [_or_error(partial(self.request, *call)) for call in calls]
        return self._batch(calls)

    def _takes_batches(self) -> bool:
        try:
            results = self._batch([("eth_chainId", [])] * 2)
        except (ServerFault, Malformed):
            return False
        return not any(isinstance(result, ChainReverted) for result in results)

    def _batch(self, calls: Sequence[Call]) -> list[object]:
        numbers = [next(_NUMBERS) for _ in calls]
        sent = [_written_call(number, *call) for number, call in zip(numbers, calls, strict=True)]
        replies, answer = self._asked(f"[{','.join(sent)}]")
        told = [(member(reply, "id"), reply) for reply in replies] if isinstance(replies, list) else []
        by_number = {number: reply for number, reply in told if isinstance(number, int | float)}
        if not by_number.keys() >= set(numbers):
            raise Malformed("a JSON-RPC answer to each request of a batch", answer.text[:SHOWN], answer.exchange)
        named = zip(numbers, calls, strict=True)
        return [_or_error(partial(_result, method, by_number[number], answer)) for number, (method, _) in named]

    def _asked(self, body: str) -> tuple[object, Answer]:
        """The chain's JSON-RPC answer to a body, and the HTTP answer."""
        url = self._target.profile.chain.rpc_url
        if url is None:
            raise ProfileSilent("a profile that says chain.rpc_url", "a profile that leaves it out")
        answer = self._target.exchange(Message("POST", url, {"Content-Type": "application/json"}, body), self._log)
        if answer.status == 429:
            raise Throttled("an answer of the chain", "status 429", answer.exchange)
        if answer.status >= 500:
            raise ServerFault("an answer of the chain", f"status {answer.status}", answer.exchange)
        try:
            return parse(answer.text), answer
        except ValueError as problem:
            raise Malformed("a JSON-RPC answer", f"{problem}: {answer.text[:SHOWN]}", answer.exchange) from None

    def view(
        self, contract: str, function: Function, arguments: Sequence[object], sender: str | None = None
    ) -> tuple[object, ...]:
        """The decoded results of a call.

        Raises ChainReverted where the contract refuses, ChainTrouble where the chain itself cannot answer.
        """
        ask = self.read if is_hex_address(contract) else self.request
        return decoded(function.outputs, ask(*eth_call(contract, function, arguments, sender)))

    def read(self, method: str, params: Sequence[object] = ()) -> object:
        """The result of a method that changes nothing, with retries while the chain itself cannot answer.

        The chain is not the node: a provider may be down or ask for patience, and one of several servers is asked for
        its latest block while it does not have it yet. Raises ChainReverted where the contract refuses; ChainTrouble or
        Throttled where the chain still can't answer.
        """
        for pause in PAUSES_SECONDS:
            try:
                return self.request(method, params)
            except ChainReverted as refused:
                if refused.by_contract:
                    raise
            except (ServerFault, Malformed, Throttled):
                pass
            self.pause(pause)
        try:
            return self.request(method, params)
        except (ChainReverted, ServerFault, Malformed) as problem:
            if isinstance(problem, ChainReverted) and problem.by_contract:
                raise
            raise ChainTrouble(problem.expected, problem.got, problem.exchange) from problem

    def count_gas(self, used: int) -> None:
        """Count what a transaction used among what the case has spent."""
        self._log.spending.count(gas=used)

    def pause(self, seconds: float) -> None:
        """Wait so many seconds. Raises KeyboardInterrupt when the run is interrupted."""
        self._target.pause(seconds)

    def remembered(self, name: str, ask: Callable[[], int]) -> int:
        """The chain's answer, cached for all cases of the run."""
        return self._target.remembered(name, ask)

    def chain_id(self) -> int:
        """The chain's id. ChainTrouble: it is another one than the profile states, or than the run began with."""
        first = self._target.remembered("eth_chainId", self._chain_id)
        stated = self._target.profile.chain.id
        if stated not in {None, first}:
            raise ChainTrouble(f"the chain {stated}, as chain.id of the profile says", f"the chain {first}")
        now = self._target.remembered("eth_chainId now", self._chain_id, SECONDS_OF_FEES)
        if now != first:
            raise ChainTrouble(f"the chain {first}, as before", f"the chain {now}")
        return first

    def _chain_id(self) -> int:
        return quantity(self.read("eth_chainId"))

    def estimate(self, call: Mapping[str, object]) -> int:
        """The gas that a transaction needs. ChainReverted: it would be reverted."""
        return quantity(self.request("eth_estimateGas", [dict(call)]))

    def next_nonce(self, address: str) -> int:
        """The nonce after all transactions of an address, pending ones included."""
        if address in self._nonces:
            return self._nonces[address]
        return quantity(self.read("eth_getTransactionCount", [address, "pending"]))

    def note_nonce(self, address: str, nonce: int | None) -> None:
        """Note that only this case sends from the address, next with this nonce. None: ask the chain."""
        if nonce is None:
            self._nonces.pop(address, None)
        else:
            self._nonces[address] = nonce

    def note_sent(self, address: str, nonce: int) -> None:
        """Note that the chain took a transaction with this nonce."""
        if address in self._nonces:
            self._nonces[address] = nonce + 1

    def fees(self) -> Fees:
        """Fees that suffice even if the base fee doubles before the transaction is mined.

        ChainTrouble: they are more than `MOST_FEE`.
        """
        fees = self._target.remembered("fees", self._fees, SECONDS_OF_FEES)
        if fees.most > MOST_FEE:
            raise ChainTrouble(f"a price of at most {MOST_FEE} wei for a unit of gas", f"{fees.most} wei")
        return fees

    def _fees(self) -> Fees:
        latest = self.read("eth_getBlockByNumber", ["latest", False])
        base = quantity(latest.get("baseFeePerGas", "0x0") if isinstance(latest, dict) else None)
        try:
            tip = quantity(self.request("eth_maxPriorityFeePerGas"))
        except ChainReverted:  # not every chain suggests a fee
            tip = max(0, quantity(self.request("eth_gasPrice")) - base)
        return Fees(2 * base + tip, tip)

    def timestamp(self) -> int:
        """The time of the newest block in Unix seconds."""
        latest = self.read("eth_getBlockByNumber", ["latest", False])
        return quantity(latest.get("timestamp") if isinstance(latest, dict) else None)

    def block_number(self) -> int:
        """The number of the newest block."""
        return quantity(self.read("eth_blockNumber"))

    def balance(self, address: str) -> int:
        """The balance of an address in wei."""
        return quantity(self.read("eth_getBalance", [address, "latest"]))

    def code(self, address: str) -> object:
        """The code at an address as hex."""
        return self.read("eth_getCode", [address, "latest"])

    def logs(self, criteria: dict[str, object]) -> object:
        """Logs by the filter of eth_getLogs."""
        return self.read("eth_getLogs", [criteria])

    def transaction(self, transaction_hash: str) -> object:
        """A transaction by its hash; null when the chain has none."""
        return self.read("eth_getTransactionByHash", [transaction_hash])


def _written_call(number: int, method: str, params: Sequence[object]) -> str:
    return written({"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)})


def _result(method: str, reply: object, answer: Answer) -> object:
    if isinstance(reply, dict) and reply.get("error") is not None:
        error = written(reply["error"])
        reverted = _is_revert(reply["error"])
        expected = f"the contract to take the call ({method})" if reverted else f"a result of {method}"
        raise ChainReverted(expected, error, answer.exchange, by_contract=reverted)
    if not isinstance(reply, dict) or "result" not in reply:
        raise Malformed("a JSON-RPC answer with a result", answer.text[:SHOWN], answer.exchange)
    return reply["result"]


def _or_error(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except ChainReverted as refused:
        return refused


def _is_revert(error: object) -> bool:
    """Whether a JSON-RPC error means that the contract reverted, not that the chain could not answer."""
    if not isinstance(error, dict):
        return False
    message = str(error.get("message", "")).lower()
    return error.get("code") == REVERTED or any(words in message for words in WORDS_OF_REVERTS)


def eth_call(contract: str, function: Function, arguments: Sequence[object], sender: str | None = None) -> Call:
    """The method that calls a function of a contract and sends nothing, as if the sender did."""
    data = selector(function) + encoded(function.inputs, arguments)
    call = {"to": contract, "data": f"0x{data.hex()}"}
    return "eth_call", [call if sender is None else {**call, "from": sender}, "latest"]


def selector(function: Function) -> bytes:
    """The first four bytes of a call."""
    return keccak(text=function.canonical)[:4]


def encoded(inputs: Sequence[Parameter], arguments: Sequence[object]) -> bytes:
    """Arguments as the contract takes them; bytes may be given as hex, integers as decimal or hex text."""
    if len(inputs) != len(arguments):
        raise Mismatch(f"{len(inputs)} arguments", f"{len(arguments)}")
    values = [_argument(parameter.type, value) for parameter, value in zip(inputs, arguments, strict=True)]
    try:
        return encode([parameter.type for parameter in inputs], values)
    except (EncodingError, TypeError) as problem:
        raise Mismatch("arguments of the types of the signature", str(problem)) from problem


def _argument(kind: str, value: object) -> object:
    if kind.endswith("]") and isinstance(value, list):
        return [_argument(kind.rpartition("[")[0], item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        if kind.startswith("bytes"):
            return bytes.fromhex(value.removeprefix("0x"))
        return int(value, 16 if value.startswith("0x") else 10) if kind.startswith(("uint", "int")) else value
    except ValueError:
        raise Mismatch(f"a value of type {kind}", value) from None


def decoded(outputs: Sequence[Parameter], result: object) -> tuple[object, ...]:
    """The results of a view as eth-abi decodes them."""
    try:
        raw = bytes.fromhex(str(result).removeprefix("0x"))
        return decode([parameter.type for parameter in outputs], raw)
    except (DecodingError, ValueError) as problem:
        raise Malformed("an answer of the types of the signature", f"{cut(str(result), SHOWN)}: {problem}") from problem


def quantity(value: object) -> int:
    """A number as the chain writes it. Raises Malformed."""
    if not QUANTITY.fullmatch(text := str(value)):
        raise Malformed("a hex quantity", text[:SHOWN])
    return int(text, 16)
