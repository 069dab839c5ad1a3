"""Faults about endpoints: accounts and usage keys by their tables, methods, and the form of addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl

from pydantic import JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance.selftest.alter import (
    CORE,
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_answer,
    change_body,
    change_items,
    change_query,
    each,
    intercept,
    members,
    refusal,
    silence,
    wrap,
)
from conformance.selftest.alter_keys import LISTS, key_book, presented
from conformance.selftest.mutant import mutant
from reference_node.chain.account_config import Permissions
from reference_node.node import Node

Write = Callable[..., object]


# ---------------------------------------------------------------------------------------------------- new_account


@mutant("EP-040")
def new_account_makes_no_account(node: Node) -> None:
    """`new_account` answers a key and makes nothing."""
    silence(node.accounts, "new_account")


@mutant("EP-040")
def new_account_takes_another_name_for_the_name(node: Node) -> None:
    """`new_account` refuses the names of its members."""
    change_body(node, "new_account", lambda value: {"name": members(value).get("account_name")})


@mutant("EP-050")
def new_account_answers_no_key(node: Node) -> None:
    """`new_account` answers the wallet alone."""
    change_answer(node, "new_account", lambda value: {"wallet_address": members(value)["wallet_address"]})


@mutant("EP-050", "EP-430")
def wallet_address_without_prefix(node: Node) -> None:
    """`wallet_address` of `new_account` lacks its 0x."""
    change_answer(
        node,
        "new_account",
        lambda value: {**members(value), "wallet_address": str(members(value)["wallet_address"])[2:]},
    )


@mutant("EP-060")
def new_account_needs_a_key(node: Node) -> None:
    """`new_account` is refused without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else refusal(401)

    intercept(node, "new_account", handler)


@mutant("EP-070")
def email_is_required(node: Node) -> None:
    """`new_account` is refused without an email."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if "email" in body_of(request) else refusal(422)

    intercept(node, "new_account", handler)


@mutant("EP-070")
def email_is_refused(node: Node) -> None:
    """`new_account` is refused with an email."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return refusal(422) if "email" in body_of(request) else await forward(request)

    intercept(node, "new_account", handler)


@mutant("EP-100")
def account_name_is_optional(node: Node) -> None:
    """`new_account` takes a body without a name."""
    change_body(node, "new_account", lambda value: {"account_name": "", **members(value)})


@mutant("EP-100")
def nameless_account_is_refused_with_its_key(node: Node) -> None:
    """`new_account` without a name is refused, with the key of the account that was made all the same."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if "account_name" in body_of(request):
            return await forward(request)
        named = replace(request, body=json.dumps({**body_of(request), "account_name": ""}).encode())
        return replace(await forward(named), status=422)

    intercept(node, "new_account", handler)


# ----------------------------------------------------------------------------------------------------- usage keys


@mutant("EP-110")
def usage_key_is_not_made(node: Node) -> None:
    """`add_usage_api_key` answers a key and makes nothing."""
    silence(node.accounts, "set_usage_key")


@mutant("EP-110")
def usage_key_is_always_the_same(node: Node) -> None:
    """Every `add_usage_api_key` answers the value that the first one did."""
    first: list[JsonValue] = []

    def changed(value: JsonValue) -> JsonValue:
        first.append(members(value)["usage_api_key"])
        return {**members(value), "usage_api_key": first[0]}

    change_answer(node, "add_usage_api_key", changed)


@mutant("EP-120")
def usage_key_is_not_removed(node: Node) -> None:
    """`remove_usage_api_key` says yes and removes nothing."""
    silence(node.accounts, "remove_usage_key")


@mutant("EP-120")
def usage_keys_are_removed_together(node: Node) -> None:
    """`remove_usage_api_key` removes every usage key of the account."""

    def remove(write: Write, acting_key: int, _: int) -> None:
        for key in node.accounts.usage_keys(acting_key, 0, 100):
            write(acting_key, key.key_hash)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("EP-130")
def usage_key_is_not_updated(node: Node) -> None:
    """`update_usage_api_key` says yes and changes nothing."""
    silence(node.accounts, "update_usage_key")


@mutant("EP-130")
def usage_key_update_only_adds(node: Node) -> None:
    """`update_usage_api_key` takes no permission away."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> object:
        held = node.accounts.usage_key(acting_key, key).permissions
        kept = replace(sent, can_create_groups=held.can_create_groups or sent.can_create_groups)
        return write(acting_key, key, name, description, kept)

    wrap(node.accounts, "update_usage_key", update)


@mutant("EP-140")
def usage_key_is_not_renamed(node: Node) -> None:
    """`update_usage_api_key_metadata` says yes and changes nothing."""
    silence(node.accounts, "update_usage_key_metadata")


@mutant("EP-140")
def usage_key_keeps_its_description(node: Node) -> None:
    """`update_usage_api_key_metadata` changes the name alone."""

    def update(write: Write, acting_key: int, key: int, name: str, _: str) -> object:
        return write(acting_key, key, name, node.accounts.usage_key(acting_key, key).description)

    wrap(node.accounts, "update_usage_key_metadata", update)


