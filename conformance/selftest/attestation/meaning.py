"""What evidence says that is signed, measured or bound: read leniently, and without the verifier's own readers.

Two inputs with the same meaning may differ in white space, padding, hex case or further members; a verifier may take
either. One that differs in its meaning from sound evidence was tampered with.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Mapping
from datetime import datetime
from typing import cast

import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from conformance.verify.evidence import (
    ACME_ACCOUNT,
    ATTESTATION,
    CHECKSUMS,
    COLLATERAL,
    EVIDENCE_QUOTE,
    INFO,
)

Meaning = Mapping[str, object]
_PINNED = re.compile(r"[^\s@$]+@sha256:[0-9a-f]{64}")
_RUNTIME = 0x08000001
BOOT = "boot events of register"
"""How the names of what need not be told begin."""


def of_quote(raw: bytes) -> Meaning:
    """What is signed in a quote that has 32 bytes of authentication data."""
    version = int.from_bytes(raw[:2], "little")
    size = 584 if version == 4 else 6 + int.from_bytes(raw[50:54], "little")
    signed, data = raw[: 48 + size], raw[52 + size :]
    (length,) = struct.unpack_from("<H", data, 128 + 6 + 448)
    inner = 128 + 6 + 448 + 2 + length
    (chain,) = struct.unpack_from("<I", data, inner + 2)
    return {
        "header and report": signed,
        "attestation key": data[64:128],
        "QE report": data[134:518],
        "authentication data": data[584:inner],
        "chain": certificates(data[inner + 6 : inner + 6 + chain].rstrip(b"\x00")),
    }


def certificates(pem: bytes) -> tuple[bytes, ...]:
    """The DER of certificates in PEM."""
    return tuple(c.public_bytes(Encoding.DER) for c in x509.load_pem_x509_certificates(pem))


def of_collateral(body: bytes) -> Meaning:
    """What is signed in the collateral."""
    members = json.loads(body)
    chains = {name: certificates(members[name].encode()) for name in members if name.endswith("issuer_chain")}
    lists = {name: bytes.fromhex(members[name].removeprefix("0x")) for name in ("root_ca_crl", "pck_crl")}
    return {"tcb_info": members["tcb_info"], "qe_identity": members["qe_identity"]} | chains | lists


def of_log(text: str) -> Meaning:
    """What a log says was measured: runtime events, and the digests of each boot register.

    The order of events of different registers is nobody's statement, and a register may have no events in the log.
    """
    told: dict[str, list[object]] = {"runtime events": []}
    for event in json.loads(text):
        if event["event_type"] == _RUNTIME:
            told["runtime events"].append((event["event"], bytes.fromhex(_plain(event["event_payload"]))))
        else:
            told.setdefault(f"{BOOT} {event['imr']}", []).append(bytes.fromhex(_plain(event["digest"])))
    return told


def _plain(text: str) -> str:
    return text.removeprefix("0x")


def of_evidence(files: Mapping[str, bytes], certificate: str) -> Meaning:
    """Everything in a folder of evidence that hardware vouches for, directly or through a hash."""
    info, first, second = (json.loads(files[name]) for name in (INFO, ATTESTATION, EVIDENCE_QUOTE))
    tcb_info = json.loads(info["tcb_info"]) if isinstance(info["tcb_info"], str) else info["tcb_info"]
    return {
        "app_id": bytes.fromhex(_plain(info["app_id"])),
        "compose_hash": bytes.fromhex(_plain(info["compose_hash"])),
        "app_compose": tcb_info["app_compose"],
        "quote": of_quote(bytes.fromhex(_plain(first["quote"]))),
        **of_log(first["event_log"]),
        "evidence quote": of_quote(bytes.fromhex(_plain(second["quote"]))),
        "report data": bytes.fromhex(_plain(second["report_data"]))[:32],
        "collateral": of_collateral(files[COLLATERAL]),
        **{name: files[name] for name in (CHECKSUMS, ACME_ACCOUNT, certificate)},
    }


def observed_fault(body: bytes, account: str, leaf: bytes, valid: tuple[int, int]) -> str | None:
    """Why nobody may accept what was observed, if so."""
    told = json.loads(body)
    if not valid[0] <= told["at"] <= valid[1]:
        return f"judged at {told['at']}"
    if told["allowed_compose_hash"] not in (True, None):
        return "the compose hash is not allowed"
    if told["tls_certificate"] is not None and base64.b64decode(told["tls_certificate"]) != leaf:
        return "another certificate over TLS"
    return None if told["caa"] is None else caa_fault(told["caa"], account)


def caa_fault(answer: Mapping[str, object], account: str) -> str | None:
    """Why nobody may take an answer about CAA records for one that pins the account, if so."""
    if answer["status"] != "NOERROR":
        return f"DNS answered {answer['status']}"
    records = cast("list[dict[str, str]]", answer["records"])
    issue = [record["value"] for record in records if record["tag"].lower() == "issue"]
    wild = [record["value"] for record in records if record["tag"].lower() == "issuewild"]
    permits = [value for value in (*issue, *wild) if value.split(";")[0].strip()]
    for value in permits:
        parameters = [part.strip() for part in value.split(";")[1:]]
        named = [part.partition("=")[2].strip() for part in parameters if part.lower().startswith("accounturi")]
        if named != [account]:
            return f"{value!r} is for {named}"
    return None if issue and permits else "no record permits the account alone"


def compose_fault(text: str) -> str | None:
    """Why nobody may call the images of a compose file pinned, if so."""
    document = _loaded(text)
    for name, service in document["services"].items():
        image = service.get("image")
        if not isinstance(image, str) or not _PINNED.fullmatch(image):
            return f"the image of {name!r} is {image!r}"
        if "build" in service or "extends" in service:
            return f"{name!r} is more than its image"
    return None


def _loaded(text: str) -> dict[str, dict[str, dict[str, object]]]:
    """A compose file as PyYAML's own reader has it. It alone does not know a question mark inside a word of a list."""
    try:
        return cast("dict[str, dict[str, dict[str, object]]]", yaml.safe_load(text))
    except yaml.YAMLError as problem:
        if "but got '?'" not in str(problem):
            raise
        return cast("dict[str, dict[str, dict[str, object]]]", yaml.load(text, yaml.CSafeLoader))


def documents_fault(members: Mapping[str, str], fmspc: bytes, now: datetime) -> str | None:
    """Why nobody may accept a platform under such TCB info and QE identity, however they are signed, if so."""
    for name, kind, version in (("tcb_info", "TDX", 3), ("qe_identity", "TD_QE", 2)):
        document = json.loads(members[name])
        if (document["id"], document["version"]) != (kind, version):
            return f"{name} {document['id']!r} of version {document['version']!r}"
        begin, end = (datetime.fromisoformat(document[member]) for member in ("issueDate", "nextUpdate"))
        if not begin <= now <= end:
            return f"{name} is valid from {begin} to {end}"
        if all(level["tcbStatus"] != "UpToDate" for level in document["tcbLevels"]):
            return f"{name} calls no level up to date"
    if bytes.fromhex(_plain(json.loads(members["tcb_info"])["fmspc"])) != fmspc:
        return "TCB info of another FMSPC"
    return None
