"""Faults about which key opens what, and in which of the two headers."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace

from eth_utils.crypto import keccak

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, refusal
from conformance.selftest.tools.api_keys import ask_as, header, key_book, live, presented, promote, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS, SERVED, WRITES
from reference_node.node import Node

OPEN = ("get_node_chain_config", "get_api_payers", "get_admin_api_payer", "get_service_action_ipfs_id")


@mutant("AUTH-020", each=[row("everywhere", SERVED, breaks="AUTH-030"), row("in-one-list", "list_wallets_in_group")])
def bearer_is_not_taken(node: Node, operations: str | tuple[str, ...]) -> None:
    """Look for the key in `X-Api-Key` alone."""
    ask_as(node, operations, lambda request: header(request, b"x-api-key"))


@mutant("AUTH-010", each=[row("everywhere", SERVED), row("in-one-write", "update_action_metadata")])
def x_api_key_is_not_taken(node: Node, operations: str | tuple[str, ...]) -> None:
    """Look for the key in `Authorization` alone."""
    ask_as(node, operations, lambda request: header(request, b"authorization").removeprefix("Bearer "))


@mutant("AUTH-030")
def bearer_has_every_right(node: Node) -> None:
    """A usage key in Authorization is taken for the account key of its account."""
    promote(node, WRITES, lambda book, request: live(book, request) and not header(request, b"x-api-key"))


@mutant("AUTH-030", "AUTH-050")
def removed_keys_live_on_as_bearer(node: Node) -> None:
    """A removed usage key goes on working in Authorization."""
    promote(node, SERVED, lambda book, request: not live(book, request) and not header(request, b"x-api-key"))


@mutant("AUTH-030")
def bearer_writes_nothing(node: Node) -> None:
    """`add_group` under a Bearer key says yes and does nothing."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if header(request, b"authorization") and (await forward(replace(request, body=b"{}"))).status == 422:
            return answer(200, {"success": True, "group_id": 1})
        return await forward(request)

    intercept(node, "add_group", handler)


@mutant("AUTH-040")
def no_key_is_the_newest_account(node: Node) -> None:
    """A request without a key is served as if the newest account sent it."""
    book = key_book(node)
    ask_as(node, (*LISTS, *WRITES), lambda request: presented(request) or book.accounts[-1])


@mutant("AUTH-040")
def keyless_lists_are_empty(node: Node) -> None:
    """A list without a key is no refusal but an empty list."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return given if header(request, b"x-api-key") or header(request, b"authorization") else answer(200, [])

    intercept(node, LISTS, handler)


@mutant("AUTH-040")
def keyless_lists_are_shown_beside_the_refusal(node: Node) -> None:
    """`list_groups` without a key has the status of a refusal and the page for a body."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status != 401 or presented(request):
            return given
        return replace(await forward(under(request, book.accounts[-1])), status=401)

    intercept(node, "list_groups", handler)


@mutant("AUTH-040")
def keyless_removal_is_refused_and_done(node: Node) -> None:
    """`remove_pkp_from_group` without a key is refused and done all the same."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not presented(request):
            await forward(under(request, book.accounts[-1]))
        return given

    intercept(node, "remove_pkp_from_group", handler)


@mutant("AUTH-050")
def unknown_keys_pass_as_bearer(node: Node) -> None:
    """Whatever follows Bearer opens the newest account."""
    book = key_book(node)
    known: Callable[[str], bool] = lambda key: key in book.accounts or key in book.owners  # noqa: E731 - one expression

    def key_for(request: Received) -> str:
        key = presented(request)
        return book.accounts[-1] if key and not known(key) and not header(request, b"x-api-key") else key

    ask_as(node, "delete_action", key_for)


@mutant("AUTH-050")
def keys_are_compared_by_their_beginning(node: Node) -> None:
    """A key counts as a known one when their first thirty characters are equal."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        key = presented(request)
        alike = [known for known in book.accounts if len(key) >= 30 and known.startswith(key[:30])]
        return key if key in book.owners or not alike else alike[0]

    ask_as(node, SERVED, key_for)


@mutant("AUTH-050")
def hash_of_a_key_opens(node: Node) -> None:
    """The hash of an account key, which the chain shows to everybody, opens the account."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        hashes = {f"0x{keccak(base64.b64decode(key)).hex()}": key for key in book.accounts}
        return hashes.get(presented(request).lower(), presented(request))

    ask_as(node, WRITES, key_for)


@mutant("AUTH-050")
def removed_keys_still_list(node: Node) -> None:
    """A removed usage key goes on reading the lists."""
    promote(node, LISTS, lambda book, request: not live(book, request))


@mutant("AUTH-050")
def key_of_zeros_opens_the_newest_account(node: Node) -> None:
    """The key whose 32 bytes are zero, as an empty database column gives it, is taken for the newest account's."""
    book = key_book(node)
    zeros = base64.b64encode(bytes(32)).decode()
    ask_as(node, SERVED, lambda request: book.accounts[-1] if presented(request) == zeros else presented(request))


@mutant("AUTH-050")
def empty_key_creates_wallets(node: Node) -> None:
    """An empty X-Api-Key opens `create_wallet` of the newest account."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        empty = dict(request.headers).get(b"x-api-key") == b""
        return await forward(under(request, book.accounts[-1]) if empty else request)

    intercept(node, "create_wallet", handler)


@mutant("AUTH-060", each=["get_service_action_ipfs_id", "get_api_payers"])
def open_endpoint_needs_a_key(node: Node, operation: str) -> None:
    """Refuse `{operation}` without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else refusal(401)

    intercept(node, operation, handler)


@mutant("AUTH-070")
def wrong_key_closes_what_is_open(node: Node) -> None:
    """The open endpoints refuse a key that nobody holds."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        return refusal(401) if key and key not in book.accounts else await forward(request)

    intercept(node, OPEN, handler)


@mutant("AUTH-070")
def wrong_key_changes_what_is_answered(node: Node) -> None:
    """With a key that nobody holds, `get_api_payers` is an empty list."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return answer(200, []) if presented(request) else await forward(request)

    intercept(node, "get_api_payers", handler)
