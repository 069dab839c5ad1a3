"""Alters what a node attests: its documents, its quotes, its evidence and what vouches for them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import members, wrap
from reference_node.node import Node
from reference_node.tee.attestation import Evidence
from reference_node.tee.boot import boot_events
from reference_node.tee.collateral import CollateralForm, make_collateral, pccs_answers
from reference_node.tee.dns import Zone
from reference_node.tee.documents import Document, checksums, json_document
from reference_node.tee.event_log import replay, runtime_events
from reference_node.tee.identity import Identity
from reference_node.tee.pki import Platform, PlatformForm
from reference_node.tee.quotes import QuoteForm, TdReport, make_quote

Members = dict[str, JsonValue]
Files = dict[str, Document]
Change = Callable[[Members], Mapping[str, JsonValue]]

BOTH = "both quotes"
OF_ATTESTATION = "the quote of /attestation"
OF_EVIDENCE = "the quote of quote.json"

ACCOUNT = "acme-account.json"
CHECKSUMS = "sha256sum.txt"
QUOTE = "quote.json"


def changed(document: Document, change: Change) -> Document:
    """The JSON object of a document, changed."""
    return json_document(change(members(json.loads(document.body))))


def change_info(node: Node, change: Change) -> None:
    """Change what `/info` answers; what is measured stays."""
    node.attestation.info = changed(node.attestation.info, change)


def change_attestation(node: Node, change: Change) -> None:
    """Change what `/attestation` answers."""
    node.attestation.attestation = changed(node.attestation.attestation, change)


def certificate_name(node: Node) -> str:
    """The name of the certificate file."""
    return f"cert-{node.attestation.domain}.pem"


def change_evidence(node: Node, change: Callable[[Evidence], Evidence]) -> None:
    """Change the evidence of each certificate, once it is made."""
    wrap(node.attestation, "_present_evidence", lambda make: change(make()))


def change_files(node: Node, change: Callable[[Files], Files]) -> None:
    """Change the evidence files; what binds them stays as it was."""
    change_evidence(node, lambda evidence: replace(evidence, files=change(dict(evidence.files))))


def change_file(node: Node, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of one evidence file; what binds them stays."""
    change_files(node, lambda files: {**files, name: replace(files[name], body=change(files[name].body))})


def change_members(node: Node, name: str, change: Change) -> None:
    """Change the JSON of one evidence file; what binds it stays."""
    change_files(node, lambda files: {**files, name: changed(files[name], change)})


def bound(node: Node, files: Files, sums: Document) -> Files:
    """These files with this checksum file and a quote over it."""
    report_data = hashlib.sha256(sums.body).digest() + bytes(32)
    over: Members = {"quote": node.attestation.quote(report_data).hex(), "report_data": report_data.hex()}
    return {**files, CHECKSUMS: sums, QUOTE: changed(files[QUOTE], lambda shown: {**shown, **over})}


def change_bound_files(node: Node, change: Callable[[Files], Files]) -> None:
    """Change evidence files, then make checksums and quote over them: the change alone is at fault."""

    def change_and_bind(files: Files) -> Files:
        after = change(files)
        covered = {name: after[name] for name in (ACCOUNT, certificate_name(node)) if name in after}
        return bound(node, after, checksums(covered))

    change_files(node, change_and_bind)


