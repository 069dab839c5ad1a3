"""Faults about methods and addresses."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

from pydantic import JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance.selftest.tools.alter import (
    CORE,
    Answered,
    Forward,
    Received,
    answer,
    change_accepted,
    change_answer,
    intercept,
    members,
)
from conformance.selftest.tools.api_keys import header, key_book, presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key


class OtherMethod:
    """Serves a path with another method as if it were the stated one; an ASGI layer."""

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
        read = {
            key: _value(text) if key in {"group_id", "amount_cents"} or text[:1] in "[tf" else text
            for key, text in fields.items()
        }
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


@mutant(
    "EP-420",
    each=[
        row("get-add_group", ("add_group",), "POST", "GET"),
        row("get-remove_usage_api_key", ("remove_usage_api_key",), "POST", "GET"),
        row("get-delete_action", ("delete_action",), "POST", "GET"),
        row("get-create_wallet", ("create_wallet",), "POST", "GET"),
        row("post-get_api_payers", ("get_api_payers",), "GET", "POST"),
        row("post-stripe_config", ("billing/stripe_config",), "GET", "POST"),
    ],
)
def get_and_post_are_exchanged(node: Node, names: tuple[str, ...], method: str, instead: str) -> None:
    """Serve by {instead} what is served by {method}."""
    node.app.add_middleware(OtherMethod, names=names, method=method, instead=instead)


def _misspelt(address: JsonValue) -> str:
    """Return an address with one letter of its checksum in the wrong case."""
    text = str(address)
    place = next(index for index in range(2, len(text)) if text[index].isalpha())
    return text[:place] + text[place].swapcase() + text[place + 1 :]


@mutant("EP-430")
def checksum_of_the_contract_is_wrong(node: Node) -> None:
    """Answer `contract_address` with a wrong checksum."""
    change_answer(
        node,
        "get_node_chain_config",
        lambda value: {**members(value), "contract_address": _misspelt(members(value)["contract_address"])},
    )


@mutant(
    "EP-420",
    each=[
        row("patch-add_group", "add_group", "PATCH"),
        row("delete-remove_group", "remove_group", "DELETE"),
        row("put-create_payment_intent", "billing/create_payment_intent", "PUT"),
        row("put-confirm_payment", "billing/confirm_payment", "PUT"),
    ],
)
def post_has_an_alias(node: Node, operation: str, method: str) -> None:
    """Serve `{operation}` by {method}, too."""
    node.app.add_middleware(AlsoBy, operation=operation, method=method)


class AlsoBy:
    """Takes another method of an operation for POST; an ASGI layer."""

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
    """Answer true from `account_exists` only for the account that was created last."""
    book = key_book(node)

    change_accepted(node, "account_exists", lambda request, _: answer(200, presented(request) in book.accounts[-1:]))


@mutant("EP-340")
def account_does_not_exist_by_bearer(node: Node) -> None:
    """Answer false from `account_exists` for a key in `Authorization: Bearer`."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return answer(200, False) if given.accepted and not header(request, b"x-api-key") else given

    intercept(node, "account_exists", handler)


@mutant("EP-340")
def account_with_usage_keys_does_not_exist(node: Node) -> None:
    """Answer false from `account_exists` for an account that has a usage key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        secret = parse_key(presented(request))
        if given.body != b"true" or secret is None:
            return given
        return answer(200, not node.accounts.usage_keys(key_hash(secret), 0, 1))

    intercept(node, "account_exists", handler)
