"""The evidence of one service, before something is wrong with it: what a verifier finds in the folder."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.selftest.attestation.forms import Base, Group, Test
from conformance.selftest.attestation.sound_quote import NOW, as_file
from conformance.verify.evidence import (
    ACME_ACCOUNT,
    ATTESTATION,
    CHECKSUMS,
    COLLATERAL,
    EVIDENCE_QUOTE,
    INFO,
    LISTING,
    OBSERVED,
    ROOT,
    certificate_file,
)
from reference_node.tee.acme import Issuer
from reference_node.tee.boot import boot_events
from reference_node.tee.collateral import make_collateral
from reference_node.tee.compose import app_compose
from reference_node.tee.event_log import Event, replay, runtime_events
from reference_node.tee.identity import Identity, identity_of
from reference_node.tee.pki import Platform
from reference_node.tee.quotes import QuoteForm, TdReport, make_quote

DOMAIN = "service.example"
VM_CONFIG = json.dumps({"cpu_count": 2, "memory_size": 4 * 2**30}, separators=(",", ":"))
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bc22cd15d6c15b0f00a08"
COMPOSE = f"services:\n  node:\n    image: registry.example/node:1.0@sha256:{DIGEST}\n"

Shown = Sequence[Mapping[str, object]]
"""Events as the log shows them."""


def identity(seed: bytes, compose: str = COMPOSE, name: str = "app") -> Identity:
    """Who the machine of a seed is; `compose` is its compose file."""
    app_id = hashlib.sha256(seed + name.encode()).digest()[:20]
    return identity_of(seed, app_id, app_compose(compose))


@dataclass(frozen=True)
class Caa:
    """What DNS said of the gateway domain."""

    records: Sequence[tuple[int, str, str]]
    """Flags, tag and value of each."""
    status: str = "NOERROR"


@dataclass(frozen=True)
class SoundEvidence:
    """Everything behind the evidence. None stands for what follows from the rest; a test replaces one thing."""

    seed: bytes
    who: Identity
    boot: Sequence[Event] = field(default_factory=boot_events)
    runtime: Sequence[Event] | None = None
    shown: Shown | None = None
    """The log of `/attestation`, where it differs from what was measured."""
    report: TdReport = field(default_factory=TdReport)
    quote: QuoteForm = field(default_factory=QuoteForm)
    version: int = 4
    report_data: bytes = bytes(64)
    evidence_of: SoundEvidence | None = None
    """Whose quote stands in quote.json."""
    evidence_report_data: bytes | None = None
    evidence_log: bool = True
    certificate: bytes | None = None
    """The body of the certificate file."""
    tls: bytes | None = None
    """DER of the certificate served over TLS."""
    account: bytes | None = None
    checksums: bytes | None = None
    caa: Caa | None = None
    allowed: bool | None = True
    domain: str = DOMAIN

    @cached_property
    def platform(self) -> Platform:
        """The machine's hardware."""
        return _platform(self.seed)

    @cached_property
    def issuer(self) -> Issuer:
        """Who issued the service's certificate."""
        return _issuer(self.seed)

    @cached_property
    def chain(self) -> bytes:
        """The service's certificate and its issuer's, PEM."""
        return self.issuer.issue(self.domain, int(NOW.timestamp()), 0).chain

    @cached_property
    def events(self) -> list[Event]:
        """What was measured."""
        return [*self.boot, *(runtime_events(self.who) if self.runtime is None else self.runtime)]

    def quote_over(self, report_data: bytes) -> bytes:
        """A quote of this machine."""
        rtmr0, rtmr1, rtmr2, rtmr3 = replay(self.events)
        report = replace(self.report, rtmr0=rtmr0, rtmr1=rtmr1, rtmr2=rtmr2, rtmr3=rtmr3, report_data=report_data)
        return make_quote(self.platform, report, version=self.version, form=self.quote)

    @cached_property
    def log(self) -> str:
        """The text of `event_log`."""
        shown = [event.as_json() for event in self.events] if self.shown is None else self.shown
        return json.dumps(shown, separators=(",", ":"))

    @cached_property
    def bodies(self) -> dict[str, bytes]:
        """Every file of the folder."""
        account = json.dumps({"uri": self.issuer.account_uri}).encode() if self.account is None else self.account
        certificate = self.chain if self.certificate is None else self.certificate
        name = certificate_file(self.domain)
        bound = {ACME_ACCOUNT: account, name: certificate}
        checksums = sums(bound) if self.checksums is None else self.checksums
        links = [ACME_ACCOUNT, name, CHECKSUMS, EVIDENCE_QUOTE]
        return {
            INFO: self._info().encode(),
            ATTESTATION: self._attestation().encode(),
            LISTING: listing(link.rpartition("/")[2] for link in links).encode(),
            CHECKSUMS: checksums,
            EVIDENCE_QUOTE: self._evidence_quote(checksums).encode(),
            **bound,
            COLLATERAL: _collateral(self.seed),
            ROOT: self.platform.root_pem.encode(),
            OBSERVED: self._observed().encode(),
        }

    @property
    def files(self) -> dict[str, str | bytes | None]:
        """The files as tests have them."""
        return {name: textual(body) for name, body in self.bodies.items()}

    def but(self, **changes: object) -> dict[str, str | bytes | None]:
        """The files with something replaced, and everything made again that follows from it."""
        return replace(self, **changes).files  # type: ignore[arg-type]  # mypy cannot type **changes

    def with_body(self, name: str, body: str | bytes | None) -> dict[str, str | bytes | None]:
        """The files with one body replaced, and nothing else."""
        return self.files | {name: body if body is None or isinstance(body, str) else textual(body)}

    def with_text(self, name: str, old: str, new: str) -> dict[str, str | bytes | None]:
        """The files with one place of one body replaced."""
        text = self.bodies[name].decode()
        if text.count(old) != 1:
            raise AssertionError(f"{name} has {old!r} {text.count(old)} times")
        return self.with_body(name, text.replace(old, new))

    def with_members(self, name: str, **changes: object) -> dict[str, str | bytes | None]:
        """The files with members of one JSON body replaced; `None` takes one away."""
        members = json.loads(self.bodies[name]) | changes
        return self.with_body(name, as_file({key: value for key, value in members.items() if value is not None}))

    def group(self, topic: str, comment: str, tests: Sequence[Test]) -> Group:
        """A group whose base is this evidence."""
        files = {name: body.decode() for name, body in self.bodies.items()}
        base = Base("evidence", "evidence", self.platform.root_pem, int(NOW.timestamp()), files)
        return Group(topic, comment, base, tests)

    def _info(self) -> str:
        return as_file(
            {
                "app_id": self.who.app_id.hex(),
                "compose_hash": self.who.compose_hash.hex(),
                "tcb_info": {"app_compose": self.who.app_compose},
            }
        )

    def _attestation(self) -> str:
        quote = self.quote_over(self.report_data).hex()
        return as_file({"quote": quote, "event_log": self.log, "vm_config": VM_CONFIG})

    def _evidence_quote(self, checksums: bytes) -> str:
        data = self.evidence_report_data
        if data is None:
            data = hashlib.sha256(checksums).digest() + bytes(32)
        machine = self.evidence_of or self
        members = {"quote": machine.quote_over(data).hex()}
        if self.evidence_log:
            log = [event.as_json() for event in machine.events]
            members["event_log"] = json.dumps(log, separators=(",", ":"))
        return as_file(members | {"report_data": data.hex(), "vm_config": VM_CONFIG})

    def _observed(self) -> str:
        tls = self.tls or x509.load_pem_x509_certificate(self.chain).public_bytes(Encoding.DER)
        caa = Caa([(0, tag, value) for tag, value in self.issuer.caa.items()]) if self.caa is None else self.caa
        records = [{"flags": flags, "tag": tag, "value": value} for flags, tag, value in caa.records]
        return as_file(
            {
                "base_url": f"https://{self.domain}",
                "at": int(NOW.timestamp()),
                "gateway_domain": self.domain,
                "tls_certificate": base64.b64encode(tls).decode(),
                "caa": {"status": caa.status, "records": records},
                "allowed_compose_hash": self.allowed,
            }
        )


@lru_cache(maxsize=8)
def _platform(seed: bytes) -> Platform:
    return Platform(seed, NOW)


@lru_cache(maxsize=8)
def _issuer(seed: bytes) -> Issuer:
    return Issuer(seed, int(NOW.timestamp()))


@lru_cache(maxsize=8)
def _collateral(seed: bytes) -> bytes:
    return as_file(make_collateral(_platform(seed)).as_json()).encode()


def textual(body: bytes) -> str | bytes:
    """A body as text, unless it is no UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body


def sums(bound: Mapping[str, bytes]) -> bytes:
    """What sha256sum prints for files."""
    lines = [f"{hashlib.sha256(body).hexdigest()}  {name.rpartition('/')[2]}\n" for name, body in bound.items()]
    return "".join(lines).encode()


def listing(names: Iterable[str]) -> str:
    """An HTML page that links files."""
    links = "".join(f'<li><a href="{name}">{name}</a></li>\n' for name in names)
    return f"<!DOCTYPE html>\n<html><head><title>Evidence</title></head><body><ul>\n{links}</ul></body></html>\n"
