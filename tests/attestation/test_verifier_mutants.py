"""The verifier with one check broken at a time: some shipped vector notices each of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest

from conformance.attestation_vectors.answer import answer
from conformance.attestation_vectors.files import Vector, shipped
from conformance.attestation_vectors.protocol import request
from conformance.verify import (
    FAULTS,
    Expected,
    KeyProvider,
    MeasuredEvent,
    Measurements,
    Rule,
    Severity,
    chain,
    dsse,
    judging,
    statement,
    verifying,
)
from conformance.verify.event_log import before_ready, extend
from conformance.verify.quote import TdReport
from conformance.verify.reading import Reading
from conformance.verify.results import RULES
from conformance.verify.rules import expectations
from conformance.verify.rules import statement as judged

Patch = pytest.MonkeyPatch
BOOT, PINS, STATEMENT = "boot", "policy", "statement"
"""Files of vectors."""


@pytest.fixture(scope="module")
def vectors() -> list[Vector]:
    return shipped()


def caught(vectors: Iterable[Vector]) -> Vector | None:
    """The first vector that is judged otherwise than it says, or without the finding that it names."""
    for vector in vectors:
        said = answer(request(vector))
        if said["result"] != vector.result or (vector.finding or "") not in str(said["detail"]):
            return vector
    return None


UNNOTICED = {
    Rule.EXPECTED_COMPOSE: "takes a file of the caller, which no vector has",
    Rule.INFO: "what it refuses keeps other rules from being judged, so that they refuse as well",
    Rule.STATEMENT_SIGNATURE: "as of the rule before: nothing is read of a statement whose signature does not hold",
}


@pytest.mark.parametrize("rule", [rule for rule in Rule if rule not in UNNOTICED])
def test_rule_that_always_holds_is_noticed(rule: Rule, vectors: list[Vector], monkeypatch: Patch) -> None:
    mine = [vector for vector in vectors if vector.rule == rule and vector.result == "refused"]
    if rule is Rule.QUOTES:
        mine = [vector for vector in mine if vector.kind == "evidence"]
    monkeypatch.setattr(verifying, "JUDGES", MappingProxyType({**verifying.JUDGES, rule: lambda *_: RULES[rule].title}))
    assert caught(mine)


# measurements of the boot


def without_register(register: str, patch: Patch) -> None:
    original = expectations.judge_boot

    def judge(report: TdReport, boot: Any, accepted: Iterable[Measurements], *rest: Any) -> str:
        sets = [replace(one, **{register: _registers(report)[register]}) for one in accepted]
        return original(report, boot, sets, *rest)

    patch.setattr(expectations, "judge_boot", judge)


def _registers(report: TdReport) -> Mapping[str, bytes]:
    return dict(zip(expectations.BOOT_REGISTERS, (report.mr_td, *report.registers[:3]), strict=True))


def _boot_judged_by(patch: Patch, change: Callable[[TdReport, tuple[MeasuredEvent, ...], list[Any]], Any]) -> None:
    """The judge of boots with another report or other sets."""
    original = expectations.judge_boot

    def judge(report: TdReport, boot: tuple[MeasuredEvent, ...], accepted: Iterable[Any], *rest: Any) -> str:
        report, sets = change(report, boot, list(accepted))
        return original(report, boot, sets, *rest)

    patch.setattr(expectations, "judge_boot", judge)


def believes_the_log(patch: Patch) -> None:
    def change(report: TdReport, boot: tuple[MeasuredEvent, ...], sets: list[Any]) -> Any:
        replayed = [extend(event.digest for event in boot if event.register == index) for index in range(3)]
        return replace(report, rt_mr0=replayed[0], rt_mr1=replayed[1], rt_mr2=replayed[2]), sets

    _boot_judged_by(patch, change)


def knows_the_first_set_alone(patch: Patch) -> None:
    _boot_judged_by(patch, lambda report, _, sets: (report, sets[:1]))


def mixes_the_sets(patch: Patch) -> None:
    def change(report: TdReport, _: object, sets: list[Measurements]) -> Any:
        measured = _registers(report)
        found = {name: value for name, value in measured.items() if any(getattr(one, name) == value for one in sets)}
        return report, [replace(sets[0], **found)]

    _boot_judged_by(patch, change)


def compares_beginnings(patch: Patch) -> None:
    def change(report: TdReport, _: object, sets: list[Measurements]) -> Any:
        measured = _registers(report)
        rest = {name: value[47:] for name, value in measured.items()}
        return report, [replace(one, **{name: getattr(one, name)[:47] + rest[name] for name in rest}) for one in sets]

    _boot_judged_by(patch, change)


def accepts_a_boot_without_log(patch: Patch) -> None:
    _boot_judged_by(patch, lambda report, boot, sets: (report, sets if boot else [_as_set(report)]))


def _as_set(report: TdReport) -> Measurements:
    return Measurements("whatever booted", "", **_registers(report))


# what a policy pins


def takes_any(pin: str, patch: Patch) -> None:
    patch.setattr(expectations, "_PINS", {**expectations._PINS, pin: lambda *_: True})


def key_provider_without(member: str, patch: Patch) -> None:
    original = expectations._key_provider

    def judge(reading: Reading, expected: Expected, notes: Any) -> bool:
        provider = replace(expected.key_provider or KeyProvider(), **{member: None})
        return original(reading, replace(expected, key_provider=provider), notes)

    patch.setattr(expectations, "_PINS", {**expectations._PINS, "key_provider": judge})


def _measured_as(patch: Patch, choose: Callable[[Reading, str], bytes | None]) -> None:
    patch.setattr(Reading, "measured_once", choose)


def reads_the_last(patch: Patch) -> None:
    _measured_as(patch, lambda reading, name: ([None, *_payloads(before_ready(reading.events), name)])[-1])


def reads_the_first(patch: Patch) -> None:
    _measured_as(patch, lambda reading, name: (_payloads(before_ready(reading.events), name) or [None])[0])


def reads_the_application(patch: Patch) -> None:
    _measured_as(patch, lambda reading, name: (_payloads(reading.events, name) or [None])[-1])


def ignores_hidden_events(patch: Patch) -> None:
    def choose(reading: Reading, name: str) -> bytes | None:
        found = _payloads(before_ready(reading.events), name)
        return found[0] if len(found) == 1 else None

    _measured_as(patch, choose)


def _payloads(events: Iterable[Any], name: str) -> list[bytes]:
    return [event.payload for event in events if event.name == name]


def one_pinned_image_suffices(patch: Patch) -> None:
    def judge(reading: Reading, expected: Expected, notes: Any) -> bool:
        text = reading.app_compose.docker_compose_file
        return any(digest in text for digest in expected.image_digests) or expectations._images(
            reading, expected, notes
        )

    patch.setattr(expectations, "_PINS", {**expectations._PINS, "image_digests": judge})


def compares_the_beginning_of_the_account(patch: Patch) -> None:
    def judge(reading: Reading, expected: Expected, notes: Any) -> bool:
        if any(reading.acme_account.startswith(account) for account in expected.acme_accounts):
            return True
        return expectations._account(reading, expected, notes)

    patch.setattr(expectations, "_PINS", {**expectations._PINS, "acme_accounts": judge})


def ages_without(field: str, patch: Patch) -> None:
    original = chain._check_ages
    patch.setattr(
        chain, "_check_ages", lambda v, c, policy, *rest: original(v, c, replace(policy, **{field: None}), *rest)
    )


def dates_of_the_platform_alone(patch: Patch) -> None:
    original = chain._check_ages
    patch.setattr(chain, "_check_ages", lambda v, *rest: original(replace(v, dates=v.dates[:1]), *rest))


def a_day_more(patch: Patch) -> None:
    original = chain._check_ages

    def check(verdict: Any, collateral: Any, policy: Any, *rest: Any) -> None:
        ages = {name: getattr(policy, name) for name in ("most_tcb_age", "most_collateral_age")}
        more = {name: age + 86400 for name, age in ages.items() if age is not None}
        original(verdict, collateral, replace(policy, **more), *rest)

    patch.setattr(chain, "_check_ages", check)


# statements


def never_refuses(code: str, patch: Patch) -> None:
    faults = {**judging.FAULTS, code: replace(judging.FAULTS[code], severity=Severity.NOTE)}
    patch.setattr(judging, "FAULTS", faults)


def _believing(patch: Patch, choose: Callable[[dsse.Signed, Any], Any]) -> None:
    """The check of signatures with another envelope or other keys."""
    original = dsse.signing_keys
    patch.setattr(dsse, "signing_keys", lambda signed, keys: original(*choose(signed, keys)))


def believes_everybody(patch: Patch) -> None:
    patch.setattr(dsse, "signing_keys", lambda _, keys: tuple(keys[:1]))


def believes_the_first_signature(patch: Patch) -> None:
    _believing(patch, lambda signed, keys: (replace(signed, signatures=signed.signatures[:1]), keys))


def believes_the_last_signature(patch: Patch) -> None:
    _believing(patch, lambda signed, keys: (replace(signed, signatures=signed.signatures[-1:]), keys))


def ignores_the_names_of_keys(patch: Patch) -> None:
    unnamed = lambda signed: replace(signed, signatures=tuple((None, sig) for _, sig in signed.signatures))  # noqa: E731
    _believing(patch, lambda signed, keys: (unnamed(signed), keys))


def counts_a_signature_twice(patch: Patch) -> None:
    _believing(patch, lambda signed, keys: (replace(signed, signatures=tuple(set(signed.signatures))), keys))


def checks_the_payload_alone(patch: Patch) -> None:
    patch.setattr(dsse.Envelope, "pae", lambda envelope: envelope.payload)


def reads_any_base64(patch: Patch) -> None:
    def read(text: str) -> bytes:
        return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "==")

    patch.setattr(dsse, "base64_bytes", read)


def reads_the_last_member(module: Any, patch: Patch) -> None:
    patch.setattr(module, "json_object", lambda body: dict(json.loads(body)))


def takes_the_last_entry(patch: Patch) -> None:
    patch.setattr(statement, "_by_name", lambda entries: {str(one.get("name")): one for one in entries})


def _comparing(patch: Patch, change: Callable[[Any, Any], tuple[Any, Any]]) -> None:
    original = judged._compare_subjects
    patch.setattr(judged, "_compare_subjects", lambda said, code, notes: original(*change(said, code), notes))


def compares_what_is_there(patch: Patch) -> None:
    """Does not miss subjects that were taken away."""

    def change(said: Any, code: Any) -> tuple[Any, Any]:
        names = {subject.name for subject in said.subjects}
        missing = [subject for subject in code.subjects() if subject.name not in names]
        others = [
            statement.Subject(name=name, digest=missing_digest)
            for name in (statement.RESULTS, statement.PROFILE)
            if name not in names
        ]
        return replace(said, subjects=(*said.subjects, *missing, *others)), code

    missing_digest = statement.Digest(sha256="0" * 64)
    _comparing(patch, change)


def compares_known_subjects(patch: Patch) -> None:
    """Does not see subjects that were added."""

    def change(said: Any, code: Any) -> tuple[Any, Any]:
        known = {*(subject.name for subject in code.subjects()), statement.RESULTS, statement.PROFILE}
        return replace(said, subjects=tuple(one for one in said.subjects if one.name in known)), code

    _comparing(patch, change)


def compares_the_last_of_a_name(patch: Patch) -> None:
    def change(said: Any, code: Any) -> tuple[Any, Any]:
        return replace(said, subjects=tuple({one.name: one for one in said.subjects}.values())), code

    _comparing(patch, change)


def ignores_addresses(patch: Patch) -> None:
    def change(said: Any, code: Any) -> tuple[Any, Any]:
        own = {subject.name: subject.uri for subject in code.subjects()}
        bare = tuple(one.model_copy(update={"uri": own.get(one.name)}) for one in said.subjects)
        return replace(said, subjects=bare), code

    _comparing(patch, change)


def ignores_digests(patch: Patch) -> None:
    def change(said: Any, code: Any) -> tuple[Any, Any]:
        own = {subject.name: subject.digest for subject in code.subjects()}
        same = tuple(one.model_copy(update={"digest": own.get(one.name, one.digest)}) for one in said.subjects)
        return replace(said, subjects=same), code

    _comparing(patch, change)


def knows_registers(registers: Sequence[str], patch: Patch) -> None:
    patch.setattr(judged, "BOOT_REGISTERS", tuple(registers))
    original = judged.code_of
    whole = expectations.BOOT_REGISTERS

    def code_of(reading: Reading) -> Any:
        patch.setattr(judged, "BOOT_REGISTERS", whole)
        code = original(reading)
        patch.setattr(judged, "BOOT_REGISTERS", tuple(registers))
        return code

    patch.setattr(judged, "code_of", code_of)


def accepts_failures(patch: Patch) -> None:
    def judge(reading: Reading, notes: Any) -> str:
        said = reading.statement
        if said.result is statement.Result.FAILED:
            return "FAILED"
        return original(reading, notes)

    original = judged.judged_result
    patch.setattr(verifying, "JUDGES", MappingProxyType({**verifying.JUDGES, Rule.JUDGED_RESULT: judge}))


def skews(seconds: int, patch: Patch) -> None:
    patch.setattr(judged, "MOST_SKEW", seconds)


STATEMENT_CODES = [
    code
    for code, kind in FAULTS.items()
    if kind.rule in verifying.OF_STATEMENTS and kind.severity is Severity.REFUSED and code != "signer-unusable"
]

MUTANTS: dict[str, tuple[str, Callable[[Patch], None]]] = {
    **{f"no-{name}": (BOOT, partial(without_register, name)) for name in ("mrtd", "rtmr0", "rtmr1", "rtmr2")},
    "registers-of-the-log": (BOOT, believes_the_log),
    "first-set-alone": (BOOT, knows_the_first_set_alone),
    "mixed-sets": (BOOT, mixes_the_sets),
    "beginnings-of-registers": (BOOT, compares_beginnings),
    "boot-without-log": (BOOT, accepts_a_boot_without_log),
    **{f"any-{pin}": (PINS, partial(takes_any, pin)) for pin in expectations._PINS},
    "key-provider-without-name": (PINS, partial(key_provider_without, "name")),
    "key-provider-without-id": (PINS, partial(key_provider_without, "id")),
    "last-event": (PINS, reads_the_last),
    "first-event": (PINS, reads_the_first),
    "application-events": (PINS, reads_the_application),
    "hidden-events": (PINS, ignores_hidden_events),
    "one-image-suffices": (PINS, one_pinned_image_suffices),
    "beginning-of-account": (PINS, compares_the_beginning_of_the_account),
    "no-tcb-age": (PINS, partial(ages_without, "most_tcb_age")),
    "no-collateral-age": (PINS, partial(ages_without, "most_collateral_age")),
    "platform-age-alone": (PINS, dates_of_the_platform_alone),
    "a-day-more": (PINS, a_day_more),
    **{f"no-{code}": (STATEMENT, partial(never_refuses, code)) for code in STATEMENT_CODES},
    "any-signer": (STATEMENT, believes_everybody),
    "first-signature": (STATEMENT, believes_the_first_signature),
    "last-signature": (STATEMENT, believes_the_last_signature),
    "names-of-keys": (STATEMENT, ignores_the_names_of_keys),
    "signature-twice": (STATEMENT, counts_a_signature_twice),
    "payload-alone": (STATEMENT, checks_the_payload_alone),
    "any-base64": (STATEMENT, reads_any_base64),
    "duplicates-in-envelope": (STATEMENT, partial(reads_the_last_member, dsse)),
    "duplicates-in-payload": (STATEMENT, partial(reads_the_last_member, statement)),
    "duplicates-in-configuration": (STATEMENT, takes_the_last_entry),
    "subjects-taken-away": (STATEMENT, compares_what_is_there),
    "subjects-added": (STATEMENT, compares_known_subjects),
    "subjects-twice": (STATEMENT, compares_the_last_of_a_name),
    "addresses-of-subjects": (STATEMENT, ignores_addresses),
    "digests-of-subjects": (STATEMENT, ignores_digests),
    **{
        f"judged-without-{name}": (
            STATEMENT,
            partial(knows_registers, [one for one in expectations.BOOT_REGISTERS if one != name]),
        )
        for name in expectations.BOOT_REGISTERS
    },
    "failures": (STATEMENT, accepts_failures),
    "more-skew": (STATEMENT, partial(skews, 301)),
    "less-skew": (STATEMENT, partial(skews, 299)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_broken_check_is_noticed(name: str, vectors: list[Vector], monkeypatch: Patch) -> None:
    file, mutate = MUTANTS[name]
    mine = [vector for vector in vectors if vector.file == f"{file}.json"]
    assert caught(mine) is None
    mutate(monkeypatch)
    assert caught(mine)
