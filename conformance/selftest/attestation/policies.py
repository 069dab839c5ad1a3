"""Vectors of what else a caller's policy names: who and what must run, and how old statements may be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from conformance.selftest.attestation.forms import Files, Group, Test, accepted, refused
from conformance.selftest.attestation.sound_evidence import COMPOSE, DIGEST, SoundEvidence, identity
from conformance.selftest.attestation.sound_quote import NOW, SoundQuote
from reference_node.tee.event_log import Event, runtime_event, runtime_events

LEVEL_DATE = datetime(2024, 3, 13, tzinfo=UTC)
"""Of the simulated platform's levels."""


def groups(seed: bytes) -> list[Group]:
    """The groups of the policy."""
    sound, quote = SoundEvidence(seed, identity(seed)), SoundQuote(seed)
    return [
        sound.group("pinned-identity", "The app and what it runs are those of the policy", list(_pins(sound))),
        sound.group("pinned-once", "What the policy pins was measured exactly once", list(_once(sound))),
        quote.group("ages", "How old TCB levels and collateral may be", list(_ages(quote))),
    ]


def _app(test: Test, **pins: object) -> Test:
    return replace(test, policy={"app": pins})


def _pins(sound: SoundEvidence) -> Iterator[Test]:
    who, files = sound.who, sound.files
    provider = {"name": "kms", "id": who.key_provider_id.hex()}
    account = sound.issuer.account_uri
    right: dict[str, tuple[object, str]] = {
        "id": (who.app_id.hex(), "app-unexpected"),
        "instance_id": (who.instance_id.hex(), "instance-unexpected"),
        "compose_hash": ([who.compose_hash.hex()], "compose-hash-unexpected"),
        "image_digests": ([f"sha256:{DIGEST}"], "image-unexpected"),
        "os_image_hash": ([who.os_image_hash.hex()], "os-image-unexpected"),
        "key_provider": (provider, "key-provider-unexpected"),
    }
    for name, (value, code) in right.items():
        yield _app(accepted(f"the policy's {name}", files), **{name: value})
        wrong = _other(value)
        yield _app(refused(code, f"another {name} than the policy's, in one digit", files, "Pinned"), **{name: wrong})
        if isinstance(value, list):
            yield _app(accepted(f"one of two of the policy's {name}", files, "Variant"), **{name: [*wrong, *value]})
    yield _app(accepted("all at once", files), **{name: value for name, (value, _) in right.items()})
    yield _app(accepted("a key provider by its name alone", files, "Variant"), key_provider={"name": "kms"})
    other = {"name": "local", "id": provider["id"]}
    yield _app(refused("key-provider-unexpected", "another kind of key provider", files, "Pinned"), key_provider=other)
    second = COMPOSE + f"  second:\n    image: registry.example/other@sha256:{'ab' * 32}\n"
    more = SoundEvidence(sound.seed, identity(sound.seed, second)).files
    pinned = [f"sha256:{DIGEST}"]
    yield _app(refused("image-unexpected", "a second image, not the policy's", more, "Pinned"), image_digests=pinned)
    yield replace(accepted("the policy's ACME account", files), policy={"caa": {"accounts": [account]}})
    for comment, uri in {"another ACME account": account + "4", "the beginning of the account": account[:-1]}.items():
        test = refused("account-unexpected", f"{comment} is the policy's", files, "Pinned")
        yield replace(test, policy={"caa": {"accounts": [uri]}})


def _other(value: object) -> list[str] | dict[str, str] | str:
    """A value that differs from another in its last digit."""
    if isinstance(value, dict):
        return value | {"id": _changed(value["id"])}
    return [_changed(str(one)) for one in value] if isinstance(value, list) else _changed(str(value))


def _changed(text: str) -> str:
    return text[:-1] + ("0" if text[-1] != "0" else "1")


