"""A correct node with other member names, and usage keys in hex."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from urllib.parse import parse_qsl

from eth_utils.address import to_checksum_address

from conformance.selftest.tools.accounts import Write
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Handler,
    Received,
    answer,
    body_of,
    change_answer,
    change_body,
    change_items,
    each,
    intercept,
    lasting,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.variants.variant import EVERYTHING, PAID_FOR, Members, choices, members_of
from reference_node.chain.account_config import Wallet
from reference_node.node import Node

ACCOUNT = {"title": "account_name", "about": "account_description"}
GROUP = {"title": "group_name", "about": "group_description"}
WALLET = {"id": "pkp", "name": "label", "description": "note"}
NOBODYS_KEY = base64.b64encode(32 * b"-")

_labels: ContextVar[tuple[str, str]] = ContextVar("labels", default=("", ""))
"""The labels that the request being served gives its wallet."""


@choices(
    {
        "wire": {
            "new_account": {"fields": {"account_name": "title", "account_description": "about"}},
            "add_group": {"fields": {"group_name": "title", "group_description": "about"}},
            "create_wallet": {"fields": {"name": "label", "description": "note"}},
            "account_exists": {"request_response": {"key_in": "query", "key_member": "key", "answer_member": "exists"}},
            "usage_api_key": {"managed_format": {"encoding": "hex", "bytes": 32}},
            "list_items": {
                "fields": {
                    "wallet": {"id": "pkp", "name": "label", "description": "note", "derivation_path": "path"},
                    "usage_key": {"api_key_hash": "hash"},
                }
            },
            "chain_info": {"api_payers_member": "payers", "admin_api_payer_member": "payer"},
        }
    }
)
def other_member_names(node: Node) -> None:
    """Rename members of requests and answers, and write usage keys in hex.

    `create_wallet` takes a name and a description for the wallet, and lists show a wallet's derivation path.
    """
    intercept(node, (*EVERYTHING, *PAID_FOR, RUN), _keys_in_hex(node))
    change_body(node, "new_account", members_of(_only_renamed(ACCOUNT)))
    change_body(node, "add_group", members_of(_only_renamed(GROUP)))
    intercept(node, "create_wallet", _takes_labels)
    wrap(node.accounts, "create_wallet", _with_labels)
    _show_paths(node)
    change_items(node, "list_api_keys", each(_renamed({"api_key_hash": "hash"})))
    intercept(node, "account_exists", _asked_by_query)
    change_answer(node, "account_exists", lambda exists: {"exists": exists})
    change_answer(node, "get_api_payers", lambda addresses: {"payers": addresses})
    change_answer(node, "get_admin_api_payer", lambda address: {"payer": address})


def _renamed(names: dict[str, str]) -> Callable[[Members], Members]:
    return lambda value: {names.get(name, name): member for name, member in value.items()}


def _only_renamed(names: dict[str, str]) -> Callable[[Members], Members]:
    """Rename members, and leave out those that came under the other names."""
    rename = _renamed(names)
    return lambda value: rename({name: member for name, member in value.items() if name not in names.values()})


def _keys_in_hex(node: Node) -> Handler:
    written: dict[bytes, bytes] = lasting(node, "keys in hex", {})

    def key(text: bytes) -> bytes:
        return written.get(text, NOBODYS_KEY if text in written.values() else text)

    def header(name: bytes, value: bytes) -> bytes:
        if name == b"authorization":
            scheme, _, credential = value.partition(b" ")
            return scheme + b" " + key(credential)
        return key(value) if name == b"x-api-key" else value

    async def handler(request: Received, forward: Forward) -> Answered:
        named = str(body_of(request).get("usage_api_key")).encode()
        request = replace(
            request,
            headers=tuple((name, header(name, value)) for name, value in request.headers),
            body=request.body.replace(named, key(named)) if key(named) != named else request.body,
        )
        given = await forward(request)
        if request.operation != "add_usage_api_key" or not given.accepted:
            return given
        told = json.loads(given.body)
        secret = str(told["usage_api_key"])
        told["usage_api_key"] = base64.b64decode(secret).hex()
        written[told["usage_api_key"].encode()] = secret.encode()
        return answer(given.status, told)

    return handler


async def _takes_labels(request: Received, forward: Forward) -> Answered:
    told = body_of(request)
    labels = [told.get(name, "") for name in ("label", "note")]
    if not all(isinstance(label, str) for label in labels):
        return refusal(422)
    reset = _labels.set((str(labels[0]), str(labels[1])))
    try:
        return await forward(replace(request, body=b"") if told else request)
    finally:
        _labels.reset(reset)


def _with_labels(write: Write, acting_key: int, wallet: bytes, path: int, _name: str, _description: str) -> None:
    write(acting_key, wallet, path, *_labels.get())


def _show_paths(node: Node) -> None:
    paths: dict[str, int] = {}

    def noted(view: Callable[..., list[Wallet]], *arguments: int) -> list[Wallet]:
        wallets = view(*arguments)
        paths.update({to_checksum_address(wallet.address): wallet.derivation_path for wallet in wallets})
        return wallets

    def shown(item: Members) -> Members:
        return {**_renamed(WALLET)(item), "path": hex(paths[str(item["wallet_address"])])}

    for view in ("wallets", "wallets_in_group"):
        wrap(node.accounts, view, noted)
    change_items(node, ("list_wallets", "list_wallets_in_group"), each(shown))


async def _asked_by_query(request: Received, forward: Forward) -> Answered:
    asked = dict(parse_qsl(request.query, keep_blank_values=True)).get("key")
    if asked is None:
        return refusal(422)
    headers = tuple((name, value) for name, value in request.headers if name not in {b"x-api-key", b"authorization"})
    return await forward(replace(request, query="", headers=(*headers, (b"x-api-key", asked.encode()))))
