"""``python tests/node/campaign.py``: payments and charges of a node that is killed over and over, then compared.

Many users buy and spend at once at a node on an external chain, whose payment provider fails now and then. The node is
killed at random and at every named step of a movement of money, and started again with its ledger. In the end the
ledger has to say of every account what chain and provider say.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from campaign_books import Books, books, succeeded
from campaign_node import STEPS
from campaign_users import Goals, Users
from campaign_world import World

from reference_node.billing.audit import verify

STEP_SECONDS = 30.0
"""How long a node may take to come to a step; one that does not is killed, and another is tried."""

PASSES = {"hold": 20, "note_transaction": 20, "settle": 20, "transaction": 20, "set_position": 3}
"""What happens often: a node dies at one of so many times that it comes there, at other steps at the first.

The position is written at the start and where credit is short, the others at every write.
"""

TRIES = 10
"""Nodes that are tried before a step is left out."""

CREDIT_SECONDS = 60.0
"""How long the last node may take to credit what was paid and never confirmed."""

FAULT_SECONDS = 0.5
"""Between two faults of the provider."""


@dataclass
class Tally:
    """What has been done to the nodes."""

    at_steps: Counter[str] = field(default_factory=Counter)
    at_random: int = 0
    faults: int = 0

    @property
    def kills(self) -> int:
        """How often a node was killed."""
        return self.at_steps.total() + self.at_random


@dataclass
class Campaign:
    """A campaign of so many kills at random and so many at each step."""

    goals: Goals
    random_kills: int
    kills_a_step: int
    threads: int
    seed: int
    say: Callable[[str], None]
    steps: Sequence[str] = STEPS
    """The steps to kill at."""

    def __post_init__(self) -> None:
        self.tally = Tally()
        self._random = random.Random(self.seed)  # noqa: S311 - no secret
        self._over = threading.Event()

    def run(self, folder: Path) -> Books:
        """Raises what a user meets that is the node's fault."""
        with World(folder) as world:
            users = Users(world, self.goals, self.threads, self.seed)
            trouble = threading.Thread(target=self._trouble, args=(world,), daemon=True)
            trouble.start()
            living = users.start()
            try:
                for step in self._plan():
                    self._life(world, users, step)
                    _raise_of(living)
                self._until_goals_are_met(world, living)
            finally:
                self._over.set()
                users.stop()
                trouble.join()
            return self._last_life(world)

    def _plan(self) -> Sequence[str]:
        """The steps to kill at, in no order; an empty one is a kill at random."""
        plan = [*self.steps] * self.kills_a_step + [""] * self.random_kills
        self._random.shuffle(plan)
        return plan

    def _life(self, world: World, users: Users, step: str) -> None:
        """Start a node and have it killed at the step."""
        users.wanted = {
            "move": users.convert,
            "grant": users.join,
            "customer": users.convert,
            "note_customer": users.convert,
            "note_intent": users.buy,
            "intent": users.buy,
            "credit": users.confirm,
            "look-up": users.confirm,
        }.get(step.partition(" ")[0])
        for _ in range(TRIES if step else 1):
            if self._died(world, step):
                self.tally.at_steps[step] += 1
                break
            world.kill()
            self.tally.at_random += 1
        self._progress()

    def _died(self, world: World, step: str) -> bool:
        """Whether a new node comes to the step in time."""
        passes = self._random.randint(1, PASSES.get(step.partition(" ")[0], 1))
        if not world.start_node(step, passes):
            return True
        if not step or step.startswith("resolved"):  # which happens, if at all, while a node starts
            return world.node_ended(self._random.uniform(0.0, 2.0))
        return world.node_ended(STEP_SECONDS)

    def _until_goals_are_met(self, world: World, living: Sequence[Future[None]]) -> None:
        world.start_node()
        while not self.goals.met:
            assert not world.node_ended(1.0)
            _raise_of(living)
            self._progress()
        world.kill()

    def _last_life(self, world: World) -> Books:
        """Let a last node credit what is left to credit, and compare."""
        with suppress(httpx.TransportError):
            httpx.post(f"{world.provider_control}/clear", json={}, timeout=60)
        world.start_node()
        due, deadline = sum(intent["amount"] for intent in succeeded(world)), time.monotonic() + CREDIT_SECONDS
        while verify(world.ledger).cents.get("payment") != due and time.monotonic() < deadline:
            time.sleep(0.1)
        world.stop()
        return books(world)

    def _trouble(self, world: World) -> None:
        """Have the provider fail now and then, in every way it can."""
        while not self._over.wait(FAULT_SECONDS):
            with suppress(httpx.TransportError):
                name, condition = self._condition()
                httpx.post(f"{world.provider_control}/{name}", json=condition, timeout=60).raise_for_status()
                self.tally.faults += 1

    def _condition(self) -> tuple[str, object]:
        pick = self._random.choice
        if self._random.randrange(8) == 0:
            latency = {"before_ms": pick([0, 5, 50]), "after_ms": pick([0, 5, 300]), "jitter_ms": 20}
            return "latency", {"latencies": [latency]}
        if self._random.randrange(8) == 0:
            return "rate_limit", {"rate_limit": pick([None, {"requests": 5, "seconds": 0.5}])}
        fault = {
            "path": pick(["/v1/payment_intents", "/v1/payment_intents/*", "/v1/customers*"]),
            "kind": pick(["status", "drop", "garbage", "repeat"]),
            "when": pick(["before", "after", "saved"]),
            "status": pick([400, 401, 404, 409, 429, 500, 503]),
            "times": pick([1, 2, 3]),
        }
        return "fault", {"fault": fault}

    def _progress(self) -> None:
        left = f"{max(0, self.goals.payments)} payments and {max(0, self.goals.writes)} charges to go"
        self.say(f"{self.tally.kills} kills, {self.tally.faults} faults of the provider; {left}")


