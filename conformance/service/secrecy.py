"""What random secrets have in common: nothing ("Resources and their fields": keys encode random secrets)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def shared_digits(secrets: Sequence[bytes]) -> int:
    """With how many equal hex digits all of these secrets begin."""
    columns = zip(*(secret.hex() for secret in secrets), strict=False)
    return len(list(takewhile(lambda digits: len(set(digits)) == 1, columns)))


def distinct_bytes(secrets: Sequence[bytes]) -> int:
    """How many different bytes they hold together."""
    return len({byte for secret in secrets for byte in secret})
