"""The verifier with one check broken at a time: some shipped vector notices each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest

from conformance.attestation_vectors.answer import answer
from conformance.attestation_vectors.files import Vector, shipped
from conformance.attestation_vectors.protocol import request
from conformance.verify import Expected, KeyProvider, MeasuredEvent, Measurements, Rule, chain, verifying
from conformance.verify.event_log import before_ready, extend
from conformance.verify.quote import TdReport
from conformance.verify.reading import Reading
from conformance.verify.results import RULES
from conformance.verify.rules import expectations

Patch = pytest.MonkeyPatch
BOOT, PINS = "boot", "policy"
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
}


@pytest.mark.parametrize("name", MUTANTS)
def test_broken_check_is_noticed(name: str, vectors: list[Vector], monkeypatch: Patch) -> None:
    file, mutate = MUTANTS[name]
    mine = [vector for vector in vectors if vector.file == f"{file}.json"]
    assert caught(mine) is None
    mutate(monkeypatch)
    assert caught(mine)
