"""A correct node whose contract has functions with another order, fewer members and other types."""

from __future__ import annotations

from typing import Any

from eth_abi.abi import decode, encode
from pydantic import JsonValue

from conformance.endpoints.chain import selector
from conformance.profile import Function, Parameter
from conformance.profile.chain import AccountAbi, WriteAbi
from conformance.selftest.tools.alter import members
from conformance.selftest.tools.alter_chain_answers import change_result
from conformance.selftest.tools.alter_contract import hear
from conformance.selftest.variants.variant import choices
from reference_node.chain.interface import Address
from reference_node.node import Node

ACCOUNT = {
    "new_chain_secured_account": "openAccount()",
    "get_account": "accountOf(uint256 account_hash) returns ((address admin_wallet_address, bool managed) account)",
    "get_usage_api_key": (
        "usageKeyOf(uint256 keyHash, uint256 accountHash) returns (uint64[] executeInGroups, bool canCreatePkps,"
        " string description, string name, uint256 expiration, uint256 balance, bool canDeleteGroups,"
        " bool canCreateGroups, uint64[] removePkpFromGroups, uint64[] addPkpToGroups, uint64[] manageIpfsIdsInGroups)"
    ),
    "list_wallets": (
        "walletsOf(uint256 pageNumber, uint256 pageSize, uint256 accountHash)"
        " returns ((uint256 derivationPath, bytes32 id, address walletAddress)[] wallets)"
    ),
    "can_execute": "mayRun(bytes32 pkpId, uint256 cidHash, uint256 keyHash) returns (bool)",
    "key_info": None,
}
WRITES = {
    "add_group": "openGroup(string name, uint256 keyHash, string description)",
    "update_usage_api_key_metadata": (
        "renameUsageKey(string description, string name, uint256 usageApiKeyHash, uint256 adminHash)"
    ),
    "remove_action_from_group": "takeAction(bytes32 cidHash, uint256 groupId, uint256 keyHash)",
}


@choices({"chain": {"abi": {"account": {**ACCOUNT}, "writes": {**WRITES}}}})
def other_contract(node: Node) -> None:
    """Call some of the contract's functions otherwise.

    Arguments, results and members of structs stand in another order, a struct's members stand alone, results stand in
    a struct, types are wider. `openAccount` takes no labels, `openGroup` no lists; wallets are listed without labels.
    """
    known = {**AccountAbi().model_dump(), **WriteAbi().model_dump()}
    twins = {
        selector(own := Function.parse(signature)): (own, Function.parse(known[name]))
        for name, signature in {**ACCOUNT, **WRITES}.items()
        if signature
    }

    def heard_as(sender: Address, data: bytes) -> tuple[Address, bytes]:
        if data[:4] not in twins:
            return sender, data
        own, real = twins[data[:4]]
        given = dict(zip(_names(own.inputs), decode(_types(own.inputs), data[4:]), strict=True))
        values = [_of_type(one, given.get(_plain(one.name), EMPTY.get(one.type))) for one in real.inputs]
        return sender, selector(real) + encode(_types(real.inputs), values)

    def told(request: dict[str, JsonValue], result: JsonValue) -> JsonValue:
        params = request["params"]
        data = bytes.fromhex(str(members(params[0])["data"])[2:]) if isinstance(params, list) else b""
        if data[:4] not in twins:
            return result
        own, real = twins[data[:4]]
        values = decode(_types(real.outputs), bytes.fromhex(str(result)[2:]))
        return f"0x{encode(_types(own.outputs), _reordered(own.outputs, real.outputs, values)).hex()}"

    hear(node, heard_as, deep=True)
    change_result(node, "eth_call", told)


EMPTY: dict[str, object] = {"string": "", "bytes32[]": []}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _names(parameters: tuple[Parameter, ...]) -> list[str]:
    return [_plain(one.name) for one in parameters]


def _types(parameters: tuple[Parameter, ...]) -> list[str]:
    return [one.type for one in parameters]


def _of_type(parameter: Parameter, value: Any) -> Any:
    return value.to_bytes(32) if parameter.type == "bytes32" and isinstance(value, int) else value


def _reordered(own: tuple[Parameter, ...], real: tuple[Parameter, ...], values: tuple[Any, ...]) -> list[Any]:
    if not own or not own[0].name:
        return list(values[: len(own)])
    if len(real) == 1 and len(own) > 1:
        return _picked(own, real[0].members, values[0])
    if len(own) == 1 and len(real) > 1:
        return [tuple(_picked(own[0].members, real, values))]
    return [[tuple(_picked(own[0].members, real[0].members, item)) for item in values[0]]]


def _picked(own: tuple[Parameter, ...], real: tuple[Parameter, ...], values: tuple[Any, ...]) -> list[Any]:
    by_name = dict(zip(_names(real), values, strict=True))
    return [by_name[name] for name in _names(own)]
