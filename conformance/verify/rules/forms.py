"""The forms of the six endpoints' bodies ("Endpoints / Attestation", the table)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.evidence import ACME_ACCOUNT, ATTESTATION, CHECKSUMS, EVIDENCE_QUOTE, INFO
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.reading import Reading

OTHER_HARDWARE = re.compile(r"(^|_)(nvidia|gpu|sev|snp|nitro|tpm|cca)(_|$)", re.IGNORECASE)


def info(reading: Reading, _: Notes) -> str:
    """ATT-020, ATT-030."""
    members = reading.app_compose
    try:
        pinned_images(members.docker_compose_file)
    except ComposeFault as fault:
        if fault.code == "app-compose-malformed":
            where = f"{INFO}: docker_compose_file, line {fault.line}"
            raise Fault(fault.code, fault.text, where) from fault
    return f"app_id of {len(reading.info.app_id)} bytes, compose_hash, app_compose with a compose file"


def attestation(reading: Reading, notes: Notes) -> str:
    """ATT-040, ATT-050, ATT-060."""
    quote, events = reading.quote, reading.events
    for name, members in ((ATTESTATION, reading.attestation.members), (EVIDENCE_QUOTE, _evidence_members(reading))):
        for member, value in members.items():
            if OTHER_HARDWARE.search(member) and value not in (None, "", [], {}):
                notes.add("evidence-unsupported", f"{member}: evidence of other hardware is not judged", name)
    return f"a TDX quote of version {quote.version}, {len(quote.raw)} bytes, and {len(events)} events"


def _evidence_members(reading: Reading) -> Mapping[str, object]:
    try:
        return reading.evidence_quote_document.members
    except Fault:
        return {}


def evidence_files(reading: Reading, notes: Notes) -> str:
    """ATT-070 to ATT-110."""
    certificate, checksums = reading.certificate, reading.checksums
    needed = (certificate.name, ACME_ACCOUNT)
    _ = reading.acme_account, reading.evidence_quote_document
    for name in needed:
        if name.rpartition("/")[2] not in checksums:
            raise Fault("checksum-uncovered", f"sha256sum.txt has no line for {name.rpartition('/')[2]}", CHECKSUMS)
    compared = 0
    for name, expected in checksums.items():
        body = reading.evidence.get(f"evidences/{name}")
        if body is None:
            notes.add("checksum-unchecked", f"{name} is listed and was not fetched", CHECKSUMS)
            continue
        actual = sha256(body).hexdigest()
        if actual != expected:
            raise Fault("checksum-differs", f"SHA-256 of {name} is {actual}, its line says {expected}", CHECKSUMS)
        compared += 1
    return f"SHA-256 of {compared} files = their lines, {certificate.name.rpartition('/')[2]} among them"
