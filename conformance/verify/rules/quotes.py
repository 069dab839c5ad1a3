"""What the hardware says: quotes, registers, report data, one machine behind both quotes."""

from __future__ import annotations

from hashlib import sha256

from conformance.verify.certificates import SIMULATED
from conformance.verify.chain import Platform
from conformance.verify.event_log import IDENTITY, SYSTEM_READY, Event, before_ready, extend, of_register
from conformance.verify.evidence import ATTESTATION, CHECKSUMS, EVIDENCE_QUOTE, INFO
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.policy import TcbStatus
from conformance.verify.quote import TdReport
from conformance.verify.reading import Identity, Reading, check_replay, identity_of
from conformance.verify.rules.service import check_measured

QUOTE = f"{ATTESTATION}: quote"
SECOND_QUOTE = f"{EVIDENCE_QUOTE}: quote"
EVENTS = f"{ATTESTATION}: event_log"
SECOND_EVENTS = f"{EVIDENCE_QUOTE}: event_log"
MACHINE_FIELDS = (
    "mr_td",
    "rt_mr0",
    "rt_mr1",
    "rt_mr2",
    "mr_config_id",
    "mr_owner",
    "mr_owner_config",
    "td_attributes",
    "xfam",
)


def quotes(reading: Reading, notes: Notes) -> str:
    """ATT-140: both quotes, down to the root certificate."""
    both = [(QUOTE, reading.quote)]
    if reading.evidence_quote_document.quote is not None:
        both.append((SECOND_QUOTE, reading.evidence_quote))
    platforms = [reading.platform(quote, where) for where, quote in both]
    note_root(reading, notes)
    for (where, _), platform in zip(both, platforms, strict=True):
        note_platform(platform, where, notes)
    statuses = " and ".join(dict.fromkeys(platform.status for platform in platforms))
    return f"{len(both)} quotes under {reading.root.full_name}, platform {platforms[0].fmspc.hex()} {statuses}"


def note_root(reading: Reading, notes: Notes) -> None:
    """Say so where the trusted root itself is simulated."""
    if SIMULATED in reading.root.organisation.upper():
        got = f"{reading.root.full_name} is a simulated root, which you trust: no hardware stands behind this"
        notes.add("simulated-root-trusted", got, "the policy's root")


def note_platform(platform: Platform, where: str, notes: Notes) -> None:
    """Say what the policy let in, and which advisories there are."""
    if platform.advisories:
        notes.add("tcb-advisories", ", ".join(platform.advisories), where)
    if platform.status is not TcbStatus.UP_TO_DATE:
        notes.add("tcb-status-accepted", f"the platform is {platform.status}, which the policy accepts", where)
    if platform.debug:
        notes.add("td-debug-accepted", "a debug TD, which the policy accepts: it keeps no secret", where)


def event_log(reading: Reading, _: Notes) -> str:
    """Rule 6 (ATT-200 to ATT-220)."""
    runtime = [event for event in reading.events if event.runtime]
    if not runtime:
        raise Fault("event-none", f"none of {len(reading.events)} events has the type 0x08000001", EVENTS)
    for event in reading.events:
        if event.register == 3 and not event.runtime:
            raise Fault("event-type", f"event {event.index} of RTMR3 has the type {event.type:#010x}", EVENTS)
        if event.runtime and event.digest and event.digest != event.computed_digest:
            got = (
                f"event {event.index} ({event.name!r}) has {event.digest.hex()}, computed {event.computed_digest.hex()}"
            )
            raise Fault("event-digest-differs", got, EVENTS)
    filled = sum(bool(event.digest) for event in runtime)
    return f"{len(runtime)} runtime events; {filled} digests compared, {len(runtime) - filled} computed"


def registers(reading: Reading, notes: Notes) -> str:
    """ATT-130: the log replays to the registers, and names the compose hash and app id of /info."""
    events, report = reading.events, reading.quote.report
    identity = reading.identity
    for index, register in enumerate(report.registers[:3]):
        _check_boot(events, index, register, notes)
    _note_names(events, notes)
    info = reading.info
    check_measured(identity.compose_hash, reading, notes, f"{EVENTS}, {INFO}")
    if identity.app_id != info.app_id:
        got = f"measured {identity.app_id.hex()}, /info says {info.app_id.hex()}"
        raise Fault("measured-app-id-differs", got, f"{EVENTS}, {INFO}")
    if not reading.policy.measurements:
        notes.add("boot-not-judged", f"MRTD {report.mr_td.hex()} and RTMR0 to 2 are compared with no image", QUOTE)
    return f"log replays to RTMR3 {report.rt_mr3.hex()}; compose_hash and app_id in it = /info"


