"""Specification: "Wallet-signed endpoints"."""

from __future__ import annotations

from eth_utils.address import to_checksum_address
from fastapi import APIRouter, Response

from reference_node.api.access import NodeOf, WriteOf
from reference_node.api.answers import MintedUsageKey, MintedWallet, Success
from reference_node.api.openapi import BODY, key_write, problems
from reference_node.api.requests import AddUsageKeyRequest, ConvertRequest, CreateWalletRequest
from reference_node.api.route import StrictRoute, answer, success
from reference_node.fields import hash_text
from reference_node.node import Node
from reference_node.permission.keys import address_of, key_text, new_derivation_path
from reference_node.permission.typed_data import Flow
from reference_node.problems import BadRequest
from reference_node.strict_json import Json

router = APIRouter(route_class=StrictRoute, tags=["Wallet-signed endpoints"])


@router.post("/create_wallet_with_signature", response_model=MintedWallet, responses=problems(*BODY, 422, 503))
def create_wallet_with_signature(body: CreateWalletRequest, node: NodeOf) -> Response:
    """Derive a new wallet (PKP). It belongs to no account until it is registered on-chain. Needs no key."""
    node.signer(body.typed_data, body.signature, Flow.CREATE_WALLET)
    _, minted = _mint(node)
    return answer(minted)


@router.post("/add_usage_api_key_with_signature", response_model=MintedUsageKey, responses=problems(*BODY, 422, 503))
def add_usage_api_key_with_signature(body: AddUsageKeyRequest, node: NodeOf) -> Response:
    """Derive a new usage key. It has no permissions until an account's admin wallet attaches it. Needs no key."""
    node.signer(body.typed_data, body.signature, Flow.ADD_USAGE_API_KEY)
    secret, minted = _mint(node)
    return answer({"usage_api_key": key_text(secret), **minted})


@router.post("/convert_to_chain_secured_account", response_model=Success, responses=key_write(409))
def convert_to_chain_secured_account(body: ConvertRequest, write: WriteOf) -> Response:
    """Convert the account to ChainSecured mode, with the signer as admin wallet. Irreversible; the credits follow.

    The example is signed by a throwaway wallet: whoever sends it as it stands gives the account to nobody.
    """
    new_admin = write.node.signer(body.typed_data, body.signature, Flow.CONVERT_ACCOUNT)
    if bytes.fromhex(body.new_admin_wallet_address.removeprefix("0x")) != new_admin:
        raise BadRequest("new-admin-not-signer", "new_admin_wallet_address has to be message.address, which signed")
    with write.charged() as accounts, write.handover():
        former_admin = write.admin_wallet
        accounts.convert_to_chain_secured(write.acting_key, new_admin)
        write.node.billing.move(write.caller.account_hash, former_admin, new_admin)
    return success()


def _mint(node: Node) -> tuple[bytes, dict[str, Json]]:
    """Derive a private key at an unused path; also return the answer members needed to register its wallet."""
    derivation_path = new_derivation_path()
    private_key = node.keys.wallet_key(derivation_path)
    return private_key, {
        "wallet_address": to_checksum_address(address_of(private_key)),
        "derivation_path": hash_text(derivation_path.to_bytes(32)),
    }
