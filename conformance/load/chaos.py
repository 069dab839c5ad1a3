"""Disturbs a bundled node by a seeded schedule, and checks that no acknowledged write is lost or doubled."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import httpx

from conformance.endpoints.client import Target
from conformance.endpoints.log import Timing
from conformance.load.results import ChaosEvent, ChaosResult
from conformance.load.witnesses import Witnesses
from conformance.load.world import World
from conformance.problems import NodeNotStarted
from conformance.verdict import Outcome, Verdict

CALM_SECONDS = (0.5, 3.0)
"""Seconds between two disturbances."""
LENGTHS = {
    "kill the node": (0.0, 1.0),
    "stop the node and let it go on": (0.2, 3.0),
    "stop the chain and let it go on": (0.2, 4.0),
    "cut the chain off": (0.2, 4.0),
    "cut the payment provider off": (0.2, 4.0),
    "set the node's clock off": (1.0, 4.0),
}
"""The shortest and the longest duration of each disturbance in seconds."""
CLOCK_OFFSETS = (-100, 100)
"""Seconds. A signed envelope remains within its window of 300 s."""
UNSEEN = frozenset({"stop the node and let it go on", "stop the chain and let it go on", "set the node's clock off"})
"""Disturbances that can make a case depart although every request is answered: runs take longer, time windows move."""


@dataclass(frozen=True)
class Disturbance:
    """One entry of the schedule."""

    calm: float
    """Seconds before it."""
    what: str
    seconds: float
    offset: int
    """The offset of the clock, for a disturbance of the clock."""


def schedule(seed: str) -> Iterator[Disturbance]:
    """An endless schedule of disturbances: all kinds in a random order, then all again."""
    chance = random.Random(f"{seed}/chaos")  # noqa: S311 - repeatable, no secret
    while True:
        for what in chance.sample(list(LENGTHS), len(LENGTHS)):
            yield Disturbance(
                chance.uniform(*CALM_SECONDS), what, chance.uniform(*LENGTHS[what]), chance.randint(*CLOCK_OFFSETS)
            )


class Watched:
    """Notes whether a request of one case got no answer, or whether the node was disturbed invisibly meanwhile."""

    def __init__(self, chaos: Chaos) -> None:
        self._chaos = chaos
        self._began_within = chaos.under_way in UNSEEN
        self._unseen_before = chaos.unseen
        self.faults = 0

    def note(self, timing: Timing) -> None:
        """Note the end of a request."""
        self.faults += timing.status is None or timing.status >= 500

    @property
    def is_disturbed(self) -> bool:
        """Whether the case may have another outcome than alone."""
        return bool(self.faults or self._began_within or self._chaos.unseen != self._unseen_before)


class Chaos:
    """The disturbances of one campaign."""

    def __init__(self, world: World, target: Target, seed: str, say: Callable[[str], None]) -> None:
        self._world = world
        self._schedule = schedule(seed)
        self._say = say
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._disturb, daemon=True)
        self._witnesses = Witnesses(target)
        self._events: list[ChaosEvent] = []
        self._disturbed = 0
        self._trouble = ""
        self._began = 0.0
        self.under_way = ""
        """The current disturbance."""
        self.unseen = 0
        """The number of disturbances so far that clients do not see."""

    def watch(self, target: Target) -> Watched:
        """Watch the requests of one case, which has this target to itself."""
        watched, timings = Watched(self), target.timings

        def note(timing: Timing) -> None:
            watched.note(timing)
            if timings is not None:
                timings(timing)

        target.timings = note
        return watched

    def excuses(self, outcome: Outcome, watched: Watched) -> bool:
        """Whether a disturbance explains an outcome; counts such outcomes."""
        excused = outcome.verdict is not Verdict.PASS and watched.is_disturbed
        self._disturbed += excused
        return excused

    def start(self) -> None:
        """Create the witnesses' accounts, and start to disturb. Raises the problems of creating an account."""
        self._began = time.monotonic()
        self._witnesses.start()
        self._thread.start()

    def stop(self) -> None:
        """End the current disturbance."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def result(self, after: Sequence[Outcome]) -> ChaosResult:
        """Audit the accounts and the ledger. `after` holds the outcomes of the cases alone, after all disturbances."""
        books = [witness.books for witness in self._witnesses.all]
        faults = [self._trouble] if self._trouble else []
        faults += [
            f"{outcome.case} passes no more once all is over: {outcome.reason}"
            for outcome in after
            if outcome.verdict is Verdict.FAIL
        ]
        if not self._trouble:
            faults += self._audit()
        return ChaosResult(
            events=tuple(self._events),
            disturbed=self._disturbed,
            acknowledged=sum(len(each.acknowledged) for each in books),
            doubtful=sum(len(each.doubtful) for each in books),
            payments=sum(len(each.intents) for each in books),
            faults=tuple(faults),
        )

    def settle(self) -> None:
        """Let the witnesses finish, then kill the node once more, so that nothing remains in its memory."""
        self._witnesses.stop()
        if not self._trouble:
            self._world.kill_node()
            self._world.start_node()

    def _audit(self) -> list[str]:
        faults = self._witnesses.audit()
        self._world.stop_node()
        objection = self._world.verified_ledger()
        return faults + ([f"the ledger: {objection}"] if objection else [])

    def _disturb(self) -> None:
        try:
            for disturbance in self._schedule:
                if self._over.wait(disturbance.calm):
                    return
                self._carry_out(disturbance)
        except (NodeNotStarted, httpx.HTTPError) as problem:
            self._trouble = f"the node did not come back: {problem}"
            self._say(self._trouble)

    def _carry_out(self, disturbance: Disturbance) -> None:
        began, what = time.monotonic(), disturbance.what
        if what.startswith("set the node's clock"):
            what += f" by {disturbance.offset} s"
        self.under_way = disturbance.what
        self.unseen += disturbance.what in UNSEEN
        try:
            self._acts()[disturbance.what](disturbance)
        finally:
            self.under_way = ""
        lasted = time.monotonic() - began
        self._events.append(ChaosEvent(seconds=began - self._began, what=what, lasted=lasted))
        self._say(f"{began - self._began:6.1f} s  {what}, for {lasted:.1f} s")

    def _acts(self) -> dict[str, Callable[[Disturbance], None]]:
        world = self._world
        return {
            "kill the node": self._kill,
            "stop the node and let it go on": lambda one: world.pause_node(one.seconds),
            "stop the chain and let it go on": lambda one: world.pause_chain(one.seconds),
            "cut the chain off": lambda one: self._without(world.chain.cut, world.chain.mend, one.seconds),
            "cut the payment provider off": lambda one: self._without(
                world.provider.cut, world.provider.mend, one.seconds
            ),
            "set the node's clock off": lambda one: self._without(
                lambda: world.set_clock(one.offset), lambda: world.set_clock(0), one.seconds
            ),
        }

    def _kill(self, disturbance: Disturbance) -> None:
        self._world.kill_node()
        time.sleep(disturbance.seconds)
        self._world.start_node()

    @staticmethod
    def _without(take: Callable[[], None], give_back: Callable[[], None], seconds: float) -> None:
        take()
        try:
            time.sleep(seconds)
        finally:
            give_back()
