"""Faults that show when equal requests are under way at the same time."""

from __future__ import annotations

from collections.abc import Hashable

from conformance.selftest.alter import Received
from conformance.selftest.alter_at_once import one_answer_at_a_time
from conformance.selftest.mutant import mutant
from reference_node.node import Node


def _whole(request: Received) -> Hashable:
    return request.key, request.body


@mutant("ACC-200")
def accounts_made_at_once_are_one(node: Node) -> None:
    """While `new_account` is at work, equal requests get the account that it makes."""
    one_answer_at_a_time(node, "new_account", _whole)


@mutant("UKEY-420")
def usage_keys_made_at_once_are_one(node: Node) -> None:
    """While `add_usage_api_key` is at work, equal requests get the key that it makes."""
    one_answer_at_a_time(node, "add_usage_api_key", _whole)
