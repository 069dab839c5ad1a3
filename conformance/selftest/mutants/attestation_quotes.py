"""Faults of the two quotes: their form, what they report, and who signs them."""

from __future__ import annotations

import base64
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
    change_report,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.pki import PlatformForm, pem
from reference_node.tee.quotes import TD_DEBUG, QeReport, QuoteForm

EACH = (row("attestation", OF_ATTESTATION), row("evidence", OF_EVIDENCE))


@mutant(
    "ATT-050",
    each=[
        row("base64", lambda text: base64.b64encode(bytes.fromhex(text)).decode(), also="VER-050"),
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


@mutant("ATT-050", each=[row("garbage", b"\1")])
def quote_has_bytes_behind(node: Node, behind: bytes) -> None:
    """Add bytes that nobody signed behind both quotes."""
    change_form(node, BOTH, QuoteForm(trailing=behind))


def _chain(*roles: str) -> Callable[[Node], bytes]:
    def made(node: Node) -> bytes:
        platform = node.attestation.platform
        known = {"leaf": platform.pck, "ca": platform.pck_ca, "root": platform.root, "signer": platform.tcb_signer}
        return pem(*(known[role] for role in roles)).encode() + b"\0"

    return made


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
