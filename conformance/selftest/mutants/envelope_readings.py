"""Faults of judges that read values of an envelope more generously than they are defined."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Callable

from conformance.selftest.tools.alter_envelopes import About, Check, around_verdict, members_of
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.typed_data import Members

PADDED_LENGTH = 66
"""Characters of 32 bytes in hex."""


def _as_it_looks(text: str) -> str:
    """In Unicode's compatibility form, without zero-width characters."""
    return unicodedata.normalize("NFKC", text).replace("\u200b", "")


def _as_number(text: str) -> str:
    return str(int(text)) if text.isdecimal() else text


def _last_20_bytes(text: str) -> str:
    return f"0x{text[-40:]}" if len(text) == PADDED_LENGTH else text


@mutant(
    each=[
        row("name-as-it-looks", "domain", "name", _as_it_looks, breaks="ENV-470", also="ENV-220"),
        row("01-as-1", "domain", "version", _as_number, breaks="ENV-480", also="ENV-220"),
        row(
            "line-break-behind",
            "message",
            "issuedAt",
            lambda text: text.removesuffix("\n"),
            breaks="ENV-430",
            also="ENV-240",
        ),
        row("address-in-32-bytes", "message", "address", _last_20_bytes, breaks="ENV-490"),
    ]
)
def value_is_read_leniently(node: Node, part: str, member: str, change: Callable[[str], str]) -> None:
    """Read `{member}` of an envelope more generously than it is defined; the label says how."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        read: Members = copy.deepcopy(members_of(data))
        inner = read.get(part)
        given = inner.get(member) if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(given, str) or change(given) == given:
            return original(data, signature, **about)
        inner[member] = change(given)
        return original(read, signature, **about)

    around_verdict(node, verify)
