"""Without a node named, the bundled one is started as a process of its own and stopped at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import httpx
import pytest

from conformance.endpoints import bundled
from conformance.endpoints.bundled import BundledNode, BundledNodes
from conformance.endpoints.restart import How
from conformance.problems import NodeNotStarted, NotRestarted
from conformance.profile import load_ready_file
from conformance.run.judged_node import JudgedNode
from conformance.run.options import Options
from conformance.values.addresses import CORE

ALICE = {"account_name": "alice", "account_description": "of a test"}


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and theirs."""
    children = {
        int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()
    }
    return children.union(*map(descendants, children))


def started_instead(monkeypatch: pytest.MonkeyPatch, *programs: list[str]) -> list[subprocess.Popen[bytes]]:
    """Have these Python programs start in the place of nodes, one after the other; the processes."""
    real, waiting = subprocess.Popen, iter(programs)
    started: list[subprocess.Popen[bytes]] = []

    def start(_: list[str], **options: object) -> subprocess.Popen[bytes]:
        started.append(real([sys.executable, "-c", *next(waiting)], **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


FAILS = ["import sys; sys.exit('no chain today')"]
HANGS = ["import time; time.sleep(60)"]
ENDS_WITH_ANOTHER = """
import pathlib, signal, sys, time
own, other = map(pathlib.Path, sys.argv[1:])
def end(*_):
    own.with_suffix(".told").touch()
    while not other.with_suffix(".told").exists():
        time.sleep(0.01)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
own.touch()
while True:
    time.sleep(0.01)
"""


def test_bundled_node_that_ends_at_once_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    started_instead(monkeypatch, FAILS)

    with pytest.raises(NodeNotStarted, match="no chain today"):
        BundledNode().wait_until_ready()


def test_bundled_node_that_never_gets_ready_is_told_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    started = started_instead(monkeypatch, HANGS)

    with pytest.raises(NodeNotStarted, match="not ready"):
        BundledNode().wait_until_ready(0.2)
    assert started[0].poll() is not None


def test_node_that_does_not_start_again_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    started_instead(monkeypatch, HANGS, FAILS)
    ready = {"base_url": "http://n:1", "https_url": "https://n:2", "profile": {"attestation": {"resolver": "n:3"}}}

    with BundledNode(keeps=True) as node:
        node.ready_file.write_text(json.dumps(ready), encoding="utf-8")

        with pytest.raises(NotRestarted, match="no chain today"):
            node.restart("stop", 60)


def test_nodes_stop_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    one, other = map(str, files)
    started = started_instead(monkeypatch, [ENDS_WITH_ANOTHER, one, other], [ENDS_WITH_ANOTHER, other, one])
    monkeypatch.setattr(bundled, "STOP_SECONDS", 60.0)
    nodes = BundledNodes(2)
    while not all(file.exists() for file in files):
        time.sleep(0.01)

    nodes.stop()

    assert [process.returncode for process in started] == [0, 0]


def test_node_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = started_instead(monkeypatch, [ENDS_WITH_ANOTHER, str(tmp_path / "a"), str(tmp_path / "nobody")])
    monkeypatch.setattr(bundled, "STOP_SECONDS", 0.1)
    node = BundledNode()
    while not (tmp_path / "a").exists():
        time.sleep(0.01)

    node.stop()

    assert started[0].returncode == -signal.SIGKILL


KEYS_OF_THE_USER = {
    "SUITE_FUNDER_KEY": "f" * 64,
    "REFERENCE_NODE_ROOT_SECRET": "0123456789abcdef" * 4,
    "STRIPE_SECRET_KEY": "sk_live_1",
}


@pytest.fixture(scope="module")
def judged() -> Iterator[JudgedNode]:
    """The nodes of a run in two processes, whose user has keys in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS_OF_THE_USER.items():
            patch.setenv(name, value)
        judged = JudgedNode(Options(jobs=2), "s")
    try:
        judged.wait_until_ready()
        yield judged
    finally:
        judged.stop()


@pytest.mark.usefixtures("judged")
def test_processes_of_bundled_nodes_get_no_key_of_the_user() -> None:
    processes = descendants(os.getpid())
    held = [Path(f"/proc/{pid}/{file}").read_text() for pid in processes for file in ("environ", "cmdline")]

    assert len(processes) > 2, "the nodes, and the processes of their sandboxes"
    assert any("PATH=" in text for text in held)
    assert not [text for text in held if any(one in text for pair in KEYS_OF_THE_USER.items() for one in pair)]


def test_each_process_gets_a_node_of_its_own(judged: JudgedNode) -> None:
    with judged.target(0) as one, judged.target(1) as other:
        assert one.base_url != other.base_url
        assert one.ends_with_run
        assert one.profile.offers("chain_rpc")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_restarted_node_of_a_run_has_its_addresses_and_its_accounts(judged: JudgedNode, how: How) -> None:
    with judged.target() as target:
        url, before, processes = f"{target.base_url}{CORE}", target.profile, descendants(os.getpid())
        key = {"X-Api-Key": httpx.post(f"{url}/new_account", json=ALICE, timeout=60).json()["api_key"]}
        assert before.offers("restart")
        assert target.restarter is not None

        target.restarter(how, 60)

        assert processes - descendants(os.getpid()), "a process has ended"
        with judged.target() as after:
            assert after.profile == before
        assert httpx.get(f"{url}/account_exists", headers=key, timeout=60).json() is True


def test_node_that_another_process_restarts_ends_with_that_process() -> None:
    node = BundledNode(keeps=True)
    node.wait_until_ready()
    worker = get_context("fork").Process(target=node.restart, args=("kill", 60))
    worker.start()
    worker.join()
    url = f"{load_ready_file(node.ready_file).base_url}{CORE}/get_node_chain_config"
    node.stop()

    assert worker.exitcode == 0
    with pytest.raises(httpx.TransportError):  # a node that is ending may still take the connection
        httpx.get(url)
