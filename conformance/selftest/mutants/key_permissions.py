"""Faults about what a usage key may do beyond its permissions."""

from __future__ import annotations

import json

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, refusal
from conformance.selftest.tools.api_keys import key_book, live, presented, promote, under
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.operations import WRITES
from reference_node.node import Node


def _named_key(request: Received) -> str:
    """The key that a request is about."""
    return str(json.loads(request.body).get("usage_api_key"))


@mutant("AUTH-080", "AUTH-100", "AUTH-110", "AUTH-120", "AUTH-160", "AUTH-210")
def usage_keys_have_every_right(node: Node) -> None:
    """A usage key is taken for the account key of its account."""
    promote(node, WRITES, live)


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
    promote(node, "update_group", live)


@mutant("AUTH-080")
def usage_keys_delete_action_metadata(node: Node) -> None:
    """`delete_action` asks for no permission."""
    promote(node, "delete_action", live)


@mutant("AUTH-100", "AUTH-160")
def usage_keys_add_usage_keys(node: Node) -> None:
    """A usage key adds usage keys."""
    promote(node, "add_usage_api_key", live)


@mutant("AUTH-110", "AUTH-210")
def usage_keys_remove_themselves(node: Node) -> None:
    """A usage key removes itself, though no other."""
    promote(
        node,
        "remove_usage_api_key",
        lambda book, request: live(book, request) and _named_key(request) == presented(request),
    )


@mutant("AUTH-110")
def usage_keys_remove_each_other(node: Node) -> None:
    """A usage key removes any other of its account, though not itself."""
    promote(
        node,
        "remove_usage_api_key",
        lambda book, request: live(book, request) and _named_key(request) != presented(request),
    )


@mutant("AUTH-120")
def usage_keys_widen_themselves(node: Node) -> None:
    """A usage key updates its own permissions."""
    promote(
        node,
        "update_usage_api_key",
        lambda book, request: live(book, request) and _named_key(request) == presented(request),
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
