"""A correct node with other habits: forms of ids, a sandbox of another shape, deletions that may be sent twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from eth_utils.crypto import keccak
from pydantic import JsonValue
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.selftest.tools.alter import (
    CORE,
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_answer,
    change_body,
    change_items,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_runs import RUN, change_input, change_result
from conformance.selftest.variants.variant import ON_GROUPS, Members, choices, each, members_of, newest_first
from reference_node.node import Node
from reference_node.permission.keys import address_of, new_derivation_path
from reference_node.permission.runs import Caller, Run
from reference_node.problems import Forbidden
from reference_node.sandbox import HostError, HostRefusal, RunResult

WALLETS = ("list_wallets", "list_wallets_in_group")
DELETIONS = ("remove_group", "remove_usage_api_key", "delete_action")
WITH_WALLETS = ("add_group", "update_group", *ON_GROUPS)
WITHHELD = "the wallet is withheld"
SANDBOX = """globalThis.vault = (actions => (kind, pkpId, content) =>
  kind === "text" ? actions.signMessage({ pkpId, message: content })
  : kind === "digest" ? actions.signDigest({ pkpId, digest: content })
  : actions.getPrivateKey({ pkpId }))(Service.Actions);
delete globalThis.Service;
"""
"""Replaces the node's calls with a single function."""
PRELUDE = """const Calls = { Actions: {
  signMessage: call => vault("text", call.pkpId, call.message),
  signDigest: call => vault("digest", call.pkpId, call.digest),
  getPrivateKey: call => vault("key", call.pkpId),
} };"""


@choices(
    {
        # Neither the chain, whose contract has other PKP ids, nor the description, which would be the reference node's.
        "capabilities": ["managed_accounts", "wallet_signed", "billing"],
        "wire": {
            "operations": {"method_and_path": {"create_wallet": "GET /create_wallet"}},
            "list_groups": {"id_form": "hex"},
            "list_items": {"group_ids_form": "hex"},
            "pkp": {"id_source": {"rule": "left_padded_address"}},
        },
        "semantics": {
            "delete_absent": "accepted",
            "managed_key_wallet_listed": True,
            "list_order_other": "newest_first",
        },
        "exec": {
            "pkp_selection": {"swallowed_refusal": "run_goes_on"},
            "sandbox_api": {"namespace": "Calls.Actions", "prelude": PRELUDE},
            "response_form": "parsed_text",
            "nothing_returned": "empty_text",
        },
    }
)
def other_habits(node: Node) -> None:
    """Do as the reference node does, in other ways.

    A wallet is made by GET. Lists show group ids in hex, `add_group` answers a number. A PKP id is an address after
    zeros. What is not there can be deleted. Each usage key comes with a wallet, which is listed. The sandbox has one
    function. Code that swallows the refusal of a wallet goes on. `response` is what `main` returns, parsed as a text,
    and `logs` an array of lines, each behind a mark.
    An account's lists show the newest first, those of a group what joined first.
    """
    for view in ("wallets", "actions", "usage_keys"):
        wrap(node.accounts, view, newest_first)
    wrap(node.accounts, "set_usage_key", _with_a_wallet(node))
    wrap(node.runs, "host_call", _withheld)
    wrap(node.runs, "run", _refused_if_withheld)
    change_input(node, lambda code, params: (SANDBOX + code, params))
    change_result(node, lambda _code, _params, result: replace(result, response=_parsed_text(result.response)))
    change_answer(node, RUN, members_of(lambda told: {**told, "logs": _lines(str(told["logs"]))}))
    change_items(node, WALLETS, each(_with_padded_id))
    change_body(node, WITH_WALLETS, members_of(_with_real_ids))
    intercept(node, WITH_WALLETS, _of_padded_ids)
    change_items(node, "list_groups", each(lambda item: {**item, "id": _hex(item["id"])}))
    change_items(node, "list_api_keys", each(_with_hex_ids))
    intercept(node, DELETIONS, _accepted_if_absent)
    change_answer(node, "openapi.json", members_of(_described))
    node.app.add_middleware(WalletsByGet)


