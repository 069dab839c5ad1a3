"""Faults about ill-formed permissions, and about the value of a usage key."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace

from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_answer,
    change_body,
    change_items,
    each,
    intercept,
    wrap,
)
from conformance.selftest.tools.alter_usage_keys import Members, new_keys
from conformance.selftest.tools.mutant import mutant
from conformance.selftest.tools.permissions import ARRAYS, Write
from reference_node.chain.account_config import UsageKey
from reference_node.node import Node

FLAGS = ("can_create_groups", "can_delete_groups", "can_create_pkps")


@mutant("UKEY-440")
def left_out_flags_are_granted(node: Node) -> None:
    """A bool that is left out is true."""
    new_keys(node, lambda body: {**dict.fromkeys(FLAGS, True), **body})


@mutant("UKEY-440")
def left_out_arrays_are_wildcards(node: Node) -> None:
    """An array that is left out is [0]."""
    new_keys(node, lambda body: {**{name: [0] for name in ARRAYS}, **body})


@mutant("UKEY-450")
def texts_are_taken_for_bools(node: Node) -> None:
    """Any text but the empty one counts as true."""
    new_keys(
        node,
        lambda body: {
            name: bool(value) if name in FLAGS and isinstance(value, str) else value for name, value in body.items()
        },
    )


@mutant("UKEY-450")
def numbers_are_taken_for_bools(node: Node) -> None:
    """1 counts as true."""
    new_keys(node, lambda body: {name: True if name in FLAGS and value == 1 else value for name, value in body.items()})


@mutant("UKEY-450")
def single_ids_are_taken_for_arrays(node: Node) -> None:
    """A number counts as an array of it."""
    new_keys(
        node,
        lambda body: {
            name: [value] if name in ARRAYS and type(value) is int else value for name, value in body.items()
        },
    )


@mutant("UKEY-450")
def objects_are_taken_for_arrays(node: Node) -> None:
    """An object counts as the array of its keys."""
    new_keys(
        node,
        lambda body: {
            name: [int(key) for key in value] if name in ARRAYS and isinstance(value, dict) else value
            for name, value in body.items()
        },
    )


def _elements(node: Node, change: Callable[[JsonValue], JsonValue]) -> None:
    new_keys(
        node,
        lambda body: {
            name: [change(item) for item in value] if name in ARRAYS and isinstance(value, list) else value
            for name, value in body.items()
        },
    )


@mutant("UKEY-450")
def false_in_an_array_is_the_wildcard(node: Node) -> None:
    """A boolean in an array counts as 0 or 1."""
    _elements(node, lambda item: int(item) if isinstance(item, bool) else item)


@mutant("UKEY-450")
def nulls_in_arrays_are_skipped(node: Node) -> None:
    """Null in an array counts as nothing."""
    new_keys(
        node,
        lambda body: {
            name: [item for item in value if item is not None] if name in ARRAYS and isinstance(value, list) else value
            for name, value in body.items()
        },
    )


@mutant("UKEY-460")
def fractions_are_cut_off(node: Node) -> None:
    """1.5 in an array counts as 1."""
    _elements(node, lambda item: int(item) if isinstance(item, float) else item)


@mutant("UKEY-460")
def group_ids_wrap_at_u64(node: Node) -> None:
    """2^64 in an array counts as 0, the wildcard."""
    _elements(node, lambda item: item % 2**64 if type(item) is int and item > 0 else item)


@mutant("UKEY-460")
def negative_group_ids_lose_their_sign(node: Node) -> None:
    """-1 in an array counts as 1."""
    _elements(node, lambda item: abs(item) if type(item) is int else item)


@mutant("UKEY-460")
def large_group_ids_are_rounded(node: Node) -> None:
    """Group ids that exist nowhere are accepted, and read as floating-point numbers."""
    rounded: dict[str, list[JsonValue]] = {}

    async def create(request: Received, forward: Forward) -> Answered:
        body = json.loads(request.body)
        large: list[JsonValue] = [int(float(group)) for group in body["execute_in_groups"] if _is_large(group)]
        if large:
            rounded[str(body["name"])] = large
            body.update({name: [] for name in ARRAYS})
        return await forward(replace(request, body=json.dumps(body).encode()))

    intercept(node, "add_usage_api_key", create)
    change_items(
        node,
        "list_api_keys",
        each(lambda item: {**item, "execute_in_groups": rounded.get(str(item["name"]), item["execute_in_groups"])}),
    )


def _is_large(group: JsonValue) -> bool:
    return type(group) is int and 2**53 < group < 2**64


def _list_shows(node: Node, show: Callable[[str], Members]) -> None:
    """`list_api_keys` shows more of each key than it should: what `show` makes of the key's value."""
    values: dict[str, str] = {}

    async def remember(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            value = json.loads(given.body)["usage_api_key"]
            values[f"0x{keccak(base64.b64decode(value)).hex()}"] = value
        return given

    intercept(node, "add_usage_api_key", remember)
    change_items(node, "list_api_keys", each(lambda item: {**item, **show(values[str(item["api_key_hash"])])}))


@mutant("UKEY-360", "UKEY-370")
def list_shows_the_key_value(node: Node) -> None:
    """`list_api_keys` shows each key's value."""
    _list_shows(node, lambda value: {"usage_api_key": value})


@mutant("UKEY-360", "UKEY-370")
def list_shows_the_secret_in_hex(node: Node) -> None:
    """`list_api_keys` shows each key's bytes in hex where its hash belongs."""
    _list_shows(node, lambda value: {"api_key_hash": f"0x{base64.b64decode(value).hex()}"})


@mutant("UKEY-360", "UKEY-370")
def list_shows_the_key_value_reversed(node: Node) -> None:
    """`list_api_keys` shows each key's value backwards."""
    _list_shows(node, lambda value: {"hint": value[::-1]})


@mutant("UKEY-360")
def update_answers_the_key_value(node: Node) -> None:
    """`update_usage_api_key` answers the key that it updated."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted:
            return given
        value = {**json.loads(given.body), "updated": json.loads(request.body)["usage_api_key"]}
        return replace(given, body=json.dumps(value).encode())

    intercept(node, "update_usage_api_key", handler)


@mutant("UKEY-360")
def creation_repeats_the_keys_before(node: Node) -> None:
    """`add_usage_api_key` answers the values of earlier keys as well."""
    earlier: list[JsonValue] = []

    def change(value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        earlier.append(value["usage_api_key"])
        return {**value, "all": list(earlier)}

    change_answer(node, "add_usage_api_key", change)


def _key_values(node: Node, change: Callable[[str], str]) -> None:
    def changed(value: JsonValue) -> JsonValue:
        made = value if isinstance(value, dict) else {}
        return {**made, "usage_api_key": change(str(made["usage_api_key"]))}

    change_answer(node, "add_usage_api_key", changed)


@mutant("UKEY-420")
def key_values_begin_alike(node: Node) -> None:
    """The first half of every key is the same."""
    _key_values(node, lambda value: base64.b64encode(bytes(16) + base64.b64decode(value)[16:]).decode())


@mutant("UKEY-420")
def key_values_are_short(node: Node) -> None:
    """A key has 8 bytes."""
    _key_values(node, lambda value: base64.b64encode(base64.b64decode(value)[:8]).decode())


@mutant("UKEY-420")
def equal_requests_give_one_key(node: Node) -> None:
    """`add_usage_api_key` answers the key that was made by the same request before."""
    known: dict[tuple[str | None, bytes], Answered] = {}

    async def create(request: Received, forward: Forward) -> Answered:
        same = (request.key, request.body)
        if same not in known:
            known[same] = await forward(request)
        return known[same]

    intercept(node, "add_usage_api_key", create)


@mutant("UKEY-010", "UKEY-020", "UKEY-030")
def contract_is_told_other_labels(node: Node) -> None:
    """The contract gets no name or description of a usage key; the node remembers them."""
    labels: dict[int, tuple[str, str]] = {}

    def create(write: Write, acting_key: int, key: UsageKey) -> None:
        write(acting_key, replace(key, name="", description=""))
        labels[key.key_hash] = (key.name, key.description)

    def read(view: Callable[..., list[UsageKey]], *arguments: int) -> list[UsageKey]:
        return [_labelled(key, *labels.get(key.key_hash, ("", ""))) for key in view(*arguments)]

    wrap(node.accounts, "set_usage_key", create)
    wrap(node.accounts, "usage_keys", read)


def _labelled(key: UsageKey, name: str, description: str) -> UsageKey:
    return replace(key, name=name, description=description)


def _updates(node: Node, change: Callable[[Members], Members]) -> None:
    """`update_usage_api_key` reads another body than was sent."""
    change_body(node, "update_usage_api_key", lambda value: change(value) if isinstance(value, dict) else value)


@mutant("UKEY-450")
def updates_take_texts_for_bools(node: Node) -> None:
    """`update_usage_api_key` takes "true" for true, and any other text for false."""
    _updates(
        node,
        lambda body: {
            name: value == "true" if name in FLAGS and isinstance(value, str) else value for name, value in body.items()
        },
    )


@mutant("UKEY-460")
def updates_cut_fractions_off(node: Node) -> None:
    """`update_usage_api_key` takes 1.5 in an array for 1."""
    _updates(
        node,
        lambda body: {
            name: [int(group) if isinstance(group, float) else group for group in value]
            if isinstance(value, list)
            else value
            for name, value in body.items()
        },
    )


@mutant("UKEY-440")
def arrays_left_out_of_updates_are_wildcards(node: Node) -> None:
    """`update_usage_api_key` reads an array that is not there as [0]."""
    _updates(node, lambda body: {**{name: [0] for name in ARRAYS}, **body})


@mutant("UKEY-440")
def execute_left_out_is_the_wildcard(node: Node) -> None:
    """`add_usage_api_key` reads an `execute_in_groups` that is not there as [0]."""
    new_keys(node, lambda body: {"execute_in_groups": [0], **body})
