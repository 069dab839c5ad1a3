"""Faults about ill-formed permissions, and about the value of a usage key."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.selftest.tools.accounts import Write, account_of, permissions_of
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_accepted,
    change_body,
    change_items,
    change_refused,
    each,
    intercept,
    note_accepted,
    wrap,
)
from conformance.selftest.tools.api_keys import Members, change_new_keys, change_secrets, header, presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key

Change = Callable[[JsonValue], JsonValue]


def _flags(change: Change) -> Callable[[Members], Members]:
    """Change the bools of a body."""
    return lambda body: {name: change(value) if name in PERMISSION_FLAGS else value for name, value in body.items()}


TEXTS_AS_FLAGS = _flags(lambda v: bool(v) if isinstance(v, str) else v)
"""Every text but the empty one says true."""


def _arrays(change: Change) -> Callable[[Members], Members]:
    """Change the arrays of a body, whatever stands in their place."""
    return lambda body: {name: change(value) if name in PERMISSION_ARRAYS else value for name, value in body.items()}


def _ids(change: Change) -> Callable[[Members], Members]:
    """Change every id in the arrays of a body."""
    return _arrays(lambda value: [change(item) for item in value] if isinstance(value, list) else value)


@mutant(
    each=[
        row(
            "no-flag-as-true",
            lambda body: {**dict.fromkeys(PERMISSION_FLAGS, True), **body},
            breaks="UKEY-440",
            also="UKEY-430",
        ),
        row("no-execute-as-0", lambda body: {"execute_in_groups": [0], **body}, breaks="UKEY-440", also="UKEY-430"),
        row(
            "null-array-as-0",
            _arrays(lambda value: [0] if value is None else value),
            breaks="UKEY-440",
            also="EP-030 UKEY-450",
        ),
        row("text-as-flag", TEXTS_AS_FLAGS, breaks="UKEY-450", also="EP-030"),
        row("-1-as-1", _ids(lambda item: abs(item) if type(item) is int else item), breaks="UKEY-460", also="EP-030"),
    ]
)
def odd_values_of_a_new_key_are_read(node: Node, change: Callable[[Members], Members]) -> None:
    """Read what `add_usage_api_key` has to refuse or has a default for as another value; the label says which."""
    change_new_keys(node, change)


@mutant("UKEY-460", also="LIST-170 UKEY-010")
def large_group_ids_are_rounded(node: Node) -> None:
    """Read large group ids as floating-point numbers."""
    rounded: dict[str, list[JsonValue]] = {}

    async def create(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        groups = body.get("execute_in_groups")
        large = [int(str(group)) for group in groups if _is_large(group)] if isinstance(groups, list) else []
        if not large:
            return await forward(request)
        rounded[str(body.get("name"))] = [int(float(group)) for group in large]
        body.update({name: [] for name in PERMISSION_ARRAYS})
        return await forward(request.having(body))

    intercept(node, "add_usage_api_key", create)
    change_items(
        node,
        "list_api_keys",
        each(lambda item: {**item, "execute_in_groups": rounded.get(str(item["name"]), item["execute_in_groups"])}),
    )


def _is_large(group: JsonValue) -> bool:
    return type(group) is int and 2**53 < group < 2**64


@mutant("UKEY-360", "UKEY-370", also="EP-150 VER-050")
def list_shows_the_key_reversed(node: Node) -> None:
    """Show in `list_api_keys` the value of each key, reversed, as a hint."""
    values: dict[str, str] = {}

    def remember(_request: Received, given: Answered) -> None:
        value = json.loads(given.body)["usage_api_key"]
        values[f"0x{keccak(base64.b64decode(value)).hex()}"] = value

    def shown(item: Members) -> Members:
        value = values.get(str(item["api_key_hash"]))
        return item if value is None else {**item, "hint": value[::-1]}

    note_accepted(node, "add_usage_api_key", remember)
    change_items(node, "list_api_keys", each(shown))


@mutant("UKEY-360", "UKEY-370", also="AUTH-030 EP-150 VER-050")
def bearers_see_the_newest_key(node: Node) -> None:
    """Show in `list_api_keys` to a Bearer the value of the usage key that the account made last."""
    newest: dict[str, JsonValue] = {}

    def remember(request: Received, given: Answered) -> None:
        newest[presented(request)] = given.told["usage_api_key"]

    def shown(request: Received, given: Answered) -> Answered:
        items, value = json.loads(given.body), newest.get(presented(request))
        if not (items and value and header(request, b"authorization")):
            return given
        return answer(given.status, [*items[:-1], {**items[-1], "usage_api_key": value}])

    note_accepted(node, "add_usage_api_key", remember)
    change_accepted(node, "list_api_keys", shown)


@mutant(
    "UKEY-420",
    each=[
        row("half-zero", lambda secret: bytes(16) + secret[16:]),
        row("8-bytes", lambda secret: secret[:8], also="KEYLIFE-010 UKEY-410 VER-050"),
    ],
)
def usage_key_secret_is_weak(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Make a secret of less than 32 random bytes for `add_usage_api_key`; the label says of which form."""
    change_secrets(node, "add_usage_api_key", change)


