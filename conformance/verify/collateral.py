"""The hardware vendor's collateral: revocation lists, TCB info and QE identity, with their signers and dates.

Members as in dcap-qvl's `QuoteCollateralV3`; TCB info version 3 and QE identity version 2 as Intel's PCS API v4 serves
them. What is signed by whom is checked here; the signatures themselves are checked with the quote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from conformance.verify.certificates import Certificate, RevocationList, read_chain, read_revocation_list
from conformance.verify.faults import Fault
from conformance.verify.strict import hex_bytes, json_object, pem_of, text_member, unix_seconds, when
from conformance.verify.tcb import QeIdentity, TcbInfo, read_qe_identity, read_tcb_info

WHERE = "collateral.json"
_CHAINS = ("pck_crl_issuer_chain", "tcb_info_issuer_chain", "qe_identity_issuer_chain")
_TEXTS = (*_CHAINS, "tcb_info", "qe_identity")
_HEXES = ("root_ca_crl", "pck_crl", "tcb_info_signature", "qe_identity_signature")
_IGNORED = frozenset({"pck_certificate_chain"})
"""`get_collateral` adds the PCK chain, which the quote library would prefer to the quote's own: it is never used."""

TCB_SIGNER = "Intel SGX TCB Signing"
"""The common name of the certificate that signs TCB info and QE identity."""

T = TypeVar("T")


@dataclass(frozen=True)
class Signed:
    """A signed JSON document of the vendor."""

    where: str
    text: str
    signature: bytes
    signer: Certificate
    root: Certificate
    issued: int
    next_update: int


@dataclass(frozen=True)
class Collateral:
    """Collateral, read but not yet compared with a root, a time or a quote."""

    root_crl: RevocationList
    pck_crl: RevocationList
    pck_crl_issuers: tuple[Certificate, ...]
    tcb_info: TcbInfo
    qe_identity: QeIdentity
    signed_tcb_info: Signed
    signed_qe_identity: Signed
    members: tuple[tuple[str, str], ...]
    """The members for the quote library: chains written anew from what was read, so that both read the same."""


@lru_cache(maxsize=16)
def read_collateral(body: bytes) -> Collateral:
    """Read `collateral.json`. Fault: it is not in its form."""
    members = _reading("collateral-malformed", WHERE, lambda: _members(body))
    chains = {name: _chain(members, name) for name in _CHAINS}
    tcb_info = _reading("collateral-malformed", f"{WHERE}: tcb_info", lambda: _read(members, "tcb_info", read_tcb_info))
    qe_identity = _reading(
        "collateral-malformed", f"{WHERE}: qe_identity", lambda: _read(members, "qe_identity", read_qe_identity)
    )
    for name, chain in chains.items():
        members[name] = pem_of(tuple(certificate.der for certificate in chain))
    return Collateral(
        root_crl=_crl(members, "root_ca_crl"),
        pck_crl=_crl(members, "pck_crl"),
        pck_crl_issuers=chains["pck_crl_issuer_chain"],
        tcb_info=tcb_info,
        qe_identity=qe_identity,
        signed_tcb_info=_signed(members, "tcb_info", chains["tcb_info_issuer_chain"]),
        signed_qe_identity=_signed(members, "qe_identity", chains["qe_identity_issuer_chain"]),
        members=tuple(members.items()),
    )


