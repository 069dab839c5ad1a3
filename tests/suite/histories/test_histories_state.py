"""Which acts a history leaves out because nothing decides about them, and which states are the same."""

from __future__ import annotations

from conformance.drivers.histories.state import State, Steps, decided
from conformance.drivers.model.acts import Act
from conformance.drivers.model.effects import apply
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.world import World
from conformance.profile import Profile

SILENT = Profile.model_validate({"semantics": {"group_membership_idempotence": None}})
GROUP = Act("add_group", "alice", "alice", "1", makes="g1")
ADDS = [Act("add_action_to_group", "alice", "alice", str(number), group="g1", action="c1") for number in (2, 3)]
OTHER = Act("add_action_to_group", "alice", "alice", "4", group="g1", action="c2")


def state(*acts: Act) -> State:
    world = World.of(1)
    for act in acts:
        apply(act, world, ExpectedOutcomeRules(Profile()))
    return State.of(world)


def test_acts_about_which_nothing_decides_in_some_order_are_left_out() -> None:
    acts = [*ADDS, OTHER]
    assert decided(acts, [state(GROUP)], Steps(ExpectedOutcomeRules(SILENT))) == [OTHER]
    assert decided(acts, [state(GROUP)], Steps(ExpectedOutcomeRules(Profile()))) == acts


def test_states_differ_where_a_list_can_tell_them_apart() -> None:
    second = Act("add_group", "alice", "alice", "5", makes="g2")
    assert state(GROUP, ADDS[0], OTHER) == state(GROUP, OTHER, ADDS[0])
    assert state(GROUP, second) != state(second, GROUP)
