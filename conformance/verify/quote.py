"""Layout of TDX quotes, version 4 and 5 (Intel TDX DCAP Quoting Library API, appendix 3): every length is exact.

A length that does not fit is never made up for: zero bytes may follow the signed data, and nothing else may.
"""

from __future__ import annotations

from dataclasses import dataclass

HEADER = 48
TDX = 0x81
ECDSA_P256 = 2
QE_REPORT = 384
BODY_SIZES = {2: 584, 3: 648, 4: 885}
"""Body type of a version 5 quote (TD report 1.0, 1.5, 1.5ex) to its size. A version 4 quote has body type 2."""
QE_REPORT_CERTIFICATION = 6
PCK_CHAIN = 5

_REPORT_FIELDS = (
    ("tee_tcb_svn", 16),
    ("mr_seam", 48),
    ("mr_signer_seam", 48),
    ("seam_attributes", 8),
    ("td_attributes", 8),
    ("xfam", 8),
    ("mr_td", 48),
    ("mr_config_id", 48),
    ("mr_owner", 48),
    ("mr_owner_config", 48),
    ("rt_mr0", 48),
    ("rt_mr1", 48),
    ("rt_mr2", 48),
    ("rt_mr3", 48),
    ("report_data", 64),
)


class UnsupportedQuoteError(ValueError):
    """A quote of a version, TEE or body that is not read here."""


class Cursor:
    """Reads forward through bytes. ValueError: fewer are left than asked for."""

    def __init__(self, data: bytes, name: str, offset: int = 0) -> None:
        self.data, self.name, self.offset, self.position = data, name, offset, 0

    def take(self, count: int, what: str) -> bytes:
        """The next bytes."""
        if self.position + count > len(self.data):
            left = len(self.data) - self.position
            raise ValueError(
                f"byte {self.offset + self.position}: {what} of {count} bytes, but {self.name} has {left} left"
            )
        self.position += count
        return self.data[self.position - count : self.position]

    def number(self, count: int, what: str) -> int:
        """The next bytes as a little-endian number."""
        return int.from_bytes(self.take(count, what), "little")

    def end(self) -> None:
        """ValueError: something is left."""
        if self.position != len(self.data):
            left = len(self.data) - self.position
            raise ValueError(f"byte {self.offset + self.position}: {left} bytes too many in {self.name}")


@dataclass(frozen=True)
class TdReport:
    """The fields of a TD report, bytes as signed."""

    tee_tcb_svn: bytes
    mr_seam: bytes
    mr_signer_seam: bytes
    seam_attributes: bytes
    td_attributes: bytes
    xfam: bytes
    mr_td: bytes
    mr_config_id: bytes
    mr_owner: bytes
    mr_owner_config: bytes
    rt_mr0: bytes
    rt_mr1: bytes
    rt_mr2: bytes
    rt_mr3: bytes
    report_data: bytes
    tee_tcb_svn2: bytes | None = None
    """TD report 1.5: the current TCB, after an update of the TDX module that the TD survived."""
    mr_service_td: bytes | None = None

    @property
    def registers(self) -> tuple[bytes, bytes, bytes, bytes]:
        """RTMR0 to RTMR3."""
        return self.rt_mr0, self.rt_mr1, self.rt_mr2, self.rt_mr3


@dataclass(frozen=True)
class Quote:
    """A quote taken apart. Nothing in it is verified."""

    version: int
    key_type: int
    vendor: bytes
    body_type: int
    report: TdReport
    signed: bytes
    """Header and body: what `signature` signs."""
    signature: bytes
    """r and s."""
    attestation_key: bytes
    """x and y."""
    certification_type: int
    qe_report: bytes
    qe_report_signature: bytes
    qe_auth_data: bytes
    chain_type: int
    chain: bytes
    """Certification data of the quoting enclave: for `PCK_CHAIN` PEM, often with a NUL at its end."""
    raw: bytes


def parse_quote(raw: bytes) -> Quote:
    """Take a quote apart. ValueError: its layout is wrong. UnsupportedQuoteError: of a kind that is not read here."""
    cursor = Cursor(raw, "the quote")
    version = cursor.number(2, "version")
    key_type = cursor.number(2, "attestation key type")
    tee = cursor.number(4, "TEE type")
    if version not in {4, 5} or tee != TDX:
        raise UnsupportedQuoteError(
            f"version {version}, TEE type {tee:#x}: neither a version 4 nor a version 5 quote of TDX"
        )
    cursor.take(4, "reserved bytes")
    vendor = cursor.take(16, "QE vendor id")
    cursor.take(20, "user data")
    body_type = _body_type(cursor) if version == 5 else 2
    report = _report(cursor.take(BODY_SIZES[body_type], "the TD report"), body_type)
    signed = raw[: cursor.position]
    size = cursor.number(4, "size of the signature data")
    start = cursor.position
    data = Cursor(cursor.take(size, "signature data"), "the signature data", start)
    if raw[cursor.position :].strip(b"\0"):
        raise ValueError(f"byte {cursor.position}: bytes other than zero after the signature data")
    signature, attestation_key = data.take(64, "signature"), data.take(64, "attestation key")
    certification_type = data.number(2, "certification data type")
    size = data.number(4, "size of the certification data")
    inner = Cursor(data.take(size, "certification data"), "the certification data", start + data.position)
    data.end()
    qe_report, qe_signature = inner.take(QE_REPORT, "QE report"), inner.take(64, "QE report signature")
    auth_data = inner.take(inner.number(2, "size of the QE authentication data"), "QE authentication data")
    chain_type = inner.number(2, "type of the PCK certification data")
    chain = inner.take(inner.number(4, "size of the PCK certification data"), "PCK certification data")
    inner.end()
    return Quote(
        version, key_type, vendor, body_type, report, signed, signature, attestation_key, certification_type,
        qe_report, qe_signature, auth_data, chain_type, chain, raw,
    )  # fmt: skip


def _body_type(cursor: Cursor) -> int:
    kind = cursor.number(2, "body type")
    if kind not in BODY_SIZES:
        raise UnsupportedQuoteError(f"body type {kind}: no TD report 1.0, 1.5 or 1.5ex")
    size = cursor.number(4, "body size")
    if size != BODY_SIZES[kind]:
        raise ValueError(f"byte 50: body size {size} where body type {kind} has {BODY_SIZES[kind]}")
    return kind


def _report(body: bytes, body_type: int) -> TdReport:
    cursor = Cursor(body, "the TD report")
    fields = {name: cursor.take(size, name) for name, size in _REPORT_FIELDS}
    if body_type == 2:
        return TdReport(**fields)
    return TdReport(
        **fields,
        tee_tcb_svn2=cursor.take(16, "tee_tcb_svn2"),
        mr_service_td=cursor.take(48, "mr_service_td"),
    )


@dataclass(frozen=True)
class QeReport:
    """What is judged of the quoting enclave's report."""

    miscselect: bytes
    attributes: bytes
    mr_signer: bytes
    isv_prod_id: int
    isv_svn: int
    report_data: bytes
    reserved: bytes
    """All bytes that hardware leaves zero."""


def parse_qe_report(raw: bytes) -> QeReport:
    """Take the 384 bytes of an SGX report apart."""
    return QeReport(
        miscselect=raw[16:20],
        attributes=raw[48:64],
        mr_signer=raw[128:160],
        isv_prod_id=int.from_bytes(raw[256:258], "little"),
        isv_svn=int.from_bytes(raw[258:260], "little"),
        report_data=raw[320:384],
        reserved=raw[20:32] + raw[96:128] + raw[160:192] + raw[262:304],
    )
