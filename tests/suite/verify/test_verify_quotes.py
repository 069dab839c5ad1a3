"""A quote alone: its layout, and everything that the quote library by itself lets through."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from made_evidence import AT, NOW, Made

from conformance.verify import FAULTS, Policy, Severity, TcbStatus, Verified, verify_quote
from reference_node.tee.collateral import CollateralForm, qe_identity_document, tcb_info_document
from reference_node.tee.pki import CrlForm, Platform, PlatformForm
from reference_node.tee.quotes import TD_DEBUG, QeReport, QuoteForm, TdReport, TdReport15
from reference_node.tee.sgx_extension import PlatformTcb

MADE = Made()
QUOTE = MADE.quote()


def judged(made: Made, quote: bytes | None = None, **policy: object) -> Verified:
    chosen = replace(made.policy(), **({"at": AT} | policy))  # type: ignore[arg-type]
    return verify_quote(made.quote() if quote is None else quote, json.dumps(made.collateral_json()).encode(), chosen)


def refusal(verified: Verified) -> str | None:
    """The code of what refuses."""
    found = [finding for finding in verified.findings if finding.severity is not Severity.NOTE]
    assert verified.accepted is not bool(found)
    return found[0].code if found else None


@pytest.mark.parametrize("made", [MADE, replace(MADE, version=5), replace(MADE, version=5, report=TdReport15())])
def test_quote_is_accepted(made: Made) -> None:
    verified = judged(made)
    assert verified.accepted, verified.findings
    assert "simulated-root-trusted" in verified.codes


def test_every_truncation_is_refused() -> None:
    whole = len(QUOTE.rstrip(b"\0")) + 1  # the PEM ends with a NUL of its own
    for size in [*range(700), *range(700, whole, 37), whole - 1]:
        assert refusal(judged(MADE, QUOTE[:size])) in {"quote-layout", "tee-unsupported"}, size
    assert judged(MADE, QUOTE[:whole]).accepted


@pytest.mark.parametrize(
    "offset",
    [
        pytest.param(632, id="signature-data"),
        pytest.param(632 + 4 + 128 + 2, id="certification-data"),
        pytest.param(632 + 4 + 128 + 6 + 384 + 64 + 2 + 32 + 2, id="pck-chain"),
    ],
)
@pytest.mark.parametrize("change", [1, -1, 0x10000])
def test_length_that_does_not_fit_is_refused(offset: int, change: int) -> None:
    (size,) = struct.unpack_from("<I", QUOTE, offset)
    changed = QUOTE[:offset] + struct.pack("<I", size + change) + QUOTE[offset + 4 :]
    assert refusal(judged(MADE, changed)) == "quote-layout"


def test_bytes_after_the_quote_are_refused_unless_zero() -> None:
    assert judged(MADE, QUOTE + bytes(1000)).accepted
    assert refusal(judged(MADE, QUOTE + b"\1")) == "quote-layout"


def test_every_signed_byte_counts() -> None:
    for place in range(0, 632, 5):
        changed = QUOTE[:place] + bytes([QUOTE[place] ^ 0x40]) + QUOTE[place + 1 :]
        assert not judged(MADE, changed).accepted, place


def with_form(**changes: object) -> Made:
    return replace(MADE, form=replace(QuoteForm(), **changes))  # type: ignore[arg-type]


def with_tcb(**changes: object) -> Made:
    return replace(MADE, platform=PlatformForm(tcb=replace(PlatformTcb(), **changes)))  # type: ignore[arg-type]


def with_certificate(role: str, **changes: object) -> Made:
    return replace(MADE, platform=PlatformForm().with_certificate(role, **changes))  # type: ignore[arg-type]


def with_tcb_info(change: Callable[[dict[str, object]], object]) -> Made:
    document = tcb_info_document(MADE.machine())
    change(document)
    return replace(MADE, collateral=CollateralForm(tcb_info=document))


def with_qe_identity(change: Callable[[dict[str, object]], object]) -> Made:
    document = qe_identity_document(MADE.machine())
    change(document)
    return replace(MADE, collateral=CollateralForm(qe_identity=document))


def other_chain() -> bytes:
    return Platform(b"another seed", NOW).pck_chain_pem.encode() + b"\0"


def chain_with(before: str = "", after: str = "\0") -> bytes:
    return (before + MADE.machine().pck_chain_pem + after).encode()


FAULTY: dict[str, tuple[Made, str]] = {
    "key type": (with_form(attestation_key_type=3), "quote-version"),
    "vendor": (with_form(qe_vendor=bytes(16)), "quote-vendor"),
    "version 3": (with_form(version=3), "tee-unsupported"),
    "SGX": (with_form(tee_type=0), "tee-unsupported"),
    "body type": (replace(with_form(body_type=7), version=5), "tee-unsupported"),
    "body size": (replace(with_form(body_size=583), version=5), "quote-layout"),
    "bytes in the certification data": (with_form(inner_trailing=b"x"), "quote-layout"),
    "bytes in the signature data": (with_form(signature_trailing=b"x"), "quote-layout"),
    "outer type": (with_form(outer_type=5), "certification-type"),
    "inner type": (with_form(certification_type=4), "certification-type"),
    "text in the chain": (with_form(chain=chain_with("x\n")), "pck-chain"),
    "text after the chain": (with_form(chain=chain_with(after="x")), "pck-chain"),
    "two NULs": (with_form(chain=chain_with(after="\0\0")), "pck-chain"),
    "chain of one": (with_form(chain=MADE.machine().root_pem.encode()), "pck-chain"),
    "chain of another machine": (with_form(chain=other_chain()), "root-simulated"),
    "upper report data": (with_form(qe_report=QeReport(report_data=b"x" * 64)), "qe-report"),
    "reserved bytes": (
        with_form(qe_report=QeReport(reserved=(b"\1" * 28, bytes(32), bytes(96), bytes(60)))),
        "qe-report",
    ),
    "enclave of another signer": (with_form(qe_report=QeReport(mrsigner=bytes(32))), "qe-identity"),
    "another product": (with_form(qe_report=QeReport(product_id=1)), "qe-identity"),
    "debug enclave": (with_form(qe_report=QeReport(attributes=b"\x17" + bytes(15))), "qe-identity"),
    "enclave too old": (with_form(qe_report=QeReport(security_version=1)), "tcb-unmatched"),
    "enclave signed by another": (with_form(qe_signing_key="other"), "signature"),
    "quote signed by another": (with_form(quote_signing_key="other"), "signature"),
    "attestation key": (with_form(public_key=bytes(64)), "signature"),
    "CPUSVN": (with_tcb(cpusvn=b"\1" * 16), "pck-contradiction"),
    "another platform": (with_tcb_info(lambda document: document.update(fmspc="00" * 6)), "platform-differs"),
    "debug TD": (replace(MADE, report=TdReport(td_attributes=TD_DEBUG)), "td-debug"),
    "profiled TD": (replace(MADE, report=TdReport(td_attributes=bytes.fromhex("1000001000000000"))), "td-debug"),
    "reserved attribute": (
        replace(MADE, report=TdReport(td_attributes=bytes.fromhex("0200001000000000"))),
        "td-attributes",
    ),
    "TD that may migrate": (
        replace(MADE, report=TdReport(td_attributes=bytes.fromhex("0000003000000000"))),
        "td-attributes",
    ),
    "SEPT_VE_DISABLE off": (replace(MADE, report=TdReport(td_attributes=bytes(8))), "td-attributes"),
    "service TD": (replace(MADE, version=5, report=TdReport15(mr_service_td=b"\1" * 48)), "td-attributes"),
    "module signer": (replace(MADE, report=TdReport(mr_signer_seam=b"\1" * 48)), "tdx-module"),
    "module attributes": (replace(MADE, report=TdReport(seam_attributes=b"\1" * 8)), "tdx-module"),
    "TCB too old": (replace(MADE, report=TdReport(tee_tcb_svn=bytes(16))), "tcb-unmatched"),
    "module too old": (
        replace(MADE, report=TdReport(tee_tcb_svn=bytes.fromhex("0101" + "02" + "00" * 13))),
        "tcb-unmatched",
    ),
    "module out of date": (
        replace(MADE, report=TdReport(tee_tcb_svn=bytes.fromhex("0301" + "02" + "00" * 13))),
        "tcb-status",
    ),
    "revoked PCK": (replace(MADE, platform=PlatformForm(pck_crl=CrlForm("pck_ca", ("pck",)))), "certificate-revoked"),
    "revoked PCK CA": (
        replace(MADE, platform=PlatformForm(root_crl=CrlForm("root", ("pck_ca",)))),
        "certificate-revoked",
    ),
    "revoked signer": (
        replace(MADE, platform=PlatformForm(root_crl=CrlForm("root", ("tcb_signer",)))),
        "certificate-revoked",
    ),
    "PCK list by the root": (replace(MADE, platform=PlatformForm(pck_crl=CrlForm("root"))), "crl-issuer"),
    "root list by the PCK CA": (replace(MADE, platform=PlatformForm(root_crl=CrlForm("pck_ca"))), "crl-issuer"),
    "list signed by another": (
        replace(MADE, platform=PlatformForm(pck_crl=CrlForm("pck_ca", signing_key="x"))),
        "signature",
    ),
    "stale list": (
        replace(MADE, platform=PlatformForm(pck_crl=CrlForm("pck_ca", valid_days=(-9, -1)))),
        "collateral-date",
    ),
    "list of tomorrow": (
        replace(MADE, platform=PlatformForm(root_crl=CrlForm("root", valid_days=(1, 9)))),
        "collateral-date",
    ),
    "expired PCK": (with_certificate("pck", valid_days=(-9, -1)), "collateral-date"),
    "expired root": (with_certificate("root", valid_days=(-9, -1)), "collateral-date"),
    "PCK of tomorrow": (with_certificate("pck", valid_days=(1, 9)), "collateral-date"),
    "PCK signed by another": (with_certificate("pck", signing_key="x"), "signature"),
    "PCK CA is none": (with_certificate("pck_ca", authority=False, path_length=None), "pck-chain"),
    "signed by the PCK": (replace(MADE, collateral=CollateralForm(signer="pck")), "collateral-signer"),
    "signed by the PCK CA": (replace(MADE, collateral=CollateralForm(signer="pck_ca")), "collateral-signer"),
    "signed by the root": (replace(MADE, collateral=CollateralForm(signer="root")), "collateral-signer"),
    "signed with another key": (replace(MADE, collateral=CollateralForm(signing_key="x")), "signature"),
    "stale collateral": (replace(MADE, issued=NOW - timedelta(days=40)), "collateral-date"),
    "collateral of tomorrow": (replace(MADE, issued=NOW + timedelta(days=2)), "collateral-date"),
    "PCE id": (with_tcb_info(lambda document: document.update(pceId="0001")), "platform-differs"),
    "SGX TCB info": (with_tcb_info(lambda document: document.update(id="SGX")), "collateral-malformed"),
    "TCB info 2": (with_tcb_info(lambda document: document.update(version=2)), "collateral-malformed"),
    "no levels": (with_tcb_info(lambda document: document.update(tcbLevels=[])), "tcb-unmatched"),
    "unknown status": (
        with_tcb_info(lambda d: [level.update(tcbStatus="Fine") for level in d["tcbLevels"]]),  # type: ignore[attr-defined]
        "collateral-malformed",
    ),
    "SGX QE identity": (with_qe_identity(lambda document: document.update(id="QE")), "collateral-malformed"),
    "time without zone": (
        with_qe_identity(lambda document: document.update(nextUpdate="2027-01-01")),
        "collateral-malformed",
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_quote_with_a_fault_is_refused_by_its_code(name: str) -> None:
    made, code = FAULTY[name]
    verified = judged(made)
    assert refusal(verified) == code, verified.findings
    assert code in FAULTS


def statuses(status: str) -> Made:
    def change(document: dict[str, object]) -> None:
        for level in document["tcbLevels"]:  # type: ignore[attr-defined]
            level["tcbStatus"] = status

    return with_tcb_info(change)


@pytest.mark.parametrize("status", [status for status in TcbStatus if not status.startswith("TDRelaunch")])
def test_status_is_accepted_only_where_the_policy_names_it(status: TcbStatus) -> None:
    made = statuses(status)
    expected = None if status is TcbStatus.UP_TO_DATE else "tcb-status"
    assert refusal(judged(made)) == expected
    verified = judged(made, accepted_statuses=frozenset({TcbStatus.UP_TO_DATE, status}))
    assert verified.accepted, verified.findings
    assert ("tcb-status-accepted" in verified.codes) is (status is not TcbStatus.UP_TO_DATE)


def test_relaunch_is_advised_where_the_tcb_was_updated_since() -> None:
    report = TdReport15(
        tee_tcb_svn=bytes.fromhex("0301" + "02" + "00" * 13), tee_tcb_svn_2=bytes.fromhex("0501" + "02" + "00" * 13)
    )
    made = replace(MADE, version=5, report=report)
    assert refusal(judged(made)) == "tcb-status"
    assert judged(made, accepted_statuses=frozenset({TcbStatus.TD_RELAUNCH_ADVISED})).accepted


DEBUG = replace(MADE, report=TdReport(td_attributes=TD_DEBUG))


def test_debug_td_is_accepted_only_where_the_policy_says_so() -> None:
    verified = judged(DEBUG, allow_debug=True)
    assert verified.accepted, verified.findings
    assert "td-debug-accepted" in verified.codes


@pytest.mark.parametrize(
    "made",
    [
        replace(DEBUG, form=QuoteForm(quote_signing_key="other")),
        replace(DEBUG, form=QuoteForm(qe_signing_key="other")),
        replace(DEBUG, collateral=CollateralForm(signing_key="x")),
        replace(DEBUG, platform=PlatformForm().with_certificate("pck", signing_key="x")),
        replace(DEBUG, platform=PlatformForm().with_certificate("tcb_signer", signing_key="x")),
        replace(DEBUG, platform=PlatformForm(pck_crl=CrlForm("pck_ca", signing_key="x"))),
        replace(DEBUG, platform=PlatformForm(root_crl=CrlForm("root", signing_key="x"))),
    ],
)
def test_debug_td_still_needs_every_signature(made: Made) -> None:
    assert refusal(judged(made, allow_debug=True)) == "signature"


def test_td_without_sept_ve_disable_is_accepted_only_where_the_policy_says_so() -> None:
    made = replace(MADE, report=TdReport(td_attributes=bytes(8)))
    assert judged(made, allow_ve_injection=True).accepted
    assert refusal(judged(replace(made, form=QuoteForm(quote_signing_key="x")), allow_ve_injection=True)) == "signature"
    assert refusal(judged(made, allow_debug=True)) == "td-attributes"


@pytest.mark.parametrize("seed", ["pck", "tcb_signer", "pck_ca"])
def test_revoked_level_still_needs_every_signature(seed: str) -> None:
    made = replace(statuses("Revoked"), platform=PlatformForm().with_certificate(seed, signing_key="x"))  # type: ignore[arg-type]
    assert refusal(judged(made, accepted_statuses=frozenset({TcbStatus.REVOKED}))) == "signature"


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("tcb_info", ..., "collateral-malformed"),
        ("tcb_info", "{}", "collateral-malformed"),
        ("root_ca_crl", "30", "crl-malformed"),
        ("pck_crl", "zz", "collateral-malformed"),
        ("tcb_info_signature", "00" * 63, "collateral-malformed"),
        ("tcb_info_issuer_chain", "", "collateral-malformed"),
        ("qe_identity_issuer_chain", MADE.machine().root_pem, "collateral-signer"),
        ("pck_crl_issuer_chain", MADE.machine().root_pem, "crl-issuer"),
        ("more", "", "collateral-malformed"),
    ],
)
def test_collateral_in_another_form_is_refused(member: str, value: object, code: str) -> None:
    members = {**MADE.collateral_json(), member: value}
    body = json.dumps({name: text for name, text in members.items() if text is not ...}).encode()
    assert refusal(verify_quote(QUOTE, body, replace(MADE.policy(), at=AT))) == code


def test_chain_in_the_collateral_is_not_used() -> None:
    members = MADE.collateral_json() | {"pck_certificate_chain": other_chain().decode().rstrip("\0")}
    assert verify_quote(QUOTE, json.dumps(members).encode(), replace(MADE.policy(), at=AT)).accepted


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (Policy(), "time-unknown"),
        (Policy(at=-5), "time-unknown"),
        (Policy(at=1 << 70), "time-unknown"),
        (Policy(at=AT), "root-simulated"),
        (Policy(at=AT, root=b""), "root-unusable"),
        (Policy(at=AT, root=b"-----BEGIN CERTIFICATE-----\n"), "root-unusable"),
        (Policy(at=AT, root=MADE.machine().pck_chain_pem.encode()), "root-unusable"),
        (Policy(at=AT, root=Platform(b"other", NOW).root_pem.encode()), "root-simulated"),
    ],
)
def test_policy_without_a_time_or_root_that_fits_refuses(policy: Policy, code: str) -> None:
    assert refusal(verify_quote(QUOTE, json.dumps(MADE.collateral_json()).encode(), policy)) == code
