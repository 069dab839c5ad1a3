"""Faults about keys outside the two headers, and about permissions that widen by themselves."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.api_keys import KeyBook, ask_as, header, key_book, live, presented, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS
from reference_node.node import Node


def _first(candidates: Iterable[str], book: KeyBook) -> str:
    return next((text for text in candidates if text in book.accounts), "")


@mutant("AUTH-200")
def key_in_the_query_opens(node: Node) -> None:
    """Accept a key in the query."""
    book = key_book(node)
    ask_as(node, LISTS, lambda got: presented(got) or _first((text for _, text in parse_qsl(got.query)), book))


@mutant("AUTH-200")
def key_in_the_body_opens(node: Node) -> None:
    """Accept a key in the member `api_key` of the body."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        try:
            body = json.loads(request.body)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return await forward(request)
        key = _first([str(body.pop(name, "")) for name in ("api_key", "x-api-key")], book)
        changed = replace(request, body=json.dumps(body).encode())
        return await forward(under(changed, key) if key and not presented(request) else request)

    intercept(node, "add_group", handler)


@mutant("AUTH-200")
def key_in_a_cookie_opens(node: Node) -> None:
    """Accept a key in a cookie, so that any page in a browser can use it."""
    book = key_book(node)

    def in_cookies(request: Received) -> str:
        pairs = [part.partition("=")[2].strip() for part in header(request, b"cookie").split(";")]
        return _first([*pairs, *(morsel.value for morsel in SimpleCookie(header(request, b"cookie")).values())], book)

    ask_as(node, LISTS, lambda request: presented(request) or in_cookies(request))


def _basic(value: str) -> list[str]:
    scheme, _, credentials = value.partition(" ")
    if scheme.lower() != "basic" or len(credentials) % 4:
        return []
    return base64.b64decode(credentials).decode("latin-1").split(":")


@mutant(
    "AUTH-200",
    each=[
        row("basic", _basic),
        row("any-scheme", lambda value: value.split(" ")[1:]),
        row("no-scheme", lambda value: [value]),
    ],
)
def authorization_is_read_otherwise(node: Node, read: Callable[[str], Iterable[str]]) -> None:
    """Accept a key in `Authorization` in another form than after Bearer; the label says in which."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        other = "" if presented(request) else _first(read(header(request, b"authorization")), book)
        return await forward(under(request, other) if other else request)

    intercept(node, LISTS, handler)


@mutant("AUTH-200")
def another_header_opens(node: Node) -> None:
    """Accept a key in the header `Api-Key`."""
    book = key_book(node)
    ask_as(node, LISTS, lambda got: presented(got) or _first([header(got, b"api-key")], book))


@mutant("AUTH-210", also="AUTH-080 AUTH-090 AUTH-120 AUTH-140 UKEY-090")
def metadata_update_takes_permissions(node: Node) -> None:
    """Let a usage key update its own metadata together with `can_create_pkps`, and create wallets from then on."""
    book = key_book(node)
    wide: set[str] = set()

    async def update(request: Received, forward: Forward) -> Answered:
        body, key = json.loads(request.body), presented(request)
        if body.get("usage_api_key") != key or not live(book, request) or body.get("can_create_pkps") is not True:
            return await forward(request)
        wide.add(key)
        labels = {name: body[name] for name in ("usage_api_key", "name", "description") if name in body}
        changed = replace(request, body=json.dumps(labels).encode())
        return await forward(under(changed, book.account_of(key)))

    async def create(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        return await forward(under(request, book.account_of(key)) if key in wide - book.removed else request)

    intercept(node, "update_usage_api_key_metadata", update)
    intercept(node, "create_wallet", create)


@mutant("AUTH-210", also="AUTH-080 AUTH-090 SCOPE-120 UKEY-110 UKEY-190 UKEY-300")
def makers_of_groups_own_them(node: Node) -> None:
    """Let a usage key add to the groups that it created."""
    book = key_book(node)
    made: set[tuple[str, str]] = set()

    async def make(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            made.add((presented(request), str(json.loads(given.body)["group_id"])))
        return given

    async def fill(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        own = live(book, request) and (key, str(json.loads(request.body).get("group_id"))) in made
        return await forward(under(request, book.account_of(key)) if own else request)

    intercept(node, "add_group", make)
    intercept(node, ("add_action_to_group", "add_pkp_to_group"), fill)


@mutant("AUTH-210", also="AUTH-080 AUTH-090 UKEY-110 UKEY-190 UKEY-300")
def rights_outlive_their_group(node: Node) -> None:
    """Let a usage key that removed a group add to the next one that its account creates."""
    book = key_book(node)
    heirs: set[tuple[str, str]] = set()
    waiting: dict[str, set[str]] = {}

    async def follow(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        account = book.account_of(presented(request))
        if given.accepted and request.operation == "remove_group":
            waiting.setdefault(account, set()).add(presented(request))
        elif given.accepted:
            heirs.update((key, str(json.loads(given.body)["group_id"])) for key in waiting.pop(account, ()))
        return given

    async def fill(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        heir = live(book, request) and (key, str(json.loads(request.body).get("group_id"))) in heirs
        return await forward(under(request, book.account_of(key)) if heir else request)

    intercept(node, ("remove_group", "add_group"), follow)
    intercept(node, ("add_action_to_group", "add_pkp_to_group"), fill)
