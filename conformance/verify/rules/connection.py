"""What ties the connection to the evidence: checksums, TLS certificate, ACME account, the API's connection."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

from conformance.verify.caa import check_account
from conformance.verify.certificates import Certificate
from conformance.verify.evidence import API_CERTIFICATE, CHECKSUMS, EVIDENCE_QUOTE, OBSERVED
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.observed import Observed
from conformance.verify.reading import CertificateFile, Reading, covers

NO_TLS = "NOT PROVEN: nothing shows that your connection ends in the TEE; the evidence came over plain HTTP"


def checksum_binding(reading: Reading, _: Notes) -> str:
    """Rule 3 (ATT-170)."""
    actual = sha256(reading.body(CHECKSUMS, "checksums-missing")).digest()
    stated = reading.evidence_quote_document.report_data[:32]
    if actual != stated:
        got = f"SHA-256 of sha256sum.txt is {actual.hex()}, report_data begins with {stated.hex()}"
        raise Fault("checksums-not-bound", got, f"{EVIDENCE_QUOTE}: report_data")
    return f"SHA-256 of sha256sum.txt = beginning of report_data {actual.hex()}"


def tls_certificate(reading: Reading, notes: Notes) -> str:
    """Rule 4 (ATT-180)."""
    observed = reading.observed
    if observed is None or observed.tls_certificate is None:
        notes.add("tls-not-offered", NO_TLS, OBSERVED)
        return ""
    certificate = reading.certificate
    served, shown = sha256(observed.tls_certificate).hexdigest(), sha256(certificate.leaf.der).hexdigest()
    if observed.tls_certificate != certificate.leaf.der:
        place = next((at for at, one in enumerate(certificate.chain, 1) if one.der == observed.tls_certificate), None)
        also = f"; it stands there as number {place}, and the first has to be the one that is served" if place else ""
        got = f"SHA-256 of the certificate served over TLS is {served}, of the evidence's first {shown}{also}"
        raise Fault("tls-certificate-differs", got, certificate.name)
    _note_certificate(reading, certificate, notes)
    return f"certificate served over TLS = {certificate.name.rpartition('/')[2]}, SHA-256 {served}"


def _note_certificate(reading: Reading, certificate: CertificateFile, notes: Notes) -> None:
    leaf: Certificate = certificate.leaf
    fault = leaf.validity_fault(reading.at)
    if fault is not None:
        notes.add("certificate-validity", fault, certificate.name)
    if not any(covers(name, certificate.domain) for name in leaf.names):
        named = ", ".join(leaf.names)[:200] or "no domain"
        notes.add(
            "certificate-domain", f"the certificate names {named}, its file {certificate.domain}", certificate.name
        )


def caa_account(reading: Reading, notes: Notes) -> str:
    """Rule 5 (ATT-190)."""
    observed = reading.observed
    if observed is None or observed.caa is None:
        notes.add("caa-not-offered", "nobody asked for CAA records: no gateway domain or no resolver", OBSERVED)
        return ""
    uri = reading.acme_account
    policy = reading.policy
    accepted = policy.expected.acme_accounts
    count = check_account(observed.caa, uri, allow_others=policy.allow_other_accounts, accepted=accepted)
    _note_gateway(observed, notes)
    return f"accounturi of {count} CAA records of {observed.gateway_domain} = {uri}"


def _note_gateway(observed: Observed, notes: Notes) -> None:
    """CAA records of another domain say nothing of the one that was connected to."""
    host = host_of(observed.base_url)
    gateway = observed.gateway_domain or "no domain"
    if is_name(host) and not covers(gateway, host):
        notes.add("gateway-differs", f"connected to {host}, CAA records are those of {gateway}", OBSERVED)


def host_of(url: str) -> str:
    """The host of a URL; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_name(host: str) -> bool:
    """Whether a host is a name of the public DNS, neither an address nor local."""
    try:
        ip_address(host)
    except ValueError:
        return "." in host and not host.endswith(".localhost")
    return False


def api_connection(reading: Reading, notes: Notes) -> str:
    """ATT-280: the API is served under the certificate of the evidence."""
    observed, served = reading.observed, reading.evidence.get(API_CERTIFICATE)
    if observed is None or observed.tls_certificate is None or served is None:
        notes.add(
            "api-connection-not-offered", "no certificate of a connection to /core/v1 was observed", API_CERTIFICATE
        )
        return ""
    mine, other = sha256(observed.tls_certificate).hexdigest(), sha256(served).hexdigest()
    if served != observed.tls_certificate:
        raise Fault("api-certificate-differs", f"SHA-256 is {mine} for the evidence and {other} for /core/v1", OBSERVED)
    return f"certificates that served the evidence and /core/v1, SHA-256 {mine}"
