"""The step kind `dry_run`: what the account contract would do with an administrative write, asked by eth_call."""

from __future__ import annotations

from eth_utils.address import is_hex_address

from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.onchain import check_control, name_write
from conformance.language.models import DryRunStep
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import Mismatch, RefusalUnproven
from conformance.service.contract import Contract
from conformance.service.refusal import Refusals
from conformance.values.json_values import printed


def dry_run_name(step: DryRunStep) -> str:
    """The name by which a control and its refusal have to agree."""
    return f"dry_run {step.dry_run}"


def compile_dry_run(step: DryRunStep, site: CompileContext) -> Action:
    """A write that is asked and not sent; it goes through, or with `reverts` the contract refuses it."""
    name_write(step.dry_run, site.at("dry_run"))
    _check_control(step, site)
    site.facts.needs.add("chain_rpc")
    sender = compile_value(step.from_, site.at("from"))
    arguments = [compile_value(raw, site.at("with", index)) for index, raw in enumerate(step.with_)]

    def ask(run: CaseRun) -> None:
        address = printed(sender(run.scope))
        if not is_hex_address(address):
            raise Mismatch("an address as `from`", address)
        Contract(run).dry_run(step.dry_run, [template(run.scope) for template in arguments], sender=address)

    def must_revert(run: CaseRun) -> None:
        control = run.control(step.control, accepted="went through")
        with Refusals(run, control=control, unchanged=()) as refusals:
            refusals.must_revert_dry(dry_run_name(step), lambda: ask(run))

    return must_revert if step.reverts else ask


def _check_control(step: DryRunStep, site: CompileContext) -> None:
    if not step.reverts:
        if step.control is not None:
            raise site.at("control").problem(RefusalUnproven, "`control` stands beside `reverts: true` only")
        return
    check_control(step.control, dry_run_name(step), site)
