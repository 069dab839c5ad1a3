"""The rules that a case can name: rules of the verifier, parts of them, and rules judged by the specification alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from types import MappingProxyType

from conformance.drivers.attestation import text
from conformance.drivers.attestation.form import RuleName
from conformance.drivers.attestation.reading import TextReading
from conformance.verify import Rule
from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.evidence import ATTESTATION, CHECKSUMS, INFO, OBSERVED
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.rules import connection, forms, quotes, service
from conformance.verify.strict import hex_bytes, json_object

SHORTEST_QUOTE = 400
"""Bytes. Any TEE's quote is longer."""
Judgement = tuple[Rule, Callable[[TextReading, Notes], str]]


def info(reading: TextReading, _: Notes) -> str:
    """ATT-020: the members are there; whether `app_compose` is a text, ATT-030 says."""
    try:
        members = reading.info
    except Fault as fault:
        if fault.code == "app-compose-malformed":
            return "app_id, compose_hash and tcb_info.app_compose"
        raise
    return f"app_id of {len(members.app_id)} bytes, compose_hash and tcb_info.app_compose"


def app_compose(reading: TextReading, _: Notes) -> str:
    """ATT-030."""
    try:
        pinned_images(reading.app_compose.docker_compose_file)
    except ComposeFault as fault:
        if fault.code == "app-compose-malformed":
            raise Fault(fault.code, fault.text, f"{INFO}: docker_compose_file, line {fault.line}") from fault
    return "app_compose is JSON with a docker_compose_file in YAML"


def attestation(reading: TextReading, _: Notes) -> str:
    """ATT-040: the members are there, in whatever form."""
    members = _attestation(reading)
    for name in ("quote", "event_log", "vm_config"):
        if members.get(name) is None:
            raise Fault("attestation-malformed", f"{name} is absent", ATTESTATION)
    return "quote, event_log and vm_config"


def _attestation(reading: TextReading) -> dict[str, object]:
    try:
        return json_object(reading.body(ATTESTATION, "attestation-missing"))
    except ValueError as problem:
        raise Fault("attestation-malformed", str(problem), ATTESTATION) from problem


def _text_of(reading: TextReading, member: str, code: str) -> None:
    """The member is a text, if it is there at all."""
    value = _attestation(reading).get(member)
    if value is not None and not isinstance(value, str):
        raise Fault(code, f"{member} is no text but {type(value).__name__}", f"{ATTESTATION}: {member}")


def quote(reading: TextReading, _: Notes) -> str:
    """ATT-050."""
    _text_of(reading, "quote", "quote-not-hex")
    try:
        parsed = reading.quote
    except Fault as fault:
        raw = hex_bytes(reading.attestation.quote) if fault.code == "tee-unsupported" else b""
        if raw and not _may_be_a_quote(raw):
            raise Fault("quote-layout", f"{len(raw)} bytes are no quote", fault.where) from fault
        raise
    return f"a TDX quote of version {parsed.version}, {len(parsed.raw)} bytes"


def _may_be_a_quote(raw: bytes) -> bool:
    """Whether it could be a quote of another TEE: all begin with a small version number."""
    return len(raw) >= SHORTEST_QUOTE and 0 < int.from_bytes(raw[:2], "little") < 10


def events(reading: TextReading, _: Notes) -> str:
    """ATT-060."""
    _text_of(reading, "event_log", "event-log-malformed")
    return f"{len(reading.events)} events with their four members"


def listing(reading: TextReading, _: Notes) -> str:
    """ATT-070."""
    return f"the listing links {reading.certificate.name}"


def checksum_file(reading: TextReading, _: Notes) -> str:
    """ATT-080."""
    return f"{len(reading.checksums)} lines of checksums"


def evidence_document(reading: TextReading, _: Notes) -> str:
    """ATT-090."""
    return f"report_data of {len(reading.evidence_quote_document.report_data)} bytes"


def acme_account(reading: TextReading, _: Notes) -> str:
    """ATT-100."""
    return f"the account {reading.acme_account}"


def certificate_bound(reading: TextReading, _: Notes) -> str:
    """The checksum file covers the certificate (ATT-240); otherwise the quote does not bind it."""
    name = reading.certificate.name.rpartition("/")[2]
    stated = reading.checksums.get(name)
    if stated is None:
        raise Fault("checksum-uncovered", f"sha256sum.txt has no line for {name}", CHECKSUMS)
    actual = sha256(reading.evidence[reading.certificate.name]).hexdigest()
    if actual != stated.lower():
        raise Fault("checksum-differs", f"SHA-256 of {name} is {actual}, its line says {stated}", CHECKSUMS)
    return f"SHA-256 of {name} = its line"


