"""What the wallet-signed endpoints answer: as the OpenAPI description says, and never a key that was presented.

Specification: "Wallet-signed endpoints", "Account API key (API mode)", "Usage API key", "Versioning".
"""

from __future__ import annotations

from conformance.cases import Judge, case
from conformance.drivers.openapi.answers import check_answer
from conformance.drivers.openapi.description import read_description
from conformance.endpoints.requests import OutgoingRequest
from conformance.service import SuiteWallet, must_accept, sign_envelope
from conformance.service.envelopes import PrimaryType
from conformance.service.node import Node
from conformance.service.secrecy import must_hide

MINTS: dict[str, PrimaryType] = {
    "create_wallet_with_signature": "CreateWallet",
    "add_usage_api_key_with_signature": "AddUsageApiKey",
}
CONVERSION = "convert_to_chain_secured_account"


def signed_request(
    node: Node, operation: str, primary: PrimaryType, wallet: SuiteWallet, key: str | None = None
) -> OutgoingRequest:
    """A request of a wallet-signed endpoint, with a key in `X-Api-Key` or none."""
    members = sign_envelope(node.session, primary, wallet).members
    if operation == CONVERSION:
        members = {**members, "new_admin_wallet_address": wallet.address}
    return node.session.request(operation, key, **members)


@case("signed-answers-hold-no-key", requirements=["AKEY-050", "UKEY-360"], needs=["managed_accounts"])
def signed_answers_hold_no_key(judge: Judge, node: Node) -> None:
    """No answer of the wallet-signed endpoints holds the key that is presented with the request."""
    alice, carol = node.accounts.new(), node.wallets.new("carol")
    runner = node.usage_keys.add(alice.key).key
    for key, requirement in ((alice.key, "AKEY-050"), (runner, "UKEY-360")):
        for operation, primary in MINTS.items():
            answer = node.session.send(signed_request(node, operation, primary, carol, key))
            must_accept(answer)
            with judge.apart(requirement):
                must_hide(answer, key, "the key")
    for key, requirement in ((runner, "UKEY-360"), (alice.key, "AKEY-050")):
        answer = node.session.send(signed_request(node, CONVERSION, "ConvertAccount", carol, key))
        with judge.apart(requirement):
            must_hide(answer, key, "the key")


@case("signed-answers-as-described", requirements=["VER-050"], needs=["managed_accounts", "openapi"])
def signed_answers_as_described(judge: Judge, node: Node) -> None:
    """The answers of the wallet-signed endpoints, refusals too, are as the OpenAPI description says."""
    alice, carol = node.accounts.new(), node.wallets.new("carol")
    description = read_description(node.session)
    requests = [signed_request(node, operation, primary, carol) for operation, primary in MINTS.items()]
    requests += [signed_request(node, operation, "BillingAuth", carol) for operation in MINTS]
    requests.append(signed_request(node, CONVERSION, "BillingAuth", carol, alice.key))
    requests.append(signed_request(node, CONVERSION, "ConvertAccount", carol, alice.key))
    for request in requests:
        with judge.apart("VER-050"):
            check_answer(description, request, node.session.send(request))
