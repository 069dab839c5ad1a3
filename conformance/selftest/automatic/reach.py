"""Measures which cases run which lines of the node, with coverage.py on a correct node.

Of the contract it notes which functions each case calls: every line that such a function can reach counts as run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from conformance.endpoints.extent import SampleOptions
from conformance.run.case import Case
from conformance.run.runner import run_case
from conformance.selftest.automatic.contract import Contract
from conformance.selftest.automatic.faults import ROOT, Fault
from conformance.selftest.tools.alter_contract import hear
from conformance.selftest.tools.serving import target_node
from reference_node.chain.interface import Address

START = ""
"""Stands for the node's start among the cases that run a line."""


@dataclass(frozen=True)
class Reach:
    """The cases that run each line."""

    lines: Mapping[tuple[str, int], Sequence[str]]
    """Case ids by file and line, the quickest first; `START` among them where the node runs the line as it starts."""
    every: Sequence[str]
    """The ids of all cases, the quickest first."""

    def cases(self, fault: Fault) -> Sequence[str]:
        """The ids of the cases that run a fault's lines, the quickest first; all if the start runs them."""
        reaching = {case for line in fault.lines for case in self.lines.get((str(fault.path), line), ())}
        return self.every if START in reaching else [case for case in self.every if case in reaching]


def measure_reach(cases: Sequence[Case], seed: str, jobs: int, contract: Contract | None) -> Reach:
    """Run every case once, divided among `jobs` processes; the lines of the contract, too, if it is given."""
    context = get_context("fork")
    ends = []
    for place in range(jobs):
        ours, theirs = context.Pipe(duplex=False)
        context.Process(target=_send_reach, args=(cases[place::jobs], seed, theirs)).start()
        theirs.close()
        ends.append(ours)
    seconds: dict[str, float] = {}
    lines: dict[tuple[str, int], list[str]] = {}
    calls: dict[str, list[str]] = {}
    for end in ends:
        took, reached, called = end.recv()
        seconds |= took
        for key, names in reached.items():
            lines.setdefault(key, []).extend(names)
        for function, names in called.items():
            calls.setdefault(function, []).extend(names)
    if contract:
        lines |= contract.lines(calls, START)
    return Reach(lines, sorted(seconds, key=seconds.__getitem__))


def _send_reach(cases: Sequence[Case], seed: str, to: Connection) -> None:
    to.send(_reach(cases, seed))
    to.close()


def _reach(
    cases: Sequence[Case], seed: str
) -> tuple[dict[str, float], dict[tuple[str, int], list[str]], dict[str, list[str]]]:
    import coverage  # noqa: PLC0415 - of the extra `automatic`; no other part of the self-test needs it

    tracer = coverage.Coverage(data_file=None, source_pkgs=[ROOT.name], config_file=False)
    seconds: dict[str, float] = {}
    calls: dict[str, list[str]] = {}
    heard: set[str] = set()

    def hear_all(sender: Address, data: bytes) -> tuple[Address, bytes]:
        heard.add(data[:4].hex())
        return sender, data

    tracer.start()
    with target_node(lambda node: hear(node, hear_all, deep=True), seed) as target:
        target.extent = SampleOptions(budget=1)
        for case in cases:
            tracer.switch_context(case.id)
            heard.clear()
            seconds[case.id] = run_case(case, target).seconds
            for function in [*heard]:
                calls.setdefault(function, []).append(case.id)
        tracer.switch_context(START)
    tracer.stop()
    data = tracer.get_data()
    lines = {
        (file, line): contexts
        for file in data.measured_files()
        for line, contexts in data.contexts_by_lineno(file).items()
    }
    return seconds, lines, calls
