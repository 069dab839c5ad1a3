"""Faults of the two quotes: their form, what they report, and who signs them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from urllib.parse import parse_qsl

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, members
from conformance.selftest.tools.alter_attestation import (
    BOTH,
    OF_ATTESTATION,
    OF_EVIDENCE,
    change_attestation,
    change_form,
    change_members,
    change_platform,
    change_quoted,
    change_report,
    other_platform,
    quote_by,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.pki import Platform, PlatformForm, pem
from reference_node.tee.quotes import TD_DEBUG, QeReport, QuoteForm

EACH = (row("attestation", OF_ATTESTATION), row("evidence", OF_EVIDENCE))


@mutant(
    "ATT-050",
    each=[
        row("base64", lambda text: base64.b64encode(bytes.fromhex(text)).decode(), also="VER-050"),
        row("odd", lambda text: text[:-1], also="VER-050"),
        row("spaced", lambda text: " ".join(text[at : at + 64] for at in range(0, len(text), 64)), also="VER-050"),
        row("upper-prefix", lambda text: f"0X{text}", also="VER-050"),
        row("prefix-twice", lambda text: f"0x0x{text}", also="VER-050"),
        row("empty", lambda _: "", also="ATT-130 ATT-140 VER-050"),
        row("prefix-alone", lambda _: "0x", also="ATT-130 ATT-140 VER-050"),
        row("newline", lambda text: text + "\n", also="VER-050"),
        row("half", lambda text: text[: len(text) // 4 * 2], also="ATT-140"),
        row("hash-alone", lambda text: hashlib.sha256(bytes.fromhex(text)).hexdigest(), also="ATT-130 ATT-140"),
        row("report-alone", lambda text: text[2 * 48 : 2 * (48 + 584)], also="ATT-140"),
        row("header-and-report", lambda text: text[: 2 * (48 + 584)], also="ATT-140"),
        row("zeros", lambda text: "0" * len(text), also="ATT-130 ATT-140"),
        row("noise", lambda text: hashlib.shake_256(text.encode()).hexdigest(len(text) // 2), also="ATT-130 ATT-140"),
    ],
)
def quote_is_not_hex_of_a_quote(node: Node, change: Callable[[str], str]) -> None:
    """Answer a `quote` that does not decode from hex to a quote."""
    change_attestation(node, lambda shown: {**shown, "quote": change(str(shown["quote"]))})


@mutant("ATT-120", also="VER-050")
def evidence_quote_is_base64(node: Node) -> None:
    """Show the quote of quote.json in base64."""

    def encoded(quote: str) -> str:
        return base64.b64encode(bytes.fromhex(quote)).decode()

    change_members(node, "quote.json", lambda shown: {**shown, "quote": encoded(str(shown["quote"]))})


@mutant(
    "ATT-230",
    each=[
        row("last-byte", bytes(63) + b"\1"),
        row("first-bit", b"\x80" + bytes(63)),
        row("compose-hash", None),
        row("ones", b"\xff" * 64),
        row("text", b"0" * 64),
    ],
)
def attestation_reports_data(node: Node, data: bytes | None) -> None:
    """Report data in the quote of `/attestation`."""
    told = node.attestation.identity.compose_hash + bytes(32) if data is None else data
    change_report(node, OF_ATTESTATION, lambda report: replace(report, report_data=told))


@mutant("ATT-230", each=["report_data", "reportData", "nonce", "challenge"])
def callers_choose_the_report_data(node: Node, name: str) -> None:
    """Quote the report data that the query of `/attestation` has as `{name}`."""

    async def handler(request: Received, forward: Forward) -> Answered:
        digits = dict(parse_qsl(request.query)).get(name, "")
        if not re.fullmatch(r"(?:[0-9a-f]{2}){1,64}", digits):
            return await forward(request)
        quote = node.attestation.quote(bytes.fromhex(digits).ljust(64, b"\0")).hex()
        given = await forward(request)
        return answer(given.status, {**members(json.loads(given.body)), "quote": quote})

    intercept(node, "/attestation", handler)


@mutant("ATT-230", also="VER-050")
def attestation_shows_the_evidence_quote(node: Node) -> None:
    """Answer the quote of quote.json at `/attestation`."""
    node.attestation.attestation = node.attestation.evidence.files["quote.json"]


@mutant("ATT-230")
def attestation_reports_data_now_and_then(node: Node) -> None:
    """Report the compose hash in every seventeenth quote of `/attestation`."""
    asked = count(1)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted or next(asked) % 17:
            return given
        quote = node.attestation.quote(node.attestation.identity.compose_hash + bytes(32)).hex()
        return answer(given.status, {**members(json.loads(given.body)), "quote": quote})

    intercept(node, "/attestation", handler)


@mutant("ATT-140", each=EACH)
def quote_is_of_a_debug_machine(node: Node, which: str) -> None:
    """Make {which} on a machine whose memory the host can read."""
    change_report(node, which, lambda report: replace(report, td_attributes=TD_DEBUG))


@mutant("ATT-140", each=EACH)
def quote_is_of_an_unknown_module(node: Node, which: str) -> None:
    """Make {which} under a TDX module that somebody else signed."""
    change_report(node, which, lambda report: replace(report, mr_signer_seam=b"\1" * 48))


@mutant("ATT-140", each=EACH)
def quote_is_of_an_old_module(node: Node, which: str) -> None:
    """Make {which} under a TDX module of an out-of-date version."""
    old = bytes.fromhex("02010200000000000000000000000000")
    change_report(node, which, lambda report: replace(report, tee_tcb_svn=old))


def _flip(quote: bytes, at: int) -> bytes:
    return quote[:at] + bytes([quote[at] ^ 1]) + quote[at + 1 :]


SIGNED_AT = 48 + 584 + 4
"""Where the signature of a version 4 quote begins, behind header, report and length."""

PLACES = {
    "signature": SIGNED_AT,
    "attestation-key": SIGNED_AT + 64,
    "enclave-report": SIGNED_AT + 128 + 6 + 64,
    "enclave-signature": SIGNED_AT + 128 + 6 + 384 + 5,
    "authentication": SIGNED_AT + 128 + 6 + 384 + 64 + 2,
    "boot-register": 48 + 376,
    "configuration": 48 + 184 + 3,
    "owner": 48 + 232,
    "user-data": 30,
}


@mutant("ATT-140", each=[row(label, label, at) for label, at in PLACES.items()])
def quote_is_changed_after_it_is_signed(node: Node, part: str, at: int) -> None:
    """Change a bit of the {part} in both quotes after they are signed."""
    del part
    change_quoted(node, BOTH, lambda quote: _flip(quote, at))


@mutant("ATT-140")
def evidence_quote_is_changed_after_it_is_signed(node: Node) -> None:
    """Change a bit of the signature in the quote of quote.json alone."""
    change_quoted(node, OF_EVIDENCE, lambda quote: _flip(quote, SIGNED_AT))


@mutant("ATT-140", each=EACH)
def quote_is_of_an_unknown_maker(node: Node, which: str) -> None:
    """Make {which} on a platform whose certificates end in a root of its own."""
    quote_by(node, which, other_platform(node))


@mutant("ATT-140")
def quotes_end_in_a_root_of_the_same_name(node: Node) -> None:
    """Show the right root behind the certificates of a platform that another root signed."""
    other = other_platform(node)
    chain = pem(other.pck, other.pck_ca, node.attestation.platform.root).encode() + b"\0"
    quote_by(node, BOTH, other, QuoteForm(chain=chain))


FORMS = (
    row("key-of-somebody", QuoteForm(quote_signing_key="somebody")),
    row("enclave-of-somebody", QuoteForm(qe_signing_key="somebody")),
    row("enclave-for-another-key", QuoteForm(qe_report=QeReport(report_data=bytes(64)))),
    row("debug-enclave", QuoteForm(qe_report=QeReport(attributes=bytes.fromhex("1700000000000000e700000000000000")))),
    row("enclave-of-another-signer", QuoteForm(qe_report=QeReport(mrsigner=bytes(32)))),
    row("enclave-of-another-product", QuoteForm(qe_report=QeReport(product_id=1))),
    row("old-enclave", QuoteForm(qe_report=QeReport(security_version=2))),
    row("ancient-enclave", QuoteForm(qe_report=QeReport(security_version=1))),
    row("other-vendor", QuoteForm(qe_vendor=bytes(16))),
    row("certification-type", QuoteForm(certification_type=3)),
    row("key-type", QuoteForm(attestation_key_type=3)),
)


@mutant("ATT-140", each=FORMS)
def quote_is_made_by_a_wrong_enclave(node: Node, form: QuoteForm) -> None:
    """Make both quotes otherwise than Intel's quoting enclave does."""
    change_form(node, BOTH, form)


