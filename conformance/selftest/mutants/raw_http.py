"""Faults that show with requests which HTTP allows and few clients send."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace

from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.selftest.tools.accounts import account_of
from conformance.selftest.tools.alter import (
    CORE,
    Answered,
    Forward,
    Received,
    answer_instead,
    change_accepted,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.api_keys import header, key_book, presented, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS
from reference_node.node import Node


def _keys(request: Received) -> list[str]:
    """Return the keys in all headers, in their order."""
    shown = [value.decode("latin-1") for name, value in request.headers if name in {b"x-api-key", b"authorization"}]
    return [key.strip().removeprefix("Bearer ") for value in shown for key in value.split(",")]


@mutant("ACC-120", also="AUTH-080 AUTH-090 AUTH-190 UKEY-050")
def one_key_names_the_account_and_another_counts(node: Node) -> None:
    """Take the account from the first key of a request, and the right to make groups from the last."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        keys = _keys(request)
        mixed = len(set(keys)) > 1 and keys[-1] in book.accounts
        return await forward(under(request, book.account_of(keys[0])) if mixed else request)

    intercept(node, "add_group", handler)


@mutant("AUTH-080", also="AUTH-090 AUTH-190 KEYLIFE-080 UKEY-050")
def several_keys_are_not_looked_at(node: Node) -> None:
    """Let a request with several keys act for the account of the first that is known, whatever it may do."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        keys = _keys(request)
        owners = [book.owners[key] for key in keys if key in book.owners]
        others = set(keys) & set(book.accounts)
        return await forward(under(request, owners[0]) if len(set(keys)) > 1 and owners and not others else request)

    intercept(node, "add_group", handler)


@mutant("AUTH-050", server_fault=True, also="AUTH-040 ERR-140")
def bearer_without_a_key_breaks_the_node(node: Node) -> None:
    """Answer `Authorization: Bearer` without a key with status 500."""
    answer_instead(node, "list_groups", refusal(500), lambda request: header(request, b"authorization") == "Bearer")


@mutant("LIST-100", server_fault=True)
def query_that_begins_again_breaks_the_node(node: Node) -> None:
    """Answer a query of a list that has a second question mark with status 500."""
    answer_instead(node, LISTS, refusal(500), lambda request: "?" in request.query)


class AsPost:
    """Serves requests of `add_group` by another method, or with a header that names POST, as a POST; an ASGI layer."""

    def __init__(self, app: ASGIApp, method: str) -> None:
        self._app = app
        self._method = method

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope.get("path") == f"{CORE}add_group" and self._means_post(scope):
            headers = [
                *(pair for pair in scope["headers"] if pair[0] != b"content-type"),
                (b"content-type", b"application/json"),
            ]
            scope = {**scope, "method": "POST", "headers": headers}
        await self._app(scope, receive, send)

    def _means_post(self, scope: Scope) -> bool:
        return scope["method"] == self._method and (
            self._method != "GET" or (b"x-http-method-override", b"POST") in scope["headers"]
        )


@mutant("EP-420", each=["HEAD", "OPTIONS", "FROB", "GET"])
def method_counts_as_post(node: Node, method: str) -> None:
    """Carry out `add_group` when it is sent by {method}, and by GET where another header names POST."""
    node.app.add_middleware(AsPost, method=method)


class Fault:
    """Answers such requests with status 500; an ASGI layer."""

    def __init__(self, app: ASGIApp, strikes: Callable[[Scope], bool]) -> None:
        self._app = app
        self._strikes = strikes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not self._strikes(scope):
            await self._app(scope, receive, send)
            return
        given = refusal(500)
        await send({"type": "http.response.start", "status": given.status, "headers": list(given.headers)})
        await send({"type": "http.response.body", "body": given.body})


@mutant("ERR-140", server_fault=True)
def asterisk_as_the_target_breaks_the_node(node: Node) -> None:
    """Answer a request target that begins with an asterisk with status 500."""
    node.app.add_middleware(Fault, strikes=lambda scope: scope["path"].startswith("*"))


@mutant("EP-420", server_fault=True, also="ERR-140")
def unknown_methods_break_the_node(node: Node) -> None:
    """Answer a method that nobody knows with status 500."""
    node.app.add_middleware(Fault, strikes=lambda scope: scope["method"] == "FROB")


@mutant("GRP-020", also="EP-160 GRP-030 LIST-170")
def charset_is_read_as_latin_1(node: Node) -> None:
    """Read the body of `add_group` as Latin-1 where its type has a charset."""

    async def handler(request: Received, forward: Forward) -> Answered:
        charset = "charset" in header(request, b"content-type").lower()
        return await forward(replace(request, body=request.body.decode("latin-1").encode()) if charset else request)

    intercept(node, "add_group", handler)


@mutant("EP-160", also="ACC-140 AUTH-040 AUTH-050 EP-030 GRPLIFE-010")
def chunked_bodies_are_lost(node: Node) -> None:
    """Answer `add_group` as accepted, and make nothing, where the body comes in chunks."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if header(request, b"transfer-encoding"):
            return Answered(200, ((b"content-type", b"application/json"),), b'{"success": true, "group_id": 1}')
        return await forward(request)

    intercept(node, "add_group", handler)


