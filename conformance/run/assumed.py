"""Cases that depart after they relied on a value that the profile does not state: inconclusive, with what to state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from conformance.endpoints.client import Target
from conformance.problems import Departure, SetupFailed, StepProblem
from conformance.service.reliance import SETTLE_TIME, Reliance
from conformance.values.json_text import parse
from conformance.values.json_values import printed_json
from conformance.verdict import Exchange, Outcome, Verdict

SETTLING_SECONDS = 3.0
"""How much longer to wait for a write to show, where the profile does not state how long it may take."""
TRIES_OF_SETTLING = 3
"""After so many cases that fail even with this wait, later failures are not put down to slow writes."""
SHOWN_KEYS = 3
SHORTEST_NAME = 3
"""Characters of an assumed text that a look for it can tell from others."""
REFUSED, SERVER_FAULT = 400, 500
SHOWN = 80
"""The longest text of an assumed value, in characters."""


def relied_on(problem: StepProblem, reliance: Reliance) -> dict[str, object]:
    """The assumed profile keys that a departure depends on, with their values; empty where it depends on none."""
    if isinstance(problem, SetupFailed):
        return reliance.unaccepted
    if not isinstance(problem, Departure):
        return {}
    return reliance.open if problem.assumed is None else reliance.still_open(problem.assumed)


def explaining(assumed: Mapping[str, object], expected: str, exchange: Exchange | None) -> str:
    """The assumed key whose other value explains what came; empty where none does.

    That is a name of a member that the accepted answer lacks; the statuses of a class of refusals, for a refusal with
    another one; and a text of the request in whose place, or as whose name, a refusal or a failed run tells of it.
    """
    if exchange is None or exchange.status is None:
        return ""
    return next((key for key, value in assumed.items() if _explains(key, value, expected, exchange)), "")


ITEMS = re.compile(r"\[\s*\{")
"""Where a list of objects begins."""


def _explains(key: str, value: object, expected: str, exchange: Exchange) -> bool:
    if key.startswith("errors.status_codes."):
        return key.rpartition(".")[2] in expected and REFUSED <= (exchange.status or 0) < SERVER_FAULT
    if not isinstance(value, str) or len(value) < SHORTEST_NAME:
        return False
    if key.startswith("wire.") and key.endswith("_form"):  # no name of a member
        return False
    if key.startswith("wire.list_items.") and not ITEMS.search(exchange.response_body):
        return False
    if key.startswith("wire."):
        name = value.rpartition(".")[2]
        members = _members(exchange.response_body) if (exchange.status or 0) < REFUSED else frozenset()
        return bool(members) and name not in members and _says(expected, name)
    return _says(exchange.response_body, value) or any(
        _has_in_its_place(exchange.response_body, text, value) for text in _texts(exchange.request_body or "")
    )


def _says(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _has_in_its_place(answer: str, sent: str, value: str) -> bool:
    """Whether an answer has a text that was sent, but for the part of it that was assumed."""
    before, found, after = sent.partition(value)
    if not found or not (before or after) or sent in answer:
        return False
    return re.search(rf"{re.escape(before)}[A-Z]\w[\w ]*{re.escape(after)}", answer) is not None


def _members(body: str) -> frozenset[str]:
    """The names of the members of a JSON text, inner ones included."""
    return frozenset(name for name, _ in _leaves(body))


def _texts(body: str) -> frozenset[str]:
    """The texts inside of a JSON text."""
    return frozenset(value for _, value in _leaves(body) if isinstance(value, str))


def _leaves(body: str) -> Iterator[tuple[str, object]]:
    """The members inside of a JSON text, outer and inner; of texts that hold JSON themselves, too."""
    try:
        found = [parse(body)]
    except ValueError:
        return
    while found:
        value = found.pop()
        if isinstance(value, dict):
            yield from value.items()
            found += value.values()
        elif isinstance(value, list):
            found += value
        elif isinstance(value, str) and value.startswith("{"):
            yield from _leaves(value)


def hint(assumed: Mapping[str, object], explains: str = "") -> str:
    """What was assumed, and what to state in the profile: the key that explains what came, or some where none does."""
    chosen = {explains: assumed[explains]} if explains else assumed
    shown = list(chosen.items())[:SHOWN_KEYS]
    listed = ", ".join(f"{key}: {printed_json(value)[:SHOWN]}" for key, value in shown)
    if explains:
        return f"assumed {listed}, whose other value explains it; state what your node does in its profile"
    more = f" and {len(assumed) - len(shown)} more keys" if len(assumed) > len(shown) else ""
    return f"assumed {listed}{more}, of which none explains it by itself; state what your node does in its profile"


def when_settled(outcome: Outcome, target: Target, reliance: Reliance, again: Callable[[Target], Outcome]) -> Outcome:
    """The outcome of a case, after a second run where only the assumed settling time of writes explains its departure.

    The second run waits longer for writes to show. A departure that it repeats does not come from slow writes.
    """
    if list(outcome.assumed) != [SETTLE_TIME]:
        return outcome
    with reliance.believing(SETTLE_TIME):
        patient = again(target.settling_longer(SETTLING_SECONDS))
    if patient.verdict is not Verdict.FAIL:
        return added(outcome, patient)
    target.settled_at_once += 1
    if target.settled_at_once >= TRIES_OF_SETTLING:
        target.borne_out.add(SETTLE_TIME)
    return added(patient, outcome)


def added(outcome: Outcome, other: Outcome) -> Outcome:
    """The outcome, with what another run of the same case has cost added."""
    return replace(
        outcome,
        exchanges=outcome.exchanges + other.exchanges,
        charged_cents=outcome.charged_cents + other.charged_cents,
        bought_cents=outcome.bought_cents + other.bought_cents,
        gas=outcome.gas + other.gas,
        waited_seconds=outcome.waited_seconds + other.waited_seconds,
        repeats=outcome.repeats + other.repeats,
    )
