"""Readers of what a node sends, on what is as long as it may be and on half of it: each takes time in proportion."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from eth_abi.abi import encode

from benchmarks.timing import Row
from conformance.drivers.attestation.reading import BLOCK
from conformance.drivers.openapi import document
from conformance.drivers.openapi.bounds import check_size
from conformance.drivers.openapi.description import Description
from conformance.drivers.openapi.requests import described_requests
from conformance.endpoints import redaction
from conformance.endpoints.bodies import body_of
from conformance.endpoints.conversation import leaves
from conformance.endpoints.messages import TITLE
from conformance.problems import Problem
from conformance.report import causes, difference, objects
from conformance.survey.described import WORDS
from conformance.values.abi_data import decode
from conformance.values.escapes import layers
from conformance.values.http_dates import http_date
from conformance.values.json_text import parse
from conformance.values.secret_text import private_keys
from conformance.verify import boot, caa, certificates, compose, event_log, listing, strict
from conformance.verify.faults import Fault
from conformance.verify.observed import CaaAnswer, CaaRecord
from conformance.verify.quote import parse_quote
from reference_node.tee.pki import Platform
from reference_node.tee.quotes import TdReport, make_quote

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


def _without_faults(read: Callable[[Any], object]) -> Callable[[Any], object]:
    """A reader that may refuse what it reads."""

    def quiet(value: object) -> None:
        with suppress(ValueError, Problem, Fault):
            read(value)

    return quiet


UNIQUE: Mapping[str, object] = {"openapi": "3.1.0", "paths": {}, "c": {"type": "array", "uniqueItems": True}}
RECORDS = "(uint256,string,address[])[]"
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
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


Made = Callable[[int], object]
STATED = "http://node.example/core/v1/openapi.json"


@dataclass(frozen=True)
class Structure:
    """What is no repeated text: made of so many parts, and read."""

    make: Made
    read: Callable[[Any], object]
    parts: int


def _certificate(names: int) -> bytes:
    """A certificate in DER for so many names."""
    key = ec.derive_private_key(7, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATIONAL_UNIT_NAME, f"unit {at}") for at in range(names)])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(BEGAN).not_valid_after(BEGAN + timedelta(days=90))
    hosts = x509.SubjectAlternativeName([x509.DNSName(f"{at}.example") for at in range(names)])
    return builder.add_extension(hosts, critical=False).sign(key, SHA256()).public_bytes(Encoding.DER)


def _revocations(number: int) -> bytes:
    """A revocation list in DER."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "root")])
    builder = x509.CertificateRevocationListBuilder().issuer_name(name).last_update(BEGAN).next_update(BEGAN)
    for serial in range(1, number + 1):
        one = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(BEGAN)
        builder = builder.add_revoked_certificate(one.build())
    return builder.sign(ec.derive_private_key(7, ec.SECP256R1()), SHA256()).public_bytes(Encoding.DER)


def _quote(padding: int) -> bytes:
    """A quote with zeros at its end."""
    return make_quote(Platform(b"benchmark", BEGAN), TdReport()) + bytes(padding)


def _events(number: int) -> str:
    """An event log."""
    event = {"imr": 3, "event_type": 0x08000001, "digest": "", "event": "x", "event_payload": "00"}
    return json.dumps([event] * number)


def _services(number: int) -> str:
    """A compose file."""
    one = f"image: r.example/n@sha256:{'ab' * 32}"
    return f"services:\n{''.join(f'  s{at}:{chr(10)}    {one}{chr(10)}' for at in range(number))}"


def _referring(schemas: int) -> Mapping[str, object]:
    """A description each of whose schemas is the next one."""
    each = {f"s{at}": {"$ref": f"#/c/s{at + 1}"} for at in range(schemas)}
    return {"openapi": "3.1.0", "paths": {}, "c": {**each, f"s{schemas}": {}}}


def _described(paths: int) -> Mapping[str, object]:
    """A description of so many operations."""
    stated = {"get": {"responses": {"200": {"description": "x"}}}}
    return {"openapi": "3.1.0", "paths": {f"/p{at}": stated for at in range(paths)}}


def _told(body: str, headers: Mapping[str, str]) -> object:
    return body_of(body.encode("latin-1"), headers)


