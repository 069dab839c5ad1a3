"""`observed.json`: what cannot be read from a body. When and where it was fetched, TLS, DNS, the chain."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass

MOST_RECORDS = 256
"""Of CAA records."""


@dataclass(frozen=True)
class CaaRecord:
    """One CAA record (RFC 8659)."""

    flags: int
    tag: str
    value: str


@dataclass(frozen=True)
class CaaAnswer:
    """The relevant CAA records of a domain, found by climbing as RFC 8659 section 3 says."""

    status: str
    """Mnemonic of the DNS response code: NOERROR, NXDOMAIN, SERVFAIL …, TIMEOUT or TOO-MANY-RECORDS."""
    records: tuple[CaaRecord, ...] = ()


@dataclass(frozen=True)
class Observed:
    """What was observed beside the bodies. None: it was not observed, and its rule is `not offered`."""

    base_url: str
    at: int
    """Unix seconds."""
    gateway_domain: str | None = None
    tls_certificate: bytes | None = None
    """DER of the leaf certificate of the connection that served the evidence."""
    caa: CaaAnswer | None = None
    allowed_compose_hash: bool | None = None
    """What `allowedComposeHashes(bytes32)` of the contract at `app_id` said of the compose hash."""

    def as_json(self) -> bytes:
        """The bytes of `observed.json`."""
        caa = self.caa and {
            "status": self.caa.status,
            "records": [
                {"flags": record.flags, "tag": record.tag, "value": record.value} for record in self.caa.records
            ],
        }
        document = {
            "base_url": self.base_url,
            "at": self.at,
            "gateway_domain": self.gateway_domain,
            "tls_certificate": None if self.tls_certificate is None else b64encode(self.tls_certificate).decode(),
            "caa": caa,
            "allowed_compose_hash": self.allowed_compose_hash,
        }
        return (json.dumps(document, indent=2) + "\n").encode()
