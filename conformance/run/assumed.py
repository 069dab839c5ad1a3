"""Cases that depart after they relied on a value that the profile does not state: inconclusive, with what to state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.endpoints.client import Target
from conformance.problems import Departure, SetupFailed, StepProblem
from conformance.report.causes import SHOWN_VALUE, unexplained
from conformance.service.reliance import SETTLE_TIME, Reliance
from conformance.values.json_values import printed_json
from conformance.verdict import Outcome, Verdict

SETTLING_SECONDS = 3.0
"""How much longer to wait for a write to show, where the profile does not state how long it may take."""
TRIES_OF_SETTLING = 3
"""After so many cases that fail even with this wait, later failures are not put down to slow writes."""


def relied_on(problem: StepProblem, reliance: Reliance) -> dict[str, object]:
    """The assumed profile keys that a departure depends on, with their values; empty where it depends on none."""
    if isinstance(problem, SetupFailed):
        return reliance.unaccepted
    if not isinstance(problem, Departure):
        return {}
    return reliance.open if problem.assumed is None else reliance.still_open(problem.assumed)


def hint(assumed: Mapping[str, object], explains: str = "") -> str:
    """What was assumed, and what to state in the profile: the key that explains what came, or some where none does."""
    if explains:
        value = printed_json(assumed[explains])[:SHOWN_VALUE]
        return f"assumed {explains}: {value}, whose other value explains it; state what your node does in its profile"
    return f"assumed {unexplained(assumed)}; state what your node does in its profile"


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
