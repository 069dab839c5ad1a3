"""Faults about keys outside the two headers, and about permissions that widen by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import parse_qsl

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.api_keys import KeyBook, ask_as, header, key_book, presented, under
from conformance.selftest.tools.mutant import mutant
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
        changed = request.having(body)
        return await forward(under(changed, key) if key and not presented(request) else request)

    intercept(node, "add_group", handler)


@mutant("AUTH-200")
def another_header_opens(node: Node) -> None:
    """Accept a key in the header `Api-Key`."""
    book = key_book(node)
    ask_as(node, LISTS, lambda got: presented(got) or _first([header(got, b"api-key")], book))
