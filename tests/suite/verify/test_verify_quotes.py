"""A quote alone: what its length and signatures cover, and what a policy decides. Each fault has a shipped vector."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from made_evidence import AT, MADE, POLICY, SEED

from conformance.selftest.attestation.sound_quote import NOW, SoundQuote
from conformance.verify import Policy, Severity, TcbStatus, Verified, verify_quote
from reference_node.tee.collateral import CollateralForm, tcb_info_document
from reference_node.tee.pki import CrlForm, Platform, PlatformForm, Role
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


@pytest.mark.parametrize("made", [SOUND, replace(SOUND, version=5), replace(SOUND, version=5, report=TdReport15())])
def test_quote_is_accepted(made: SoundQuote) -> None:
    verified = judged(made)
    assert verified.accepted, verified.findings
    assert "simulated-root-trusted" in verified.codes


def test_every_truncation_is_refused() -> None:
    whole = len(QUOTE.rstrip(b"\0")) + 1  # the PEM ends with a NUL of its own
    for size in [*range(700), *range(700, whole, 37), whole - 1]:
        assert refusal(judged(SOUND, QUOTE[:size])) in {"quote-layout", "tee-unsupported"}, size
    assert judged(SOUND, QUOTE[:whole]).accepted


def test_bytes_after_the_quote_are_refused_unless_zero() -> None:
    assert judged(SOUND, QUOTE + bytes(1000)).accepted
    assert refusal(judged(SOUND, QUOTE + b"\1")) == "quote-layout"


def test_every_signed_byte_counts() -> None:
    for place in range(0, 632, 5):
        changed = QUOTE[:place] + bytes([QUOTE[place] ^ 0x40]) + QUOTE[place + 1 :]
        assert not judged(SOUND, changed).accepted, place


def other_chain() -> bytes:
    return Platform(b"another seed", NOW).pck_chain_pem.encode() + b"\0"


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


def test_debug_td_is_accepted_only_where_the_policy_says_so() -> None:
    verified = judged(DEBUG, allow_debug=True)
    assert verified.accepted, verified.findings
    assert "td-debug-accepted" in verified.codes


@pytest.mark.parametrize(
    "made",
    [
        replace(DEBUG, quote=QuoteForm(quote_signing_key="other")),
        replace(DEBUG, quote=QuoteForm(qe_signing_key="other")),
        replace(DEBUG, collateral=CollateralForm(signing_key="x")),
        replace(DEBUG, platform=PlatformForm().with_certificate("pck", signing_key="x")),
        replace(DEBUG, platform=PlatformForm().with_certificate("tcb_signer", signing_key="x")),
        replace(DEBUG, platform=PlatformForm(pck_crl=CrlForm("pck_ca", signing_key="x"))),
        replace(DEBUG, platform=PlatformForm(root_crl=CrlForm("root", signing_key="x"))),
    ],
)
def test_debug_td_still_needs_every_signature(made: SoundQuote) -> None:
    assert refusal(judged(made, allow_debug=True)) == "signature"


def test_td_without_sept_ve_disable_is_accepted_only_where_the_policy_says_so() -> None:
    made = replace(SOUND, report=TdReport(td_attributes=bytes(8)))
    assert judged(made, allow_ve_injection=True).accepted
    assert (
        refusal(judged(replace(made, quote=QuoteForm(quote_signing_key="x")), allow_ve_injection=True)) == "signature"
    )
    assert refusal(judged(made, allow_debug=True)) == "td-attributes"


@pytest.mark.parametrize("role", ["pck", "tcb_signer", "pck_ca"])
def test_revoked_level_still_needs_every_signature(role: Role) -> None:
    made = replace(statuses("Revoked"), platform=PlatformForm().with_certificate(role, signing_key="x"))
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
        ("qe_identity_issuer_chain", MADE.platform.root_pem, "collateral-signer"),
        ("pck_crl_issuer_chain", MADE.platform.root_pem, "crl-issuer"),
        ("more", "", "collateral-malformed"),
    ],
)
def test_collateral_in_another_form_is_refused(member: str, value: object, code: str) -> None:
    members = {**SOUND.members, member: value}
    body = json.dumps({name: text for name, text in members.items() if text is not ...}).encode()
    assert refusal(verify_quote(QUOTE, body, replace(POLICY, at=AT))) == code


def test_chain_in_the_collateral_is_not_used() -> None:
    members = SOUND.members | {"pck_certificate_chain": other_chain().decode().rstrip("\0")}
    assert verify_quote(QUOTE, json.dumps(members).encode(), replace(POLICY, at=AT)).accepted


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
