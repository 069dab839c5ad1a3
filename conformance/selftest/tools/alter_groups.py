"""Tools for faults about groups."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.selftest.tools.permissions import account_of
from reference_node.chain.account_config import Group
from reference_node.node import Node

IN_A_GROUP = ("add_pkp_to_group", "remove_pkp_from_group", "add_action_to_group", "remove_action_from_group")
Hashes = Sequence[bytes]


def group_of(node: Node, key: int, group_id: int) -> Group:
    """A group of the key's account; one without labels where there is none."""
    found = [group for group in node.accounts.groups(account_of(node, key), 0, 100) if group.id == group_id]
    return found[0] if found else Group(group_id, "", "")
