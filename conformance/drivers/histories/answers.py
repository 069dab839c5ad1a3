"""What the answers of a history mean: which states of the model explain each one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from conformance.drivers.histories.state import State, Steps
from conformance.drivers.model.acts import Act
from conformance.drivers.model.views import Check, Look, Views
from conformance.service.refusal import DELETE_ABSENT, DELETIONS, REFUSAL_CLASSES, ExpectedRefusal
from conformance.service.session import Session
from conformance.values.json_values import printed

BESIDE_OTHERS = "conflict"
"""The class of a refusal that a node may give to a write because of another one at the same time."""
SAME_AGAIN = frozenset({"adds what is there", "removes what is not", "registers an action again"})
"""Reasons to refuse that a node need not see in a request beside the one that has just done the same."""
ListName = tuple[str, str]
"""What a list is of, and of which group: see `Look`."""


@dataclass(frozen=True, eq=False)
class Listed:
    """A list as it was read."""

    name: ListName
    items: list[object]


@dataclass
class Explanations:
    """Compares answers with states of the model."""

    session: Session
    steps: Steps
    views: Views
    account: str
    _looks: dict[State, Mapping[ListName, Look]] = field(default_factory=dict)
    _wrong: dict[tuple[Listed, tuple[str, ...]], list[Check]] = field(default_factory=dict)

    def after(self, act: Act, state: State, status: int, *, accepted: bool, beside: bool) -> State | None:
        """The state after the answer to a write; None where this state does not explain it.

        `beside`: another write was under way.
        """
        reasons = self.steps.rules.reasons(act, state.world)
        if reasons is None:  # the model cannot tell: either answer explains itself
            return self.steps.after(act, state) if accepted else state
        if accepted and (not reasons or (beside and {reason.name for reason in reasons} <= SAME_AGAIN)):
            return self.steps.after(act, state)
        if not reasons:  # nothing forbids it: only another write explains a refusal
            return state if beside and status in self._conflict else None
        classes = {name for reason in reasons for name in reason.classes}
        if act.operation in DELETIONS and all("not_found" in reason.classes for reason in reasons):
            stated = self.session.target.profile_value(DELETE_ABSENT)
            if stated is None or (accepted and (stated not in REFUSAL_CLASSES or beside)):
                return state  # it deletes what is not there
            classes |= {printed(stated)} & REFUSAL_CLASSES
        refused = not accepted and (status in self._statuses(classes) or (beside and status in self._conflict))
        return state if refused else None

    def wrong(self, listed: Listed, state: State) -> list[Check]:
        """What is wrong with a list in a state. A list that the state says nothing about is right."""
        look = self.look(listed.name, state)
        if look is None:
            return []
        asked = (listed, tuple(check.expected for check in look.checks))
        if asked not in self._wrong:
            self._wrong[asked] = [check for check in look.checks if not check.holds(check.part(listed.items))]
        return self._wrong[asked]

    def look(self, name: ListName, state: State) -> Look | None:
        """How a state says that a list is to look."""
        if state not in self._looks:
            looks = self.views.of(state.world.accounts[self.account])
            self._looks[state] = {(look.what, look.subject): look for look in looks}
        return self._looks[state].get(name)

    @cached_property
    def _conflict(self) -> frozenset[int]:
        return self._statuses({BESIDE_OTHERS})

    def _statuses(self, classes: Sequence[str] | set[str]) -> frozenset[int]:
        return ExpectedRefusal.of(sorted(classes), self.session.profile).statuses
