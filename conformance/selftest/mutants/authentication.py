"""Faults about which key opens what, and in which place of a request."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl

from eth_utils.crypto import keccak

from conformance.selftest.alter import Answered, Forward, Received, answer, intercept, refusal
from conformance.selftest.alter_keys import LISTS, SERVED, WRITES, KeyBook, header, key_book, presented, under
from conformance.selftest.mutant import mutant
from reference_node.node import Node

OPEN = ("get_node_chain_config", "get_api_payers", "get_admin_api_payer", "get_service_action_ipfs_id")


def _ask_as(node: Node, operations: str | Iterable[str], key_for: Callable[[Received], str]) -> None:
    """Requests are served as if they carried the key that `key_for` gives."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(under(request, key_for(request)))

    intercept(node, operations, handler)


def _promote(node: Node, operations: str | Iterable[str], when: Callable[[KeyBook, Received], bool]) -> None:
    """Usage keys are served as the account key of their account, where `when` says so."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        key = presented(request)
        return book.account_of(key) if when(book, request) else key

    _ask_as(node, operations, key_for)


def _live(book: KeyBook, request: Received) -> bool:
    return presented(request) not in book.removed


def _named_key(request: Received) -> str:
    """The key that a request is about."""
    return str(json.loads(request.body).get("usage_api_key"))


# ------------------------------------------------------------------------------------------------- the two headers


@mutant("AUTH-020", "AUTH-030")
def bearer_is_not_taken(node: Node) -> None:
    """Only X-Api-Key is looked at."""
    _ask_as(node, SERVED, lambda request: header(request, b"x-api-key"))


@mutant("AUTH-020")
def bearer_is_not_taken_by_one_list(node: Node) -> None:
    """`list_wallets_in_group` looks only at X-Api-Key."""
    _ask_as(node, "list_wallets_in_group", lambda request: header(request, b"x-api-key"))


@mutant("AUTH-010")
def x_api_key_is_not_taken(node: Node) -> None:
    """Only Authorization is looked at."""
    _ask_as(node, SERVED, lambda request: header(request, b"authorization").removeprefix("Bearer "))


@mutant("AUTH-010")
def x_api_key_is_not_taken_by_one_write(node: Node) -> None:
    """`update_action_metadata` looks only at Authorization."""
    bearer: Callable[[Received], str] = lambda request: header(request, b"authorization").removeprefix("Bearer ")  # noqa: E731 - one expression
    _ask_as(node, "update_action_metadata", bearer)


@mutant("AUTH-030")
def bearer_has_every_right(node: Node) -> None:
    """A usage key in Authorization is taken for the account key of its account."""
    _promote(node, WRITES, lambda book, request: _live(book, request) and not header(request, b"x-api-key"))


@mutant("AUTH-030", "AUTH-050")
def removed_keys_live_on_as_bearer(node: Node) -> None:
    """A removed usage key goes on working in Authorization."""
    _promote(node, SERVED, lambda book, request: not _live(book, request) and not header(request, b"x-api-key"))


@mutant("AUTH-030")
def bearer_writes_nothing(node: Node) -> None:
    """`add_group` under a Bearer key says yes and does nothing."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if header(request, b"authorization") and (await forward(replace(request, body=b"{}"))).status == 422:
            return answer(200, {"success": True, "group_id": 1})
        return await forward(request)

    intercept(node, "add_group", handler)


# -------------------------------------------------------------------------------------------------- no valid key


@mutant("AUTH-040")
def no_key_is_the_newest_account(node: Node) -> None:
    """A request without a key is served as if the newest account sent it."""
    book = key_book(node)
    _ask_as(node, (*LISTS, *WRITES), lambda request: presented(request) or book.accounts[-1])


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

    _ask_as(node, "delete_action", key_for)


@mutant("AUTH-050")
def keys_are_compared_by_their_beginning(node: Node) -> None:
    """A key counts as a known one when their first thirty characters are equal."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        key = presented(request)
        alike = [known for known in book.accounts if len(key) >= 30 and known.startswith(key[:30])]
        return key if key in book.owners or not alike else alike[0]

    _ask_as(node, SERVED, key_for)


@mutant("AUTH-050")
def hash_of_a_key_opens(node: Node) -> None:
    """The hash of an account key, which the chain shows to everybody, opens the account."""
    book = key_book(node)

    def key_for(request: Received) -> str:
        hashes = {f"0x{keccak(base64.b64decode(key)).hex()}": key for key in book.accounts}
        return hashes.get(presented(request).lower(), presented(request))

    _ask_as(node, WRITES, key_for)


@mutant("AUTH-050")
def removed_keys_still_list(node: Node) -> None:
    """A removed usage key goes on reading the lists."""
    _promote(node, LISTS, lambda book, request: not _live(book, request))


@mutant("AUTH-050")
def empty_key_creates_wallets(node: Node) -> None:
    """An empty X-Api-Key opens `create_wallet` of the newest account."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        empty = dict(request.headers).get(b"x-api-key") == b""
        return await forward(under(request, book.accounts[-1]) if empty else request)

    intercept(node, "create_wallet", handler)


