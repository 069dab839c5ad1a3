"""The step kind `clock`: moves the clocks of the node and its chain, by the test control, until the case ends."""

from __future__ import annotations

from conformance.drivers.steps.calls import Action, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.chain_steps import ClockAt, ClockStep
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import Mismatch
from conformance.values.json_values import printed


def compile_clock(step: ClockStep, context: CompileContext) -> Action:
    """Compile a move of the clock by seconds or to a time. No other case runs beside it."""
    context.info.needs.add("clock_control")
    context.info.alone = True
    name_operation("get_node_chain_config", context)
    absolute = isinstance(step.clock, ClockAt)
    seconds = compile_value(step.clock.at if isinstance(step.clock, ClockAt) else step.clock, context.at("clock"))

    def act(run: CaseRun) -> None:
        stated = seconds(run.scope)
        if not isinstance(stated, int):
            raise Mismatch("seconds as `clock`", printed(stated))
        if absolute:
            run.clock.move_to(stated)
        else:
            run.clock.move(stated)

    return act
