"""Signatures of envelopes: the one accepted form, whose they are, and that no input makes anything but a refusal."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from envelopes import envelope, new_wallet, sign
from eth_account import Account
from eth_account.messages import encode_defunct
from hypothesis import given
from hypothesis import strategies as st
from judging import ADDRESS, FLOW, NOW, SIGNATURE, WALLET, code, valid, verify

from reference_node.permission.keys import CURVE_ORDER
from reference_node.problems import BadRequest


def parts(signature: str) -> tuple[int, int, int]:
    return int(signature[2:66], 16), int(signature[66:130], 16), int(signature[130:], 16)


def written(r: int, s: int, v: int) -> str:
    return f"0x{r:064x}{s:064x}{v:02x}"


R, S, V = parts(SIGNATURE)


def test_recovery_byte_may_be_that_of_either_convention() -> None:
    assert V in {27, 28}
    for accepted in (V, V - 27):
        assert verify(valid(), written(R, S, accepted)) == ADDRESS
    assert verify(valid(), "0x" + SIGNATURE[2:].upper()) == ADDRESS
    for other in set(range(256)) - {0, 1, 27, 28}:
        assert code(valid(), written(R, S, other)) == "signature-recovery-byte"
    for wrong in (55 - V, 28 - V):
        assert code(valid(), written(R, S, wrong)) in {"signature-mismatch", "signature-unrecoverable"}


@pytest.mark.parametrize(
    "signature",
    [None, 1, True, [], {}, "", "0x", SIGNATURE[2:], SIGNATURE[:-1], SIGNATURE[:-2], SIGNATURE + "0", SIGNATURE + "00",
     "0X" + SIGNATURE[2:], " " + SIGNATURE, SIGNATURE + "\n", SIGNATURE.replace("0x", "0xg")[:132],
     "0x" + "\u0660" * 130],
    ids=lambda value: repr(value)[:12],
)  # fmt: skip
def test_what_is_not_65_bytes_of_hex_is_refused(signature: object) -> None:
    assert code(valid(), signature) == "signature-malformed"


@pytest.mark.parametrize(
    ("r", "s", "expected"),
    [
        (0, S, "signature-out-of-range"),
        (R, 0, "signature-out-of-range"),
        (0, 0, "signature-out-of-range"),
        (CURVE_ORDER, S, "signature-out-of-range"),
        (R, CURVE_ORDER, "signature-out-of-range"),
        (2**256 - 1, 2**256 - 1, "signature-out-of-range"),
        (R, CURVE_ORDER - S, "signature-high-s"),
        (R, CURVE_ORDER // 2 + 1, "signature-high-s"),
        (5, S, "signature-unrecoverable"),
    ],
)
def test_numbers_that_no_wallet_sends_are_refused(r: int, s: int, expected: str) -> None:
    assert code(valid(), written(r, s, V)) == expected


def test_high_s_is_refused_with_the_recovery_byte_that_fits_it_too() -> None:
    assert code(valid(), written(R, CURVE_ORDER - S, 55 - V)) == "signature-high-s"


def test_signature_of_another_wallet_or_of_something_else_does_not_match() -> None:
    other = new_wallet()
    assert code(valid(), sign(other, valid())) == "signature-mismatch"
    personal = Account.sign_message(encode_defunct(text=json.dumps(valid())), WALLET.key)
    assert code(valid(), f"0x{bytes(personal.signature).hex()}") in {"signature-mismatch", "signature-unrecoverable"}
    zero = valid()
    zero["message"]["address"] = "0x" + "00" * 20
    assert code(zero, SIGNATURE) in {"signature-mismatch", "signature-unrecoverable"}


def test_cheap_faults_are_told_before_those_of_the_signature() -> None:
    for name, changed in (("typed-data-expired", NOW - 301), ("typed-data-not-yet-valid", NOW + 301)):
        assert code(envelope(FLOW, WALLET, changed), "0x") == name


# Whatever comes in


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["0x", "1", SIGNATURE]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, part in inner for found in places(part, (*path, name)))]


@st.composite
def spoilt(draw: st.DrawFn) -> object:
    """A valid envelope with something else in one place, or the place gone, as an object or serialised."""
    document: Any = copy.deepcopy(valid())
    path = draw(st.sampled_from(places(document)[1:]))
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    if draw(st.booleans()):
        holder[path[-1]] = draw(JSON)
    else:
        del holder[path[-1]]
    return json.dumps(document) if draw(st.booleans()) else document


@given(document=JSON | spoilt() | st.text(), signature=JSON | st.just(SIGNATURE))
def test_whatever_comes_in_is_accepted_or_refused_and_nothing_else(document: object, signature: object) -> None:
    try:
        signer = verify(document, signature)
    except BadRequest:
        return
    assert signer == ADDRESS


@given(signature=st.binary(min_size=65, max_size=65))
def test_no_random_signature_matches(signature: bytes) -> None:
    assert code(valid(), f"0x{signature.hex()}").startswith("signature-")


@given(position=st.integers(0, 64), bit=st.integers(0, 7))
def test_no_signature_with_one_bit_changed_matches(position: int, bit: int) -> None:
    changed = bytearray.fromhex(SIGNATURE[2:])
    changed[position] ^= 1 << bit
    assert code(valid(), f"0x{changed.hex()}").startswith("signature-")