# ------------------------------------------------------------------------------------------------- open endpoints


@mutant("AUTH-060")
def cid_needs_a_key(node: Node) -> None:
    """`get_service_action_ipfs_id` is refused without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else refusal(401)

    intercept(node, "get_service_action_ipfs_id", handler)


@mutant("AUTH-060")
def payers_need_a_key(node: Node) -> None:
    """`get_api_payers` is refused without a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else refusal(401)

    intercept(node, "get_api_payers", handler)


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


# ------------------------------------------------------------------------------------- what a usage key may do


@mutant("AUTH-080", "AUTH-100", "AUTH-110", "AUTH-120", "AUTH-160", "AUTH-210")
def usage_keys_have_every_right(node: Node) -> None:
    """A usage key is taken for the account key of its account."""
    _promote(node, WRITES, _live)


@mutant("AUTH-080", "AUTH-210")
def usage_keys_create_wallets(node: Node) -> None:
    """`create_wallet` asks for no permission."""
    _promote(node, "create_wallet", _live)


@mutant("AUTH-080")
def refused_removal_is_done(node: Node) -> None:
    """`remove_group` by a key without the permission is refused and done all the same."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 403:
            await forward(under(request, book.account_of(presented(request))))
        return given

    intercept(node, "remove_group", handler)


@mutant("AUTH-080")
def usage_keys_rewrite_groups(node: Node) -> None:
    """`update_group` asks for no permission."""
    _promote(node, "update_group", _live)


@mutant("AUTH-080")
def usage_keys_delete_action_metadata(node: Node) -> None:
    """`delete_action` asks for no permission."""
    _promote(node, "delete_action", _live)


@mutant("AUTH-100", "AUTH-160")
def usage_keys_add_usage_keys(node: Node) -> None:
    """A usage key adds usage keys."""
    _promote(node, "add_usage_api_key", _live)


@mutant("AUTH-110", "AUTH-210")
def usage_keys_remove_themselves(node: Node) -> None:
    """A usage key removes itself, though no other."""
    _promote(
        node,
        "remove_usage_api_key",
        lambda book, request: _live(book, request) and _named_key(request) == presented(request),
    )


@mutant("AUTH-110")
def usage_keys_remove_each_other(node: Node) -> None:
    """A usage key removes any other of its account, though not itself."""
    _promote(
        node,
        "remove_usage_api_key",
        lambda book, request: _live(book, request) and _named_key(request) != presented(request),
    )


@mutant("AUTH-120")
def usage_keys_widen_themselves(node: Node) -> None:
    """A usage key updates its own permissions."""
    _promote(
        node,
        "update_usage_api_key",
        lambda book, request: _live(book, request) and _named_key(request) == presented(request),
    )


@mutant("AUTH-120")
def widening_is_refused_and_done(node: Node) -> None:
    """A usage key's update of its own permissions is refused and done, which only the key's new rights show."""
    book = key_book(node)
    widened: set[str] = set()

    async def widen(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 403:
            widened.add(_named_key(request))
        return given

    async def remove_group(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        return await forward(under(request, book.account_of(key)) if key in widened else request)

    intercept(node, "update_usage_api_key", widen)
    intercept(node, "remove_group", remove_group)


@mutant("AUTH-160")
def wildcard_does_not_empty_groups(node: Node) -> None:
    """`remove_pkp_from_group` refuses usage keys whatever they hold."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        return refusal(403) if presented(request) in book.owners else await forward(request)

    intercept(node, "remove_pkp_from_group", handler)