@mutant("UKEY-420", also="KEYLIFE-010 LIST-170 UKEY-360")
def equal_requests_give_one_key(node: Node) -> None:
    """Answer `add_usage_api_key` with the key that the same request made before, until it is removed."""
    known: dict[tuple[str, bytes], Answered] = {}

    async def create(request: Received, forward: Forward) -> Answered:
        same = (presented(request), request.body)
        if same in known:
            return known[same]
        given = await forward(request)
        if given.accepted:
            known[same] = given
        return given

    async def remove(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        removed = str(body_of(request).get("usage_api_key")).encode()
        for same in [one for one, made in known.items() if given.accepted and removed in made.body]:
            del known[same]
        return given

    intercept(node, "add_usage_api_key", create)
    intercept(node, "remove_usage_api_key", remove)


@mutant("UKEY-020", "UKEY-030", also="CHAIN-050 MODE-250")
def contract_is_told_other_labels(node: Node) -> None:
    """Keep the labels of new usage keys in memory, and not in the contract."""
    labels: dict[int, tuple[str, str]] = {}

    def create(write: Write, acting_key: int, key: UsageKey) -> None:
        labels[key.key_hash] = key.name, key.description
        write(acting_key, replace(key, name="", description=""))

    def update(write: Write, acting_key: int, key: int, *given: object) -> None:
        write(acting_key, key, *given)
        labels.pop(key, None)

    def read(view: Callable[..., list[UsageKey]], *arguments: int) -> list[UsageKey]:
        return [_labelled(key, *labels.get(key.key_hash, (key.name, key.description))) for key in view(*arguments)]

    wrap(node.accounts, "set_usage_key", create)
    wrap(node.accounts, "update_usage_key", update)
    wrap(node.accounts, "update_usage_key_metadata", update)
    wrap(node.accounts, "usage_keys", read)


def _labelled(key: UsageKey, name: str, description: str) -> UsageKey:
    return replace(key, name=name, description=description)


@mutant(
    each=[
        row("text-as-flag", TEXTS_AS_FLAGS, breaks="UKEY-450", also="EP-030"),
        row(
            "1.5-as-1",
            _ids(lambda item: int(item) if isinstance(item, float) else item),
            breaks="UKEY-460",
            also="EP-030",
        ),
        row(
            "no-array-as-0",
            lambda body: {**{name: [0] for name in PERMISSION_ARRAYS}, **body},
            breaks="UKEY-440",
            also="KEYLIFE-140",
        ),
        row(
            "no-execute-as-manage",
            lambda body: {"execute_in_groups": body["manage_ipfs_ids_in_groups"], **body},
            breaks="UKEY-440",
            also="AUTH-080 SCOPE-090 SCOPE-110",
        ),
    ]
)
def odd_values_of_an_update_are_read(node: Node, change: Callable[[Members], Members]) -> None:
    """Read what `update_usage_api_key` has to refuse or has a default for as another value; the label says which."""
    change_body(node, "update_usage_api_key", lambda value: change(value) if isinstance(value, dict) else value)


@mutant("ERR-150", also="EP-030 KEYLIFE-020 UKEY-450 UKEY-460")
def refused_update_has_written_the_arrays_before(node: Node) -> None:
    """Write the arrays of `update_usage_api_key` one after the other, and refuse it at the first that is malformed."""

    def well_formed(array: JsonValue) -> bool:
        return isinstance(array, list) and all(type(one) is int and 0 <= one < 2**64 for one in array)

    def written(request: Received, given: Answered) -> Answered:
        body = body_of(request)
        secret = parse_key(str(body.get("usage_api_key")))
        held = permissions_of(node, key_hash(secret)) if secret else None
        arrays = {name: body.get(name) for name in takewhile(lambda one: well_formed(body.get(one)), PERMISSION_ARRAYS)}
        if secret and held and len(arrays) < len(PERMISSION_ARRAYS):
            key, account = key_hash(secret), account_of(node, key_hash(secret))
            named = node.accounts.usage_key(account, key)
            changed = replace(held, **arrays)  # type: ignore[arg-type]  # they are arrays of numbers
            with suppress(ContractRefusal):
                node.accounts.update_usage_key(account, key, named.name, named.description, changed)
        return given

    change_refused(node, "update_usage_api_key", written)
