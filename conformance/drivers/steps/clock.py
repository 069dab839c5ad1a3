"""The step kind `clock`: the node's test control moves its clock, and the chain's with it, for the length of a case."""

from __future__ import annotations

from conformance.drivers.envelopes.time import date_of
from conformance.drivers.steps.calls import Action, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.refusals import must_accept
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.models import ClockAt, ClockStep
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import ChainTrouble, Mismatch
from conformance.values.json_values import printed


def compile_clock(step: ClockStep, site: CompileContext) -> Action:
    """So many seconds from the right time, or to a time of the pack's; no other case runs meanwhile."""
    site.facts.needs.add("clock_control")
    site.facts.alone = True
    name_operation("get_node_chain_config", site)
    absolute = isinstance(step.clock, ClockAt)
    seconds = compile_value(step.clock.at if isinstance(step.clock, ClockAt) else step.clock, site.at("clock"))

    def act(run: CaseRun) -> None:
        stated = seconds(run.scope)
        if not isinstance(stated, int):
            raise Mismatch("seconds as `clock`", printed(stated))
        answer = run.clock.set(stated - _right_time(run) if absolute else stated)
        if not answer.accepted:
            raise ChainTrouble("a clock that can be set", f"status {answer.status}", answer.exchange)

    return act


def _right_time(run: CaseRun) -> int:
    """What the node's clock would show if nobody had moved it, in Unix seconds."""
    answer = run.send(OutgoingRequest(run.target.operation("get_node_chain_config")))
    must_accept(answer)
    return date_of(answer) - run.clock.offset
