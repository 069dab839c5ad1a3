"""The step kinds that look at the settlement chain: `chain` (a view of the account contract) and `rpc`."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.calls import Action, name_operation
from conformance.drivers.caserun import CaseRun
from conformance.drivers.expectations import compile_expectations
from conformance.drivers.refusals import must_accept
from conformance.problems import Malformed, UnknownName
from conformance.scenario.models import ChainStep, RpcStep
from conformance.scenario.scope import printed
from conformance.scenario.templates import Site, Template, compile_value
from conformance.target.client import descend
from conformance.target.requests import Wanted


def compile_chain(step: ChainStep, site: Site) -> Action:
    """A view by its canonical name."""
    views = site.vocabulary.chain_views
    if step.chain not in views:
        raise site.at("chain").problem(
            UnknownName, f"no contract view is called {step.chain!r}; there are {', '.join(sorted(views))}"
        )
    key = f"chain.abi.account.{step.chain}"
    site.facts.uses.add(key)
    name_operation("get_node_chain_config", site)

    def ask(run: CaseRun, arguments: list[object]) -> object:
        return run.chain.view(contract_address(run), str(run.target.profile_value(key)), arguments)

    return _compile_reading(step, site, ask)


def compile_rpc(step: RpcStep, site: Site) -> Action:
    """A JSON-RPC method."""
    return _compile_reading(step, site, lambda run, params: run.chain.request(step.rpc, params))


def _compile_reading(step: ChainStep | RpcStep, site: Site, ask: Callable[[CaseRun, list[object]], object]) -> Action:
    site.facts.needs.add("chain_rpc")
    arguments: list[Template] = [compile_value(raw, site.at("with", index)) for index, raw in enumerate(step.with_)]
    expectations = compile_expectations(step.expect, step.save, site)

    def act(run: CaseRun) -> None:
        value = ask(run, [template(run.scope) for template in arguments])
        last = len(run.log) - 1
        expectations.judge(lambda path: descend(value, path), run.scope, last)
        expectations.keep(lambda path: descend(value, path), run.scope, last)

    return act


def contract_address(run: CaseRun) -> str:
    """The account contract's address, from `get_node_chain_config`."""
    answer = run.send(Wanted(run.target.operation("get_node_chain_config")))
    must_accept(answer)
    address = descend(answer.value, ("contract_address",))
    if not isinstance(address, str):
        raise Malformed("a contract_address", printed(answer.value)[:300], answer.exchange)
    return address
