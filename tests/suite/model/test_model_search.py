"""Which sequences are drawn, how a failing one is shrunk, and what is never drawn. Nothing is sent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.drivers.model.acts import WEIGHTS
from conformance.drivers.model.blame import watched
from conformance.drivers.model.plan import Planned, Planner
from conformance.drivers.model.play import Failed
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.search import SHRINKING, Plan, Search
from conformance.problems import BudgetSpent, Departure
from conformance.profile import Profile
from conformance.resources import scenarios
from conformance.values.marked_yaml import Document

STEPS = 40
Play = Callable[[Plan, str | None], Failed | None]


def planner(profile: Profile | None = None) -> Planner:
    return Planner(ExpectedOutcomeRules(profile or Profile()), 2, tuple(WEIGHTS))


def drawn(seed: str, profile: Profile | None = None) -> list[Plan]:
    """The first sequences of a seed."""
    plans: list[Plan] = []

    def play(plan: Plan, _: str | None) -> None:
        plans.append(plan)

    for number in range(8):
        Search(planner(profile), play, STEPS).run(f"{seed}{number}")
    return plans


def failing_after(*operations: str) -> tuple[Play, list[Plan]]:
    """A node that fails once it was asked for these operations, in this order."""
    plans: list[Plan] = []

    def play(plan: Plan, _: str | None) -> Failed | None:
        plans.append(plan)
        waiting = list(operations)
        for planned in plan:
            if waiting and planned.act.operation == waiting[0] and not planned.refused:
                waiting.pop(0)
            if not waiting:
                return Failed(planned.number, Departure("this", "that"), "groups", "existence", ())
        return None

    return play, plans


def first_failure(play: Play) -> tuple[Plan, Failed]:
    search = Search(planner(), play, STEPS)
    for number in range(50):
        search.run(f"shrink {number}")
        if search.shortest:
            return search.shortest
    raise AssertionError("no sequence of fifty fails")


def test_sequences_follow_from_the_seed() -> None:
    assert drawn("one") == drawn("one")
    assert drawn("one") != drawn("two")


def test_sequences_do_not_hang_on_what_else_is_loaded() -> None:
    here = Path(__file__)
    program = f"import sys; sys.path.insert(0, {str(here.parent)!r}); import {here.stem}; print({here.stem}.drawn('s'))"
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    alone, beside = (
        subprocess.check_output([sys.executable, "-c", load + program], env=environment)  # noqa: S603 - our own text
        for load in ("", "import conformance.selftest.tools.harness; ")
    )
    assert alone == beside


def test_sequences_are_long_and_never_longer_than_asked_for() -> None:
    assert {STEPS // 2 <= len(plan) <= STEPS for plan in drawn("length")} == {True}


def test_every_operation_is_drawn_and_both_outcomes_too() -> None:
    acts: list[Planned] = [planned for seed in "abcdefghijklmnopqrstuvwx" for plan in drawn(seed) for planned in plan]
    assert {planned.act.operation for planned in acts if not planned.refused} == set(WEIGHTS)
    assert len({reason.name for planned in acts for reason in planned.reasons}) > 8


def test_refused_act_has_an_accepted_one_of_its_operation_before_it() -> None:
    for plan in drawn("control"):
        by_number = {planned.number: planned for planned in plan}
        for planned in plan:
            if planned.refused:
                control = by_number[planned.control or 0]
                assert (control.act.operation, control.refused) == (planned.act.operation, False)
                assert control.number < planned.number


def test_acts_that_nothing_speaks_about_are_not_drawn() -> None:
    silent = Profile.model_validate(
        {
            "semantics": {
                "pkp_wildcard_by_add_remove": None,
                "add_action_duplicate": None,
                "unknown_pkp_id_in_group": None,
            },
            "auth": {"add_group_prefill_by_usage_key": None, "usage_key_permission": {"update_group": None}},
        }
    )
    reasons = {reason.name for plan in drawn("silent", silent) for planned in plan for reason in planned.reasons}
    assert reasons.isdisjoint({"registers an action again", "names another account's wallet", "may not fill the lists"})
    acts = [planned.act for plan in drawn("silent", silent) for planned in plan]
    assert not [act for act in acts if act.operation.endswith("pkp_to_group") and act.wallet == "*"]
    assert not [act for act in acts if act.operation == "update_group" and not act.by_owner]


@pytest.mark.parametrize("operations", [("add_group",), ("create_wallet", "add_pkp_to_group", "remove_group")])
def test_failing_sequence_is_shrunk_to_what_it_needs(operations: tuple[str, ...]) -> None:
    play, _ = failing_after(*operations)
    plan, _ = first_failure(play)
    assert len(plan) <= len(operations) + 2, [planned.act for planned in plan]


def test_shrinking_plays_a_bounded_number_of_sequences() -> None:
    play, plans = failing_after("create_wallet", "add_pkp_to_group", "update_group", "remove_group", "add_group")
    first_failure(play)
    failing = next(index for index, plan in enumerate(plans) if len(plan) < STEPS // 2)
    assert len(plans) - failing <= SHRINKING + STEPS


def test_trouble_while_shrinking_keeps_the_failure() -> None:
    play, plans = failing_after("add_group")

    def run_dry(plan: Plan, only: str | None) -> Failed | None:
        if len(plans) > 2:
            raise BudgetSpent("money", "none")
        return play(plan, only)

    plan, failed = first_failure(run_dry)
    assert failed.acts == len(plan)


def test_search_writes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn("files")
    assert list(tmp_path.iterdir()) == []


def test_shipped_cases_list_what_they_can_tell_of() -> None:
    pack = Document(scenarios() / "model.yaml").value
    assert isinstance(pack, dict)
    for case in pack["cases"]:
        can_tell = watched(case["operations"], chain=True, credit=case.get("credit", False))
        assert sorted(can_tell) == case["requirements"], case["id"]
