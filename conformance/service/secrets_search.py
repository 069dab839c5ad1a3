"""Searches answers for private keys, since a PKP's key material is never exported ("What the service does" 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.endpoints.messages import Answer
from conformance.problems import BeyondLimits
from conformance.service.session import Session
from conformance.values.secret_text import SECRET_BYTES, private_keys, wallet_of
from conformance.values.typed_data import CURVE_ORDER

SEARCHED = 250_000
"""The number of characters of a text that are searched."""
MOST_SECRETS = 20_000
"""Of how many different values the wallet is computed; that takes three seconds."""


def wallets_of_secrets_in(*values: object) -> list[str]:
    """The address of every 32-byte value in these values, taken as a private key; lower case, sorted.

    Of a long run of digits only the beginning and the end are searched: key material is no part of a signed quote.
    BeyondLimits: there are more than `MOST_SECRETS` of them.
    """
    secrets: set[bytes] = set()
    for value in values:
        for secret in _secrets(value):
            secrets.add(secret)
            if len(secrets) > MOST_SECRETS:
                raise BeyondLimits("an answer within the limits", f"more than {MOST_SECRETS} values of 32 bytes")
    return sorted(map(wallet_of, secrets))


def witnessed(session: Session) -> list[Answer]:
    """All answers of the case from now on; the list grows with each."""
    answers: list[Answer] = []
    session.witnesses.append(lambda _, answer: answers.append(answer))
    return answers


def wallets_leaked_by(answers: Iterable[Answer]) -> list[str]:
    """The address of every 32-byte value anywhere in these answers and their headers, as `wallets_of_secrets_in`."""
    held = [(answer.text, dict(answer.headers), answer.value if answer.readable else None) for answer in answers]
    return wallets_of_secrets_in(*(part for parts in held for part in parts))


def _secrets(value: object) -> Iterator[bytes]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _secrets(name)
            yield from _secrets(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item)
    elif isinstance(value, str):
        yield from private_keys(value[:SEARCHED])
    elif isinstance(value, int) and not isinstance(value, bool) and 0 < value < CURVE_ORDER:
        yield value.to_bytes(SECRET_BYTES)
