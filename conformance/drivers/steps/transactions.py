"""The step kind `transactions`: reads the transactions that the chain mined after a block, with their logs."""

from __future__ import annotations

from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.language.chain_steps import TransactionsStep
from conformance.language.shapes import TRANSACTIONS
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import Mismatch
from conformance.service.contract import Contract
from conformance.values.json_values import printed


def compile_transactions(step: TransactionsStep, context: CompileContext) -> Action:
    """Compile a step that compares and saves an array of {hash, from, to, input, block, logs}; hex in lower case."""
    context.info.needs.add("chain_rpc")
    after = compile_value(step.transactions.after, context.at("transactions", "after"))
    holding = compile_value(step.transactions.holding or "", context.at("transactions", "holding"))
    expectations = compile_expectations(step.expect, step.save, context, "the transactions", TRANSACTIONS)

    def act(run: CaseRun) -> None:
        block = after(run.scope)
        if not isinstance(block, int):
            raise Mismatch("a block number as `after`", printed(block))
        mined = Contract(run).transactions_after(block, printed(holding(run.scope)))
        expectations.check(mined, run)

    return act
