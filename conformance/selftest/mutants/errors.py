"""Faults about refusals: what looks like none, what changes something all the same, and what gives a key away."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_accepted,
    change_refused,
    intercept,
    text_member,
)
from conformance.selftest.tools.alter_payments import take, wallet_of
from conformance.selftest.tools.api_keys import key_book, presented, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import SERVED, WRITES
from reference_node.node import Node


def _told(given: Answered, **more: JsonValue) -> Answered:
    """Add members to a refusal."""
    return given.having({**given.told, **more})


# ------------------------------------------------------------------------------------- what does not look like one


@mutant("ERR-140", also="VER-050")
def refusals_redirect(node: Node) -> None:
    """Answer refusals of `remove_group` with status 303."""
    change_refused(node, "remove_group", lambda _, given: replace(given, status=303))


@mutant("ERR-140", server_fault=True, also="EP-310 GRPLIFE-150 GRPLIFE-200 KEYLIFE-120 VER-050")
def unknown_groups_are_server_faults(node: Node) -> None:
    """Answer status 500 instead of 404."""
    change_refused(node, WRITES, lambda _, given: replace(given, status=500) if given.status == 404 else given)


@mutant("ERR-140")
def refusals_say_success(node: Node) -> None:
    """Write `success: true` into refusals."""
    change_refused(node, WRITES, lambda _, given: _told(given, success=True))


@mutant("ERR-140", also="EP-030 EP-320")
def refused_code_has_a_cid(node: Node) -> None:
    """Answer the CID of nothing from `get_service_action_ipfs_id` when the body is no string."""
    cid = answer(200, "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH")
    change_refused(node, "get_service_action_ipfs_id", lambda _, given: cid if given.status in {400, 422} else given)


@mutant("ERR-140", "ERR-150", also="ACC-120 KEYLIFE-180 KEYLIFE-190")
def keys_of_other_accounts_can_be_removed(node: Node) -> None:
    """Remove any account's usage key in `remove_usage_api_key`."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        owner = book.owners.get(str(body_of(request).get("usage_api_key")))
        return await forward(under(request, owner) if owner and presented(request) in book.accounts else request)

    intercept(node, "remove_usage_api_key", handler)


# ----------------------------------------------------------------------------------------- what changes something


@mutant("ERR-150", each=["update_group", row("delete_action", also="ACT-210")], also="ACC-120 LIST-170")
def refused_write_is_done_in_the_other_account(node: Node, operation: str) -> None:
    """Refuse `{operation}` of what another one of the ten newest accounts has, and do it there."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 404:
            for account in book.accounts[-10:]:
                await forward(under(request, account))
        return given

    intercept(node, operation, handler)


@mutant("ERR-150", also="AUTH-080 BILL-210 SCOPE-090 UKEY-090")
def refused_wallet_is_on_the_chain(node: Node) -> None:
    """Refuse `create_wallet` without the permission, and register a wallet that lists over HTTP hide."""
    book = key_book(node)
    hidden: set[str] = set()

    async def create(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 403:
            made = await forward(under(request, book.account_of(presented(request))))
            hidden.add(json.loads(made.body)["wallet_address"])
        return given

    def show(_request: Received, given: Answered) -> Answered:
        kept = [item for item in json.loads(given.body) if item["wallet_address"] not in hidden]
        return given.having(kept)

    intercept(node, "create_wallet", create)
    change_accepted(node, "list_wallets", show)


@mutant("ERR-150", also="BILL-210 EP-030 GRP-240 LIST-170")
def half_of_a_refused_group_is_made(node: Node) -> None:
    """Refuse `add_group` with a malformed entry, and create the group without its lists."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        body = body_of(request)
        if given.status == 422 and body:
            empty = {**body, "pkp_ids_permitted": [], "cid_hashes_permitted": []}
            await forward(request.having(empty))
        return given

    intercept(node, "add_group", handler)


# --------------------------------------------------------------------------------------------- what gives a key away


@mutant("ERR-160", also="UKEY-360")
def refusals_repeat_the_malformed_body(node: Node) -> None:
    """Repeat the body in refusals with status 422."""
    change_refused(
        node, WRITES, lambda got, given: _told(given, near=got.body.decode()) if given.status == 422 else given
    )


@mutant("ERR-160", also="UKEY-360")
def refusals_repeat_incomplete_bodies(node: Node) -> None:
    """Repeat in a refusal the body of an update of a usage key that lacks a member."""

    def told(got: Received, given: Answered) -> Answered:
        lacks = given.status == 422 and not {"name", "description"} <= body_of(got).keys()
        return _told(given, near=got.body.decode()) if lacks else given

    change_refused(node, ("update_usage_api_key", "update_usage_api_key_metadata"), told)


@mutant("ERR-160")
def refusals_name_the_unknown_key(node: Node) -> None:
    """Repeat an unknown key in its refusal."""
    change_refused(node, SERVED, lambda got, given: _told(given, key=presented(got)) if given.status == 401 else given)


@mutant("ERR-160", also="UKEY-360")
def refusals_name_the_powerless_key(node: Node) -> None:
    """Repeat a key that lacks the permission in a header of the refusal."""

    def named(got: Received, given: Answered) -> Answered:
        header = (b"x-refused-key", presented(got).encode())
        return replace(given, headers=(*given.headers, header)) if given.status == 403 else given

    change_refused(node, SERVED, named)


@mutant("ERR-160")
def refusals_spell_the_key_in_hex(node: Node) -> None:
    """Repeat an unknown usage key in hex in the refusal."""

    def named(got: Received, given: Answered) -> Answered:
        key = body_of(got).get("usage_api_key")
        if given.status != 404 or not isinstance(key, str):
            return given
        return _told(given, unknown=base64.b64decode(key).hex())

    change_refused(node, ("remove_usage_api_key", "update_usage_api_key_metadata"), named)


@mutant("ERR-150", also="BILL-210")
def owner_of_the_named_key_pays_for_a_refusal(node: Node) -> None:
    """Charge the account whose usage key a body names for a write that is refused to another one."""
    book = key_book(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given, owner = await forward(request), book.owners.get(text_member(request, "usage_api_key"))
        wallet = wallet_of(node, under(request, owner)) if owner else None
        if not given.accepted and wallet is not None and owner != book.account_of(presented(request)):
            take(node, wallet, 1)
        return given

    intercept(node, ("update_usage_api_key", "update_usage_api_key_metadata"), handler)
