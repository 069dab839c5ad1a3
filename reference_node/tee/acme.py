"""The simulated ACME issuer: an account, and certificates for the gateway domain (RFC 8555 in its outcome only).

Everything follows from a seed and the time of issue: the same seed and time give the same bytes.
"""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from reference_node.tee.pki import P256_ORDER, pem

CA_DOMAIN = "acme.example"
"""What names the issuer in CAA records (RFC 8659)."""

LIFETIME = timedelta(days=90)
"""How long a certificate counts."""

BACKDATED = timedelta(hours=1)
"""How long before its issue a certificate begins to count, for clocks that are behind."""

LOOPBACK = (
    x509.DNSName("localhost"),
    x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")),
    x509.IPAddress(ipaddress.IPv6Address("::1")),
)
"""Further names of every certificate, by which programs on the same machine reach the node."""


@dataclass(frozen=True)
class Credentials:
    """What a TLS server shows, and proves that it holds."""

    chain: bytes
    """PEM, the leaf first; the evidence shows exactly these bytes."""
    key: bytes
    """PEM of the leaf's private key."""


class Issuer:
    """A certificate authority with a root, an issuing certificate and one account."""

    def __init__(self, seed: bytes, began: int) -> None:
        """`began` is the Unix time from which on its own certificates count."""
        self._seed = seed
        self._began = datetime.fromtimestamp(began, UTC)

    @property
    def account_uri(self) -> str:
        """The URI of the node's account (RFC 8657)."""
        number = int.from_bytes(self._bytes("account")[:4])
        return f"https://{CA_DOMAIN}/acme/acct/{number}"

    @property
    def caa(self) -> dict[str, str]:
        """The CAA properties that leave issuance to this account alone, by tag (RFC 8659, RFC 8657)."""
        only = f"{CA_DOMAIN}; validationmethods=dns-01; accounturi={self.account_uri}"
        return {"issue": only, "issuewild": only}

    @property
    def root_pem(self) -> str:
        """The root as PEM."""
        return pem(self.root)

    def issue(self, domain: str, at: int, turn: int) -> Credentials:
        """A certificate for this domain, issued at this Unix time; each `turn` is another with another key."""
        key = self._key(f"leaf {domain} {at} {turn}")
        begins = datetime.fromtimestamp(at, UTC)
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        leaf = (
            self._builder(_name(domain), self.intermediate.subject, key)
            .not_valid_before(begins - BACKDATED)
            .not_valid_after(begins - BACKDATED + LIFETIME)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(ca=False), critical=True)
            .add_extension(usage, critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(domain), *LOOPBACK]), critical=False)
            .add_extension(_authority(self._intermediate_key), critical=False)
            .sign(self._intermediate_key, hashes.SHA256(), ecdsa_deterministic=True)
        )
        return Credentials(pem(leaf, self.intermediate).encode(), _private_pem(key))

    @cached_property
    def root(self) -> x509.Certificate:
        """The self-signed certificate by which clients can check the chain."""
        return self._authority_certificate("Simulated ACME Root", self._root_key, None, 1)

    @cached_property
    def intermediate(self) -> x509.Certificate:
        """The certificate that issues."""
        return self._authority_certificate("Simulated ACME Issuer", self._intermediate_key, self.root, 0)

    @cached_property
    def _root_key(self) -> ec.EllipticCurvePrivateKey:
        return self._key("root")

    @cached_property
    def _intermediate_key(self) -> ec.EllipticCurvePrivateKey:
        return self._key("intermediate")

    def _authority_certificate(
        self, name: str, key: ec.EllipticCurvePrivateKey, issuer: x509.Certificate | None, path_length: int
    ) -> x509.Certificate:
        subject = _name(name)
        builder = (
            self._builder(subject, issuer.subject if issuer else subject, key)
            .not_valid_before(self._began - timedelta(days=365))
            .not_valid_after(self._began + timedelta(days=20 * 365))
            .add_extension(x509.BasicConstraints(ca=True, path_length=path_length), critical=True)
            .add_extension(_key_usage(ca=True), critical=True)
            .add_extension(_authority(self._root_key), critical=False)
        )
        return builder.sign(self._root_key, hashes.SHA256(), ecdsa_deterministic=True)

    def _builder(
        self, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        public = key.public_key()
        serial = int.from_bytes(hashlib.sha256(public.public_numbers().x.to_bytes(32)).digest()[:16])
        identifier = x509.SubjectKeyIdentifier.from_public_key(public)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(public)
        return builder.serial_number(serial).add_extension(identifier, critical=False)

    def _key(self, purpose: str) -> ec.EllipticCurvePrivateKey:
        scalar = int.from_bytes(self._bytes(purpose)) % (P256_ORDER - 1) + 1
        return ec.derive_private_key(scalar, ec.SECP256R1())

    def _bytes(self, purpose: str) -> bytes:
        return hashlib.sha512(b"acme\x00" + self._seed + purpose.encode()).digest()


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A private key as PEM."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
