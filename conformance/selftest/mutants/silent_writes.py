"""Faults of writes that answer success and write nothing."""

from __future__ import annotations

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_contract import accepted_for_nothing, judge_only
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node


@mutant(
    each=[
        row("new_account", breaks="AKEY-070", also="ACC-010 ACC-030 ACC-140 ACC-170 AKEY-060 EP-040 EP-050"),
        row("set_usage_key", breaks="ACC-100 UKEY-010 KEYLIFE-010 EP-110", also="ACC-140 LIST-170"),
        row(
            "update_usage_key",
            breaks="KEYLIFE-020 KEYLIFE-030 KEYLIFE-200 EP-130",
            also="ACC-140 EXEC-230 KEYLIFE-130 LIST-170",
        ),
        row("update_usage_key_metadata", breaks="KEYLIFE-060 EP-140", also="ACC-140 LIST-170"),
        row(
            "remove_usage_key",
            breaks="KEYLIFE-080 KEYLIFE-090 KEYLIFE-100 KEYLIFE-120 KEYLIFE-150 EP-120",
            also="ACC-140 EXEC-260",
        ),
        row("add_group", breaks="ACC-140", also="ACC-070 GRPLIFE-010 SCOPE-040 UKEY-040 VER-050"),
        row(
            "remove_group",
            breaks="GRPLIFE-100 GRPLIFE-150 EP-190",
            also="ACC-140 ERR-170 GRPLIFE-110 GRPLIFE-160 SCOPE-050 UKEY-060",
        ),
        row(
            "remove_action_from_group",
            breaks="ACT-100 EP-210",
            also="ACC-140 EXEC-230 SCOPE-060 UKEY-140 UKEY-160 UKEY-310",
        ),
        row(
            "add_pkp_to_group",
            breaks="PKP-010 PKP-060 EP-370",
            also="ACC-140 EXEC-230 GRP-270 GRPLIFE-230 LIST-170 SCOPE-070 UKEY-180 UKEY-200 UKEY-310",
        ),
        row("add_action", breaks="EP-280", also="ACC-090 ACC-140 ACT-060 EP-260"),
        row("update_action_metadata", breaks="ACT-060 ACT-100 EP-300", also="ACC-140 LIST-170"),
        row(
            "create_wallet", breaks="PKP-030 EP-350", also="ACC-010 ACC-080 ACC-140 FLOW-040 PKP-180 SCOPE-030 UKEY-080"
        ),
    ]
)
def write_does_nothing(node: Node, method: str) -> None:
    """Answer success to `{method}` where the contract would accept it, and send it nothing."""
    gateway = judge_only(node)
    wrap(node.accounts, method, lambda _, *arguments: accepted_for_nothing(gateway, method, *arguments))
