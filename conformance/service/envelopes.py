"""Signed envelopes of the suite's own wallets ("Typed-data envelope", "Wallet-signed endpoints")."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from conformance.problems import ProfileSilent
from conformance.profile import Profile
from conformance.service.contract import chain_id
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.json_text import written
from conformance.values.json_values import printed
from conformance.values.typed_data import digest, envelope

PrimaryType = Literal["CreateWallet", "ConvertAccount", "AddUsageApiKey", "BillingAuth"]
WALLET_AUTH = "X-Wallet-Auth"


@dataclass(frozen=True)
class SignedEnvelope:
    """The two members of a wallet-signed request."""

    typed_data: object
    """An object, or the string that holds it, by the profile's `wire.typed_data.form`."""
    signature: str

    @property
    def members(self) -> dict[str, object]:
        """As request members."""
        return {"typed_data": self.typed_data, "signature": self.signature}


def sign_envelope(
    session: Session,
    primary: str,
    wallet: SuiteWallet,
    *,
    issued: int = 0,
    address: str | None = None,
    on_chain: int | None = None,
    signed_by: SuiteWallet | None = None,
) -> SignedEnvelope:
    """A valid envelope of the wallet, issued `issued` seconds from the node's time; options replace its values."""
    forms = typed_data_forms(session.profile)
    session.settle()  # before the envelope is dated, not between its date and its sending
    document = envelope(
        primary,
        name=domain_name(session.profile),
        chain_id=chain_id(session) if on_chain is None else on_chain,
        address=address or wallet.address,
        issued_at=session.clock.now() + issued,
    )
    typed_data: object = document if forms[0] == "object" else written(document)
    return SignedEnvelope(typed_data, (signed_by or wallet).signer.sign(digest(document)).text)


def wallet_auth_header(proof: str, encoding: object) -> str:
    """The JSON of a signed envelope as `X-Wallet-Auth` holds it, by the value of `wire.x_wallet_auth.encoding`."""
    raw = proof.encode(errors="surrogatepass")
    match encoding:
        case "base64_json":
            return base64.b64encode(raw).decode()
        case "base64url_json":
            return base64.urlsafe_b64encode(raw).decode()
        case "json":
            return proof
        case _:
            raise ProfileSilent("a form of X-Wallet-Auth that the suite knows", printed(encoding))


def billing_auth(
    session: Session,
    wallet: SuiteWallet,
    *,
    primary: PrimaryType = "BillingAuth",
    issued: int = 0,
    address: str | None = None,
    on_chain: int | None = None,
    signed_by: SuiteWallet | None = None,
) -> dict[str, str | None]:
    """The `X-Wallet-Auth` header of a wallet; the options are those of `sign_envelope`."""
    signed = sign_envelope(
        session, primary, wallet, issued=issued, address=address, on_chain=on_chain, signed_by=signed_by
    )
    return {WALLET_AUTH: wallet_auth_header(written(signed.members), session.profile.wire.x_wallet_auth.encoding)}


def domain_name(profile: Profile) -> str:
    """`domain.name` of every envelope."""
    return f"{profile.brand.title} ChainSecured"


def typed_data_forms(profile: Profile) -> Sequence[str]:
    """The forms of `typed_data` that the node takes, at least one."""
    if not profile.offers("wallet_signed"):
        raise ProfileSilent("a profile with the capability wallet_signed", "a profile without")
    if profile.wire.typed_data.form is None:
        raise ProfileSilent("a profile that says wire.typed_data.form", "a profile that leaves it out")
    return profile.wire.typed_data.form
