"""Readers of what a node sends, on texts of a size and of half of it: each takes time in proportion to the length."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from benchmarks.timing import Row
from conformance.drivers.attestation.reading import BLOCK
from conformance.drivers.openapi import document
from conformance.endpoints import redaction
from conformance.endpoints.messages import TITLE
from conformance.report import causes, difference, objects
from conformance.survey.described import WORDS
from conformance.values.escapes import layers
from conformance.values.json_text import parse
from conformance.verify import listing, strict

Reader = Callable[[str], object]
LARGEST = 1 << 19
LEAST_MS = 5.0
"""Shorter times say nothing about a ratio."""
KEY = base64.b64encode(bytes(range(32))).decode()
SHAPES = (
    "a", "0", " ", "\n", '"', '\\"', "\\", "[", "{", "(", " (", "<", "<title", "<title>", "<a ", "<script ",
    "<script src ",
    " src=", "configUrl=", "url:'", "http://", "0x", '"api_key":"', "a_", "%41", "&#65;", "00 ", "1,", "x='y' ",
    f"{KEY} ", KEY[:22], " to be [", "create_", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nAAAA\n",
)  # fmt: skip
"""What is repeated up to the size of a text: the beginnings of everything that some reader looks for."""
SECRETS = redaction.Secrets()
SECRETS.learn(KEY)


def _json(text: str) -> None:
    for begin in ("", "[" * 201):
        with suppress(ValueError):
            parse(begin + text)


READERS: dict[str, Reader] = {
    "JSON": _json,
    "title of a page": TITLE.search,
    "scripts of a page": document.SCRIPT.findall,
    "script of Swagger UI": document.JAVASCRIPT.findall,
    "addresses of an OpenAPI document": document.ADDRESS.findall,
    "configuration of Swagger UI": document.CONFIGURATION.findall,
    "certificates of a text": lambda text: BLOCK.findall(text.encode()),
    "certificates in PEM": lambda text: strict._PEM.findall(text.encode()),
    "tags of a listing": listing._TAG.findall,
    "attributes of a listing": listing._ATTRIBUTE.findall,
    "addresses of wallets": lambda text: list(redaction.addresses(text)),
    "credentials by name": lambda text: redaction.BY_NAME.sub("", text),
    "users in URLs": redaction.without_users,
    "escapes": lambda text: list(layers(text)),
    "beginning of a body, redacted": lambda text: SECRETS.hide_beginning(text, 4_000),
    "a whole text, redacted": SECRETS.hide,
    "credentials in a refusal": SECRETS.found_in,
    "what varies in an answer": lambda text: causes.VARYING.sub("", text),
    "long hex": objects.LONG_HEX.findall,
    "paths of a description": lambda text: [word.search(text) for word in WORDS.values()],
    "difference of lists": lambda text: difference.difference(text, text),
}


def rows() -> Sequence[Row]:
    """A row for each reader: the shape that takes it longest when the text is twice as long."""
    return [_row(name, reader) for name, reader in READERS.items()]


def _row(name: str, reader: Reader) -> Row:
    found = [(_processor_ms(reader, shape, LARGEST // 2), _processor_ms(reader, shape, LARGEST)) for shape in SHAPES]
    long = [(half, whole) for half, whole in found if whole >= LEAST_MS] or [max(found, key=lambda times: times[1])]
    half, whole = max(long, key=lambda times: times[1] / times[0])
    return Row(f"{name}, {LARGEST} characters, worst of {len(SHAPES)} shapes", whole, "half as many", half, 3.0)


def _processor_ms(reader: Reader, shape: str, size: int) -> float:
    """The shorter of two times: other processes make one longer, never shorter."""
    text = (shape * (size // len(shape) + 1))[:size]
    times = []
    for _ in range(2):
        began = time.process_time()
        reader(text)
        times.append((time.process_time() - began) * 1000)
    return max(min(times), 0.001)
