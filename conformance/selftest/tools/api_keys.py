"""Follows the keys that a node gives out, and serves requests under other keys."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from unittest.mock import patch

from pydantic import JsonValue

from conformance.selftest.tools.alter import Answered, Forward, Received, change_body, intercept
from reference_node.api import accounts
from reference_node.node import Node
from reference_node.permission.keys import SECRET_BYTES, key_hash, key_text, new_secret, parse_key

Members = dict[str, JsonValue]


def header(request: Received, name: bytes) -> str:
    """Return the value of a header, empty when there is none."""
    return dict(request.headers).get(name, b"").decode("latin-1")


def presented(request: Received) -> str:
    """Return the key in either header, empty when there is none."""
    authorization = header(request, b"authorization")
    bearer = authorization[len("Bearer ") :] if authorization.lower().startswith("bearer ") else ""
    return header(request, b"x-api-key") or bearer


def in_given_out_form(text: str) -> str:
    """Return the key whose bytes a lenient reader of base64 finds in a text, as the node writes it; empty for none."""
    digits = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        secret = b"" if "=" in digits else base64.b64decode(f"{digits}==")
    except ValueError:
        return ""
    return key_text(secret) if len(secret) == SECRET_BYTES else ""


def is_by_usage_key(node: Node, request: Received) -> bool:
    """Whether a request presents a key of an account that is not the account key."""
    secret = parse_key(presented(request))
    return secret is not None and not node.accounts.key_info(key_hash(secret)).is_account_key


def under(request: Received, key: str) -> Received:
    """Return the same request under another key; under none when that is empty."""
    kept = [pair for pair in request.headers if pair[0] not in {b"x-api-key", b"authorization"}]
    given = [(b"x-api-key", key.encode("latin-1"))] if key else []
    return replace(request, headers=(*kept, *given))


@dataclass
class KeyBook:
    """The keys that a node has given out so far."""

    accounts: list[str] = field(default_factory=list)
    """Account keys, the newest last."""
    owners: dict[str, str] = field(default_factory=dict)
    """Usage key to the account key that it belongs to, removed ones too."""
    removed: set[str] = field(default_factory=set)

    def account_of(self, key: str) -> str:
        """Return the account key behind a usage key; any other key as it is."""
        return self.owners.get(key, key)


def key_book(node: Node) -> KeyBook:
    """Follow which keys the node gives out and takes back from now on."""
    book = KeyBook()

    async def follow(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted:
            return given
        if request.operation == "new_account":
            book.accounts.append(json.loads(given.body)["api_key"])
        elif request.operation == "add_usage_api_key":
            book.owners[json.loads(given.body)["usage_api_key"]] = book.account_of(presented(request))
        else:
            book.removed.add(json.loads(request.body)["usage_api_key"])
        return given

    intercept(node, ("new_account", "add_usage_api_key", "remove_usage_api_key"), follow)
    return book


def ask_as(node: Node, operations: str | Iterable[str], key_for: Callable[[Received], str]) -> None:
    """Serve requests as if they carried the key that `key_for` gives; those that carry it go on as they are."""

    async def handler(request: Received, forward: Forward) -> Answered:
        key = key_for(request)
        return await forward(request if key == presented(request) else under(request, key))

    intercept(node, operations, handler)


def promote(node: Node, operations: str | Iterable[str], when: Callable[[KeyBook, Received], bool]) -> None:
    """Serve usage keys as the account key of their account, where `when` says so."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        key = presented(request)
        return book.account_of(key) if when(book, request) else key

    ask_as(node, operations, key_for)


def live(book: KeyBook, request: Received) -> bool:
    """Whether the key of a request was not removed; for `promote`."""
    return presented(request) not in book.removed


def last_account_key(node: Node) -> list[str]:
    """Return the key of the account that was made last over HTTP, from now on; empty before the first."""
    last: list[str] = []

    async def note(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            last[:] = [json.loads(given.body)["api_key"]]
        return given

    intercept(node, "new_account", note)
    return last


_at_random = new_secret
_changed: ContextVar[Callable[[bytes], bytes]] = ContextVar("changed", default=lambda secret: secret)


def _new_secret() -> bytes:
    return _changed.get()(_at_random())


def change_secrets(node: Node, operation: str, change: Callable[[bytes], bytes]) -> None:
    """Have an operation make its keys from other secrets than the random ones."""
    patch.object(accounts, "new_secret", _new_secret).start()

    async def handler(request: Received, forward: Forward) -> Answered:
        token = _changed.set(change)
        try:
            return await forward(request)
        finally:
            _changed.reset(token)

    intercept(node, operation, handler)


def change_new_keys(node: Node, change: Callable[[Members], Members]) -> None:
    """Have `add_usage_api_key` read another body than was sent."""
    change_body(node, "add_usage_api_key", lambda value: change(value) if isinstance(value, dict) else value)
