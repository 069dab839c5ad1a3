"""Vectors of the event log (rule 6), of what it replays to, and of the compose hash (rule 1) that it measures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from conformance.selftest.attestation.forms import Files, Group, Test, accepted, refused, rows
from conformance.selftest.attestation.sound_evidence import COMPOSE, SoundEvidence, identity
from conformance.verify.evidence import ATTESTATION, INFO
from reference_node.tee.boot import boot_events
from reference_node.tee.event_log import RUNTIME_EVENT, Event, runtime_event, runtime_events

Members = dict[str, object]


def compose_groups(seed: bytes) -> list[Group]:
    """The groups of the compose hash."""
    sound = SoundEvidence(seed, identity(seed))
    return [sound.group("compose-hash", "compose_hash is SHA-256 of the app_compose text itself", list(_hash(sound)))]


def event_groups(seed: bytes) -> list[Group]:
    """The groups of the event log."""
    sound = SoundEvidence(seed, identity(seed))
    return [
        sound.group("event-digests", "Runtime events and their digests", list(_digests(sound))),
        sound.group("event-log-form", "The log's form", list(_form(sound))),
        sound.group("replay", "The log replays to the registers of the quote", list(_replay(sound))),
        sound.group(
            "identity-events", "Which events tell the app, the compose file and the instance", list(_who(sound))
        ),
    ]


def _hash(sound: SoundEvidence) -> Iterator[Test]:
    yield accepted("the hash of the text as decoded from JSON", sound.files)
    text, right = sound.who.app_compose, sound.who.compose_hash.hex()
    parsed = json.loads(text)
    unicode = identity(sound.seed, COMPOSE + "# gewartet von Jürgen\n")
    yield accepted("a text with letters beyond ASCII: the hash is over its UTF-8", sound.but(who=unicode), "Variant")
    for comment, stated in {
        "one digit differs": ("0" if right[0] != "0" else "1") + right[1:],
        "the last digit differs": right[:-1] + ("0" if right[-1] != "0" else "1"),
        "zero": "00" * 32,
        "of the compose file inside the text": _sha256(parsed["docker_compose_file"]),
        "of the text written again with blanks": _sha256(json.dumps(parsed)),
        "of the text with its members sorted": _sha256(json.dumps(parsed, sort_keys=True, separators=(",", ":"))),
        "of the text with a line feed behind it": _sha256(text + "\n"),
        "of the text as it stands quoted in the body": _sha256(json.dumps(text)),
        "SHA-512, cut to 32 bytes": hashlib.sha512(text.encode()).hexdigest()[:64],
        "backwards": sound.who.compose_hash[::-1].hex(),
    }.items():
        changed = sound.with_members(INFO, compose_hash=stated)
        yield refused("compose-hash-differs", f"compose_hash is {comment}", changed, "Binding")
    for comment, other in {
        "a byte is added to app_compose": text + " ",
        "app_compose has another image": text.replace("node:1.0", "node:1.1"),
        "app_compose is written again with blanks": json.dumps(parsed),
        "app_compose has its members sorted": json.dumps(parsed, sort_keys=True, separators=(",", ":")),
    }.items():
        changed = sound.with_members(INFO, tcb_info={"app_compose": other})
        yield refused("compose-hash-differs", comment, changed, "Binding")
    both = {"tcb_info": {"app_compose": text + " "}, "compose_hash": _sha256(text + " ")}
    changed = sound.with_members(INFO, **both)
    yield refused(
        "measured-compose-hash-differs", "another app_compose with its hash, not measured", changed, "Binding"
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _shown(sound: SoundEvidence) -> list[Members]:
    return [event.as_json() for event in sound.events]


def _place(sound: SoundEvidence, name: str) -> int:
    return next(place for place, event in enumerate(sound.events) if event.name == name)


def _with_event(sound: SoundEvidence, place: int, **changes: object) -> Files:
    """The log with one event shown differently; what was measured stays."""
    shown = _shown(sound)
    shown[place] = {name: value for name, value in (shown[place] | changes).items() if value is not None}
    return sound.but(shown=shown)


def _digests(sound: SoundEvidence) -> Iterator[Test]:
    place = _place(sound, "compose-hash")
    event = sound.events[place]
    kind, payload = RUNTIME_EVENT.to_bytes(4, "little"), event.payload
    yield accepted("runtime events have empty digests", sound.files)
    filled = [shown | {"digest": event.digest.hex()} for shown, event in zip(_shown(sound), sound.events, strict=True)]
    yield accepted("runtime events have their digests filled in", sound.but(shown=filled), "Variant")
    yield accepted(
        "one runtime event has its digest filled in", _with_event(sound, place, digest=event.digest.hex()), "Variant"
    )
    upper = _with_event(sound, place, digest=event.digest.hex().upper())
    yield accepted("a digest in upper case", upper, "HexCase")
    for comment, data in {
        "over a big-endian event type": kind[::-1] + b":compose-hash:" + payload,
        "over the payload as hex text": kind + b":compose-hash:" + payload.hex().encode(),
        "without the colons": kind + b"compose-hash" + payload,
        "without the event type": b"compose-hash:" + payload,
        "over another name": kind + b":app-id:" + payload,
        "over the payload alone": payload,
        "with the name in another place": kind + b":" + payload + b":compose-hash",
    }.items():
        changed = _with_event(sound, place, digest=hashlib.sha384(data).hexdigest())
        yield refused("event-digest-differs", f"a digest {comment}", changed, "EventDigest")
    wrong = _with_event(sound, place, digest="00" * 48)
    yield refused("event-digest-differs", "a digest of zeros", wrong, "EventDigest")
    flipped = _with_event(sound, place, digest=bytes([event.digest[0] ^ 1, *event.digest[1:]]).hex())
    yield refused("event-digest-differs", "a digest that differs in one bit", flipped, "EventDigest")
    for kind_number in (0x08000002, 0x01000008, 4):
        changed = _with_event(sound, place, event_type=kind_number, digest=event.digest.hex())
        yield refused(
            "event-type", f"an event of the runtime register has the type {kind_number:#010x}", changed, "EventType"
        )
    boot = [
        shown | {"event_type": 4, "digest": e.digest.hex()}
        for shown, e in zip(_shown(sound), sound.events, strict=True)
    ]
    yield refused("event-none", "no runtime event at all", sound.but(shown=boot), "EventType")
    newer = _with_event(sound, place, version=2)
    yield refused("event-version", "an event of version 2, whose digest is made differently", newer, "Unsupported")


def _form(sound: SoundEvidence) -> Iterator[Test]:
    place = _place(sound, "compose-hash")
    log = sound.log
    extra = _with_event(sound, place, comment="a member that is not known")
    yield accepted("an event with a member more", extra, "Variant")
    for comment, changes in rows(
        {
            "has no digest": {"digest": None},
            "has no type": {"event_type": None},
            "has no name": {"event": None},
            "has no payload": {"event_payload": None},
            "has a type as text": {"event_type": "134217729"},
            "has a type as hex text": {"event_type": "0x08000001"},
            "has a fractional type": {"event_type": 134217729.5},
            "has a type of 33 bits": {"event_type": RUNTIME_EVENT + 2**32},
            "has a negative type": {"event_type": -1},
            "has true as its type": {"event_type": True},
            "has a payload of an odd number of digits": {"event_payload": "abc"},
            "has a payload that is no hex": {"event_payload": "app"},
            "has a payload with blanks": {"event_payload": "ab cd"},
            "has a digest of 47 bytes": {"digest": "00" * 47},
            "has a digest of 32 bytes": {"digest": "00" * 32},
            "has a digest that is no hex": {"digest": "x" * 96},
            "has a number as its name": {"event": 7},
            "is of register 4": {"imr": 4},
            "is of register -1": {"imr": -1},
            "has a register as text": {"imr": "3"},
        }
    ):
        yield refused("event-log-malformed", f"an event {comment}", _with_event(sound, place, **changes), "Malformed")
    for comment, value in {
        "an array, where a text of one belongs": json.loads(log),
        "no JSON": log[:-1],
        "an object": '{"events":' + log + "}",
        "a list of texts": '["app-id"]',
        "two arrays": log + log,
        "empty": "",
    }.items():
        changed = sound.with_members(ATTESTATION, event_log=value)
        code = "attestation-malformed" if not isinstance(value, str) else "event-log-malformed"
        yield refused(code, f"event_log is {comment}", changed, "StrictJson")
    twice = log.replace('"event":"app-id"', '"event":"system-preparing","event":"app-id"')
    changed = sound.with_members(ATTESTATION, event_log=twice)
    yield refused("event-log-malformed", "an event has its name twice", changed, "StrictJson")


Alter = Callable[[list[Members]], Sequence[Members]]


def _replay(sound: SoundEvidence) -> Iterator[Test]:
    runtime = _place(sound, "system-preparing")
    last = len(sound.events) - 1
    compose = _place(sound, "compose-hash")
    provider = _place(sound, "key-provider")

    def shown(alter: Alter) -> Files:
        return sound.but(shown=alter(_shown(sound)))

    def without(place: int) -> Files:
        return shown(lambda log: log[:place] + log[place + 1 :])

    def swapped(place: int) -> Files:
        return shown(lambda log: [*log[:place], log[place + 1], log[place], *log[place + 2 :]])

    for comment, files in {
        "the first runtime event is missing": without(runtime),
        "the last runtime event is missing": without(last),
        "a runtime event in the middle is missing": without(provider),
        "two runtime events are exchanged": swapped(provider),
        "a runtime event stands twice": shown(lambda log: [*log[:provider], log[provider], *log[provider:]]),
        "an event is added at the end": shown(lambda log: [*log, runtime_event("ready", b"1").as_json()]),
        "an event is added at the start": shown(lambda log: [runtime_event("start").as_json(), *log]),
        "the runtime events come backwards": shown(lambda log: log[:runtime] + log[runtime:][::-1]),
        "a payload differs in one bit": _with_event(sound, provider, event_payload="ff"),
        "a name differs": _with_event(sound, provider, event="key-providers"),
        "colons move from the payload into the name": _with_event(
            sound, provider, event="key-provider:", event_payload=""
        ),
    }.items():
        yield refused("register-differs", comment, files, "Replay")
    for register in range(3):
        place = next(place for place, event in enumerate(sound.events) if event.register == register)
        changed = _with_event(sound, place, digest="11" * 48)
        yield refused("register-differs", f"a digest of RTMR{register} differs", changed, "Replay")
        gone = without(place)
        yield refused("register-differs", f"an event of RTMR{register} is missing", gone, "Replay")
    moved = _with_event(sound, 0, imr=1)
    yield refused("register-differs", "a boot event is moved to another register", moved, "Replay")
    runtime_moved = _with_event(sound, compose, imr=2)
    yield refused("event-register", "a runtime event is moved to a boot register", runtime_moved, "Replay")
    told = _with_event(sound, 0, event="app-id", event_payload=sound.who.app_id.hex())
    yield accepted("a boot event that calls itself app-id: names of boot events are not measured", told, "Variant")
    later = [*runtime_events(sound.who), runtime_event("deployed", b"7"), runtime_event("deployed", b"8")]
    yield accepted("the application measured events of its own", sound.but(runtime=later), "Variant")
    yield accepted("no boot events were measured, and none are in the log", sound.but(boot=()), "Variant")
    other = replace(sound, boot=boot_events()[:-1])
    yield accepted("a boot of fewer events, measured as shown", other.files, "Variant")


def _who(sound: SoundEvidence) -> Iterator[Test]:
    usual = runtime_events(sound.who)
    other = identity(sound.seed, COMPOSE.replace("1.0", "2.0"), "other app")
    foreign = {event.name: event for event in runtime_events(other)}
    names = [event.name for event in usual]

    def measured(events: Sequence[Event]) -> Files:
        return sound.but(runtime=events)

    def replaced(name: str, event: Event) -> list[Event]:
        return [event if mine.name == name else mine for mine in usual]

    for name in ("app-id", "compose-hash"):
        place = names.index(name)
        gone = usual[:place] + usual[place + 1 :]
        yield refused("identity-event-absent", f"no {name} was measured", measured(gone), "IdentityEvent")
        twice = [*usual[: place + 1], *usual[place:]]
        yield refused("identity-event-repeated", f"{name} was measured twice", measured(twice), "IdentityEvent")
        late = [*gone, usual[place]]
        comment = f"{name} was measured by the application, after system-ready"
        yield refused("identity-event-absent", comment, measured(late), "IdentityEvent")
        again = measured([*usual, foreign[name]])
        comment = f"the application measured another {name} after system-ready, where it counts for nothing"
        yield accepted(comment, again, "Variant")
        second = [*usual[: place + 1], foreign[name], *usual[place + 1 :]]
        comment = f"a second {name}, of another app, was measured before system-ready"
        yield refused("identity-event-repeated", comment, measured(second), "IdentityEvent")
    yield refused(
        "identity-event-hidden",
        "another app id, shown under a name that goes on behind the colon; the application measures this one's, and no "
        "system-ready is measured",
        _renamed(sound),
        "IdentityEvent",
    )
    yield refused(
        "measured-compose-hash-differs",
        "another compose hash was measured than /info says",
        measured(replaced("compose-hash", foreign["compose-hash"])),
        "Binding",
    )
    yield refused(
        "measured-app-id-differs",
        "another app id was measured than /info says",
        measured(replaced("app-id", foreign["app-id"])),
        "Binding",
    )
    stated = sound.with_members(INFO, app_id=other.app_id.hex())
    yield refused("measured-app-id-differs", "/info names another app than was measured", stated, "Binding")
    short = runtime_event("compose-hash", sound.who.compose_hash[:31])
    comment = "a compose hash without its last byte was measured"
    yield refused("measured-compose-hash-differs", comment, measured(replaced("compose-hash", short)), "Binding")
    text = runtime_event("compose-hash", sound.who.compose_hash.hex().encode())
    comment = "the hex text of the compose hash was measured, not its bytes"
    yield refused("measured-compose-hash-differs", comment, measured(replaced("compose-hash", text)), "Binding")


def _renamed(sound: SoundEvidence) -> Files:
    """The log of another app: the bytes of its app id's digest are those of an event called `app-id:A`, too."""
    usual = [event for event in runtime_events(sound.who) if event.name != "system-ready"]
    own = next(event for event in usual if event.name == "app-id")
    foreign = runtime_event("app-id", b"A:" + sound.who.app_id[2:])
    other = runtime_event("app-id:A", sound.who.app_id[2:])
    measured = [*(foreign if event is own else event for event in usual), own]
    shown = [other if event is foreign else event for event in (*sound.boot, *measured)]
    return sound.but(runtime=measured, shown=[event.as_json() for event in shown])
