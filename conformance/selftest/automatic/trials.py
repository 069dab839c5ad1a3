"""Runs cases on nodes with one automatic fault each, every fault in its own forked process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from conformance.endpoints.extent import SampleOptions
from conformance.problems import NodeSilent
from conformance.run.case import Case
from conformance.run.runner import run_case
from conformance.selftest.automatic.faults import Fault
from conformance.selftest.automatic.reach import Reach
from conformance.selftest.tools.server_faults import ServerFaults
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Verdict

LONGEST_SILENCE = 120.0
"""Seconds without an ended case after which a trial hangs, for example in an endless loop."""


class Ending(Enum):
    """The result of a fault's trial."""

    CAUGHT = "caught"
    CRASHED = "crashed"
    """A case failed after the node raised an unexpected exception, which any check notices."""
    HUNG = "hung"
    """The node did not start, did not answer any more, or the trial did not end."""
    SURVIVED = "survived"
    """No case failed; none was tried where the change would alter no value in any case."""
    UNREACHED = "unreached"
    """No case runs the line."""
    WITHOUT_EFFECT = "without effect"
    """The change compiles to the same code, to code that no process of the node has loaded, or not at all."""


@dataclass(frozen=True)
class FaultTrial:
    """The trial of one fault."""

    fault: Fault
    ending: Ending
    told: str = ""
    """The case that failed with the requirements that it charges, or what went wrong."""
    tried: int = 0
    """How many cases ran."""
    seconds: float = 0.0


def fault_trials(
    faults: Iterable[Fault], cases: Sequence[Case], reach: Reach, seed: str, jobs: int
) -> Iterator[FaultTrial]:
    """Try each fault with the cases that reach it, and yield each trial as it ends."""
    by_id = {case.id: case for case in cases}
    waiting = iter(faults)
    running: dict[Connection, _Running] = {}
    while (fresh := [*islice(waiting, jobs - len(running))]) or running:
        for fault in fresh:
            chosen = [by_id[name] for name in reach.cases(fault)]
            if chosen:
                process, connection = _start(fault, chosen, seed)
                running[connection] = _Running(process, fault)
            else:
                yield FaultTrial(fault, Ending.SURVIVED if reach.is_reached(fault) else Ending.UNREACHED)
        yield from _ended(running)


@dataclass
class _Running:
    """A trial under way."""

    process: ForkProcess
    fault: Fault
    began: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    """When its last case ended."""


def _ended(running: dict[Connection, _Running]) -> Iterator[FaultTrial]:
    """Wait up to a second; yield the trials that ended, and stop those that hang."""
    told = wait([*running], timeout=1.0)
    for connection, trial in [*running.items()]:
        now = time.monotonic()
        seconds = now - trial.began
        if connection in told:
            result = _received(connection)
            if result is None:
                trial.heard = now
                continue
            yield FaultTrial(trial.fault, *result, seconds)
        elif now - trial.heard > LONGEST_SILENCE:
            yield FaultTrial(trial.fault, Ending.HUNG, f"no case ended for {LONGEST_SILENCE:.0f} s", 0, seconds)
        else:
            continue
        trial.process.kill()
        trial.process.join()
        connection.close()
        del running[connection]


def _received(connection: Connection) -> tuple[Ending, str, int] | None:
    """The result of a trial; None where it goes on after one of its cases."""
    try:
        message = connection.recv()
    except EOFError:
        return Ending.HUNG, "the process of the trial died", 0
    if message is None:
        return None
    ending, told, tried = message
    return Ending(ending), told, tried


def _start(fault: Fault, cases: Sequence[Case], seed: str) -> tuple[ForkProcess, Connection]:
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send_trial, args=(fault, cases, seed, theirs))
    process.start()
    theirs.close()
    return process, ours


def _send_trial(fault: Fault, cases: Sequence[Case], seed: str, to: Connection) -> None:
    try:
        ending, told, tried = _try(fault, cases, seed, to)
    except Exception as error:  # noqa: BLE001 - a node with a fault may fail in any way before it serves
        ending, told, tried = Ending.HUNG, f"the node did not start: {type(error).__name__}: {error}", 0
    to.send((ending.value, told, tried))


def _try(fault: Fault, cases: Sequence[Case], seed: str, to: Connection) -> tuple[Ending, str, int]:
    if not fault.plant():
        return Ending.WITHOUT_EFFECT, "", 0
    broken = ServerFaults()
    with target_node(lambda _: None, seed, faults=broken) as target:
        target.extent = SampleOptions(until_wrong=True, budget=1)
        inconclusive: list[str] = []
        for tried, case in enumerate(cases, 1):
            outcome = run_case(case, target)
            to.send(None)
            if outcome.verdict is Verdict.INCONCLUSIVE:
                inconclusive.append(f"{case.id}: {outcome.reason}")
            if outcome.verdict is Verdict.FAIL:
                ending = Ending.CRASHED if broken.told else Ending.CAUGHT
                return ending, f"{case.id} charges {', '.join(outcome.blamed)}: {outcome.reason}", tried
            if outcome.properties.get("problem") == NodeSilent.code:
                return Ending.HUNG, f"{case.id}: {outcome.reason}", tried
    told = [*broken.told[:1], *(f"{len(inconclusive)} cases inconclusive, {first}" for first in inconclusive[:1])]
    return Ending.SURVIVED, "; ".join(told), len(cases)
