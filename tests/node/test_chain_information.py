"""Chain and payer information (specification, "Endpoints")."""

from __future__ import annotations

import json

from eth_utils.address import is_checksum_address, to_checksum_address
from nodes import Running, refused, serving

from reference_node.settings import Settings


def test_chain_configuration_names_chain_and_contract_and_no_rpc_url(running: Running) -> None:
    answer = running.read("get_node_chain_config")
    assert set(answer) == {"chain_name", "chain_id", "is_evm", "testnet", "token", "contract_address"}
    assert answer["chain_id"] == running.node.chain.chain_id
    assert running.node.chain.code(bytes.fromhex(answer["contract_address"][2:]))
    assert "http" not in json.dumps(answer)


def test_payers_are_the_contracts_and_have_gas(running: Running) -> None:
    payers = running.read("get_api_payers")
    assert payers == [to_checksum_address(payer) for payer in running.node.accounts.api_payers()]
    assert len(payers) == running.node.settings.payers
    for payer in (*payers, running.read("get_admin_api_payer")):
        assert is_checksum_address(payer)
        assert running.node.chain.balance(bytes.fromhex(payer[2:])) > 0


def test_managed_write_is_sent_by_a_payer(running: Running, account: str) -> None:
    payers = [bytes.fromhex(payer[2:]) for payer in running.read("get_api_payers")]
    before = sum(running.node.chain.next_nonce(payer) for payer in payers)
    running.group(account)
    assert sum(running.node.chain.next_nonce(payer) for payer in payers) == before + 1


def test_json_rpc_answers_beside_the_api(running: Running) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
    assert running.http.post("/rpc", json=request).json() == {"jsonrpc": "2.0", "id": 1, "result": "0x7a69"}
    notification = running.http.post("/rpc", json={"jsonrpc": "2.0", "method": "eth_chainId", "params": []})
    assert (notification.status_code, notification.content) == (204, b"")
    refused(running.http.post("/rpc", content=b" " * (2**20 + 1)), 413, "body-too-large")


def test_chain_id_and_brand_are_settings() -> None:
    with serving(Settings(port=0, chain_id=4242, slug="acme", title="Acme")) as running:
        assert running.read("get_node_chain_config")["chain_id"] == 4242
        assert running.http.post("/core/v1/get_acme_action_ipfs_id", json="").status_code == 200
        refused(running.http.post("/core/v1/get_service_action_ipfs_id", json=""), 404, "not-found")
        assert running.http.get("/core/v1/openapi.json").json()["info"]["title"].startswith("Acme ")
