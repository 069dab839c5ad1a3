"""What the node serves about its machine: two quotes, the evidence of its certificate, and what vouches for both.

Specification: "Endpoints / Attestation". Everything follows from the root secret and the clock. It is made when it is
first asked for and then kept, so that a request costs no signature.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from threading import Lock

from reference_node.clock import Clock
from reference_node.settings import DEFAULT_DOMAIN, Settings
from reference_node.strict_json import Json
from reference_node.tee.acme import BACKDATED, LIFETIME, Credentials, Issuer
from reference_node.tee.authorisation import AppAuthorisation
from reference_node.tee.boot import MEMORY, PROCESSORS, boot_events
from reference_node.tee.collateral import PccsAnswer, make_collateral, pccs_answers
from reference_node.tee.dns import Zone, caa_record
from reference_node.tee.documents import LISTING, PEM_CHAIN, Document, checksums, json_document, listing
from reference_node.tee.event_log import RUNTIME_REGISTER, Event, as_text, replay, runtime_events
from reference_node.tee.identity import Identity, derived
from reference_node.tee.pki import Platform
from reference_node.tee.quotes import TdReport, make_quote
from reference_node.tee.tls import CertificateFiles, context_of

NO_REPORT_DATA = bytes(64)
"""The report data of the quote at `/attestation` (rule 7)."""

DAY = 24 * 3600

VM = {"cpu_count": PROCESSORS, "memory_size": MEMORY, "pci_hole64_size": 0, "hugepages": False, "num_gpus": 0}
"""The machine's hardware, as its launcher states it; memory in bytes."""


@dataclass(frozen=True)
class Evidence:
    """A certificate and the files that bind it to the machine: they change together."""

    credentials: Credentials
    files: Mapping[str, Document]
    """By name, the listing among them."""
    tls: ssl.SSLContext


