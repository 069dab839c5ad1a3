"""A node that is killed and cut off during a campaign, and what the books then say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_load_results import PASS, record

from conformance.load.campaign import Campaign, run_campaign
from conformance.load.results import ChaosResult, load_results
from conformance.report import ExitCode
from conformance.run.options import Options
from conformance.selftest.under_load.lossy import lossy_nodes
from conformance.selftest.under_load.trial import CHAOS_CASE, CHAOS_PACK, try_with_chaos

# Locust's own modules replace sockets of the process that imports them, so the schedule is drawn in another one.
SCHEDULE = """
import json, sys
from itertools import islice
from conformance.load.chaos import schedule
print(json.dumps([[one.what, one.calm, one.seconds, one.offset] for one in islice(schedule(sys.argv[1]), 12)]))
"""


def drawn(seed: str) -> list[list[object]]:
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", SCHEDULE, seed], capture_output=True, text=True, check=True
    )
    found: list[list[object]] = json.loads(done.stdout)
    return found


def test_schedule_follows_the_seed_and_leaves_no_kind_out() -> None:
    first = drawn("a")
    assert drawn("a") == first
    assert drawn("b") != first
    kinds = [what for what, *_ in first]
    assert len(set(kinds[:6])) == 6
    assert set(kinds[6:]) == set(kinds[:6])


def test_fault_after_chaos_fails_the_campaign() -> None:
    found = record(under_load=(PASS, PASS))
    found.chaos = ChaosResult(events=(), disturbed=1, acknowledged=9, doubtful=2, payments=1, faults=())
    assert load_results(found, ()).exit_code is ExitCode.CONFORMS
    found.chaos = found.chaos.model_copy(update={"faults": ("a group is lost",)})
    results = load_results(found, ())
    assert (results.exit_code, results.holds) == (ExitCode.FAILS, False)
    assert "1 faults" in results.sentence


def test_sound_node_loses_nothing_while_it_is_killed_and_cut_off(tmp_path: Path) -> None:
    options = Options(packs=(CHAOS_PACK,), cases=(CHAOS_CASE,), results=tmp_path)
    code = run_campaign(Campaign(options, users=1, seconds=25.0, seed="1", chaos=True))
    found = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    assert (code, found["chaos"]["faults"]) == (ExitCode.CONFORMS, [])
    assert {"kill the node", "cut the chain off"} <= {event["what"] for event in found["chaos"]["events"]}
    assert found["chaos"]["acknowledged"] > 0
    assert found["chaos"]["payments"] > 0


def test_node_that_forgets_its_credits_is_caught() -> None:
    node = next(one for one in lossy_nodes() if one.name == "credits-end-with-the-process")
    trial = try_with_chaos(node, "1")
    assert trial.is_caught, str(trial)


@pytest.mark.parametrize("also", [("--workers", "2"), ("--node-url", "http://127.0.0.1:1"), ("--profile", "x.yaml")])
def test_chaos_takes_no_node_of_others(also: tuple[str, ...]) -> None:
    line = [sys.executable, "-m", "conformance", "load", "--chaos", "--pack", "groups", *also]
    done = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603 - our own text
    assert done.returncode == ExitCode.USAGE
    assert "--chaos kills the node that the campaign starts" in done.stderr
