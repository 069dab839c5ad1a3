"""Faults about usage keys: what they hold, what opens to them, and who learns their value."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.alter import (
    Answered,
    Forward,
    Received,
    change_answer,
    change_body,
    change_items,
    intercept,
    wrap,
)
from conformance.selftest.mutant import mutant
from conformance.selftest.permissions import (
    Write,
    accounts_made,
    acts_as_owner,
    change_arrays,
    change_permissions,
    permissions_of,
    refused_to_usage_keys,
)
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

ARRAYS = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")
FLAGS = ("can_create_groups", "can_delete_groups", "can_create_pkps")
Members = dict[str, JsonValue]


def _new_keys(node: Node, change: Callable[[Members], Members]) -> None:
    """`add_usage_api_key` reads another body than was sent."""
    change_body(node, "add_usage_api_key", lambda value: change(value) if isinstance(value, dict) else value)


def _items(change: Callable[[Members], Members]) -> Callable[[list[JsonValue]], JsonValue]:
    return lambda items: [change(item) if isinstance(item, dict) else item for item in items]


# What a key holds


@mutant("UKEY-010")
def execute_permission_is_not_stored(node: Node) -> None:
    """`execute_in_groups` is accepted and dropped."""
    _new_keys(node, lambda body: {**body, "execute_in_groups": []})


@mutant("UKEY-010")
def pkp_arrays_are_listed_for_each_other(node: Node) -> None:
    """`list_api_keys` shows the groups to add PKPs to where those to remove them from belong, and the reverse."""
    change_items(
        node,
        "list_api_keys",
        _items(
            lambda item: {
                **item,
                "add_pkp_to_groups": item["remove_pkp_from_groups"],
                "remove_pkp_from_groups": item["add_pkp_to_groups"],
            }
        ),
    )


@mutant("UKEY-010")
def newest_usage_key_is_not_listed(node: Node) -> None:
    """`list_api_keys` leaves out the last key."""
    change_items(node, "list_api_keys", lambda items: list(items[:-1]))


@mutant("UKEY-020")
def usage_key_names_lose_foreign_letters(node: Node) -> None:
    """Names are stored in ASCII."""
    _new_keys(node, lambda body: {**body, "name": str(body["name"]).encode("ascii", "replace").decode()})


@mutant("UKEY-030")
def usage_key_descriptions_are_escaped(node: Node) -> None:
    """Descriptions are stored with < and & escaped for HTML."""
    _new_keys(
        node, lambda body: {**body, "description": str(body["description"]).replace("&", "&amp;").replace("<", "&lt;")}
    )


@mutant("UKEY-020", "UKEY-030")
def usage_key_labels_are_swapped(node: Node) -> None:
    """A key gets its description for a name and its name for a description."""
    _new_keys(node, lambda body: {**body, "name": body["description"], "description": body["name"]})


# Permissions that open too little


@mutant("UKEY-040")
def usage_keys_never_create_groups(node: Node) -> None:
    """`add_group` is refused to every usage key."""
    refused_to_usage_keys(node, "add_group")


@mutant("UKEY-060")
def usage_keys_never_delete_groups(node: Node) -> None:
    """`remove_group` is refused to every usage key."""
    refused_to_usage_keys(node, "remove_group")


@mutant("UKEY-080")
def usage_keys_never_create_wallets(node: Node) -> None:
    """`create_wallet` is refused to every usage key."""
    refused_to_usage_keys(node, "create_wallet")


@mutant("UKEY-060")
def usage_keys_delete_groups_for_show(node: Node) -> None:
    """`remove_group` of a usage key answers success and removes nothing."""
    _for_show(node, "remove_group")


@mutant("UKEY-040")
def usage_keys_create_groups_for_show(node: Node) -> None:
    """`add_group` of a usage key answers an id and creates nothing."""
    _for_show(node, "add_group")


def _for_show(node: Node, method: str) -> None:
    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        return 1 if permissions_of(node, acting_key) else write(acting_key, *arguments)

    wrap(node.accounts, method, write_for)


@mutant("UKEY-100", "UKEY-120", "UKEY-310", "UKEY-320")
def manage_permission_does_not_add(node: Node) -> None:
    """`add_action_to_group` is refused to every usage key."""
    refused_to_usage_keys(node, "add_action_to_group")


@mutant("UKEY-140", "UKEY-160", "UKEY-310", "UKEY-320")
def manage_permission_does_not_remove(node: Node) -> None:
    """`remove_action_from_group` is refused to every usage key."""
    refused_to_usage_keys(node, "remove_action_from_group")


@mutant("UKEY-180", "UKEY-200")
def usage_keys_add_pkps_for_show(node: Node) -> None:
    """`add_pkp_to_group` of a usage key answers success and adds nothing."""
    _for_show(node, "add_pkp_to_group")


@mutant("UKEY-220", "UKEY-240")
def usage_keys_remove_pkps_for_show(node: Node) -> None:
    """`remove_pkp_from_group` of a usage key answers success and removes nothing."""
    _for_show(node, "remove_pkp_from_group")


@mutant("UKEY-100", "UKEY-120")
def usage_keys_add_actions_for_show(node: Node) -> None:
    """`add_action_to_group` of a usage key answers success and adds nothing."""
    _for_show(node, "add_action_to_group")


@mutant("UKEY-140", "UKEY-160")
def usage_keys_remove_actions_for_show(node: Node) -> None:
    """`remove_action_from_group` of a usage key answers success and removes nothing."""
    _for_show(node, "remove_action_from_group")


@mutant("UKEY-120", "UKEY-160", "UKEY-200", "UKEY-240", "UKEY-310", "UKEY-320")
def zero_is_no_wildcard(node: Node) -> None:
    """0 in an array names no group."""
    change_arrays(node, lambda ids: [group for group in ids if group])


@mutant("UKEY-310")
def zero_is_the_wildcard_only_when_alone(node: Node) -> None:
    """0 beside other ids is dropped."""
    change_arrays(node, lambda ids: [group for group in ids if group] or list(ids))


@mutant("UKEY-310")
def wildcard_counts_only_in_front(node: Node) -> None:
    """0 is the wildcard when it is an array's first element."""
    change_arrays(node, lambda ids: [group for place, group in enumerate(ids) if group or not place])