STRUCTURES: dict[str, Structure] = {
    "a certificate for many names": Structure(_certificate, certificates._read, 4_000),
    "a revocation list": Structure(_revocations, certificates.read_revocation_list.__wrapped__, 10_000),
    "a TDX quote": Structure(_quote, parse_quote, 1 << 22),
    "an event log": Structure(_events, event_log.read_event_log.__wrapped__, 10_000),
    "events replayed": Structure(
        lambda number: event_log.read_event_log(_events(number)),
        lambda events: (event_log.extend(event.computed_digest for event in events), boot.boot_events(events)),
        10_000,
    ),
    "a compose file": Structure(_services, compose.pinned_images.__wrapped__, 2_000),
    "CAA parameters": Structure(
        lambda number: f"ca.example;{';'.join(f' k{at}=v' for at in range(number))}", caa.parse_issue, 100_000
    ),
    "CAA records": Structure(
        lambda number: CaaAnswer(
            "found", tuple(CaaRecord(0, "issue", f"ca.example; accounturi=https://a/{at}") for at in range(number))
        ),
        _without_faults(lambda answer: caa.check_account(answer, "https://a/none")),
        10_000,
    ),
    "references of a description": Structure(
        _referring, lambda stated: Description(stated, STATED)._leads_to_itself, 20_000
    ),
    "size of a description": Structure(_referring, _without_faults(check_size), 20_000),
    "requests of a description": Structure(
        _described, lambda stated: list(described_requests(Description(stated, STATED))), 5_000
    ),
    "a schema's long list": Structure(
        lambda number: [{"a": at} for at in range(number)],
        lambda items: Description(UNIQUE, STATED).faults("/c", items),
        20_000,
    ),
    "texts in ABI data": Structure(
        lambda number: encode(["string[]"], [["text"] * number]), lambda data: decode(["string[]"], data), 6_000
    ),
    "tuples in ABI data": Structure(
        lambda number: encode([RECORDS], [[(1, "a", [f"0x{'11' * 20}"])] * number]),
        lambda data: decode([RECORDS], data),
        2_000,
    ),
    "logs of a run": Structure(lambda lines: "a line 0x00\n" * lines, private_keys, 100_000),
    "values of an answer": Structure(
        lambda number: json.dumps([{"a": str(at), "b": [at]} for at in range(number)]),
        lambda text: list(leaves(text)),
        50_000,
    ),
    "a label of its charset": Structure(
        lambda number: f"text/html; {'=?utf-8?q?a?= ' * number}",
        lambda label: _told("\xff", {"content-type": label}),
        50_000,
    ),
    "a date of a header": Structure(lambda number: "Sun " * number, _without_faults(http_date), 25_000),
}
"""What else a node sends, by what is read."""


def rows() -> Sequence[Row]:
    """A row for each reader: the shape that takes it longest when the text is twice as long."""
    texts = [_row(name, reader) for name, reader in READERS.items()]
    return [*texts, *(_row_of_structure(name, structure) for name, structure in STRUCTURES.items())]


def _row(name: str, reader: Reader) -> Row:
    found = [(_processor_ms(reader, shape, LARGEST // 2), _processor_ms(reader, shape, LARGEST)) for shape in SHAPES]
    long = [(half, whole) for half, whole in found if whole >= LEAST_MS] or [max(found, key=lambda times: times[1])]
    half, whole = max(long, key=lambda times: times[1] / times[0])
    return Row(f"{name}, {LARGEST} characters, worst of {len(SHAPES)} shapes", whole, "half as many", half, 3.0)


def _row_of_structure(name: str, one: Structure) -> Row:
    half, whole = (_shortest_ms(one.read, one.make(parts)) for parts in (one.parts // 2, one.parts))
    # What takes less says nothing about a ratio.
    return Row(f"{name}, {one.parts} parts", max(whole, LEAST_MS), "half as many", max(half, LEAST_MS), 3.0)


def _processor_ms(reader: Reader, shape: str, size: int) -> float:
    return _shortest_ms(reader, (shape * (size // len(shape) + 1))[:size])


def _shortest_ms(reader: Callable[[Any], object], text: object) -> float:
    """The shorter of two times: other processes make one longer, never shorter."""
    times = []
    for _ in range(2):
        began = time.process_time()
        reader(text)
        times.append((time.process_time() - began) * 1000)
    return max(min(times), 0.001)
