"""A quote alone: what a policy decides, and what it cannot forgive. The rest has shipped vectors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from made_evidence import AT, MADE, POLICY, SEED

from conformance.selftest.attestation.sound_quote import NOW, SoundQuote
from conformance.verify import Policy, Severity, TcbStatus, Verified, verify_quote
from reference_node.tee.collateral import CollateralForm, tcb_info_document
from reference_node.tee.pki import CrlForm, Platform, PlatformForm
from reference_node.tee.quotes import TD_DEBUG, QuoteForm, TdReport, TdReport15

SOUND = SoundQuote(SEED)
QUOTE = SOUND.raw
COLLATERAL = json.dumps(SOUND.members).encode()


def judged(made: SoundQuote, quote: bytes | None = None, **policy: object) -> Verified:
    chosen = replace(POLICY, **({"at": AT} | policy))  # type: ignore[arg-type]
    return verify_quote(made.raw if quote is None else quote, json.dumps(made.members).encode(), chosen)


def refusal(verified: Verified) -> str | None:
    """The code of what refuses."""
    found = [finding for finding in verified.findings if finding.severity is not Severity.NOTE]
    assert verified.accepted is not bool(found)
    return found[0].code if found else None


def test_every_truncation_is_refused() -> None:
    whole = len(QUOTE.rstrip(b"\0")) + 1  # the PEM ends with a NUL of its own
    for size in [*range(700), *range(700, whole, 37), whole - 1]:
        assert refusal(judged(SOUND, QUOTE[:size])) in {"quote-layout", "tee-unsupported"}, size
    assert judged(SOUND, QUOTE[:whole]).accepted


def with_tcb_info(change: Callable[[dict[str, object]], object]) -> SoundQuote:
    document = tcb_info_document(SOUND.machine)
    change(document)
    return replace(SOUND, collateral=CollateralForm(tcb_info=document))


def statuses(status: str) -> SoundQuote:
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
    made = replace(SOUND, version=5, report=report)
    assert refusal(judged(made)) == "tcb-status"
    assert judged(made, accepted_statuses=frozenset({TcbStatus.TD_RELAUNCH_ADVISED})).accepted


DEBUG = replace(SOUND, report=TdReport(td_attributes=TD_DEBUG))
NO_SEPT_VE_DISABLE = replace(SOUND, report=TdReport(td_attributes=bytes(8)))


def test_debug_td_that_the_policy_allows_is_noted() -> None:
    assert "td-debug-accepted" in judged(DEBUG, allow_debug=True).codes


def test_td_without_sept_ve_disable_is_not_forgiven_as_a_debug_td() -> None:
    assert refusal(judged(NO_SEPT_VE_DISABLE, allow_debug=True)) == "td-attributes"


FORGIVEN: dict[str, tuple[SoundQuote, dict[str, object]]] = {
    "debug": (DEBUG, {"allow_debug": True}),
    "no sept_ve_disable": (NO_SEPT_VE_DISABLE, {"allow_ve_injection": True}),
    "revoked level": (statuses("Revoked"), {"accepted_statuses": frozenset({TcbStatus.REVOKED})}),
}
FORGED: dict[str, dict[str, object]] = {
    "quote": {"quote": QuoteForm(quote_signing_key="other")},
    "QE report": {"quote": QuoteForm(qe_signing_key="other")},
    "PCK": {"platform": PlatformForm().with_certificate("pck", signing_key="x")},
    "PCK CA": {"platform": PlatformForm().with_certificate("pck_ca", signing_key="x")},
    "TCB info": {"collateral": CollateralForm(signing_key="x")},
    "TCB signer": {"platform": PlatformForm().with_certificate("tcb_signer", signing_key="x")},
    "PCK CRL": {"platform": PlatformForm(pck_crl=CrlForm("pck_ca", signing_key="x"))},
    "root CRL": {"platform": PlatformForm(root_crl=CrlForm("root", signing_key="x"))},
}


@pytest.mark.parametrize("forgiven", FORGIVEN)
@pytest.mark.parametrize("forged", FORGED)
def test_what_the_policy_forgives_still_needs_every_signature(forgiven: str, forged: str) -> None:
    made, policy = FORGIVEN[forgiven]
    assert judged(made, **policy).accepted
    assert refusal(judged(replace(made, **FORGED[forged]), **policy)) == "signature"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("tcb_info", "{}", "collateral-malformed"),
        ("root_ca_crl", "30", "crl-malformed"),
        ("qe_identity_issuer_chain", MADE.platform.root_pem, "collateral-signer"),
        ("pck_crl_issuer_chain", MADE.platform.root_pem, "crl-issuer"),
        ("more", "", "collateral-malformed"),
    ],
)
def test_collateral_of_a_form_that_no_vector_has_is_refused(member: str, value: str, code: str) -> None:
    body = json.dumps({**SOUND.members, member: value}).encode()
    assert refusal(verify_quote(QUOTE, body, replace(POLICY, at=AT))) == code


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (Policy(), "time-unknown"),
        (Policy(at=-5), "time-unknown"),
        (Policy(at=1 << 70), "time-unknown"),
        (Policy(at=AT), "root-simulated"),
        (Policy(at=AT, root=b""), "root-unusable"),
        (Policy(at=AT, root=b"-----BEGIN CERTIFICATE-----\n"), "root-unusable"),
        (Policy(at=AT, root=MADE.platform.pck_chain_pem.encode()), "root-unusable"),
        (Policy(at=AT, root=Platform(b"other", NOW).root_pem.encode()), "root-simulated"),
    ],
)
def test_policy_without_a_time_or_root_that_fits_refuses(policy: Policy, code: str) -> None:
    assert refusal(verify_quote(QUOTE, COLLATERAL, policy)) == code
