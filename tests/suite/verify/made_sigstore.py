"""A small Sigstore: an authority, a log of certificates and a log of signatures, on loopback if wanted.

Certificates as Fulcio issues them, with one SCT; entries as Rekor logs them, with promise, proof and checkpoint.
"""

from __future__ import annotations

import base64
import json
import struct
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID
from http_server import JSON, Answer, Request, serve
from made_evidence import NOW

from conformance.verify import keyless

IDENTITY = "https://github.com/laboratory/judge/.github/workflows/judge.yml@refs/heads/main"
ISSUER = "https://token.actions.example"
SCT_LIST = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
OIDC_ISSUER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
LIFE = timedelta(minutes=10)
VALID = {"start": "2020-01-01T00:00:00Z"}
NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a small Sigstore")])


def key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def der(of: EllipticCurvePrivateKey) -> bytes:
    return of.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def signed(by: EllipticCurvePrivateKey, message: bytes) -> bytes:
    return by.sign(message, ECDSA(SHA256()))


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def token(identity: str = IDENTITY, issuer: str = ISSUER) -> str:
    """An OpenID Connect token, valid for an hour from now."""
    claims = {"iss": issuer, "sub": identity, "aud": "sigstore", "iat": now(), "exp": now() + timedelta(hours=1)}
    return jwt.encode(claims, "k" * 32, "HS256")