@mutant("ATT-050", each=[row("garbage", b"\1"), row("second-quote", b"\4\0\2\0\x81\0\0\0")])
def quote_has_bytes_behind(node: Node, behind: bytes) -> None:
    """Add bytes that nobody signed behind both quotes."""
    change_form(node, BOTH, QuoteForm(trailing=behind))


def _chain(*roles: str) -> Callable[[Node], bytes]:
    def made(node: Node) -> bytes:
        platform = node.attestation.platform
        known = {"leaf": platform.pck, "ca": platform.pck_ca, "root": platform.root, "signer": platform.tcb_signer}
        return pem(*(known[role] for role in roles)).encode() + b"\0"

    return made


CHAINS = (
    row("leaf-alone", _chain("leaf")),
    row("no-root", _chain("leaf", "ca")),
    row("no-authority", _chain("leaf", "root")),
    row("root-first", _chain("root", "ca", "leaf")),
    row("signer-between", _chain("leaf", "signer", "root")),
    row("leaf-twice", _chain("leaf", "leaf", "ca", "root")),
    row("empty", lambda _: b""),
)


@mutant("ATT-140", each=CHAINS)
def quote_has_a_wrong_chain(node: Node, chain: Callable[[Node], bytes]) -> None:
    """Show other certificates in both quotes than leaf, authority and root."""
    change_form(node, BOTH, QuoteForm(chain=chain(node)))


