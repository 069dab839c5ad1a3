"""The step kinds that look at the settlement chain: `chain` (a view of the account contract) and `rpc`."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.steps.calls import Action, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.language.models import ChainStep, RpcStep
from conformance.language.shapes import ANYTHING, Shape
from conformance.language.templates import CompileContext, Template, compile_value
from conformance.problems import RefusalUnproven, UnknownName
from conformance.profile.chain import FIXED_WRITES
from conformance.service.contract import Contract


def compile_chain(step: ChainStep, site: CompileContext) -> Action:
    """A view by its canonical name."""
    name_view(step.chain, site.at("chain"))
    shape = site.vocabulary.chain_views[step.chain]
    return _compile_reading(step, site, lambda run, arguments: Contract(run).view(step.chain, *arguments), shape)


def name_view(name: str, site: CompileContext) -> None:
    """Note that the case reads a view of the contract. A load error for one that nobody knows."""
    views = site.vocabulary.chain_views
    if name not in views:
        raise site.problem(UnknownName, f"no contract view is called {name!r}; there are {', '.join(sorted(views))}")
    site.facts.uses.add(f"chain.abi.account.{name}")
    name_operation("get_node_chain_config", site)


def compile_rpc(step: RpcStep, site: CompileContext) -> Action:
    """A JSON-RPC method."""
    return _compile_reading(step, site, lambda run, params: run.chain.read(step.rpc, params))


def _compile_reading(
    step: ChainStep | RpcStep,
    site: CompileContext,
    ask: Callable[[CaseRun, list[object]], object],
    answer: Shape = ANYTHING,
) -> Action:
    site.facts.needs.add("chain_rpc")
    arguments: list[Template] = [compile_value(raw, site.at("with", index)) for index, raw in enumerate(step.with_)]
    expectations = compile_expectations(step.expect, step.save, site, answer)

    def act(run: CaseRun) -> None:
        value = ask(run, [template(run.scope) for template in arguments])
        expectations.check(value, run)

    return act


def name_write(name: str, site: CompileContext) -> None:
    """Note that the case sends a write to the contract. A load error for one that nobody knows."""
    keys = site.vocabulary.chain_writes
    if name not in keys and name not in FIXED_WRITES:
        known = ", ".join(sorted({*keys, *FIXED_WRITES}))
        raise site.problem(UnknownName, f"no contract write is called {name!r}; there are {known}")
    name_operation("get_node_chain_config", site)
    if name not in FIXED_WRITES:
        site.facts.uses.add(keys[name])


def check_control(control: str | None, name: str, site: CompileContext) -> None:
    """A load error unless the control is an earlier step of this name that goes through."""
    if control is None or site.facts.controls.get(control) != name:
        raise site.problem(
            RefusalUnproven, f"a {name} that reverts needs as `control` an earlier one that goes through"
        )
