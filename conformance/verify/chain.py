"""One quote judged down to the root certificate: chain, collateral, quoting enclave, TD attributes, TCB status.

Readings of this package come first, so that a refusal says what is wrong; the quote library then checks the signatures,
and both must find the same TCB status.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from cryptography.exceptions import InvalidSignature

from conformance.verify.certificates import SIMULATED, Certificate, read_chain
from conformance.verify.collateral import (
    WHERE,
    Collateral,
    check_dates,
    check_revocation_issuers,
    check_revoked,
    check_signers,
    read_collateral,
)
from conformance.verify.faults import Fault
from conformance.verify.pck import PckExtension, parse_extension
from conformance.verify.policy import Policy, TcbStatus
from conformance.verify.quote import (
    ECDSA_P256,
    PCK_CHAIN,
    QE_REPORT_CERTIFICATION,
    QeReport,
    Quote,
    TdReport,
    parse_qe_report,
)
from conformance.verify.quote_library import (
    DEBUG_REFUSALS,
    REVOKED_REFUSAL,
    VE_REFUSAL,
    LibraryRefusedError,
    library_status,
)
from conformance.verify.signatures import check_collateral_signatures, check_signatures
from conformance.verify.strict import unix_seconds, when
from conformance.verify.tcb import TcbVerdict, evaluate, module_fault, qe_fault

INTEL_QE = bytes.fromhex("939a7233f79c4ca9940a0db3957f0607")
PCK = "Intel SGX PCK Certificate"
PCK_CA = "Intel SGX PCK Platform CA"
"""Common names. The processor CA is for machines of one package, which have no TDX."""
QE_AUTH_DATA = 32
_DEBUG = 0x71
"""TD attributes, TUD group: debug, and the three profiling bits."""
_SEPT_VE_DISABLE, _MIGRATABLE, _SERVICE_TD = 1 << 28, 1 << 29, 1 << 17
_RESERVED = sum(1 << bit for bit in (*range(1, 4), *range(7, 16), *range(23, 27), *range(32, 62)))


@dataclass(frozen=True)
class PckChain:
    """The certificates in a quote."""

    leaf: Certificate
    ca: Certificate
    root: Certificate
    extension: PckExtension


@dataclass(frozen=True)
class Platform:
    """What a genuine quote says of its platform."""

    status: TcbStatus
    advisories: tuple[str, ...]
    debug: bool
    fmspc: bytes
    ppid: bytes


def read_pck_chain(chain_type: int, data: bytes, where: str) -> PckChain:
    """The PCK chain of a quote. Fault: not leaf, CA and root in strict PEM, or the leaf's extension is malformed."""
    try:
        return _pck_chain(chain_type, data)
    except Fault as fault:
        raise Fault(fault.code, fault.compared, where) from fault


@lru_cache(maxsize=16)
def _pck_chain(chain_type: int, data: bytes) -> PckChain:
    """The chain, which both quotes of a service share."""
    if chain_type != PCK_CHAIN:
        raise Fault("certification-type", f"PCK certification data of type {chain_type}, where {PCK_CHAIN} belongs", "")
    try:
        chain = read_chain(data.removesuffix(b"\0"))
    except ValueError as problem:
        raise Fault("pck-chain", str(problem), "") from problem
    if len(chain) != 3:
        raise Fault("pck-chain", f"{len(chain)} certificates, where PCK leaf, PCK CA and root belong", "")
    leaf, ca, root = chain
    if leaf.is_ca or not ca.is_ca or leaf.issuer != ca.subject or ca.issuer != root.subject or not leaf.public_point:
        raise Fault("pck-chain", "the certificates are not PCK leaf, PCK CA and root, each issued by the next", "")
    if (leaf.name, ca.name) != (PCK, PCK_CA):
        raise Fault("pck-chain", f"{leaf.name!r} of {ca.name!r}, where {PCK!r} of {PCK_CA!r} belongs", "")
    if not ca.signs_certificates:
        raise Fault("pck-chain", f"{ca.name} may not sign certificates", "")
    if leaf.sgx_extension is None:
        raise Fault("pck-extension", f"{leaf.name} has no SGX extension", "")
    try:
        return PckChain(leaf, ca, root, parse_extension(leaf.sgx_extension))
    except ValueError as problem:
        raise Fault("pck-extension", str(problem), "") from problem


def judge_quote(
    quote: Quote, collateral_body: Callable[[], bytes], root: Certificate, at: int, policy: Policy, where: str
) -> Platform:
    """Judge one quote. Fault: the first thing that is wrong with it, be it that there is no collateral."""
    _check_header(quote, where)
    chain = read_pck_chain(quote.chain_type, quote.chain, where)
    check_root(chain.root, root, where)
    _check_anchor(root)
    collateral = read_collateral(collateral_body())
    _check_collateral(collateral, chain, root, at, where)
    enclave = _check_enclave(quote, collateral, where)
    _check_platform(chain.extension, collateral, where)
    module = module_fault(quote.report, collateral.tcb_info)
    if module is not None:
        raise Fault("tdx-module", module, where)
    debug = _check_attributes(quote.report, policy, where)
    verdict = _own_verdict(quote, collateral, chain.extension, enclave, where)
    _check_with_library(quote, chain, collateral, root, at, verdict, policy, where)
    _check_status(verdict, policy, where)
    _check_ages(verdict, collateral, policy, at, where)
    return Platform(verdict.status, verdict.advisories, debug, chain.extension.fmspc, chain.extension.ppid)


