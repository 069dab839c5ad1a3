"""TDX quotes of a simulated platform, version 4 and version 5.

Intel, "TDX DCAP Quoting Library API", appendix "Quote format": header, TD report, then the signature data. That is a
signature and the attestation key, the quoting enclave's report that vouches for the key, and the PCK certificate whose
key signs the report. Numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field

from reference_node.tee.collateral import QE_MRSIGNER, QE_PRODUCT_ID
from reference_node.tee.pki import Platform

TEE_TYPE_TDX = 0x81
ATTESTATION_KEY_P256 = 2
BODY_TD_REPORT_1_0 = 2
BODY_TD_REPORT_1_5 = 3
CERTIFICATION_PCK_CHAIN = 5
CERTIFICATION_QE_REPORT = 6

QE_VENDOR_INTEL = bytes.fromhex("939a7233f79c4ca9940a0db3957f0607")
"""The vendor id of Intel's quoting enclave: the only one whose quotes DCAP verifiers take."""

ATTESTATION_KEY = "attestation"
"""Label of the quoting enclave's attestation key among a platform's keys."""

TRAILING_ZEROS = 70
"""Real version 4 quotes come in a buffer of fixed size; what the quote leaves of it is zero."""

TD_ATTRIBUTES_SEPT_VE_DISABLE = bytes.fromhex("0000001000000000")
TD_DEBUG = bytes.fromhex("0100001000000000")

_FIELDS = {
    "tee_tcb_svn": 16,
    "mr_seam": 48,
    "mr_signer_seam": 48,
    "seam_attributes": 8,
    "td_attributes": 8,
    "xfam": 8,
    "mr_td": 48,
    "mr_config_id": 48,
    "mr_owner": 48,
    "mr_owner_config": 48,
    "rtmr0": 48,
    "rtmr1": 48,
    "rtmr2": 48,
    "rtmr3": 48,
    "report_data": 64,
}
_FIELDS_1_5 = {"tee_tcb_svn_2": 16, "mr_service_td": 48}


@dataclass(frozen=True)
class TdReport:
    """The TD report of a quote, TDX 1.0; sizes in `_FIELDS`."""

    tee_tcb_svn: bytes = bytes.fromhex("05010200000000000000000000000000")
    mr_seam: bytes = hashlib.sha384(b"simulated TDX module").digest()
    mr_signer_seam: bytes = bytes(48)
    seam_attributes: bytes = bytes(8)
    td_attributes: bytes = TD_ATTRIBUTES_SEPT_VE_DISABLE
    xfam: bytes = bytes.fromhex("e702060000000000")
    mr_td: bytes = hashlib.sha384(b"simulated virtual firmware").digest()
    mr_config_id: bytes = bytes(48)
    mr_owner: bytes = bytes(48)
    mr_owner_config: bytes = bytes(48)
    rtmr0: bytes = bytes(48)
    rtmr1: bytes = bytes(48)
    rtmr2: bytes = bytes(48)
    rtmr3: bytes = bytes(48)
    report_data: bytes = bytes(64)

    def encode(self) -> bytes:
        """The 584 bytes of the report."""
        return _encode(self, _FIELDS)


@dataclass(frozen=True)
class TdReport15(TdReport):
    """The TD report of TDX 1.5, which only a version 5 quote can hold."""

    tee_tcb_svn_2: bytes = bytes.fromhex("05010200000000000000000000000000")
    mr_service_td: bytes = bytes(48)

    def encode(self) -> bytes:
        """The 648 bytes of the report."""
        return _encode(self, _FIELDS | _FIELDS_1_5)


@dataclass(frozen=True)
class QeReport:
    """The quoting enclave's report, an SGX enclave report of 384 bytes."""

    cpusvn: bytes = bytes.fromhex("0303191b04ff00060000000000000000")
    miscselect: bytes = bytes(4)
    attributes: bytes = bytes.fromhex("1500000000000000e700000000000000")
    mrenclave: bytes = hashlib.sha256(b"simulated quoting enclave").digest()
    mrsigner: bytes = QE_MRSIGNER
    product_id: int = QE_PRODUCT_ID
    security_version: int = 6
    reserved: tuple[bytes, bytes, bytes, bytes] = (bytes(28), bytes(32), bytes(96), bytes(60))
    report_data: bytes | None = None
    """64 bytes; `None`: SHA-256 of attestation key and authentication data, then 32 zero bytes."""

    def encode(self, report_data: bytes) -> bytes:
        """The report with this data, unless it states other."""
        return b"".join(
            (
                self.cpusvn,
                self.miscselect,
                self.reserved[0],
                self.attributes,
                self.mrenclave,
                self.reserved[1],
                self.mrsigner,
                self.reserved[2],
                struct.pack("<HH", self.product_id, self.security_version),
                self.reserved[3],
                report_data if self.report_data is None else self.report_data,
            )
        )