def _check_boot(events: tuple[Event, ...], index: int, register: bytes, notes: Notes) -> None:
    of_boot = of_register(events, index)
    if not of_boot:
        if any(register):
            notes.add("boot-log-absent", f"the log has no event of RTMR{index} {register.hex()}", EVENTS)
        return
    replayed = extend(event.computed_digest for event in of_boot)
    if replayed != register:
        got = f"the log replays to RTMR{index} {replayed.hex()}, the quote has {register.hex()}"
        raise Fault("register-differs", got, EVENTS)


def _note_names(events: tuple[Event, ...], notes: Notes) -> None:
    runtime = [event for event in events if event.runtime]
    if all(event.name != SYSTEM_READY for event in runtime):
        notes.add("system-ready-absent", "no system-ready: every runtime event counts as the system's", EVENTS)
    for event in runtime[len(before_ready(events)) :]:
        if event.name in IDENTITY:
            got = f"event {event.index} after system-ready is named {event.name}; it is the application's and not read"
            notes.add("identity-event-late", got, EVENTS)


def report_data(reading: Reading, notes: Notes) -> str:
    """Rule 7 (ATT-230, ATT-240)."""
    mine = reading.quote.report.report_data
    if any(mine):
        raise Fault("report-data-not-zero", f"report data is {mine.hex()}", QUOTE)
    digest = sha256(reading.body(CHECKSUMS, "checksums-missing")).digest()
    second = reading.evidence_quote.report.report_data
    if second[:32] != digest:
        got = f"the quoted report data begins with {second[:32].hex()}, SHA-256 of sha256sum.txt is {digest.hex()}"
        raise Fault("evidence-not-bound", got, SECOND_QUOTE)
    notes.add(
        "not-fresh",
        "its report data is zero: the quote of /attestation proves what ran, not when; it may be a copy",
        QUOTE,
    )
    return f"/attestation's is zero, the evidence quote's SHA-256 of sha256sum.txt {digest.hex()}"


def evidence_quote(reading: Reading, _: Notes) -> str:
    """ATT-120: `report_data` of quote.json is the one inside its signed quote."""
    stated = reading.evidence_quote_document.report_data
    signed = reading.evidence_quote.report.report_data
    if signed[: len(stated)] != stated:
        got = f"quote.json says {stated.hex()}, its quote has {signed.hex()}"
        raise Fault("evidence-report-data-differs", got, EVIDENCE_QUOTE)
    return f"{len(stated)} bytes of report_data with those inside the signed quote"


def same_machine(reading: Reading, _: Notes) -> str:
    """ATT-300: both quotes are of one machine and app."""
    first, second = reading.quote, reading.evidence_quote
    for name in MACHINE_FIELDS:
        mine, other = getattr(first.report, name), getattr(second.report, name)
        if mine != other:
            got = f"{name} is {mine.hex()} in /attestation and {other.hex()} in quote.json"
            raise Fault("machine-differs", got, SECOND_QUOTE)
    hardware = [reading.platform(quote, where).ppid for quote, where in ((first, QUOTE), (second, SECOND_QUOTE))]
    if hardware[0] != hardware[1]:
        got = f"the platform is {hardware[0].hex()} in /attestation and {hardware[1].hex()} in quote.json"
        raise Fault("machine-differs", got, SECOND_QUOTE)
    _check_same_app(reading, reading.identity, second.report)
    return f"platform, MRTD, RTMR0-2 and app {reading.identity.app_id.hex()} of both quotes"


def _check_same_app(reading: Reading, mine: Identity, second: TdReport) -> None:
    own_log = reading.evidence_events
    if own_log is not None:
        try:
            check_replay(own_log, second.rt_mr3, SECOND_EVENTS)
            other = identity_of(own_log, SECOND_EVENTS)
        except Fault as fault:
            raise Fault("app-unproven", fault.compared, fault.where) from fault
        if other != mine:
            got = f"in /attestation {mine.written}; in quote.json {other.written}"
            raise Fault("app-differs", got, SECOND_EVENTS)
        return
    # Without a log of its own, the evidence quote may be older by some events of the application, not of the system
    events = of_register(reading.events, 3)
    values = {
        extend(event.computed_digest for event in events[:count]) for count in range(_ready(events), len(events) + 1)
    }
    if second.rt_mr3 not in values:
        got = f"its RTMR3 {second.rt_mr3.hex()} is none that the log of /attestation went through"
        raise Fault("app-unproven", got, SECOND_QUOTE)


def _ready(events: list[Event]) -> int:
    """How many events there were when the system was ready: all of them, if it never said so."""
    return next((place + 1 for place, event in enumerate(events) if event.name == SYSTEM_READY), len(events))