def _check_collateral(collateral: Collateral, chain: PckChain, root: Certificate, at: int, where: str) -> None:
    """Signed by whom it must be, valid now, and it revokes nothing of the chains."""
    _check_roots(collateral, root)
    check_signers(collateral, root)
    check_dates(collateral, at)
    signers = (collateral.signed_tcb_info.signer, collateral.signed_qe_identity.signer)
    for certificate in (root, chain.ca, chain.leaf, *signers):
        fault = certificate.validity_fault(at)
        if fault is not None:
            raise Fault("collateral-date", f"{fault}; judged for {when(at)}", where)
    check_revocation_issuers(collateral, chain.ca, root)
    check_revoked(collateral, chain.leaf, chain.ca, root)


def check_answered(body: bytes, chain: PckChain, root: Certificate, at: int) -> None:
    """Check that collateral is what a PCK chain asks for, signed under the root and valid, whatever it says.

    It may revoke and find out of date. Fault or ValueError: it is something else, of which no quote is to blame.
    """
    collateral = read_collateral(body)
    _check_roots(collateral, root)
    check_signers(collateral, root)
    check_dates(collateral, at)
    issuer = collateral.pck_crl_issuers[0]
    if (issuer.name, collateral.pck_crl.issuer) != (chain.ca.name, issuer.subject):
        raise Fault("crl-issuer", f"a list of {issuer.name} instead of {chain.ca.name}", f"{WHERE}: pck_crl")
    check_collateral_signatures(collateral, issuer, root, at)
    _check_family(chain.extension, collateral, WHERE)


def _check_status(verdict: TcbVerdict, policy: Policy, where: str) -> None:
    if verdict.status not in policy.accepted_statuses:
        accepted = ", ".join(sorted(policy.accepted_statuses))
        advisories = f" ({', '.join(verdict.advisories)})" if verdict.advisories else ""
        raise Fault("tcb-status", f"the platform is {verdict.status}{advisories}; accepted: {accepted}", where)


def _check_ages(verdict: TcbVerdict, collateral: Collateral, policy: Policy, at: int, where: str) -> None:
    """Neither a level that was reached nor what describes the levels is older than the policy allows."""
    if policy.most_tcb_age is not None:
        for date in verdict.dates:
            _check_age_of_level(date, policy.most_tcb_age, at, where)
    for signed in (collateral.signed_tcb_info, collateral.signed_qe_identity):
        if policy.most_collateral_age is not None and at - signed.issued > policy.most_collateral_age:
            issued = f"issued {when(signed.issued)}, judged for {when(at)}"
            raise Fault("collateral-age", issued, signed.where)


def _check_age_of_level(date: str, most: int, at: int, where: str) -> None:
    try:
        age = at - unix_seconds(date)
    except ValueError as problem:
        raise Fault("tcb-age", f"tcbDate: {problem}", WHERE) from problem
    if not 0 <= age <= most:
        raise Fault("tcb-age", f"the TCB level is of {date}; judged for {when(at)}", where)


def _check_header(quote: Quote, where: str) -> None:
    if quote.key_type != ECDSA_P256:
        raise Fault(
            "quote-version", f"attestation key type {quote.key_type}, where {ECDSA_P256} (P-256) belongs", where
        )
    if quote.vendor != INTEL_QE:
        raise Fault("quote-vendor", f"QE vendor {quote.vendor.hex()} is not Intel's {INTEL_QE.hex()}", where)
    if quote.certification_type != QE_REPORT_CERTIFICATION:
        got = f"certification data of type {quote.certification_type}"
        raise Fault("certification-type", f"{got}, where {QE_REPORT_CERTIFICATION} (QE report) belongs", where)


def check_root(end: Certificate, root: Certificate, where: str) -> None:
    """A chain ends in the trusted root, byte for byte. Fault: in another; a simulated one has a code of its own."""
    if end.der == root.der:
        return
    ours, theirs = sha256(root.der).hexdigest(), sha256(end.der).hexdigest()
    ends_in = f"its chain ends in {end.full_name} {theirs}, not in the trusted {root.full_name} {ours}"
    if SIMULATED in end.organisation.upper():
        raise Fault("root-simulated", f"a simulated quote, no hardware: {ends_in}", where)
    raise Fault("root-differs", ends_in, where)


def _check_roots(collateral: Collateral, root: Certificate) -> None:
    for signed in (collateral.signed_tcb_info, collateral.signed_qe_identity):
        check_root(signed.root, root, signed.where)
    for issuer in collateral.pck_crl_issuers[1:]:
        check_root(issuer, root, "collateral.json: pck_crl_issuer_chain")


