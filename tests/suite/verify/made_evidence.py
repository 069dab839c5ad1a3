"""Evidence of an honest service on a simulated platform, and ways to change one thing about it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.verify import CaaAnswer, CaaRecord, Evidence, Observed, Policy
from reference_node.tee.collateral import CollateralForm, make_collateral
from reference_node.tee.pki import Platform, PlatformForm
from reference_node.tee.quotes import QuoteForm, TdReport, make_quote

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
AT = int(NOW.timestamp())
DOMAIN = "service.example"
ACCOUNT = "https://acme.example/acct/123"
RUNTIME = 0x08000001
COMPOSE = f"""\
services:
  node:
    image: registry.example/node:1.2@sha256:{"ab" * 32}
    environment:
      IMAGE_NAME: whatever
  proxy:
    image: docker.io/library/proxy@sha256:{"01" * 32}
"""


@dataclass(frozen=True)
class Made:
    """What an honest service is made from. `replace` changes one thing and keeps the rest consistent."""

    compose: str = COMPOSE
    app_compose: str | None = None
    app_id: bytes = bytes(range(20))
    instance_id: bytes = b"instance"
    platform: PlatformForm = field(default_factory=PlatformForm)
    collateral: CollateralForm | None = None
    report: TdReport = field(default_factory=TdReport)
    form: QuoteForm = field(default_factory=QuoteForm)
    version: int = 4
    issued: datetime = NOW
    filled_digests: bool = False
    later_events: tuple[tuple[str, bytes], ...] = ()
    certificate_days: int = 60

    @property
    def app_compose_text(self) -> str:
        """The text of app_compose."""
        return self.app_compose or json.dumps({"docker_compose_file": self.compose, "runner": "docker-compose"})

    @property
    def compose_hash(self) -> bytes:
        """SHA-256 of app_compose."""
        return hashlib.sha256(self.app_compose_text.encode()).digest()

    def events(self) -> list[dict[str, object]]:
        """The event log."""
        boot = [
            {
                "imr": index,
                "event_type": 1,
                "digest": sha384(bytes([index])).hex(),
                "event": "boot",
                "event_payload": "",
            }
            for index in (0, 0, 1, 2)
        ]
        runtime = (
            ("system-preparing", b""),
            ("app-id", self.app_id),
            ("compose-hash", self.compose_hash),
            ("instance-id", self.instance_id),
            ("boot-mr-done", b""),
            ("key-provider", b"kms"),
            ("system-ready", b""),
            *self.later_events,
        )
        return [*boot, *(runtime_event(name, payload, filled=self.filled_digests) for name, payload in runtime)]

    def quote(self, report_data: bytes = bytes(64)) -> bytes:
        """A quote over the registers that the events replay to."""
        registers = replayed(self.events())
        report = replace(self.report, **registers, report_data=report_data)
        return make_quote(self.machine(), report, version=self.version, form=self.form)

    def machine(self) -> Platform:
        """The simulated platform."""
        return Platform(b"made for tests", NOW, self.platform)

    def collateral_json(self) -> dict[str, str]:
        """The members of collateral.json."""
        return make_collateral(self.machine(), self.issued, self.collateral).as_json()

    def evidence(self) -> Evidence:
        """The whole evidence."""
        account = json.dumps({"uri": ACCOUNT}).encode()
        certificate = tls_certificate(days=self.certificate_days)
        checksums = "".join(
            f"{hashlib.sha256(body).hexdigest()}  {name}\n"
            for name, body in (("acme-account.json", account), (f"cert-{DOMAIN}.pem", pem(certificate)))
        ).encode()
        report_data = hashlib.sha256(checksums).digest() + bytes(32)
        events = json.dumps(self.events())
        info = {
            "app_id": self.app_id.hex(),
            "compose_hash": self.compose_hash.hex(),
            "tcb_info": {"app_compose": self.app_compose_text},
        }
        attestation = {"quote": self.quote().hex(), "event_log": events, "vm_config": "{}"}
        second = {
            "quote": self.quote(report_data).hex(),
            "event_log": events,
            "report_data": report_data.hex(),
            "vm_config": "{}",
        }
        links = "".join(
            f'<a href="{name}">{name}</a>'
            for name in ("sha256sum.txt", "quote.json", "acme-account.json", f"cert-{DOMAIN}.pem")
        )
        return Evidence(
            {
                "info.json": json.dumps(info).encode(),
                "attestation.json": json.dumps(attestation).encode(),
                "evidences/index.html": f"<!doctype html><title>evidences</title>{links}".encode(),
                "evidences/sha256sum.txt": checksums,
                "evidences/quote.json": json.dumps(second).encode(),
                "evidences/acme-account.json": account,
                f"evidences/cert-{DOMAIN}.pem": pem(certificate),
                "collateral.json": json.dumps(self.collateral_json()).encode(),
                "root.pem": self.machine().root_pem.encode(),
                "observed.json": observed().as_json(),
                "api-certificate.der": der(certificate),
            }
        )

    def policy(self) -> Policy:
        """The policy that trusts the simulated root."""
        return Policy(root=self.machine().root_pem.encode())


def observed(**changes: object) -> Observed:
    """What is observed of the honest service."""
    records = (CaaRecord(0, "issue", f"acme.example; accounturi={ACCOUNT}"), CaaRecord(0, "issuewild", ";"))
    honest = Observed(f"https://{DOMAIN}", AT, DOMAIN, der(tls_certificate()), CaaAnswer("NOERROR", records), True)
    return replace(honest, **changes)  # type: ignore[arg-type]


def sha384(data: bytes) -> bytes:
    return hashlib.sha384(data).digest()


def runtime_event(name: str, payload: bytes, *, filled: bool = False) -> dict[str, object]:
    """A runtime event as an event log has it."""
    digest = sha384(RUNTIME.to_bytes(4, "little") + b":" + name.encode() + b":" + payload)
    return {
        "imr": 3,
        "event_type": RUNTIME,
        "digest": digest.hex() if filled else "",
        "event": name,
        "event_payload": payload.hex(),
    }


def replayed(events: list[dict[str, object]]) -> dict[str, bytes]:
    """The registers that events replay to, by the names of a TD report."""
    registers = {index: bytes(48) for index in range(4)}
    for event in events:
        name, payload = str(event["event"]), bytes.fromhex(str(event["event_payload"]))
        digest = sha384(RUNTIME.to_bytes(4, "little") + b":" + name.encode() + b":" + payload)
        if event["event_type"] != RUNTIME:
            digest = bytes.fromhex(str(event["digest"]))
        index = int(str(event["imr"]))
        registers[index] = sha384(registers[index] + digest)
    return {f"rtmr{index}": value for index, value in registers.items()}


@cache
def tls_certificate(domain: str = DOMAIN, days: int = 60) -> x509.Certificate:
    """A certificate for TLS, self-signed."""
    key = ec.derive_private_key(7, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, domain)])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1 + days)
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(domain)]), critical=False)
        .sign(key, hashes.SHA256(), ecdsa_deterministic=True)
    )


def der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.DER)


def pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def in_json(evidence: Evidence, name: str, **changes: object) -> Evidence:
    """The evidence with members of one JSON body replaced; `...` takes one away."""
    document = json.loads(evidence[name]) | changes
    body = json.dumps({key: value for key, value in document.items() if value is not ...})
    return evidence.with_file(name, body.encode())
