"""Faults of the evidence files: the listing, the checksums, the account, and what the evidence quote binds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificates
from pydantic import JsonValue

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


def _edit(change: Text) -> Callable[[bytes], bytes]:
    return lambda body: change(body.decode()).encode()


LISTINGS = (
    row("no-link", lambda page: page.replace(f'<a href="{NAME}">{NAME}</a>', NAME)),
    row(
        "link-in-a-comment",
        lambda page: page.replace(f'<a href="{NAME}">{NAME}</a>', f'<!-- <a href="{NAME}">x</a> -->'),
    ),
    row("other-name", lambda page: page.replace(f'href="{NAME}"', 'href="certificate.pem"')),
    row("other-domain", lambda page: page.replace(f'href="{NAME}"', 'href="cert-other.example.pem"')),
    row("other-place", lambda page: page.replace(f'href="{NAME}"', f'href="https://other.example/{NAME}"')),
    row("other-folder", lambda page: page.replace(f'href="{NAME}"', f'href="/{NAME}"')),
    row("other-suffix", lambda page: page.replace(f'href="{NAME}"', 'href="cert-node.example.pem.txt"')),
    row("data-attribute", lambda page: page.replace(f'<a href="{NAME}">', f'<a data-href="{NAME}">')),
)


@mutant("ATT-070", each=LISTINGS)
def listing_does_not_link_the_certificate(node: Node, change: Text) -> None:
    """List the evidence without a link to `cert-<domain>.pem`."""
    change_file(node, LISTING, _edit(change))


CERTIFICATES = (
    row("der", lambda body: load_pem_x509_certificates(body)[0].public_bytes(Encoding.DER)),
    row("key", lambda body: body.replace(b" CERTIFICATE-", b" PUBLIC KEY-")),
    row("cut", lambda body: body[: len(body) // 2]),
    row("html", lambda _: b"<html><body>see the other page</body></html>"),
    row("trusted", lambda body: body.replace(b" CERTIFICATE-", b" TRUSTED CERTIFICATE-")),
)


@mutant("ATT-070", each=CERTIFICATES, also="ATT-180")
def certificate_file_is_no_certificate(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Serve something else than PEM certificates as the certificate file, bound by the quote."""
    change_bound_file(node, certificate_name(node), change)


SUMS = (
    row("no-names", lambda text: "".join(line.split()[0] + "\n" for line in text.splitlines()), also="ATT-110"),
    row("names-first", lambda text: "".join("{1}  {0}\n".format(*line.split()) for line in text.splitlines())),
    row(
        "sha-1", lambda text: "".join(f"{line[:40]}  {line.split()[1]}\n" for line in text.splitlines()), also="ATT-110"
    ),
    row("json", lambda text: json.dumps({line.split()[1]: line.split()[0] for line in text.splitlines()})),
    row("bsd", lambda text: "".join("SHA256 ({1}) = {0}\n".format(*line.split()) for line in text.splitlines())),
    row("base64", lambda text: text.replace("  ", "=  ", 1), also="ATT-110"),
    row("remark", lambda text: f"# made by the node\n{text}"),
)


@mutant("ATT-080", each=SUMS)
def checksums_have_another_form(node: Node, change: Text) -> None:
    """Serve checksums that are not lines of 64 hex digits and a name; the quote binds them."""
    change_checksums(node, change)


COVERED = (
    row("account-alone", lambda text: text.splitlines(keepends=True)[0], also="ATT-240"),
    row("certificate-alone", lambda text: text.splitlines(keepends=True)[1]),
    row("nothing", lambda _: f"{hashlib.sha256(b'').hexdigest()}  empty\n", also="ATT-240"),
    row(
        "exchanged",
        lambda text: text.replace(ACCOUNT, "x").replace(NAME, ACCOUNT).replace("  x", f"  {NAME}"),
        also="ATT-240",
    ),
    row("first-digit", lambda text: ("0" if text[0] != "0" else "1") + text[1:]),
    row("other-domain", lambda text: text.replace(NAME, "cert-other.example.pem"), also="ATT-240"),
    row(
        "zeros", lambda text: "".join(f"{'0' * 64}  {line.split()[1]}\n" for line in text.splitlines()), also="ATT-240"
    ),
)


@mutant("ATT-110", each=COVERED)
def checksums_do_not_cover_the_evidence(node: Node, change: Text) -> None:
    """Serve checksums that do not fit the certificate or the account; the quote binds them."""
    change_checksums(node, change)


ACCOUNTS = (
    row("no-uri", {"status": "valid"}),
    row("null", {"uri": None}),
    row("number", {"uri": 4053803914}),
    row("http", {"uri": "http://acme.example/acme/acct/1"}),
    row("path", {"uri": "/acme/acct/1"}),
    row("list", {"uri": ["https://acme.example/acme/acct/1"]}),
    row("empty", {"uri": ""}),
    row("other-name", {"url": "https://acme.example/acme/acct/1"}),
    row("two", {"uri": "https://acme.example/acme/acct/1", "account_uri": "https://acme.example/acme/acct/2"}),
)


@mutant("ATT-100", each=ACCOUNTS, also="ATT-190")
def account_has_no_uri(node: Node, account: dict[str, JsonValue]) -> None:
    """Show an ACME account without one https URI, bound by the quote."""
    change_bound_file(node, ACCOUNT, lambda _: json.dumps(account).encode())


def _without_report_data(shown: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in shown.items() if name != "report_data"}


REPORT_DATA = (
    row("absent", _without_report_data, also="ATT-120 ATT-170 VER-050"),
    row("null", lambda shown: {**shown, "report_data": None}, also="ATT-120 ATT-170 VER-050"),
    row("base64", lambda shown: {**shown, "report_data": "FVLl" * 22}, also="ATT-120 ATT-170 VER-050"),
    row(
        "short", lambda shown: {**shown, "report_data": str(shown["report_data"])[:62]}, also="ATT-120 ATT-170 VER-050"
    ),
    row("long", lambda shown: {**shown, "report_data": f"{shown['report_data']}00"}, also="ATT-120 VER-050"),
    row("odd", lambda shown: {**shown, "report_data": str(shown["report_data"])[:-1]}, also="ATT-120 VER-050"),
    row(
        "renamed",
        lambda shown: {**_without_report_data(shown), "reportData": shown["report_data"]},
        also="ATT-120 ATT-170 VER-050",
    ),
    row(
        "list",
        lambda shown: {**shown, "report_data": [*bytes.fromhex(str(shown["report_data"]))]},
        also="ATT-120 ATT-170 VER-050",
    ),
)


@mutant("ATT-090", each=REPORT_DATA)
def evidence_has_no_report_data(node: Node, change: Callable[[dict[str, JsonValue]], dict[str, JsonValue]]) -> None:
    """Serve quote.json without hex report data."""
    change_members(node, QUOTE, change)


@mutant("ATT-170", also="ATT-120")
def shown_report_data_is_shifted(node: Node) -> None:
    """Show the report data of quote.json shifted by a byte, beside a quote that has it right."""
    change_members(node, QUOTE, lambda shown: {**shown, "report_data": "00" + str(shown["report_data"])[:-2]})
