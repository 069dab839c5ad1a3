"""Private keys anywhere in answers: a PKP's key material is never exported ("What the service does" 1)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator

from eth_keys.datatypes import PrivateKey

from conformance.endpoints.client import Answer
from conformance.service.derivations import SECRET_BYTES
from conformance.service.session import Session
from conformance.values.typed_data import CURVE_ORDER

HEX_RUN = re.compile(r"[0-9a-fA-F]{64,}")
HEX_TEXT = re.compile(r"(0x)?[0-9a-fA-F]+")
DECIMAL_RUN = re.compile(r"(?<![0-9])[0-9]{60,78}(?![0-9])")
BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{43,}")


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
        yield from _secrets_in_text(value)
    elif isinstance(value, int) and not isinstance(value, bool) and 0 < value < CURVE_ORDER:
        yield value.to_bytes(SECRET_BYTES)


def _secrets_in_text(text: str) -> Iterator[bytes]:
    for run in DECIMAL_RUN.findall(text):
        if int(run) < CURVE_ORDER:
            yield int(run).to_bytes(SECRET_BYTES)
    for run in HEX_RUN.findall(text):
        for start in range(len(run) - 2 * SECRET_BYTES + 1):
            yield bytes.fromhex(run[start : start + 2 * SECRET_BYTES])
    for run in BASE64_RUN.findall(text):
        if HEX_TEXT.fullmatch(run):  # read as base64 it would give nothing but chance
            continue
        for start in range(min(4, len(run) - 42)):
            yield from _windows(_decoded(run[start:]))


def _windows(raw: bytes) -> Iterator[bytes]:
    for start in range(len(raw) - SECRET_BYTES + 1):
        yield raw[start : start + SECRET_BYTES]


def _decoded(run: str) -> bytes:
    whole = run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run
    padded = whole + "=" * (-len(whole) % 4)
    return base64.urlsafe_b64decode(padded.replace("+", "-").replace("/", "_"))
