"""Real clients over real HTTP: web3.py here, ethers and viem in their own scripts (`tests/js`)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from eth_utils import keccak
from web3 import Web3
from web3.contract import Contract
from web3.exceptions import ContractCustomError

from reference_node.chain.evm import EvmChain
from reference_node.chain.rpc import JsonRpc

from .bytecode import assemble, init_code
from .http import serve
from .npm import run_script
from .wallets import ALICE, BOB, CHAIN_ID


def selector(signature: str) -> str:
    return f"0x{keccak(signature.encode())[:4].hex()}"


REFUSED = f"{selector('Refused(uint256,address)')} 0xe0 SHL 0 MSTORE 7 4 MSTORE CALLER 36 MSTORE 68 0 REVERT"
COUNTED = f"0x{keccak(b'Counted(uint256,uint256,uint256)').hex()}"
COUNT = f"0 SLOAD 1 ADD DUP1 0 SSTORE 0 MSTORE 36 CALLDATALOAD 4 CALLDATALOAD {COUNTED} 32 0 LOG3 STOP"
TOTAL = "0 SLOAD 0 MSTORE 32 0 RETURN"
DISPATCH = f"0 CALLDATALOAD 0xe0 SHR DUP1 {selector('refuse()')} EQ @refuse JUMPI {selector('total()')} EQ @total JUMPI"
RUNTIME = assemble(f"{DISPATCH} {COUNT} refuse: {REFUSED} total: {TOTAL}")


def _uint(name: str, *, indexed: bool | None = None) -> dict[str, object]:
    return {"name": name, "type": "uint256"} | ({} if indexed is None else {"indexed": indexed})


def _function(name: str, inputs: list[object], outputs: list[object], mutability: str) -> dict[str, object]:
    return {"type": "function", "name": name, "inputs": inputs, "outputs": outputs, "stateMutability": mutability}


ABI = [
    {"type": "constructor", "inputs": [], "stateMutability": "nonpayable"},
    {"type": "fallback", "stateMutability": "payable"},
    _function("count", [_uint("first"), _uint("second")], [], "nonpayable"),
    _function("refuse", [], [], "nonpayable"),
    _function("total", [], [_uint("")], "view"),
    {
        "type": "event",
        "name": "Counted",
        "anonymous": False,
        "inputs": [_uint("first", indexed=True), _uint("second", indexed=True), _uint("total", indexed=False)],
    },
    {"type": "error", "name": "Refused", "inputs": [_uint("code"), {"name": "who", "type": "address"}]},
]
CONTRACT = {"abi": ABI, "bytecode": "0x" + init_code(RUNTIME).hex()}


@pytest.fixture
def url(chain: EvmChain) -> Iterator[str]:
    """The chain's JSON-RPC over HTTP."""
    with serve(JsonRpc(chain).handle) as address:
        yield address


@pytest.fixture
def web3(url: str) -> Web3:
    return Web3(Web3.HTTPProvider(url, request_kwargs={"timeout": 60}))


@pytest.fixture
def contract(chain: EvmChain, web3: Web3) -> Contract:
    deployed = ALICE.deploy(chain, init_code(RUNTIME))
    return web3.eth.contract(address=web3.to_checksum_address(deployed), abi=ABI)


@pytest.mark.parametrize("script", ["ethers.js", "viem.js"])
def test_javascript_client_works(url: str, script: str) -> None:
    assert "well" in run_script(script, url, "0x" + ALICE.key.hex(), json.dumps(CONTRACT))


def test_web3_builds_a_transaction_itself(web3: Web3, contract: Contract) -> None:
    account = web3.eth.account.from_key(ALICE.key)
    built = contract.functions.count(11, 22).build_transaction(
        {"from": account.address, "nonce": web3.eth.get_transaction_count(account.address)}
    )
    assert built["chainId"] == CHAIN_ID
    sent = web3.eth.send_raw_transaction(account.sign_transaction(built).raw_transaction)
    receipt = web3.eth.wait_for_transaction_receipt(sent, timeout=60)
    (event,) = contract.events.Counted().process_receipt(receipt)
    assert dict(event["args"]) == {"first": 11, "second": 22, "total": 1}
    assert contract.functions.total().call() == 1
    assert receipt["gasUsed"] <= built["gas"]


def test_web3_filters_logs(chain: EvmChain, web3: Web3, contract: Contract) -> None:
    created = contract.events.Counted.create_filter(from_block="latest", argument_filters={"first": 1})
    for first in (1, 2, 1):
        data = contract.encode_abi("count", [first, 9])
        ALICE.send(chain, bytes.fromhex(contract.address[2:]), data=bytes.fromhex(data[2:]))
    assert [entry["args"]["total"] for entry in created.get_new_entries()] == [1, 3]
    assert created.get_new_entries() == []
    logs = contract.events.Counted.get_logs(from_block=0, argument_filters={"second": 9})
    assert [entry["args"]["first"] for entry in logs] == [1, 2, 1]
    block = web3.eth.get_block("latest")["hash"]
    assert len(web3.eth.get_logs({"address": contract.address, "blockHash": block})) == 1
    assert web3.eth.uninstall_filter(created.filter_id)


def test_web3_decodes_a_custom_error(contract: Contract) -> None:
    with pytest.raises(ContractCustomError) as refused:
        contract.functions.refuse().call({"from": Web3.to_checksum_address(BOB.address)})
    told = refused.value.data
    assert str(told).startswith(selector("Refused(uint256,address)"))
    assert BOB.address.hex() in str(told)
