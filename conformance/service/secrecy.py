"""Whether keys are random: what several have in common; and whether an answer holds one, and where.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from conformance.endpoints.conversation import leaves
from conformance.endpoints.messages import Answer
from conformance.endpoints.redaction import Secrets
from conformance.problems import Mismatch


def tells(answer: Answer, key: str) -> bool:
    """Whether an answer holds a key in any spelling, in its body or its headers."""
    secret = Secrets()
    secret.learn(key)
    return any(map(secret.found_in, (answer.text, *answer.headers.values())))


def must_hide(answer: Answer, key: str, what: str) -> None:
    """Raise a Mismatch where an answer holds a key in any spelling; `what` names the key in the words of the clause."""
    if tells(answer, key):
        asked = answer.operation.name if answer.operation is not None else "the node"
        raise Mismatch(f"an answer of {asked} without {what}", f"{what} in {_place(answer, key)}", answer.exchange)


def _place(answer: Answer, key: str) -> str:
    """The header that holds a key, or the filter of jq for the value in the body."""
    secret = Secrets()
    secret.learn(key)
    for name, value in answer.headers.items():
        if secret.found_in(value):
            return f"the header {name}"
    return place_in(answer.text, secret)


def place_in(body: str, secrets: Secrets) -> str:
    """The filter of jq for the first value of a body that holds one of these secrets."""
    held = (path for _, path, value in leaves(body) if isinstance(value, str) and secrets.found_in(value))
    return f"{next(held, 'a part')} of the body"


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