def change_bound_file(node: Node, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of one file that the checksums cover, then bind it."""
    change_bound_files(node, lambda files: {**files, name: replace(files[name], body=change(files[name].body))})


def change_checksums(node: Node, change: Callable[[str], str]) -> None:
    """Change the text of the checksum file, with a quote over it."""

    def rebind(files: Files) -> Files:
        text = change(files[CHECKSUMS].body.decode())
        return bound(node, files, replace(files[CHECKSUMS], body=text.encode()))

    change_files(node, rebind)


def become(node: Node, identity: Identity, *, registered: bool = True) -> None:
    """Take another identity: it is measured, quoted and shown, and its compose hash is registered."""
    node.attestation.identity = identity
    node.attestation.events = [*boot_events(), *runtime_events(identity)]
    if registered:
        node.attestation.authorisation.register(identity.compose_hash)


def run_application(node: Node, app_compose: str) -> None:
    """Run another application, all of it measured, shown and registered."""
    become(node, replace(node.attestation.identity, app_compose=app_compose), registered=True)


def run_compose_file(node: Node, change: Callable[[str], str]) -> None:
    """Change the compose file of the application, all of it measured, shown and registered."""
    application = json.loads(node.attestation.identity.app_compose)
    application["docker_compose_file"] = change(application["docker_compose_file"])
    run_application(node, json.dumps(application, separators=(",", ":")))


def change_log(node: Node, change: Callable[[list[Members]], JsonValue]) -> None:
    """Change the log of `/attestation` as it is shown; what is measured stays."""

    def relogged(shown: Members) -> Members:
        events = change([members(event) for event in json.loads(str(shown["event_log"]))])
        return {**shown, "event_log": json.dumps(events, separators=(",", ":"))}

    change_attestation(node, relogged)


def change_event(node: Node, name: str, change: Change) -> None:
    """Change one runtime event of the log as it is shown."""
    change_log(node, lambda events: [dict(change(event)) if event["event"] == name else event for event in events])


def report(node: Node, report_data: bytes) -> TdReport:
    """The report of the node's machine over these 64 bytes."""
    rtmr0, rtmr1, rtmr2, rtmr3 = replay(node.attestation.events)
    mr_td = node.attestation.identity.mr_td
    return TdReport(mr_td=mr_td, rtmr0=rtmr0, rtmr1=rtmr1, rtmr2=rtmr2, rtmr3=rtmr3, report_data=report_data)


def change_quote(node: Node, which: str, make: Callable[[bytes], bytes]) -> None:
    """Make one of the quotes, or both, by this function of its report data."""

    def quote(usual: Callable[[bytes], bytes], report_data: bytes) -> bytes:
        concerned = {OF_ATTESTATION: not any(report_data), OF_EVIDENCE: any(report_data)}.get(which, True)
        return make(report_data) if concerned else usual(report_data)

    wrap(node.attestation, "quote", quote)


def change_report(node: Node, which: str, change: Callable[[TdReport], TdReport]) -> None:
    """Change what a quote reports; it is signed as it should be."""
    change_quote(node, which, lambda data: _quote(node, change(report(node, data))))


def change_form(node: Node, which: str, form: QuoteForm) -> None:
    """Make a quote of another form over the same report."""
    change_quote(node, which, lambda data: _quote(node, report(node, data), form=form))


def _quote(node: Node, told: TdReport, platform: Platform | None = None, form: QuoteForm | None = None) -> bytes:
    version = node.attestation.quote_version
    return make_quote(platform or node.attestation.platform, told, version=version, form=form)


def quote_of_turn(node: Node, turn: int) -> bytes:
    """The quote of `/attestation` as it is made for the request of this number: no two are the same."""
    return _quote(node, report(node, bytes(64)), form=QuoteForm(user_data=turn.to_bytes(20, "little")))


def change_platform(node: Node, change: Callable[[PlatformForm], PlatformForm]) -> None:
    """Make the platform otherwise; its keys stay."""
    usual = node.attestation.platform
    node.attestation.platform = Platform(usual.seed, usual.now, change(usual.form))


def serve_collateral(node: Node, form: CollateralForm) -> None:
    """Serve collateral of this form in place of the node's."""
    answers = pccs_answers(make_collateral(node.attestation.platform, None, form))
    wrap(node.attestation, "pccs", lambda _: answers)


def publish_caa(node: Node, *records: str) -> None:
    """Publish these CAA records of the gateway domain and no other; texts such as `0 issue "ca.example"`."""
    zone = node.attestation.zone
    others = {kind: found for kind, found in zone.records.items() if kind.name != "CAA"}
    caa = Zone.of(node.attestation.domain, {"CAA": records}).records if records else {}
    node.attestation.zone = Zone(zone.domain, {**others, **caa})
