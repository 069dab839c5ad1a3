"""Searches answers for private keys, since a PKP's key material is never exported ("What the service does" 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eth_keys.datatypes import PrivateKey

from conformance.endpoints.messages import Answer
from conformance.service.session import Session
from conformance.values.secret_text import SECRET_BYTES, candidates
from conformance.values.typed_data import CURVE_ORDER


def wallets_of_secrets_in(*values: object) -> list[str]:
    """The address of every 32-byte value anywhere in these values, taken as a private key; lower case, sorted."""
    secrets = {secret for value in values for secret in _secrets(value)}
    keys = (secret for secret in secrets if 0 < int.from_bytes(secret) < CURVE_ORDER)
    return sorted({PrivateKey(secret).public_key.to_address() for secret in keys})


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
        yield from (candidate.secret for candidate in candidates(value))
    elif isinstance(value, int) and not isinstance(value, bool) and 0 < value < CURVE_ORDER:
        yield value.to_bytes(SECRET_BYTES)
