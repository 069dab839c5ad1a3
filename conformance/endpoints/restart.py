"""Restarts the node by the commands of the profile, and waits until it answers again (docs/profile.md, "Restarts")."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

import httpx

from conformance.endpoints.transport import exchange_within, http_client
from conformance.problems import NotRestarted, ProfileSilent
from conformance.profile import Profile
from conformance.values.addresses import CORE

How: TypeAlias = Literal["stop", "kill"]
"""How the old process ends: in order, or by SIGKILL."""
Restarter: TypeAlias = Callable[[How, float], None]
"""Ends the node and starts it again, within so many seconds. Raises NotRestarted."""

ASKED_EVERY = 0.2
"""Seconds between two requests to a node that is to come back."""
LOOKED_AT_EVERY = 0.05
"""Seconds between two looks at whether a command has ended."""
STEADY = 3
"""How many answers in a row show that a node is back: behind a gateway, one of its processes may still be starting."""
LONGEST_ANSWER = 5.0
"""Seconds for one answer, of which a node that starts may owe some."""
SHOWN = 300
"""Characters of a command's output that a problem shows."""
_running: set[subprocess.Popen[bytes]] = set()
"""Commands that run, also those that an interrupted run leaves: Python warns of a process that nobody holds."""


def restart(
    profile: Profile,
    base_url: str,
    how: How,
    restarter: Restarter | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Restart a node and return when it answers.

    `restarter` is that of a node which the run itself has started; without, the profile's command restarts it.
    `pause` waits so many seconds; when it raises, a command that still runs is left to end by itself, since the node
    may be stopped by then. NotRestarted: it does not answer in time. ProfileSilent: the profile names no command.
    """
    within = profile.restart.within_seconds
    until = time.monotonic() + within
    (restarter or _by_command(profile, pause))(how, within)
    trouble = _awaited(profile, base_url, until, 1 if restarter else STEADY, pause)
    if trouble:
        raise NotRestarted(f"a node that answers within {within:g} s of its restart", trouble)


def _by_command(profile: Profile, pause: Callable[[float], None]) -> Restarter:
    commands = profile.restart
    if commands.command is None or not profile.offers("restart"):
        raise ProfileSilent("a profile that says restart.command", "a profile that leaves it out")
    ordinary = commands.command

    def run(how: How, within: float) -> None:
        _run(commands.kill_command or ordinary if how == "kill" else ordinary, profile, within, pause)

    return run


def _run(command: tuple[str, ...], profile: Profile, within: float, pause: Callable[[float], None]) -> None:
    """Run a command to its end. A node that it starts may keep its output open, so that goes to a file.

    It gets all variables but the key of the wallet with ether, which is the suite's: a node outlives its restart.
    """
    given = {name: value for name, value in os.environ.items() if name != profile.chain.funder_key_variable}
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(  # noqa: S603 - the vendor's own command
                command,
                cwd=profile.folder,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C must not end the node that it starts
            )
        except OSError as problem:
            raise NotRestarted(f"that {command[0]} restarts the node", f"it cannot be run: {problem}") from problem
        _running.add(process)
        until = time.monotonic() + within
        while (code := process.poll()) is None:
            if time.monotonic() > until:
                process.kill()  # and nothing that it started, which may be the node
                process.wait()
                _running.discard(process)
                raise NotRestarted(f"that {command[0]} ends within {within:g} s", "it had to be killed")
            pause(LOOKED_AT_EVERY)
        _running.discard(process)
        if code:
            output.seek(0)
            said = " ".join(output.read().decode("utf-8", "replace").split())[-SHOWN:]
            raise NotRestarted(f"that {command[0]} ends with status 0", f"status {code}: {said or 'it said nothing'}")


def _awaited(profile: Profile, base_url: str, until: float, answers: int, pause: Callable[[float], None]) -> str:
    """Wait until the node gives so many answers in a row; why it does not, when the time is over."""
    left = answers
    with http_client(LONGEST_ANSWER, 0, profile.trusted_file) as http:
        while True:
            trouble = _trouble(http, f"{base_url}{CORE}/get_node_chain_config")
            left = answers if trouble else left - 1
            if not left or (trouble and time.monotonic() + ASKED_EVERY > until):
                return trouble
            pause(ASKED_EVERY)


def _trouble(http: httpx.Client, url: str) -> str:
    try:
        with exchange_within(LONGEST_ANSWER):
            status = http.get(url).status_code
    except httpx.HTTPError as problem:
        return f"{type(problem).__name__}: {problem}"
    return f"status {status}" if status >= 500 else ""