def _tcb(**changes: object) -> Callable[[PlatformForm], PlatformForm]:
    return lambda form: replace(form, tcb=replace(form.tcb, **changes))  # type: ignore[arg-type]  # one field's value


PLATFORMS = (
    row("out-of-date", _tcb(components=(2, 2, 1, 2, 3, 1, 0, 5, *(0,) * 8))),
    row("unknown-level", _tcb(components=(0,) * 16)),
    row("old-pce", _tcb(pcesvn=5)),
    row("contradiction", _tcb(cpusvn=b"\xff" * 16)),
    row("expired-leaf", lambda form: form.with_certificate("pck", valid_days=(-60, -1))),
    row("leaf-of-tomorrow", lambda form: form.with_certificate("pck", valid_days=(1, 60))),
    row("expired-authority", lambda form: form.with_certificate("pck_ca", valid_days=(-60, -1))),
    row("leaf-signed-by-root", lambda form: form.with_certificate("pck", signing_key="root")),
    row("leaf-signed-by-somebody", lambda form: form.with_certificate("pck", signing_key="somebody")),
    row("authority-signed-by-itself", lambda form: form.with_certificate("pck_ca", signing_key="pck_ca")),
    row("authority-is-none", lambda form: form.with_certificate("pck_ca", authority=False, path_length=None)),
)


@mutant("ATT-140", each=PLATFORMS)
def platform_is_not_certified(node: Node, change: Callable[[PlatformForm], PlatformForm]) -> None:
    """Quote on a platform whose certificates or state verifiers have to refuse."""
    change_platform(node, change)


@mutant("ATT-140", each=EACH)
def quote_is_of_an_uncertified_platform(node: Node, which: str) -> None:
    """Make {which} on a platform of the right root whose certificate has expired."""
    usual = node.attestation.platform
    expired = usual.form.with_certificate("pck", valid_days=(-60, -1))
    quote_by(node, which, Platform(usual.seed, usual.now, expired))
