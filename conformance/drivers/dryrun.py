"""The step kind `dry_run`: what the account contract would do with an administrative write, asked by eth_call."""

from __future__ import annotations

from eth_utils.address import is_hex_address

from conformance.drivers.calls import Action, name_operation
from conformance.drivers.caserun import CaseRun
from conformance.drivers.onchain import contract_address
from conformance.problems import ChainReverted, ControlNotAccepted, Mismatch, NotRefused, RefusalUnproven, UnknownName
from conformance.scenario.models import DryRunStep
from conformance.scenario.scope import printed
from conformance.scenario.templates import Site, compile_value


def dry_run_name(step: DryRunStep) -> str:
    """What the step is called where a control and its refusal have to be of the same operation."""
    return f"dry_run {step.dry_run}"


def compile_dry_run(step: DryRunStep, site: Site) -> Action:
    """A write that is asked and not sent; it goes through, or with `reverts` the contract refuses it."""
    key = _signature_key(step, site)
    _check_control(step, site)
    site.facts.needs.add("chain_rpc")
    site.facts.uses.add(key)
    name_operation("get_node_chain_config", site)
    sender = compile_value(step.from_, site.at("from"))
    arguments = [compile_value(raw, site.at("with", index)) for index, raw in enumerate(step.with_)]

    def ask(run: CaseRun) -> None:
        address = printed(sender(run.scope))
        if not is_hex_address(address):
            raise Mismatch("an address as `from`", address)
        values = [template(run.scope) for template in arguments]
        run.chain.view(contract_address(run), str(run.target.profile_value(key)), values, address)

    def must_revert(run: CaseRun) -> None:
        if step.control not in run.accepted:
            raise ControlNotAccepted(f"that {step.control} went through", "it did not, or did not run")
        try:
            ask(run)
        except ChainReverted:
            return
        raise NotRefused("that the contract reverts", "it would go through", len(run.log) - 1)

    return must_revert if step.reverts else ask


def _signature_key(step: DryRunStep, site: Site) -> str:
    keys = site.vocabulary.chain_writes
    if step.dry_run not in keys:
        raise site.at("dry_run").problem(
            UnknownName, f"no contract write is called {step.dry_run!r}; there are {', '.join(sorted(keys))}"
        )
    return keys[step.dry_run]


def _check_control(step: DryRunStep, site: Site) -> None:
    if not step.reverts:
        if step.control is not None:
            raise site.at("control").problem(RefusalUnproven, "`control` stands beside `reverts: true` only")
        return
    if step.control is None or site.facts.controls.get(step.control) != dry_run_name(step):
        raise site.problem(
            RefusalUnproven, f"a {dry_run_name(step)} that reverts needs as `control` an earlier one that goes through"
        )
