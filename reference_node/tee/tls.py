"""TLS of the node's own: every handshake shows the certificate of the moment, and connections outlive it."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from reference_node.tee.acme import Credentials


class CertificateError(Exception):
    """The operator's certificate or key can't be used; the message is one line that says which, why and what to do."""


def context_of(credentials: Credentials) -> ssl.SSLContext:
    """A server's context with these credentials. Sessions are never resumed: that would hide a new certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0
    context.set_alpn_protocols(["http/1.1"])
    with tempfile.NamedTemporaryFile() as file:  # ssl loads from files only
        file.write(credentials.key + b"\n" + credentials.chain)
        file.flush()
        context.load_cert_chain(file.name)
    return context


def switching_context(current: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """A context for a listener that shows each new connection the certificate of the context that is current then."""

    def switch(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = current()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0
    context.set_alpn_protocols(["http/1.1"])
    context.sni_callback = switch
    return context


@dataclass(frozen=True)
class CertificateFiles:
    """A certificate of the operator's, as PEM files that are read anew at each rotation."""

    chain: Path
    """The leaf first."""
    key: Path

    def read(self, domain: str | None = None) -> Credentials:
        """What the files hold at this moment, fit for this domain. Raises `CertificateError`."""
        credentials = Credentials(_content(self.chain), _content(self.key))
        leaf = self._leaf(credentials)
        if domain is not None and not any(_covers(name, domain) for name in _names(leaf)):
            raise CertificateError(f"the certificate {self.chain} is not for {domain}: name one of {_listed(leaf)}")
        try:
            context_of(credentials)
        except ssl.SSLError as fault:
            raise CertificateError(f"the certificate {self.chain} can't be served: {fault.reason or fault}") from None
        return credentials

    def domain(self) -> str:
        """The first domain that the certificate is for. Raises `CertificateError`."""
        names = _names(self._leaf(self.read()))
        if not names:
            raise CertificateError(f"the certificate {self.chain} names no domain: use one with a subjectAltName")
        return names[0]

    def _leaf(self, credentials: Credentials) -> x509.Certificate:
        try:
            leaf = x509.load_pem_x509_certificates(credentials.chain)[0]
        except ValueError:
            raise CertificateError(f"the file {self.chain} holds no certificate in PEM") from None
        try:
            key = load_pem_private_key(credentials.key, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise CertificateError(f"the file {self.key} holds no private key in PEM without a password") from None
        form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if key.public_key().public_bytes(*form) != leaf.public_key().public_bytes(*form):
            raise CertificateError(f"the key {self.key} is not that of the first certificate in {self.chain}")
        return leaf


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as fault:
        raise CertificateError(f"the file {file} can't be read: {fault.strerror}") from None


def _names(leaf: x509.Certificate) -> list[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return names.get_values_for_type(x509.DNSName)


def _listed(leaf: x509.Certificate) -> str:
    return ", ".join(_names(leaf)) or "its domains (it has none)"


def _covers(name: str, domain: str) -> bool:
    """Whether a name of a certificate stands for a domain; `*` stands for one label (RFC 6125)."""
    name, domain = name.lower(), domain.lower()
    return name == domain or (name.startswith("*.") and name[2:] == domain.partition(".")[2])
