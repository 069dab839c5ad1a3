"""Faults about the signatures of envelopes ("Wallet-signed endpoints")."""

from __future__ import annotations

import re
from collections.abc import Callable

from conformance.selftest.tools.alter_envelopes import About, Check, address_in, around_verdict
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


@mutant("ENV-210", also="ENV-350", each=[row("r", 2), row("s", 66)])
def zeros_before_a_number_are_lost(node: Node, at: int) -> None:
    """Drop a first byte of zeros of one of a signature's numbers, whose 65 bytes are then too few."""
    _spelling(node, lambda text: text[:at] + text[at:].removeprefix("00"))


def _low(text: str) -> str:
    """The twin of a signature with s in the upper half."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{130}", text):
        return text
    s, v = int(text[66:130], 16), int(text[130:], 16)
    return text if s <= CURVE_ORDER // 2 or v not in {27, 28} else f"{text[:66]}{CURVE_ORDER - s:064x}{55 - v:02x}"


RECOVERY_BYTE = re.compile(r"^(0x.{128})([0-9a-fA-F]{2})$")


def _recovery_byte(read: Callable[[int], int]) -> Callable[[str], str]:
    """Read another last byte."""
    return lambda text: RECOVERY_BYTE.sub(lambda found: f"{found[1]}{read(int(found[2], 16)):02x}", text)


@mutant(
    each=[
        row(
            "without-0x", lambda text: text if text.startswith("0x") else f"0x{text}", breaks="ENV-360", also="ENV-350"
        ),
        row("longer", lambda text: text[:132], breaks="ENV-350"),
        row("blanks-around", str.strip, breaks="ENV-350"),
        row("high-s", _low, breaks="ENV-370"),
        row("lowest-bit", _recovery_byte(lambda v: v % 2 if v < 27 else 27 + (v + 1) % 2), breaks="ENV-370"),
        row("plus-two", _recovery_byte(lambda v: {29: 27, 30: 28}.get(v, v)), breaks="ENV-370"),
        row("below-256", _recovery_byte(lambda v: {254: 27, 255: 28}.get(v, v)), breaks="ENV-370"),
    ]
)
def signature_is_read_leniently(node: Node, read: Callable[[str], str]) -> None:
    """Accept a signature in another form than 65 canonical bytes in hex; the label says in which."""
    _spelling(node, read)


@mutant("ENV-370", on=other_envelope_forms)
def recovery_bytes_of_0_and_1_will_do(node: Node) -> None:
    """Read the last bytes 0 and 1 of a signature as 27 and 28, on a node whose profile names only these."""
    _spelling(node, _recovery_byte(lambda v: {0: 27, 1: 28}.get(v, v)))


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


@mutant("MINT-020", also="BILL-240 ENV-150 ENV-220")
def signers_are_known_by_their_signatures(node: Node) -> None:
    """Take the wallet to which an accepted signature recovered for its signer, whatever it is sent with again."""
    known: dict[str, object] = {}

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            signer = original(data, signature, **about)
        except BadRequest as refused:
            signer = known.get(str(signature))
            if refused.code != "signature-mismatch" or signer is None or signer != address_in(data):
                raise
        known[str(signature)] = signer
        return signer

    around_verdict(node, verify)


@mutant("ENV-380", also="ENV-210 ENV-220")
def nobody_signs_what_nobody_can_sign(node: Node) -> None:
    """Take a signature that recovers to no wallet for the zero address's."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as fault:
            message = data.get("message") if isinstance(data, dict) else None
            nobody = isinstance(message, dict) and not any(node.envelopes.address(message))
            if nobody and fault.code in {"signature-unrecoverable", "signature-out-of-range"}:
                return bytes(20)
            raise

    around_verdict(node, verify)