@mutant("EP-150")
def usage_keys_come_on_one_page(node: Node) -> None:
    """`list_api_keys` ignores `page_size`."""
    change_query(node, "list_api_keys", lambda query: {**query, "page_size": "100"})


@mutant("EP-150")
def usage_key_values_are_listed(node: Node) -> None:
    """`list_api_keys` shows the values of keys."""
    values: list[JsonValue] = []

    def keep(value: JsonValue) -> JsonValue:
        values.append(members(value)["usage_api_key"])
        return value

    change_answer(node, "add_usage_api_key", keep)
    change_items(node, "list_api_keys", lambda items: [{**members(item), "recent": [*values]} for item in items])


# -------------------------------------------------------------------------------------------- methods and addresses


class OtherMethod:
    """ASGI layer that serves a path with another method as if it were the stated one."""

    def __init__(self, app: ASGIApp, names: tuple[str, ...], method: str, instead: str) -> None:
        self._app = app
        self._names = names
        self._method = method
        self._instead = instead

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; the query of a GET becomes the body of a POST."""
        name = scope.get("path", "").removeprefix(CORE)
        if name not in self._names or scope.get("method") != self._instead:
            await self._app(scope, receive, send)
            return
        fields = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
        read = {key: _value(text) if key == "group_id" or text[:1] in "[tf" else text for key, text in fields.items()}
        body = json.dumps(read).encode() if self._method == "POST" else b""

        async def given() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        kept = [pair for pair in scope["headers"] if pair[0] not in {b"content-type", b"content-length"}]
        query = b"" if self._method == "POST" else scope["query_string"]
        changed = {"method": self._method, "query_string": query, "headers": [*kept, *headers]}
        await self._app({**scope, **changed}, given, send)


def _value(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


@mutant("EP-420")
def get_makes_groups(node: Node) -> None:
    """`add_group` works by GET."""
    node.app.add_middleware(OtherMethod, names=("add_group",), method="POST", instead="GET")


@mutant("EP-420")
def get_removes_usage_keys(node: Node) -> None:
    """`remove_usage_api_key` works by GET."""
    node.app.add_middleware(OtherMethod, names=("remove_usage_api_key",), method="POST", instead="GET")


@mutant("EP-420")
def get_deletes_actions(node: Node) -> None:
    """`delete_action` works by GET."""
    node.app.add_middleware(OtherMethod, names=("delete_action",), method="POST", instead="GET")


@mutant("EP-420")
def post_lists(node: Node) -> None:
    """The lists answer a POST as well."""
    node.app.add_middleware(OtherMethod, names=LISTS, method="GET", instead="POST")


@mutant("EP-420")
def post_tells_the_payers(node: Node) -> None:
    """`get_api_payers` answers a POST as well."""
    node.app.add_middleware(OtherMethod, names=("get_api_payers",), method="GET", instead="POST")


def _misspelt(address: JsonValue) -> str:
    """An address with one letter of its checksum in the wrong case."""
    text = str(address)
    place = next(index for index in range(2, len(text)) if text[index].isalpha())
    return text[:place] + text[place].swapcase() + text[place + 1 :]


@mutant("EP-430")
def checksum_of_a_wallet_is_wrong(node: Node) -> None:
    """Items of `list_wallets` have an address with a wrong checksum."""
    change_items(node, "list_wallets", each(lambda item: {**item, "wallet_address": _misspelt(item["wallet_address"])}))


@mutant("EP-430")
def checksum_of_the_contract_is_wrong(node: Node) -> None:
    """`contract_address` has a wrong checksum."""
    change_answer(
        node,
        "get_node_chain_config",
        lambda value: {**members(value), "contract_address": _misspelt(members(value)["contract_address"])},
    )


@mutant("EP-430")
def new_wallet_address_is_padded(node: Node) -> None:
    """`create_wallet` answers its address padded to 32 bytes."""
    change_answer(
        node, "create_wallet", lambda value: {"wallet_address": f"0x{str(members(value)['wallet_address'])[2:]:0>64}"}
    )


@mutant("EP-420")
def put_makes_groups(node: Node) -> None:
    """`add_group` works by PUT, too."""
    node.app.add_middleware(AlsoBy, operation="add_group", method="PUT")


@mutant("EP-420")
def patch_makes_groups(node: Node) -> None:
    """`add_group` works by PATCH, too."""
    node.app.add_middleware(AlsoBy, operation="add_group", method="PATCH")


@mutant("EP-420")
def delete_removes_groups(node: Node) -> None:
    """`remove_group` works by DELETE, too."""
    node.app.add_middleware(AlsoBy, operation="remove_group", method="DELETE")


class AlsoBy:
    """ASGI layer that takes another method of an operation for POST."""

    def __init__(self, app: ASGIApp, operation: str, method: str) -> None:
        self._app = app
        self._asked = (CORE + operation, method)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and (scope["path"], scope["method"]) == self._asked:
            scope = {**scope, "method": "POST"}
        await self._app(scope, receive, send)


@mutant("EP-340")
def newest_account_alone_exists(node: Node) -> None:
    """`account_exists` says true of the account that was created last, and of no other."""
    book = key_book(node)

    async def handler(request: Received, _: Forward) -> Answered:
        return answer(200, presented(request) in book.accounts[-1:])

    intercept(node, "account_exists", handler)
