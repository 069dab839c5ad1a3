"""Turns drawn numbers into a plan: acts with their required outcomes. Nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.drivers.model.acts import Act, Drawn, meant
from conformance.drivers.model.effects import apply
from conformance.drivers.model.ruling import ExpectedOutcomeRules, Reason
from conformance.drivers.model.world import World


@dataclass(frozen=True)
class Planned:
    """An act with its place in the plan."""

    number: int
    drawn: Drawn
    act: Act
    reasons: tuple[Reason, ...]
    """The reasons to refuse it; empty: it must be accepted."""
    control: int | None
    """For a refused act, the last act before it that calls the same operation and must be accepted."""

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
    usage_keys: bool

    def plan(self, drawn: Sequence[Drawn]) -> tuple[Planned, ...]:
        """The acts that these numbers mean. Acts that must be refused but have no control before them are left out."""
        world = World.of(self.accounts)
        plan: list[Planned] = []
        accepted: dict[str, int] = {}
        for drawn_act in drawn:
            number = len(plan) + 1
            act = meant(drawn_act, world, self.operations, usage_keys=self.usage_keys, label=str(number))
            reasons = None if act is None else self.rules.reasons(act, world)
            if act is None or reasons is None or (reasons and act.operation not in accepted):
                continue
            plan.append(Planned(number, drawn_act, act, reasons, accepted.get(act.operation) if reasons else None))
            if not reasons:
                apply(act, world, self.rules)
                accepted[act.operation] = number
        return tuple(plan)
