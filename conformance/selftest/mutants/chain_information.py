"""Faults about the settlement chain: what the open endpoints say of it, and what is to be seen there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.tools.accounts import Hashes, account_of, change_list, permissions_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_accepted,
    change_answer,
    change_body,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_chain_answers import wrap_rpc
from conformance.selftest.tools.api_keys import header, presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group, Permissions, UsageKey, Wallet
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key

CONFIG = "get_node_chain_config"
Write = Callable[..., object]


def _config(node: Node, **changed: JsonValue) -> None:
    """Change members of the chain configuration."""
    change_answer(node, CONFIG, lambda value: {**members(value), **changed})


def _rpc(node: Node, method: str, change: Callable[[dict[str, JsonValue]], JsonValue]) -> None:
    """Change requests of a JSON-RPC method; answer one directly with what `change` gives, if that is no object."""

    def handle(answer: Callable[[bytes], bytes | None], body: bytes) -> bytes | None:
        request = json.loads(body)
        if request.get("method") != method:
            return answer(body)
        changed = change(request)
        if isinstance(changed, dict):
            return answer(json.dumps(changed).encode())
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": changed}).encode()

    wrap_rpc(node, handle)


def _call(request: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the call that an eth_call asks for."""
    params = request["params"]
    return members(params[0]) if isinstance(params, list) else {}


# ---------------------------------------------------------------------------------------------- the open endpoints


@mutant("CHAIN-010", also="VER-050")
def config_without_a_chain_id(node: Node) -> None:
    """Rename `chain_id` in the chain configuration."""
    change_answer(node, CONFIG, lambda value: {k if k != "chain_id" else "chain": v for k, v in members(value).items()})


@mutant(
    each=[
        row("null-contract", {"contract_address": None}, breaks="CHAIN-010", also="CHAIN-040 VER-050"),
        row("zero-contract", {"contract_address": f"0x{'00' * 20}"}, breaks="CHAIN-010", also="CHAIN-040"),
        row("rpc-url", {"rpc_url": "https://rpc.example/v2/with-a-credential"}, breaks="CHAIN-020", also="VER-050"),
    ]
)
def config_has_a_wrong_member(node: Node, changed: dict[str, JsonValue]) -> None:
    """Answer a chain configuration with the members {changed}."""
    _config(node, **changed)


@mutant("CHAIN-020", also="VER-050")
def every_third_config_names_the_rpc(node: Node) -> None:
    """Add the RPC URL to every third chain configuration."""
    more: Iterator[dict[str, JsonValue]] = cycle(({}, {}, {"rpc_url": "https://rpc.example/v2/with-a-credential"}))
    change_answer(node, CONFIG, lambda value: {**members(value), **next(more)})


@mutant("CHAIN-020")
def config_links_the_rpc_in_a_header(node: Node) -> None:
    """Name the RPC URL in a `Link` header of the chain configuration."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        host = dict(request.headers)[b"host"]
        return given.headed(b"link", b'<http://%s/rpc>; rel="service"' % host)

    intercept(node, CONFIG, handler)


@mutant("CHAIN-020", also="VER-050")
def config_tells_owners_the_rpc(node: Node) -> None:
    """Add the RPC URL to the chain configuration for callers with a valid account key."""

    def changed(request: Received, given: Answered) -> Answered:
        secret = parse_key(presented(request))
        info = node.accounts.key_info(key_hash(secret)) if secret else None
        if info is None or not (info.is_account_key and info.managed):
            return given
        return given.having({**given.told, "rpc_url": f"http://{header(request, b'host')}/rpc"})

    change_accepted(node, CONFIG, changed)


@mutant("CHAIN-030", also="ENV-010 ENV-190")
def chain_id_is_of_another_chain(node: Node) -> None:
    """Answer the `chain_id` of another chain."""
    _config(node, chain_id=node.chain.chain_id + 1)


@mutant("CHAIN-040")
def contract_is_a_wallet(node: Node) -> None:
    """Answer the address of a payer as `contract_address`."""
    _config(node, contract_address=to_checksum_address(node.accounts.api_payers()[0]))


@mutant("CHAIN-040")
def contract_knows_everybody(node: Node) -> None:
    """Answer true from the contract's `accountExists` for every hash."""
    selector = f"0x{keccak(text='accountExists(uint256)')[:4].hex()}"
    _rpc(node, "eth_call", lambda asked: f"0x{1:064x}" if str(_call(asked)["data"]).startswith(selector) else asked)


