"""A node that is killed and cut off during a campaign, and what the books then say."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import exit_code
from running_processes import await_true, processes_in
from test_load_results import PASS, record

from conformance.load.campaign import Campaign, run_campaign
from conformance.load.results import ChaosResult, load_results
from conformance.report import ExitCode
from conformance.run.options import Options
from conformance.selftest.under_load.trial import CHAOS_CASE, CHAOS_PACK

# Locust's own modules replace sockets of the process that imports them, so the schedule is drawn in another one.
SCHEDULE = """
import json, sys
from itertools import islice
from conformance.load.chaos import schedule
for seed in sys.argv[1:]:
    print(json.dumps([[one.what, one.calm, one.seconds, one.offset] for one in islice(schedule(seed), 12)]))
"""


def drawn(*seeds: str) -> list[list[list[object]]]:
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", SCHEDULE, *seeds], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_schedule_follows_the_seed_and_leaves_no_kind_out() -> None:
    first, again, other = drawn("a", "a", "b")
    assert again == first
    assert other != first
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
    # This seed begins with the two disturbances below, the second of them after less than three seconds.
    code = run_campaign(Campaign(options, users=1, seconds=10.0, seed="1500", chaos=True))
    found = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    assert (code, found["chaos"]["faults"]) == (ExitCode.CONFORMS, [])
    assert {"kill the node", "cut the chain off"} <= {event["what"] for event in found["chaos"]["events"]}
    assert found["chaos"]["acknowledged"] > 0
    assert found["chaos"]["payments"] > 0


@pytest.mark.parametrize("also", [("--workers", "2"), ("--node-url", "http://127.0.0.1:1"), ("--profile", "x.yaml")])
def test_chaos_takes_no_node_of_others(also: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["load", "--chaos", "--pack", "groups", *also]) == ExitCode.USAGE
    assert "--chaos kills the node that the campaign starts" in capsys.readouterr().err


@pytest.mark.parametrize("killed", ["the command", "its campaign"])
def test_campaign_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path, killed: str) -> None:
    line = [sys.executable, "-m", "conformance", "load", "--chaos", "--users", "1", "--pack", CHAOS_PACK]
    with subprocess.Popen(line, env=os.environ | {"TMPDIR": str(tmp_path)}, stdout=subprocess.DEVNULL) as command:  # noqa: S603 - our own text
        # the command, its campaign, the node's chain and the payment provider
        await_true(lambda: len(processes_in(tmp_path)) >= 4, "the campaign starts no processes")
        started = processes_in(tmp_path)
        assert not re.search(r"(sk|pk)_test_", " ".join(started.values()))
        (campaign,) = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        os.kill(command.pid if killed == "the command" else int(campaign), signal.SIGKILL)
        await_true(lambda: not processes_in(tmp_path), "processes are left")
        await_true(lambda: not Path(f"/proc/{campaign}").exists(), "the campaign is left")
    await_true(lambda: not list(tmp_path.iterdir()), "its folder is left")
