"""The bytes that a key's value stands for.

An account key is base64, and so is a usage key that a signature minted; how the other usage keys are written is the
vendor's ("Resources and their fields / Usage API key").
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote, quote_plus

HEX = re.compile(r"([0-9a-f]{2}){16,}|([0-9A-F]{2}){16,}")
"""At least 16 bytes. No 32 bytes look like that in base64, padded or not, and longer secrets do not by chance."""


def key_bytes(text: str) -> bytes:
    """What a key in hex, base64 or base64url, padded or not, stands for. Raises ValueError for any other text."""
    if HEX.fullmatch(text):
        return bytes.fromhex(text)
    standard = text.replace("-", "+").replace("_", "/") if _is_urlsafe(text) else text
    padding = "=" * (-len(standard) % 4) if not standard.endswith("=") else ""
    try:
        return base64.b64decode(standard + padding, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def key_like(text: str, raw: bytes) -> str:
    """These bytes in the form of another key."""
    if HEX.fullmatch(text):
        return raw.hex().upper() if text.isupper() else raw.hex()
    written = (base64.urlsafe_b64encode if _is_urlsafe(text) else base64.b64encode)(raw).decode()
    return written if text.endswith("=") or len(text) % 4 == 0 else written.rstrip("=")


SHORTEST_SPELLING = 16
"""Anything shorter stands in many a text by chance."""
LONGEST_KEY = 4_096
"""A longer text is looked for as it is alone."""


def spellings(text: str) -> frozenset[str]:
    """The texts that disclose a key: as it is and as URLs and JSON have it, what it encodes in every form, backwards.

    Empty for a key that is too short to be told from other texts.
    """
    if len(text) > LONGEST_KEY:
        return frozenset({text})
    octets = text.encode("utf-8", "surrogatepass")
    forms = {text, text.rstrip("="), quote(octets, safe=""), quote_plus(octets), text.replace("/", "\\/")}
    forms |= {_lower_escapes(form) for form in forms} | _encoded(octets)
    try:
        raw = key_bytes(text.removeprefix("0x"))
    except ValueError:
        raw = b""
    forms |= _encoded(raw) | _encoded(octets[::-1]) | _encoded(raw[::-1])
    if len(raw) <= LONGEST_NUMBER:
        forms.add(str(int.from_bytes(raw)))
    forms |= {form[::-1] for form in forms}
    return frozenset(form for form in forms if len(form) >= SHORTEST_SPELLING)


LONGEST_NUMBER = 64
"""Longer bytes are nothing that anybody writes as one number."""


def _encoded(raw: bytes) -> set[str]:
    in_base64 = {encode(raw).decode() for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    in_base32 = base64.b32encode(raw).decode()
    forms = {raw.hex(), raw.hex().upper(), raw.hex(":"), raw.hex(" "), in_base32, *in_base64}
    return forms | {form.rstrip("=") for form in (in_base32, *in_base64)}


def _lower_escapes(text: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), text)


def _is_urlsafe(text: str) -> bool:
    return "-" in text or "_" in text
