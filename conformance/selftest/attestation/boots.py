"""Vectors of the boot: quotes and evidence under measurements that a caller accepts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance.attestation_vectors.files import Policy
from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.sound_evidence import SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import SoundQuote, bit_flipped
from reference_node.tee.boot import (
    BOOT_APPLICATION,
    EVENT_TAG,
    FIRMWARE_BLOB,
    HANDOFF_TABLES,
    PLATFORM_CONFIG,
    VARIABLE_BOOT,
    VARIABLE_DRIVER_CONFIG,
    boot_events,
)
from reference_node.tee.event_log import Event, replay
from reference_node.tee.quotes import TdReport

REGISTERS = ("mrtd", "rtmr0", "rtmr1", "rtmr2")
UNEXPECTED = {"mrtd": "firmware-unexpected"}
Set = dict[str, object]


def groups(seed: bytes) -> list[Group]:
    """The groups of the boot."""
    quote = SoundQuote(seed, report=_report(boot_events()))
    newer = replace(quote, version=5)
    evidence = SoundEvidence(seed, identity(seed))
    return [
        quote.group("boot-of-a-quote", "Registers of a quote and the accepted measurements", list(_quotes(quote))),
        newer.group("boot-of-a-quote-5", "The same of a version 5 quote", list(_newer(newer))),
        evidence.group("boot-of-a-service", "Boot events, registers and measurements", list(_services(evidence))),
    ]


def _report(events: Sequence[Event]) -> TdReport:
    rtmr0, rtmr1, rtmr2, _ = replay(events)
    return TdReport(rtmr0=rtmr0, rtmr1=rtmr1, rtmr2=rtmr2)


def measured(events: Sequence[Event], *, name: str = "image", with_events: bool = False, **changes: str) -> Set:
    """Measurements of a boot, with registers replaced."""
    report = _report(events)
    values = {"mrtd": report.mr_td, "rtmr0": report.rtmr0, "rtmr1": report.rtmr1, "rtmr2": report.rtmr2}
    shown: Set = {"name": name, "source": "simulated", **{key: value.hex() for key, value in values.items()}, **changes}
    if with_events:
        digests = {f"rtmr{i}": [event.digest.hex() for event in events if event.register == i] for i in range(3)}
        shown["events"] = digests
    return shown


def _under(test: Test, *sets: Set) -> Test:
    policy: Policy = {"boot": {"measurements": list(sets)}}
    return replace(test, policy=policy)


def _quotes(sound: SoundQuote) -> Iterator[Test]:
    usual = measured(boot_events())
    other = measured(boot_events(processors=8), name="8 processors")
    plain = sound.files()
    yield _under(accepted("the registers are those of the measurements", plain), usual)
    yield _under(accepted("the second of two sets has them", plain, "Variant"), other, usual)
    upper = {**usual, **{name: f"0x{str(usual[name]).upper()}" for name in REGISTERS}}
    yield _under(accepted("measurements in upper case, with 0x", plain, "HexCase"), upper)
    printed = {name: usual[name] for name in REGISTERS} | {"mr_aggregated": "00" * 32, "mr_image": "11" * 32}
    yield _under(accepted("measurements as older versions of dstack-mr print them", plain, "Variant"), printed)
    for name in REGISTERS:
        right = bytes.fromhex(str(usual[name]))
        for how, wrong in {
            "differs in its first bit": bit_flipped(right, 0),
            "differs in its last bit": bit_flipped(right, 47, 7),
            "is zero": bytes(48),
            "is backwards": right[::-1],
        }.items():
            test = refused(UNEXPECTED.get(name, "boot-unexpected"), f"the measured {name.upper()} {how}", plain, "Boot")
            yield _under(test, {**usual, name: wrong.hex()})
    for one, two in (("rtmr0", "rtmr1"), ("rtmr1", "rtmr2"), ("rtmr0", "rtmr2")):
        exchanged = {**usual, one: usual[two], two: usual[one]}
        yield _under(refused("boot-unexpected", f"{one.upper()} and {two.upper()} exchanged", plain, "Boot"), exchanged)
    mixed = {**other, "mrtd": "ab" * 48}, {**usual, "rtmr2": "cd" * 48}
    yield _under(
        refused("boot-unexpected", "each register is in one of two sets, all of them in none", plain, "Boot"), *mixed
    )
    for comment, events in {
        "a machine of 8 processors": boot_events(processors=8),
        "a machine of 16 GiB": boot_events(memory=2**34),
        "another kernel": boot_events(kernel="other kernel"),
        "no boot events at all": [],
    }.items():
        files = replace(sound, report=_report(events)).files()
        yield _under(refused("boot-unexpected", f"a quote of {comment}", files, "Boot"), usual)
    firmware = sound.with_report(mr_td=hashlib.sha384(b"other firmware").digest())
    yield _under(refused("firmware-unexpected", "a quote of other firmware", firmware, "Boot"), usual)


def _newer(sound: SoundQuote) -> Iterator[Test]:
    usual = measured(boot_events())
    yield _under(accepted("the registers are those of the measurements", sound.files()), usual)
    for name in REGISTERS:
        test = refused(
            UNEXPECTED.get(name, "boot-unexpected"), f"the measured {name.upper()} differs", sound.files(), "Boot"
        )
        yield _under(test, {**usual, name: "00" * 48})


def _services(sound: SoundEvidence) -> Iterator[Test]:
    usual, known = measured(sound.boot), measured(sound.boot, with_events=True)
    stripped = [event.as_json() | {"event_payload": ""} for event in sound.boot]
    runtime = [event.as_json() for event in sound.events if event.register == 3]
    for under, one in {"": usual, ", whose events are known": known}.items():
        yield _under(accepted(f"the boot is that of the measurements{under}", sound.files), one)
        yield _under(
            accepted(f"payloads of boot events left out{under}", sound.but(shown=stripped + runtime), "Variant"), one
        )
        yield _under(accepted(f"boot events left out{under}", sound.but(shown=runtime), "Variant"), one)
        for comment, boot in _other_boots(sound.boot):
            yield _under(refused("boot-unexpected", f"{comment}{under}", sound.but(boot=boot), "Boot"), one)
        hidden = replace(sound, boot=boot_events(kernel="other kernel"))
        told = f"another kernel, whose boot events the log leaves out{under}"
        yield _under(refused("boot-unexpected", told, hidden.but(shown=runtime), "Boot"), one)
        told = f"another kernel, and the log shows the expected one's events{under}"
        lied = hidden.but(shown=[event.as_json() for event in sound.events])
        yield _under(refused("boot-unexpected", told, lied, "Boot", "Replay"), one)
        firmware = replace(sound.report, mr_td=hashlib.sha384(b"other firmware").digest())
        told = f"other firmware, which measures whatever it likes{under}"
        yield _under(refused("firmware-unexpected", told, sound.but(report=firmware), "Boot"), one)
    two = measured(boot_events(processors=8), name="8 processors", with_events=True), known
    yield _under(accepted("one of two machines", sound.files, "Variant"), *two)
    mixed = boot_events(processors=8, kernel="other kernel")
    told = "a machine of the first set with a kernel of none"
    yield _under(refused("boot-unexpected", told, sound.but(boot=mixed), "Boot"), *two)
    smaller = replace(sound, boot=boot_events(memory=2**30))
    told = "the evidence quote is of a machine with less memory"
    yield _under(refused("machine-differs", told, sound.but(evidence_of=smaller), "OtherMachine"), known)


Boots = list[Event]


def _other_boots(usual: Sequence[Event]) -> Iterator[tuple[str, Boots]]:
    def altered(kind: int, nth: int = 0) -> Boots:
        place = [place for place, event in enumerate(usual) if event.kind == kind][nth]
        digest = hashlib.sha384(usual[place].digest).digest()
        return [*usual[:place], replace(usual[place], digest=digest), *usual[place + 1 :]]

    for what, kind, nth in (
        ("another TD hand-off block", HANDOFF_TABLES, 0),
        ("another configuration volume of the firmware", FIRMWARE_BLOB, 0),
        ("Secure Boot with another setting", VARIABLE_DRIVER_CONFIG, 0),
        ("another signature database", VARIABLE_DRIVER_CONFIG, 3),
        ("another ACPI loader", PLATFORM_CONFIG, 0),
        ("another ACPI root pointer", PLATFORM_CONFIG, 1),
        ("other ACPI tables", PLATFORM_CONFIG, 2),
        ("another boot order", VARIABLE_BOOT, 0),
        ("another boot option", VARIABLE_BOOT, 1),
        ("another kernel", BOOT_APPLICATION, 0),
        ("another command line", EVENT_TAG, 0),
        ("another initrd", EVENT_TAG, 1),
    ):
        yield what, altered(kind, nth)
    for register in range(3):
        last = max(place for place, event in enumerate(usual) if event.register == register)
        yield f"the last event of RTMR{register} is missing", [*usual[:last], *usual[last + 1 :]]
        yield f"an event more in RTMR{register}", [*usual[: last + 1], usual[last], *usual[last + 1 :]]
    first, second = (place for place, event in enumerate(usual) if event.register == 2)
    exchanged = list(usual)
    exchanged[first], exchanged[second] = usual[second], usual[first]
    yield "initrd and command line measured in the other order", exchanged
    place = next(place for place, event in enumerate(usual) if event.kind == BOOT_APPLICATION)
    yield "the kernel measured into RTMR2", [*usual[:place], replace(usual[place], register=2), *usual[place + 1 :]]
