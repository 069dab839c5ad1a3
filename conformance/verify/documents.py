"""The bodies of `/info`, `/attestation` and `/evidences/`, read strictly ("Endpoints / Attestation")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from conformance.verify.evidence import FILE_NAME
from conformance.verify.observed import MOST_RECORDS, CaaAnswer, CaaRecord, Observed
from conformance.verify.strict import base64_bytes, hex_bytes, json_object, text_member

_CHECKSUM = re.compile(r"([0-9a-fA-F]{64})[ \t]+\*?(?:\./)?(\S+)")
_NUMBER = re.compile(r"[1-9]\d{0,19}|0x[0-9a-fA-F]{1,16}")
_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})"
_CERTIFICATE = re.compile(rf"cert-((?:\*\.)?{_LABEL}(?:\.{_LABEL})*)\.pem")
_OBSERVED = {"base_url", "at", "gateway_domain", "tls_certificate", "caa", "allowed_compose_hash"}
_LATEST = 253402300799
"""The last second of the year 9999."""


@dataclass(frozen=True)
class Info:
    """`/info`."""

    app_id: bytes
    compose_hash: bytes
    app_compose: str
    """Exactly as decoded from JSON: what the compose hash is over."""


@dataclass(frozen=True)
class AppCompose:
    """What `app_compose` holds."""

    docker_compose_file: str
    members: Mapping[str, object]


@dataclass(frozen=True)
class Attestation:
    """`/attestation`, or the same members of `quote.json`."""

    quote: str
    event_log: str | None
    members: Mapping[str, object]


@dataclass(frozen=True)
class EvidenceQuote:
    """`/evidences/quote.json`."""

    report_data: bytes
    quote: str | None
    event_log: str | None
    members: Mapping[str, object]


def read_info(body: bytes) -> Info:
    """Read `/info`. ValueError: what is wrong with it."""
    document = json_object(body)
    tcb_info = document.get("tcb_info")
    if isinstance(tcb_info, str):
        try:
            tcb_info = json_object(tcb_info.encode())
        except ValueError as problem:
            raise ValueError(f"tcb_info: {problem}") from problem
    if not isinstance(tcb_info, dict):
        raise ValueError("tcb_info is absent, or neither an object nor a text of one")  # noqa: TRY004 - of the body
    return Info(
        app_id=_hex_member(document, "app_id"),
        compose_hash=_hex_member(document, "compose_hash", 32),
        app_compose=text_member(tcb_info, "app_compose"),
    )


def _hex_member(document: dict[str, object], name: str, length: int | None = None) -> bytes:
    try:
        value = hex_bytes(text_member(document, name), length)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from problem
    if not value:
        raise ValueError(f"{name} is empty")
    return value


def read_app_compose(text: str) -> AppCompose:
    """Read `app_compose`. ValueError: it is no JSON object with a `docker_compose_file`."""
    members = json_object(text.encode())
    compose = text_member(members, "docker_compose_file")
    if not compose.strip():
        raise ValueError("docker_compose_file is empty")
    return AppCompose(compose, members)


def read_attestation(body: bytes) -> Attestation:
    """Read `/attestation`. ValueError: it is not in its form."""
    document = json_object(body)
    if document.get("vm_config") is None:
        raise ValueError("vm_config is absent or null")
    return Attestation(text_member(document, "quote"), text_member(document, "event_log"), document)


def read_evidence_quote(body: bytes) -> EvidenceQuote:
    """Read `quote.json`. ValueError: it is not in its form."""
    document = json_object(body)
    report_data = _hex_member(document, "report_data")
    if not 32 <= len(report_data) <= 64:
        raise ValueError(f"report_data has {len(report_data)} bytes, where 32 to 64 belong")
    texts = {name: text_member(document, name) for name in ("quote", "event_log") if document.get(name) is not None}
    return EvidenceQuote(report_data, texts.get("quote"), texts.get("event_log"), document)


def read_acme_account(body: bytes) -> str:
    """The account URI of `acme-account.json`. ValueError: there is none, or there are two that differ."""
    document = json_object(body)
    uris = {text_member(document, name) for name in ("uri", "account_uri") if name in document}
    if len(uris) != 1:
        raise ValueError(f"{len(uris)} account URIs, where one belongs in `uri` or `account_uri`")
    uri = uris.pop()
    parts = urlsplit(uri)
    if parts.scheme != "https" or not parts.netloc or not re.fullmatch(r"[!-~]+", uri):
        raise ValueError(f"{uri[:100]!r} is no https URI")
    return uri


def read_chain_config(body: bytes) -> str:
    """The contract of `get_node_chain_config` as `eip155:<chain id>:<address>`. ValueError: it names none."""
    document = json_object(body)
    chain, address = document.get("chain_id"), text_member(document, "contract_address")
    number = int(chain, 0) if isinstance(chain, str) and _NUMBER.fullmatch(chain) else chain
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**64:
        raise ValueError("chain_id is no id of a chain")
    return f"eip155:{number}:0x{hex_bytes(address, 20).hex()}"


@lru_cache(maxsize=16)
def read_checksums(body: bytes) -> Mapping[str, str]:
    """File name to SHA-256 in hex, as `sha256sum` writes them. ValueError: a line is in another form."""
    checksums: dict[str, str] = {}
    for number, line in enumerate(body.decode("utf-8").removesuffix("\n").split("\n"), 1):
        match = _CHECKSUM.fullmatch(line)
        if match is None or not FILE_NAME.fullmatch(match[2]):
            raise ValueError(f"line {number}: not 64 hex digits, blanks and a file name")
        if match[2] in checksums:
            raise ValueError(f"line {number}: {match[2]} stands twice")
        checksums[match[2]] = match[1].lower()
    return checksums


def certificate_domain(name: str) -> str | None:
    """The domain of a file name `cert-<domain>.pem`."""
    match = _CERTIFICATE.fullmatch(name)
    return match[1] if match else None


def read_observed(body: bytes) -> Observed:
    """Read `observed.json`. ValueError: it is not in its form."""
    document = json_object(body)
    if document.keys() != _OBSERVED:
        raise ValueError(f"the members are not {', '.join(sorted(_OBSERVED))}")
    at, allowed = document["at"], document["allowed_compose_hash"]
    if not is_time(at):
        raise ValueError("at is no time in Unix seconds")
    if allowed is not None and not isinstance(allowed, bool):
        raise ValueError("allowed_compose_hash is neither true, false nor null")
    certificate = _optional_text(document, "tls_certificate")
    assert isinstance(at, int)  # noqa: S101 - `is_time` said so
    return Observed(
        base_url=text_member(document, "base_url"),
        at=at,
        gateway_domain=_optional_text(document, "gateway_domain"),
        tls_certificate=None if certificate is None else base64_bytes(certificate),
        caa=_caa(document["caa"]),
        allowed_compose_hash=allowed,
    )


def is_time(value: object) -> bool:
    """Whether a value is Unix seconds of a year that has four digits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LATEST


def _optional_text(document: dict[str, object], name: str) -> str | None:
    return None if document[name] is None else text_member(document, name)


def _caa(value: object) -> CaaAnswer | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != {"status", "records"}:
        raise ValueError("caa is neither null nor an object of status and records")
    records = value["records"]
    if not isinstance(records, list) or len(records) > MOST_RECORDS:
        raise ValueError(f"caa.records is no list of at most {MOST_RECORDS} records")
    return CaaAnswer(text_member(value, "status"), tuple(map(_caa_record, records)))


def _caa_record(value: object) -> CaaRecord:
    if not isinstance(value, dict) or value.keys() != {"flags", "tag", "value"}:
        raise ValueError("a CAA record has other members than flags, tag and value")
    flags = value["flags"]
    if not isinstance(flags, int) or isinstance(flags, bool) or not 0 <= flags <= 255:
        raise ValueError("the flags of a CAA record are no byte")
    return CaaRecord(flags, text_member(value, "tag"), text_member(value, "value"))
