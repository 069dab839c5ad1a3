"""The certificates and revocation lists of a simulated platform: the PKI beneath every quote (Intel DCAP).

A root signs the PCK CA and the TCB signer; the PCK CA signs the PCK certificate of the machine. Common names are
Intel's, since verifiers look for them; the organization says that none of it is Intel's. The same seed and time give
the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from reference_node.tee.sgx_extension import SGX_EXTENSION_OID, PlatformTcb, sgx_extension

ORGANIZATION = "Simulated TEE (not Intel Corporation)"
"""The subject and issuer organization of every certificate: what tells a simulated platform from a real one."""

P256_ORDER = 0xFFFFFFFF_00000000_FFFFFFFF_FFFFFFFF_BCE6FAAD_A7179E84_F3B9CAC2_FC632551
"""The order of P-256 (FIPS 186-5): private keys are 1 to one less than this."""

ROOT_CRL_URL = "https://certificates.simulated.invalid/SimulatedRootCA.der"
PCK_CRL_URL = "https://pccs.simulated.invalid/sgx/certification/v4/pckcrl?ca={ca}&encoding=der"

Role = Literal["root", "pck_ca", "pck", "tcb_signer"]


@dataclass(frozen=True)
class CertificateForm:
    """How the certificate of one role is made; negative vectors change one field with `replace`."""

    common_name: str
    issuer: Role
    authority: bool
    valid_days: tuple[float, float]
    """First and last moment, in days from the platform's time."""
    organization: str = ORGANIZATION
    path_length: int | None = None
    crl_url: str | None = ROOT_CRL_URL
    cert_sign: bool | None = None
    """`None`: what `authority` says."""
    crl_sign: bool | None = None
    key: str | None = None
    """Label of the key that the certificate is for; `None`: the role."""
    signing_key: str | None = None
    """Label of the key that signs; `None`: the key of the issuer's certificate."""


@dataclass(frozen=True)
class CrlForm:
    """How a revocation list is made."""

    issuer: Role
    revoked: tuple[Role, ...] = ()
    revoked_serials: tuple[int, ...] = ()
    valid_days: tuple[float, float] = (-1, 30)
    """Last and next update, in days from the time of issue."""
    signing_key: str | None = None
    number: int = 1


@dataclass(frozen=True)
class PlatformForm:
    """Everything about a platform that neither its seed nor its time decides."""

    tcb: PlatformTcb = field(default_factory=PlatformTcb)
    pck_ca: Literal["Platform", "Processor"] = "Platform"
    certificates: Mapping[Role, CertificateForm] = field(default_factory=dict)
    """Forms that take the place of the usual ones."""
    root_crl: CrlForm = CrlForm(issuer="root")
    pck_crl: CrlForm = CrlForm(issuer="pck_ca")

    def certificate(self, role: Role) -> CertificateForm:
        """The form of a role's certificate."""
        return self.certificates.get(role) or _usual_form(role, self.pck_ca)

    def with_certificate(self, role: Role, **changes: object) -> PlatformForm:
        """The same form with some fields of one certificate changed."""
        changed = replace(self.certificate(role), **changes)  # type: ignore[arg-type]  # mypy cannot type **changes
        return replace(self, certificates={**self.certificates, role: changed})


def _usual_form(role: Role, pck_ca: str) -> CertificateForm:
    match role:
        case "root":
            return CertificateForm("Intel SGX Root CA", "root", authority=True, valid_days=(-3000, 8000), path_length=1)
        case "pck_ca":
            name = f"Intel SGX PCK {pck_ca} CA"
            return CertificateForm(name, "root", authority=True, valid_days=(-2000, 4000), path_length=0)
        case "tcb_signer":
            return CertificateForm("Intel SGX TCB Signing", "root", authority=False, valid_days=(-2000, 4000))
        case "pck":
            url = PCK_CRL_URL.format(ca=pck_ca.lower())
            return CertificateForm(
                "Intel SGX PCK Certificate", "pck_ca", authority=False, valid_days=(-30, 2500), crl_url=url
            )


