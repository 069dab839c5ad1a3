"""A wallet of the suite's own, or a contract wallet that one of them owns."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.values.ids import Address
from conformance.values.typed_data import Wallet


@dataclass(frozen=True)
class SuiteWallet:
    """Signs envelopes, sends transactions, and may be the admin of accounts."""

    address: Address
    signer: Wallet
    """The key that signs: the wallet's own, or that of a contract wallet's owner."""
    contract: bool = False
    """Whether it is a contract wallet, whose owner sends transactions through it."""
    name: str = ""
    """Whose it is, as the case says it."""
