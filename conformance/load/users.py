"""Locust users, each of which runs the cases in sequence, in a random order of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import gevent
from locust import User, constant, task
from locust.env import Environment
from locust.exception import StopUser

from conformance.endpoints.client import Target
from conformance.endpoints.log import Timing
from conformance.load.chaos import Chaos
from conformance.load.statistics import CASE
from conformance.load.tally import Tally
from conformance.problems import BudgetSpent, GasSpent, NodeSilent, PurchasesSpent
from conformance.run.case import Case
from conformance.run.runner import run_case
from conformance.verdict import Outcome, Verdict

NO_MORE = frozenset(problem.code for problem in (NodeSilent, BudgetSpent, GasSpent, PurchasesSpent))
"""Problems that end a campaign: no later case could be judged either."""


DISTURBED_SECONDS = 0.3
"""Before the next case of a user whose last one was disturbed: a node that is away refuses thousands a minute."""


class NotAnswered(Exception):  # noqa: N818 - a failing node is no error of the suite
    """A request that got a 5xx or no answer."""


@dataclass
class Work:
    """The state that the users of a process share."""

    cases: Sequence[Case]
    target: Target
    environment: Environment
    tally: Tally = field(default_factory=Tally)
    chaos: Chaos | None = None
    """What disturbs the node meanwhile."""
    place: int = 0
    """The number of the worker."""
    ended: str = ""
    """Why no further case can run; empty while they can."""
    stopping: bool = False
    """Whether users begin no further cases."""
    begun: int = 0
    """How many users have started."""

    def note_timing(self, timing: Timing) -> None:
        """Add an exchange to Locust's statistics. A refusal is no failure there."""
        fault = NotAnswered("no answer" if timing.status is None else f"status {timing.status}")
        self.environment.events.request.fire(
            request_type=timing.method,
            name=timing.operation,
            response_time=timing.seconds * 1000,
            response_length=timing.size,
            exception=fault if timing.status is None or timing.status >= 500 else None,
            context={},
        )

    def run(self, case: Case, seed: str) -> None:
        """Run a case and count what came of it, unless a disturbance of the node explains that."""
        target = self.target.with_seed(seed)
        if self.chaos is None:
            self.note(run_case(case, target))
            return
        watched = self.chaos.watch(target)
        outcome = run_case(case, target)
        if self.chaos.excuses(outcome, watched):
            gevent.sleep(DISTURBED_SECONDS)
        else:
            self.note(outcome)

    def note(self, outcome: Outcome) -> None:
        """Count an outcome. Locust's report shows failed cases."""
        if outcome.properties.get("problem") in NO_MORE:
            self.ended, self.stopping = outcome.reason, True
            return
        self.tally.note(outcome)
        if outcome.verdict is Verdict.FAIL:
            self.environment.events.request.fire(
                request_type=CASE,
                name=outcome.case,
                response_time=outcome.seconds * 1000,
                response_length=0,
                exception=NotAnswered(outcome.reason),
                context={},
            )


class CaseUser(User):
    """A user that runs cases of the packs."""

    wait_time = constant(0)
    work: Work
    """Set on the class before the first user begins."""

    def on_start(self) -> None:
        """Take a seed that no other user has."""
        work = self.work
        work.begun += 1
        self._seed = f"{work.target.seed}/{work.place}/{work.begun}"
        self._random = random.Random(self._seed)  # noqa: S311 - an order of cases, no secret
        self._round = 0
        self._left: list[Case] = []

    @task
    def run_next(self) -> None:
        """Run the next case. Every case runs once before any runs again."""
        if self.work.stopping:
            raise StopUser
        if not self._left:
            self._round += 1
            self._left = self._random.sample(self.work.cases, len(self.work.cases))
        self.work.run(self._left.pop(), f"{self._seed}/{self._round}")
