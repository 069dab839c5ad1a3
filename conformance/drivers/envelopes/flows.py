"""The four wallet-signed flows: the account on which each is tried, and its requests ("Wallet-signed endpoints")."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property

from conformance.drivers.envelopes.forms import BILLING, CONVERSION, EnvelopeRow, Flow
from conformance.drivers.envelopes.requests import Proof, Signers
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile import Profile
from conformance.service.accounts import Accounts, makes_accounts
from conformance.service.contract import chain_id
from conformance.service.envelopes import WALLET_AUTH, domain_name, wallet_auth_header
from conformance.service.lists import unchanged_list
from conformance.service.reads import Read
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import Address
from conformance.values.json_values import member
from conformance.values.typed_data import Wallet

LISTS = ("list_wallets", "list_api_keys")
"""Lists that show everything minted into an account. Only a valid key may read them."""
VALID = EnvelopeRow(id="valid", accepted=True)


@dataclass(frozen=True)
class EnvelopeAccount:
    """An account, and the wallets that sign envelopes about it."""

    signers: Signers
    key: str | None
    """None where the node makes no accounts, and after a conversion."""


def offered(flow: Flow, profile: Profile) -> bool:
    """Whether the node offers the flow, and accounts where trying it takes one."""
    if flow == BILLING:
        encoding = profile.wire.x_wallet_auth.encoding
        return makes_accounts(profile) and profile.offers("billing") and encoding is not None
    return makes_accounts(profile) if flow == CONVERSION else True


@dataclass
class EnvelopeAccounts:
    """The accounts and wallets of a case; no wallet becomes the admin of two accounts."""

    session: Session
    converts: bool
    """Whether the case converts an account, so that it needs one of its own."""

    def of(self, flow: Flow) -> EnvelopeAccount:
        """The account that the rows of a flow share: a converted one for billing, a managed one for others.

        One that no case changes serves the whole run.
        """
        if flow == BILLING:
            return self.session.target.remembered("a converted account for signed envelopes", self._converted)
        if self.converts:
            return self._own
        return self.session.target.remembered("an account for signed envelopes", self.fresh)

    @cached_property
    def _own(self) -> EnvelopeAccount:
        return self.fresh()

    def fresh(self) -> EnvelopeAccount:
        """A new account, where the node makes accounts, and wallets that are not used elsewhere."""
        makes = makes_accounts(self.session.profile)
        key = Accounts(self.session).new("for signed envelopes").key if makes else None
        seed = f"{self.session.seed}|{key or ''}"
        wallets = Wallet(f"{seed}|holder"), Wallet(f"{seed}|other")
        return EnvelopeAccount(Signers(domain_name(self.session.profile), chain_id(self.session), *wallets), key)

    def unchanged(self, flow: Flow) -> list[Read]:
        """The lists of the flow's account, as reads that must stay unchanged."""
        key = self.of(flow).key
        return [] if key is None else [unchanged_list(self.session, name, key) for name in LISTS]

    def _converted(self) -> EnvelopeAccount:
        """A converted account: billing knows its wallet, and its key counts no more."""
        account = self.fresh()
        holder = account.signers.wallet
        Accounts(self.session).convert(str(account.key), SuiteWallet(Address(holder.address), holder))
        return EnvelopeAccount(account.signers, None)


# --------------------------------------------------------------------------------------------------------- requests


def compose_request(
    flow: Flow, row: EnvelopeRow, proof: Proof, account: EnvelopeAccount, session: Session
) -> OutgoingRequest:
    """A row's request with this proof."""
    operation = session.target.operation(flow)
    key = _key(flow, row, account, session)
    if flow == BILLING:
        encoding = session.profile.wire.x_wallet_auth.encoding
        value = wallet_auth_header(proof.text(row, {}), encoding) if row.raw is None else row.raw
        return OutgoingRequest(operation, key, headers={WALLET_AUTH: value}, method=row.method)
    more = {"new_admin_wallet_address": row.new_admin or _new_admin(proof, account)} if flow == CONVERSION else {}
    body = proof.text(row, more) if row.raw is None else row.raw
    return OutgoingRequest(operation, key, body=body, method=row.method)


def _new_admin(proof: Proof, account: EnvelopeAccount) -> str:
    """The signer that the envelope names, so that only the row's change can be at fault."""
    named = member(proof.document.get("message"), "address")
    own = account.signers.wallet.address
    return named if isinstance(named, str) and len(named) == len(own) else own


def _key(flow: Flow, row: EnvelopeRow, account: EnvelopeAccount, session: Session) -> str | None:
    match row.key or ("account" if flow == CONVERSION else "none"):
        case "account":
            return account.key
        case "unknown":
            return base64.b64encode(session.random.randbytes(32)).decode()
        case "malformed":
            return "no key"
        case _:
            return None
