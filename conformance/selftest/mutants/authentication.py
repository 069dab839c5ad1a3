"""Faults about which key opens what, and in which of the two headers."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from http import HTTPStatus

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import permissions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    change_accepted,
    intercept,
    refusal,
    text_member,
    wrap,
)
from conformance.selftest.tools.alter_payments import BALANCE, give, take, wallet_of
from conformance.selftest.tools.api_keys import ask_as, header, key_book, live, presented, promote, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS, SERVED, WRITES
from conformance.selftest.variants.variant import choices
from reference_node.node import Node

OPEN = ("get_node_chain_config", "get_api_payers", "get_admin_api_payer", "get_service_action_ipfs_id")


@mutant(
    "AUTH-020",
    each=[row("everywhere", SERVED, breaks="AUTH-030"), row("in-one-list", "list_wallets_in_group", also="AUTH-030")],
)
def bearer_is_not_taken(node: Node, operations: str | tuple[str, ...]) -> None:
    """Look for the key in `X-Api-Key` alone."""
    ask_as(node, operations, lambda request: header(request, b"x-api-key"))


@mutant("AUTH-020", also="AUTH-030")
def plus_in_a_bearer_is_a_blank(node: Node) -> None:
    """Take the + of a Bearer key for a blank, as in a form."""
    ask_as(node, SERVED, lambda request: header(request, b"x-api-key") or presented(request).replace("+", " "))


@mutant("AUTH-010", each=[row("everywhere", SERVED), row("in-one-write", "update_action_metadata")], also="AUTH-030")
def x_api_key_is_not_taken(node: Node, operations: str | tuple[str, ...]) -> None:
    """Look for the key in `Authorization` alone."""

    async def handler(request: Received, forward: Forward) -> Answered:
        left = tuple(pair for pair in request.headers if pair[0] != b"x-api-key")
        return await forward(replace(request, headers=left))

    intercept(node, operations, handler)


@mutant(
    "AUTH-030",
    also=(
        "AUTH-080 AUTH-090 AUTH-100 AUTH-110 AUTH-120 AUTH-140 AUTH-210 SCOPE-090 SCOPE-130 SCOPE-140 SCOPE-150 "
        "UKEY-050 UKEY-070 UKEY-090 UKEY-110 UKEY-150 UKEY-190 UKEY-230 UKEY-300"
    ),
)
def bearer_has_every_right(node: Node) -> None:
    """Treat a usage key in `Authorization` as the account key of its account."""
    promote(node, WRITES, lambda book, request: live(book, request) and not header(request, b"x-api-key"))


@mutant("AUTH-030", also="AUTH-020 GRPLIFE-010 LIST-170")
def bearer_writes_nothing(node: Node) -> None:
    """Answer success to `add_group` under a Bearer key, and create nothing."""
    as_bearer: ContextVar[bool] = ContextVar("as_bearer", default=False)

    async def handler(request: Received, forward: Forward) -> Answered:
        as_bearer.set(bool(header(request, b"authorization")))
        return await forward(request)

    def add(write: Callable[..., int], key: int, *arguments: object) -> int:
        permissions = permissions_of(node, key)
        may = permissions is None or permissions.can_create_groups
        return 1 if as_bearer.get() and may else write(key, *arguments)

    intercept(node, "add_group", handler)
    wrap(node.accounts, "add_group", add)


@mutant("AUTH-040", also="AUTH-050 AUTH-200")
def no_key_is_the_newest_account(node: Node) -> None:
    """Serve a request without a key as the newest account's."""
    book = key_book(node)
    ask_as(node, (*LISTS, *WRITES), lambda request: presented(request) or book.accounts[-1])


@mutant("AUTH-200", each=[row("address", b"x-forwarded-for"), row("path", b"x-original-url")], also="AUTH-040 AUTH-050")
def what_gateways_tell_is_trusted(node: Node, told: bytes) -> None:
    """Serve a list without a key as the newest account's where `{told}` stands in its request."""
    book = key_book(node)
    ask_as(node, LISTS, lambda request: presented(request) or (header(request, told) and book.accounts[-1]))


@mutant("AUTH-040", also="AUTH-050 AUTH-200 ERR-140")
def keyless_lists_are_shown_beside_the_refusal(node: Node) -> None:
    """Answer `list_groups` without a key with status 401 and the page as its body."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status != 401 or presented(request):
            return given
        return replace(await forward(under(request, book.accounts[-1])), status=401)

    intercept(node, "list_groups", handler)


@mutant("AUTH-040", also="AUTH-200 BILL-210 ERR-150 LIST-170")
def keyless_removal_is_refused_and_done(node: Node) -> None:
    """Refuse `remove_pkp_from_group` without a key, and remove the wallet."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not presented(request):
            await forward(under(request, book.accounts[-1]))
        return given

    intercept(node, "remove_pkp_from_group", handler)


@mutant("AUTH-050", also="AKEY-110 AUTH-030")
def unknown_keys_pass_as_bearer(node: Node) -> None:
    """Treat any unknown Bearer key as the newest account's in `delete_action`."""
    book = key_book(node)
    known: Callable[[str], bool] = lambda key: key in book.accounts or key in book.owners  # noqa: E731 - one expression

    def key_for(request: Received) -> str:
        key = presented(request)
        return book.accounts[-1] if key and not known(key) and not header(request, b"x-api-key") else key

    ask_as(node, "delete_action", key_for)


