"""A short campaign: a node that dies once at every step of a movement loses nothing and doubles nothing."""

from __future__ import annotations

from pathlib import Path

from campaign import Campaign, report
from campaign_node import STEPS
from campaign_users import Goals


def test_node_that_dies_at_every_step_of_a_movement_loses_and_doubles_nothing(tmp_path: Path) -> None:
    campaign = Campaign(Goals(20, 200), random_kills=4, kills_a_step=1, threads=16, seed=1, say=print)
    found = campaign.run(tmp_path)
    told = report(campaign.tally, found)
    assert found.agree, told
    assert set(campaign.tally.at_steps) == set(STEPS), told
    assert campaign.tally.at_random >= 4
    assert min(ledger for ledger, _ in found.figures.values()) > 0, told
