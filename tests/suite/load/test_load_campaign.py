"""``service-conformance load`` as a user calls it: Locust's processes, and what they find."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from command_line import exit_code
from tiny_node import Asked, Fault, TinyNode, Told

from conformance.load.campaign import Campaign, run_campaign
from conformance.report import ExitCode
from conformance.run.options import Options

PACK = """\
pack: shelf
title: Shelf
needs: [managed_accounts]
cases:
  - id: group-is-listed
    title: A group is listed
    requirements: [GRP-010]
    setup: [{account: alice}]
    steps:
      - {call: add_group, with: {group_name: one}, judges: []}
      - {list: list_groups, expect: {"": [{name: one}]}, judges: [GRP-010]}
"""
CLOCK = """
from conformance.cases import Judge, case
from conformance.service.node import Node


@case("clock-is-moved", requirements=["CHAIN-010"], needs=["clock_control"])
def clock_is_moved(judge: Judge, node: Node) -> None:
    \"\"\"A case that needs the node for itself.\"\"\"
    node.clock.move(1)
    with judge():
        node.session.call("get_node_chain_config")
"""
PROFILE = "extends: reference\ncapabilities: [managed_accounts]\n"
LOAD = ("load", "--pack-dir", "packs", "--profile", "profile.yaml")
NOBODY = ("--node-url", "http://127.0.0.1:1")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with packs and a profile."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "shelf.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "packs" / "shelf.py").write_text(CLOCK, encoding="utf-8")
    (tmp_path / "profile.yaml").write_text(PROFILE, encoding="utf-8")
    return tmp_path


def results(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "out" / "load.json").read_text(encoding="utf-8"))
    return found


def campaign(place: Path, node: TinyNode, max_spend: int | None = None, **others: Any) -> tuple[int, dict[str, Any]]:
    options = Options(
        node_url=node.url,
        profile=place / "profile.yaml",
        pack_dirs=(place / "packs",),
        packs=("shelf",),
        results=place / "out",
        max_spend=max_spend,
    )
    code = run_campaign(Campaign(options, seed="s", until_flip=True, **others))
    return code, results(place)


def mixed_up(node: TinyNode) -> Fault:
    """A fault: a list that is asked for while another is under way is the other one's."""
    pair = threading.Barrier(2)

    def answer(asked: Asked) -> Told:
        try:
            late = pair.wait(0.2)
        except threading.BrokenBarrierError:
            pair.reset()
            return node.honest(asked)
        return Told(body=[]) if late else node.honest(asked)

    return answer


@pytest.mark.parametrize("workers", [0, 2])
def test_campaign_finds_what_fails_beside_others_alone(place: Path, node: TinyNode, workers: int) -> None:
    node.faults["list_groups"] = mixed_up(node)
    code, found = campaign(place, node, users=4, seconds=60.0, workers=workers)
    assert (code, found["exit_code"], found["workers"]) == (1, 1, workers)
    (case,) = found["cases"]
    assert (case["case"], case["alone"]) == ("shelf::group-is-listed", "pass")
    (began,) = [one for one in case["began"] if one["verdict"] == "fail"]
    assert began["requirements"] == ["GRP-010"]
    assert began["load"]["users"] >= 1
    shown = json.dumps(began["failure"])
    assert node.groups
    assert not [key for key in node.groups if key in shown]
    assert found["left_out"] == {"shelf::clock-is-moved": "the profile does not claim clock_control"}
    assert "shelf::group-is-listed" in (place / "out" / "locust.html").read_text(encoding="utf-8")


def test_sound_node_holds_and_its_operations_are_timed(place: Path, node: TinyNode) -> None:
    code, found = campaign(place, node, users=3, seconds=2.0)
    assert (code, found["holds"], found["interrupted"]) == (ExitCode.CONFORMS, True, "")
    operations = {one["operation"]: one for one in found["operations"]}
    assert {"new_account", "add_group", "list_groups"} <= operations.keys()
    assert found["throughput"]["cases"] == found["cases"][0]["under_load"]["pass"]
    assert found["throughput"]["requests"] == sum(one["requests"] for one in operations.values())
    assert max(sample["users"] for sample in found["samples"]) == 3


def test_case_that_fails_alone_does_not_run_under_load(place: Path, node: TinyNode) -> None:
    node.faults["list_groups"] = lambda _: Told(body=[])
    code, found = campaign(place, node, users=2, seconds=2.0)
    assert code == ExitCode.FAILS
    assert (found["cases"][0]["alone"], found["cases"][0]["under_load"], found["samples"]) == ("fail", {}, [])


def test_budget_that_is_spent_ends_the_campaign(place: Path, node: TinyNode) -> None:
    code, found = campaign(place, node, max_spend=3, users=2, seconds=60.0)
    assert (code, found["exit_code"]) == (ExitCode.INTERRUPTED, ExitCode.INTERRUPTED)
    assert "3 of 3 cents spent" in found["interrupted"]


def started(*arguments: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "conformance", *LOAD, *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - our own text


def test_signal_ends_the_campaign_with_results(place: Path, node: TinyNode) -> None:
    begun = threading.Event()
    node.faults["list_groups"] = lambda asked: (begun.set(), node.honest(asked))[1]
    running = started("--pack", "shelf", "--node-url", node.url, "--minutes", "5", "--output", "out")
    assert begun.wait(60)
    running.send_signal(signal.SIGTERM)
    told, _ = running.communicate(timeout=120)
    assert running.returncode == ExitCode.INTERRUPTED, told
    assert results(place)["interrupted"] == "SIGTERM or Ctrl-C"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--pack", "shelf", "--case", "shelf::none", "--node-url", "http://127.0.0.1:1"],
            "no case is called 'shelf::none'",
        ),
        ([*NOBODY, "--pack", "shelf,none"], "no pack is called 'none'"),
        (["--users", "0"], "--users: has to be at least 1"),
        (["--master", "127.0.0.1"], "--master needs --workers K"),
        (["--worker", "a b"], "--worker: is an address"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_run_is_said_in_one_line(
    arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert exit_code([*LOAD, *arguments]) == 2
    told = "".join(capfd.readouterr())
    assert said in told
    assert len(told.splitlines()) == 1, told


@pytest.mark.usefixtures("place")
def test_master_awaits_workers_that_others_start(node: TinyNode) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        where = f"127.0.0.1:{probe.getsockname()[1]}"
    node_and_pack = ("--node-url", node.url, "--pack", "shelf")
    load = ("--users", "2", "--minutes", "0.05", "--workers", "1", "--output", "out")
    master = started(*node_and_pack, *load, "--master", where)
    worker = started(*node_and_pack, "--worker", where)
    told, _ = master.communicate(timeout=120)
    assert master.returncode == ExitCode.CONFORMS, told
    worker.communicate(timeout=120)
    assert worker.returncode == 0
