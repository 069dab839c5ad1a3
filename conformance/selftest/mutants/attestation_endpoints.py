"""Faults of the attestation endpoints themselves: where they answer, to whom, and in what form."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from pydantic import JsonValue

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, members, refusal
from conformance.selftest.tools.alter_attestation import (
    Members,
    change_attestation,
    change_info,
    change_members,
    quote_of_turn,
)
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


def _wrap_answers(node: Node, path: str, before: bytes, behind: bytes) -> None:
    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, body=before + given.body + behind) if given.accepted and given.body else given

    intercept(node, path, handler)


def _known(node: Node, presented: str) -> bool:
    secret = parse_key(presented)
    return secret is not None and bool(node.accounts.key_info(key_hash(secret)).account_hash)


@mutant(
    each=[
        row("info", INFO, breaks="EP-020 ATT-020"),
        row("attestation", ATTESTATION, breaks="EP-020 ATT-040", also="ATT-010"),
        row("listing", LISTING, breaks="EP-020 ATT-070"),
        row("checksums", CHECKSUMS, breaks="ATT-080"),
        row("quote", QUOTE, breaks="ATT-090"),
        row("account", ACCOUNT, breaks="ATT-100"),
        row("certificate", CERTIFICATE, breaks="ATT-070"),
    ]
)
def attestation_path_is_not_served(node: Node, path: str) -> None:
    """Answer `{path}` with 404."""

    async def handler(_request: Received, _forward: Forward) -> Answered:
        return refusal(404)

    intercept(node, path, handler)


@mutant(
    "EP-020",
    each=[
        row("info", INFO, also="ATT-020"),
        row("attestation", ATTESTATION, also="ATT-010 ATT-040"),
        row("listing", LISTING, also="ATT-070"),
    ],
)
def attestation_path_is_below_the_api(node: Node, path: str) -> None:
    """Answer `{path}` under `/core/v1` alone."""

    async def gone(_request: Received, _forward: Forward) -> Answered:
        return refusal(404)

    async def moved(request: Received, forward: Forward) -> Answered:
        return await forward(replace(request, path=path))

    intercept(node, path, gone)
    intercept(node, path.removeprefix("/"), moved)


@mutant(
    "EP-020",
    each=[row("info", INFO, also="ATT-020"), row("attestation", ATTESTATION, also="ATT-010 ATT-040")],
)
def attestation_path_redirects_below_the_api(node: Node, path: str) -> None:
    """Redirect `{path}` to the same path under `/core/v1`, and answer there."""

    async def redirect(_request: Received, _forward: Forward) -> Answered:
        return Answered(308, ((b"location", b"/core/v1" + path.encode()),), b"")

    async def moved(request: Received, forward: Forward) -> Answered:
        return await forward(replace(request, path=path))

    intercept(node, path, redirect)
    intercept(node, path.removeprefix("/"), moved)


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


@mutant("ATT-270", also="ATT-020 ATT-040 ATT-070 ATT-080 ATT-090 ATT-100")
def attestation_is_for_keys_that_look_right(node: Node) -> None:
    """Answer the attestation paths to anybody who presents some key, but not without one."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if _presented(request) else refusal(403)

    intercept(node, SIX, handler)


