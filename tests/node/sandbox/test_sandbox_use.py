"""What a run is charged for: what it used, and not the time in which others had the processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from running import returned, run

from reference_node.sandbox import Limits, RunResult, Sandbox, conversation, use
from reference_node.sandbox.conversation import Conversation
from reference_node.sandbox.frames import Kind
from reference_node.sandbox.stream import TimeUp
from reference_node.sandbox.use import Scheduled
from reference_node.strict_json import Json

RESPONSE = (Kind.RESPONSE, b"1")
CALL = (Kind.CALL, json.dumps([1, "signDigest", {}]).encode())


@dataclass
class Machine:
    """A clock, a process that answers at set times, and what others took of the processor meanwhile."""

    frames: list[tuple[float, tuple[Kind, bytes]]]
    share: float = 1.0
    """What the process gets of the processor."""
    now: float = 100.0
    owed: bool = False
    """Whether the kernel tells of waits for the processor only at the end."""
    computed: float = 0.0
    total: int = 0
    credits: int = 100
    """The last second that can be paid."""
    seconds: list[int] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.computed

    def scheduled(self) -> Scheduled:
        passed = self.now - 100.0
        return Scheduled(7.0, 5.0 + (0 if self.owed and self.frames else (1 - self.share) * passed))

    def send(self, kind: Kind, text: str) -> None:
        pass

    def receive(self, deadline: float) -> tuple[Kind, bytes]:
        if self.frames and 100.0 + self.frames[0][0] <= deadline:
            at, frame = self.frames.pop(0)
            self.now = max(self.now, 100.0 + at)
            return frame
        self.now = max(self.now, deadline)
        raise TimeUp

    def pay(self, second: int) -> bool:
        self.seconds.append(second)
        return second <= self.credits


@pytest.fixture
def converse(monkeypatch: pytest.MonkeyPatch) -> Callable[..., RunResult]:
    def finish(machine: Machine, host_takes: float = 0.0, host_computes: float = 0.0) -> RunResult:
        def host(_name: str, _argument: Mapping[str, Json]) -> Json:
            machine.now += host_takes
            machine.computed += host_computes
            return "answer"

        monkeypatch.setattr(use, "time", machine)
        monkeypatch.setattr(conversation, "time", machine)
        machine.frames.insert(0, (0.0, (Kind.BEGUN, b"")))
        made = Conversation(machine, Limits(), host, machine.pay, scheduled=machine.scheduled)  # type: ignore[arg-type]
        made.begin("code", "{}")
        return made.finish()

    return finish


@pytest.mark.parametrize(
    ("took", "share", "charged"),
    [(0.9, 1, []), (1.0, 1, [2]), (2.5, 1, [2, 3]), (15.0, 2 / 15, [2, 3]), (15.0, 0.13, [2]), (29.9, 0.03, [])],
)
def test_seconds_that_others_had_the_processor_are_not_charged(
    converse: Callable[..., RunResult], took: float, share: float, charged: list[int]
) -> None:
    machine = Machine([(took, RESPONSE)], share + 1e-9)
    result = converse(machine)
    assert result.response == "1"
    assert machine.seconds == charged
    assert result.seconds == pytest.approx(took * share, abs=1e-6)


def test_time_limit_counts_what_the_run_used(converse: Callable[..., RunResult]) -> None:
    assert converse(Machine([(45.0, RESPONSE)], share=0.5)).response == "1"
    machine = Machine([(45.0, RESPONSE)], share=0.9)
    over = converse(machine)
    assert over.has_error
    assert "the limit is 30 s" in over.logs
    assert machine.seconds == [*range(2, 31)], "the last second is no second more"
    computing = converse(Machine([(0.1, CALL), (0.2, RESPONSE)]), host_takes=31.0, host_computes=31.0)
    assert "the limit is 30 s" in computing.logs


def test_run_ends_at_the_second_that_can_not_be_paid(converse: Callable[..., RunResult]) -> None:
    machine = Machine([(45.0, RESPONSE)], credits=2)
    result = converse(machine)
    assert machine.seconds == [2, 3]
    assert result.logs == "credits spent: the account can't pay for another second"
    assert result.seconds >= 2.0


def test_run_that_others_keep_waiting_for_too_long_ends(converse: Callable[..., RunResult]) -> None:
    machine = Machine([(61.0, RESPONSE)], share=0.01)
    result = converse(machine)
    assert result.has_error
    assert "the limit is 60 s" in result.logs
    assert machine.seconds == []


@pytest.mark.parametrize(("computes", "charged"), [(0.0, []), (0.5, []), (3.0, [2, 3, 4])])
def test_use_of_a_wallet_is_charged_by_what_the_node_computed(
    converse: Callable[..., RunResult], computes: float, charged: list[int]
) -> None:
    machine = Machine([(0.1, CALL), (0.2, RESPONSE)])
    assert converse(machine, host_takes=5.0, host_computes=computes).response == "1"
    assert machine.seconds == charged


def test_time_that_both_processes_waited_counts_once(converse: Callable[..., RunResult]) -> None:
    machine = Machine([(0.1, CALL), (0.2, RESPONSE)], share=0.5)
    result = converse(machine, host_takes=4.0, host_computes=2.0)
    assert result.seconds == pytest.approx(2.0 + 0.5 * 0.1, abs=1e-6)
    assert machine.seconds == [2, 3]


def test_what_was_computed_counts_however_late_a_wait_shows(converse: Callable[..., RunResult]) -> None:
    machine = Machine([(0.1, CALL), (0.2, RESPONSE)], share=0.1, owed=True)
    assert converse(machine, host_takes=9.0, host_computes=1.3).response == "1"
    assert machine.seconds == [2]


HOG = "import time\nprint('it runs', flush=True)\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"

BURN = "async function main() { let n = 0; for (let i = 0; i < 1e6; ++i) n += i % 7; return n; }"


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="no statistics of the scheduler")
def test_run_beside_others_on_its_processor_used_less_than_it_took() -> None:
    own = os.sched_getaffinity(0)
    processor = min(own)
    with Sandbox() as sandbox, ExitStack() as stack:
        os.sched_setaffinity(0, {processor})  # whatever is started inherits it
        stack.callback(os.sched_setaffinity, 0, own)
        sandbox.start()
        run(sandbox, "async function main() {}")
        for _ in range(4):
            command = [sys.executable, "-c", HOG]
            hog = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))  # noqa: S603 - our own program
            stack.callback(hog.kill)
            assert hog.stdout is not None
            assert hog.stdout.readline()
        os.sched_setaffinity(0, own)
        assert sandbox.process is not None
        assert os.sched_getaffinity(sandbox.process) == {processor}
        used_and_took = [_timed(sandbox) for _ in range(10)]
    # The last wait of a reading may not show yet; it does in a run that ends before it is read.
    assert any(used * 1.5 < took for used, took in used_and_took), used_and_took


def _timed(sandbox: Sandbox) -> tuple[float, float]:
    began = time.monotonic()
    result = run(sandbox, BURN)
    assert returned(result) > 0
    return result.seconds, time.monotonic() - began