@mutant("LIST-170", also="GRPLIFE-020 GRPLIFE-030")
def tags_are_made_of_ids(node: Node) -> None:
    """Tag `list_groups` by the ids alone, and answer 304 to a client that names that tag."""

    def changed(request: Received, given: Answered) -> Answered:
        ids = [members(item).get("id") for item in json.loads(given.body)]
        tag = f'"{hashlib.sha256(repr((request.key, ids)).encode()).hexdigest()}"'.encode()
        if header(request, b"if-none-match") == tag.decode():
            return Answered(304, ((b"etag", tag),), b"")
        return given.headed(b"etag", tag)

    change_accepted(node, "list_groups", changed)


@mutant(
    "LIST-170",
    each=[row("tags", b"if-none-match", breaks="ACC-110"), row("dates", b"if-modified-since", also="ACC-110")],
    also="AUTH-040 AUTH-050",
)
def copies_are_always_current(node: Node, named: bytes) -> None:
    """Answer 304 to every list whose request names an earlier answer in `{named}`."""
    answer_instead(node, LISTS, Answered(304, (), b""), lambda request: header(request, named))


@mutant("LIST-170", also="GRPLIFE-010 GRPLIFE-020 GRPLIFE-030")
def packed_lists_are_kept(node: Node) -> None:
    """Pack `list_groups` once for each key that accepts gzip, and answer that again later."""
    kept: dict[str | None, Answered] = {}

    def changed(request: Received, given: Answered) -> Answered:
        if header(request, b"accept-encoding") != "gzip":
            return given
        packed = replace(given, body=gzip.compress(given.body)).headed(b"content-encoding", b"gzip")
        return kept.setdefault(request.key, packed)

    change_accepted(node, "list_groups", changed)


@mutant("EP-010")
def browsers_get_pages(node: Node) -> None:
    """Answer `list_groups` as a page in HTML to a client that prefers it and takes anything."""

    def changed(request: Received, given: Answered) -> Answered:
        if not header(request, b"accept").startswith("text/html"):
            return given
        return Answered(200, ((b"content-type", b"text/html"),), b"<!doctype html><pre>" + given.body)

    change_accepted(node, "list_groups", changed)


@mutant("EP-160", also="AUTH-020 GRPLIFE-010 LIST-170")
def expected_bodies_count_twice(node: Node) -> None:
    """Carry `add_group` out before the answer 100 to a client that waits for it, and again with the body."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if header(request, b"expect"):
            await forward(request)
        return await forward(request)

    intercept(node, "add_group", handler)


@mutant("AUTH-080", each=["add_pkp_to_group", "add_action_to_group", "remove_pkp_from_group"])
def scope_is_looked_at_for_the_first_of_two_groups(node: Node, operation: str) -> None:
    """Where a body of `{operation}` names two groups, ask whether the key may write in one, and write in the other."""
    last: ContextVar[int | None] = ContextVar("last", default=None)

    async def handler(request: Received, forward: Forward) -> Answered:
        pairs = json.loads(request.body, object_pairs_hook=list)
        groups = [int(value) for name, value in pairs if name == "group_id"]
        if len(groups) < 2:
            return await forward(request)
        last.set(groups[-1])
        body = json.dumps({**dict(pairs), "group_id": groups[0]}).encode()
        return await forward(replace(request, body=body))

    def write_for(write: Callable[..., object], key: int, group: int, *rest: object) -> None:
        write(key, group, *rest)
        if other := last.get():
            write(account_of(node, key), other, *rest)

    intercept(node, operation, handler)
    wrap(node.accounts, operation, write_for)


@mutant("AUTH-040", also="AUTH-050 AUTH-200")
def newest_answer_needs_no_key(node: Node) -> None:
    """Answer 304 to whoever names the newest answer of somebody's list, before asking for a key."""
    newest: dict[str, str] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        if not presented(request) and header(request, b"if-none-match") in newest.values():
            return Answered(304, (), b"")
        given = await forward(request)
        tag = f'"{hashlib.sha256(repr(request.key).encode() + given.body).hexdigest()}"'
        if not given.accepted:
            return given
        newest[presented(request)] = tag
        return given.headed(b"etag", tag.encode())

    intercept(node, "list_groups", handler)
