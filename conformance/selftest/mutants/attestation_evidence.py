"""Faults of the evidence files: the listing, the checksums, the account, and what the evidence quote binds."""

from __future__ import annotations

import json
from collections.abc import Callable

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificates

from conformance.selftest.tools.alter_attestation import (
    ACCOUNT,
    QUOTE,
    certificate_name,
    change_bound_file,
    change_checksums,
    change_file,
    change_members,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.documents import LISTING

Text = Callable[[str], str]
NAME = "cert-node.example.pem"


@mutant("ATT-070")
def listing_does_not_link_the_certificate(node: Node) -> None:
    """List the evidence without a link to `cert-<domain>.pem`."""
    change_file(node, LISTING, lambda page: page.replace(f'<a href="{NAME}">{NAME}</a>'.encode(), NAME.encode()))


@mutant("ATT-070", also="ATT-180")
def certificate_file_is_no_certificate(node: Node) -> None:
    """Serve the certificate file in DER, bound by the quote."""
    change_bound_file(
        node, certificate_name(node), lambda body: load_pem_x509_certificates(body)[0].public_bytes(Encoding.DER)
    )


@mutant("ATT-080")
def checksums_have_another_form(node: Node) -> None:
    """Serve the checksums as a JSON object; the quote binds them."""
    change_checksums(node, lambda text: json.dumps({line.split()[1]: line.split()[0] for line in text.splitlines()}))


COVERED = (
    row("account-alone", lambda text: text.splitlines(keepends=True)[0], also="ATT-240"),
    row("certificate-alone", lambda text: text.splitlines(keepends=True)[1]),
    row("first-digit", lambda text: ("0" if text[0] != "0" else "1") + text[1:]),
)


@mutant("ATT-110", each=COVERED)
def checksums_do_not_cover_the_evidence(node: Node, change: Text) -> None:
    """Serve checksums that do not fit the certificate or the account; the quote binds them."""
    change_checksums(node, change)


@mutant("ATT-100", also="ATT-190 VER-050")
def account_has_no_uri(node: Node) -> None:
    """Show an ACME account without its URI, bound by the quote."""
    change_bound_file(node, ACCOUNT, lambda _: json.dumps({"status": "valid"}).encode())


@mutant("ATT-090", also="ATT-120 ATT-170 VER-050")
def evidence_has_no_report_data(node: Node) -> None:
    """Serve quote.json without report data."""
    change_members(node, QUOTE, lambda shown: {name: value for name, value in shown.items() if name != "report_data"})


@mutant("ATT-170", also="ATT-120")
def shown_report_data_is_shifted(node: Node) -> None:
    """Show the report data of quote.json shifted by a byte, beside a quote that has it right."""
    change_members(node, QUOTE, lambda shown: {**shown, "report_data": "00" + str(shown["report_data"])[:-2]})
