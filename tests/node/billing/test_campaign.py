"""A short campaign: a node that dies before, inside and after movements loses nothing and doubles nothing."""

from __future__ import annotations

from pathlib import Path

from campaign import Campaign, report
from campaign_node import STEPS
from campaign_users import Goals


def one_step_of_each() -> list[str]:
    """A step of each movement and exchange: of the first its first, of the second its second, and so on in turn."""
    steps: dict[str, list[str]] = {}
    for step in STEPS:
        steps.setdefault(step.partition(" ")[0], []).append(step)
    return [each[place % len(each)] for place, each in enumerate(steps.values())]


def test_node_that_dies_amid_each_movement_loses_and_doubles_nothing(tmp_path: Path) -> None:
    steps = one_step_of_each()
    assert {step.partition(" ")[2] for step in steps} == {"due", "uncommitted", "done"}
    campaign = Campaign(Goals(10, 100), random_kills=1, kills_a_step=1, threads=8, seed=1, say=print, steps=steps)
    found = campaign.run(tmp_path)
    told = report(campaign.tally, found)
    assert found.agree, told
    assert set(campaign.tally.at_steps) == set(steps), told
    assert min(ledger for ledger, _ in found.figures.values()) > 0, told
