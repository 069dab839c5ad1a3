"""Faults of writes that answer success and write nothing."""

from __future__ import annotations

from conformance.selftest.tools.alter import silence
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node


@mutant(
    each=[
        row("new_account", breaks="EP-050"),
        row("set_usage_key", breaks="ACC-100 UKEY-010 KEYLIFE-010 EP-110"),
        row("update_usage_key", breaks="KEYLIFE-020 KEYLIFE-030 KEYLIFE-200 EP-130"),
        row("update_usage_key_metadata", breaks="KEYLIFE-060 EP-140"),
        row("remove_usage_key", breaks="KEYLIFE-080 KEYLIFE-090 KEYLIFE-100 KEYLIFE-120 KEYLIFE-150 EP-120"),
        row("add_group", breaks="ACC-140"),
        row("remove_group", breaks="GRPLIFE-100 GRPLIFE-150 EP-190"),
        row("add_action_to_group", breaks="EP-360"),
        row("remove_action_from_group", breaks="ACT-100 EP-210"),
        row("add_pkp_to_group", breaks="PKP-010 PKP-060 EP-370"),
        row("remove_pkp_from_group", breaks="EP-220"),
        row("add_action", breaks="EP-280"),
        row("update_action_metadata", breaks="ACT-060 ACT-100 EP-300"),
        row("delete_action", breaks="ACT-100 EP-290"),
        row("create_wallet", breaks="PKP-030 EP-350"),
    ]
)
def write_does_nothing(node: Node, method: str) -> None:
    """Answer success to `{method}`, and send nothing to the contract."""
    silence(node.accounts, method)