def _answer_keys_otherwise(node: Node, path: str, change: Callable[[str, bytes], bytes]) -> None:
    """Change the body of answers to requests with a key, which the change is told."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given, presented = await forward(request), _presented(request)
        return replace(given, body=change(presented, given.body)) if presented and given.accepted else given

    intercept(node, path, handler)


@mutant(
    "ATT-270",
    each=[
        row("info", INFO, "tcb_info", also="ATT-020 VER-050"),
        row("attestation", ATTESTATION, "event_log", also="ATT-040 VER-050"),
        row("evidence", QUOTE, "quote", also="VER-050"),
        row("account", ACCOUNT, "uri", also="ATT-100 VER-050"),
    ],
)
def attestation_hides_a_member_from_keys(node: Node, path: str, name: str) -> None:
    """Leave `{name}` of `{path}` out for whoever presents a key."""
    _answer_keys_otherwise(node, path, lambda _, body: json.dumps(_without(json.loads(body), name)).encode())


@mutant(
    "ATT-270",
    each=[row(path.strip("/").rpartition("/")[2].partition(".")[0], path) for path in SIX],
    also="AKEY-050 UKEY-360",
)
def attestation_echoes_the_key(node: Node, path: str) -> None:
    """Write the key that was presented into the answer of `{path}`."""

    def echoed(key: str, body: bytes) -> bytes:
        if path in {LISTING, CHECKSUMS}:
            return body + f"{key}\n".encode()
        return json.dumps({**json.loads(body), "caller": key}).encode()

    _answer_keys_otherwise(node, path, echoed)


@mutant("ATT-270", also="ATT-250")
def attestation_is_another_machine_for_keys(node: Node) -> None:
    """Show whoever presents a key the `app_id` of another application."""
    _answer_keys_otherwise(node, INFO, lambda _, body: json.dumps({**json.loads(body), "app_id": "01" * 20}).encode())


@mutant("ATT-270", also="ATT-140")
def new_quotes_are_cut_for_keys(node: Node) -> None:
    """Make the quote of `/attestation` anew for each request, and answer half of it to whoever presents a key."""
    turns = count()

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted:
            return given
        quote = quote_of_turn(node, next(turns)).hex()
        shown = {
            **json.loads(node.attestation.attestation.body),
            "quote": quote[:5000] if _presented(request) else quote,
        }
        return answer(200, shown)

    intercept(node, ATTESTATION, handler)


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


def _body(node: Node, path: str, body: bytes, media_type: bytes = b"application/json") -> None:
    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return Answered(200, ((b"content-type", media_type),), body) if given.accepted else given

    intercept(node, path, handler)


@mutant(
    each=[
        row("info", INFO, breaks="ATT-020", also="EP-010 VER-050"),
        row("attestation", ATTESTATION, breaks="ATT-040", also="EP-010 VER-050"),
        row("listing", LISTING, breaks="ATT-070"),
        row("checksums", CHECKSUMS, breaks="ATT-080"),
        row("quote", QUOTE, breaks="ATT-090", also="EP-010 VER-050"),
        row("account", ACCOUNT, breaks="ATT-100", also="EP-010 VER-050"),
        row("certificate", CERTIFICATE, breaks="ATT-070"),
    ]
)
def attestation_body_is_empty(node: Node, path: str) -> None:
    """Answer `{path}` with 200 and no byte."""
    _body(node, path, b"", b"text/plain")


@mutant(
    each=[
        row("info", INFO, breaks="ATT-020"),
        row("attestation", ATTESTATION, breaks="ATT-040"),
        row("quote", QUOTE, breaks="ATT-090"),
        row("account", ACCOUNT, breaks="ATT-100"),
    ],
    also="VER-050",
)
def attestation_is_wrapped(node: Node, path: str) -> None:
    """Answer `{path}` with its members one level deeper, under `data`."""
    _wrap_answers(node, path, b'{"data":', b"}")


@mutant(
    each=[
        row("info", INFO, breaks="ATT-020"),
        row("attestation", ATTESTATION, breaks="ATT-040"),
        row("account", ACCOUNT, breaks="ATT-100"),
    ],
    also="VER-050",
)
def attestation_is_a_list(node: Node, path: str) -> None:
    """Answer `{path}` with a list of one object."""
    _wrap_answers(node, path, b"[", b"]")


@mutant("ATT-070")
def listing_is_json(node: Node) -> None:
    """Answer `/evidences/` with a JSON list of names."""
    _body(node, LISTING, b'["acme-account.json","cert-node.example.pem","sha256sum.txt","quote.json"]')


@mutant(
    each=[
        row("app-id", "app_id", breaks="ATT-020"),
        row("compose-hash", "compose_hash", breaks="ATT-020"),
        row("tcb-info", "tcb_info", breaks="ATT-020"),
    ],
    also="VER-050",
)
def info_lacks_a_member(node: Node, name: str) -> None:
    """Leave `{name}` out of `/info`."""
    change_info(node, lambda shown: _without(shown, name))


def _without(shown: Members, name: str) -> Members:
    return {member: value for member, value in shown.items() if member != name}


@mutant("ATT-020", also="VER-050")
def tcb_info_holds_no_description(node: Node) -> None:
    """Leave `app_compose` out of `tcb_info`, and give it beside it."""
    change_info(node, lambda shown: {**shown, "tcb_info": {}, **members(shown["tcb_info"])})


@mutant("ATT-020", each=[row("app_id", also="VER-050"), row("compose_hash", also="ATT-150 VER-050")])
def info_member_is_no_hex(node: Node, name: str) -> None:
    """Answer `{name}` in base64 instead of hex."""
    change_info(node, lambda shown: {**shown, name: b64encode(bytes.fromhex(str(shown[name]))).decode()})


@mutant("ATT-020", each=[row("app_id", also="ATT-250 VER-050"), row("compose_hash", also="ATT-150 VER-050")])
def info_member_is_null(node: Node, name: str) -> None:
    """Answer null as `{name}`."""
    change_info(node, lambda shown: {**shown, name: None})


@mutant("ATT-020", each=["app_id", "compose_hash", "tcb_info"], also="VER-050")
def info_member_is_named_otherwise(node: Node, name: str) -> None:
    """Answer `{name}` under its name in camel case."""
    head, _, tail = name.partition("_")
    change_info(node, lambda shown: {**_without(shown, name), head + tail.capitalize(): shown[name]})


@mutant(
    "ATT-040",
    each=[
        row("quote", also="ATT-010 VER-050"),
        row("event_log", also="ATT-010 VER-050"),
        row("vm_config", also="VER-050"),
    ],
)
def attestation_lacks_a_member(node: Node, name: str) -> None:
    """Leave `{name}` out of `/attestation`."""
    change_attestation(node, lambda shown: _without(shown, name))


@mutant(
    "ATT-040",
    each=[
        row("quote", also="ATT-010 VER-050"),
        row("event_log", also="ATT-010 VER-050"),
        row("vm_config", also="VER-050"),
    ],
)
def attestation_member_is_null(node: Node, name: str) -> None:
    """Answer null as `{name}` of `/attestation`."""
    change_attestation(node, lambda shown: {**shown, name: None})


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
