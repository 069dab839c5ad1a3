"""The step kind `chain`, a view of the account contract, and the names of its writes."""

from __future__ import annotations

from conformance.drivers.steps.calls import Action, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.language.chain_steps import ChainStep
from conformance.language.templates import CompileContext, Template, compile_value
from conformance.problems import UnknownName
from conformance.profile.chain import FIXED_WRITES
from conformance.service.contract import Contract


def compile_chain(step: ChainStep, context: CompileContext) -> Action:
    """Compile a call of a view by its canonical name."""
    name_view(step.chain, context.at("chain"))
    context.info.needs.add("chain_rpc")
    arguments: list[Template] = [compile_value(raw, context.at("with", index)) for index, raw in enumerate(step.with_)]
    shape = context.vocabulary.chain_views[step.chain]
    expectations = compile_expectations(step.expect, step.save, context, step.chain, shape)

    def act(run: CaseRun) -> None:
        expectations.check(Contract(run).view(step.chain, *(template(run.scope) for template in arguments)), run)

    return act


def name_view(name: str, context: CompileContext) -> None:
    """Note that the case reads a view of the contract. Raises UnknownName."""
    views = context.vocabulary.chain_views
    if name not in views:
        raise context.problem(UnknownName, f"no contract view is called {name!r}; there are {', '.join(sorted(views))}")
    context.info.uses.add(f"chain.abi.account.{name}")
    name_operation("get_node_chain_config", context)


def name_write(name: str, context: CompileContext) -> None:
    """Note that the case sends a write to the contract. Raises UnknownName."""
    keys = context.vocabulary.chain_writes
    if name not in keys and name not in FIXED_WRITES:
        known = ", ".join(sorted({*keys, *FIXED_WRITES}))
        raise context.problem(UnknownName, f"no contract write is called {name!r}; there are {known}")
    name_operation("get_node_chain_config", context)
    if name not in FIXED_WRITES:
        context.info.uses.add(keys[name])
