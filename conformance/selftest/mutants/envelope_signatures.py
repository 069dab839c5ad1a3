"""Faults about the signatures of envelopes ("Wallet-signed endpoints")."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from conformance.selftest.tools.alter_envelopes import About, Check, around_verdict
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.variants.other_envelope_forms import other_envelope_forms
from reference_node.node import Node
from reference_node.permission.keys import CURVE_ORDER
from reference_node.permission.typed_data import Flow
from reference_node.problems import BadRequest


def _spelling(node: Node, change: Callable[[str], str]) -> None:
    """Verify signatures in another spelling than they came in."""
    around_verdict(
        node,
        lambda verify, data, signature, about: verify(
            data, change(signature) if isinstance(signature, str) else signature, **about
        ),
    )


@mutant("ENV-360", also="ENV-350")
def signatures_need_no_prefix(node: Node) -> None:
    """Accept a signature without `0x`."""
    _spelling(node, lambda text: text if text.startswith("0x") else f"0x{text}")


@mutant("ENV-350")
def signatures_may_be_longer(node: Node) -> None:
    """Ignore what follows the 65 bytes of a signature."""
    _spelling(node, lambda text: text[:132])


@mutant("ENV-210", also="ENV-350", each=[row("r", 2), row("s", 66)])
def zeros_before_a_number_are_lost(node: Node, at: int) -> None:
    """Drop a first byte of zeros of one of a signature's numbers, whose 65 bytes are then too few."""
    _spelling(node, lambda text: text[:at] + text[at:].removeprefix("00"))


def _low(text: str) -> str:
    if not re.fullmatch(r"0x[0-9a-fA-F]{130}", text):
        return text
    s, v = int(text[66:130], 16), int(text[130:], 16)
    return text if s <= CURVE_ORDER // 2 or v not in {27, 28} else f"{text[:66]}{CURVE_ORDER - s:064x}{55 - v:02x}"


@mutant("ENV-370")
def twins_of_signatures_are_accepted(node: Node) -> None:
    """Accept a signature with s in the upper half."""
    _spelling(node, _low)


@mutant("ENV-370")
def any_recovery_byte_will_do(node: Node) -> None:
    """Look only at the lowest bit of a signature's last byte."""
    _spelling(node, lambda text: re.sub(r"^(0x.{128})([0-9a-fA-F]{2})$", lambda found: found[1] + _bit(found[2]), text))


def _bit(byte: str) -> str:
    number = int(byte, 16)
    return f"{number % 2 if number < 27 else 27 + (number + 1) % 2:02x}"


RECOVERY_BYTE = re.compile(r"^(0x.{128})([0-9a-fA-F]{2})$")


@mutant("ENV-370", each=[row("plus-two", {29: 27, 30: 28}), row("below-256", {254: 27, 255: 28})])
def further_recovery_bytes_will_do(node: Node, read: Mapping[int, int]) -> None:
    """Read further last bytes of a signature as 27 and 28; the label says which."""
    _read_recovery_byte(node, read)


@mutant("ENV-370", on=other_envelope_forms)
def recovery_bytes_of_0_and_1_will_do(node: Node) -> None:
    """Read the last bytes 0 and 1 of a signature as 27 and 28, on a node whose profile names only these."""
    _read_recovery_byte(node, {0: 27, 1: 28})


def _read_recovery_byte(node: Node, read: Mapping[int, int]) -> None:
    def spelt(found: re.Match[str]) -> str:
        byte = int(found[2], 16)
        return f"{found[1]}{read.get(byte, byte):02x}"

    _spelling(node, lambda text: RECOVERY_BYTE.sub(spelt, text))


@mutant(
    each=[
        row("0-and-1", 0, breaks="ENV-220", also="ENV-210"),
        row("27-and-28-in-conversions", 27, Flow.CONVERT_ACCOUNT, breaks="ENV-210", also="ENV-220 WSIG-100"),
    ]
)
def last_bytes_are_tried_both_ways(node: Node, least: int, *flows: Flow) -> None:
    """Accept a signature that ends with one of two bytes from {least} on where it is good with the other one."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest:
            found = RECOVERY_BYTE.match(signature) if isinstance(signature, str) else None
            if found is None or int(found[2], 16) not in {least, least + 1}:
                raise
            return original(data, f"{found[1]}{2 * least + 1 - int(found[2], 16):02x}", **about)

    around_verdict(node, verify, *flows)


@mutant("ENV-380", also="ENV-210 ENV-220")
def nobody_signs_what_nobody_can_sign(node: Node) -> None:
    """Take a signature that recovers to no wallet for the zero address's."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as fault:
            nobody = isinstance(data, dict) and not any(node.envelopes.address(data["message"]))
            if nobody and fault.code in {"signature-unrecoverable", "signature-out-of-range"}:
                return bytes(20)
            raise

    around_verdict(node, verify)
