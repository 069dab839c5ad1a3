"""Turns drawn numbers, or given acts, into a plan: acts with their required outcomes. Nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.drivers.model.acts import OF_ITSELF, Act, Drawn, meant
from conformance.drivers.model.effects import apply
from conformance.drivers.model.ruling import ExpectedOutcomeRules, Reason
from conformance.drivers.model.world import World


@dataclass(frozen=True)
class Planned:
    """An act with its place in the plan."""

    number: int
    drawn: Drawn | None
    """The numbers that mean it; None where it was given."""
    act: Act
    reasons: tuple[Reason, ...]
    """The reasons to refuse it; empty: it must be accepted."""
    control: int | None
    """For a refused act, the last act before it that calls the same operation over HTTP and must be accepted."""
    sent: bool = False
    """Whether it is a transaction of the admin wallet."""

    @property
    def refused(self) -> bool:
        """Whether it must be refused."""
        return bool(self.reasons)


@dataclass(frozen=True)
class Planner:
    """Makes plans."""

    rules: ExpectedOutcomeRules
    accounts: int
    operations: tuple[str, ...]
    by_wallet: int = 0

    def plan(self, drawn: Sequence[Drawn]) -> tuple[Planned, ...]:
        """The acts that these numbers mean.

        What a key may not do, without an accepted request of the operation before it, the account key does in its
        place; where that may not, either, the act is left out.
        """
        plan = _Plan(self)
        for one in drawn:
            act = meant(one, plan.world, self.operations, label=str(len(plan.acts) + 1))
            if act is not None and not plan.add(act, one) and not act.by_owner:
                plan.add(replace(act, by=act.account), one)
        return tuple(plan.acts)

    def of_acts(self, acts: Sequence[Act]) -> tuple[Planned, ...]:
        """The plan of these acts, without those about which neither the specification nor the profile decides."""
        plan = _Plan(self)
        for act in acts:
            plan.add(act, None)
        return tuple(plan.acts)


class _Plan:
    """A plan in the making, with the world as its acts leave it."""

    def __init__(self, planner: Planner) -> None:
        self._rules = planner.rules
        self.world = World.of(planner.accounts, planner.by_wallet)
        self.acts: list[Planned] = []
        self._accepted: dict[str, int] = {}
        """The number of the last accepted act over HTTP, by operation."""

    def add(self, act: Act, drawn: Drawn | None) -> bool:
        """Add an act if it is decided and, where it must be refused, has a control. Says whether it was added."""
        reasons = self._rules.reasons(act, self.world)
        if reasons is None or (reasons and act.operation not in self._accepted):
            return False
        number = len(self.acts) + 1
        sent = act.by_owner and not self.world.accounts[act.account].managed and act.operation not in OF_ITSELF
        control = self._accepted[act.operation] if reasons else None
        self.acts.append(Planned(number, drawn, act, reasons, control, sent))
        if not reasons:
            apply(act, self.world, self._rules)
            if not sent:
                self._accepted[act.operation] = number
        return True
