"""Many runs at once, hostile ones too: the node goes on answering, says when it is busy, and stops when it is told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from actions import ECHO, KEY, credit, permitted, ran, run
from nodes import Running, refused, serving
from processes import client, node_process, stopped
from waiting import Held

from reference_node.sandbox import Limits, Sandbox
from reference_node.settings import Settings

ENDLESS = "async function main() { for (;;); }"


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A node that runs one action at a time and lets one more wait."""
    with (
        serving(Settings(port=0, starter_credits=1000, control=True)) as running,
        closing(Sandbox(Limits(queued_runs=1, queued_runs_per_account=1), workers=1)) as sandbox,
    ):
        monkeypatch.setattr(running.node, "sandbox", sandbox)
        yield running


def test_endless_loops_of_one_account_keep_nobody_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serving(Settings(port=0, starter_credits=1000)) as running,
        closing(Sandbox(Limits(wall_seconds=120, queue_seconds=120))) as sandbox,
        ThreadPoolExecutor(100) as pool,
    ):
        monkeypatch.setattr(running.node, "sandbox", sandbox)
        hostile, honest = permitted(running, ENDLESS), permitted(running, ECHO)
        with httpx.Client(
            base_url=running.http.base_url, timeout=120, limits=httpx.Limits(max_connections=100)
        ) as http:
            node = Running(running.node, http)
            loops = [pool.submit(run, node, hostile.key, ENDLESS) for _ in range(100)]
            for _ in range(5):
                running.wallet(honest.account)
                assert ran(running, honest.key, ECHO, a=1) == {"a": 1}
            assert sum(not loop.done() for loop in loops) > 40, "more than any common pool of threads would hold"
            sandbox.close()
            statuses = {loop.result().status_code for loop in loops}
        assert statuses <= {200, 503}


def test_busy_node_says_so_and_charges_nothing(narrow: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = permitted(narrow, KEY), permitted(narrow, KEY)
    held = Held(monkeypatch, narrow.node.runs, "host_call")
    before = credit(narrow, other.account)
    with ThreadPoolExecutor(4) as pool:
        under_way = pool.submit(run, narrow, mine.key, KEY, pkpId=mine.wallet)
        held.begun()
        others = [pool.submit(run, narrow, other.key, KEY, pkpId=other.wallet) for _ in range(3)]
        ended = as_completed(others, timeout=60)
        for turned_away in (next(ended).result(), next(ended).result()):
            refused(turned_away, 503, "sandbox-busy")
            assert turned_away.headers["retry-after"] == "1"
        held.let_go()
        assert (under_way.result().status_code, next(ended).result().status_code) == (200, 200)
    assert credit(narrow, other.account) < before
    assert before - credit(narrow, other.account) < 3


def test_reset_ends_what_runs(narrow: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = permitted(narrow, KEY)
    held = Held(monkeypatch, narrow.node.runs, "host_call")
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(run, narrow, mine.key, KEY, pkpId=mine.wallet)
        held.begun()
        assert narrow.http.post("/control/reset", json={}).status_code == 200
        held.let_go()
        assert under_way.result().status_code in {403, 503}
    monkeypatch.undo()
    refused(run(narrow, mine.key, KEY), 401)
    fresh = permitted(narrow, ECHO)
    assert ran(narrow, fresh.key, ECHO, a=1) == {"a": 1}


def test_node_stops_although_actions_run(tmp_path: Path) -> None:
    with (
        node_process(tmp_path / "ready.json", "--starter-credits", "1000") as (process, ready),
        client(ready) as http,
        ThreadPoolExecutor(3) as pool,
    ):
        node = Running(None, http)
        mine = [permitted(node, ENDLESS) for _ in range(3)]
        before = [node.balance(one.account) for one in mine]
        loops = [pool.submit(run, node, one.key, ENDLESS) for one in mine]
        for one, cents, loop in zip(mine, before, loops, strict=True):
            while node.balance(one.account) == cents:  # the first cent is taken before the run begins
                assert not loop.done()
        stopped(process)
        for loop in loops:
            refused(loop.result(), 503, "sandbox-failed")
