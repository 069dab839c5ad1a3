"""An HTTP server on loopback that answers every request alike, over TLS with a self-signed certificate if wanted."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from counting_proxy import NAME
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from http_server import Answer, Request, serve

RESULT = b'{"jsonrpc": "2.0", "id": 1, "result": "0x1"}'
CUSTOMER = b'{"id": "cus_1", "object": "customer"}'


def make_certificate(folder: Path) -> Path:
    """A key and a self-signed certificate of `node.test` and 127.0.0.1, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName(NAME), x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    encoding, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_password)
    file.write_bytes(made.public_bytes(encoding) + private)
    return file


@dataclass
class Server:
    """Answers every request alike, and keeps what it was asked for, with which `Authorization` and `Host`."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    """Of the next answers; 200 after them."""
    targets: list[str] = field(default_factory=list)
    authorisations: list[str | None] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    @property
    def server_port(self) -> int:
        """Where it listens."""
        return urlsplit(self.url).port or 0

    def answer(self, request: Request) -> Answer:
        """The answer to a request."""
        self.targets.append(request.target)
        self.authorisations.append(request.headers.get("authorization"))
        self.hosts.append(request.headers["host"])
        status = self.statuses.pop(0) if self.statuses else 200
        return Answer(status, CUSTOMER if request.target.startswith("/v1/") else RESULT)


@contextmanager
def running(certificate: Path | None = None) -> Iterator[Server]:
    """The server, over TLS with a certificate."""
    server, context = Server(), None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    with serve(server.answer, context) as server.url:
        yield server
