"""Correct nodes that write their evidence in other forms, and keep it in other places, than the reference node does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import count

from pydantic import JsonValue

from conformance.selftest.tools.alter import change_answer, members, wrap
from conformance.selftest.tools.alter_attestation import quote_of_turn
from conformance.selftest.variants.variant import Members, choices
from reference_node.node import Node
from reference_node.tee.attestation import Attestation, Evidence
from reference_node.tee.dns import Zone, caa_record
from reference_node.tee.documents import LISTING, Document, checksums, json_document, listing
from reference_node.tee.event_log import runtime_digest, runtime_event

Files = dict[str, Document]
GATEWAY = "gateway.other.example"
PARENT = "other.example"
SECOND = "second.example"
BEGIN = b"-----BEGIN CERTIFICATE-----"
BOUND = ("acme-account.json", "cert-")
APPLICATION_EVENTS = (("compose-hash", b"what the application calls so"), ("started", b""))


@choices({"attestation": {"forms": {"tcb_info": "json_string", "quote_json_members": ["quote", "report_data"]}}})
def other_evidence_forms(node: Node) -> None:
    """Write evidence in other forms.

    Hex begins with `0x` where it may, `tcb_info` is a JSON text, quotes are of version 5, digests of runtime events are
    filled, the account's URI is `account_uri`, and quote.json holds its quote and report data alone. The quote of
    `/attestation` is made anew for each request.
    """
    node.attestation.quote_version = 5
    turns = count()

    def attestation(value: JsonValue) -> JsonValue:
        return _prefixed(_filled({**members(value), "quote": quote_of_turn(node, next(turns)).hex()}))

    change_answer(node, "/info", _info)
    change_answer(node, "/attestation", attestation)
    _bind(node, _account_uri, _short_quote)


def _info(value: JsonValue) -> JsonValue:
    info = members(value)
    return {**info, "app_id": f"0x{info['app_id']}", "tcb_info": json.dumps(info["tcb_info"], indent=1)}


def _prefixed(document: Members) -> Members:
    return {**document, "quote": f"0x{document['quote']}"}


def _filled(document: Members) -> Members:
    """With the digests of the runtime events."""
    log = json.loads(str(document["event_log"]))
    for event in log:
        payload = bytes.fromhex(event["event_payload"])
        event["digest"] = event["digest"] or runtime_digest(event["event_type"], event["event"], payload).hex()
    return {**document, "event_log": json.dumps(log)}


def _account_uri(files: Files) -> Files:
    uri = json.loads(files["acme-account.json"].body)["uri"]
    return {**files, "acme-account.json": json_document({"account_uri": uri})}


def _short_quote(document: Members) -> Members:
    return _prefixed({name: document[name] for name in ("quote", "report_data")})


@choices({"attestation": {"forms": {"certificate_order": "single"}}})
def other_evidence_places(node: Node) -> None:
    """Keep evidence in other places.

    The gateway domain is another, and its CAA records stand at the parent domain, beside those for a further account
    and for an issuer without one. The PEM holds the leaf alone, in `sha256sum.txt` before the account, and another
    domain has a certificate, too. The application has written events after `system-ready`, one with the name of an
    event of the system.
    """
    attestation = node.attestation
    attestation.domain = GATEWAY
    attestation.events += [runtime_event(name, payload) for name, payload in APPLICATION_EVENTS]
    attestation.zone = _zone(attestation)
    _bind(node, _leaf_alone(attestation))


def _zone(attestation: Attestation) -> Zone:
    pinned = [caa_record(tag, value) for tag, value in attestation.issuer.caa.items()]
    further = f"acme.example; accounturi={attestation.issuer.account_uri}9"
    return Zone.of(PARENT, {"CAA": [caa_record("issue", "other.example"), caa_record("issue", further), *pinned]})


def _leaf_alone(attestation: Attestation) -> Callable[[Files], Files]:
    """The leaf's PEM, after that of another domain and before the account."""

    def change(files: Files) -> Files:
        name, document = next((name, document) for name, document in files.items() if name.startswith("cert-"))
        leaf = replace(document, body=BEGIN + document.body.split(BEGIN)[1])
        other = replace(document, body=attestation.issuer.issue(SECOND, 0, 0).chain)
        return {f"cert-{SECOND}.pem": other, name: leaf, "acme-account.json": files["acme-account.json"]}

    return change


def _bind(
    node: Node, change: Callable[[Files], Files], written: Callable[[Members], Members] = lambda document: document
) -> None:
    """Change the files that `sha256sum.txt` covers, and how quote.json is written; bind all to the machine anew."""
    attestation = node.attestation

    def evidence(original: Callable[[], Evidence]) -> Evidence:
        made = original()
        files = change(_bound(made.files))
        sums = checksums(files)
        data = sha256(sums.body).digest() + bytes(32)
        document = json.loads(made.files["quote.json"].body)
        quoted = {**document, "quote": attestation.quote(data).hex(), "report_data": data.hex()}
        files |= {"sha256sum.txt": sums, "quote.json": json_document(written(quoted))}
        return replace(made, files={LISTING: listing(attestation.domain, files.items()), **files})

    wrap(attestation, "_present_evidence", evidence)


def _bound(files: Mapping[str, Document]) -> Files:
    return {name: document for name, document in files.items() if name.startswith(BOUND)}