def _reading(code: str, where: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except ValueError as problem:
        raise Fault(code, str(problem), where) from problem


def _members(body: bytes) -> dict[str, str]:
    document = json_object(body)
    unknown = document.keys() - {*_TEXTS, *_HEXES} - _IGNORED
    if unknown:
        raise ValueError(f"unknown members: {', '.join(sorted(unknown))[:200]}")
    members = {name: text_member(document, name) for name in (*_TEXTS, *_HEXES)}
    for name in _HEXES:
        try:
            members[name] = hex_bytes(members[name], 64 if name.endswith("signature") else None).hex()
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from problem
    return members


def _read(members: dict[str, str], name: str, read: Callable[[dict[str, object]], T]) -> T:
    return read(json_object(members[name].encode()))


def _chain(members: dict[str, str], name: str) -> tuple[Certificate, ...]:
    return _reading("collateral-malformed", f"{WHERE}: {name}", lambda: read_chain(members[name].encode()))


def _crl(members: dict[str, str], name: str) -> RevocationList:
    return _reading("crl-malformed", f"{WHERE}: {name}", lambda: read_revocation_list(bytes.fromhex(members[name])))


def _signed(members: dict[str, str], name: str, chain: tuple[Certificate, ...]) -> Signed:
    where = f"{WHERE}: {name}"
    if len(chain) != 2:
        raise Fault("collateral-signer", f"{len(chain)} certificates where signer and root belong", where)
    issued, next_update = _reading("collateral-malformed", where, lambda: _validity(members[name]))
    return Signed(
        where, members[name], bytes.fromhex(members[f"{name}_signature"]), chain[0], chain[1], issued, next_update
    )


def _validity(text: str) -> tuple[int, int]:
    document = json_object(text.encode())
    return unix_seconds(text_member(document, "issueDate")), unix_seconds(text_member(document, "nextUpdate"))


def check_signers(collateral: Collateral, root: Certificate) -> None:
    """Both documents are signed by a TCB signing certificate, which the root issued. Fault: by anything else."""
    for signed in (collateral.signed_tcb_info, collateral.signed_qe_identity):
        signer = signed.signer
        role = (
            "a CA"
            if signer.is_ca
            else "a PCK certificate"
            if signer.sgx_extension is not None
            else "not issued by the root"
            if signer.issuer != root.subject
            else "named otherwise"
            if signer.name != TCB_SIGNER
            else None
        )
        if role is not None:
            raise Fault(
                "collateral-signer", f"{signer.name} is {role}, where a TCB signing certificate belongs", signed.where
            )


def check_dates(collateral: Collateral, at: int) -> None:
    """Every part of the collateral is valid at a time, and not in its last second. Fault: one is not."""
    parts = (
        ("root_ca_crl", collateral.root_crl.this_update, collateral.root_crl.next_update),
        ("pck_crl", collateral.pck_crl.this_update, collateral.pck_crl.next_update),
        ("tcb_info", collateral.signed_tcb_info.issued, collateral.signed_tcb_info.next_update),
        ("qe_identity", collateral.signed_qe_identity.issued, collateral.signed_qe_identity.next_update),
    )
    for name, begin, end in parts:
        if not begin <= at < end:
            how = f"is valid from {when(begin)} until {when(end)}, not at {when(at)}"
            raise Fault("collateral-date", f"{name} {how}", f"{WHERE}: {name}")


def check_revocation_issuers(collateral: Collateral, pck_ca: Certificate, root: Certificate) -> None:
    """Each list is of the CA whose certificates it must list. Fault: of another."""
    if collateral.root_crl.issuer != root.subject:
        raise Fault("crl-issuer", "root_ca_crl is not issued by the root", f"{WHERE}: root_ca_crl")
    if collateral.pck_crl.issuer != pck_ca.subject:
        raise Fault("crl-issuer", f"pck_crl is not issued by {pck_ca.name}", f"{WHERE}: pck_crl")
    issuers = collateral.pck_crl_issuers
    if len(issuers) != 2 or issuers[0].der != pck_ca.der:
        raise Fault(
            "crl-issuer", f"the chain is not {pck_ca.name} of the quote, and the root", f"{WHERE}: pck_crl_issuer_chain"
        )


def check_revoked(collateral: Collateral, leaf: Certificate, pck_ca: Certificate, root: Certificate) -> None:
    """No certificate of any chain is revoked. Fault: one is."""
    signers = (collateral.signed_tcb_info.signer, collateral.signed_qe_identity.signer)
    for certificate in (root, pck_ca, *signers):
        if certificate.serial in collateral.root_crl.revoked:
            raise Fault("certificate-revoked", f"{certificate.name} is revoked by the root", f"{WHERE}: root_ca_crl")
    if leaf.serial in collateral.pck_crl.revoked:
        raise Fault("certificate-revoked", f"{leaf.name} is revoked by {pck_ca.name}", f"{WHERE}: pck_crl")