@dataclass
class Sigstore:
    """One instance, with keys of its own."""

    ca: EllipticCurvePrivateKey = field(default_factory=key)
    ct_log: EllipticCurvePrivateKey = field(default_factory=key)
    log: EllipticCurvePrivateKey = field(default_factory=key)

    @property
    def root(self) -> x509.Certificate:
        """The authority's certificate."""
        public = self.ca.public_key()
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        return (
            x509.CertificateBuilder(NAME, NAME, public, 1)
            .not_valid_before(NOW - timedelta(days=3650))
            .not_valid_after(NOW + timedelta(days=36500))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self.ca, SHA256())
        )

    def certificate(self, public: Any, identity: str, issuer: str) -> x509.Certificate:
        """A certificate for ten minutes from now, with an SCT by the log of certificates."""
        at = now()
        usage = x509.KeyUsage(True, False, False, False, False, False, False, False, False)
        builder = (
            x509.CertificateBuilder(NAME, x509.Name([]), public, 2)
            .not_valid_before(at)
            .not_valid_after(at + LIFE)
            .add_extension(usage, critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.ca.public_key()), critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(identity)]), critical=True)
            .add_extension(x509.UnrecognizedExtension(OIDC_ISSUER, issuer.encode()), critical=False)
        )
        sct = self._sct(builder.sign(self.ca, SHA256()).tbs_certificate_bytes, at)
        return builder.add_extension(x509.UnrecognizedExtension(SCT_LIST, sct), critical=False).sign(self.ca, SHA256())

    def _sct(self, precertificate: bytes, at: datetime) -> bytes:
        """The list with one SCT of RFC 6962, in the OCTET STRING of its extension."""
        time = struct.pack("!Q", int(at.timestamp()) * 1000)
        entry = sha256(der(self.ca)).digest() + len(precertificate).to_bytes(3, "big") + precertificate
        signature = signed(self.ct_log, b"\0\0" + time + b"\0\1" + entry + b"\0\0")
        sct = b"\0" + sha256(der(self.ct_log)).digest() + time + b"\0\0" + b"\4\3" + _counted(signature)
        listed = _counted(_counted(sct))
        return b"\4" + bytes([len(listed)]) + listed  # under 128 bytes

    def bundle(self, payload: bytes, identity: str = IDENTITY, issuer: str = ISSUER) -> dict[str, Any]:
        """A bundle that Sigstore's library has this instance sign."""
        with self.served() as url:
            trust = json.dumps(self.trust_config(url)).encode()
            body, _ = keyless.sign(payload, token(identity, issuer), trust)
        made: dict[str, Any] = json.loads(body)
        return made

    def trusted_root(self, url: str = "https://log.example") -> dict[str, Any]:
        """The message TrustedRoot."""
        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [_log(url, self.log)],
            "certificateAuthorities": [
                {
                    "subject": {"organization": "small", "commonName": "a small Sigstore"},
                    "uri": url,
                    "certChain": {"certificates": [{"rawBytes": b64(self.root.public_bytes(Encoding.DER))}]},
                    "validFor": VALID,
                }
            ],
            "ctlogs": [_log(url, self.ct_log)],
            "timestampAuthorities": [],
        }

    def trust_config(self, url: str) -> dict[str, Any]:
        """The message ClientTrustConfig, of an instance whose services are all at one address."""
        service = {"url": url, "majorApiVersion": 1, "validFor": VALID, "operator": "small"}
        return {
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": self.trusted_root(url),
            "signingConfig": {
                "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                "caUrls": [service],
                "oidcUrls": [service],
                "rekorTlogUrls": [service],
                "tsaUrls": [],
                "rekorTlogConfig": {"selector": "ANY"},
                "tsaConfig": {"selector": "ANY"},
            },
        }

    def issued(self, request: dict[str, Any], bearer: str) -> dict[str, Any]:
        """Fulcio's answer to a request for a certificate."""
        claims = jwt.decode(bearer, "k" * 32, ["HS256"], audience="sigstore")
        csr = x509.load_pem_x509_csr(base64.b64decode(request["certificateSigningRequest"]))
        made = [self.certificate(csr.public_key(), claims["sub"], claims["iss"]), self.root]
        pems = [certificate.public_bytes(Encoding.PEM).decode() for certificate in made]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": pems}}}

    def entered(self, request: dict[str, Any]) -> dict[str, Any]:
        """Rekor's answer to a proposed entry, as version 1 gives it: the second of three in the log."""
        content = request["spec"]["proposedContent"]
        envelope = json.loads(content["envelope"])
        spec = {
            "envelopeHash": _digest(content["envelope"].encode()),
            "payloadHash": _digest(base64.b64decode(envelope["payload"])),
            "signatures": [{"signature": envelope["signatures"][0]["sig"], "verifier": content["verifiers"][0]}],
        }
        body = canonical({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec})
        log_id = sha256(der(self.log)).digest()
        promised = {"body": b64(body), "integratedTime": int(now().timestamp()), "logID": log_id.hex(), "logIndex": 1}
        before, after = (sha256(b"\0" + other).digest() for other in (b"the first", b"the third"))
        leaf = sha256(b"\0" + body).digest()
        root = sha256(b"\1" + sha256(b"\1" + before + leaf).digest() + after).digest()
        note = f"log.example - 1\n3\n{b64(root)}\n"
        proof = {
            "checkpoint": f"{note}\n\u2014 log.example {b64(log_id[:4] + signed(self.log, note.encode()))}\n",
            "hashes": [before.hex(), after.hex()],
            "logIndex": 1,
            "rootHash": root.hex(),
            "treeSize": 3,
        }
        promise = b64(signed(self.log, canonical(promised)))
        return {"00": promised | {"verification": {"inclusionProof": proof, "signedEntryTimestamp": promise}}}

    def served(self) -> AbstractContextManager[str]:
        """The address at which certificates are issued and entries logged."""
        return serve(self._answered)

    def _answered(self, request: Request) -> Answer:
        asked = json.loads(request.body)
        if request.target == "/api/v2/signingCert":
            answer = self.issued(asked, request.headers["authorization"].removeprefix("Bearer "))
        else:
            assert request.target == "/api/v1/log/entries"
            answer = self.entered(asked)
        return Answer(201, json.dumps(answer).encode(), JSON)


def _digest(content: bytes) -> dict[str, str]:
    return {"algorithm": "sha256", "value": sha256(content).hexdigest()}


def _counted(content: bytes) -> bytes:
    return len(content).to_bytes(2, "big") + content


def _log(url: str, of: EllipticCurvePrivateKey) -> dict[str, Any]:
    return {
        "baseUrl": url,
        "hashAlgorithm": "SHA2_256",
        "publicKey": {"rawBytes": b64(der(of)), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": VALID},
        "logId": {"keyId": b64(sha256(der(of)).digest())},
    }
