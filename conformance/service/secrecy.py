"""Whether keys are secret: how one may be spelt in an answer, and what random ones have in common.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import takewhile
from urllib.parse import quote

from conformance.values.key_text import key_bytes

SHORTEST_SPELLING = 16
"""Of a key; anything shorter stands in many an answer by chance."""


def spellings(key: str) -> list[str]:
    """The texts of which each would disclose a key: as it is, escaped, in another base, backwards."""
    forms = {key, key.rstrip("="), quote(key, safe=""), key.replace("/", "\\/")}
    try:
        raw = key_bytes(key)
    except ValueError:
        raw = b""
    forms |= {raw.hex(), raw.hex().upper()}
    forms |= {encode(raw).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    forms |= {form[::-1] for form in forms}
    return sorted(form for form in forms if len(form) >= SHORTEST_SPELLING)


def shared_prefix(secrets: Sequence[str | bytes]) -> int:
    """With how many equal characters, or bytes, all of these secrets begin."""
    return len(list(takewhile(lambda column: len(set(column)) == 1, zip(*secrets, strict=False))))


def distinct_bytes(secrets: Sequence[bytes]) -> int:
    """How many different bytes they hold together."""
    return len({byte for secret in secrets for byte in secret})
