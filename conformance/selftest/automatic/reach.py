"""Measures in one run of the cases on a correct node which of them reach a fault's place, with probes.

Of the contract it notes which functions each case calls: every line that such a function can reach counts as run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import attrgetter

from conformance.endpoints.extent import SampleOptions
from conformance.run.case import Case
from conformance.run.runner import run_case
from conformance.selftest.automatic.contract import Contract, ContractFault
from conformance.selftest.automatic.faults import Fault
from conformance.selftest.automatic.probes import Notes, place_probes
from conformance.selftest.tools.alter_contract import hear
from conformance.selftest.tools.serving import target_node
from reference_node.chain.interface import Address

START = ""
"""Stands for the node's start among the cases that reach a fault."""
MOST = 150
"""How many cases are tried: of 171 faults that cases noticed, 169 were noticed by one of the first 125."""
FEW = 5
"""Of so many cases that a fault alters something in, one or another would show it, unless it alters what is kept."""
MANY = 20
"""Of so many, one or another would show it whatever is kept."""


@dataclass
class Seen:
    """What a run of the cases shows. `START` stands for the node's start among the case ids."""

    seconds: dict[str, float] = field(default_factory=dict)
    """Of each case."""
    reached: dict[str, set[str]] = field(default_factory=dict)
    """The cases that run the place of each fault."""
    altered: dict[str, set[str]] = field(default_factory=dict)
    """Those in which the fault would alter a value, or of which a probe cannot tell."""
    calls: dict[str, set[str]] = field(default_factory=dict)
    """The cases that call each function of the contract, by selector (hex)."""

    def note(self, case: str, notes: Notes, heard: Set[str]) -> None:
        """Take down what has been seen since the last note, and forget it."""
        for kept, names in ((self.reached, notes.reached), (self.altered, notes.altering), (self.calls, heard)):
            for name in [*names]:
                kept.setdefault(name, set()).add(case)
        notes.clear()

    def add(self, other: Seen) -> None:
        """Add what another process has seen."""
        self.seconds |= other.seconds
        for kept, more in ((self.reached, other.reached), (self.altered, other.altered), (self.calls, other.calls)):
            for name, cases in more.items():
                kept.setdefault(name, set()).update(cases)


@dataclass(frozen=True)
class Reach:
    """The cases that reach each fault."""

    seen: Seen
    packs: Mapping[str, str]
    """The pack of each case."""

    def is_reached(self, fault: Fault) -> bool:
        """Whether any case runs the fault's place, or the node's start does."""
        return bool(self.seen.reached.get(fault.name))

    def cases(self, fault: Fault) -> Sequence[str]:
        """The ids of the cases in which the fault may alter something, the likeliest to fail first, `MOST` of them.

        Where they are not many, node or suite may have kept what was computed in them: the others of their packs
        follow, and where they are few all others, up to twice as many in all; so do they where the fault alters
        something while the node starts.
        """
        altered = self.seen.altered.get(fault.name, set())
        likeliest = self._likeliest(altered - {START})
        if not altered or (len(altered) >= MANY and START not in altered):
            return likeliest[:MOST]
        packs = {self.packs[case] for case in altered - {START}}
        beside = {case for case, pack in self.packs.items() if pack in packs} - altered
        tried = [*likeliest, *self._likeliest(beside)]
        if len(altered) < FEW or START in altered:
            tried += self._likeliest({*self.packs} - altered - beside)
        return tried[: 2 * MOST]

    def _likeliest(self, cases: Set[str]) -> list[str]:
        """One case of each pack in turn, the quickest first, and first of the packs that come here most often.

        A pack most of whose cases come to some code is about that code.
        """
        sizes, here = Counter(self.packs.values()), Counter(self.packs[case] for case in cases)
        turns: Counter[str] = Counter()
        placed: list[tuple[int, float, str]] = []
        for case in sorted(cases, key=lambda case: (self.seen.seconds.get(case, 0.0), case)):
            pack = self.packs[case]
            placed.append((turns[pack], -here[pack] / sizes[pack], case))
            turns[pack] += 1
        return [case for _, _, case in sorted(placed)]


def measure_reach(
    faults: Sequence[Fault], cases: Sequence[Case], seed: str, jobs: int, contract: Contract | None
) -> Reach:
    """Run every case once, divided among `jobs` processes."""
    seen = Seen()
    for part in _parts(faults, cases, seed, jobs):
        seen.add(part)
    if contract:
        lines = contract.lines(seen.calls, START)
        for fault in faults:
            if isinstance(fault, ContractFault):
                here = {case for line in fault.lines for case in lines.get((str(fault.path), line), ())}
                seen.reached[fault.name] = seen.altered[fault.name] = here
    return Reach(seen, {case.id: case.pack for case in cases})


def _parts(faults: Sequence[Fault], cases: Sequence[Case], seed: str, jobs: int) -> Iterator[Seen]:
    context = get_context("fork")
    ends = []
    for place in range(jobs):
        ours, theirs = context.Pipe(duplex=False)
        context.Process(target=_send_seen, args=(faults, cases[place::jobs], seed, theirs)).start()
        theirs.close()
        ends.append(ours)
    for end in ends:
        yield end.recv()


def _send_seen(faults: Sequence[Fault], cases: Sequence[Case], seed: str, to: Connection) -> None:
    to.send(see(faults, cases, seed))
    to.close()


def see(faults: Sequence[Fault], cases: Sequence[Case], seed: str) -> Seen:
    """Run cases on nodes of this process, with probes for these faults; they stay in the process.

    Each pack has a node of its own: what a node computes once and keeps shows in a case of every pack that asks for it.
    """
    notes, heard, seen = Notes(), set[str](), Seen()

    def hear_all(sender: Address, data: bytes) -> tuple[Address, bytes]:
        heard.add(data[:4].hex())
        return sender, data

    place_probes([fault for fault in faults if not isinstance(fault, ContractFault)], notes)
    for _, pack in groupby(cases, key=attrgetter("pack")):
        with target_node(lambda node: hear(node, hear_all, deep=True), seed) as target:
            target.extent = SampleOptions(budget=1)
            seen.note(START, notes, set())
            for case in pack:
                heard.clear()
                seen.seconds[case.id] = run_case(case, target).seconds
                seen.note(case.id, notes, heard)
    return seen