@mutant("UKEY-320")
def wildcard_means_the_groups_of_today(node: Node) -> None:
    """0 is replaced by the groups that exist when the key is created."""

    def change(account: int, given: Permissions) -> Permissions:
        existing = [group.id for group in node.accounts.groups(account, 0, 100)]
        return replace(
            given,
            manage_ipfs_ids_in_groups=_today(given.manage_ipfs_ids_in_groups, existing),
            add_pkp_to_groups=_today(given.add_pkp_to_groups, existing),
            remove_pkp_from_groups=_today(given.remove_pkp_from_groups, existing),
        )

    change_permissions(node, change)


def _today(ids: Sequence[int], existing: Sequence[int]) -> Sequence[int]:
    return existing if 0 in ids else ids


@mutant("UKEY-290")
def only_the_first_group_id_counts(node: Node) -> None:
    """Of each array the first element is stored."""
    change_arrays(node, lambda ids: list(ids[:1]))


# Permissions that open too much


@mutant("UKEY-050", "UKEY-440")
def every_usage_key_creates_groups(node: Node) -> None:
    """`add_group` asks for no permission."""
    acts_as_owner(node, "add_group")


@mutant("UKEY-070", "UKEY-440")
def every_usage_key_deletes_groups(node: Node) -> None:
    """`remove_group` asks for no permission."""
    acts_as_owner(node, "remove_group")


@mutant("UKEY-090", "UKEY-440")
def every_usage_key_creates_wallets(node: Node) -> None:
    """`create_wallet` asks for no permission."""
    acts_as_owner(node, "create_wallet")


@mutant("UKEY-050")
def refused_group_is_created_all_the_same(node: Node) -> None:
    """`add_group` without the permission is refused, after the group was created."""

    def create(write: Write, acting_key: int, *arguments: object) -> object:
        try:
            return write(acting_key, *arguments)
        except ContractRefusal:
            write(node.accounts.key_info(acting_key).account_hash, *arguments)
            raise

    wrap(node.accounts, "add_group", create)


@mutant("UKEY-110", "UKEY-300", "UKEY-440")
def every_usage_key_adds_actions(node: Node) -> None:
    """`add_action_to_group` asks for no permission."""
    acts_as_owner(node, "add_action_to_group")


@mutant("UKEY-150", "UKEY-300", "UKEY-440")
def every_usage_key_removes_actions(node: Node) -> None:
    """`remove_action_from_group` asks for no permission."""
    acts_as_owner(node, "remove_action_from_group")