@dataclass(frozen=True)
class QuoteForm:
    """Everything in a quote that neither platform nor report decides; a negative vector replaces one field."""

    version: int | None = None
    """The header's version; `None`: that of the layout."""
    attestation_key_type: int = ATTESTATION_KEY_P256
    tee_type: int = TEE_TYPE_TDX
    header_reserved: bytes = bytes(4)
    """The quoting enclave's and PCE's security versions of older layouts: zero in TDX quotes."""
    qe_vendor: bytes = QE_VENDOR_INTEL
    user_data: bytes | None = None
    """20 bytes; `None`: the platform's QE id and 4 zero bytes."""
    body_type: int | None = None
    body_size: int | None = None
    attestation_key: str = ATTESTATION_KEY
    """Label of the attestation key."""
    public_key: bytes | None = None
    """What stands as attestation key; `None`: the point of the labelled key."""
    quote_signing_key: str | None = None
    """Label of the key that signs header and report; `None`: the attestation key."""
    qe_report: QeReport = field(default_factory=QeReport)
    qe_authentication: bytes = bytes(range(32))
    qe_signing_key: str | None = None
    """Label of the key that signs the enclave's report; `None`: the platform's PCK."""
    chain: bytes | None = None
    """The certification data; `None`: the platform's PCK chain as PEM and a zero byte."""
    certification_type: int = CERTIFICATION_PCK_CHAIN
    outer_type: int = CERTIFICATION_QE_REPORT
    inner_trailing: bytes = b""
    """Bytes behind the certification data, inside the outer one."""
    signature_trailing: bytes = b""
    """Bytes behind the signature data's last member, counted in its length."""
    trailing: bytes = bytes(TRAILING_ZEROS)


def make_quote(platform: Platform, report: TdReport, *, version: int = 4, form: QuoteForm | None = None) -> bytes:
    """A quote of the platform over a TD report; a TDX 1.5 report needs version 5."""
    if version not in (4, 5):
        raise ValueError(f"a TDX quote has version 4 or 5, not {version}")
    if version == 4 and isinstance(report, TdReport15):
        raise ValueError("a version 4 quote holds a TDX 1.0 report; make a version 5 quote of a TDX 1.5 report")
    form = form or QuoteForm()
    body = report.encode()
    if version == 5:
        usual_type = BODY_TD_REPORT_1_5 if isinstance(report, TdReport15) else BODY_TD_REPORT_1_0
        body_type = usual_type if form.body_type is None else form.body_type
        body_size = len(body) if form.body_size is None else form.body_size
        body = struct.pack("<HI", body_type, body_size) + body
    signed = _header(platform, form, version) + body
    signature_data = _signature_data(platform, form, signed)
    return signed + struct.pack("<I", len(signature_data)) + signature_data + form.trailing


def _header(platform: Platform, form: QuoteForm, version: int) -> bytes:
    stated = version if form.version is None else form.version
    user_data = platform.derived("qe-id", 16) + bytes(4) if form.user_data is None else form.user_data
    start = struct.pack("<HHI", stated, form.attestation_key_type, form.tee_type)
    return start + form.header_reserved + form.qe_vendor + user_data


def _signature_data(platform: Platform, form: QuoteForm, signed: bytes) -> bytes:
    public_key = platform.public_point(form.attestation_key) if form.public_key is None else form.public_key
    bound = hashlib.sha256(public_key + form.qe_authentication).digest() + bytes(32)
    qe_report = form.qe_report.encode(bound)
    chain = platform.pck_chain_pem.encode() + b"\x00" if form.chain is None else form.chain
    certification = b"".join(
        (
            qe_report,
            platform.sign(form.qe_signing_key or platform.key_label("pck"), qe_report),
            struct.pack("<H", len(form.qe_authentication)),
            form.qe_authentication,
            struct.pack("<HI", form.certification_type, len(chain)),
            chain,
            form.inner_trailing,
        )
    )
    signature = platform.sign(form.quote_signing_key or form.attestation_key, signed)
    outer = struct.pack("<HI", form.outer_type, len(certification)) + certification
    return signature + public_key + outer + form.signature_trailing


def _encode(report: TdReport, sizes: dict[str, int]) -> bytes:
    parts: list[bytes] = []
    for name, size in sizes.items():
        value = getattr(report, name)
        if len(value) != size:
            raise ValueError(f"{name} of a TD report has {size} bytes, not {len(value)}")
        parts.append(value)
    return b"".join(parts)
