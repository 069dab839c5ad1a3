"""Methods of the JSON-RPC about the chain, its present state, calls and submission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eth.exceptions import InvalidInstruction, InvalidJumpDestination, OutOfGas, VMError
from eth_abi.abi import decode as abi_decode
from eth_abi.exceptions import DecodingError
from eth_utils.crypto import keccak

from reference_node.chain.evm import BASE_FEE, PRIORITY_FEE, EvmChain
from reference_node.chain.evm_calls import Call, Execution, Override
from reference_node.chain.interface import Address
from reference_node.chain.rpc_requests import BlockId, block_id, call_request, overrides
from reference_node.chain.rpc_values import (
    EXECUTION_REVERTED,
    SERVER_ERROR,
    Decoder,
    InvalidParams,
    Json,
    RpcError,
    address,
    data,
    hex_data,
    hex_word,
    quantity,
)

CLIENT = "reference-node/evm"
"""What `web3_clientVersion` answers."""

ERROR_STRING = keccak(b"Error(string)")[:4]
"""The selector of Solidity's `require` and `revert` with a text."""

_HALTS: dict[type[VMError], str] = {
    OutOfGas: "out of gas",
    InvalidInstruction: "invalid opcode",
    InvalidJumpDestination: "invalid jump destination",
}


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what answers it, and the decoders of its parameters, the last `optional` of which may be left out."""

    answer: Callable[..., Json]
    decoders: tuple[Decoder[object], ...] = ()
    optional: int = 0
    beside_writers: bool = False
    """Whether it looks after one moment of the chain by itself, and so needs no lock."""

    def __call__(self, params: list[object]) -> Json:
        """Decode the parameters and answer; raises `RpcError`."""
        least, most = len(self.decoders) - self.optional, len(self.decoders)
        if not least <= len(params) <= most:
            raise InvalidParams(f"{len(params)} given, from {least} to {most} wanted")
        decoded: list[object] = []
        for index, (decoder, value) in enumerate(zip(self.decoders, params, strict=False)):
            left_out = value is None and index >= least
            decoded.append(None if left_out else decoder(value))
        return self.answer(*decoded)


class StateMethods:
    """The present state. Any other block's is refused: this chain keeps none."""

    def __init__(self, chain: EvmChain) -> None:
        self._chain = chain

    def table(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {
            "eth_getBalance": Method(self._balance, (address, block_id), 1),
            "eth_getTransactionCount": Method(self._nonce, (address, block_id), 1),
            "eth_getCode": Method(self._code, (address, block_id), 1),
            "eth_getStorageAt": Method(self._storage, (address, quantity, block_id), 1),
            "eth_call": Method(self._call, (call_request, block_id, overrides), 2, True),
            "eth_estimateGas": Method(self._estimate, (call_request, block_id, overrides), 2, True),
            "eth_sendRawTransaction": Method(self._send, (data,)),
        }

    def _check_present(self, block: BlockId | None) -> None:
        latest = self._chain.blocks.latest
        if isinstance(block, bytes):
            found = self._chain.blocks.hash(block)
            block = found.number if found else latest.number + 1
        if not isinstance(block, int) or block == latest.number:
            return
        if block > latest.number:
            raise RpcError(SERVER_ERROR, "header not found")
        raise RpcError(SERVER_ERROR, f"historical state is not available: only that of block {latest.number} is kept")

    def _balance(self, account: Address, block: BlockId | None = None) -> Json:
        self._check_present(block)
        return hex(self._chain.balance(account))

    def _nonce(self, account: Address, block: BlockId | None = None) -> Json:
        self._check_present(block)
        return hex(self._chain.next_nonce(account))

    def _code(self, account: Address, block: BlockId | None = None) -> Json:
        self._check_present(block)
        return hex_data(self._chain.code(account))

    def _storage(self, account: Address, slot: int, block: BlockId | None = None) -> Json:
        self._check_present(block)
        return hex_word(self._chain.storage(account, slot))

    def _call(
        self, call: Call, block: BlockId | None = None, pretended: Mapping[Address, Override] | None = None
    ) -> Json:
        execution = self._executed(self._chain.run, call, block, pretended)
        return hex_data(execution.output)

    def _estimate(
        self, call: Call, block: BlockId | None = None, pretended: Mapping[Address, Override] | None = None
    ) -> Json:
        execution = self._executed(self._chain.estimate, call, block, pretended)
        return hex(execution.gas_needed)

    def _executed(
        self,
        execute: Callable[[Call, Mapping[Address, Override] | None], Execution],
        call: Call,
        block: BlockId | None,
        pretended: Mapping[Address, Override] | None,
    ) -> Execution:
        """What came of the call at that block: the newest one before it began and after it has ended."""
        self._check_present(block)
        execution = execute(call, pretended)
        self._check_present(block)
        _raise_error(execution)
        return execution

    def _send(self, raw: bytes) -> Json:
        return hex_data(self._chain.send(raw).transaction_hash)


def _raise_error(execution: Execution) -> None:
    if execution.reverted:
        raise RpcError(EXECUTION_REVERTED, _revert_message(execution.output), hex_data(execution.output))
    if execution.error is not None:
        raise RpcError(SERVER_ERROR, _HALTS.get(type(execution.error), str(execution.error)))


def _revert_message(output: bytes) -> str:
    if output.startswith(ERROR_STRING):
        try:
            return f"execution reverted: {abi_decode(['string'], output[4:])[0]}"
        except (DecodingError, UnicodeDecodeError, OverflowError):
            pass  # a contract may return anything: then the data speaks for itself
    return "execution reverted"


class ChainMethods:
    """What holds for the chain as a whole."""

    def __init__(self, chain: EvmChain) -> None:
        self._chain = chain

    def table(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {
            "eth_chainId": Method(lambda: hex(self._chain.chain_id)),
            "net_version": Method(lambda: str(self._chain.chain_id)),
            "net_listening": Method(lambda: True),
            "web3_clientVersion": Method(lambda: CLIENT),
            "web3_sha3": Method(lambda content: hex_data(keccak(content)), (data,)),
            "eth_blockNumber": Method(lambda: hex(self._chain.blocks.latest.number)),
            "eth_syncing": Method(lambda: False),
            "eth_accounts": Method(list),
            "eth_gasPrice": Method(lambda: hex(BASE_FEE + PRIORITY_FEE)),
            "eth_maxPriorityFeePerGas": Method(lambda: hex(PRIORITY_FEE)),
        }
