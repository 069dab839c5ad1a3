"""Certificates as this verifier reads them: issuer, validity, and whether one is simulated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from conformance.verify.pck import SGX
from conformance.verify.strict import pem_certificates, when

SIMULATED = "SIMULATED"
"""What the organisation of a simulated root says of itself."""
_PROBLEMS = (
    ValueError,
    TypeError,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
    UnsupportedAlgorithm,
)
_FILTERING = Lock()


@dataclass(frozen=True)
class Certificate:
    """A certificate of a chain, read once."""

    der: bytes
    subject: bytes
    """DER of the name, so that names compare byte for byte."""
    issuer: bytes
    serial: int
    not_before: int
    """Unix seconds."""
    not_after: int
    is_ca: bool
    signs_certificates: bool
    """Whether its key usage lets it, as `signs_lists`; a CA that lacks the extension may do neither."""
    signs_lists: bool
    organisation: str
    name: str
    """For people."""
    public_point: bytes
    """x and y of a P-256 key; empty for any other key."""
    sgx_extension: bytes | None
    names: tuple[str, ...]
    """DNS names that it is for."""
    parsed: x509.Certificate

    @property
    def full_name(self) -> str:
        """Name and organisation: a simulated certificate may have the common name of a real one."""
        return f"{self.name} ({self.organisation})"

    def validity_fault(self, at: int) -> str | None:
        """How the certificate is not valid at a time."""
        if at < self.not_before:
            return f"{self.name} is not valid before {when(self.not_before)}"
        if at > self.not_after:
            return f"{self.name} expired {when(self.not_after)}"
        return None


@lru_cache(maxsize=64)
def read_certificate(der: bytes) -> Certificate:
    """Read a certificate. ValueError: it is no X.509 certificate that can be read."""
    try:
        # cryptography warns of old oddities, such as negative serial numbers, that a fuzzer finds and nobody reads.
        # The filters of warnings are the process's: two threads that set and restore them in turn would spoil them.
        with _FILTERING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read(der)
    except _PROBLEMS as problem:
        raise ValueError(f"no certificate that can be read: {problem}") from problem


def _read(der: bytes) -> Certificate:
    parsed = x509.load_der_x509_certificate(der)
    if parsed.public_bytes(Encoding.DER) != der:
        raise ValueError("bytes beside the certificate")
    subject = parsed.subject  # made anew each time that it is asked for, as are the others
    extensions = {extension.oid: extension.value for extension in parsed.extensions}
    constraints = extensions.get(x509.BasicConstraints.oid)
    usage = extensions.get(x509.KeyUsage.oid)
    sgx = extensions.get(x509.ObjectIdentifier(SGX))
    alternative = extensions.get(x509.SubjectAlternativeName.oid)
    return Certificate(
        der=der,
        subject=subject.public_bytes(),
        issuer=parsed.issuer.public_bytes(),
        serial=parsed.serial_number,
        not_before=int(parsed.not_valid_before_utc.timestamp()),
        not_after=int(parsed.not_valid_after_utc.timestamp()),
        is_ca=isinstance(constraints, x509.BasicConstraints) and constraints.ca,
        signs_certificates=isinstance(usage, x509.KeyUsage) and usage.key_cert_sign,
        signs_lists=isinstance(usage, x509.KeyUsage) and usage.crl_sign,
        organisation=_name_part(subject, x509.NameOID.ORGANIZATION_NAME),
        name=_name_part(subject, x509.NameOID.COMMON_NAME) or "a certificate without a name",
        public_point=_public_point(parsed),
        sgx_extension=sgx.value if isinstance(sgx, x509.UnrecognizedExtension) else None,
        names=_dns_names(alternative),
        parsed=parsed,
    )


def _name_part(name: x509.Name, oid: x509.ObjectIdentifier) -> str:
    return ", ".join(str(attribute.value) for attribute in name.get_attributes_for_oid(oid))


def _public_point(parsed: x509.Certificate) -> bytes:
    key = parsed.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        return b""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]


def _dns_names(alternative: object) -> tuple[str, ...]:
    if not isinstance(alternative, x509.SubjectAlternativeName):
        return ()
    return tuple(alternative.get_values_for_type(x509.DNSName))


@lru_cache(maxsize=32)
def read_chain(pem: bytes) -> tuple[Certificate, ...]:
    """Read certificates in strict PEM. ValueError: not in that form."""
    return tuple(read_certificate(der) for der in pem_certificates(pem))


@lru_cache(maxsize=8)
def read_root(body: bytes) -> Certificate:
    """A single certificate, in PEM or DER. ValueError: it is none, or more than one."""
    if not body.lstrip().startswith(b"-----BEGIN"):
        return read_certificate(body)
    chain = read_chain(body.strip() + b"\n")
    if len(chain) != 1:
        raise ValueError(f"{len(chain)} certificates where one root belongs")
    return chain[0]


@dataclass(frozen=True)
class RevocationList:
    """A certificate revocation list, read once."""

    der: bytes
    issuer: bytes
    this_update: int
    next_update: int
    revoked: frozenset[int]
    """Serial numbers."""
    parsed: x509.CertificateRevocationList


@lru_cache(maxsize=16)
def read_revocation_list(der: bytes) -> RevocationList:
    """Read a revocation list in DER. ValueError: it is none, or says no next update."""
    try:
        parsed = x509.load_der_x509_crl(der)
        if parsed.public_bytes(Encoding.DER) != der:
            raise ValueError("bytes beside the revocation list")
        if parsed.next_update_utc is None:
            raise ValueError("no next update")
        return RevocationList(
            der=der,
            issuer=parsed.issuer.public_bytes(),
            this_update=int(parsed.last_update_utc.timestamp()),
            next_update=int(parsed.next_update_utc.timestamp()),
            revoked=frozenset(entry.serial_number for entry in parsed),
            parsed=parsed,
        )
    except _PROBLEMS as problem:
        raise ValueError(f"no revocation list that can be read: {problem}") from problem
