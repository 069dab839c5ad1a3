"""Whether keys are random: what several have in common.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def shared_prefix(secrets: Sequence[str | bytes]) -> int:
    """With how many equal characters, or bytes, all of these secrets begin."""
    return len(list(takewhile(lambda column: len(set(column)) == 1, zip(*secrets, strict=False))))


def mark_of(keys: Sequence[str]) -> str:
    """What tells the kind of a key to those who read it, `sk_live_` for example: how all begin, up to a separator."""
    common = keys[0][: shared_prefix(keys)]
    return common[: 1 + max(common.rfind(separator) for separator in "_-.:")]


def distinct_bytes(secrets: Sequence[bytes]) -> int:
    """How many different bytes they hold together."""
    return len({byte for secret in secrets for byte in secret})