class Platform:
    """A machine with its PKI, made from a seed and the time; nothing in it is random."""

    def __init__(self, seed: bytes, now: datetime, form: PlatformForm | None = None) -> None:
        self.seed = seed
        self.now = now.replace(microsecond=0)
        self.form = form or PlatformForm()

    def key(self, label: str) -> ec.EllipticCurvePrivateKey:
        """The P-256 key that the seed gives this label."""
        scalar = int.from_bytes(hashlib.sha512(self.seed + b"/key/" + label.encode()).digest())
        return ec.derive_private_key(scalar % (P256_ORDER - 1) + 1, ec.SECP256R1())

    def derived(self, label: str, size: int) -> bytes:
        """Bytes that the seed gives this label, at most 64."""
        return hashlib.sha512(self.seed + b"/bytes/" + label.encode()).digest()[:size]

    def sign(self, label: str, message: bytes) -> bytes:
        """Signature of the label's key: ECDSA over SHA-256, `r` and `s` of 32 bytes each, deterministic (RFC 6979)."""
        algorithm = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        r, s = decode_dss_signature(self.key(label).sign(message, algorithm))
        return r.to_bytes(32) + s.to_bytes(32)

    def public_point(self, label: str) -> bytes:
        """The label's public key: `x` and `y` of 32 bytes each."""
        numbers = self.key(label).public_key().public_numbers()
        return numbers.x.to_bytes(32) + numbers.y.to_bytes(32)

    def key_label(self, role: Role) -> str:
        """Label of the key that a role's certificate is for."""
        return self.form.certificate(role).key or role

    @cached_property
    def root(self) -> x509.Certificate:
        """The self-signed root."""
        return self._certificate("root")

    @cached_property
    def pck_ca(self) -> x509.Certificate:
        """The CA of PCK certificates."""
        return self._certificate("pck_ca")

    @cached_property
    def pck(self) -> x509.Certificate:
        """The provisioning certification key's certificate, which signs the quoting enclave's report."""
        return self._certificate("pck")

    @cached_property
    def tcb_signer(self) -> x509.Certificate:
        """The certificate that signs TCB info and QE identity."""
        return self._certificate("tcb_signer")

    def certificate(self, role: Role) -> x509.Certificate:
        """The certificate of a role."""
        return {"root": self.root, "pck_ca": self.pck_ca, "pck": self.pck, "tcb_signer": self.tcb_signer}[role]

    @property
    def root_pem(self) -> str:
        """The root as PEM."""
        return pem(self.root)

    @cached_property
    def pck_chain_pem(self) -> str:
        """PCK certificate, its CA and the root as PEM, leaf first."""
        return pem(self.pck, self.pck_ca, self.root)

    @cached_property
    def root_crl(self) -> bytes:
        """DER of the root's revocation list as of the platform's time."""
        return self.crl(self.form.root_crl, self.now)

    @cached_property
    def pck_crl(self) -> bytes:
        """DER of the PCK CA's revocation list as of the platform's time."""
        return self.crl(self.form.pck_crl, self.now)

    def crl(self, form: CrlForm, issued: datetime) -> bytes:
        """DER of a revocation list issued at this time."""
        start, end = (issued.replace(microsecond=0) + timedelta(days=days) for days in form.valid_days)
        issuer = self.form.certificate(form.issuer)
        signing_key = self.key(form.signing_key or self.key_label(form.issuer))
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(_name(issuer))
            .last_update(start)
            .next_update(end)
            .add_extension(x509.CRLNumber(form.number), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
        )
        for serial in (*(self._serial(role) for role in form.revoked), *form.revoked_serials):
            entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(start)
            builder = builder.add_revoked_certificate(entry.build())
        return builder.sign(signing_key, hashes.SHA256(), ecdsa_deterministic=True).public_bytes(Encoding.DER)

    def _serial(self, role: Role) -> int:
        return int.from_bytes(b"\x01" + self.derived(f"serial/{role}", 18))

    def _certificate(self, role: Role) -> x509.Certificate:
        form = self.form.certificate(role)
        start, end = (self.now + timedelta(days=days) for days in form.valid_days)
        public_key = self.key(self.key_label(role)).public_key()
        signing_key = self.key(form.signing_key or self.key_label(form.issuer))
        builder = (
            x509.CertificateBuilder()
            .subject_name(_name(form))
            .issuer_name(_name(self.form.certificate(form.issuer)))
            .public_key(public_key)
            .serial_number(self._serial(role))
            .not_valid_before(start)
            .not_valid_after(end)
        )
        for extension, critical in _extensions(form, public_key, signing_key.public_key()):
            builder = builder.add_extension(extension, critical=critical)
        if role == "pck":
            oid = x509.ObjectIdentifier(SGX_EXTENSION_OID)
            builder = builder.add_extension(x509.UnrecognizedExtension(oid, self._sgx_extension()), critical=False)
        return builder.sign(signing_key, hashes.SHA256(), ecdsa_deterministic=True)

    def _sgx_extension(self) -> bytes:
        tcb = self.form.tcb
        if self.form.pck_ca == "Processor":
            tcb = replace(tcb, sgx_type=0)
        ppid = self.derived("ppid", 16) if tcb.ppid is None else tcb.ppid
        return sgx_extension(tcb, ppid, self.derived("platform-instance-id", 16))


def pem(*certificates: x509.Certificate) -> str:
    """Certificates as PEM, one after the other."""
    return "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates)


def _name(form: CertificateForm) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, form.common_name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, form.organization),
            x509.NameAttribute(NameOID.LOCALITY_NAME, "Santa Clara"),
            x509.NameAttribute(NameOID.STATE_OR_PROVINCE_NAME, "CA"),
            x509.NameAttribute(NameOID.COUNTRY_NAME, "US"),
        ]
    )


def _extensions(
    form: CertificateForm, public_key: ec.EllipticCurvePublicKey, issuer_key: ec.EllipticCurvePublicKey
) -> list[tuple[x509.ExtensionType, bool]]:
    usage = x509.KeyUsage(
        digital_signature=not form.authority,
        content_commitment=not form.authority,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=form.authority if form.cert_sign is None else form.cert_sign,
        crl_sign=form.authority if form.crl_sign is None else form.crl_sign,
        encipher_only=False,
        decipher_only=False,
    )
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), False),
        (x509.SubjectKeyIdentifier.from_public_key(public_key), False),
        (usage, True),
        (x509.BasicConstraints(form.authority, form.path_length), True),
    ]
    if form.crl_url is not None:
        locations = [x509.UniformResourceIdentifier(form.crl_url)]
        point = x509.DistributionPoint(locations, relative_name=None, reasons=None, crl_issuer=None)
        extensions.insert(1, (x509.CRLDistributionPoints([point]), False))
    return extensions