def _payers(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


@mutant("CHAIN-060", also="CHAIN-190")
def busy_payers_are_hidden(node: Node) -> None:
    """Leave out as many payers as writes are under way."""
    under_way = 0

    async def handler(request: Received, forward: Forward) -> Answered:
        nonlocal under_way
        under_way += 1
        try:
            return await forward(request)
        finally:
            under_way -= 1

    intercept(node, "add_group", handler)
    change_answer(node, "get_api_payers", lambda value: _payers(value)[under_way:])


@mutant(
    each=[
        row("none", "get_api_payers", lambda _: [], breaks="CHAIN-060", also="CHAIN-080 EP-430"),
        row("all-but-one", "get_api_payers", lambda told: _payers(told)[:-1], breaks="CHAIN-060"),
        row("twice", "get_api_payers", lambda told: [*told, str(told[0]).lower()], breaks="CHAIN-060"),
        row(
            "object",
            "get_api_payers",
            lambda told: {str(at): one for at, one in enumerate(_payers(told))},
            breaks="CHAIN-060",
            also="VER-050",
        ),
        row(
            "hashes",
            "get_api_payers",
            lambda _: [f"0x{keccak(text='payer').hex()}"],
            breaks="CHAIN-060",
            also="CHAIN-080 CHAIN-190 EP-430 MODE-190 VER-050",
        ),
        row(
            "others",
            "get_api_payers",
            lambda _: [to_checksum_address(bytes([n]) * 20) for n in (1, 2)],
            breaks="CHAIN-080 MODE-190",
            also="CHAIN-060 CHAIN-190 MODE-200",
        ),
        row("admin-in-a-list", "get_admin_api_payer", lambda told: [told], breaks="CHAIN-070", also="VER-050"),
        row("admin-is-zero", "get_admin_api_payer", lambda _: f"0x{'00' * 20}", breaks="CHAIN-070"),
    ]
)
def payers_are_told_wrongly(node: Node, operation: str, change: Callable[[JsonValue], JsonValue]) -> None:
    """Answer something else than the payers from `{operation}`; the label says what."""
    change_answer(node, operation, change)


@mutant("CHAIN-190", each=("new_account", "add_group"), also="CHAIN-040")
def contract_address_changes_with_a_write(node: Node, operation: str) -> None:
    """The first accepted `{operation}` has the chain configuration name another contract from then on."""
    written: list[JsonValue] = []

    def note(value: JsonValue) -> JsonValue:
        written.append(value)
        return value

    change_answer(node, operation, note)
    change_answer(
        node, CONFIG, lambda value: {**members(value), "contract_address": f"0x{'11' * 20}"} if written else value
    )


@mutant("CHAIN-190")
def payers_are_out_of_gas(node: Node) -> None:
    """Answer a balance of zero for every address."""
    _rpc(node, "eth_getBalance", lambda _: "0x0")


# ------------------------------------------------------------------------------- what is to be seen on the chain


@mutant("CHAIN-050", also="EP-130 EXEC-230 KEYLIFE-020 KEYLIFE-030 KEYLIFE-150")
def permissions_are_not_on_the_chain(node: Node) -> None:
    """Keep updated permissions of usage keys in memory, and the former ones in the contract."""
    updated: dict[int, Permissions] = {}

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        write(acting_key, key, name, description, permissions_of(node, key) or sent)
        updated[key] = sent

    def listed(view: Callable[..., list[UsageKey]], *page: int) -> list[UsageKey]:
        return [replace(key, permissions=updated.get(key.key_hash, key.permissions)) for key in view(*page)]

    wrap(node.accounts, "update_usage_key", update)
    wrap(node.accounts, "usage_keys", listed)


@mutant("CHAIN-050", also="EP-370 EXEC-230 GRP-060 GRP-270")
def wallets_of_groups_are_not_on_the_chain(node: Node) -> None:
    """Take wallets that are added to groups out of the contract again, and keep them in memory."""
    joined: dict[tuple[int, int], list[bytes]] = {}
    add_to_contract, remove_from_contract = node.accounts.add_pkp_to_group, node.accounts.remove_pkp_from_group

    def add(write: Write, acting_key: int, group_id: int, pkp: bytes) -> None:
        account = account_of(node, acting_key)
        kept = joined.setdefault((account, group_id), [])
        if pkp in kept:
            raise ContractRefusal("AlreadyInGroup", {"groupId": group_id, "item": pkp.hex()})
        write(acting_key, group_id, pkp)
        remove_from_contract(account, group_id, pkp)
        kept.append(pkp)

    def remove(write: Write, acting_key: int, group_id: int, pkp: bytes) -> None:
        account = account_of(node, acting_key)
        kept = joined.get((account, group_id), [])
        if pkp not in kept:
            write(acting_key, group_id, pkp)
            return
        add_to_contract(account, group_id, pkp)
        try:
            write(acting_key, group_id, pkp)
        except ContractRefusal:
            remove_from_contract(account, group_id, pkp)
            raise
        kept.remove(pkp)

    def update(write: Write, acting_key: int, group: Group, *lists: Hashes) -> None:
        write(acting_key, group, *lists)
        joined.pop((account_of(node, acting_key), group.id), None)

    def listed(account: int, group_id: int, found: list[Wallet]) -> list[Wallet]:
        own = {wallet.id: wallet for wallet in whole(node.accounts.wallets, account)}
        return [*found, *(own[pkp] for pkp in joined.get((account, group_id), []) if pkp in own)]

    wrap(node.accounts, "add_pkp_to_group", add)
    wrap(node.accounts, "remove_pkp_from_group", remove)
    wrap(node.accounts, "update_group", update)
    change_list(node, "wallets_in_group", listed)


def _call_again_as_payer(node: Node, selectors: tuple[str, ...]) -> None:
    """Answer an `eth_call` that the contract refuses with what it says to a payer, where the data begin like this."""
    payer = to_checksum_address(node.accounts.api_payers()[0])

    def handle(answer: Callable[[bytes], bytes | None], body: bytes) -> bytes | None:
        given = answer(body)
        request = members(json.loads(body))
        refused = given is not None and "error" in members(json.loads(given))
        if (
            not refused
            or request.get("method") != "eth_call"
            or not str(_call(request).get("data")).startswith(selectors)
        ):
            return given
        params = request["params"]
        others = params[1:] if isinstance(params, list) else []
        return answer(json.dumps({**request, "params": [{**_call(request), "from": payer}, *others]}).encode())

    wrap_rpc(node, handle)


@mutant("CHAIN-130", also="MODE-200")
def contract_takes_writes_from_anybody(node: Node) -> None:
    """Let the contract take every call by `eth_call` that it would take from a payer."""
    _call_again_as_payer(node, ("0x",))


@mutant(
    "CHAIN-130",
    each=[
        row("removeUsageApiKey", "removeUsageApiKey(uint256,uint256)"),
        row("addPkpToGroup", "addPkpToGroup(uint256,uint64,bytes32)"),
        row("deleteAction", "deleteAction(uint256,bytes32)"),
    ],
)
def anybody_sends_one_write(node: Node, *signatures: str) -> None:
    """Let the contract take these writes from any address, for calls by `eth_call`; the label names them."""
    _call_again_as_payer(node, tuple(f"0x{keccak(text=signature)[:4].hex()}" for signature in signatures))


@mutant("CHAIN-140", also="EP-140 EP-150 KEYLIFE-060 UKEY-360 UKEY-370")
def usage_key_is_written_to_the_chain(node: Node) -> None:
    """Write the usage key's value into its description in a metadata update."""

    def revealing(value: JsonValue) -> JsonValue:
        found = members(value)
        description = found.get("description")
        if not isinstance(description, str):
            return value
        return {**found, "description": f"{description} {found.get('usage_api_key')}"}

    change_body(node, "update_usage_api_key_metadata", revealing)


@mutant("CHAIN-020")
def keys_are_shown_another_rpc_url(node: Node) -> None:
    """Tell whoever presents a key the URL by which the node itself reaches the chain."""

    def shown(request: Received, given: Answered) -> Answered:
        return given.having({**given.told, "rpc_url": "http://chain.internal:8545"}) if presented(request) else given

    change_accepted(node, CONFIG, shown)
