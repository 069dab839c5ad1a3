"""The step kind `transactions`: what the settlement chain mined after a block, with the logs of each transaction."""

from __future__ import annotations

from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.endpoints.client import descend
from conformance.language.models import TransactionsStep
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import ChainTrouble, Malformed, Mismatch
from conformance.values.json_values import member, printed

MOST_BLOCKS = 500
"""A case's writes are mined in fewer unless node and suite are slow and the chain is fast; more are not searched."""


def compile_transactions(step: TransactionsStep, site: CompileContext) -> Action:
    """Saves and judges an array of {hash, from, to, input, block, logs}; hex as the chain gives it, in lower case."""
    site.facts.needs.add("chain_rpc")
    after = compile_value(step.transactions.after, site.at("transactions", "after"))
    holding = compile_value(step.transactions.holding or "", site.at("transactions", "holding"))
    expectations = compile_expectations(step.expect, step.save, site)

    def act(run: CaseRun) -> None:
        block = after(run.scope)
        if not isinstance(block, int):
            raise Mismatch("a block number as `after`", printed(block))
        run.settle()
        part = printed(holding(run.scope)).lower()
        found = [sent for sent in transactions_after(run, block) if part in printed(sent["input"])]
        last = len(run.log) - 1
        expectations.judge(lambda path: descend(found, path), run.scope, last)
        expectations.keep(lambda path: descend(found, path), run.scope, last)

    return act


def transactions_after(run: CaseRun, block: int) -> list[dict[str, object]]:
    """Every transaction in the blocks after this one. ChainTrouble: the chain has grown by more than `MOST_BLOCKS`."""
    newest = run.chain.block_number()
    if newest - block > MOST_BLOCKS:
        raise ChainTrouble(f"at most {MOST_BLOCKS} blocks after block {block}", f"the chain is at block {newest}")
    if newest <= block:
        return []
    logs = _array(run.chain.logs({"fromBlock": hex(block + 1), "toBlock": hex(newest)}), "logs")
    return [
        _told(transaction, number, logs)
        for number in range(block + 1, newest + 1)
        for transaction in _array(
            member(run.chain.read("eth_getBlockByNumber", [hex(number), True]), "transactions"), "transactions"
        )
    ]


def _told(transaction: object, number: int, logs: list[object]) -> dict[str, object]:
    told: dict[str, object] = {name: _lower(member(transaction, name)) for name in ("hash", "from", "to", "input")}
    emitted = [
        {name: _lower(member(log, name)) for name in ("address", "topics", "data")}
        for log in logs
        if _lower(member(log, "transactionHash")) == told["hash"]
    ]
    return {**told, "block": number, "logs": emitted}


def _lower(value: object) -> object:
    if isinstance(value, list):
        return [_lower(item) for item in value]
    return value.lower() if isinstance(value, str) else None


def _array(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise Malformed(f"an array of {what}", printed(value)[:300])
    return value