def _once(sound: SoundEvidence) -> Iterator[Test]:
    usual = runtime_events(sound.who)
    provider = json.dumps({"name": "kms", "id": "00" * 32}).encode()
    usual_provider = next(event.payload for event in usual if event.name == "key-provider")
    for name, code, pins, foreign in (
        ("os-image-hash", "os-image-unexpected", {"os_image_hash": [sound.who.os_image_hash.hex()]}, bytes(32)),
        ("key-provider", "key-provider-unexpected", {"key_provider": json.loads(usual_provider)}, provider),
    ):
        for comment, events in _measured_otherwise(usual, name, foreign):
            test = refused(code, f"{name} {comment}", sound.but(runtime=events), "Pinned", "IdentityEvent")
            yield _app(test, **pins)
        late = sound.but(runtime=[*usual, runtime_event(name, foreign)])
        told = f"another {name} measured by the application, where it counts for nothing"
        yield _app(accepted(told, late, "Variant"), **pins)
    for comment, payload in {
        "is no JSON": b"kms",
        "is a list": b"[]",
        "has its name twice": b'{"name":"x","name":"kms"}',
    }.items():
        events = [runtime_event("key-provider", payload) if event.name == "key-provider" else event for event in usual]
        test = refused("key-provider-unexpected", f"the key provider {comment}", sound.but(runtime=events), "Pinned")
        yield _app(test, key_provider={"name": "kms"})
    empty = [runtime_event("instance-id") if event.name == "instance-id" else event for event in usual]
    test = refused("instance-unexpected", "an empty instance id was measured", sound.but(runtime=empty), "Pinned")
    yield _app(test, instance_id=sound.who.instance_id.hex())


def _measured_otherwise(usual: Sequence[Event], name: str, foreign: bytes) -> Iterator[tuple[str, Sequence[Event]]]:
    place = next(place for place, event in enumerate(usual) if event.name == name)
    before, mine, after = usual[:place], usual[place], usual[place + 1 :]
    yield "is not measured", [*before, *after]
    yield "is another", [*before, runtime_event(name, foreign), *after]
    yield "is measured twice", [*before, mine, mine, *after]
    yield "is measured again with another value", [*before, mine, runtime_event(name, foreign), *after]
    yield "is measured by the application, after system-ready", [*before, *after, mine]
    hidden = runtime_event(f"{name}:x", foreign)
    yield "stands beside an event that has the digest of another one", [*before, hidden, mine, *after]


def _ages(sound: SoundQuote) -> Iterator[Test]:
    issued = replace(sound, issued=NOW.replace(day=1, month=2))
    days = (NOW - issued.issued).days + 1  # collateral is dated a day back
    fresh, files = sound.files(), issued.files()
    levels = (NOW - LEVEL_DATE).days
    for section, code, age, aged in (
        ("collateral", "collateral-age", days, files),
        ("tcb", "tcb-age", levels, fresh),
    ):
        yield _aged(accepted(f"{section} exactly as old as the policy allows", aged, "Boundary"), section, age)
        yield _aged(refused(code, f"{section} older by a day than the policy allows", aged, "TooOld"), section, age - 1)
        yield _aged(refused(code, f"{section} far older than the policy allows", aged, "TooOld"), section, 1)
    yield _aged(accepted("collateral of the day before", fresh), "collateral", 1)
    old_qe: Files = sound.with_qe_identity(("tcbLevels", 0, "tcbDate"), "2020-01-01T00:00:00Z")
    yield _aged(refused("tcb-age", "the quoting enclave's level is older", old_qe, "TooOld"), "tcb", levels)
    for comment, date, code in (
        ("no text of a time", "yesterday", "signature"),
        ("not in UTC", "2024-03-13T00:00:00+01:00", "tcb-age"),
    ):
        unclear: Files = sound.with_tcb_info(("tcbLevels", 0, "tcbDate"), date)
        yield _aged(refused(code, f"the date of a level is {comment}", unclear, "TooOld"), "tcb", levels)
    future: Files = sound.with_tcb_info(("tcbLevels", 0, "tcbDate"), "2030-01-01T00:00:00Z")
    yield _aged(refused("tcb-age", "the date of a level has not come yet", future, "TooOld"), "tcb", levels)


def _aged(test: Test, section: str, days: int) -> Test:
    return replace(test, policy={section: {"max_age_days": days}})