def event_types(reading: TextReading, notes: Notes) -> str:
    """ATT-200."""
    if not any(event.runtime for event in reading.events):
        raise Fault("event-none", f"none of {len(reading.events)} events has the type 0x08000001", quotes.EVENTS)
    for event in reading.events:
        if event.register == 3 and not event.runtime:
            notes.add("event-type", f"event {event.index} of RTMR3 has the type {event.type:#010x}", quotes.EVENTS)
    return "runtime events of the type 0x08000001"


def event_digests(reading: TextReading, notes: Notes) -> str:
    """ATT-210, ATT-220."""
    runtime = [event for event in reading.events if event.runtime]
    for event in runtime:
        if event.digest and event.digest != event.computed_digest:
            got = f"event {event.index} ({event.name!r}) has {event.digest.hex()}"
            notes.add("event-digest-differs", f"{got}, computed {event.computed_digest.hex()}", quotes.EVENTS)
    return f"{sum(bool(event.digest) for event in runtime)} of {len(runtime)} digests are filled"


def report_data(reading: TextReading, _: Notes) -> str:
    """Rule 7 of the first quote (ATT-230)."""
    mine = reading.quote.report.report_data
    if any(mine):
        raise Fault("report-data-not-zero", f"report data is {mine.hex()}", quotes.QUOTE)
    return "report data is zero"


def evidence_binding(reading: TextReading, _: Notes) -> str:
    """Rule 7 of the second quote (ATT-240); of the report data in quote.json where the profile says it has no quote."""
    shown = reading.shows_quote or reading.evidence_quote_document.quote is not None
    stated = reading.evidence_quote_document.report_data
    bound = reading.evidence_quote.report.report_data if shown else stated
    digest = sha256(reading.body(CHECKSUMS, "checksums-missing")).digest()
    if bound[:32] != digest:
        got = f"the quoted report data begins with {bound[:32].hex()}, SHA-256 of sha256sum.txt is {digest.hex()}"
        raise Fault("evidence-not-bound", got, quotes.SECOND_QUOTE)
    return f"report data begins with SHA-256 of sha256sum.txt {digest.hex()}"


def authorisation_contract(reading: TextReading, notes: Notes) -> str:
    """ATT-250."""
    app_id = reading.info.app_id
    if len(app_id) != 20:
        raise Fault("app-id-no-address", f"app_id has {len(app_id)} bytes, an address 20", f"{INFO}: app_id")
    if reading.contract_exists is None:
        notes.add("authorisation-not-offered", "nobody asked the chain: no JSON-RPC is named", OBSERVED)
    elif not reading.contract_exists:
        raise Fault("app-id-no-address", f"the chain has no contract at {app_id.hex()}", f"{INFO}: app_id")
    return f"a contract at {app_id.hex()}"


JUDGEMENTS: Mapping[RuleName, Judgement] = MappingProxyType(
    {
        "info": (Rule.INFO, info),
        "app-compose": (Rule.INFO, app_compose),
        "attestation": (Rule.ATTESTATION, attestation),
        "quote": (Rule.ATTESTATION, quote),
        "events": (Rule.ATTESTATION, events),
        "listing": (Rule.EVIDENCE_FILES, listing),
        "checksum-file": (Rule.EVIDENCE_FILES, checksum_file),
        "evidence-document": (Rule.EVIDENCE_FILES, evidence_document),
        "acme-account": (Rule.EVIDENCE_FILES, acme_account),
        "evidence-files": (Rule.EVIDENCE_FILES, forms.evidence_files),
        "compose-hash": (Rule.COMPOSE_HASH, service.compose_hash),
        "image-pins": (Rule.IMAGE_PINS, text.image_pins),
        "checksum-binding": (Rule.CHECKSUM_BINDING, connection.checksum_binding),
        "tls-certificate": (Rule.TLS_CERTIFICATE, connection.tls_certificate),
        "caa-account": (Rule.CAA_ACCOUNT, text.caa_account),
        "event-types": (Rule.EVENT_LOG, event_types),
        "event-digests": (Rule.EVENT_LOG, event_digests),
        "report-data": (Rule.REPORT_DATA, report_data),
        "evidence-binding": (Rule.REPORT_DATA, evidence_binding),
        "certificate-bound": (Rule.EVIDENCE_FILES, certificate_bound),
        "authorisation-contract": (Rule.AUTHORISATION, authorisation_contract),
        "authorisation": (Rule.AUTHORISATION, service.authorisation),
        "quotes": (Rule.QUOTES, quotes.quotes),
        "registers": (Rule.REGISTERS, text.registers),
        "evidence-quote": (Rule.EVIDENCE_QUOTE, quotes.evidence_quote),
        "same-app": (Rule.SAME_MACHINE, text.same_app),
        "api-connection": (Rule.API_CONNECTION, connection.api_connection),
    }
)
"""By the name in a pack, in the specification's order: the verifier's rule, and the function that judges it."""
