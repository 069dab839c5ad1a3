"""Where the suite's wallets get ether from: the node's test control, or a wallet of the vendor's with a known key.

Wallets are funded on demand, and their remaining ether is returned at the end of the case.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from eth_utils.crypto import keccak

from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Target
from conformance.endpoints.locks import between_processes
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Message
from conformance.endpoints.requests import JSON_TYPE
from conformance.endpoints.sending import Receipt, Sender
from conformance.endpoints.signing import Fees, Transaction
from conformance.problems import ChainReverted, ChainTrouble, NoFunderKey
from conformance.profile import Profile
from conformance.values.json_text import written
from conformance.values.typed_data import CURVE_ORDER, Wallet

RESERVE_GAS = 1_000_000
"""A wallet that needs ether gets enough for this much gas at once: fewer transfers."""
GIFT = 10**18
"""Wei that the test control gives at least: they cost nothing."""
TRANSFER_GAS = 21_000
PRIVATE_KEY = re.compile(r"(0x)?[0-9a-fA-F]{64}")
RESERVES = (1, 3, 10)
"""Times the cost of a transfer that stays behind when what is left goes back, tried in this order."""


class Funder(Protocol):
    """A source of ether."""

    @property
    def salt(self) -> str:
        """Goes into the seeds of a run's wallets, so that who knows the run's seed does not know their keys."""

    @property
    def holdings(self) -> dict[str, int]:
        """What addresses hold at least, as far as it is known: their last balance less what they have offered since."""

    def give(self, purse: Purse, address: str, wei: int, fees: Fees) -> int:
        """Have the address hold so many wei at least; how many it holds at least now. Raises ChainTrouble."""

    def take_back(self, purse: Purse, wallet: Wallet) -> None:
        """What is left in a wallet goes back, as far as it is worth the transfer."""


@dataclass(frozen=True)
class Purse:
    """Funds the wallets of one case and sends their transactions."""

    target: Target
    chain: ChainClient
    sender: Sender
    log: ExchangeLog
    funder: Funder

    def send(self, wallet: Wallet, transaction: Transaction, *, to_be_reverted: bool = False) -> Receipt:
        """Send a transaction of a wallet that gets what it lacks, and wait for its block: see `Sender.send`."""

        def provide(wei: int, fees: Fees) -> None:
            held = self.funder.holdings.get(wallet.address, 0)
            if held < wei:
                held = self.funder.give(self, wallet.address, wei, fees)
            self.funder.holdings[wallet.address] = held - wei

        return self.sender.send(wallet, transaction, provide, to_be_reverted=to_be_reverted)


class ControlFunder:
    """The test control of a node with a chain of its own makes ether out of nothing."""

    salt = ""

    def __init__(self) -> None:
        self.holdings: dict[str, int] = {}

    def give(self, purse: Purse, address: str, wei: int, fees: Fees) -> int:  # noqa: ARG002 - gas costs it nothing
        """Ask the control for it."""
        url = f"{purse.target.profile.control_url}/fund"
        gift = max(wei, GIFT)
        body = written({"address": address, "wei": gift})
        answer = purse.target.exchange(Message("POST", url, {"Content-Type": JSON_TYPE}, body), purse.log)
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
        """Transfer what it lacks, one transfer at a time over all processes: a wallet's nonces go up one by one."""
        held = purse.chain.balance(address)
        if held >= wei:
            return held
        reserve = max(wei, RESERVE_GAS * fees.most)

        def provide(needed: int, _: Fees) -> None:
            owned = purse.chain.balance(self.address)
            if owned < needed:
                raise ChainTrouble(f"{needed} wei in the funding wallet {self.address}", f"{owned} wei")

        purse.target.gas.take(TRANSFER_GAS)  # for the way back, which no limit may cut off
        with between_processes(f"funder {self.address.lower()}"):
            receipt = purse.sender.send(self._wallet, Transaction(address, value=reserve - held), provide)
        if not receipt.succeeded:
            raise ChainTrouble(f"a transfer from {self.address} to {address}", "it was reverted")
        return reserve

    def take_back(self, purse: Purse, wallet: Wallet) -> None:
        """Transfer the remaining ether back without waiting for a block."""
        fees, owned = purse.chain.fees(), purse.chain.balance(wallet.address)
        for kept in RESERVES:
            left = owned - kept * TRANSFER_GAS * fees.most
            if left <= 0 or self._handed_back(purse, wallet, left, fees):
                return

    def _handed_back(self, purse: Purse, wallet: Wallet, wei: int, fees: Fees) -> bool:
        """Whether the chain took the transfer: some chains charge for more than gas, and then more has to stay."""
        try:
            purse.sender.hand_over(wallet, Transaction(self.address, value=wei), TRANSFER_GAS, fees)
        except ChainReverted:
            return False
        return True


def funder_of(profile: Profile, environment: Mapping[str, str] = os.environ) -> Funder | None:
    """What the profile says about ether; None where the suite gets none. Raises NoFunderKey."""
    if not profile.offers("funded_wallet"):
        return None
    variable = profile.chain.funder_key_variable
    if variable is None:
        return ControlFunder()
    key = environment.get(variable, "").strip()
    if not PRIVATE_KEY.fullmatch(key) or not 0 < int(key, 16) < CURVE_ORDER:
        state = "holds no private key (64 hex digits)" if key else "is not set"
        raise NoFunderKey(f"a private key in the variable {variable}, which the profile names", f"it {state}")
    return KeyFunder(bytes.fromhex(key.removeprefix("0x")))
