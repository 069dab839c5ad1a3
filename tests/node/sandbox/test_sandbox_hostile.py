"""Every action of `fixtures/hostile`: it ends within the limits, beside honest runs, and leaves nothing to the next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from running import returned

from conformance.drivers.hostile.driver import entries
from conformance.profile import Profile
from conformance.resources import fixtures
from conformance.service.action_sources import source
from reference_node.sandbox import Limits, RunResult, Sandbox
from reference_node.sandbox.limits import MIB
from reference_node.sandbox.lockdown import SLACK_BYTES

WALL_SECONDS = 1.0
AT_ONCE = 6
ENTRIES = {entry.id: entry for entry in entries()}
HONEST = "async function main({ n }) { console.log(n); return n }"
LARGE_BYTES = 60 * MIB
LARGE = f"""async function main() {{
  const held = new Uint8Array({LARGE_BYTES}).fill(1);
  await Service.Actions.signMessage({{}});
  return held.length;
}}"""


@dataclass(frozen=True)
class Attack:
    """A hostile run, and the clean one after it."""

    result: RunResult
    found_after: list[str]


@dataclass(frozen=True)
class Campaign:
    """All of them, honest runs in between, and what they took."""

    attacks: dict[str, Attack]
    honest: list[RunResult]
    peak_bytes: int


def code_of(name: str) -> str:
    return source(f"hostile/{name}", Profile())


def attack(sandbox: Sandbox, name: str) -> Attack:
    result = sandbox.run(code_of(name), '{"pkpId":"0x1"}', lambda *_: "0xsignature", 1)
    return Attack(result, returned(sandbox.run(code_of("probe"), "{}", lambda *_: None, 2)))


def peak_of_children(process: int) -> int:
    """The largest resident memory that any living child of this process has had."""
    peaks = [0]
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        try:
            lines = Path(f"/proc/{child}/status").read_text().splitlines()
        except OSError:
            continue
        peaks += [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return max(peaks)


@pytest.fixture(scope="module")
def campaign() -> Iterator[Campaign]:
    with Sandbox(Limits(wall_seconds=WALL_SECONDS)) as sandbox, ThreadPoolExecutor(AT_ONCE) as threads:
        sandbox.start()
        zygote = sandbox.process
        assert zygote is not None
        attacks: dict[str, Future[Attack]] = {name: threads.submit(attack, sandbox, name) for name in ENTRIES}
        honest: list[RunResult] = []
        peak = 0
        while not all(future.done() for future in attacks.values()):
            number = len(honest)
            honest.append(sandbox.run(HONEST, json.dumps({"n": number}), lambda *_: None, 3))
            peak = max(peak, peak_of_children(zygote))
        seen: list[int] = []
        returned(sandbox.run(LARGE, "{}", lambda *_: seen.append(peak_of_children(zygote)), 3))
        peak = max(peak, *seen)
        assert sandbox.process == zygote
        yield Campaign({name: future.result() for name, future in attacks.items()}, honest, peak)


def test_index_and_scripts_name_each_other() -> None:
    scripts = {path.stem for path in (fixtures() / "hostile").glob("*.js")} - {"probe"}
    assert set(ENTRIES) == scripts
    assert len(scripts) >= 50


def test_entries_say_whether_an_action_uses_a_wallet() -> None:
    for entry in ENTRIES.values():
        code = (fixtures() / f"hostile/{entry.id}.js").read_text()
        assert entry.wallet or "$SIGN_MESSAGE(" not in code, "a call of a wallet needs one"
        assert "$SIGN_MESSAGE" in code or not entry.wallet


@pytest.mark.parametrize("name", ENTRIES)
def test_hostile_action_ends_within_the_limits_and_leaves_nothing(name: str, campaign: Campaign) -> None:
    result = campaign.attacks[name].result
    assert campaign.attacks[name].found_after == []
    assert len(result.logs) <= Limits().log_bytes + Limits().error_bytes + 100
    if ENTRIES[name].outcome == "has_error":
        assert result.has_error
    if result.has_error:
        assert result.response is None
        assert result.logs
    else:
        assert result.response is not None
        assert len(result.response) <= Limits().response_bytes


def test_honest_runs_are_answered_meanwhile(campaign: Campaign) -> None:
    answers = {number: (result.response, result.logs) for number, result in enumerate(campaign.honest)}
    right = [number for number, answer in answers.items() if answer == (str(number), str(number))]
    assert len(right) > 20
    # A machine that stands still for a second ends the run that it meets, and no other.
    assert {answers[number] for number in answers.keys() - {*right}} <= {
        (None, f"the run took too long: the limit is {WALL_SECONDS:g} s")
    }


def test_memory_of_every_process_is_bounded(campaign: Campaign) -> None:
    assert LARGE_BYTES < campaign.peak_bytes < 64 * MIB + SLACK_BYTES + 32 * MIB  # the engine itself takes some 14
