"""Signed transactions of type 2 (EIP-1559, EIP-2718), as `eth_sendRawTransaction` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import rlp  # type: ignore[import-untyped]  # as it comes
from eth_utils.crypto import keccak

from conformance.values.recovery import signer
from conformance.values.typed_data import Wallet

DYNAMIC_FEE = b"\x02"
"""The type of transactions that EIP-1559 defines."""


class Fees(NamedTuple):
    """The fees of a transaction for each unit of gas, in wei."""

    most: int
    """`maxFeePerGas`."""
    tip: int
    """`maxPriorityFeePerGas`."""


@dataclass(frozen=True)
class Transaction:
    """A transaction: a call, a transfer, or with `to` None the creation of a contract."""

    to: str | None
    data: bytes = b""
    value: int = 0


def signed(
    transaction: Transaction, wallet: Wallet, *, chain_id: int, nonce: int, gas: int, fees: Fees
) -> tuple[str, str]:
    """The raw transaction and its hash, both as 0x hex."""
    to = b"" if transaction.to is None else bytes.fromhex(transaction.to.removeprefix("0x"))
    body = [chain_id, nonce, fees.tip, fees.most, gas, to, transaction.value, transaction.data, []]
    r, s, v = wallet.sign(keccak(DYNAMIC_FEE + rlp.encode(body)))
    raw = DYNAMIC_FEE + rlp.encode([*body, v - 27, r, s])
    return f"0x{raw.hex()}", f"0x{keccak(raw).hex()}"


def opened(raw: str) -> tuple[str, Transaction]:
    """The sender's address, in EIP-55 form, and the transaction that `signed` wrote. ValueError for anything else."""
    data = bytes.fromhex(raw.removeprefix("0x"))
    if not data.startswith(DYNAMIC_FEE):
        raise ValueError("no transaction of type 2")
    try:
        *body, v, r, s = rlp.decode(data[1:])
        to, value, calldata = body[5:8]
    except (rlp.DecodingError, TypeError) as problem:
        raise ValueError("no signed transaction") from problem
    signature = r.rjust(32, b"\0") + s.rjust(32, b"\0") + bytes([int.from_bytes(v)])
    sender = signer(keccak(DYNAMIC_FEE + rlp.encode(body)), signature.hex())
    return sender, Transaction(f"0x{to.hex()}" if to else None, calldata, int.from_bytes(value))
