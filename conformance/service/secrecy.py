"""Whether keys are random: what several have in common; and whether an answer holds one, and where.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile

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
    secret = Secrets()
    secret.learn(key)
    for name, value in answer.headers.items():
        if secret.found_in(value):
            return f"the header {name}"
    try:
        parts = _texts(json.loads(answer.text), "")
    except (ValueError, RecursionError):
        parts = iter(())
    return next((f"{path} of the body" for path, text in parts if path and secret.found_in(text)), "the body")


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The texts in a JSON value with their places, as `[0].name`."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield f"the name of a member of {path or 'the object'}", name
            yield from _texts(part, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from _texts(part, f"{path}[{at}]")
    elif isinstance(value, str):
        yield path, value


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
