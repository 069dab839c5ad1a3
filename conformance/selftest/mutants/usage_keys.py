"""Faults about usage keys: what is stored and listed of them, and what they may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.selftest.tools.accounts import Write, permissions_of
from conformance.selftest.tools.alter import change_body, change_items, each, wrap
from conformance.selftest.tools.alter_contract import accepted_for_nothing, judge_only
from conformance.selftest.tools.alter_permissions import change_arrays, refused_to_usage_keys
from conformance.selftest.tools.api_keys import Members, change_new_keys
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Permissions
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

T = TypeVar("T")


@mutant("UKEY-010", also="LIST-170")
def pkp_arrays_are_listed_for_each_other(node: Node) -> None:
    """Exchange `add_pkp_to_groups` and `remove_pkp_from_groups` in `list_api_keys`."""
    change_items(
        node,
        "list_api_keys",
        each(
            lambda item: {
                **item,
                "add_pkp_to_groups": item["remove_pkp_from_groups"],
                "remove_pkp_from_groups": item["add_pkp_to_groups"],
            }
        ),
    )


def _at(name: str, kind: type[T], change: Callable[[T], JsonValue]) -> Callable[[Members], Members]:
    """Change a member of a body, where it is there and of this kind."""
    return lambda body: {**body, name: change(value)} if isinstance(value := body.get(name), kind) else body


@mutant(
    each=[
        row(
            "seventeenth-group-dropped",
            _at("execute_in_groups", list, lambda groups: groups[:16]),
            breaks="UKEY-290",
            also="UKEY-010 UKEY-260",
        ),
        row(
            "description-in-html",
            _at("description", str, lambda text: text.replace("&", "&amp;").replace("<", "&lt;")),
            breaks="UKEY-030",
        ),
    ],
    also="EP-110 LIST-170",
)
def new_key_is_stored_otherwise(node: Node, change: Callable[[Members], Members]) -> None:
    """Store something else of a usage key than was sent; the label says what."""
    change_new_keys(node, change)


@mutant(
    each=[
        row("add_group", breaks="UKEY-040", also="SCOPE-040"),
        row("remove_group", breaks="UKEY-060", also="SCOPE-050"),
        row("create_wallet", breaks="UKEY-080", also="FLOW-060 SCOPE-030"),
        row("add_action_to_group", breaks="UKEY-100 UKEY-120 UKEY-310 UKEY-320", also="SCOPE-060 UKEY-290"),
        row("remove_action_from_group", breaks="UKEY-140 UKEY-160 UKEY-310 UKEY-320", also="SCOPE-060 UKEY-290"),
    ],
    also="AUTH-150 AUTH-160 SCOPE-090",
)
def usage_key_is_refused(node: Node, method: str) -> None:
    """Refuse `{method}` to every usage key, whatever its permissions."""
    refused_to_usage_keys(node, method)


@mutant(
    each=[
        row("add_group", breaks="UKEY-040", also="GRPLIFE-010 SCOPE-040"),
        row("remove_group", breaks="UKEY-060", also="EP-190 GRPLIFE-100 GRPLIFE-110 GRPLIFE-160 SCOPE-050"),
        row("add_action_to_group", breaks="UKEY-100 UKEY-120", also="EP-360 EXEC-230 SCOPE-060 UKEY-310"),
        row("remove_action_from_group", breaks="UKEY-140 UKEY-160", also="EP-210 EXEC-230 SCOPE-060 UKEY-310"),
        row("add_pkp_to_group", breaks="UKEY-180 UKEY-200", also="EP-370 EXEC-230 SCOPE-070 UKEY-290 UKEY-310"),
        row("remove_pkp_from_group", breaks="UKEY-220 UKEY-240", also="EP-220 EXEC-230 SCOPE-080 UKEY-310"),
    ],
    also="ACC-140 AUTH-150 AUTH-160 LIST-170",
)
def write_of_a_usage_key_does_nothing(node: Node, method: str) -> None:
    """Answer success to a usage key's `{method}` where it is permitted, and write nothing."""
    gateway = judge_only(node)

    def write_for(write: Write, acting_key: int, *arguments: object) -> object:
        if permissions_of(node, acting_key) is None:
            return write(acting_key, *arguments)
        accepted_for_nothing(gateway, method, acting_key, *arguments)
        return 1

    wrap(node.accounts, method, write_for)


@mutant(
    "UKEY-120",
    "UKEY-160",
    "UKEY-200",
    "UKEY-240",
    "UKEY-310",
    "UKEY-320",
    also="AUTH-150 AUTH-160 LIM-040 LIST-170 UKEY-010 UKEY-280",
)
def arrays_of_a_new_key_lose_the_wildcard(node: Node) -> None:
    """Create usage keys without the 0 in their arrays."""
    change_arrays(node, lambda ids: [group for group in ids if group])


@mutant("UKEY-470", also="ERR-150 KEYLIFE-040")
def refused_update_is_done_but_for_the_unknown_group(node: Node) -> None:
    """Carry out what is left of an update that names an unknown group, and refuse it."""

    def update(write: Callable[..., None], key: int, changed: int, name: str, text: str, given: Permissions) -> None:
        try:
            write(key, changed, name, text, given)
        except ContractRefusal as refused:
            if refused.error == "GroupUnknown":
                kept = [[one for one in getattr(given, array) if one < FAR] for array in PERMISSION_ARRAYS]
                flags = (given.can_create_groups, given.can_delete_groups, given.can_create_pkps)
                write(key, changed, name, text, Permissions(*flags, *kept))
            raise

    wrap(node.accounts, "update_usage_key", update)


FAR = 10**9
"""Ids of groups that nobody has."""


@mutant("UKEY-470")
def unknown_groups_are_left_out(node: Node) -> None:
    """Drop what is far from any group from permission arrays, though the profile states that it is not found."""

    def known(value: JsonValue) -> JsonValue:
        return [one for one in value if one.__class__ is not int or one < FAR] if isinstance(value, list) else value

    def change(body: JsonValue) -> JsonValue:
        return {name: known(value) for name, value in body.items()} if isinstance(body, dict) else body

    change_body(node, ("add_usage_api_key", "update_usage_api_key"), change)