def _raise_of(living: Sequence[Future[None]]) -> None:
    for user in living:
        if user.done():
            user.result()


def main() -> int:
    """0 where nothing was lost and nothing doubled, else 1."""
    parser = argparse.ArgumentParser(description="Kill a node while it sells and charges, then compare its ledger.")
    for name, default, what in (
        ("payments", 2_000, "at least so many succeed"),
        ("charges", 20_000, "at least so many writes are answered"),
        ("random-kills", 90, "kills at random, at least"),
        ("kills-a-step", 3, f"kills at each of the {len(STEPS)} steps"),
        ("threads", 50, "users at once"),
        ("seed", 1, "of what is chance"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    options = parser.parse_args()
    began = time.monotonic()
    campaign = Campaign(
        *(Goals(options.payments, options.charges), options.random_kills, options.kills_a_step),
        *(options.threads, options.seed, lambda line: print(f"{time.monotonic() - began:5.0f} s  {line}", flush=True)),
    )
    with tempfile.TemporaryDirectory() as folder:
        found = campaign.run(Path(folder))
    print(report(campaign.tally, found))
    return 0 if found.agree else 1


def report(tally: Tally, found: Books) -> str:
    """The figures, and where they differ."""
    missed = [step for step in STEPS if not tally.at_steps[step]]
    steps = f"{tally.at_steps.total()} at {len(tally.at_steps)} steps"
    return "\n".join(
        [
            f"{tally.kills} kills: {tally.at_random} at random, {steps}; {tally.faults} faults of the provider",
            *([f"steps that no node came to: {', '.join(missed)}"] if missed else []),
            *(
                f"{name:16} {ledger:9} in the ledger, {others:9} outside"
                for name, (ledger, others) in found.figures.items()
            ),
            f"lowest balance ever: {found.lowest} cents",
            *(f"WRONG balance of {wallet}: {kept}, not {due}" for wallet, (kept, due) in found.balances.items()),
            *(f"WRONG charges of {wallet}: {kept}, not {due}" for wallet, (kept, due) in found.charges.items()),
            *(f"WRONG {fault}" for fault in found.faults),
            "nothing was lost, nothing was doubled" if found.agree else "the ledger is WRONG",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
