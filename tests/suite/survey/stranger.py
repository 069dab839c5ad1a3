"""A node as another team might write it: the bundled one, altered in the ways in which a real server was unlike it.

`CHOICES` are what the specification leaves open, and a profile can state all of it. Each of `DEVIATIONS` breaks one
statement. The node's OpenAPI description tells what its requests are like. `python stranger.py [PART…]` serves it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_answer,
    change_body,
    change_items,
    each,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.serving import served_node
from conformance.service.derivations import pkp_id
from reference_node.node import Node

Part = Callable[[Node], None]
Members = dict[str, JsonValue]
MOST_ENTRIES = 10
OPERATION_OF_RUN = "execute"
PADDED = 64
TAKES_LISTS = ("add_group", "update_group")
TAKES_WALLETS = (*TAKES_LISTS, "add_pkp_to_group", "remove_pkp_from_group")


def unfit(why: str) -> Answered:
    """Refuse a body as a typed web framework does."""
    return answer(422, {"error": "unprocessable", "message": why})


# ------------------------------------------------------------------------------------------------------- descriptions


def describing(node: Node, change: Callable[[Members, Members], None]) -> None:
    """Alter the description of the node: `change` gets its paths, with every schema written out, and the document."""

    def described(document: JsonValue) -> JsonValue:
        whole = members(document)
        change(members(whole["paths"]), whole)
        return whole

    change_answer(node, "openapi.json", described)


def schema_of(paths: Members, document: Members, operation: str) -> Members:
    """The schema of the JSON body of a POST, ready to be altered."""
    media = members(members(members(members(paths[f"/core/v1/{operation}"])["post"])["requestBody"])["content"])
    holder = members(media["application/json"])
    schema = members(holder["schema"])
    if "$ref" in schema:
        named = members(members(document["components"])["schemas"])[str(schema["$ref"]).rpartition("/")[2]]
        holder["schema"] = schema = members(json.loads(json.dumps(named)))
    return schema


# ------------------------------------------------------------------------------------------------------------ choices


def wallets_by_get(node: Node) -> None:
    """Serve `create_wallet` by GET; what a path is not served with is not found, as routers of some frameworks say."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if request.method != "GET":
            return refusal(404)
        return await forward(replace(request, method="POST"))

    def change(paths: Members, _: Members) -> None:
        path = members(paths["/core/v1/create_wallet"])
        path["get"] = path.pop("post")

    intercept(node, "create_wallet", handler)
    describing(node, change)


