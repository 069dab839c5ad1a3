"""What the caller's policy names: the boots that are accepted, and who and what must run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict

from conformance.verify.boot import boot_events
from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.evidence import ACME_ACCOUNT, ATTESTATION, INFO
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.policy import BOOT_REGISTERS, Expected, KeyProvider, MeasuredEvent, Measurements
from conformance.verify.quote import TdReport
from conformance.verify.reading import Reading
from conformance.verify.strict import json_object

EVENTS = f"{ATTESTATION}: event_log"
_MOST_NAMED = 20


def boot_measurements(reading: Reading, notes: Notes) -> str:
    """MRTD and RTMR0 to 2 of the quote are those of one set of measurements."""
    return judge_boot(
        reading.quote.report, boot_of(reading), reading.policy.measurements, notes, f"{ATTESTATION}: quote"
    )


def boot_of(reading: Reading) -> tuple[MeasuredEvent, ...]:
    """The boot events of the log; none where the log cannot be read."""
    try:
        return boot_events(reading.events)
    except Fault:
        return ()


def judge_boot(
    report: TdReport, boot: tuple[MeasuredEvent, ...], accepted: Collection[Measurements], notes: Notes, where: str
) -> str:
    """Compare the registers with each set; a fault for every register that differs from the nearest one."""
    measured = dict(zip(BOOT_REGISTERS, (report.mr_td, *report.registers[:3]), strict=True))
    if not accepted:
        raise Fault("boot-unexpected", "the policy names no measurements", "the policy")
    nearest = min(accepted, key=lambda one: _distance(one, measured))
    for name in BOOT_REGISTERS:
        expected: bytes = getattr(nearest, name)
        if measured[name] == expected:
            continue
        differs = f"{name.upper()} is {measured[name].hex()}, of {nearest.name} {expected.hex()}"
        if name == "mrtd":
            notes.add("firmware-unexpected", f"{differs}: another virtual firmware", where)
        else:
            how, event = _departure(int(name[-1]), boot, nearest, accepted)
            notes.add("boot-unexpected", f"{differs}: {how}", event)
    source = f" ({nearest.source})" if nearest.source else ""
    return f"MRTD, RTMR0, RTMR1, RTMR2 = measurements {nearest.name}{source}"


def _distance(measurements: Measurements, measured: dict[str, bytes]) -> tuple[int, bool]:
    """How many registers differ; the firmware's counts most among as many."""
    return sum(getattr(measurements, name) != value for name, value in measured.items()), (
        measurements.mrtd != measured["mrtd"]
    )


def _departure(
    register: int, boot: tuple[MeasuredEvent, ...], nearest: Measurements, accepted: Collection[Measurements]
) -> tuple[str, str]:
    """Which event differs, in words, and where. Without known digests all that extended the register may."""
    mine = [event for event in boot if event.register == register]
    if not mine:
        return "no log shows an event of it", EVENTS
    expected = nearest.events[register]
    if expected:
        return _first_departure(mine, expected)
    known = {digest for one in accepted for digest in one.events[register]}
    suspects = [event for event in mine if event.digest not in known]
    names = ", ".join(event.name for event in (suspects or mine)[:_MOST_NAMED])
    return f"one of these events differs: {names}", EVENTS


def _first_departure(mine: Sequence[MeasuredEvent], expected: Sequence[bytes]) -> tuple[str, str]:
    for place, event in enumerate(mine):
        number, where = f"its event {place + 1}", f"{EVENTS}: {event.name}"
        if place == len(expected):
            return f"{number}, {event.name}, is one too many", where
        if event.digest != expected[place]:
            return f"{number}, {event.name}, is {event.digest.hex()[:24]}…, not {expected[place].hex()[:24]}…", where
    if len(mine) < len(expected):
        return f"its event {len(mine) + 1} is missing: {expected[len(mine)].hex()[:24]}…", EVENTS
    return "the log shows the events that were expected, and does not replay to it", EVENTS


def expected_identity(reading: Reading, notes: Notes) -> str:
    """The app, its instance, compose hash, images, OS image, key provider and ACME account."""
    expected = reading.policy.expected
    compared = [what for what, judge in _PINS.items() if getattr(expected, what) and judge(reading, expected, notes)]
    named = [what.replace("_", " ") for what in compared]
    return f"{', '.join(named)} = the policy's"


def _app(reading: Reading, expected: Expected, notes: Notes) -> bool:
    return _compare(notes, "app-unexpected", reading.identity.app_id, {expected.app_id})


def _instance(reading: Reading, expected: Expected, notes: Notes) -> bool:
    return _compare(notes, "instance-unexpected", reading.identity.instance_id, {expected.instance_id})


def _compose_hash(reading: Reading, expected: Expected, notes: Notes) -> bool:
    return _compare(notes, "compose-hash-unexpected", reading.identity.compose_hash, expected.compose_hashes)


def _os_image(reading: Reading, expected: Expected, notes: Notes) -> bool:
    return _compare(notes, "os-image-unexpected", reading.measured_once("os-image-hash"), expected.os_image_hashes)


def _compare(notes: Notes, code: str, measured: bytes | None, accepted: Collection[bytes | None]) -> bool:
    if measured in accepted:
        return True
    shown = _NOT_ONCE if measured is None else measured.hex()
    wanted = ", ".join(one.hex() for one in accepted if one is not None)
    notes.add(code, f"measured {shown}, the policy names {wanted}", EVENTS)
    return False


def _key_provider(reading: Reading, expected: Expected, notes: Notes) -> bool:
    payload = reading.measured_once("key-provider")
    try:
        measured = json_object(payload or b"")
    except ValueError:
        measured = {}
    wanted = {name: value for name, value in asdict(expected.key_provider or KeyProvider()).items() if value}
    if all(measured.get(name) == value for name, value in wanted.items()):
        return True
    shown = _NOT_ONCE if payload is None else payload.decode("utf-8", "replace")[:300]
    told = " and ".join(f"{name} {value}" for name, value in wanted.items())
    notes.add("key-provider-unexpected", f"measured {shown}, the policy names {told}", EVENTS)
    return False


def _account(reading: Reading, expected: Expected, notes: Notes) -> bool:
    account = reading.acme_account
    if account in expected.acme_accounts:
        return True
    got = f"the account is {account!r}, the policy names {', '.join(sorted(expected.acme_accounts))}"
    notes.add("account-unexpected", got, ACME_ACCOUNT)
    return False


def _images(reading: Reading, expected: Expected, notes: Notes) -> bool:
    where = f"{INFO}: docker_compose_file"
    try:
        images = pinned_images(reading.app_compose.docker_compose_file)
    except ComposeFault as fault:
        raise Fault(fault.code, fault.text, where) from fault
    others = [image for image in images if image.name.rpartition("@")[2] not in expected.image_digests]
    for image in others:
        got = f"{image.service} runs {image.name}, whose digest the policy does not name"
        notes.add("image-unexpected", got, f"{where}, line {image.line}")
    return not others


_NOT_ONCE = "none, or not exactly one before system-ready"
_PINS: Mapping[str, Callable[[Reading, Expected, Notes], bool]] = {
    "app_id": _app,
    "instance_id": _instance,
    "compose_hashes": _compose_hash,
    "image_digests": _images,
    "os_image_hashes": _os_image,
    "key_provider": _key_provider,
    "acme_accounts": _account,
}
"""Field of `Expected` to its judge."""
