"""Faults of judges that read values of an envelope more generously than they are defined."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Callable

from conformance.selftest.tools.alter_envelopes import About, Check, around_verdict, members_of
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.permission.typed_data import Members

PADDED_LENGTH = 66
"""Characters of 32 bytes in hex."""


def _read(node: Node, part: str, member: str, change: Callable[[str], str]) -> None:
    """Verify an envelope with a text changed; one that `change` leaves alone, as it came."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        read: Members = copy.deepcopy(members_of(data))
        inner = read.get(part)
        given = inner.get(member) if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(given, str) or change(given) == given:
            return original(data, signature, **about)
        inner[member] = change(given)
        return original(read, signature, **about)

    around_verdict(node, verify)


def _as_it_looks(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("\u200b", "")


@mutant("ENV-470", also="ENV-220")
def domain_name_is_compared_as_it_looks(node: Node) -> None:
    """Compare the domain name in Unicode's compatibility form, without zero-width characters."""
    _read(node, "domain", "name", _as_it_looks)


@mutant("ENV-480", also="ENV-220")
def domain_version_is_a_number(node: Node) -> None:
    """Compare the domain version as a number, so that 01 is 1."""
    _read(node, "domain", "version", lambda text: str(int(text)) if text.isdecimal() else text)


@mutant("ENV-430", also="ENV-240")
def line_break_behind_a_number_is_overlooked(node: Node) -> None:
    """Ignore a line break at the end of `issuedAt`."""
    _read(node, "message", "issuedAt", lambda text: text.removesuffix("\n"))


@mutant("ENV-490")
def address_may_be_filled_up(node: Node) -> None:
    """Take the last 20 bytes of an address in 32 bytes, as contracts are called with it."""
    _read(node, "message", "address", lambda text: f"0x{text[-40:]}" if len(text) == PADDED_LENGTH else text)


@mutant("ENV-350")
def blanks_around_a_signature_are_overlooked(node: Node) -> None:
    """Trim a signature before reading it."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        return original(data, signature.strip() if isinstance(signature, str) else signature, **about)

    around_verdict(node, verify)
