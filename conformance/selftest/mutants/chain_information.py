"""Faults about the settlement chain: what the open endpoints say of it, and what is to be seen there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.tools.alter import change_answer, change_body, members, silence, wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import Action, Group, Permissions, UsageKey, Wallet
from reference_node.node import Node

CONFIG = "get_node_chain_config"
WRITES = (
    "addGroup(uint256,string,string,bytes32[],bytes32[])",
    "updateGroup(uint256,uint64,string,string,bytes32[],bytes32[])",
    "removeGroup(uint256,uint64)",
)
Write = Callable[..., object]


def _config(node: Node, **changed: JsonValue) -> None:
    """The chain configuration with some members changed."""
    change_answer(node, CONFIG, lambda value: {**members(value), **changed})


def _rpc(node: Node, method: str, change: Callable[[dict[str, JsonValue]], JsonValue]) -> None:
    """Requests of a JSON-RPC method are changed; one for which `change` gives no object is answered with that."""

    def handle(answer: Callable[[bytes], bytes | None], body: bytes) -> bytes | None:
        request = json.loads(body)
        if request.get("method") != method:
            return answer(body)
        changed = change(request)
        if isinstance(changed, dict):
            return answer(json.dumps(changed).encode())
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": changed}).encode()

    wrap(node.rpc, "handle", handle)


def _call(request: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The call that an eth_call asks for."""
    params = request["params"]
    return members(params[0]) if isinstance(params, list) else {}


# ---------------------------------------------------------------------------------------------- the open endpoints


@mutant("CHAIN-010")
def config_without_a_chain_id(node: Node) -> None:
    """The chain configuration calls its `chain_id` otherwise."""
    change_answer(node, CONFIG, lambda value: {k if k != "chain_id" else "chain": v for k, v in members(value).items()})


@mutant("CHAIN-010")
def config_with_a_null_contract(node: Node) -> None:
    """`contract_address` is null."""
    _config(node, contract_address=None)


@mutant("CHAIN-010")
def config_with_the_zero_address(node: Node) -> None:
    """`contract_address` is the zero address."""
    _config(node, contract_address=f"0x{'00' * 20}")


@mutant("CHAIN-020")
def config_tells_the_rpc_url(node: Node) -> None:
    """The chain configuration holds `rpc_url`."""
    _config(node, rpc_url="https://rpc.example/v2/with-a-credential")


@mutant("CHAIN-020")
def config_tells_urls_in_a_list(node: Node) -> None:
    """The chain configuration holds endpoints of the chain in a list."""
    _config(node, endpoints={"http": ["https://chain.example/v2/with-a-credential"]})


@mutant("CHAIN-020")
def config_tells_a_web_socket(node: Node) -> None:
    """The chain configuration holds the chain's WebSocket."""
    _config(node, events="wss://chain.example")


@mutant("CHAIN-030")
def chain_id_is_of_another_chain(node: Node) -> None:
    """`chain_id` is that of another chain."""
    _config(node, chain_id=node.chain.chain_id + 1)


@mutant("CHAIN-040")
def contract_is_a_wallet(node: Node) -> None:
    """`contract_address` is the address of a payer."""
    _config(node, contract_address=to_checksum_address(node.accounts.api_payers()[0]))


@mutant("CHAIN-040")
def contract_knows_everybody(node: Node) -> None:
    """The contract says of every hash that its account exists."""
    selector = f"0x{keccak(text='accountExists(uint256)')[:4].hex()}"
    _rpc(node, "eth_call", lambda asked: f"0x{1:064x}" if str(_call(asked)["data"]).startswith(selector) else asked)


@mutant("CHAIN-060")
def no_payers(node: Node) -> None:
    """`get_api_payers` is an empty list."""
    change_answer(node, "get_api_payers", lambda _: [])


@mutant("CHAIN-060")
def payers_twice(node: Node) -> None:
    """`get_api_payers` holds an address twice, once in small letters."""
    change_answer(
        node, "get_api_payers", lambda value: [*value, str(value[0]).lower()] if isinstance(value, list) else value
    )


@mutant("CHAIN-060")
def payers_are_numbered(node: Node) -> None:
    """`get_api_payers` is an object by numbers."""
    change_answer(
        node,
        "get_api_payers",
        lambda value: {str(i): one for i, one in enumerate(value if isinstance(value, list) else [])},
    )