@mutant("AUTH-050", also="AKEY-110")
def keys_are_compared_by_their_beginning(node: Node) -> None:
    """Compare the first thirty characters of keys only."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        key = presented(request)
        alike = [known for known in book.accounts if len(key) >= 30 and known.startswith(key[:30])]
        return key if key in book.owners or not alike else alike[0]

    ask_as(node, SERVED, key_for)


@mutant("AUTH-050")
def hash_of_a_key_opens(node: Node) -> None:
    """Accept the hash of an account key, which the chain shows to everybody, as the key."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        hashes = {f"0x{keccak(base64.b64decode(key)).hex()}": key for key in book.accounts}
        return hashes.get(presented(request).lower(), presented(request))

    ask_as(node, WRITES, key_for)


@mutant("AUTH-050")
def key_of_zeros_opens_the_newest_account(node: Node) -> None:
    """Treat the key of 32 zero bytes, like an empty database column, as the newest account's."""
    book = key_book(node)
    zeros = base64.b64encode(bytes(32)).decode()
    ask_as(node, SERVED, lambda request: book.accounts[-1] if presented(request) == zeros else presented(request))


@mutant("AUTH-050", also="AUTH-040")
def empty_key_creates_wallets(node: Node) -> None:
    """Serve `create_wallet` with an empty `X-Api-Key` as the newest account's."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        empty = dict(request.headers).get(b"x-api-key") == b""
        return await forward(under(request, book.accounts[-1]) if empty else request)

    intercept(node, "create_wallet", handler)


@mutant("AUTH-060", each=["get_service_action_ipfs_id", row("get_api_payers", also="CHAIN-060")])
def open_endpoint_needs_a_key(node: Node, operation: str) -> None:
    """Refuse `{operation}` without a key."""
    answer_instead(node, operation, refusal(401), lambda request: not presented(request))


@mutant("AUTH-070")
def wrong_key_closes_what_is_open(node: Node) -> None:
    """Refuse open endpoints to an unknown key."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        unknown = key and key not in book.accounts and book.account_of(key) == key
        return refusal(401) if unknown else await forward(request)

    intercept(node, OPEN, handler)


@mutant("AUTH-070", also="CHAIN-060 CHAIN-190")
def wrong_key_changes_what_is_answered(node: Node) -> None:
    """Answer an empty list from `get_api_payers` when a key is sent."""
    change_accepted(node, "get_api_payers", lambda request, given: answer(200, []) if presented(request) else given)


@choices({"auth": {"conflicting_headers": "x_api_key_wins"}})
def x_api_key_wins(node: Node) -> None:
    """Overlook `Authorization` beside `X-Api-Key`, and say so."""

    async def handler(request: Received, forward: Forward) -> Answered:
        key = header(request, b"x-api-key")
        return await forward(under(request, key) if key else request)

    intercept(node, (*SERVED, BALANCE), handler)


@mutant("AUTH-190")
def x_api_key_goes_before_bearer(node: Node) -> None:
    """Overlook `Authorization` beside `X-Api-Key`, though the profile states that different keys are refused."""
    x_api_key_wins.alter(node)


@mutant("AUTH-080", on=x_api_key_wins, also="ACC-120 AUTH-190 UKEY-050")
def account_and_rights_come_from_different_headers(node: Node) -> None:
    """Give the key in `X-Api-Key` every right in its account where an account key stands in `Authorization`."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        key, other = header(request, b"x-api-key"), header(request, b"authorization").removeprefix("Bearer ")
        return await forward(under(request, book.account_of(key)) if key and other in book.accounts else request)

    intercept(node, SERVED, handler)


@mutant("KEYLIFE-080", each=[row("in-lists", LISTS), row("in-writes", WRITES)], also="AUTH-030 AUTH-050")
def bearers_are_looked_up_once(node: Node, operations: tuple[str, ...]) -> None:
    """Serve a removed usage key as the account's where it had come as Bearer to one of these operations before."""
    book, known = key_book(node), set[str]()

    async def handler(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        if not header(request, b"authorization"):
            return await forward(request)
        if key in known & book.removed:
            return await forward(under(request, book.account_of(key)))
        given = await forward(request)
        if given.accepted:
            known.add(key)
        return given

    intercept(node, operations, handler)


@mutant("KEYLIFE-030", also="AUTH-030 AUTH-080 EXEC-230 KEYLIFE-150 SCOPE-090")
def keys_may_do_as_bearer_what_they_did(node: Node) -> None:
    """Serve a usage key in `Authorization` as the account's in a write that it was once permitted in that header."""
    book, done = key_book(node), set[tuple[str, str]]()

    async def handler(request: Received, forward: Forward) -> Answered:
        key, given = presented(request), await forward(request)
        if not header(request, b"authorization"):
            return given
        if given.accepted:
            done.add((key, request.operation))
        elif given.status == HTTPStatus.FORBIDDEN and (key, request.operation) in done:
            return await forward(under(request, book.account_of(key)))
        return given

    intercept(node, WRITES, handler)


@mutant("AUTH-190", on=x_api_key_wins, also="BILL-140 BILL-210")
def other_key_pays(node: Node) -> None:
    """Charge the account of the Bearer key for what is written with another key in `X-Api-Key` beside it."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given, bearer = await forward(request), header(request, b"authorization")
        key = header(request, b"x-api-key")
        if given.accepted and key and bearer:
            payer, spared = (wallet_of(node, under(request, one)) for one in (bearer.removeprefix("Bearer "), key))
            if payer is not None and spared is not None:
                take(node, payer, 1)
                give(node, spared, 1)
        return given

    intercept(node, WRITES, handler)


@mutant("AUTH-040", also="AUTH-050 AUTH-200 BILL-210 ERR-150 KEYLIFE-090 LIST-170")
def open_paths_count_in_the_query(node: Node) -> None:
    """Ask for no key where a query names an open path: then the usage key in the body tells the account."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        is_open = any(name in request.query for name in OPEN)
        return presented(request) or (book.owners.get(text_member(request, "usage_api_key"), "") if is_open else "")

    ask_as(node, WRITES, key_for)
