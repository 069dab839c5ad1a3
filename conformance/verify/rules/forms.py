"""The forms of the six endpoints' bodies ("Endpoints / Attestation", the table)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.evidence import ACME_ACCOUNT, ATTESTATION, CHECKSUMS, EVIDENCE_QUOTE, INFO
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.reading import Reading

OTHER_HARDWARE = frozenset({"nvidia", "gpu", "gpus", "sev", "snp", "nitro", "tpm", "cca", "nras"})
"""Words in the names of members that hold evidence of hardware which is not judged here."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NO_EVIDENCE = frozenset({"vm_config"})
"""Members that tell of the machine and prove nothing."""


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
        for member in _other_hardware(members):
            notes.add("evidence-unsupported", f"{member}: evidence of other hardware is not judged", name)
    return f"a TDX quote of version {quote.version}, {len(quote.raw)} bytes, and {len(events)} events"


def _other_hardware(value: object) -> Iterator[str]:
    """Names of the members, however deep, that hold something of other hardware."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        words = {word.lower() for word in _WORD.findall(name)}
        if words & OTHER_HARDWARE and inner and isinstance(inner, str | list | Mapping):
            yield name
        elif name not in _NO_EVIDENCE:
            yield from _other_hardware(inner)
    for item in value if isinstance(value, list) else ():
        yield from _other_hardware(item)


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