@mutant("CHAIN-060")
def payers_are_hashes(node: Node) -> None:
    """`get_api_payers` holds hashes in place of addresses."""
    change_answer(node, "get_api_payers", lambda _: [f"0x{keccak(text='payer').hex()}"])


@mutant("CHAIN-070")
def admin_payer_is_a_list(node: Node) -> None:
    """`get_admin_api_payer` answers a list with one address."""
    change_answer(node, "get_admin_api_payer", lambda value: [value])


@mutant("CHAIN-070")
def admin_payer_is_nobody(node: Node) -> None:
    """`get_admin_api_payer` answers the zero address."""
    change_answer(node, "get_admin_api_payer", lambda _: f"0x{'00' * 20}")


@mutant("CHAIN-190")
def contract_address_alternates(node: Node) -> None:
    """Every other answer names another contract."""
    asked = count()

    def changed(value: JsonValue) -> JsonValue:
        return {**members(value), "contract_address": f"0x{'11' * 20}"} if next(asked) % 2 else value

    change_answer(node, CONFIG, changed)


@mutant("CHAIN-190")
def payers_take_turns(node: Node) -> None:
    """Each answer of `get_api_payers` lacks another payer."""
    asked = count()

    def changed(value: JsonValue) -> JsonValue:
        payers = value if isinstance(value, list) else []
        absent = next(asked) % max(1, len(payers))
        return [*payers[:absent], *payers[absent + 1 :], f"0x{absent + 1:040x}"]

    change_answer(node, "get_api_payers", changed)


@mutant("CHAIN-190")
def payers_are_out_of_gas(node: Node) -> None:
    """The chain shows no balance of any payer."""
    _rpc(node, "eth_getBalance", lambda _: "0x0")


# ------------------------------------------------------------------------------- what is to be seen on the chain


@mutant("CHAIN-050")
def removed_groups_stay_on_the_chain(node: Node) -> None:
    """A removed group leaves the lists and stays in the contract."""
    hidden: set[int] = set()
    wrap(node.accounts, "remove_group", lambda _, __, group_id: hidden.add(group_id))

    def listed(view: Callable[..., list[Group]], *page: int) -> list[Group]:
        return [group for group in view(*page) if group.id not in hidden]

    wrap(node.accounts, "groups", listed)


@mutant("CHAIN-050")
def action_texts_are_not_on_the_chain(node: Node) -> None:
    """Updated action metadata stand in the node's memory alone."""
    texts: dict[bytes, tuple[str, str]] = {}

    def update(_: Write, __: int, cid_hash: bytes, name: str, description: str) -> None:
        texts[cid_hash] = (name, description)

    def listed(view: Callable[..., list[Action]], *page: int) -> list[Action]:
        return [
            Action(action.cid_hash, *texts.get(action.cid_hash, (action.name, action.description)))
            for action in view(*page)
        ]

    wrap(node.accounts, "update_action_metadata", update)
    wrap(node.accounts, "actions", listed)


@mutant("CHAIN-050")
def permissions_are_not_on_the_chain(node: Node) -> None:
    """Updated permissions of a usage key stand in the node's memory alone."""
    updated: dict[int, Permissions] = {}

    def update(_: Write, __: int, key: int, ___: str, ____: str, sent: Permissions) -> None:
        updated[key] = sent

    def listed(view: Callable[..., list[UsageKey]], *page: int) -> list[UsageKey]:
        return [replace(key, permissions=updated.get(key.key_hash, key.permissions)) for key in view(*page)]

    wrap(node.accounts, "update_usage_key", update)
    wrap(node.accounts, "usage_keys", listed)


@mutant("CHAIN-050")
def wallets_of_groups_are_not_on_the_chain(node: Node) -> None:
    """Wallets that join a group stand in the node's memory alone."""
    joined: dict[int, list[bytes]] = {}
    wrap(node.accounts, "add_pkp_to_group", lambda _, __, group_id, pkp: joined.setdefault(group_id, []).append(pkp))

    def listed(view: Callable[..., list[Wallet]], key: int, group_id: int, page: int, size: int) -> list[Wallet]:
        members_of_it = [node.accounts.wallet(key, pkp) for pkp in joined.get(group_id, [])]
        return [*view(key, group_id, page, size), *(members_of_it if page == 0 else [])]

    wrap(node.accounts, "wallets_in_group", listed)


