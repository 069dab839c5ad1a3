"""The suite's own wallets: fresh ones, those of account keys, and contract wallets (ERC-1271)."""

from __future__ import annotations

import json
from functools import cache

from eth_abi.abi import encode

from conformance.endpoints.sending import as_trouble
from conformance.endpoints.signing import Transaction
from conformance.problems import ChainTrouble
from conformance.resources import artifacts
from conformance.service.derivations import account_private_key
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import Address
from conformance.values.typed_data import Wallet

MOST_WALLETS = 50
"""How many runs of one case with the same seed a chain can take."""


class Wallets:
    """Creates wallets. Their remaining ether is returned when the case ends."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def new(self, name: str) -> SuiteWallet:
        """A wallet derived from the run's seed that has sent no transaction yet.

        A chain that the run has started needs no check: it has seen none of the wallets.
        """
        signer = self._unused(name)
        return self._keep(SuiteWallet(Address(signer.address), signer, name=name))

    def of_account_key(self, key: str) -> SuiteWallet:
        """The wallet of an account key. It only signs."""
        rule = self._session.profile.crypto.account_wallet_derivation
        signer = Wallet.of_key(account_private_key(key, rule).to_bytes())
        return SuiteWallet(Address(signer.address), signer)

    def contract_wallet(self, owner: SuiteWallet) -> SuiteWallet:
        """Deploy a contract wallet: its owner signs for it and sends transactions through it."""
        creation = _bytecode() + encode(["address"], [owner.address])
        receipt = self._session.transact(owner.signer, Transaction(None, creation))
        if not receipt.succeeded or receipt.contract_address is None:
            raise ChainTrouble("a contract wallet on the chain", f"the transaction {receipt.hash} made none")
        return self._keep(
            SuiteWallet(Address(receipt.contract_address), owner.signer, contract=True, name=f"{owner.name}'s contract")
        )

    def _unused(self, name: str) -> Wallet:
        target = self._session.target
        funder = self._session.funder
        salt = "" if funder is None else funder.salt
        for number in range(MOST_WALLETS):
            wallet = Wallet(f"{self._session.seed}|{name}|{number}{salt}")
            if funder is None:
                return wallet
            with as_trouble():
                if target.ends_with_run or self._session.chain.next_nonce(wallet.address) == 0:
                    self._session.chain.note_nonce(wallet.address, 0)
                    return wallet
        raise ChainTrouble("a wallet that has sent nothing", f"{MOST_WALLETS} of this seed that have")

    def _keep(self, wallet: SuiteWallet) -> SuiteWallet:
        self._session.wallets.append(wallet)
        return wallet


@cache
def _bytecode() -> bytes:
    artifact = json.loads((artifacts() / "ContractWallet.json").read_text(encoding="utf-8"))
    return bytes.fromhex(str(artifact["bytecode"]).removeprefix("0x"))
