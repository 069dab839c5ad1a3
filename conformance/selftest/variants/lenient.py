"""A correct node that accepts and shows more than the reference node does."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write, account_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Handler,
    Received,
    answer,
    change_answer,
    change_body,
    change_items,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_payments import CONFIG
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.api_keys import KeyBook, in_given_out_form, key_book
from conformance.selftest.variants.variant import (
    EVERYTHING,
    LISTS,
    ON_GROUPS,
    PAID_FOR,
    WRITES,
    Members,
    choices,
    each,
    members_of,
    presented,
)
from reference_node.chain.account_config import Action
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.fields import hash_text
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key

WILDCARD = bytes(32)
BEARER = b"Bearer "
AT_MOST = 100


@choices(
    {
        "capabilities": ["managed_accounts", "wallet_signed", "chain_rpc", "clock_control", "funded_wallet", "billing"],
        "wire": {
            "account_exists": {"request_response": {"unknown_key": "unauthenticated"}},
            "usage_api_key": {"reference_forms": ["value", "hash"]},
        },
        "semantics": {
            "account_wallet_listed": True,
            "add_action_duplicate": "overwrites",
            "list_actions_unregistered": {"account_list": "present", "labels_in_group_list": "absent"},
            "group_membership_idempotence": {"add_present": "accepted", "remove_absent": "accepted"},
            "list_unknown_group": "empty",
            "update_usage_key_labels": "kept",
        },
    }
)
def lenient(node: Node) -> None:
    """Accept and show more than the reference node does.

    Every answer has further members, of which one is never twice the same. The account's own wallet is one of its
    PKPs. A second `add_action` overwrites. Adding what a group lists, and removing what it does not list, succeeds.
    The lists of an unknown group are empty. An update of a usage key keeps its labels. `account_exists` refuses
    unknown keys. `list_actions` also shows actions that are only in groups, without labels where a group is asked
    for. A key counts in any base64 text of its bytes. Its owner may name a usage key by its hash, too. A text counts
    for the flag or the amount that it says.
    """
    change_body(node, SAYING_FLAGS, members_of(_as_said))
    change_body(node, NAMING_A_KEY, _by_its_hash(key_book(node)))
    intercept(node, (*EVERYTHING, RUN), _in_any_spelling)
    wrap(node.accounts, "new_account", _registers_own_wallet(node))
    wrap(node.accounts, "update_usage_key", _keeps_labels(node))
    wrap(node.accounts, "add_action", _overwrites(node))
    for method in ON_GROUPS:
        wrap(node.accounts, method, _forgiving)
    lock = threading.RLock()
    for method in TAKING_TURNS:
        wrap(node.accounts, method, _with(lock))
    for view in ("wallets_in_group", "actions_in_group"):
        wrap(node.accounts, view, _empty_if_unknown)
    intercept(node, "list_actions", _labels_of_registered(node, node.accounts.actions))
    wrap(node.accounts, "actions", _with_those_of_groups(node))
    turns = itertools.count()
    more = members_of(lambda value: {**value, "request": f"c0ffee{next(turns)}", "took_ms": 3})
    change_answer(node, (*WRITES, *PAID_FOR, CONFIG), more)
    change_items(node, LISTS, each(lambda item: {**item, "created": 1_700_000_000}))
    intercept(node, "account_exists", _for_known_keys)


SAYING_FLAGS = ("add_usage_api_key", "update_usage_api_key", "billing/create_payment_intent")
SAID: Members = {"true": True, "false": False}


def _as_said(body: Members) -> JsonValue:
    flags = {name: SAID.get(str(value), value) for name, value in body.items() if name.startswith("can_")}
    cents = body.get("amount_cents")
    amount: Members = {"amount_cents": int(cents)} if isinstance(cents, str) and cents.isdecimal() else {}
    return {**body, **flags, **amount}


NAMING_A_KEY = ("update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key")


def _by_its_hash(book: KeyBook) -> Callable[[JsonValue], JsonValue]:
    """Read the hash of a usage key as its value."""

    def change(body: JsonValue) -> JsonValue:
        named = str(body.get("usage_api_key")).lower().removeprefix("0x") if isinstance(body, dict) else ""
        keys = [key for key in book.owners if (raw := parse_key(key)) and f"{key_hash(raw):064x}" == named]
        return {**members(body), "usage_api_key": keys[0]} if keys else body

    return change


TAKING_TURNS = (
    "update_usage_key",
    "update_usage_key_metadata",
    "remove_usage_key",
    "add_action",
    "update_action_metadata",
    "delete_action",
)
"""Methods of which some are made of several calls of the contract, between which no other one may come."""


def _with(lock: threading.RLock) -> Callable[..., object]:
    def held(method: Callable[..., object], *given: object) -> object:
        with lock:
            return method(*given)

    return held


def _registers_own_wallet(node: Node) -> Callable[..., None]:
    def create(write: Write, account: int, wallet: bytes, *labels: str) -> None:
        write(account, wallet, *labels)
        node.accounts.create_wallet(account, wallet, 1, "own", "")

    return create


def _overwrites(node: Node) -> Callable[..., None]:
    def add(write: Write, acting_key: int, cid_hash: bytes, name: str, description: str) -> None:
        try:
            write(acting_key, cid_hash, name, description)
        except ContractRefusal as refused:
            if refused.error != "ActionExists":
                raise
            node.accounts.update_action_metadata(acting_key, cid_hash, name, description)

    return add


def _forgiving(write: Write, *arguments: object) -> None:
    try:
        write(*arguments)
    except ContractRefusal as refused:
        if refused.error not in {"AlreadyInGroup", "NotInGroup"}:
            raise


def _empty_if_unknown(view: Callable[..., list[object]], *arguments: int) -> list[object]:
    try:
        return view(*arguments)
    except ContractRefusal as refused:
        if refused.error != "GroupUnknown":
            raise
        return []


async def _in_any_spelling(request: Received, forward: Forward) -> Answered:
    return await forward(replace(request, headers=tuple(map(_with_known_key, request.headers))))


def _with_known_key(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = header
    scheme = BEARER if name == b"authorization" and value.startswith(BEARER) else b""
    if not scheme and name != b"x-api-key":
        return header
    text = value.removeprefix(scheme).decode("latin-1")
    return name, scheme + (in_given_out_form(text) or text).encode("latin-1")


async def _for_known_keys(request: Received, forward: Forward) -> Answered:
    given = await forward(request)
    return refusal(401) if given.accepted and not json.loads(given.body) else given


def _with_those_of_groups(node: Node) -> Callable[..., list[Action]]:
    def actions(view: Callable[..., list[Action]], account: int, page: int, size: int) -> list[Action]:
        listed = {action.cid_hash: action for number in range(10) for action in view(account, number, AT_MOST)}
        for group in node.accounts.groups(account, 0, AT_MOST):
            for action in node.accounts.actions_in_group(account, group.id, 0, AT_MOST):
                if action.cid_hash != WILDCARD:
                    listed.setdefault(action.cid_hash, action)
        return list(listed.values())[page * size : (page + 1) * size]

    return actions


def _labels_of_registered(node: Node, registered: Callable[[int, int, int], list[Action]]) -> Handler:
    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        secret = presented(request)
        if not given.accepted or "group_id" not in request.query or secret is None:
            return given
        account = account_of(node, key_hash(secret))
        named = {hash_text(action.cid_hash) for action in registered(account, 0, AT_MOST)}
        items = [item if item["hashed_cid"] in named else _without_labels(item) for item in json.loads(given.body)]
        return answer(given.status, items)

    return handler


def _without_labels(item: Members) -> Members:
    return {name: value for name, value in item.items() if name not in {"name", "description"}}


def _keeps_labels(node: Node) -> Callable[..., None]:
    def update(write: Write, acting_key: int, key: int, _name: str, _description: str, sent: object) -> None:
        before = node.accounts.usage_key(node.accounts.key_info(acting_key).account_hash, key)
        write(acting_key, key, before.name, before.description, sent)

    return update
