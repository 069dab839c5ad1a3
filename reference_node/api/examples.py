"""Examples of every request and answer in the OpenAPI description (OpenAPI 3.1, "Media Type Object").

They are put together from one value for each member, so that the same wallet, group and action run through all of them.
"""

from __future__ import annotations

from typing import Any

from reference_node.api.requests import EXAMPLE_ACTION, EXAMPLE_CID, EXAMPLE_KEY
from reference_node.typed_data import DOMAIN_FIELDS, DOMAIN_VERSION, MESSAGE_FIELDS, Flow

WALLET = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1"
PADDED_WALLET = f"0x{'0' * 24}{WALLET[2:].lower()}"
HASHED_CID = "0x5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"

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
    "cid_hashes_permitted": [HASHED_CID],
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
    "new_admin_wallet_address": WALLET,
    "payment_intent_id": "pi_3ExAmPlE00000000000000",
    "pkp_id": PADDED_WALLET,
    "pkp_ids_permitted": [PADDED_WALLET],
    "publishable_key": "pk_test_example",
    "quote": "040002008100000000000000",
    "remove_pkp_from_groups": [],
    "report_data": "00" * 64,
    "response": "Hello, Ada",
    "signature": f"0x{'11' * 64}1b",
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
    "NewWalletsOfGroup": {"add": [PADDED_WALLET]},
    "GroupItem": {"id": 1},
    "WalletItem": {"id": PADDED_WALLET},
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
    for path in description["paths"].values():
        for operation in path.values():
            contents = [operation.get("requestBody", {}), operation["responses"].get("200", {})]
            for content in (one.get("content", {}).get("application/json") for one in contents):
                if content:
                    content["example"] = _example(content["schema"], schemas)


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> object:
    if "$ref" in schema:
        return _of_component(schema["$ref"].rpartition("/")[2], schemas)
    if "$ref" in schema.get("items", {}):
        return [_example(schema["items"], schemas)]
    return BARE[schema["title"].removeprefix("Response ")]


def _of_component(name: str, schemas: dict[str, Any]) -> object:
    schema = schemas[name]
    whole = {**MEMBERS, **OF_SCHEMA.get(name, {}), **schema.get("example", {})}
    if name in FLOWS:
        whole["typed_data"] = _typed_data(FLOWS[name])
    whole["tcb_info"] = {"app_compose": MEMBERS["app_compose"]}
    return {member: whole[member] for member in schema["properties"]}


def _typed_data(flow: Flow) -> dict[str, object]:
    return {
        "types": {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS},
        "primaryType": flow.value,
        "domain": {"name": "Service ChainSecured", "version": DOMAIN_VERSION, "chainId": "31337"},
        "message": {"address": WALLET, "issuedAt": "1767225600"},
    }
