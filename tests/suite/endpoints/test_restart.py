"""Restarts of a node by the commands of the profile."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from answering_server import Server, running

from conformance.endpoints.restart import STEADY, restart
from conformance.problems import NotRestarted, ProfileSilent
from conformance.profile import Profile, load_profile
from conformance.values.addresses import CORE


@pytest.fixture
def answering() -> Iterator[Server]:
    with running() as server:
        yield server


def profile(
    folder: Path, *command: str, within: float = 30, kill: tuple[str, ...] | None = None, **more: object
) -> Profile:
    """A profile in this folder that states how the node is restarted."""
    how = {"command": command, "kill_command": kill, "within_seconds": within}
    path = folder / "node.yaml"
    path.write_text(json.dumps({"capabilities": ["restart"], "restart": how, **more}), encoding="utf-8")
    return load_profile(path)


def test_command_runs_in_the_folder_of_the_profile_until_the_node_answers(tmp_path: Path, answering: Server) -> None:
    restart(profile(tmp_path, "touch", "done"), answering.url, "stop")
    assert (tmp_path / "done").exists()
    assert len(answering.hosts) == STEADY


def test_command_gets_tokens_and_not_the_key_of_the_wallet(
    tmp_path: Path, answering: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_FUNDER_KEY", "f" * 64)
    monkeypatch.setenv("OWN_WORD", "of the platform")
    chain = {"funder_key_variable": "OWN_FUNDER_KEY"}
    restart(profile(tmp_path, "sh", "-c", "env > environment", chain=chain), answering.url, "stop")
    given = (tmp_path / "environment").read_text(encoding="utf-8")
    assert "OWN_WORD=of the platform" in given.splitlines()
    assert "f" * 64 not in given


def test_node_that_still_starts_is_asked_again(tmp_path: Path, answering: Server) -> None:
    answering.statuses = [503, 401, 502, 401, 200, 200]
    restart(profile(tmp_path, "true"), answering.url, "stop")
    assert answering.targets == [f"{CORE}/get_node_chain_config"] * 6


@pytest.mark.parametrize(("kill", "expected"), [("killed", "killed"), (None, "stopped")])
def test_kill_command_kills_and_the_other_stands_in_for_it(
    tmp_path: Path, answering: Server, kill: str | None, expected: str
) -> None:
    stated = profile(tmp_path, "touch", "stopped", kill=("touch", kill) if kill else None)
    restart(stated, answering.url, "kill")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([expected, "node.yaml"])


def test_node_that_keeps_the_output_of_the_command_open_is_not_waited_for(tmp_path: Path, answering: Server) -> None:
    restart(profile(tmp_path, "sh", "-c", "sleep 600 & echo $! > pid"), answering.url, "stop")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)  # raises where it has ended


@pytest.mark.parametrize(
    ("command", "within", "said"),
    [
        (("./no-such-program",), 30, "it cannot be run"),
        (("sh", "-c", "echo no such unit; exit 3"), 30, "status 3: no such unit"),
        (("sh", "-c", "exit 3"), 30, "status 3: it said nothing"),
        (("sleep", "600"), 0.1, "it had to be killed"),
    ],
)
def test_command_that_fails_is_told(
    tmp_path: Path, answering: Server, command: tuple[str, ...], within: float, said: str
) -> None:
    with pytest.raises(NotRestarted, match=said):
        restart(profile(tmp_path, *command, within=within), answering.url, "stop")
    assert answering.hosts == []


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[Profile, int]]:
    """A command that hangs with a process of its own, and what reads one byte of that process, then its end."""
    os.mkfifo(tmp_path / "alive")
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    hang = "(echo; exec sleep 600) > alive & echo $! > pid; wait"
    yield profile(tmp_path, "sh", "-c", hang, within=1), alive
    os.close(alive)
    with suppress(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_what_a_command_has_started_is_not_killed_with_it(hanging: tuple[Profile, int], answering: Server) -> None:
    stated, alive = hanging

    def pause(seconds: float) -> None:
        select.select([alive], [], [], 60)
        time.sleep(seconds)

    with pytest.raises(NotRestarted, match="it had to be killed"):
        restart(stated, answering.url, "stop", pause=pause)
    assert os.read(alive, 2) == b"\n"
    os.kill(int((stated.folder / "pid").read_text()), 0)


def test_run_that_is_interrupted_waits_for_no_command(hanging: tuple[Profile, int], answering: Server) -> None:
    stated, alive = hanging

    def pause(_: float) -> None:
        select.select([alive], [], [], 60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restart(stated, answering.url, "stop", pause=pause)
    assert answering.hosts == []


def test_node_that_does_not_come_back_is_told_with_the_reason(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(NotRestarted, match=r"answers within 0\.5 s of its restart.*ConnectError"):
        restart(profile(tmp_path, "true", within=0.5), url, "stop")


def test_nothing_is_run_unless_the_profile_claims_the_capability(tmp_path: Path, answering: Server) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(json.dumps({"restart": {"command": ["touch", "done"]}}), encoding="utf-8")
    with pytest.raises(ProfileSilent):
        restart(load_profile(path), answering.url, "stop")
    assert not (tmp_path / "done").exists()


def test_node_that_the_run_has_started_is_restarted_by_the_run(tmp_path: Path, answering: Server) -> None:
    told: list[tuple[str, float]] = []
    stated = profile(tmp_path, "touch", "done", within=7)
    restart(stated, answering.url, "kill", lambda how, within: told.append((how, within)))
    assert told == [("kill", 7)]
    assert len(answering.hosts) == 1
    assert not (tmp_path / "done").exists()
