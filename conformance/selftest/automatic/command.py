"""`service-conformance selftest --automatic N`: try a sample of automatic faults."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console

from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.run.loader import load
from conformance.selftest.automatic.compiler import MISSING, Compiler
from conformance.selftest.automatic.contract import Contract, ContractFault
from conformance.selftest.automatic.faults import Fault, all_faults
from conformance.selftest.automatic.reach import Reach, measure_reach
from conformance.selftest.automatic.record import RECORD, Record
from conformance.selftest.automatic.report import Figures
from conformance.selftest.automatic.trials import FaultTrial, fault_trials
from conformance.selftest.tools.sampling import evenly

UNEXPLAINED = 3
"""The exit code when a surviving fault is not in the triage table."""


PYTHON_TO_CONTRACT = 3
"""Faults of the node's Python code for each one of the contract, which takes the compiler ten seconds."""


def try_sample(console: Console, size: int, seed: str, jobs: int, output: Path) -> int:
    """Try a sample of faults, spread evenly over the operators. A smaller sample is a prefix of a larger one.

    Trials that are on record and still good are not repeated. Returns 0 if every fault is noticed or explained, 3 if a
    survivor is not explained.
    """
    cases = load([scenarios()])
    compiler = Compiler.found()
    contract = Contract.parsed(compiler) if compiler else None
    if contract is None:
        console.print(
            f"NOT TRIED: faults of the contract. That {MISSING}", highlight=False, markup=False, soft_wrap=True
        )
    output.mkdir(parents=True, exist_ok=True)
    record = Record(output / RECORD, seed, cases)
    faults = _sample(contract, size, seed)
    done = [trial for fault in faults if (trial := record.of(fault))]
    if done:
        console.print(
            f"{len(done)} trials are on record in {record.path}", highlight=False, markup=False, soft_wrap=True
        )
    left = [fault for fault in faults if fault not in {trial.fault for trial in done}]
    for trial in _tried(console, contract, left, cases, seed, jobs):
        done.append(trial)
        record.keep(trial)
        console.print(f"{len(done)}/{len(faults)} {_line(trial)}", highlight=False, markup=False, soft_wrap=True)
    figures = Figures(done)
    figures.print(console)
    return UNEXPLAINED if figures.unexplained else 0


def _tried(
    console: Console, contract: Contract | None, faults: Sequence[Fault], cases: Sequence[Case], seed: str, jobs: int
) -> Iterator[FaultTrial]:
    if not faults:
        return
    console.print(f"which cases reach the faults: {len(cases)} cases on a correct node", highlight=False)
    began = time.monotonic()
    reach = measure_reach(faults, cases, seed, jobs, contract)
    console.print(f"known after {time.monotonic() - began:.0f} s", highlight=False)
    yield from fault_trials(_compiled(contract, faults, reach), cases, reach, seed, jobs)


def _sample(contract: Contract | None, size: int, seed: str) -> list[Fault]:
    python = evenly(all_faults(), lambda fault: fault.operator, f"automatic/{seed}")
    solidity = evenly(contract.faults() if contract else [], lambda fault: fault.operator, f"automatic/{seed}")
    mixed: list[Fault] = []
    while python or solidity:
        mixed += [*python[:PYTHON_TO_CONTRACT], *solidity[:1]]
        del python[:PYTHON_TO_CONTRACT], solidity[:1]
    return mixed[:size]


def _compiled(contract: Contract | None, faults: Sequence[Fault], reach: Reach) -> Iterator[Fault]:
    """The faults in the order in which they can be tried: those of the contract as soon as they are compiled."""
    wanted = [fault for fault in faults if isinstance(fault, ContractFault) and reach.is_reached(fault)]
    others = deque(fault for fault in faults if fault not in wanted)
    ours, theirs = get_context("fork").Pipe(duplex=False)
    if contract and wanted:
        get_context("fork").Process(target=_send_compiled, args=(contract, wanted, theirs), daemon=True).start()
    theirs.close()
    left = len(wanted)
    while left or others:
        if left and (ours.poll() or not others):
            left -= 1
            yield ours.recv()
        else:
            yield others.popleft()


def _send_compiled(contract: Contract, faults: Sequence[ContractFault], to: Connection) -> None:
    for fault in contract.compile(faults):
        to.send(fault)


def _line(trial: FaultTrial) -> str:
    detail = f": {trial.told}" if trial.told else ""
    return f"{trial.ending.value} in {trial.seconds:.0f} s, {trial.tried} cases: {trial.fault}{detail}"
