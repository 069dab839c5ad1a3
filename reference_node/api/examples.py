"""Examples of every request and answer in the OpenAPI description (OpenAPI 3.1, "Media Type Object").

They are put together from one value for each member, so that the same wallet, group and action run through all of them.
A request can be sent as it stands, once what it names has been made: the group 1, the action. Only a usage key and a
payment intent come from an earlier answer. Envelopes are signed anew whenever the description is served.
"""

from __future__ import annotations

from typing import Any

from eth_utils.address import to_checksum_address

from reference_node.api.requests import EXAMPLE_ACTION, EXAMPLE_CID, EXAMPLE_KEY
from reference_node.fields import hash_text
from reference_node.node import Node
from reference_node.permission.cid import cid_hash
from reference_node.permission.keys import address_of, pkp_id
from reference_node.permission.signatures import sign
from reference_node.permission.typed_data import (
    DOMAIN_FIELDS,
    DOMAIN_VERSION,
    MESSAGE_FIELDS,
    WINDOW_SECONDS,
    Flow,
    digest,
    domain_name,
)

WALLET = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1"
PKP_ID = hash_text(pkp_id(bytes.fromhex(WALLET[2:])))
ANY_PKP = hash_text(bytes(32))
HASHED_CID = hash_text(cid_hash(EXAMPLE_CID))

LEAD_SECONDS = WINDOW_SECONDS - 60
"""How far ahead `issuedAt` of an example is, so that readers of the viewer have nine minutes to send it."""

MEMBERS: dict[str, object] = {
    "account_description": "first steps",
    "account_name": "mine",
    "action_ipfs_cid": EXAMPLE_CID,
    "add_pkp_to_groups": [1],
    "amount_cents": 500,
    "api_key": EXAMPLE_KEY,
    "api_key_hash": HASHED_CID,
    "app_compose": '{"docker_compose_file": "services: {}"}',
    "app_id": "f39fd6e51aad88f6f4ce6ab8827279cfffb92266",
    "balance": 0,
    "balance_cents": 475,
    "balance_display": "$4.75",
    "can_create_groups": False,
    "can_create_pkps": False,
    "can_delete_groups": False,
    "chain_id": 31337,
    "chain_name": "development",
    "cid_hashes_permitted": [0],
    "client_secret": "pi_3ExAmPlE00000000000000_secret_0000000000000000000000000",
    "code": EXAMPLE_ACTION,
    "compose_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "contract_address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    "derivation_path": f"0x{7:064x}",
    "description": "says hello",
    "event_log": "[]",
    "execute_in_groups": [1],
    "expiration": 0,
    "group_id": 1,
    "has_error": False,
    "hashed_cid": HASHED_CID,
    "is_evm": True,
    "jsParams": {"name": "Ada"},
    "logs": "",
    "manage_ipfs_ids_in_groups": [],
    "name": "greet",
    "payment_intent_id": "pi_3ExAmPlE00000000000000",
    "pkp_id": ANY_PKP,
    "pkp_ids_permitted": [],
    "publishable_key": "pk_test_example",
    "quote": "040002008100000000000000",
    "remove_pkp_from_groups": [],
    "report_data": "00" * 64,
    "response": "Hello, Ada",
    "success": True,
    "testnet": True,
    "token": "ETH",
    "uri": "https://acme.example/acct/1",
    "usage_api_key": EXAMPLE_KEY,
    "vm_config": "{}",
    "wallet_address": WALLET,
}
OF_SCHEMA: dict[str, dict[str, object]] = {
    "ActionsOfGroupChange": {"add": [EXAMPLE_CID], "remove": []},
    "NewWalletsOfGroup": {"add": [ANY_PKP]},
    "GroupItem": {"id": 1},
    "WalletItem": {"id": PKP_ID},
}
"""Members whose values differ from one schema to another."""
FLOWS = {
    "CreateWalletRequest": Flow.CREATE_WALLET,
    "AddUsageKeyRequest": Flow.ADD_USAGE_API_KEY,
    "ConvertRequest": Flow.CONVERT_ACCOUNT,
}
BARE = {
    "Account Exists": True,
    "Get Action Ipfs Id": EXAMPLE_CID,
    "Get Admin Api Payer": WALLET,
    "Get Api Payers": [WALLET],
    "Code": EXAMPLE_ACTION,
}
"""Of requests and answers that are no objects, by the title of their schema."""


def exemplify(description: dict[str, Any]) -> None:
    """Give each JSON request and each accepted JSON answer of a description its example."""
    schemas = description["components"]["schemas"]
    for operation in _operations(description):
        contents = [operation.get("requestBody", {}), operation["responses"].get("200", {})]
        for content in (one.get("content", {}).get("application/json") for one in contents):
            if content:
                content["example"] = _example(content["schema"], schemas)


def complete_examples(description: dict[str, Any], node: Node, wallet_key: bytes) -> None:
    """Add what depends on the node and its time: required parameters, and signed envelopes that are accepted now."""
    known = {**MEMBERS, "domain": node.attestation.domain}
    wallet, issued_at = address_of(wallet_key), node.clock.now() + LEAD_SECONDS
    title, chain_id, address = node.settings.title, node.chain.chain_id, to_checksum_address(wallet)
    for operation in _operations(description):
        for parameter in operation.get("parameters", ()):
            if parameter["required"]:
                parameter["example"] = known[parameter["name"]]
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        flow = FLOWS.get(content.get("schema", {}).get("$ref", "").rpartition("/")[2])
        if flow:
            content["example"] |= {
                "typed_data": _typed_data(flow, domain_name(title), chain_id, address, issued_at),
                "signature": sign(wallet_key, digest(flow, title, chain_id, wallet, issued_at)),
            }
        if flow is Flow.CONVERT_ACCOUNT:
            content["example"]["new_admin_wallet_address"] = address


def _operations(description: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in description["paths"].values() for operation in path.values()]


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> object:
    if "$ref" in schema:
        return _of_component(schema["$ref"].rpartition("/")[2], schemas)
    if "$ref" in schema.get("items", {}):
        return [_example(schema["items"], schemas)]
    return BARE[schema["title"].removeprefix("Response ")]


def _of_component(name: str, schemas: dict[str, Any]) -> object:
    schema = schemas[name]
    whole = {**MEMBERS, **OF_SCHEMA.get(name, {}), **schema.get("example", {})}
    whole["tcb_info"] = {"app_compose": MEMBERS["app_compose"]}
    signed = {"typed_data", "signature", "new_admin_wallet_address"}
    return {member: whole[member] for member in schema["properties"] if member not in signed}


def _typed_data(flow: Flow, domain: str, chain_id: int, address: str, issued_at: int) -> dict[str, object]:
    return {
        "types": {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS},
        "primaryType": flow.value,
        "domain": {"name": domain, "version": DOMAIN_VERSION, "chainId": str(chain_id)},
        "message": {"address": address, "issuedAt": str(issued_at)},
    }
