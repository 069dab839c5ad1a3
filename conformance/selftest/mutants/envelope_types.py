"""Faults about the types of signed envelopes ("Typed-data envelope")."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from conformance.selftest.tools.alter import silence
from conformance.selftest.tools.alter_envelopes import refuse, replace_check
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.permission.typed_data import DOMAIN_FIELDS, MESSAGE_FIELDS, Flow


def _canonical(types: object, flow: Flow, seen: Callable[[object], object]) -> None:
    """Check the types by what `seen` makes of each list of fields."""
    wanted = {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS}
    if not isinstance(types, dict) or any(seen(types.get(name)) != seen(fields) for name, fields in wanted.items()):
        raise refuse("typed-data-types")


def _types(node: Node, seen: Callable[[object], object]) -> None:
    replace_check(node, "check_types", lambda types, flow: _canonical(types, flow, seen))


@mutant(
    "ENV-040",
    "ENV-050",
    "ENV-060",
    "ENV-070",
    "ENV-080",
    "ENV-090",
    "ENV-100",
    "ENV-110",
    "ENV-120",
    also="ENV-160 ENV-220 ENV-440",
)
def types_are_not_checked(node: Node) -> None:
    """Skip the check of the types."""
    silence(node.envelopes, "check_types")


def _names(fields: object) -> object:
    if not isinstance(fields, list):
        return None
    return [field.get("name") if isinstance(field, dict) else None for field in fields]


@mutant("ENV-100", "ENV-110", "ENV-120", "ENV-440", also="ENV-220")
def types_of_fields_do_not_count(node: Node) -> None:
    """Compare only the names of the fields."""
    _types(node, _names)


@mutant("ENV-060", "ENV-080", "ENV-110", "ENV-120", also="ENV-220")
def more_fields_do_no_harm(node: Node) -> None:
    """Ignore fields after the canonical ones."""

    def check(types: object, flow: Flow) -> None:
        wanted = {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS}
        for name, fields in wanted.items():
            stated = types.get(name) if isinstance(types, dict) else None
            if not isinstance(stated, list) or stated[: len(fields)] != fields:
                raise refuse("typed-data-types")

    replace_check(node, "check_types", check)


@mutant("ENV-100", also="ENV-110 ENV-120 ENV-220")
def aliases_of_types_are_good(node: Node) -> None:
    """Accept `uint` for `uint256`, and blanks around a type."""
    _types(node, lambda fields: re.sub('"uint"', '"uint256"', re.sub(' *"', '"', json.dumps(fields, sort_keys=True))))
