"""Whether keys are random: what several have in common; and whether an answer tells one.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from conformance.endpoints.messages import Answer
from conformance.endpoints.redaction import Secrets


def tells(answer: Answer, key: str) -> bool:
    """Whether an answer holds a key in any spelling, in its body or its headers."""
    secret = Secrets()
    secret.learn(key)
    return any(map(secret.found_in, (answer.text, *answer.headers.values())))


def shared_prefix(secrets: Sequence[str | bytes]) -> int:
    """The length of the prefix that all of these secrets share."""
    return len(list(takewhile(lambda column: len(set(column)) == 1, zip(*secrets, strict=False))))


def mark_of(keys: Sequence[str]) -> str:
    """The mark that shows the kind of a key, such as `sk_live_`: the common prefix up to its last separator."""
    common = keys[0][: shared_prefix(keys)]
    return common[: 1 + max(common.rfind(separator) for separator in "_-.:")]


def distinct_bytes(secrets: Sequence[bytes]) -> int:
    """The number of distinct bytes in all secrets."""
    return len({byte for secret in secrets for byte in secret})
