"""`service-conformance selftest --automatic N`: try a sample of automatic faults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.automatic.compiler import MISSING, Compiler
from conformance.selftest.automatic.contract import Contract, ContractFault
from conformance.selftest.automatic.faults import Fault, all_faults
from conformance.selftest.automatic.reach import measure_reach
from conformance.selftest.automatic.report import Figures
from conformance.selftest.automatic.trials import FaultTrial, fault_trials
from conformance.selftest.tools.sampling import evenly

RECORD = "automatic.json"

UNEXPLAINED = 3
"""The exit code when a surviving fault is not in the triage table."""


PYTHON_TO_CONTRACT = 3
"""Faults of the node's Python code for each one of the contract, which takes the compiler ten seconds."""


def try_sample(console: Console, size: int, seed: str, jobs: int, output: Path) -> int:
    """Try a sample of faults, spread evenly over the operators. A smaller sample is a prefix of a larger one.

    Returns 0 if every fault is noticed or explained, 2 without coverage.py, 3 if a survivor is not explained.
    """
    if find_spec("coverage") is None:
        console.print("--automatic needs coverage.py: pip install 'service-conformance[automatic]'")
        return 2
    cases = load([scenarios()])
    compiler = Compiler.found()
    contract = Contract.parsed(compiler) if compiler else None
    if contract is None:
        console.print(f"NOT TRIED: faults of the contract. That {MISSING}", highlight=False, soft_wrap=True)
    faults = _sample(contract, size, seed)
    console.print(f"which cases reach the code: {len(cases)} cases on a correct node", highlight=False)
    reach = measure_reach(cases, seed, jobs, contract)
    output.mkdir(parents=True, exist_ok=True)
    done: list[FaultTrial] = []
    for trial in fault_trials(_compiled(console, contract, faults), cases, reach, seed, jobs):
        done.append(trial)
        console.print(f"{len(done)}/{len(faults)} {_line(trial)}", highlight=False, soft_wrap=True)
        (output / RECORD).write_text(json.dumps([*map(_record, done)], indent=2) + "\n", encoding="utf-8")
    figures = Figures(done)
    figures.print(console)
    return UNEXPLAINED if figures.unexplained else 0


def _sample(contract: Contract | None, size: int, seed: str) -> list[Fault]:
    python = evenly(all_faults(), lambda fault: fault.operator, f"automatic/{seed}")
    solidity = evenly(contract.faults() if contract else [], lambda fault: fault.operator, f"automatic/{seed}")
    mixed: list[Fault] = []
    while python or solidity:
        mixed += [*python[:PYTHON_TO_CONTRACT], *solidity[:1]]
        del python[:PYTHON_TO_CONTRACT], solidity[:1]
    return mixed[:size]


def _compiled(console: Console, contract: Contract | None, faults: Sequence[Fault]) -> list[Fault]:
    """The faults, those of the contract compiled."""
    solidity = [fault for fault in faults if isinstance(fault, ContractFault)]
    if contract is None or not solidity:
        return [*faults]
    console.print(f"compiling {len(solidity)} changed contracts", highlight=False)
    compiled = {fault.name: fault for fault in contract.compile(solidity)}
    return [compiled.get(fault.name, fault) for fault in faults]


def _record(trial: FaultTrial) -> dict[str, str | int]:
    return {
        "fault": trial.fault.name,
        "before": trial.fault.before,
        "after": trial.fault.after,
        "ending": trial.ending.value,
        "told": trial.told,
        "tried": trial.tried,
    }


def _line(trial: FaultTrial) -> str:
    detail = f": {trial.told}" if trial.told else ""
    return f"{trial.ending.value} in {trial.seconds:.0f} s, {trial.tried} cases: {trial.fault}{detail}"
