"""Every signature of a quote and its collateral, checked without the quote library.

Used where the library gives no answer but a caller's policy wants one: it refuses debug TDs and revoked TCB levels
without a way around, so what else it checks must be checked here.
"""

from __future__ import annotations

from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from conformance.verify.certificates import Certificate
from conformance.verify.collateral import Collateral
from conformance.verify.quote import Quote


def check_signatures(
    quote: Quote, chain: tuple[Certificate, Certificate, Certificate], collateral: Collateral, at: int
) -> None:
    """Check all of them. ValueError: which one does not verify, or which certificate is not valid or may not sign."""
    leaf, pck_ca, root = chain
    check_collateral_signatures(collateral, pck_ca, root, at)
    _check_issued(leaf, pck_ca, at)
    _check(leaf.public_point, _der(quote.qe_report_signature), quote.qe_report, "the QE report")
    if sha256(quote.attestation_key + quote.qe_auth_data).digest() != quote.qe_report[320:352]:
        raise ValueError("the QE report does not name the attestation key")
    _check(quote.attestation_key, _der(quote.signature), quote.signed, "the quote")


def check_collateral_signatures(collateral: Collateral, pck_ca: Certificate, root: Certificate, at: int) -> None:
    """Check those of the collateral, down from the root. ValueError as `check_signatures`."""
    signers = (collateral.signed_tcb_info.signer, collateral.signed_qe_identity.signer)
    for certificate in (root, pck_ca, *signers):
        _check_issued(certificate, root, at)
    for revocations, issuer in ((collateral.root_crl, root), (collateral.pck_crl, pck_ca)):
        _check(issuer.public_point, revocations.parsed.signature, revocations.parsed.tbs_certlist_bytes, "CRL")
    for signed in (collateral.signed_tcb_info, collateral.signed_qe_identity):
        _check(signed.signer.public_point, _der(signed.signature), signed.text.encode(), signed.where)


def _check_issued(certificate: Certificate, issuer: Certificate, at: int) -> None:
    fault = certificate.validity_fault(at)
    if fault is not None:
        raise ValueError(fault)
    if certificate.issuer != issuer.subject or not issuer.is_ca:
        raise ValueError(f"{certificate.name} is not issued by {issuer.name}, or that is no CA")
    parsed = certificate.parsed
    _check(issuer.public_point, parsed.signature, parsed.tbs_certificate_bytes, certificate.name)


def _der(signature: bytes) -> bytes:
    """A signature of 64 bytes, r and s, as DER."""
    return encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))


def _check(point: bytes, signature: bytes, message: bytes, what: str) -> None:
    """Check a DER signature."""
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + point)
        key.verify(signature, message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError) as problem:
        raise ValueError(f"the signature of {what} does not verify") from problem
