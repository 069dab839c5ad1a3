"""Which requirements a round breaks, if no order of its requests explains the answers.

The driver `model` knows what a wrong answer or list contradicts after each operation. Here several operations come
before a list: those count that are about the wrong object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.drivers.histories.play import INSIDE, Failed, Reading, Write
from conformance.drivers.histories.state import State
from conformance.drivers.model import blame
from conformance.drivers.model.plan import Planned
from conformance.drivers.model.views import Check
from conformance.service.histories import left_by, met_in
from conformance.service.labels import SHOWN_LABELS
from conformance.values.json_values import member, printed

WHOLE: blame.Ids = ("GRPLIFE-230",)
"""Broken where writes to one group mix, or where one takes back what another did."""
ONCE: dict[str, blame.Ids] = {"actions": ("ACT-180",), **dict.fromkeys(INSIDE, ("GRP-230",))}
"""Broken where a list shows an item twice."""
OF_ADDED_KEYS: blame.Ids = tuple(SHOWN_LABELS["add_usage_api_key"].values())
"""Broken where as many usage keys are listed as there are, with other labels."""
TAKING_OUT = ("remove_", "delete_")
"""What an item that came back was taken out by, though an update was answered later."""
EVERY = frozenset({*WHOLE, *OF_ADDED_KEYS, *(name for ids in ONCE.values() for name in ids)})
"""What is named here and not by the driver `model`."""


def contradicted(failed: Failed) -> tuple[str, ...]:
    """The requirements that the answers of the round contradict."""
    answers = [one for one in failed.history if one.writes]
    if not left_by(answers, failed.before):
        return tuple(dict.fromkeys(_of_answers(failed, met_in(answers, failed.before))))
    ids = [name for reading, check in _wrong(failed) for name in _of_check(failed, reading, check)]
    return tuple(dict.fromkeys(ids)) or blame.ALWAYS


def _of_answers(failed: Failed, states: Iterable[State]) -> Iterator[str]:
    """Of the answers to writes, those that are not explained in most of the states."""
    explanations = failed.explanations
    met = list(states)
    for write in failed.writes:
        accepted = write.answer.accepted
        unfit = [
            state
            for state in met
            if explanations.after(write.act, state, write.answer.status, accepted=accepted, beside=True) is None
        ]
        if unfit:
            reasons = explanations.steps.rules.reasons(write.act, unfit[0].world) or ()
            yield from blame.of_request(Planned(0, None, write.act, reasons, None))
            # What is refused has mixed with nothing.
            yield from WHOLE if write.act.group and accepted else ()


def _wrong(failed: Failed) -> Iterator[tuple[Reading, Check]]:
    """What is wrong with the lists in that state in which the least is."""
    answers = [one for one in failed.history if one.writes]
    ended = max(one.ended for one in answers)
    beside = [reading for reading in failed.readings if reading.begun <= ended]
    after = [reading for reading in failed.readings if reading.begun > ended]
    for readings, states in (
        *(([reading], met_in(answers, failed.before)) for reading in beside),
        (after, left_by(answers, failed.before)),
    ):
        found = ([*_wrong_in(failed, readings, state)] for state in states)
        yield from min(found, key=len)


def _wrong_in(failed: Failed, readings: Sequence[Reading], state: State) -> Iterator[tuple[Reading, Check]]:
    """What does not hold in a state. A list with other items than there are says nothing of their order."""
    for reading in readings:
        wrong = [*failed.explanations.wrong(reading.listed, state)]
        others = any(check.aspect == "existence" for check in wrong)
        yield from ((reading, check) for check in wrong if not others or check.aspect != "order")


def _of_check(failed: Failed, reading: Reading, check: Check) -> Iterator[str]:
    what, _ = reading.listed.name
    if what in ONCE and _shows_one_twice(reading):
        yield from ONCE[what]
        return
    accepted = [write for write in failed.writes if write.answer.accepted]
    about = [write for write in accepted if _is_about(write, failed, reading, check)]
    shown = [write for write in about if (write.act.operation, what, check.aspect) in blame.AFTER] or about
    if check.aspect == "existence" and len(reading.listed.items) > max(_numbers(failed, what)):
        shown = [write for write in shown if write.act.operation.startswith(TAKING_OUT)] or shown
    if shown and check.aspect != "fields":
        # Of several writes to one object the list has to show the last. Whether new permissions were lost or new labels
        # wrote the old ones back, it does not tell.
        shown = [max(shown, key=lambda write: write.ended)]
    for write in shown or accepted:
        yield from _of_write(write, failed, reading, check)


def _is_about(write: Write, failed: Failed, reading: Reading, check: Check) -> bool:
    look = failed.explanations.look(reading.listed.name, next(iter(failed.before)))
    return look is not None and blame.is_about(write.act, look, check)


def _of_write(write: Write, failed: Failed, reading: Reading, check: Check) -> Iterator[str]:
    """What the write contradicts whose object is wrong in a list."""
    (what, _), operation = reading.listed.name, write.act.operation
    if write.act.group and (what in INSIDE or check.aspect in {"name", "description"}):
        yield from WHOLE
        return
    if (operation, what) == ("add_usage_api_key", "keys") and len(reading.listed.items) in _numbers(failed, what):
        yield from OF_ADDED_KEYS
        return
    look = failed.explanations.look(reading.listed.name, next(iter(failed.before)))
    if look is not None:
        yield from blame.of_view(Planned(0, None, write.act, (), None), look, check)


def _numbers(failed: Failed, what: str) -> set[int]:
    """How many things of a kind the account has in each state that the answers may have left."""
    answers = [one for one in failed.history if one.writes]
    accounts = (state.world.accounts[failed.explanations.account] for state in left_by(answers, failed.before))
    return {len(one.live_keys() if what == "keys" else getattr(one, what)) for one in accounts}


def _shows_one_twice(reading: Reading) -> bool:
    what, _ = reading.listed.name
    shown = [
        printed(member(item, "id" if "wallets" in what else "hashed_cid")).lower() for item in reading.listed.items
    ]
    return len({*shown}) < len(shown)
