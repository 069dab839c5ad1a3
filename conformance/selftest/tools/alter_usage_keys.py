"""Tools for faults about what requests and lists say of usage keys."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from conformance.selftest.tools.alter import change_body
from reference_node.node import Node

Members = dict[str, JsonValue]


def new_keys(node: Node, change: Callable[[Members], Members]) -> None:
    """`add_usage_api_key` reads another body than was sent."""
    change_body(node, "add_usage_api_key", lambda value: change(value) if isinstance(value, dict) else value)