def _lines(text: str) -> list[JsonValue]:
    return [f"[log] {line}" for line in text.split("\n")] if text else []


class WalletsByGet:
    """ASGI layer that serves `create_wallet` by GET alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"] == f"{CORE}create_wallet":
            scope = {**scope, "method": {"GET": "POST", "POST": "GET"}.get(scope["method"], scope["method"])}
        await self._app(scope, receive, send)


def _described(document: Members) -> JsonValue:
    paths = members(document["paths"])
    path = f"{CORE}create_wallet"
    return {**document, "paths": {**paths, path: {"get": members(paths[path])["post"]}}}


def _with_a_wallet(node: Node) -> Callable[..., None]:
    def create(write: Callable[..., None], acting_key: int, *key: object) -> None:
        write(acting_key, *key)
        path = new_derivation_path()
        node.accounts.create_wallet(acting_key, address_of(node.keys.wallet_key(path)), path, "of a usage key", "")

    return create


# --------------------------------------------------------------------------------------------------------------- ids


def _hex(number: JsonValue) -> JsonValue:
    return hex(number) if isinstance(number, int) else number


def _with_hex_ids(item: Members) -> Members:
    arrays = {name: ids for name in PERMISSION_ARRAYS if isinstance(ids := item[name], list)}
    return item | {name: [_hex(group) for group in ids] for name, ids in arrays.items()}


def _with_padded_id(item: Members) -> Members:
    if not int(str(item["id"]), 16):
        return item
    return {**item, "id": f"0x{str(item['wallet_address']).removeprefix('0x').lower():0>64}"}


def _is_padded(pkp_id: JsonValue) -> bool:
    return isinstance(pkp_id, str) and pkp_id[:26] == f"0x{'0' * 24}"


def _real_id(pkp_id: JsonValue) -> JsonValue:
    if not _is_padded(pkp_id) or not isinstance(pkp_id, str):
        return pkp_id
    try:
        address = bytes.fromhex(pkp_id[26:])
    except ValueError:
        return pkp_id
    return f"0x{keccak(address).hex()}" if len(address) == 20 and any(address) else pkp_id


def _with_real_ids(body: Members) -> Members:
    listed = body.get("pkp_ids_permitted")
    if isinstance(listed, list):
        body = {**body, "pkp_ids_permitted": [_real_id(one) for one in listed]}
    return {**body, "pkp_id": _real_id(body["pkp_id"])} if "pkp_id" in body else body


async def _of_padded_ids(request: Received, forward: Forward) -> Answered:
    body = body_of(request)
    listed = body.get("pkp_ids_permitted")
    ids = [*(listed if isinstance(listed, list) else []), *([body["pkp_id"]] if "pkp_id" in body else [])]
    return await forward(request) if all(map(_is_padded, ids)) else refusal(422)


async def _accepted_if_absent(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return answer(200, {"success": True}) if given.status == 404 else given


# -------------------------------------------------------------------------------------------------------------- runs


def _withheld(ask: Callable[..., JsonValue], run: Run, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
    named = arguments.get("pkpId")
    if not _is_padded(named):
        raise HostError("a PKP id is an address after zeros")
    try:
        return ask(run, name, {**arguments, "pkpId": _real_id(named)})
    except HostRefusal as refused:
        raise HostError(f"{WITHHELD}: {refused}") from refused


def _refused_if_withheld(running: Callable[..., RunResult], caller: Caller, code: str, params: str) -> RunResult:
    result = running(caller, code, params)
    if result.has_error and WITHHELD in result.logs:
        raise Forbidden("execution-not-permitted", WITHHELD)
    return result


def _parsed_text(response: str | None) -> str | None:
    if response is None or response == "null":
        return response if response is None else '""'
    value = json.loads(response)
    try:
        return json.dumps(json.loads(value)) if isinstance(value, str) else response
    except ValueError:
        return response
