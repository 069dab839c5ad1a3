"""Faults of the attestation endpoints themselves: where they answer, to whom, and in what form."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer_instead,
    change_accepted,
    intercept,
    refusal,
)
from conformance.selftest.tools.alter_attestation import change_attestation, change_info, change_members
from conformance.selftest.tools.api_keys import header
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key

INFO = "/info"
ATTESTATION = "/attestation"
LISTING = "/evidences/"
CHECKSUMS = "/evidences/sha256sum.txt"
QUOTE = "/evidences/quote.json"
ACCOUNT = "/evidences/acme-account.json"
STATEMENTS = {
    INFO: "ATT-020",
    ATTESTATION: "ATT-040",
    LISTING: "ATT-070",
    CHECKSUMS: "ATT-080",
    QUOTE: "ATT-090",
    ACCOUNT: "ATT-100",
}
"""The requirement that each path answers without a key."""
SIX = tuple(STATEMENTS)
CERTIFICATE = "/evidences/cert-node.example.pem"


def _presented(request: Received) -> str | None:
    headers = dict(request.headers)
    bearer = headers.get(b"authorization", b"").decode("latin-1").removeprefix("Bearer ")
    return request.key or bearer or None


def _known(node: Node, presented: str) -> bool:
    secret = parse_key(presented)
    return secret is not None and bool(node.accounts.key_info(key_hash(secret)).account_hash)


@mutant(
    each=[
        row("listing", LISTING, breaks="EP-020 ATT-070"),
        row("checksums", CHECKSUMS, breaks="ATT-080", also="EP-020"),
        row("quote", QUOTE, breaks="ATT-090", also="EP-020"),
        row("account", ACCOUNT, breaks="ATT-100", also="EP-020"),
    ]
)
def attestation_path_is_not_served(node: Node, path: str) -> None:
    """Answer `{path}` with 404."""
    answer_instead(node, path, refusal(404))


@mutant(
    each=[
        *(
            row(path.strip("/").rpartition("/")[2].partition(".")[0], path, breaks="ATT-270", also=statement)
            for path, statement in STATEMENTS.items()
        ),
        row("certificate", CERTIFICATE, breaks="ATT-070", also="ATT-270"),
    ]
)
def attestation_asks_for_a_key(node: Node, path: str) -> None:
    """Answer `{path}` with 401 without a known key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        presented = _presented(request)
        return await forward(request) if presented and _known(node, presented) else refusal(401)

    intercept(node, path, handler)


@mutant(
    "ATT-270", each=[row(path.strip("/").rpartition("/")[2].partition(".")[0], path) for path in SIX], also="AUTH-070"
)
def attestation_refuses_unknown_keys(node: Node, path: str) -> None:
    """Answer `{path}` without a key, but with 401 to an unknown one."""

    async def handler(request: Received, forward: Forward) -> Answered:
        presented = _presented(request)
        return await forward(request) if presented is None or _known(node, presented) else refusal(401)

    intercept(node, path, handler)


@mutant(each=[row("checksums", CHECKSUMS, breaks="ATT-170"), row("quote", QUOTE, breaks="ATT-240")])
def copies_of_evidence_stay_current(node: Node, path: str) -> None:
    """Tag `{path}` by its length alone, and answer 304 to a client that names that tag."""

    def tagged(request: Received, given: Answered) -> Answered:
        tag = f'"1-{len(given.body):x}"'.encode()
        if header(request, b"if-none-match") == tag.decode():
            return Answered(304, ((b"etag", tag),), b"")
        return replace(given, headers=tuple(one for one in given.headers if one[0] != b"etag")).headed(b"etag", tag)

    change_accepted(node, path, tagged)


def _answer_keys_otherwise(node: Node, path: str, change: Callable[[str, bytes], bytes]) -> None:
    """Change the body of answers to requests with a key, which the change is told."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given, presented = await forward(request), _presented(request)
        return replace(given, body=change(presented, given.body)) if presented and given.accepted else given

    intercept(node, path, handler)


@mutant(
    each=[
        row("info", INFO, b'"app_compose":"', b'"app_compose":" ', breaks="ATT-150"),
        row("listing", LISTING, b"cert-", b"crt-", breaks="ATT-070"),
        row("account", ACCOUNT, b'"uri"', b'"url"', breaks="ATT-100"),
    ]
)
def every_third_document_is_another(node: Node, path: str, text: bytes, other: bytes) -> None:
    """Answer `{path}` with another document to every third request."""
    turn = cycle((False, False, True))
    change_accepted(
        node, path, lambda _, given: replace(given, body=given.body.replace(text, other)) if next(turn) else given
    )


@mutant("ATT-270", also="ATT-250")
def attestation_is_another_machine_for_keys(node: Node) -> None:
    """Show whoever presents a key the `app_id` of another application."""
    _answer_keys_otherwise(node, INFO, lambda _, body: json.dumps({**json.loads(body), "app_id": "01" * 20}).encode())


@mutant("ATT-270", each=[row("listing", LISTING), row("checksums", CHECKSUMS, also="ATT-110 ATT-170")])
def evidence_is_shortened_for_keys(node: Node, path: str) -> None:
    """Leave the last line of `{path}` out for whoever presents a key."""
    _answer_keys_otherwise(node, path, lambda _, body: b"".join(body.splitlines(keepends=True)[:-1]))


@mutant(
    "EP-020",
    each=[row("info", INFO, breaks="ATT-020"), row("attestation", ATTESTATION, breaks="ATT-040")],
    also="EP-420",
)
def attestation_takes_post_alone(node: Node, path: str) -> None:
    """Answer `{path}` to POST only, to GET with 405."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if request.method == "POST":
            return await forward(replace(request, method="GET"))
        return replace(refusal(405), headers=((b"allow", b"POST"), (b"content-type", b"application/problem+json")))

    intercept(node, path, handler)


@mutant("ATT-040", also="VER-050")
def attestation_is_a_list(node: Node) -> None:
    """Answer `/attestation` with a list of one object."""
    change_accepted(
        node, ATTESTATION, lambda _, given: replace(given, body=b"[" + given.body + b"]") if given.body else given
    )


@mutant("ATT-020", also="VER-050")
def info_member_is_no_hex(node: Node) -> None:
    """Answer `app_id` in base64 instead of hex."""
    change_info(node, lambda shown: {**shown, "app_id": b64encode(bytes.fromhex(str(shown["app_id"]))).decode()})


@mutant("VER-050")
def machine_is_an_object(node: Node) -> None:
    """Answer `vm_config` as an object, where the node's own description says text."""
    change_attestation(node, lambda shown: {**shown, "vm_config": {"cpu_count": 2}})


@mutant("VER-050")
def application_is_a_name(node: Node) -> None:
    """Answer `app_id` with `0x`, where the node's own description has a pattern without it."""
    change_info(node, lambda shown: {**shown, "app_id": f"0x{shown['app_id']}"})


@mutant("VER-050")
def account_is_under_the_other_name(node: Node) -> None:
    """Answer `account_uri` where the node's own description requires `uri`."""
    value: dict[str, JsonValue] = {"account_uri": node.attestation.issuer.account_uri}
    change_members(node, "acme-account.json", lambda _: value)
