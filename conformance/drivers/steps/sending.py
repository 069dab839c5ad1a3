"""The step kind `send`: a transaction of one of the suite's wallets to the account contract, and its receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from conformance.drivers.steps.call_step import compile_reads
from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.drivers.steps.onchain import check_control, name_write
from conformance.drivers.steps.wallets import compile_who_sends
from conformance.endpoints.sending import Receipt
from conformance.language.chain_steps import SendStep
from conformance.language.shapes import RECEIPT
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import BadShape, RefusalUnproven
from conformance.service.contract import Contract, must_succeed, send_call
from conformance.service.refusal import Refusals, must_be_unchanged, read_before
from conformance.service.suite_wallet import SuiteWallet


class Write(NamedTuple):
    """A write to the contract, with its arguments filled in."""

    wallet: SuiteWallet
    function: str
    arguments: list[object]


Fill = Callable[[CaseRun], Write]


def compile_send(step: SendStep, context: CompileContext) -> Action:
    """Compile a transaction that the contract must take, with `reverts` must refuse, or may do either."""
    context.info.needs.update({"chain_rpc", "funded_wallet"})
    name_write(step.send, context)
    sender = compile_who_sends(step.from_, context.at("from"))
    arguments = [compile_value(raw, context.at("with", index)) for index, raw in enumerate(step.with_)]

    def fill(run: CaseRun) -> Write:
        return Write(sender(run), step.send, [template(run.scope) for template in arguments])

    return _refused(step, context, fill) if step.reverts else _accepted(step, context, fill)


def _accepted(step: SendStep, context: CompileContext, fill: Fill) -> Action:
    for name in ("control", "unchanged"):
        if getattr(step, name) is not None:
            raise context.at(name).problem(RefusalUnproven, f"`{name}` stands beside `reverts` only")
    expectations = compile_expectations(step.expect, step.save, context, f"the transaction of {step.send}", RECEIPT)

    def act(run: CaseRun) -> None:
        receipt = Contract(run).send(*fill(run))
        must_succeed(receipt, "a transaction that the contract takes", run.last_exchange)
        members = _members(receipt)
        expectations.check(members, run)

    return act


def _refused(step: SendStep, context: CompileContext, fill: Fill) -> Action:
    must = step.reverts is True
    if must:
        check_control(step.control, send_call(step.send), context)
    elif step.control is not None:
        raise context.at("control").problem(RefusalUnproven, "`control` stands beside `reverts: true` only")
    if step.expect or step.save:
        raise context.problem(BadShape, "what the contract refuses has nothing to `expect` or `save`")
    if not step.unchanged:
        raise context.problem(RefusalUnproven, f"{send_call(step.send)} writes: its refusal needs `unchanged`")
    reads = compile_reads(step.unchanged, context)

    def must_revert(run: CaseRun) -> None:
        control = run.control(step.control, accepted="was taken")
        with Refusals(run, control=control, unchanged=reads(run)) as refusals:
            Contract(run).must_revert(refusals, *fill(run))

    def may_revert(run: CaseRun) -> None:
        unchanged = reads(run)
        before = read_before(run, unchanged)
        Contract(run).send(*fill(run), to_be_reverted=True)
        must_be_unchanged(run, unchanged, before, run.last_exchange)

    return must_revert if must else may_revert


def _members(receipt: Receipt) -> dict[str, object]:
    return {
        "hash": receipt.hash,
        "block": receipt.block,
        "gas_used": receipt.gas_used,
        "logs": list(receipt.logs),
    }