@mutant("UKEY-190", "UKEY-300", "UKEY-440")
def every_usage_key_adds_pkps(node: Node) -> None:
    """`add_pkp_to_group` asks for no permission."""
    acts_as_owner(node, "add_pkp_to_group")


@mutant("UKEY-230", "UKEY-300", "UKEY-440")
def every_usage_key_removes_pkps(node: Node) -> None:
    """`remove_pkp_from_group` asks for no permission."""
    acts_as_owner(node, "remove_pkp_from_group")


@mutant("UKEY-110", "UKEY-150", "UKEY-190", "UKEY-230", "UKEY-290")
def arrays_are_read_as_ranges(node: Node) -> None:
    """An array opens every group from its lowest id to its highest."""
    change_arrays(node, lambda ids: list(range(min(ids), max(ids) + 1)) if ids and min(ids) else list(ids))


@mutant("UKEY-110", "UKEY-290")
def any_named_group_opens_all(node: Node) -> None:
    """A key that names some group may add actions to all of them."""
    acts_as_owner(node, "add_action_to_group", lambda given: bool(given.manage_ipfs_ids_in_groups))


@mutant("UKEY-300")
def empty_array_means_all_groups(node: Node) -> None:
    """A key whose array is empty may remove PKPs from all groups."""
    acts_as_owner(node, "remove_pkp_from_group", lambda given: not given.remove_pkp_from_groups)


@mutant("UKEY-330")
def add_wildcard_reaches_every_account(node: Node) -> None:
    """A key with 0 in its array adds PKPs to the groups of all accounts."""
    made = accounts_made(node)

    def add(write: Write, acting_key: int, group_id: int, pkp_id: bytes) -> None:
        permissions = permissions_of(node, acting_key)
        try:
            write(acting_key, group_id, pkp_id)
        except ContractRefusal as refusal:
            if permissions is None or 0 not in permissions.add_pkp_to_groups or refusal.error != "GroupUnknown":
                raise
            owner = next(account for account in made if group_id in _ids(node, account))
            write(owner, group_id, bytes(32))

    wrap(node.accounts, "add_pkp_to_group", add)


def _ids(node: Node, account: int) -> list[int]:
    return [group.id for group in node.accounts.groups(account, 0, 100)]


@mutant("UKEY-440")
def left_out_flags_are_granted(node: Node) -> None:
    """A bool that is left out is true."""
    _new_keys(node, lambda body: {**dict.fromkeys(FLAGS, True), **body})


@mutant("UKEY-440")
def left_out_arrays_are_wildcards(node: Node) -> None:
    """An array that is left out is [0]."""
    _new_keys(node, lambda body: {**{name: [0] for name in ARRAYS}, **body})


# Values that are no permissions


@mutant("UKEY-450")
def texts_are_taken_for_bools(node: Node) -> None:
    """Any text but the empty one counts as true."""
    _new_keys(
        node,
        lambda body: {
            name: bool(value) if name in FLAGS and isinstance(value, str) else value for name, value in body.items()
        },
    )


@mutant("UKEY-450")
def numbers_are_taken_for_bools(node: Node) -> None:
    """1 counts as true."""
    _new_keys(
        node, lambda body: {name: True if name in FLAGS and value == 1 else value for name, value in body.items()}
    )


@mutant("UKEY-450")
def single_ids_are_taken_for_arrays(node: Node) -> None:
    """A number counts as an array of it."""
    _new_keys(
        node,
        lambda body: {
            name: [value] if name in ARRAYS and type(value) is int else value for name, value in body.items()
        },
    )


@mutant("UKEY-450")
def objects_are_taken_for_arrays(node: Node) -> None:
    """An object counts as the array of its keys."""
    _new_keys(
        node,
        lambda body: {
            name: [int(key) for key in value] if name in ARRAYS and isinstance(value, dict) else value
            for name, value in body.items()
        },
    )


def _elements(node: Node, change: Callable[[JsonValue], JsonValue]) -> None:
    _new_keys(
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
    _new_keys(
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
        _items(lambda item: {**item, "execute_in_groups": rounded.get(str(item["name"]), item["execute_in_groups"])}),
    )


def _is_large(group: JsonValue) -> bool:
    return type(group) is int and 2**53 < group < 2**64


# The key's value


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
    change_items(node, "list_api_keys", _items(lambda item: {**item, **show(values[str(item["api_key_hash"])])}))


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


# What updates take


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
    _new_keys(node, lambda body: {"execute_in_groups": [0], **body})