@mutant("CHAIN-050")
def usage_keys_are_not_removed_from_the_chain(node: Node) -> None:
    """A removed usage key leaves the list and stays in the contract."""
    hidden: set[int] = set()
    wrap(node.accounts, "remove_usage_key", lambda _, __, key: hidden.add(key))

    def listed(view: Callable[..., list[UsageKey]], *page: int) -> list[UsageKey]:
        return [key for key in view(*page) if key.key_hash not in hidden]

    wrap(node.accounts, "usage_keys", listed)


@mutant("CHAIN-080", "CHAIN-190", "ACC-140")
def groups_are_not_sent_to_the_chain(node: Node) -> None:
    """`add_group` answers and sends no transaction."""
    silence(node.accounts, "add_group")


@mutant("CHAIN-080")
def other_payers_are_published(node: Node) -> None:
    """`get_api_payers` publishes wallets other than those that send the writes."""
    change_answer(node, "get_api_payers", lambda _: [to_checksum_address(bytes([n]) * 20) for n in (1, 2)])


@mutant("CHAIN-080")
def transactions_go_to_another_address(node: Node) -> None:
    """`get_node_chain_config` names another contract than the writes go to."""
    _config(node, contract_address=f"0x{'11' * 20}")


@mutant("CHAIN-130")
def contract_takes_writes_from_anybody(node: Node) -> None:
    """The contract does not ask who sends a write."""
    payer = to_checksum_address(node.accounts.api_payers()[0])

    def as_payer(asked: dict[str, JsonValue]) -> JsonValue:
        return {**asked, "params": [{**_call(asked), "from": payer}, "latest"]}

    _rpc(node, "eth_call", as_payer)


def _open_to_all(node: Node, *signatures: str) -> None:
    """The contract does not ask who sends these writes."""
    payer = to_checksum_address(node.accounts.api_payers()[0])
    selectors = tuple(f"0x{keccak(text=signature)[:4].hex()}" for signature in signatures)

    def as_payer(asked: dict[str, JsonValue]) -> JsonValue:
        if not str(_call(asked)["data"]).startswith(selectors):
            return asked
        return {**asked, "params": [{**_call(asked), "from": payer}, "latest"]}

    _rpc(node, "eth_call", as_payer)


@mutant("CHAIN-130")
def anybody_removes_usage_keys(node: Node) -> None:
    """The contract lets any address remove usage keys."""
    _open_to_all(node, "removeUsageApiKey(uint256,uint256)")


@mutant("CHAIN-130")
def anybody_writes_groups(node: Node) -> None:
    """The contract lets any address write groups."""
    _open_to_all(node, *WRITES)


@mutant("CHAIN-130")
def anybody_fills_groups(node: Node) -> None:
    """The contract lets any address add wallets to groups."""
    _open_to_all(node, "addPkpToGroup(uint256,uint64,bytes32)")


@mutant("CHAIN-130")
def anybody_deletes_actions(node: Node) -> None:
    """The contract lets any address delete action metadata."""
    _open_to_all(node, "deleteAction(uint256,bytes32)")


@mutant("CHAIN-140")
def usage_key_is_written_to_the_chain(node: Node) -> None:
    """A metadata update writes the usage key's value into its description."""

    def revealing(value: JsonValue) -> JsonValue:
        found = members(value)
        return {**found, "description": f"{found.get('description')} {found.get('usage_api_key')}"} if found else value

    change_body(node, "update_usage_api_key_metadata", revealing)


@mutant("CHAIN-140")
def account_key_is_written_to_the_chain(node: Node) -> None:
    """A new account's secret is kept on the chain, in hex, as the description of its first usage key."""
    secrets: list[str] = []

    def keep(value: JsonValue) -> JsonValue:
        secrets.append(str(members(value)["api_key"]))
        return value

    change_answer(node, "new_account", keep)
    change_body(
        node,
        "add_usage_api_key",
        lambda value: {**members(value), "description": secrets[-1].rstrip("=")[::-1]} if secrets else value,
    )
