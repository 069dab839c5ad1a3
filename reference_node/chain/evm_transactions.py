"""Signed transactions at the door of the in-memory chain: decoding them, and every reason not to let them in."""

from __future__ import annotations

from eth.abc import SignedTransactionAPI, StateAPI
from eth.exceptions import PyEVMError
from eth.vm.forks.cancun.constants import BLOB_TX_TYPE
from eth.vm.forks.prague.constants import STANDARD_TOKEN_COST, TOTAL_COST_FLOOR_PER_TOKEN
from eth.vm.forks.prague.transactions import PragueTransactionBuilder
from eth.vm.forks.shanghai.constants import MAX_INITCODE_SIZE
from eth_keys.exceptions import BadSignature
from eth_utils.exceptions import ValidationError
from rlp.exceptions import RLPException  # type: ignore[import-untyped] # the package carries no types

from reference_node.chain.interface import TransactionRefused

BLOCK_GAS_LIMIT = 30_000_000
"""The most gas that one transaction or call may use."""

TRANSACTION_GAS = 21_000


def decode(raw: bytes) -> SignedTransactionAPI:
    """The signed transaction (type 0, 1, 2 or 4) in these bytes, its sender recovered; raises `TransactionRefused`."""
    try:
        transaction = PragueTransactionBuilder.decode(raw)
        if transaction_type(transaction) == BLOB_TX_TYPE:
            raise TransactionRefused("transaction type not supported: blob transactions are not taken")
        transaction.sender  # noqa: B018 - recovers the signer, which fails on a bad signature
    except (PyEVMError, RLPException, ValidationError, BadSignature, OverflowError) as error:
        raise TransactionRefused(f"invalid transaction: {error}") from error
    except RecursionError as error:
        raise TransactionRefused("invalid transaction: lists within lists, too many of them") from error
    return transaction


def transaction_type(transaction: SignedTransactionAPI) -> int:
    """The type's number (EIP-2718), 0 for a legacy transaction."""
    return transaction.type_id or 0


def effective_gas_price(transaction: SignedTransactionAPI, base_fee: int) -> int:
    """What the sender pays per gas, in wei (EIP-1559)."""
    return min(transaction.max_fee_per_gas, base_fee + transaction.max_priority_fee_per_gas)


def floor_gas(data: bytes) -> int:
    """The least gas that a transaction with this data pays for (EIP-7623)."""
    zeros = data.count(0)
    return TRANSACTION_GAS + TOTAL_COST_FLOOR_PER_TOKEN * (zeros + STANDARD_TOKEN_COST * (len(data) - zeros))


def admit(transaction: SignedTransactionAPI, state: StateAPI, chain_id: int, base_fee: int) -> None:
    """Raise `TransactionRefused` unless the transaction can go into the next block on this state."""
    _check_chain(transaction, chain_id)
    _check_nonce(transaction, state.get_nonce(transaction.sender))
    _check_fees(transaction, base_fee)
    check_gas(transaction.gas, transaction.intrinsic_gas, transaction.data, creates=not transaction.to)
    cost = transaction.gas * transaction.max_fee_per_gas + transaction.value
    balance = state.get_balance(transaction.sender)
    if balance < cost:
        raise TransactionRefused(f"insufficient funds for gas * price + value: have {balance} want {cost}")


def _check_chain(transaction: SignedTransactionAPI, chain_id: int) -> None:
    signed_for = transaction.chain_id
    if signed_for is None:  # a legacy transaction from before EIP-155
        raise TransactionRefused("only replay-protected (EIP-155) transactions are taken")
    if signed_for != chain_id:
        raise TransactionRefused(f"invalid chain id for signer: have {signed_for} want {chain_id}")


def _check_nonce(transaction: SignedTransactionAPI, expected: int) -> None:
    if transaction.nonce != expected:
        fault = "low" if transaction.nonce < expected else "high"
        raise TransactionRefused(f"nonce too {fault}: next nonce {expected}, tx nonce {transaction.nonce}")


def _check_fees(transaction: SignedTransactionAPI, base_fee: int) -> None:
    offered, tip = transaction.max_fee_per_gas, transaction.max_priority_fee_per_gas
    if tip > offered:
        raise TransactionRefused(f"max priority fee per gas higher than max fee per gas: {tip} is more than {offered}")
    if offered < base_fee:
        raise TransactionRefused(
            f"max fee per gas less than block base fee: maxFeePerGas: {offered}, baseFee: {base_fee}"
        )


def check_gas(gas: int, intrinsic_gas: int, data: bytes, *, creates: bool) -> None:
    """Raise `TransactionRefused` when this gas limit can't be right for this data, or the init code is too long."""
    if gas > BLOCK_GAS_LIMIT:
        raise TransactionRefused(f"exceeds block gas limit: gas {gas}, limit {BLOCK_GAS_LIMIT}")
    needed = max(intrinsic_gas, floor_gas(data))
    if gas < needed:
        raise TransactionRefused(f"intrinsic gas too low: gas {gas}, minimum needed {needed}")
    if creates and len(data) > MAX_INITCODE_SIZE:
        raise TransactionRefused(f"max initcode size exceeded: code size {len(data)}, limit {MAX_INITCODE_SIZE}")
