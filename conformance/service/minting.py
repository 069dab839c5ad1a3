"""Mints wallets and usage keys through the signature flows, and attaches them on the chain.

Specification, "Wallet-signed endpoints": `create_wallet_with_signature`, `add_usage_api_key_with_signature`.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Malformed
from conformance.service.acceptance import Accepted
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.contract import Contract
from conformance.service.derivations import usage_key_hash
from conformance.service.envelopes import sign_envelope
from conformance.service.session import DESCRIPTION, Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.ids import Address, UsageKey, UsageKeyHash
from conformance.values.json_values import member, printed

ENVELOPES = {"create_wallet_with_signature": "CreateWallet", "add_usage_api_key_with_signature": "AddUsageApiKey"}
"""The primary type of the envelope with which each operation mints."""
FAR_AHEAD = 4_102_444_800_000
"""An expiration that is far ahead in seconds and in milliseconds."""
BALANCE = 1_000_000
NEVER = "semantics.usage_key_expiration.never"


@dataclass(frozen=True)
class MintedWallet:
    """A wallet that belongs to no account until it is registered."""

    address: Address
    path: str
    """Its derivation path, as the answer holds it."""


@dataclass(frozen=True)
class MintedKey(MintedWallet):
    """A usage key with its wallet; it has no permissions until it is attached."""

    key: UsageKey
    hash: UsageKeyHash


class Minting:
    """Mints with the signature of a wallet, and attaches with its transactions."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._contract = Contract(session)

    def request(self, operation: str, admin: SuiteWallet) -> OutgoingRequest:
        """The request with which a wallet's signature mints; sent again, it is a replay."""
        return self._session.request(operation, **sign_envelope(self._session, ENVELOPES[operation], admin).members)

    def wallet(self, admin: SuiteWallet) -> MintedWallet:
        """A fresh wallet."""
        members = self._minted("create_wallet_with_signature", admin)
        return MintedWallet(Address(members["wallet_address"]), members["derivation_path"])

    def usage_key(self, admin: SuiteWallet) -> MintedKey:
        """A fresh usage key."""
        members = self._minted("add_usage_api_key_with_signature", admin)
        key = members["usage_api_key"]
        hashed = usage_key_hash(key, self._session.profile)
        return MintedKey(Address(members["wallet_address"]), members["derivation_path"], UsageKey(key), hashed)

    def register(self, account: ChainSecuredAccount, minted: MintedWallet, name: str = "") -> Accepted:
        """Register a wallet in an account, with a transaction of the account's admin."""
        arguments = [account.hash, minted.address, minted.path, f"{self._session.label} {name}".strip(), DESCRIPTION]
        return self._contract.write(account.admin, "register_wallet_derivation", *arguments)[1]

    def attach(
        self,
        account: ChainSecuredAccount,
        key: MintedKey,
        permissions: Permissions = NO_PERMISSIONS,
        *,
        name: str = "",
        expiration: int | None = None,
        balance: int = BALANCE,
    ) -> Accepted:
        """Attach a usage key to an account, with a transaction of the account's admin. By default it never expires."""
        until = self._session.stated(NEVER) if expiration is None else expiration
        labels = [f"{self._session.label} {name}".strip(), DESCRIPTION]
        arguments = [account.hash, key.hash, until, balance, *labels, *permissions.arguments]
        return self._contract.write(account.admin, "set_usage_api_key", *arguments)[1]

    def attached_key(
        self, account: ChainSecuredAccount, permissions: Permissions = NO_PERMISSIONS, name: str = ""
    ) -> MintedKey:
        """A fresh usage key, attached to an account."""
        key = self.usage_key(account.admin)
        self.register(account, key, name)
        self.attach(account, key, permissions, name=name)
        return key

    def addresses(self) -> set[str]:
        """The addresses of all wallets that were minted in the run so far, to which it adds."""
        return self._session.target.remembered("minted wallets", set)

    def _minted(self, operation: str, admin: SuiteWallet) -> dict[str, str]:
        answer = self._session.accept(self.request(operation, admin))[0]
        if not isinstance(answer.value, dict):
            raise Malformed("what was minted", printed(answer.value)[:300], answer.exchange)
        self.addresses().add(printed(member(answer.value, "wallet_address")))
        return {name: printed(member(answer.value, name)) for name in answer.value}