@lru_cache(maxsize=8)
def _check_anchor(root: Certificate) -> None:
    """The trusted root is one: it signs itself, and may sign certificates and revocation lists."""
    if not (root.is_ca and root.signs_certificates and root.signs_lists and _signs_itself(root)):
        raise Fault("signature", f"{root.full_name} is not self-signed, or may not sign certificates and lists", "root")


def _signs_itself(root: Certificate) -> bool:
    try:
        root.parsed.verify_directly_issued_by(root.parsed)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _check_enclave(quote: Quote, collateral: Collateral, where: str) -> QeReport:
    report = parse_qe_report(quote.qe_report)
    if any(report.reserved) or any(report.report_data[32:]):
        raise Fault(
            "qe-report", "the QE report has bytes other than zero in reserved fields or its upper report data", where
        )
    if len(quote.qe_auth_data) != QE_AUTH_DATA:
        got = f"{len(quote.qe_auth_data)} bytes of QE authentication data, where {QE_AUTH_DATA} belong"
        raise Fault("qe-report", got, where)
    if sha256(quote.attestation_key + quote.qe_auth_data).digest() != report.report_data[:32]:
        raise Fault("signature", "the QE report does not name the attestation key that signed the quote", where)
    fault = qe_fault(report, collateral.qe_identity)
    if fault is not None:
        raise Fault("qe-identity", fault, where)
    return report


def _check_platform(extension: PckExtension, collateral: Collateral, where: str) -> None:
    if extension.cpusvn != extension.components:
        got = f"CPUSVN {extension.cpusvn.hex()}, TCB components {extension.components.hex()}"
        raise Fault("pck-contradiction", f"the PCK certificate says {got}", where)
    _check_family(extension, collateral, where)


def _check_family(extension: PckExtension, collateral: Collateral, where: str) -> None:
    info = collateral.tcb_info
    for what, mine, theirs in (("FMSPC", extension.fmspc, info.fmspc), ("PCEID", extension.pceid, info.pceid)):
        if mine != theirs:
            got = f"{what} {mine.hex()} in the PCK certificate, {theirs.hex()} in the TCB info"
            raise Fault("platform-differs", got, where)


def _check_attributes(report: TdReport, policy: Policy, where: str) -> bool:
    """Whether it is a debug TD. Fault: one that the policy does not accept, or attributes of no production TD."""
    attributes = int.from_bytes(report.td_attributes, "little")
    text = f"TD attributes {report.td_attributes.hex()}"
    debug = bool(attributes & _DEBUG)
    if debug and not policy.allow_debug:
        raise Fault("td-debug", f"{text}: debug or profiling is on, the host can look into the TD", where)
    for bits, why in (
        (_RESERVED, "reserved bits are set"),
        (_MIGRATABLE, "the TD may migrate to another machine"),
        (_SERVICE_TD, "a service TD may act on the TD"),
    ):
        if attributes & bits:
            raise Fault("td-attributes", f"{text}: {why}", where)
    if not attributes & _SEPT_VE_DISABLE and not policy.allow_ve_injection:
        raise Fault("td-attributes", f"{text}: SEPT_VE_DISABLE is off, the host can inject exceptions", where)
    if report.mr_service_td is not None and any(report.mr_service_td):
        raise Fault("td-attributes", f"MRSERVICETD {report.mr_service_td.hex()}: a service TD is bound", where)
    return debug


def _own_verdict(
    quote: Quote, collateral: Collateral, extension: PckExtension, enclave: QeReport, where: str
) -> TcbVerdict:
    try:
        return evaluate(collateral.tcb_info, collateral.qe_identity, extension, quote.report, enclave)
    except ValueError as problem:
        raise Fault("tcb-unmatched", str(problem), where) from problem


def _check_with_library(
    quote: Quote,
    chain: PckChain,
    collateral: Collateral,
    root: Certificate,
    at: int,
    verdict: TcbVerdict,
    policy: Policy,
    where: str,
) -> None:
    """The library verifies the quote, and finds the same status.

    What it refuses although the policy accepts it, its last checks, is verified here: `_check_attributes` let it pass.
    """
    try:
        status, _ = library_status(quote.raw, collateral.members, root.der, at)
    except LibraryRefusedError as refusal:
        reason = str(refusal)
        allowed = {REVOKED_REFUSAL} if verdict.status is TcbStatus.REVOKED else set()
        allowed |= set(DEBUG_REFUSALS) if policy.allow_debug else set()
        allowed |= {VE_REFUSAL} if policy.allow_ve_injection else set()
        if reason not in allowed:
            raise Fault("signature", reason, where) from refusal
        try:
            check_signatures(quote, (chain.leaf, chain.ca, root), collateral, at)
        except ValueError as problem:
            raise Fault("signature", str(problem), where) from problem
        return
    if status is not verdict.status:
        raise Fault("readings-differ", f"the quote library finds {status}, this verifier {verdict.status}", where)