class Attestation:
    """The machine of one node. The root secret seeds it, and it begins when the node is started."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        identity: Identity,
        authorisation: AppAuthorisation,
        certificate: tuple[int, int] | None = None,
    ) -> None:
        """`certificate`: how often it was renewed before, and the Unix time of the last one's issue."""
        began = clock.started
        self.identity = identity
        self.authorisation = authorisation
        self._own = _own_certificate(settings)
        self.domain = settings.tls_domain or (self._own.domain() if self._own else DEFAULT_DOMAIN)
        self.quote_version = settings.quote_version
        self.events: list[Event] = [*boot_events(), *runtime_events(identity)]
        self.platform = Platform(derived(settings.root_secret, "platform"), datetime.fromtimestamp(began, UTC))
        self.issuer = Issuer(derived(settings.root_secret, "certificate issuer"), began)
        self._address = settings.host
        self._clock = clock
        self._began = began
        self.certificate = certificate or (0, began)
        """How often the certificate was renewed, and the Unix time of this one's issue."""
        if clock.now() >= self.certificate[1] + (LIFETIME - BACKDATED).total_seconds():
            self.certificate = (self.certificate[0] + 1, clock.now())
        self._rotating = Lock()
        self._evidence = None if self._own is None else self._present_evidence()
        self._collateral: tuple[datetime, dict[str, PccsAnswer]] | None = None

    @cached_property
    def info(self) -> Document:
        """`/info`."""
        return json_document(
            {
                "app_id": self.identity.app_id.hex(),
                "compose_hash": self.identity.compose_hash.hex(),
                "tcb_info": {"app_compose": self.identity.app_compose},
            }
        )

    @cached_property
    def attestation(self) -> Document:
        """`/attestation`."""
        return json_document(self._quoted(NO_REPORT_DATA))

    @property
    def measurements(self) -> dict[str, Json]:
        """The registers of firmware and boot as dstack-mr names them, and what they were extended by."""
        registers = replay(self.events)
        return {
            "name": f"simulated image, {PROCESSORS} processors, {MEMORY >> 30} GiB",
            "source": "the reference node's own simulation: of no real image",
            "mrtd": self.identity.mr_td.hex(),
            **{f"rtmr{index}": registers[index].hex() for index in range(RUNTIME_REGISTER)},
            "events": {
                f"rtmr{index}": [event.digest.hex() for event in self.events if event.register == index]
                for index in range(RUNTIME_REGISTER)
            },
        }

    @property
    def tls_root_pem(self) -> str | None:
        """By which clients can check the certificate; `None` where it is the operator's."""
        return self.issuer.root_pem if self._own is None else None

    @property
    def evidence(self) -> Evidence:
        """What is served under `/evidences/`, and the certificate that it is about."""
        return self._evidence or self._first_evidence()

    def _first_evidence(self) -> Evidence:
        with self._rotating:
            if self._evidence is None:
                self._evidence = self._present_evidence()
            return self._evidence

    def rotate(self, keep: Callable[[int, int], object] = lambda _turn, _issued: None) -> None:
        """Take a new certificate and make its evidence, both at once.

        Raises `CertificateError`, and what `keep` raises, which stores how often it was renewed and the Unix time of
        its issue: the former certificate is served then.
        """
        with self._rotating:
            former, self.certificate = self.certificate, (self.certificate[0] + 1, self._clock.now())
            try:
                evidence = self._present_evidence()
                keep(*self.certificate)
                self._evidence = evidence
            except BaseException:
                self.certificate = former
                raise

    def quote(self, report_data: bytes) -> bytes:
        """A quote of this machine over these 64 bytes."""
        rtmr0, rtmr1, rtmr2, rtmr3 = replay(self.events)
        report = TdReport(
            mr_td=self.identity.mr_td, rtmr0=rtmr0, rtmr1=rtmr1, rtmr2=rtmr2, rtmr3=rtmr3, report_data=report_data
        )
        return make_quote(self.platform, report, version=self.quote_version)

    def pccs(self) -> dict[str, PccsAnswer]:
        """The answers of the provisioning certificate caching service, by path.

        They are renewed each day of the right time. The clock's offset does not renew them: it ages them.
        """
        days = (self._clock.right_time() - self._began) // DAY
        issued = datetime.fromtimestamp(self._began + max(0, days) * DAY, UTC)
        if self._collateral is None or self._collateral[0] != issued:
            self._collateral = issued, pccs_answers(make_collateral(self.platform, issued))
        return self._collateral[1]

    @property
    def collateral_parameters(self) -> dict[str, str]:
        """What the query of a request for collateral may ask for, in small letters."""
        tcb = self.platform.form.tcb
        return {"fmspc": tcb.fmspc.hex(), "ca": self.platform.form.pck_ca.lower(), "encoding": "der"}

    @cached_property
    def zone(self) -> Zone:
        """The records of the gateway domain."""
        records = [caa_record(tag, value) for tag, value in self.issuer.caa.items()]
        return Zone.of(self.domain, {"CAA": records, **_address_records(self._address)})

    def _present_evidence(self) -> Evidence:
        """The evidence of the present certificate, or of the operator's as it is now."""
        own, (turn, issued) = self._own, self.certificate
        credentials = own.read(self.domain) if own else self.issuer.issue(self.domain, issued, turn)
        bound = {
            "acme-account.json": json_document({"uri": self.issuer.account_uri}),
            f"cert-{self.domain}.pem": Document(credentials.chain, PEM_CHAIN),
        }
        sums = checksums(bound)
        quote = json_document(self._quoted(hashlib.sha256(sums.body).digest() + bytes(32), shown=True))
        files = {**bound, "sha256sum.txt": sums, "quote.json": quote}
        return Evidence(credentials, {LISTING: listing(self.domain, files.items()), **files}, context_of(credentials))

    def _quoted(self, report_data: bytes, *, shown: bool = False) -> dict[str, str]:
        members = {"quote": self.quote(report_data).hex(), "event_log": as_text(self.events)}
        if shown:
            members["report_data"] = report_data.hex()
        vm = VM | {"os_image_hash": self.identity.os_image_hash.hex()}
        return members | {"vm_config": json.dumps(vm, separators=(",", ":"))}


def _own_certificate(settings: Settings) -> CertificateFiles | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return CertificateFiles(settings.tls_cert, settings.tls_key)


def _address_records(host: str) -> dict[str, list[str]]:
    """Where the gateway domain is: the address that the node listens at, or the loopback where that is all of them."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return {}
    kind, loopback = ("A", "127.0.0.1") if address.version == 4 else ("AAAA", "::1")
    return {kind: [loopback if address.is_unspecified else str(address)]}
