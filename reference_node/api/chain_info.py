"""Specification: "Chain and payer information". No key is needed."""

from __future__ import annotations

from eth_utils.address import to_checksum_address
from fastapi import APIRouter, Response

from reference_node.api.access import NodeOf
from reference_node.api.answers import ChainConfig
from reference_node.api.openapi import problems
from reference_node.api.route import StrictRoute, answer
from reference_node.chain.contract_abi import interface
from reference_node.fields import Address

beside = APIRouter(route_class=StrictRoute, include_in_schema=False)
"""Outside of the path prefix, which the specification owns."""

router = APIRouter(route_class=StrictRoute, tags=["Chain and payer information"])


@router.get("/get_node_chain_config", response_model=ChainConfig, responses=problems(422, 503))
def get_node_chain_config(node: NodeOf) -> Response:
    """The chain and contract that hold the permission state, without the chain's RPC address."""
    return answer(
        {
            "chain_name": "external" if node.rpc is None else "in-memory",
            "chain_id": node.chain.chain_id,
            "is_evm": True,
            "testnet": True,
            "token": "ETH",
            "contract_address": to_checksum_address(node.accounts.address),
        }
    )


@beside.get("/abi/AccountConfig.json")
def contract_interface() -> Response:
    """The ABI of the contract, a JSON array."""
    return answer([*interface()])


@router.get("/get_api_payers", response_model=list[Address], responses=problems(422, 503))
def get_api_payers(node: NodeOf) -> Response:
    """The wallets that submit administrative writes."""
    return answer([to_checksum_address(payer) for payer in node.accounts.api_payers()])


@router.get("/get_admin_api_payer", response_model=Address, responses=problems(422, 503))
def get_admin_api_payer(node: NodeOf) -> Response:
    """The wallet that may change the payers."""
    return answer(to_checksum_address(node.accounts.admin_api_payer()))
