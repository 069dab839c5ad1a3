"""Cases that depart after they relied on a value that the profile does not state: inconclusive, with what to state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.endpoints.client import Target
from conformance.problems import Departure, SetupFailed, StepProblem
from conformance.service.reliance import SETTLE_TIME, Reliance
from conformance.values.json_values import printed_json
from conformance.verdict import Outcome, Verdict

SETTLING_SECONDS = 3.0
"""How much longer to wait for a write to show, where the profile does not state how long it may take."""
TRIES_OF_SETTLING = 3
"""After so many cases that fail even with this wait, later failures are not put down to slow writes."""
SHOWN_KEYS = 3
SHOWN = 80
"""The longest text of an assumed value, in characters."""


def relied_on(problem: StepProblem, reliance: Reliance) -> dict[str, object]:
    """The assumed profile keys that a departure depends on, with their values; empty where it depends on none."""
    if isinstance(problem, SetupFailed):
        return reliance.unaccepted
    if not isinstance(problem, Departure):
        return {}
    return reliance.open if problem.assumed is None else reliance.still_open(problem.assumed)


def hint(assumed: dict[str, object]) -> str:
    """What was assumed, and what to state in the profile."""
    shown = list(assumed.items())[:SHOWN_KEYS]
    listed = ", ".join(f"{key}: {printed_json(value)[:SHOWN]}" for key, value in shown)
    more = f" and {len(assumed) - len(shown)} more keys" if len(assumed) > len(shown) else ""
    return f"assumed {listed}{more}; state what your node does in its profile"


def when_settled(outcome: Outcome, target: Target, again: Callable[[], Outcome]) -> Outcome:
    """The outcome of a case, after a second run where only the assumed settling time of writes explains its departure.

    The second run waits longer for writes to show. A departure that it repeats does not come from slow writes.
    """
    if list(outcome.assumed) != [SETTLE_TIME]:
        return outcome
    target.longer_settling = SETTLING_SECONDS
    target.borne_out.add(SETTLE_TIME)
    try:
        patient = again()
    finally:
        target.longer_settling = 0.0
        target.borne_out.discard(SETTLE_TIME)
    if patient.verdict is not Verdict.FAIL:
        return added(outcome, patient)
    target.settled_at_once += 1
    if target.settled_at_once >= TRIES_OF_SETTLING:
        target.borne_out.add(SETTLE_TIME)
    return added(patient, outcome)


def added(outcome: Outcome, other: Outcome) -> Outcome:
    """The outcome, with the requests and cents of another run of the same case added."""
    return replace(
        outcome,
        exchanges=outcome.exchanges + other.exchanges,
        charged_cents=outcome.charged_cents + other.charged_cents,
        bought_cents=outcome.bought_cents + other.bought_cents,
    )
