"""The suite's own wallets in a case, and the functions of `let` with which they sign envelopes.

Specification: "Resources and their fields / Typed-data envelope", "Wallet-signed endpoints".
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.language.functions import function, relies_on
from conformance.language.scope import ObjectWithDefault, Scope
from conformance.problems import Mismatch
from conformance.service.contract import chain_id
from conformance.service.envelopes import sign_envelope, wallet_auth_header
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.json_text import written
from conformance.values.json_values import printed

OPTIONS = ("address", "chain_id", "issued", "signed_by")


class CaseWallet(ObjectWithDefault):
    """A wallet of the suite as a variable of a case. Used as a value, it stands for its address."""

    value_member = "address"

    def __init__(self, wallet: SuiteWallet, session: Session) -> None:
        super().__init__(address=wallet.address, chain_id=chain_id(session))
        self.wallet = wallet
        self.session = session


def wallet_of(scope: Scope, address: object) -> CaseWallet:
    """The case's wallet with this address. Raises Mismatch if there is none."""
    expected = printed(address).lower()
    for value in scope.variables.values():
        if isinstance(value, CaseWallet) and value.wallet.address.lower() == expected:
            return value
    raise Mismatch("the address of a wallet of this case", printed(address))


@function
def envelope(scope: Scope, primary: object, address: object, options: object = None) -> dict[str, object]:
    """`typed_data` and `signature` of a wallet: valid, apart from what the options change."""
    wallet, stated = wallet_of(scope, address), _options(options)
    issued = stated.get("issued", 0)
    if not isinstance(issued, int):
        raise Mismatch("seconds as `issued`", printed(issued))
    signed = sign_envelope(
        wallet.session,
        printed(primary),
        wallet.wallet,
        issued=issued,
        address=printed(stated.get("address", address)),
        on_chain=int(printed(stated["chain_id"])) if "chain_id" in stated else None,
        signed_by=wallet_of(scope, stated.get("signed_by", address)).wallet,
    )
    return signed.members


@function
@relies_on("wire.x_wallet_auth.encoding")
def wallet_auth(scope: Scope, proof: object) -> str:
    """The header `X-Wallet-Auth` that holds an envelope and its signature, by the profile's form."""
    return wallet_auth_header(written(proof), scope.lookup("profile", ["wire", "x_wallet_auth", "encoding"]))


def _options(options: object) -> Mapping[str, object]:
    if options is None:
        return {}
    if not isinstance(options, dict) or not options.keys() <= set(OPTIONS):
        raise Mismatch(f"an object of {', '.join(OPTIONS)}", printed(options))
    return options