def runs_elsewhere(node: Node) -> None:
    """Serve runs at a path that nobody can guess, under a usual operation id."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if request.operation == RUN:
            return refusal(404)
        return await forward(replace(request, path=request.path.replace(f"/{OPERATION_OF_RUN}", f"/{RUN}")))

    def change(paths: Members, _: Members) -> None:
        paths[f"/core/v1/{OPERATION_OF_RUN}"] = paths.pop(f"/core/v1/{RUN}")

    intercept(node, (OPERATION_OF_RUN, RUN), handler)
    describing(node, change)


def ids_in_two_forms(node: Node) -> None:
    """Answer the id of a new group as a decimal text, and list it as 0x and 64 hex digits."""
    change_answer(node, "add_group", lambda told: {**members(told), "group_id": str(members(told)["group_id"])})
    change_items(node, "list_groups", each(lambda item: {**item, "id": f"0x{int(str(item['id'])):0{PADDED}x}"}))


def ids_as_texts(node: Node) -> None:
    """Take group ids in bodies as texts alone."""
    names = ("update_group", "add_action_to_group", "remove_action_from_group", *TAKES_WALLETS[2:])

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        group = body.get("group_id")
        if "group_id" in body and not isinstance(group, str):
            return unfit("body does not fit")
        changed = {**body, "group_id": int(group)} if isinstance(group, str) and group.isdecimal() else body
        return await forward(replace(request, body=json.dumps(changed).encode()) if body else request)

    def change(paths: Members, document: Members) -> None:
        for name in names:
            members(schema_of(paths, document, name)["properties"])["group_id"] = {"type": "string"}

    intercept(node, names, handler)
    describing(node, change)


def other_labels(node: Node) -> None:
    """Call the labels of accounts and groups as nobody else does."""
    wire = {
        "new_account": {"handle": "account_name", "blurb": "account_description"},
        "add_group": {"handle": "group_name", "blurb": "group_description"},
    }

    def renaming(names: Mapping[str, str]) -> Callable[[JsonValue], JsonValue]:
        return lambda body: {
            names.get(name, name): value for name, value in members(body).items() if name not in names.values()
        }

    def change(paths: Members, document: Members) -> None:
        for name, names in wire.items():
            schema = schema_of(paths, document, name)
            other = {usual: given for given, usual in names.items()}
            schema["properties"] = {other.get(key, key): value for key, value in members(schema["properties"]).items()}
            required = schema["required"]
            assert isinstance(required, list)
            schema["required"] = [other.get(str(key), key) for key in required]

    for name, names in wire.items():
        change_body(node, name, renaming(names))
    describing(node, change)


def few_entries(node: Node) -> None:
    """Take ten actions in one write at most, which the description does not tell."""

    async def handler(request: Received, forward: Forward) -> Answered:
        hashes = body_of(request).get("cid_hashes_permitted")
        if isinstance(hashes, list) and len(hashes) > MOST_ENTRIES:
            return unfit(f"cidHashes must be {MOST_ENTRIES} items or fewer")
        return await forward(request)

    intercept(node, TAKES_LISTS, handler)


CHOICES: Mapping[str, Part] = {
    part.__name__: part
    for part in (wallets_by_get, runs_elsewhere, ids_in_two_forms, ids_as_texts, other_labels, few_entries)
}


# --------------------------------------------------------------------------------------------------------- deviations


def hash_as_id(node: Node) -> None:
    """Show the hash of an action as `id`, and actions that nobody registered without it: ACT-040."""

    def shown(item: Members) -> Members:
        others = {name: value for name, value in item.items() if name != "hashed_cid"}
        return {"id": item["hashed_cid"], **others} if item.get("name") else others

    change_items(node, "list_actions", each(shown))


def short_wallet_ids(node: Node) -> None:
    """Take wallets by the 20 bytes of their address, and not by the PKP id that lists show: PKP-010."""

    def written(value: JsonValue) -> JsonValue:
        is_short = isinstance(value, str) and len(value) == len("0x") + 40
        if not is_short or not int(str(value), 16):
            return f"0x{0:064x}" if is_short else value
        return str(pkp_id(str(value), "keccak256_of_address"))

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        wallets = body.get("pkp_ids_permitted", [body["pkp_id"]] if "pkp_id" in body else [])
        if not isinstance(wallets, list) or not body:
            return await forward(request)
        if any(len(str(one)) != len("0x") + 40 for one in wallets):
            return unfit("pkp_id: expected 20 bytes")
        changed: Members = {**body, "pkp_ids_permitted": [written(one) for one in wallets]}
        if "pkp_id" in body:
            changed = {**body, "pkp_id": written(body["pkp_id"])}
        return await forward(replace(request, body=json.dumps(changed).encode()))

    intercept(node, TAKES_WALLETS, handler)


def account_key_may_not_run(node: Node) -> None:
    """Refuse runs by the account key: EXEC-020."""
    accounts: set[str] = set()

    async def noted(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            accounts.add(str(json.loads(given.body)["api_key"]))
        return given

    async def handler(request: Received, forward: Forward) -> Answered:
        bearer = dict(request.headers).get(b"authorization", b"").decode().removeprefix("Bearer ")
        return refusal(403) if (request.key or bearer) in accounts else await forward(request)

    intercept(node, "new_account", noted)
    intercept(node, RUN, handler)


DEVIATIONS: Mapping[str, Part] = {
    part.__name__: part for part in (hash_as_id, short_wallet_ids, account_key_may_not_run)
}
PARTS = {**CHOICES, **DEVIATIONS}


def altered(*parts: Part) -> Part:
    """All these parts together. Runs are found elsewhere last, so that the others see them at the usual path."""

    def alter(node: Node) -> None:
        for part in sorted(parts, key=lambda one: one is runs_elsewhere):
            part(node)

    return alter


if __name__ == "__main__":
    with served_node(altered(*(PARTS[name] for name in sys.argv[1:] or PARTS))) as ready:
        print(ready["base_url"], flush=True)
        sys.stdin.read()
