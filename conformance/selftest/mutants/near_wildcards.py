"""Faults that turn what is nearly nothing into a group's wildcard."""

from __future__ import annotations

from pydantic import JsonValue

from conformance.selftest.tools.alter import change_body, members
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node

ALL_WALLETS = f"0x{'0' * 64}"


def _entries(node: Node, member: str, nothing: tuple[str, ...], wildcard: JsonValue) -> None:
    """Read such texts in this list of `add_group` and `update_group` as the wildcard."""

    def read(value: JsonValue) -> JsonValue:
        given = members(value)
        listed = given.get(member)
        if not isinstance(listed, list):
            return value
        return {**given, member: [wildcard if one in nothing else one for one in listed]}

    change_body(node, ("add_group", "update_group"), read)


@mutant("PKP-130", also="GRP-130")
def short_ids_are_filled_up_with_zeros(node: Node) -> None:
    """Pad a PKP id that is too short with zeros, so that 0x0 is the wildcard."""
    _entries(node, "pkp_ids_permitted", ("0x0", "0x"), ALL_WALLETS)


@mutant("GRP-240", also="GRP-130")
def empty_hashes_permit_all_actions(node: Node) -> None:
    """Read an empty text among the hashes of actions as 0."""
    _entries(node, "cid_hashes_permitted", ("", "0x"), 0)
