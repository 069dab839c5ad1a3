"""The step kinds that look at the settlement chain: `chain` (a view of the account contract) and `rpc`."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.steps.calls import Action, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.drivers.steps.refusals import must_accept
from conformance.endpoints.client import descend
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.models import ChainStep, RpcStep
from conformance.language.templates import CompileContext, Template, compile_value
from conformance.problems import Malformed, RefusalUnproven, UnknownName
from conformance.profile.chain import FIXED_WRITES
from conformance.values.json_values import printed


def compile_chain(step: ChainStep, site: CompileContext) -> Action:
    """A view by its canonical name."""
    return _compile_reading(step, site, compile_view(step.chain, site.at("chain")))


def compile_view(name: str, site: CompileContext) -> Callable[[CaseRun, list[object]], object]:
    """What asks the contract for a view by its canonical name."""
    views = site.vocabulary.chain_views
    if name not in views:
        raise site.problem(UnknownName, f"no contract view is called {name!r}; there are {', '.join(sorted(views))}")
    key = f"chain.abi.account.{name}"
    site.facts.uses.add(key)
    name_operation("get_node_chain_config", site)
    return lambda run, arguments: run.chain.view(contract_address(run), str(run.target.profile_value(key)), arguments)


def compile_rpc(step: RpcStep, site: CompileContext) -> Action:
    """A JSON-RPC method."""
    return _compile_reading(step, site, lambda run, params: run.chain.read(step.rpc, params))


def _compile_reading(
    step: ChainStep | RpcStep, site: CompileContext, ask: Callable[[CaseRun, list[object]], object]
) -> Action:
    site.facts.needs.add("chain_rpc")
    arguments: list[Template] = [compile_value(raw, site.at("with", index)) for index, raw in enumerate(step.with_)]
    expectations = compile_expectations(step.expect, step.save, site)

    def act(run: CaseRun) -> None:
        value = ask(run, [template(run.scope) for template in arguments])
        last = len(run.log) - 1
        expectations.judge(lambda path: descend(value, path), run.scope, last)
        expectations.keep(lambda path: descend(value, path), run.scope, last)

    return act


def compile_signature(name: str, site: CompileContext) -> Callable[[CaseRun], str]:
    """The signature of a write by its canonical name: the profile's, or the specification's where that gives one."""
    keys = site.vocabulary.chain_writes
    if name not in keys and name not in FIXED_WRITES:
        known = ", ".join(sorted({*keys, *FIXED_WRITES}))
        raise site.problem(UnknownName, f"no contract write is called {name!r}; there are {known}")
    name_operation("get_node_chain_config", site)
    if name in FIXED_WRITES:
        return lambda _: FIXED_WRITES[name]
    key = keys[name]
    site.facts.uses.add(key)
    return lambda run: str(run.target.profile_value(key))


def check_control(control: str | None, name: str, site: CompileContext) -> None:
    """A load error unless the control is an earlier step of this name that goes through."""
    if control is None or site.facts.controls.get(control) != name:
        raise site.problem(
            RefusalUnproven, f"a {name} that reverts needs as `control` an earlier one that goes through"
        )


def contract_address(run: CaseRun) -> str:
    """The account contract's address, from `get_node_chain_config`."""
    answer = run.send(OutgoingRequest(run.target.operation("get_node_chain_config")))
    must_accept(answer)
    address = descend(answer.value, ("contract_address",))
    if not isinstance(address, str):
        raise Malformed("a contract_address", printed(answer.value)[:300], answer.exchange)
    return address
