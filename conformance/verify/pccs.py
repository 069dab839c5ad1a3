"""Collateral from Intel's Provisioning Certification Service, or a cache of it (PCS and PCCS API, version 4).

Connections are not authenticated: every part of the collateral is signed and dated, and both are checked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from cryptography import x509

from conformance.verify.certificates import Certificate
from conformance.verify.chain import PckChain
from conformance.verify.strict import json_object, text_member
from conformance.verify.transport import Answer, Budget, FetchError, Transport

INTEL_PCS = "https://api.trustedservices.intel.com"
_SGX, _TDX = "/sgx/certification/v4", "/tdx/certification/v4"


@dataclass(frozen=True)
class _Document:
    """A signed JSON document: its exact text, since that is what is signed."""

    text: str
    signature: str
    chain: str


def fetch_collateral(pccs: str, chain: PckChain, root: Certificate, budget: Budget) -> bytes:
    """Collateral for the platform of a PCK chain, as in `collateral.json`. FetchError: a part cannot be had."""
    ca = "processor" if "Processor" in chain.ca.name else "platform"
    with Transport(pccs, budget) as service:
        pck_crl = _get(service, f"{_SGX}/pckcrl?ca={ca}&encoding=der")
        tcb = _document(
            service, f"{_TDX}/tcb?fmspc={chain.extension.fmspc.hex().upper()}", "tcbInfo", "TCB-Info-Issuer-Chain"
        )
        identity = _document(service, f"{_TDX}/qe/identity", "enclaveIdentity", "SGX-Enclave-Identity-Issuer-Chain")
        cached_root_crl = service.get(f"{_SGX}/rootcacrl")
    root_crl = cached_root_crl.body if cached_root_crl.status == 200 else _published_crl(root, budget)
    members = {
        "pck_crl_issuer_chain": _header(pck_crl, pccs, "SGX-PCK-CRL-Issuer-Chain"),
        "root_ca_crl": _der(root_crl, pccs).hex(),
        "pck_crl": _der(pck_crl.body, pccs).hex(),
        "tcb_info_issuer_chain": tcb.chain,
        "tcb_info": tcb.text,
        "tcb_info_signature": tcb.signature,
        "qe_identity_issuer_chain": identity.chain,
        "qe_identity": identity.text,
        "qe_identity_signature": identity.signature,
    }
    return (json.dumps(members, indent=2) + "\n").encode()


def _get(service: Transport, path: str) -> Answer:
    answer = service.get(path)
    if answer.status != 200:
        raise FetchError(f"no collateral from {service.base_url}{path}: status {answer.status}")
    return answer


def _header(answer: Answer, service: str, *names: str) -> str:
    """A certificate chain, percent-encoded in a header."""
    for name in names:
        if name.lower() in answer.headers:
            return unquote(answer.headers[name.lower()])
    raise FetchError(f"no collateral from {service}: its answer has no header {names[0]}")


def _document(service: Transport, path: str, name: str, header: str) -> _Document:
    """The exact text of a document stands between the name and the signature of the answer."""
    answer = _get(service, path)
    try:
        text = answer.body.decode("utf-8")
        signature = text_member(json_object(answer.body), "signature")
        start = text.index("{", text.index(f'"{name}"') + len(name))
        _, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError as problem:
        raise FetchError(
            f"no collateral from {service.base_url}{path}: no JSON of {name} and its signature"
        ) from problem
    return _Document(text[start:end], signature, _header(answer, service.base_url, header, f"SGX-{header}"))


def _der(body: bytes, service: str) -> bytes:
    """A revocation list, which caches serve in hex."""
    if body[:1] == b"\x30":  # a DER sequence; hex of one begins with the digit 3, which is 0x33
        return body
    try:
        return bytes.fromhex(body.decode("ascii").strip())
    except ValueError as problem:
        raise FetchError(f"no collateral from {service}: a revocation list is neither DER nor hex") from problem


def _published_crl(root: Certificate, budget: Budget) -> bytes:
    """The root's revocation list from where the root certificate, which is trusted, says that it is."""
    for extension in root.parsed.extensions:
        if isinstance(extension.value, x509.CRLDistributionPoints):
            for point in extension.value:
                for name in point.full_name or ():
                    if str(name.value).startswith("http"):
                        return _published(str(name.value), budget)
    raise FetchError(
        f"no revocation list of {root.full_name}: neither the service nor the certificate says where it is"
    )


def _published(url: str, budget: Budget) -> bytes:
    parts = urlsplit(url)
    with Transport(f"{parts.scheme}://{parts.netloc}", budget) as publisher:
        return _get(publisher, parts.path).body
