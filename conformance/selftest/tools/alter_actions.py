"""Tools for faults about actions."""

from __future__ import annotations

import json

from conformance.selftest.tools.alter import Received, members
from conformance.selftest.tools.permissions import account_of
from reference_node.chain.account_config import Action
from reference_node.node import Node

RAW = ("add_action", "add_action_to_group")
"""The operations that take a raw CID."""


def text_member(request: Received, name: str) -> str:
    """A member of a request, as text; empty where it holds no JSON object."""
    try:
        return str(members(json.loads(request.body)).get(name))
    except ValueError:
        return ""


def actions_of(node: Node, acting_key: int) -> list[Action]:
    """The actions registered to the account that a key belongs to."""
    return node.accounts.actions(account_of(node, acting_key), 0, 100)
