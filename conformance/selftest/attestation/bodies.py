"""Vectors of the bodies' forms: JSON, hex and members of /info, /attestation, quote.json and collateral.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from conformance.selftest.attestation.forms import Files, Group, Test, accepted, refused, rows
from conformance.selftest.attestation.sound_evidence import VM_CONFIG, SoundEvidence, identity
from conformance.verify.evidence import ATTESTATION, COLLATERAL, EVIDENCE_QUOTE, INFO


@dataclass(frozen=True)
class Body:
    """A body whose JSON is to be read strictly."""

    name: str
    missing: str
    malformed: str


BODIES = {
    "/info": Body(INFO, "info-missing", "info-malformed"),
    "/attestation": Body(ATTESTATION, "attestation-missing", "attestation-malformed"),
    "quote.json": Body(EVIDENCE_QUOTE, "evidence-missing", "evidence-malformed"),
    "collateral.json": Body(COLLATERAL, "collateral-missing", "collateral-malformed"),
}


def groups(seed: bytes) -> list[Group]:
    """The groups of forms."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group("json", "Bodies are one JSON object that every reader understands alike", list(_json(sound))),
        sound.group("info", "The members of /info", list(_info(sound))),
        sound.group("quote-hex", "Quotes as hex", list(_hex(sound))),
        sound.group("members", "The other members of /attestation and quote.json", list(_members(sound))),
    ]


def _json(sound: SoundEvidence) -> Iterator[Test]:
    for what, body in BODIES.items():
        text = sound.bodies[body.name].decode()
        marker = f'"{next(iter(json.loads(text)))}":'
        for comment, changed in (_anywhere(text, marker) | (_once(text, marker) if body.name == INFO else {})).items():
            files = sound.with_body(body.name, changed)
            yield refused(body.malformed, f"{what} is {comment}", files, "StrictJson")
        for comment, raw in {
            "with a byte order mark": b"\xef\xbb\xbf" + text.encode(),
            "no UTF-8": text.replace("{", '{"extra": "\xff",', 1).encode("latin-1"),
        }.items():
            if body.name == INFO:
                files = sound.with_body(body.name, raw)
                yield refused(body.malformed, f"{what} is {comment}", files, "StrictJson")
        yield refused(body.missing, f"{what} is missing", sound.with_body(body.name, None), "Missing")
    info = sound.bodies[INFO].decode()
    yield accepted("/info without white space", sound.with_body(INFO, _compact(info)), "Variant")
    turned = json.dumps(dict(reversed(json.loads(info).items())))
    yield accepted("/info with its members in another order", sound.with_body(INFO, turned), "Variant")


def _anywhere(text: str, marker: str) -> dict[str, str]:
    """What any body is refused for."""
    return {
        "empty": "",
        "null": "null",
        "cut off": text[:-3],
        "followed by text": text + "x",
        "with a member twice": text.replace(marker, f'{marker} "00",\n {marker}', 1),
        "with NaN": text.replace("{", '{"extra": NaN,', 1),
        "nested beyond reason": text.replace("{", '{"extra": ' + "[" * 400 + "]" * 400 + ",", 1),
    }


def _once(text: str, marker: str) -> dict[str, str]:
    """What one body stands for all in."""
    return {
        "an array": f"[{text}]",
        "a text of it": json.dumps(text),
        "followed by another object": text + "{}",
        "with a comma too many": text.rstrip()[:-1] + ",}",
        "with a comment": text.replace("{", "{ // evidence\n", 1),
        "in single quotes": text.replace(marker, f"'{marker[1:-2]}':", 1),
        "with Infinity": text.replace("{", '{"extra": -Infinity,', 1),
        "with half of a surrogate pair": text.replace("{", '{"extra": "\\ud800",', 1),
        "with a control character in a text": text.replace(marker, f'"extra": "\x01", {marker}', 1),
    }


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"))


