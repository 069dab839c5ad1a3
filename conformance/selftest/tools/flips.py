"""Assumes something else than the reference node does, key by key, with nothing stated: no case may fail on that node.

A failure there is a charge that hangs on a value that nobody stated ("assumed", docs/profile.md).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args, get_origin

from conformance.endpoints.client import Target
from conformance.endpoints.extent import SampleOptions
from conformance.profile import Profile, value_at
from conformance.profile.section import Section
from conformance.run.case import Case
from conformance.run.runner import run_case
from conformance.verdict import Verdict

S = TypeVar("S", bound=Section)
CASES_THAT_NAME_IT = 6
OTHER_CASES = 6
"""How many cases run for each key, beside those that name it."""


@dataclass(frozen=True)
class Flip:
    """A key, and a value that it does not have on the reference node."""

    key: str
    value: object

    def __str__(self) -> str:
        return f"{self.key}: {self.value!r}"


UNUSED_STATUS = 418


def flips() -> Iterator[Flip]:
    """Each other value of the keys that have few; of the others one."""
    profile = Profile()
    for key in sorted(profile.left_out()):
        above, _, name = key.rpartition(".")
        section = value_at(profile, above)
        if isinstance(section, Section):
            for value in _others(type(section).model_fields[name].annotation, value_at(profile, key)):
                yield Flip(key, value)


def _others(kind: object, value: object) -> Iterator[object]:
    choices = [choice for choice in _choices(kind) if choice != value]
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case tuple():
            yield from _other_arrays(value, choices)
        case str() if choices:
            yield from choices
        case str() if " /" in value:
            yield f"{value}_of_another_name"
        case str() if "(" in value:
            yield f"other_{value}"
        case str():
            yield f"{value}_other"
        case None:
            yield 1 if "int" in str(kind) else "other_member"


def _other_arrays(value: tuple[object, ...], choices: Sequence[object]) -> Iterator[tuple[object, ...]]:
    """Without its first entry; another entry in the place of the only one."""
    if len(value) > 1:
        yield value[1:]
    else:
        yield from ((choice,) for choice in choices or [UNUSED_STATUS] if choice not in value)


def _choices(kind: object) -> list[object]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [choice for inner in get_args(kind) for choice in _choices(inner)]


def assuming(profile: Profile, flip: Flip) -> Profile:
    """The profile of which nothing is stated but where things are, with the flip's value in place of the true one."""
    return _with(profile, flip.key.split("."), flip.value).assuming(Profile().left_out())


def _with(section: S, path: Sequence[str], value: object) -> S:
    first, *rest = path
    inner = getattr(section, first)
    return section.model_copy(update={first: _with(inner, rest, value) if rest else value})


def charges(flip: Flip, cases: Sequence[Case], honest: Target) -> Iterator[str]:
    """What the cases charge the honest node with, because something else is assumed of it; nothing is right."""
    with Target(honest.base_url, assuming(honest.profile, flip), seed=honest.seed) as target:
        target.extent = SampleOptions(until_wrong=True, budget=1)
        for case in _that_may_hang_on(flip.key, cases):
            outcome = run_case(case, target)
            if outcome.verdict in {Verdict.FAIL, Verdict.SUITE_ERROR}:
                yield f"{flip}: {outcome.case}: {outcome.reason}"


def _that_may_hang_on(key: str, cases: Sequence[Case]) -> list[Case]:
    """Cases that name the key or a section of it, and as many others, drawn by the key."""
    quick = [case for case in cases if not case.info.cells and not case.info.drawn and not case.info.alone]
    named = [case for case in quick if any(key.startswith(use) for use in _named_by(case))]
    draw = random.Random(key)  # noqa: S311 - a sample, no secret
    chosen = draw.sample(named, min(CASES_THAT_NAME_IT, len(named)))
    return chosen + draw.sample(quick, min(OTHER_CASES, len(quick)))


def _named_by(case: Case) -> set[str]:
    return {*case.info.uses, *(key for key, _ in case.info.stated)}
