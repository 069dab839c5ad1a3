"""The named kinds of signature that rows of the driver `typed_data` send ("Wallet-signed endpoints")."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from eth_utils.crypto import keccak

from conformance.values.typed_data import CURVE_ORDER, Signed, Wallet

Kind = Literal[
    "plain",
    "recovery_0_1",
    "recovery_26",
    "recovery_2",
    "recovery_29",
    "recovery_35",
    "recovery_37",
    "recovery_254",
    "recovery_255",
    "other_recovery_byte",
    "other_recovery_0_1",
    "r_begins_with_zero",
    "s_begins_with_zero",
    "high_s",
    "high_s_same_recovery_byte",
    "no_prefix",
    "upper_prefix",
    "upper_digits",
    "short_64",
    "short_odd",
    "long_66",
    "long_130",
    "compact",
    "empty",
    "prefix_only",
    "not_hex",
    "blank_at_end",
    "null",
    "number",
    "object",
    "array",
    "base64",
    "zeros",
    "zeros_27",
    "ones",
    "r_zero",
    "s_zero",
    "r_order",
    "s_order",
    "r_off_curve",
    "parts_swapped",
    "v_first",
    "flipped_bit_r",
    "flipped_bit_s",
    "other_wallet",
    "personal_sign_json",
    "personal_sign_digest",
    "keccak_of_json",
    "digest_hashed_again",
]
A_BYTE_LESS = 2**248
"""What is smaller begins with a byte of zeros, as a part of every 256th signature does."""
OFF_CURVE = 5
"""No point of secp256k1 has this x."""


@dataclass(frozen=True)
class Signing:
    """The inputs of a signature."""

    wallet: Wallet
    other: Wallet
    """A wallet that the envelope does not name."""
    digest: bytes
    json: str
    """The envelope as compact JSON."""

    @property
    def right(self) -> Signed:
        """The wallet's signature over the digest."""
        return self.wallet.sign(self.digest)


def _with(**parts: int) -> Callable[[Signing], object]:
    return lambda signing: signing.right._replace(**parts).text


def _fitting(fits: Callable[[Signed], bool]) -> Callable[[Signing], object]:
    return lambda signing: signing.wallet.sign_so_that(signing.digest, fits).text


def _text(change: Callable[[str], str]) -> Callable[[Signing], object]:
    return lambda signing: change(signing.right.text)


def _constant(value: object) -> Callable[[Signing], object]:
    return lambda _: value


def _compact(signing: Signing) -> str:
    """The 64 bytes of EIP-2098."""
    r, s, v = signing.right
    return f"0x{r:064x}{s | (v - 27) << 255:064x}"


def _personal(data: bytes) -> bytes:
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data)


def _over(make: Callable[[Signing], bytes]) -> Callable[[Signing], object]:
    return lambda signing: signing.wallet.sign(make(signing)).text


def _base64(signing: Signing) -> str:
    return base64.b64encode(bytes.fromhex(signing.right.text[2:])).decode()


SIGNATURES: Mapping[Kind, Callable[[Signing], object]] = {
    "plain": _text(lambda text: text),
    "recovery_0_1": lambda signing: signing.right._replace(v=signing.right.v - 27).text,
    "recovery_26": _with(v=26),
    "recovery_2": _with(v=2),
    "recovery_29": lambda signing: signing.right._replace(v=signing.right.v + 2).text,
    # Transactions of a chain with the id 0 would end so (EIP-155).
    "recovery_35": lambda signing: signing.right._replace(v=signing.right.v + 8).text,
    "recovery_37": lambda signing: signing.right._replace(v=signing.right.v + 10).text,
    "recovery_254": lambda signing: signing.right._replace(v=signing.right.v + 227).text,
    "recovery_255": _with(v=255),
    "other_recovery_byte": lambda signing: signing.right._replace(v=55 - signing.right.v).text,
    "other_recovery_0_1": lambda signing: signing.right._replace(v=28 - signing.right.v).text,
    "r_begins_with_zero": _fitting(lambda signed: signed.r < A_BYTE_LESS),
    "s_begins_with_zero": _fitting(lambda signed: signed.s < A_BYTE_LESS),
    "high_s": lambda signing: signing.right.twin.text,
    "high_s_same_recovery_byte": lambda signing: signing.right.twin._replace(v=signing.right.v).text,
    "no_prefix": _text(lambda text: text[2:]),
    "upper_prefix": _text(lambda text: f"0X{text[2:]}"),
    "upper_digits": _text(lambda text: f"0x{text[2:].upper()}"),
    "short_64": _text(lambda text: text[:-2]),
    "short_odd": _text(lambda text: text[:-1]),
    "long_66": _text(lambda text: f"{text}00"),
    "long_130": _text(lambda text: text + text[2:]),
    "compact": _compact,
    "empty": _constant(""),
    "prefix_only": _constant("0x"),
    "not_hex": _text(lambda text: f"{text[:-1]}g"),
    "blank_at_end": _text(lambda text: f"{text} "),
    "null": _constant(None),
    "number": lambda signing: int(signing.right.text, 16),
    "object": lambda signing: dict(zip("rsv", signing.right, strict=True)),
    "array": lambda signing: [signing.right.text],
    "base64": _base64,
    "zeros": _constant(f"0x{'00' * 65}"),
    "zeros_27": _constant(f"0x{'00' * 64}1b"),
    "ones": _constant(f"0x{'ff' * 65}"),
    "r_zero": _with(r=0),
    "s_zero": _with(s=0),
    "r_order": _with(r=CURVE_ORDER),
    "s_order": _with(s=CURVE_ORDER),
    "r_off_curve": _with(r=OFF_CURVE),
    "parts_swapped": lambda signing: Signed(signing.right.s, signing.right.r, signing.right.v).text,
    "v_first": _text(lambda text: f"0x{text[-2:]}{text[2:-2]}"),
    "flipped_bit_r": lambda signing: signing.right._replace(r=signing.right.r ^ 1).text,
    "flipped_bit_s": lambda signing: signing.right._replace(s=signing.right.s ^ 1).text,
    "other_wallet": lambda signing: signing.other.sign(signing.digest).text,
    "personal_sign_json": _over(lambda signing: _personal(signing.json.encode())),
    "personal_sign_digest": _over(lambda signing: _personal(signing.digest)),
    "keccak_of_json": _over(lambda signing: keccak(text=signing.json)),
    "digest_hashed_again": _over(lambda signing: keccak(signing.digest)),
}
"""By name."""