def _info(sound: SoundEvidence) -> Iterator[Test]:
    who = sound.who

    def info(**changes: object) -> Files:
        return sound.with_members(INFO, **changes)

    inner = json.dumps({"app_compose": who.app_compose})
    for comment, files in {
        "tcb_info is a text of the object": info(tcb_info=inner),
        "0x in front of the hex": info(app_id="0x" + who.app_id.hex(), compose_hash="0x" + who.compose_hash.hex()),
        "hex in upper case": info(app_id=who.app_id.hex().upper(), compose_hash=who.compose_hash.hex().upper()),
        "members more": info(instance_id=who.instance_id.hex(), device_id="00"),
        "more in tcb_info": info(tcb_info={"app_compose": who.app_compose, "mrtd": "00", "rtmr0": "00"}),
    }.items():
        yield accepted(comment, files, "Variant")
    for comment, changes in rows(
        {
            "no app_id": {"app_id": None},
            "no compose_hash": {"compose_hash": None},
            "no tcb_info": {"tcb_info": None},
            "an empty app_id": {"app_id": ""},
            "an app_id of an odd number of digits": {"app_id": "abc"},
            "an app_id that is no hex": {"app_id": "app"},
            "an app_id as a number": {"app_id": 7},
            "a compose_hash of 31 bytes": {"compose_hash": who.compose_hash.hex()[:-2]},
            "a compose_hash of 33 bytes": {"compose_hash": who.compose_hash.hex() + "00"},
            "a compose_hash with a blank": {"compose_hash": who.compose_hash.hex() + " "},
            "a compose_hash in base64": {"compose_hash": "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="},
            "a compose_hash with its algorithm": {"compose_hash": "sha256:" + who.compose_hash.hex()},
            "0x twice": {"compose_hash": "0x0x" + who.compose_hash.hex()},
            "tcb_info is a list": {"tcb_info": [who.app_compose]},
            "tcb_info is a text of no JSON": {"tcb_info": "app"},
            "tcb_info has no app_compose": {"tcb_info": {"compose": who.app_compose}},
            "app_compose is an object": {"tcb_info": {"app_compose": json.loads(who.app_compose)}},
            "app_compose is null": {"tcb_info": {"app_compose": None}},
            "tcb_info as text has app_compose twice": {"tcb_info": inner[:-1] + ',"app_compose":"{}"}'},
        }
    ):
        yield refused("info-malformed", comment, info(**changes), "Malformed")
    yield from _app_compose(sound)


def _app_compose(sound: SoundEvidence) -> Iterator[Test]:
    parsed = json.loads(sound.who.app_compose)
    text = sound.who.app_compose
    for comment, other in {
        "no JSON": text[:-1],
        "an array": f"[{text}]",
        "a text": json.dumps("services"),
        "without docker_compose_file": json.dumps({"name": "node"}),
        "with a compose file that is an object": json.dumps(parsed | {"docker_compose_file": {"services": {}}}),
        "with an empty compose file": json.dumps(parsed | {"docker_compose_file": ""}),
        "with docker_compose_file twice": text[:-1] + ',"docker_compose_file":"services: {}"}',
        "with NaN": text[:-1] + ',"cpu":NaN}',
    }.items():
        yield refused("app-compose-malformed", f"app_compose is {comment}", _running(sound, other), "StrictJson")
    runner = _running(sound, json.dumps(parsed | {"runner": "bash", "bash_script": "curl example.org | sh"}))
    yield refused("runner-unsupported", "app_compose is run by a shell, not by docker-compose", runner, "Unsupported")


def _running(sound: SoundEvidence, text: str) -> Files:
    """The files of a machine that measured this app_compose."""
    return sound.but(who=replace(sound.who, app_compose=text))


