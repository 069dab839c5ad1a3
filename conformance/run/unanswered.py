"""Cases that met no answer of the node itself: they run again, since the way to the node may be at fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.messages import OF_GATEWAYS
from conformance.problems import BeyondLimits, NodeSilent, StepProblem, Unreachable
from conformance.run.assumed import added
from conformance.verdict import Outcome, Verdict

LOST_THE_NODE = frozenset({NodeSilent.code, Unreachable.code})
"""The `problem` of cases that did not meet the node, however long they waited."""
WAITS_BEHIND_A_GATEWAY = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Seconds between looks whether a node is back, which a gateway answers for."""


def when_answered(outcome: Outcome, run: CaseRun, again: Callable[[], Outcome]) -> Outcome:
    """The outcome of a case; that of a second run if the first may have failed on the way to the node.

    Nothing in the specification says how soon an answer comes: a busy machine is late once, a node that hangs again. A
    connection may break on its way, and a gateway answers in the place of a node that restarts. Where connections break
    now at this request and now at that one, nothing was learnt.
    """
    if not _met_no_answer(run):
        run.target.patience.waited_in_vain = False
        return outcome
    if outcome.verdict not in {Verdict.FAIL, Verdict.INCONCLUSIVE}:
        return outcome
    if outcome.properties.get("problem") in {*LOST_THE_NODE, BeyondLimits.code}:
        return outcome
    _await_node(run)
    second = again()
    both = [found.failure for found in (outcome, second) if _is_unanswered(found)]
    if second.verdict is Verdict.FAIL and len({failure.step for failure in both if failure}) > 1:
        why = f"connections break now here, now there: {second.reason}"
        second = replace(second, verdict=Verdict.INCONCLUSIVE, reason=why)
    return added(second, replace(outcome, repeats=1, waited_seconds=run.log.spending.waited))


def _met_no_answer(run: CaseRun) -> bool:
    met = (exchange.status for exchange in run.log.raw if not exchange.cut_off)
    return any(status is None or status in OF_GATEWAYS for status in met)


def _is_unanswered(outcome: Outcome) -> bool:
    asked = outcome.failure.exchange if outcome.failure else None
    return asked is not None and asked.status is None


def _await_node(run: CaseRun) -> None:
    """Wait for a limited time until no gateway answers in the node's place; where that was in vain, only look."""
    patience = run.target.patience
    waits = WAITS_BEHIND_A_GATEWAY[:1] if patience.waited_in_vain else WAITS_BEHIND_A_GATEWAY
    patience.waited_in_vain = not any(_answers(run, seconds) for seconds in waits)


def _answers(run: CaseRun, seconds: float) -> bool:
    """Whether nothing is to be waited for when so many seconds are over."""
    run.target.wait(seconds, run.log)
    try:
        return run.send(run.request("get_node_chain_config")).status not in OF_GATEWAYS
    except (NodeSilent, BeyondLimits):  # what is beyond limits is an answer
        return True
    except StepProblem:
        return False
