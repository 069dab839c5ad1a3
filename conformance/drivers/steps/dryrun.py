"""The step kind `dry_run`: asks by `eth_call` whether the account contract would take an administrative write."""

from __future__ import annotations

from eth_utils.address import is_hex_address

from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.onchain import check_control, name_write
from conformance.language.chain_steps import DryRunStep
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import Mismatch, RefusalUnproven
from conformance.service.contract import Contract, dry_run_call
from conformance.service.refusal import Refusals
from conformance.values.json_values import printed


def compile_dry_run(step: DryRunStep, context: CompileContext) -> Action:
    """Compile a dry run. The contract must take the write, or with `reverts` refuse it."""
    name_write(step.dry_run, context.at("dry_run"))
    _check_control(step, context)
    context.info.needs.add("chain_rpc")
    sender = compile_value(step.from_, context.at("from"))
    arguments = [compile_value(raw, context.at("with", index)) for index, raw in enumerate(step.with_)]

    def address(run: CaseRun) -> str:
        text = printed(sender(run.scope))
        if not is_hex_address(text):
            raise Mismatch("an address as `from`", text)
        return text

    def goes_through(run: CaseRun) -> None:
        values = [template(run.scope) for template in arguments]
        Contract(run).dry_run(step.dry_run, values, sender=address(run))

    def must_revert(run: CaseRun) -> None:
        control = run.control(step.control, accepted="went through")
        values = [template(run.scope) for template in arguments]
        with Refusals(run, control=control, unchanged=()) as refusals:
            Contract(run).must_revert_dry(refusals, step.dry_run, values, sender=address(run))

    return must_revert if step.reverts else goes_through


def _check_control(step: DryRunStep, context: CompileContext) -> None:
    if not step.reverts:
        if step.control is not None:
            raise context.at("control").problem(RefusalUnproven, "`control` stands beside `reverts: true` only")
        return
    check_control(step.control, dry_run_call(step.dry_run), context)
