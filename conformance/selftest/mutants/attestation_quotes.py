"""Faults of the two quotes: their form, what they report, and who signs them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from urllib.parse import parse_qsl

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, change_accepted, intercept
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
from reference_node.tee.pki import PlatformForm
from reference_node.tee.quotes import TD_DEBUG, QuoteForm


@mutant("ATT-050", also="VER-050")
def quote_is_not_hex_of_a_quote(node: Node) -> None:
    """Answer a `quote` in base64."""
    change_attestation(
        node, lambda shown: {**shown, "quote": base64.b64encode(bytes.fromhex(str(shown["quote"]))).decode()}
    )


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
        return answer(given.status, {**given.told, "quote": quote})

    intercept(node, "/attestation", handler)


@mutant("ATT-230", also="VER-050")
def attestation_shows_the_evidence_quote(node: Node) -> None:
    """Answer the quote of quote.json at `/attestation`."""
    node.attestation.attestation = node.attestation.evidence.files["quote.json"]


@mutant("ATT-230")
def attestation_reports_data_now_and_then(node: Node) -> None:
    """Report the compose hash in every seventeenth quote of `/attestation`."""
    asked = count(1)

    def changed(_request: Received, given: Answered) -> Answered:
        if next(asked) % 17:
            return given
        quote = node.attestation.quote(node.attestation.identity.compose_hash + bytes(32)).hex()
        return answer(given.status, {**given.told, "quote": quote})

    change_accepted(node, "/attestation", changed)


@mutant("ATT-140", each=[row("attestation", OF_ATTESTATION), row("evidence", OF_EVIDENCE)])
def quote_is_of_a_debug_machine(node: Node, which: str) -> None:
    """Make {which} on a machine whose memory the host can read."""
    change_report(node, which, lambda report: replace(report, td_attributes=TD_DEBUG))


@mutant("ATT-140")
def quotes_are_signed_by_somebody_else(node: Node) -> None:
    """Sign both quotes with another key than the one that the quoting enclave vouches for."""
    change_form(node, BOTH, QuoteForm(quote_signing_key="somebody"))


@mutant("ATT-050", also="ATT-120")
def quote_has_bytes_behind(node: Node) -> None:
    """Add bytes that nobody signed behind both quotes."""
    change_form(node, BOTH, QuoteForm(trailing=b"\1"))


OUT_OF_DATE = (2, 2, 1, 2, 3, 1, 0, 5, *(0,) * 8)
"""TCB components below the platform's current level."""
PLATFORMS = (
    row("out-of-date", lambda form: replace(form, tcb=replace(form.tcb, components=OUT_OF_DATE))),
    row("leaf-signed-by-somebody", lambda form: form.with_certificate("pck", signing_key="somebody")),
)


@mutant("ATT-140", each=PLATFORMS)
def platform_is_not_certified(node: Node, change: Callable[[PlatformForm], PlatformForm]) -> None:
    """Quote on a platform whose certificates or state verifiers have to refuse."""
    change_platform(node, change)