def _hex(sound: SoundEvidence) -> Iterator[Test]:
    for what, name, code in (
        ("the /attestation quote", ATTESTATION, "quote-not-hex"),
        ("the evidence quote", EVIDENCE_QUOTE, "evidence-quote-malformed"),
    ):
        quote = json.loads(sound.bodies[name])["quote"]
        yield accepted(f"{what} with 0x", sound.with_members(name, quote="0x" + quote), "Variant")
        yield accepted(f"{what} in upper case", sound.with_members(name, quote=quote.upper()), "HexCase")
        for comment, text in {
            "with 0X": "0X" + quote,
            "with 0x twice": "0x0x" + quote,
            "with an odd number of digits": quote[:-1],
            "with a letter beyond f": "g" + quote[1:],
            "with a blank in front": " " + quote,
            "with a line feed behind": quote + "\n",
            "with blanks between": quote[:64] + " " + quote[64:],
            "with colons between": ":".join((quote[:64], quote[64:])),
            "in base64": "BAACAIEAAAAAAAAAk5pyM/ecTKmUCg2zlX8GBw==",
        }.items():
            yield refused(code, f"{what} {comment}", sound.with_members(name, quote=text), "StrictHex")
        layout = "quote-layout" if name == ATTESTATION else code
        for comment, text in {
            "is empty": "",
            "is cut off": quote[:2000],
            "has bytes behind it": quote + "ff",
        }.items():
            yield refused(layout, f"{what} {comment}", sound.with_members(name, quote=text), "Malformed")


def _members(sound: SoundEvidence) -> Iterator[Test]:
    for name, code in (("quote", "attestation-malformed"), ("event_log", "attestation-malformed")):
        gone = sound.with_members(ATTESTATION, **{name: None})
        yield refused(code, f"/attestation without {name}", gone, "Missing")
        number = sound.with_members(ATTESTATION, **{name: 7})
        yield refused(code, f"/attestation with a number as {name}", number, "Malformed")
    gone = sound.with_members(ATTESTATION, vm_config=None)
    yield refused("attestation-malformed", "/attestation without vm_config", gone, "Missing")
    null = sound.with_text(ATTESTATION, json.dumps(VM_CONFIG), "null")
    yield refused("attestation-malformed", "/attestation with null as vm_config", null, "Missing")
    yield accepted("vm_config is an object", sound.with_members(ATTESTATION, vm_config={"cpu_count": 2}), "Variant")
    gpu = sound.with_members(ATTESTATION, nvidia_payload={"evidence": "00"})
    yield refused(
        "evidence-unsupported", "evidence of a GPU, which is not judged, never taken for fine", gpu, "Unsupported"
    )
    number = sound.with_members(ATTESTATION, num_gpus=0, gpu_ready=True)
    yield accepted("a number of GPUs, which proves nothing and claims nothing", number, "Variant")
    other_hardware: dict[str, dict[str, object]] = {
        "in camel case": {"gpuEvidence": "00"},
        "inside another member": {"more": {"nvidia_payload": {"evidence_list": ["00"]}}},
        "in a list": {"evidences": [{"snp-report": "00"}]},
    }
    for comment, members in other_hardware.items():
        told = f"evidence of other hardware {comment}, never taken for fine"
        yield refused("evidence-unsupported", told, sound.with_members(ATTESTATION, **members), "Unsupported")
    gone = sound.with_members(EVIDENCE_QUOTE, quote=None)
    yield refused("evidence-quote-missing", "quote.json without a quote: nothing is signed", gone, "Missing")
    digest = json.loads(sound.bodies[EVIDENCE_QUOTE])["report_data"]
    for comment, value in {
        "is missing": None,
        "is empty": "",
        "has 31 bytes": digest[:62],
        "has 65 bytes": digest + "00",
        "has an odd number of digits": digest[:-1],
        "is no hex": "x" * 128,
        "is a list": [digest],
        "has a blank behind it": digest + " ",
    }.items():
        files = sound.with_members(EVIDENCE_QUOTE, report_data=value)
        yield refused("evidence-malformed", f"report_data of quote.json {comment}", files, "Malformed")
    upper = sound.with_members(EVIDENCE_QUOTE, report_data="0x" + digest.upper())
    yield accepted("report_data with 0x in upper case", upper, "HexCase")
    log = sound.with_members(EVIDENCE_QUOTE, event_log="[")
    yield refused("evidence-event-log-malformed", "the log of quote.json is no JSON", log, "StrictJson")
