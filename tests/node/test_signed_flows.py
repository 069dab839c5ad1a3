"""Specification: "Wallet-signed endpoints": the two that mint, and what all three have in common."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from envelopes import conversion, envelope, new_wallet, sign, signed
from eth_abi.abi import encode
from nodes import Running, refused

from reference_node import resources
from reference_node.chain.payers import PayerPool
from reference_node.permission.keys import address_of, key_text, new_secret
from reference_node.permission.typed_data import Flow, digest

MINTS = {
    "create_wallet_with_signature": Flow.CREATE_WALLET,
    "add_usage_api_key_with_signature": Flow.ADD_USAGE_API_KEY,
}
ENDPOINTS = {**MINTS, "convert_to_chain_secured_account": Flow.CONVERT_ACCOUNT}

ERC_1271_VALID = bytes.fromhex("1626ba7e")


def request(flow: Flow) -> dict[str, Any]:
    """A body that is right for the endpoint of this flow."""
    wallet = new_wallet()
    return conversion(wallet) if flow is Flow.CONVERT_ACCOUNT else signed(flow, wallet)


def derived(running: Running, path: str) -> bytes:
    """The private key at a path as clients see it."""
    assert len(path) == 66
    return running.node.keys.wallet_key(int(path, 16))


def test_minted_wallet_is_the_one_at_its_path_and_belongs_to_nobody(running: Running) -> None:
    minted = running.done("create_wallet_with_signature", **signed(Flow.CREATE_WALLET, new_wallet()))
    assert set(minted) == {"wallet_address", "derivation_path"}
    address = address_of(derived(running, minted["derivation_path"]))
    assert minted["wallet_address"].lower() == f"0x{address.hex()}"
    assert running.node.accounts.derivation_owner(int(minted["derivation_path"], 16)) == 0


def test_minted_usage_key_is_the_key_at_its_path_and_opens_nothing(running: Running) -> None:
    minted = running.done("add_usage_api_key_with_signature", **signed(Flow.ADD_USAGE_API_KEY, new_wallet()))
    assert set(minted) == {"usage_api_key", "wallet_address", "derivation_path"}
    secret = base64.b64decode(minted["usage_api_key"])
    assert secret == derived(running, minted["derivation_path"])
    assert minted["wallet_address"].lower() == f"0x{address_of(secret).hex()}"
    refused(running.get("list_groups", minted["usage_api_key"]), 401, "unknown-key")


@pytest.mark.parametrize(("endpoint", "flow"), MINTS.items())
def test_same_envelope_mints_something_else_each_time(running: Running, endpoint: str, flow: Flow) -> None:
    body = signed(flow, new_wallet())
    first, second = (running.done(endpoint, **body) for _ in range(2))
    assert all(first[name] != second[name] for name in first)


@pytest.mark.parametrize(("endpoint", "flow"), MINTS.items())
def test_mint_needs_no_key_heeds_none_and_changes_nothing(
    running: Running, account: str, endpoint: str, flow: Flow
) -> None:
    before = running.everything(account), running.read("billing/balance", account)
    nonces = [running.node.chain.next_nonce(payer) for payer in running.node.accounts.api_payers()]
    body = signed(flow, new_wallet())
    for key in (None, account, key_text(new_secret()), "no key"):
        running.done(endpoint, key, **body)
    assert [running.node.chain.next_nonce(payer) for payer in running.node.accounts.api_payers()] == nonces
    assert (running.everything(account), running.read("billing/balance", account)) == before


@pytest.mark.parametrize(("endpoint", "flow"), ENDPOINTS.items())
def test_string_form_is_accepted(running: Running, account: str, endpoint: str, flow: Flow) -> None:
    body = request(flow)
    running.done(endpoint, account, **body | {"typed_data": json.dumps(body["typed_data"])})


@pytest.mark.parametrize(
    ("endpoint", "own", "flow"),
    [(endpoint, own, flow) for endpoint, own in ENDPOINTS.items() for flow in Flow if flow is not own],
)
def test_signature_for_another_flow_is_refused(
    running: Running, account: str, endpoint: str, own: Flow, flow: Flow
) -> None:
    wallet = new_wallet()
    body = signed(flow, wallet)
    if own is Flow.CONVERT_ACCOUNT:
        body["new_admin_wallet_address"] = wallet.address
    refused(running.post(endpoint, account, **body), 400, "typed-data-primary-type")
    body["typed_data"] = envelope(own, wallet) | {"message": body["typed_data"]["message"]}
    refused(running.post(endpoint, account, **body), 400, "signature-mismatch")


@pytest.mark.parametrize(("endpoint", "flow"), ENDPOINTS.items())
def test_body_has_exactly_its_members(running: Running, account: str, endpoint: str, flow: Flow) -> None:
    body = request(flow)
    for name in body:
        lacking = {other: value for other, value in body.items() if other != name}
        refused(running.post(endpoint, account, **lacking), 422, "request-invalid")
    refused(running.post(endpoint, account, **body, nonce=1), 422, "request-invalid")


@pytest.mark.parametrize(("endpoint", "flow"), ENDPOINTS.items())
@pytest.mark.parametrize("name", ["typed_data", "signature"])
@pytest.mark.parametrize("value", [None, True, 5, 1.5, [], {}, "", "x" * 5000, [[[]]]])
def test_member_of_any_kind_is_judged_as_typed_data_or_signature(
    running: Running, account: str, endpoint: str, flow: Flow, name: str, value: object
) -> None:
    problem = refused(running.post(endpoint, account, **request(flow) | {name: value}), 400)
    assert problem["code"].startswith("typed-data-" if name == "typed_data" else "signature-")


@pytest.mark.parametrize(("endpoint", "flow"), ENDPOINTS.items())
def test_window_follows_the_clock_of_the_node(running: Running, account: str, endpoint: str, flow: Flow) -> None:
    for offset, expected in ((-310, "typed-data-expired"), (400, "typed-data-not-yet-valid")):
        wallet = new_wallet()
        body = signed(flow, wallet, running.node.clock.now() + offset)
        if flow is Flow.CONVERT_ACCOUNT:
            body["new_admin_wallet_address"] = wallet.address
        refused(running.post(endpoint, account, **body), 400, expected)


@pytest.mark.parametrize("flow", ENDPOINTS.values())
def test_contract_wallet_that_would_say_yes_is_refused(running: Running, account: str, flow: Flow) -> None:
    owner, deployer = new_wallet(), new_secret()
    running.node.chain.fund(address_of(deployer), 10**18)
    artifact = json.loads((resources.artifacts() / "ContractWallet.json").read_text())
    code = bytes.fromhex(artifact["bytecode"].removeprefix("0x"))
    pool = PayerPool(running.node.chain, [deployer])
    contract = pool.submit(b"", code + encode(["address"], [owner.address])).contract_address
    assert contract is not None

    typed_data = envelope(flow, owner)
    typed_data["message"]["address"] = f"0x{contract.hex()}"
    signature = sign(owner, typed_data)
    signed_digest = digest(flow, "Service", 31337, contract, int(typed_data["message"]["issuedAt"]))
    question = ERC_1271_VALID + encode(["bytes32", "bytes"], [signed_digest, bytes.fromhex(signature[2:])])
    assert running.node.chain.call(contract, question)[:4] == ERC_1271_VALID, "the contract has to say yes"

    body = {"typed_data": typed_data, "signature": signature}
    if flow is Flow.CONVERT_ACCOUNT:
        body["new_admin_wallet_address"] = f"0x{contract.hex()}"
    endpoint = next(name for name, own in ENDPOINTS.items() if own is flow)
    refused(running.post(endpoint, account, **body), 400, "signature-mismatch")