@mutant("AUTH-160")
def usage_keys_remove_groups_without_effect(node: Node) -> None:
    """`remove_group` by a usage key says yes and does nothing."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        return answer(200, {"success": True}) if presented(request) in book.owners else await forward(request)

    intercept(node, "remove_group", handler)


# -------------------------------------------------------------------------------------------- the key elsewhere


def _first(candidates: Iterable[str], book: KeyBook) -> str:
    return next((text for text in candidates if text in book.accounts), "")


@mutant("AUTH-200")
def key_in_the_query_opens(node: Node) -> None:
    """A key in the query opens as one in a header does."""
    book = key_book(node)
    _ask_as(node, LISTS, lambda got: presented(got) or _first((text for _, text in parse_qsl(got.query)), book))


@mutant("AUTH-200")
def key_in_the_body_opens(node: Node) -> None:
    """A member `api_key` of the body opens as a header does."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        body = json.loads(request.body)
        key = _first([str(body.pop(name, "")) for name in ("api_key", "x-api-key")], book)
        changed = replace(request, body=json.dumps(body).encode())
        return await forward(under(changed, key) if key and not presented(request) else request)

    intercept(node, "add_group", handler)


@mutant("AUTH-200")
def key_in_a_cookie_opens(node: Node) -> None:
    """A key in a cookie opens, so that any page in a browser writes with it."""
    book = key_book(node)

    def in_cookies(request: Received) -> str:
        pairs = [part.partition("=")[2].strip() for part in header(request, b"cookie").split(";")]
        return _first([*pairs, *(morsel.value for morsel in SimpleCookie(header(request, b"cookie")).values())], book)

    _ask_as(node, LISTS, lambda request: presented(request) or in_cookies(request))


def _in_authorization(node: Node, read: Callable[[str], Iterable[str]]) -> None:
    book = key_book(node)
    _ask_as(node, LISTS, lambda got: presented(got) or _first(read(header(got, b"authorization")), book))


@mutant("AUTH-200")
def basic_opens(node: Node) -> None:
    """The user name or password of Basic opens."""

    def read(value: str) -> list[str]:
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() != "basic" or len(credentials) % 4:
            return []
        return base64.b64decode(credentials).decode("latin-1").split(":")

    _in_authorization(node, read)


@mutant("AUTH-200")
def any_scheme_opens(node: Node) -> None:
    """Whatever stands before the key in Authorization is ignored."""
    _in_authorization(node, lambda value: value.split(" ")[1:])


@mutant("AUTH-200")
def no_scheme_opens(node: Node) -> None:
    """A bare key in Authorization opens."""
    _in_authorization(node, lambda value: [value])


@mutant("AUTH-200")
def another_header_opens(node: Node) -> None:
    """A key in `Api-Key` opens."""
    book = key_book(node)
    _ask_as(node, LISTS, lambda got: presented(got) or _first([header(got, b"api-key")], book))


# ----------------------------------------------------------------------------------------------------- widening


@mutant("AUTH-210")
def metadata_update_takes_permissions(node: Node) -> None:
    """A usage key's metadata update is let through, and takes permission fields along."""
    book = key_book(node)
    wide: set[str] = set()

    async def update(request: Received, forward: Forward) -> Answered:
        body = json.loads(request.body)
        if presented(request) in book.owners and body.pop("can_create_pkps", False):
            wide.add(presented(request))
        labels = {name: body[name] for name in ("usage_api_key", "name", "description") if name in body}
        changed = replace(request, body=json.dumps(labels).encode())
        return await forward(under(changed, book.account_of(presented(request))))

    async def create(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        return await forward(under(request, book.account_of(key)) if key in wide else request)

    intercept(node, "update_usage_api_key_metadata", update)
    intercept(node, "create_wallet", create)


@mutant("AUTH-210")
def makers_of_groups_own_them(node: Node) -> None:
    """A usage key has every right in the groups that it made."""
    book = key_book(node)
    made: set[tuple[str, str]] = set()

    async def make(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            made.add((presented(request), str(json.loads(given.body)["group_id"])))
        return given

    async def fill(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        own = (key, str(json.loads(request.body).get("group_id"))) in made
        return await forward(under(request, book.account_of(key)) if own else request)

    intercept(node, "add_group", make)
    intercept(node, ("add_action_to_group", "add_pkp_to_group"), fill)


@mutant("AUTH-210")
def rights_outlive_their_group(node: Node) -> None:
    """A usage key that held a removed group holds the next group that is made."""
    book = key_book(node)
    heirs: set[tuple[str, str]] = set()
    waiting: set[str] = set()

    async def follow(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted and request.operation == "remove_group":
            waiting.add(presented(request))
        elif given.accepted:
            heirs.update((key, str(json.loads(given.body)["group_id"])) for key in waiting)
        return given

    async def fill(request: Received, forward: Forward) -> Answered:
        key = presented(request)
        heir = (key, str(json.loads(request.body).get("group_id"))) in heirs
        return await forward(under(request, book.account_of(key)) if heir else request)

    intercept(node, ("remove_group", "add_group"), follow)
    intercept(node, ("add_action_to_group", "add_pkp_to_group"), fill)
