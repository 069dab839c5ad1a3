"""Provides the suite's wallets with ether: from the node's test control, or from a wallet whose key the user gives.

Wallets are funded on demand, and their remaining ether is returned at the end of the case.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Protocol

from eth_utils.crypto import keccak

from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Target
from conformance.endpoints.control import control_headers
from conformance.endpoints.locks import between_processes
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Message
from conformance.endpoints.sending import TRANSFER_GAS, Receipt, Sender
from conformance.endpoints.signing import Fees, Transaction
from conformance.problems import ChainReverted, ChainTrouble, NoFunderKey
from conformance.profile import Profile
from conformance.values.json_text import written
from conformance.values.typed_data import CURVE_ORDER, Wallet

RESERVE_GAS = 1_000_000
"""The gas for which a wallet gets ether at once, to save transfers."""
GIFT = 10**18
"""The least wei that the test control gives: they cost nothing."""
PRIVATE_KEY = re.compile(r"(0x)?[0-9a-fA-F]{64}")
RESERVES = (1, 3, 10)
"""How many costs of a transfer stay behind when ether is returned, tried in this order."""


class Funder(Protocol):
    """A source of ether."""

    @property
    def salt(self) -> str:
        """A part of the wallets' seeds, so that the printed seed does not reveal their keys."""

    @property
    def holdings(self) -> dict[str, int]:
        """Lower bounds of balances: the last known balance less what was offered since."""

    def give(self, purse: Purse, address: str, wei: int, fees: Fees) -> int:
        """Make the address hold at least so many wei. Returns a lower bound of its balance. Raises ChainTrouble."""

    def take_back(self, purse: Purse, wallet: Wallet) -> None:
        """Return the ether of a wallet, if that is worth a transfer."""


@dataclass(frozen=True)
class Purse:
    """Funds the wallets of one case and sends their transactions."""

    target: Target
    chain: ChainClient
    sender: Sender
    log: ExchangeLog
    funder: Funder

    def send(self, wallet: Wallet, transaction: Transaction, *, to_be_reverted: bool = False) -> Receipt:
        """Fund the wallet, send its transaction and wait for its block: see `Sender.send`."""

        def provide(wei: int, fees: Fees) -> None:
            held = self.funder.holdings.get(wallet.address, 0)
            if held < wei:
                held = self.funder.give(self, wallet.address, wei, fees)
            self.funder.holdings[wallet.address] = held - wei

        return self.sender.send(wallet, transaction, provide, to_be_reverted=to_be_reverted)


class ControlFunder:
    """Ether from the test control of a node with an in-memory chain."""

    salt = ""

    def __init__(self) -> None:
        self.holdings: dict[str, int] = {}

    def give(self, purse: Purse, address: str, wei: int, fees: Fees) -> int:  # noqa: ARG002 - gas costs it nothing
        """Get the ether from the control."""
        url = f"{purse.target.profile.control_url}/fund"
        gift = max(wei, GIFT)
        body = written({"address": address, "wei": gift})
        answer = purse.target.exchange(Message("POST", url, control_headers(purse.target.profile), body), purse.log)
        if not answer.accepted:
            raise ChainTrouble("ether from the test control", f"status {answer.status}", answer.exchange)
        return gift

    def take_back(self, purse: Purse, wallet: Wallet) -> None:
        """Do nothing, since the ether was free."""


class KeyFunder:
    """A wallet with ether, whose key the user has given."""

    def __init__(self, key: bytes) -> None:
        self._wallet = Wallet.of_key(key)
        self.holdings: dict[str, int] = {}
        self.salt = f"|{keccak(b'wallets of a run' + key).hex()}"

    @property
    def address(self) -> str:
        """Its address."""
        return self._wallet.address

    def give(self, purse: Purse, address: str, wei: int, fees: Fees) -> int:
        """Transfer the missing ether. Transfers of all processes are sequential, since nonces are."""
        held = purse.chain.balance(address)
        if held >= wei:
            return held
        reserve = max(wei, RESERVE_GAS * fees.most)

        def provide(needed: int, _: Fees) -> None:
            owned = purse.chain.balance(self.address)
            if owned < needed:
                raise ChainTrouble(f"{needed} wei in the funding wallet {self.address}", f"{owned} wei")

        purse.target.gas.take(TRANSFER_GAS)  # reserves gas for the return transfer
        with between_processes(f"funder {self.address.lower()}", purse.chain.pause):
            receipt = purse.sender.send(self._wallet, Transaction(address, value=reserve - held), provide)
        if not receipt.succeeded:
            raise ChainTrouble(f"a transfer from {self.address} to {address}", "it was reverted")
        return reserve

    def take_back(self, purse: Purse, wallet: Wallet) -> None:
        """Transfer the remaining ether back without waiting for a block."""
        fees, owned = purse.chain.fees(), purse.chain.balance(wallet.address)
        nonces: set[int] = set()
        for kept in RESERVES:
            left = owned - kept * TRANSFER_GAS * fees.most
            if left <= 0 or self._handed_back(purse, wallet, left, fees, nonces):
                return

    def _handed_back(self, purse: Purse, wallet: Wallet, wei: int, fees: Fees, nonces: set[int]) -> bool:
        """Whether the chain took the transfer. Some chains charge more than gas, so more has to stay behind."""
        try:
            purse.sender.hand_over(wallet, Transaction(self.address, value=wei), TRANSFER_GAS, fees, nonces)
        except ChainReverted:
            return False
        return True


def funder_of(profile: Profile) -> Funder | None:
    """The source of ether that the profile states; None where there is none. Raises NoFunderKey."""
    if not profile.offers("funded_wallet"):
        return None
    variable = profile.chain.funder_key_variable
    if variable is None:
        return ControlFunder()
    key = os.environ.get(variable, "").strip()
    if not PRIVATE_KEY.fullmatch(key) or not 0 < int(key, 16) < CURVE_ORDER:
        state = "holds no private key (64 hex digits)" if key else "is not set"
        raise NoFunderKey(f"a private key in the variable {variable}, which the profile names", f"it {state}")
    return KeyFunder(bytes.fromhex(key.removeprefix("0x")))
