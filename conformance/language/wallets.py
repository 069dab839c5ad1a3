"""The suite's own wallets in a case, and the functions of `let` with which they sign envelopes.

Specification: "Resources and their fields / Typed-data envelope", "Wallet-signed endpoints".
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

from conformance.language.functions import function, relies_on
from conformance.language.scope import ObjectWithDefault, Scope
from conformance.problems import Mismatch, ProfileSilent
from conformance.values.json_text import written
from conformance.values.json_values import printed
from conformance.values.typed_data import Wallet, digest
from conformance.values.typed_data import envelope as canonical_envelope

OPTIONS = ("address", "chain_id", "issued", "signed_by")


class CaseWallet(ObjectWithDefault):
    """A wallet of the suite's, or a contract that one of them owns. Used as a value, it stands for its address."""

    value_member = "address"

    def __init__(self, address: str, signer: Wallet, chain_id: int, now: Callable[[], int], *, contract: bool) -> None:
        super().__init__(address=address, chain_id=chain_id)
        self.signer = signer
        """Who signs for it: itself, or its owner."""
        self.chain_id = chain_id
        self.now = now
        """The node's time in Unix seconds."""
        self.contract = contract


def wallet_of(scope: Scope, address: object) -> CaseWallet:
    """The case's wallet with this address. Mismatch: there is none."""
    wanted = printed(address).lower()
    for value in scope.variables.values():
        if isinstance(value, CaseWallet) and printed(value.value).lower() == wanted:
            return value
    raise Mismatch("the address of a wallet of this case", printed(address))


@function
def envelope(scope: Scope, primary: object, address: object, options: object = None) -> dict[str, object]:
    """`typed_data` and `signature` of a wallet: valid, but for what the options say."""
    wallet, stated = wallet_of(scope, address), _options(options)
    issued = stated.get("issued", 0)
    if not isinstance(issued, int):
        raise Mismatch("seconds as `issued`", printed(issued))
    document = canonical_envelope(
        printed(primary),
        name=f"{scope.lookup('profile', ['brand', 'title'])} ChainSecured",
        chain_id=int(printed(stated.get("chain_id", wallet.chain_id))),
        address=printed(stated.get("address", address)),
        issued_at=wallet.now() + issued,
    )
    signer = wallet_of(scope, stated.get("signed_by", address)).signer
    typed_data: object = document
    if _first_form(scope) == "string":
        typed_data = written(document)
    return {"typed_data": typed_data, "signature": signer.sign(digest(document)).text}


@function
@relies_on("wire.x_wallet_auth.encoding")
def wallet_auth(scope: Scope, proof: object) -> str:
    """The header `X-Wallet-Auth` that holds an envelope and its signature, by the profile's form."""
    return in_header(written(proof), scope.lookup("profile", ["wire", "x_wallet_auth", "encoding"]))


def in_header(proof: str, encoding: object) -> str:
    """The JSON of a proof as `X-Wallet-Auth` holds it, in the encoding that the profile says."""
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


def _options(options: object) -> Mapping[str, object]:
    if options is None:
        return {}
    if not isinstance(options, dict) or not options.keys() <= set(OPTIONS):
        raise Mismatch(f"an object of {', '.join(OPTIONS)}", printed(options))
    return options


def _first_form(scope: Scope) -> object:
    forms = scope.profile("wire.typed_data.form")
    return forms[0] if isinstance(forms, list) and forms else "object"
