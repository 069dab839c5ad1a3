"""Rules that demand no more than the specification, where the verifier is stricter ("Verification rules").

A relying party should refuse an unpinned issuer beside the right record, a service that is built on the spot, or quotes
from two machines. The specification permits them, so a conforming node may have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from conformance.drivers.attestation.reading import TextReading
from conformance.verify.compose import FREE_NAMES
from conformance.verify.evidence import INFO
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.observed import CaaAnswer
from conformance.verify.rules.quotes import EVENTS, QUOTE, SECOND_EVENTS, SECOND_QUOTE
from conformance.verify.rules.service import check_measured

ISSUERS = frozenset({"issue", "issuewild"})
PINNED = re.compile(r"\S@sha256:[0-9a-fA-F]{64}\}?$")
"""Matches the end of a pinned image; a brace closes a variable's default."""
WHERE = "observed.json: caa"
NOTHING_KNOWN = "caa-lookup-failed"
COMPOSE = f"{INFO}: docker_compose_file"


def caa_account(reading: TextReading, notes: Notes) -> str:
    """Rule 5 (ATT-190): one of the accounts in the records is the evidence's; others may stand beside it."""
    observed = reading.observed
    if observed is None or observed.caa is None:
        notes.add("caa-not-offered", "nobody asked for CAA records: no gateway domain or no resolver", WHERE)
        return ""
    uri = reading.acme_account
    answer = observed.caa
    if answer.status not in {"NOERROR", "NXDOMAIN"}:
        raise Fault(NOTHING_KNOWN, f"DNS answered {answer.status[:40]} for {observed.gateway_domain}", WHERE)
    named = list(_accounts(answer))
    if uri not in named:
        got = f"the account is {uri!r}; the CAA records of {observed.gateway_domain} name {named or 'none'}"
        raise Fault("caa-account-absent", got, WHERE)
    return f"accounturi of a CAA record of {observed.gateway_domain} = {uri}"


def _accounts(answer: CaaAnswer) -> Iterator[str]:
    """The values of `accounturi` in the records that permit a CA (RFC 8657, section 3)."""
    for record in answer.records:
        if record.tag.lower() in ISSUERS:
            issuer, *parameters = record.value.split(";")
            pairs = [parameter.partition("=") for parameter in parameters if issuer.strip()]
            yield from (value.strip() for name, _, value in pairs if name.strip().lower() == "accounturi")


def image_pins(reading: TextReading, _: Notes) -> str:
    """Rule 2 (ATT-160): every `image:` line ends in `@sha256:` and a digest."""
    try:
        documents = list(yaml.compose_all(reading.app_compose.docker_compose_file, yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise Fault("app-compose-malformed", f"no YAML: {problem}"[:300], COMPOSE) from problem
    images = [image for document in documents for image in _images(document)]
    for image in images:
        if not PINNED.search(image.value):
            raise Fault("image-unpinned", f"the image is {image.value[:200]!r}", f"{COMPOSE}, line {_line(image)}")
    return f"{len(images)} images, each @sha256: and 64 hex digits"


def _images(document: yaml.Node | None) -> Iterator[yaml.Node]:
    """What stands behind each `image:`, under services and anywhere else; of aliases once.

    What a service is told or labelled with may be called anything.
    """
    waiting, seen = [document], set[int]()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        members = _members(node)
        yield from (value for name, value in members if name == "image" and isinstance(value, yaml.ScalarNode))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        waiting += [value for name, value in members if name not in FREE_NAMES]


def _members(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    """The members of a mapping in order, with repeated keys."""
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1 if node.start_mark else 0


def registers(reading: TextReading, notes: Notes) -> str:
    """ATT-130: the runtime events replay to the runtime register, and name the compose hash of /info."""
    register = reading.quote.report.rt_mr3
    measured = reading.measured(reading.events, register, EVENTS)
    info = reading.info
    check_measured(measured.compose_hash, reading, notes, f"{EVENTS}, {INFO}")
    if measured.app_id not in {b"", info.app_id}:
        got = f"measured {measured.app_id.hex()}, /info says {info.app_id.hex()}"
        raise Fault("measured-app-id-differs", got, f"{EVENTS}, {INFO}")
    return f"log replays to RTMR3 {register.hex()}; compose_hash in it = /info"


def same_app(reading: TextReading, _: Notes) -> str:
    """ATT-300: both quotes are of one application; they may come from different machines and quoting keys."""
    first, second = reading.quote.report.rt_mr3, reading.evidence_quote.report.rt_mr3
    if first == second:
        return f"RTMR3 {first.hex()} of both quotes"
    log = reading.evidence_events
    if log is None:
        got = f"RTMR3 is {first.hex()} in {QUOTE} and {second.hex()} here, without an event log that explains it"
        raise Fault("app-unproven", got, SECOND_QUOTE)
    mine = reading.measured(reading.events, first, EVENTS)
    try:
        other = reading.measured(log, second, SECOND_EVENTS)
    except Fault as fault:
        raise Fault("app-unproven", fault.compared, fault.where) from fault
    if (mine.app_id, mine.compose_hash) != (other.app_id, other.compose_hash):
        raise Fault("app-differs", f"in /attestation {mine.written}; in quote.json {other.written}", SECOND_EVENTS)
    return f"compose hash {mine.compose_hash.hex()} of both quotes"
