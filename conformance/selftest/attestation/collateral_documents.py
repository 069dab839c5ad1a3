"""Vectors of the signed documents of the collateral: TCB info and QE identity, and the collateral's own form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import cast

from conformance.attestation_vectors.files import COLLATERAL
from conformance.selftest.attestation.forms import Group, Test, accepted, refused, rows
from conformance.selftest.attestation.sound_quote import ABSENT, NOW, Path, SoundQuote, as_file, edited
from conformance.verify import TcbStatus
from reference_node.tee.collateral import JsonObject, canonical, qe_identity_document, tcb_info_document
from reference_node.tee.pki import pem

INSTANT = "%Y-%m-%dT%H:%M:%SZ"
REFUSED_STATUSES = [status for status in TcbStatus if status.value != "UpToDate" and "Relaunch" not in status.value]


def groups(seed: bytes) -> list[Group]:
    """The groups of TCB info, QE identity and the collateral around them."""
    sound = SoundQuote(seed)
    return [
        sound.group("tcb-status", "Which TCB level the platform meets, and its status", list(_statuses(sound))),
        sound.group("tcb-info", "What the TCB info is for", [*_tcb_info(sound), *_dates(sound)]),
        sound.group("qe-identity", "Which quoting enclave the QE identity names", list(_qe_identity(sound))),
        sound.group("signed-documents", "Who signs TCB info and QE identity, and which bytes", list(_signed(sound))),
        sound.group("collateral-form", "Nine members, each in its form", list(_form(sound))),
    ]


def _statuses(sound: SoundQuote) -> Iterator[Test]:
    for status in (TcbStatus.TD_RELAUNCH_ADVISED, TcbStatus.TD_RELAUNCH_ADVISED_CONFIGURATION_NEEDED):
        changed = sound.with_tcb_info(("tcbLevels", 0, "tcbStatus"), status.value)
        yield refused(
            "collateral-malformed", f"the platform's level is {status.value}, which no level is", changed, "TcbStatus"
        )
    for status in REFUSED_STATUSES:
        changed = sound.with_tcb_info(("tcbLevels", 0, "tcbStatus"), status.value)
        yield refused("tcb-status", f"the platform's level is {status.value}", changed, "TcbStatus")
    for status in (TcbStatus.OUT_OF_DATE, TcbStatus.REVOKED):
        changed = sound.with_tcb_info(("tdxModuleIdentities", 0, "tcbLevels", 0, "tcbStatus"), status.value)
        yield refused("tcb-status", f"the TDX module's level is {status.value}", changed, "TcbStatus")
        changed = sound.with_qe_identity(("tcbLevels", 0, "tcbStatus"), status.value)
        yield refused("tcb-status", f"the quoting enclave's level is {status.value}", changed, "TcbStatus")
    yield refused("tcb-status", "a PCESVN that only the level below allows", sound.with_tcb(pcesvn=10), "TcbStatus")
    low = (1, 1, 1, 1, 2, 0, 0, 4, *(0,) * 8)
    yield refused(
        "tcb-status", "SGX components that only the level below allows", sound.with_tcb(components=low), "TcbStatus"
    )
    module = sound.with_report(tee_tcb_svn=bytes.fromhex("03010200000000000000000000000000"))
    yield refused("tcb-status", "a TDX module of a version that is out of date", module, "TcbStatus")
    enclave = sound.with_qe_report(security_version=3)
    yield refused("tcb-status", "a quoting enclave of a version that is out of date", enclave, "TcbStatus")
    for comment, files in {
        "a PCESVN below every level": sound.with_tcb(pcesvn=4),
        "SGX components below every level": sound.with_tcb(components=(0,) * 16),
        "a TDX component below every level": sound.with_report(tee_tcb_svn=bytes.fromhex("0501" + "00" * 14)),
        "a TDX module below every level": sound.with_report(tee_tcb_svn=bytes.fromhex("0101" + "02" + "00" * 13)),
        "a TDX module of an unknown major version": sound.with_report(
            tee_tcb_svn=bytes.fromhex("0509" + "02" + "00" * 13)
        ),
        "a quoting enclave below every level": sound.with_qe_report(security_version=1),
        "no levels": sound.with_tcb_info(("tcbLevels",), []),
        "no module levels": sound.with_tcb_info(("tdxModuleIdentities", 0, "tcbLevels"), []),
        "no module identities": sound.with_tcb_info(("tdxModuleIdentities",), []),
        "no levels of the quoting enclave": sound.with_qe_identity(("tcbLevels",), []),
    }.items():
        yield refused("tcb-unmatched", comment, files, "TcbUnmatched")
    for comment, files in {
        "exactly the level's PCESVN": sound.with_tcb(pcesvn=11),
        "exactly the level's components": sound.with_tcb(components=(2, 2, 2, 2, 3, 1, 0, 5, *(0,) * 8)),
        "a quoting enclave of exactly the level's version": sound.with_qe_report(security_version=4),
    }.items():
        yield accepted(comment, files, "Boundary")
    exact = sound.with_report(tee_tcb_svn=bytes.fromhex("04010200000000000000000000000000"))
    yield accepted("a TDX module of exactly the level's version", exact, "Boundary")


def _tcb_info(sound: SoundQuote) -> Iterator[Test]:
    table: list[tuple[str, str, Path, object]] = [
        ("platform-differs", "of another FMSPC", ("fmspc",), "908060000001"),
        ("platform-differs", "of another PCE", ("pceId",), "0001"),
        ("collateral-malformed", "for SGX", ("id",), "SGX"),
        ("collateral-malformed", "of version 2", ("version",), 2),
        ("collateral-malformed", "of version 4", ("version",), 4),
        ("collateral-malformed", "of an unknown TCB type", ("tcbType",), 1),
        ("collateral-malformed", "with an unknown status", ("tcbLevels", 0, "tcbStatus"), "Fine"),
        ("collateral-malformed", "with a status in lower case", ("tcbLevels", 0, "tcbStatus"), "uptodate"),
        ("collateral-malformed", "whose level has no status", ("tcbLevels", 0, "tcbStatus"), ABSENT),
        ("collateral-malformed", "with 15 SGX components", ("tcbLevels", 0, "tcb", "sgxtcbcomponents", 15), ABSENT),
        ("collateral-malformed", "with 15 TDX components", ("tcbLevels", 0, "tcb", "tdxtcbcomponents", 15), ABSENT),
        ("collateral-malformed", "with a component of 256", ("tcbLevels", 0, "tcb", "sgxtcbcomponents", 0, "svn"), 256),
        (
            "collateral-malformed",
            "with a component as text",
            ("tcbLevels", 0, "tcb", "sgxtcbcomponents", 0, "svn"),
            "2",
        ),
        ("collateral-malformed", "whose level has no PCESVN", ("tcbLevels", 0, "tcb", "pcesvn"), ABSENT),
        ("collateral-malformed", "without levels", ("tcbLevels",), ABSENT),
        ("collateral-malformed", "without TDX module", ("tdxModule",), ABSENT),
        ("collateral-malformed", "without next update", ("nextUpdate",), ABSENT),
        ("collateral-malformed", "without FMSPC", ("fmspc",), ABSENT),
        ("tdx-module", "of a module signed by another", ("tdxModuleIdentities", 0, "mrsigner"), "00" * 47 + "01"),
        ("tdx-module", "of a module with other attributes", ("tdxModuleIdentities", 0, "attributes"), "01" + "00" * 7),
    ]
    for code, what, path, value in table:
        yield refused(code, f"TCB info {what}", sound.with_tcb_info(path, value), "TcbInfo")
    unknown = sound.with_tcb_info(("comment",), "a member that does not exist yet")
    yield accepted("TCB info with a member that is not known", unknown, "Variant")
    yield accepted(
        "TCB info with a later level in front that the platform does not meet", _later_level(sound), "Variant"
    )


def _later_level(sound: SoundQuote) -> dict[str, str]:
    document = tcb_info_document(sound.machine)
    levels = cast("list[JsonObject]", document["tcbLevels"])
    later = edited({"level": levels[0]}, ("level", "tcb", "pcesvn"), 99)["level"]
    form = replace(sound.collateral, tcb_info=document | {"tcbLevels": [later, *levels]})
    return replace(sound, collateral=form).files()


def _dates(sound: SoundQuote) -> Iterator[Test]:
    second, day = timedelta(seconds=1), timedelta(days=1)
    for what, put in {"TCB info": sound.with_tcb_info, "QE identity": sound.with_qe_identity}.items():
        for comment, member, moment, flag in (
            ("expired yesterday", "nextUpdate", NOW - day, "Expired"),
            ("expired a second ago", "nextUpdate", NOW - second, "Expired"),
            ("is issued tomorrow", "issueDate", NOW + day, "NotYetValid"),
            ("is issued a second from now", "issueDate", NOW + second, "NotYetValid"),
        ):
            yield refused("collateral-date", f"{what} {comment}", put((member,), moment.strftime(INSTANT)), flag)
        yield accepted(f"{what} is issued this second", put(("issueDate",), NOW.strftime(INSTANT)), "Boundary")
        for comment, stated in {
            "without a time zone": NOW.strftime("%Y-%m-%dT%H:%M:%S"),
            "as a date alone": (NOW + day).strftime("%Y-%m-%d"),
            "as a number": int((NOW + day).timestamp()),
            "that does not exist": "2027-02-30T00:00:00Z",
        }.items():
            yield refused(
                "collateral-malformed",
                f"{what} with a next update {comment}",
                put(("nextUpdate",), stated),
                "Malformed",
            )


def _qe_identity(sound: SoundQuote) -> Iterator[Test]:
    for comment, changes in rows(
        {
            "of another signer": {"mrsigner": bytes(32)},
            "of another product": {"product_id": 1},
            "with another MISCSELECT": {"miscselect": b"\x01\x00\x00\x00"},
            "that is a debug enclave": {"attributes": bytes.fromhex("1700000000000000e700000000000000")},
            "with other attributes": {"attributes": bytes.fromhex("1100000000000001e700000000000000")},
            "without the INIT attribute": {"attributes": bytes.fromhex("1400000000000000e700000000000000")},
        }
    ):
        yield refused("qe-identity", f"a quoting enclave {comment}", sound.with_qe_report(**changes), "QeIdentity")
    table: list[tuple[str, str, Path, object]] = [
        ("qe-identity", "of another signer", ("mrsigner",), "00" * 32),
        ("qe-identity", "of another product", ("isvprodid",), 1),
        ("qe-identity", "of another MISCSELECT", ("miscselect",), "01000000"),
        ("qe-identity", "of other attributes", ("attributes",), "13000000000000000000000000000000"),
        ("collateral-malformed", "for SGX", ("id",), "QE"),
        ("collateral-malformed", "for the quote verification enclave", ("id",), "QVE"),
        ("collateral-malformed", "of version 1", ("version",), 1),
        ("collateral-malformed", "of version 4", ("version",), 4),
        ("collateral-malformed", "without a signer", ("mrsigner",), ABSENT),
        ("collateral-malformed", "with a signer of 31 bytes", ("mrsigner",), "DC" * 31),
        ("collateral-malformed", "with a MISCSELECT of 3 bytes", ("miscselect",), "000000"),
        ("collateral-malformed", "with a mask of 15 bytes", ("attributesMask",), "FF" * 15),
        ("collateral-malformed", "without levels", ("tcbLevels",), ABSENT),
        ("collateral-malformed", "with an unknown status", ("tcbLevels", 0, "tcbStatus"), "Fine"),
    ]
    for code, what, path, value in table:
        yield refused(code, f"a QE identity {what}", sound.with_qe_identity(path, value), "QeIdentity")
    masked = sound.with_qe_report(attributes=bytes.fromhex("1500000000000000e702060000000000"))
    yield accepted("attributes of the quoting enclave that the mask leaves out", masked, "Variant")
    other = sound.with_qe_report(mrenclave=bytes(32))
    yield accepted("another build of the quoting enclave: its signer counts, not its measurement", other, "Variant")


def _signed(sound: SoundQuote) -> Iterator[Test]:
    members = sound.members
    for role in ("pck", "pck_ca", "root"):
        form = replace(sound, collateral=replace(sound.collateral, signer=role)).files()
        yield refused("collateral-signer", f"TCB info and QE identity are signed by the {role}", form, "WrongSigner")
    form = replace(sound, collateral=replace(sound.collateral, signing_key="stranger")).files()
    yield refused("signature", "TCB info and QE identity are signed by another key", form, "WrongSigner")
    for name in ("tcb_info", "qe_identity"):
        signature, text = members[f"{name}_signature"], members[name]
        document = json.loads(text)
        other = members["qe_identity_signature" if name == "tcb_info" else "tcb_info_signature"]
        for comment, changes in {
            "has the other document's signature": {f"{name}_signature": other},
            "has a signature of zeros": {f"{name}_signature": "00" * 64},
            "has the signature's halves exchanged": {f"{name}_signature": signature[64:] + signature[:64]},
            "is written with blanks, which are not signed": {name: json.dumps(document)},
            "has its members in another order": {name: canonical(dict(reversed(document.items())))},
            "has a line behind it": {name: text + "\n"},
            "is another document under the old signature": {name: text.replace('"version":', '"version": ')},
        }.items():
            yield refused("signature", f"{name} {comment}", sound.files(members=changes), "SignedBytes")
        for comment, changes in {
            "has a signature of 63 bytes": {f"{name}_signature": signature[:-2]},
            "has a signature of 65 bytes": {f"{name}_signature": signature + "00"},
            "has no signature": {f"{name}_signature": ""},
            "has a signature that is no hex": {f"{name}_signature": "x" + signature[1:]},
        }.items():
            yield refused("collateral-malformed", f"{name} {comment}", sound.files(members=changes), "Malformed")
    yield from _duplicates(sound)


def _duplicates(sound: SoundQuote) -> Iterator[Test]:
    text = canonical(tcb_info_document(sound.machine))
    twice = text.replace('"tcbStatus":"UpToDate"', '"tcbStatus":"Revoked","tcbStatus":"UpToDate"')
    form = replace(sound, collateral=replace(sound.collateral, tcb_info_text=twice)).files()
    yield refused("collateral-malformed", "tcb_info, signed, with a member twice", form, "StrictJson")
    text = canonical(qe_identity_document(sound.machine)).replace('"isvprodid":2', '"isvprodid":1,"isvprodid":2')
    form = replace(sound, collateral=replace(sound.collateral, qe_identity_text=text)).files()
    yield refused("collateral-malformed", "qe_identity, signed, with a member twice", form, "StrictJson")


def _form(sound: SoundQuote) -> Iterator[Test]:
    members, machine = sound.members, sound.machine
    for name in members:
        yield refused("collateral-malformed", f"without {name}", sound.files(members={name: ABSENT}), "Malformed")
    for comment, changes in rows(
        {
            "pck_crl is null": {"pck_crl": None},
            "root_ca_crl is no hex": {"root_ca_crl": "zz"},
            "pck_crl has an odd number of digits": {"pck_crl": members["pck_crl"][:-1]},
            "tcb_info is an object": {"tcb_info": json.loads(members["tcb_info"])},
            "tcb_info is no JSON": {"tcb_info": members["tcb_info"][:-1]},
            "qe_identity_issuer_chain is empty": {"qe_identity_issuer_chain": ""},
            "qe_identity_issuer_chain has text in front": {
                "qe_identity_issuer_chain": "chain\n" + members["qe_identity_issuer_chain"]
            },
        }
    ):
        yield refused("collateral-malformed", comment, sound.files(members=changes), "Malformed")
    alone = sound.files(members={"tcb_info_issuer_chain": pem(machine.tcb_signer)})
    yield refused("collateral-signer", "tcb_info_issuer_chain is the signer alone", alone, "Malformed")
    turned = sound.files(members={"tcb_info_issuer_chain": pem(machine.root, machine.tcb_signer)})
    yield refused("root-simulated", "tcb_info_issuer_chain has the root first", turned, "Malformed")
    chain = sound.files(members={"pck_certificate_chain": machine.pck_chain_pem})
    yield accepted("with the PCK chain beside it, as PCCS clients write it", chain, "Variant")
    other = replace(sound, seed=sound.seed + b" stranger")
    overriding = sound.files(other.raw, {"pck_certificate_chain": machine.pck_chain_pem})
    yield refused(
        "root-simulated", "a trusted PCK chain beside it stands in for the quote's own", overriding, "WrongChain"
    )
    document = sound.files()
    text = as_file(members)
    for comment, changed in {
        "no JSON": text[:-3],
        "an array": f"[{text}]",
        "a member twice": text.replace('"pck_crl":', '"pck_crl": "00",\n "pck_crl":', 1),
        "text behind the object": text + "{}",
        "empty": "",
    }.items():
        yield refused(
            "collateral-malformed",
            f"the file is {comment}" if comment in {"no JSON", "an array", "empty"} else f"the file has {comment}",
            document | {COLLATERAL: changed},
            "StrictJson",
        )
