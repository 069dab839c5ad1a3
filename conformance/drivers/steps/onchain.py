"""Step kinds about the chain: `chain` (a view of the account contract), `rpc`, and `clock`."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.steps.calls import Action, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.language.chain_steps import ChainStep, ClockAt, ClockStep, RpcStep
from conformance.language.shapes import ANYTHING, Shape
from conformance.language.templates import CompileContext, Template, compile_value
from conformance.problems import Mismatch, RefusalUnproven, UnknownName
from conformance.profile.chain import FIXED_WRITES
from conformance.service.contract import Contract
from conformance.values.json_values import printed


def compile_chain(step: ChainStep, context: CompileContext) -> Action:
    """Compile a call of a view by its canonical name."""
    name_view(step.chain, context.at("chain"))
    shape = context.vocabulary.chain_views[step.chain]
    return _compile_reading(step, context, lambda run, arguments: Contract(run).view(step.chain, *arguments), shape)


def name_view(name: str, context: CompileContext) -> None:
    """Note that the case reads a view of the contract. Raises UnknownName."""
    views = context.vocabulary.chain_views
    if name not in views:
        raise context.problem(UnknownName, f"no contract view is called {name!r}; there are {', '.join(sorted(views))}")
    context.info.uses.add(f"chain.abi.account.{name}")
    name_operation("get_node_chain_config", context)


def compile_rpc(step: RpcStep, context: CompileContext) -> Action:
    """Compile a call of a JSON-RPC method."""
    return _compile_reading(step, context, lambda run, params: run.chain.read(step.rpc, params))


def _compile_reading(
    step: ChainStep | RpcStep,
    context: CompileContext,
    ask: Callable[[CaseRun, list[object]], object],
    answer: Shape = ANYTHING,
) -> Action:
    context.info.needs.add("chain_rpc")
    arguments: list[Template] = [compile_value(raw, context.at("with", index)) for index, raw in enumerate(step.with_)]
    expectations = compile_expectations(
        step.expect, step.save, context, step.chain if isinstance(step, ChainStep) else step.rpc, answer
    )

    def act(run: CaseRun) -> None:
        value = ask(run, [template(run.scope) for template in arguments])
        expectations.check(value, run)

    return act


def compile_clock(step: ClockStep, context: CompileContext) -> Action:
    """Compile a move of the clock by seconds or to a time. No other case runs beside it."""
    context.info.needs.add("clock_control")
    context.info.alone = context.info.counts_time = True
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


def name_write(name: str, context: CompileContext) -> None:
    """Note that the case sends a write to the contract. Raises UnknownName."""
    keys = context.vocabulary.chain_writes
    if name not in keys and name not in FIXED_WRITES:
        known = ", ".join(sorted({*keys, *FIXED_WRITES}))
        raise context.problem(UnknownName, f"no contract write is called {name!r}; there are {known}")
    name_operation("get_node_chain_config", context)
    if name not in FIXED_WRITES:
        context.info.uses.add(keys[name])


def check_control(control: str | None, name: str, context: CompileContext) -> None:
    """Raise a LoadProblem unless the control is an earlier step of this call name that must go through."""
    if control is None or context.info.controls.get(control) != name:
        raise context.problem(
            RefusalUnproven, f"a {name} that reverts needs as `control` an earlier one that goes through"
        )
