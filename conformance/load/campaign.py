"""Starts the processes of a load campaign. Locust's import must come first, so each process starts afresh."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from pydantic import TypeAdapter

from conformance.endpoints.bundled import BundledNode, require_node
from conformance.problems import Problem
from conformance.profile import load_profile
from conformance.report import ExitCode
from conformance.run.options import Options

MASTER_PORT = 5557
"""Locust's own default."""


class NoLocust(Problem):
    """The extra that a campaign needs is not installed."""

    code = "no-locust"
    cause = "Locust is not installed"
    hint = 'pip install "service-conformance[load]"'


class Role(StrEnum):
    """The role of a process."""

    ALL = "all"
    """It runs users itself, or starts workers."""
    MASTER = "master"
    """Its workers are started by others."""
    WORKER = "worker"


@dataclass(frozen=True)
class Campaign:
    """The order that a Locust process gets."""

    options: Options = field(default_factory=Options)
    role: Role = Role.ALL
    users: int = 1
    seconds: float = 60.0
    workers: int = 0
    """How many processes run the users; 0: this process alone."""
    host: str = "127.0.0.1"
    """Where the master listens."""
    port: int = MASTER_PORT
    """0: any free port."""
    seed: str = ""
    ready_file: Path | None = None
    """The ready file of the bundled node, where there is one."""
    node_pid: int | None = None
    """The process of the bundled node, whose memory is measured; None: there is none, or chaos ends it."""
    until_flip: bool = False
    """Whether to stop at the first case that passes alone and fails under load."""
    chaos: bool = False
    """Whether the node, which the campaign starts, is killed, stopped and cut off meanwhile."""
    folder: Path | None = None
    """With `chaos`: an empty folder for the node's files. This process removes it, as does the one that made it."""
    program: tuple[str, ...] = ()
    """With `chaos`: the command line of the node, without `serve`; empty: the bundled node's."""


CAMPAIGN: TypeAdapter[Campaign] = TypeAdapter(Campaign)
"""A process gets its campaign as JSON on standard input, since a URL may contain a password."""


def run_campaign(campaign: Campaign, *, quiet: bool = False) -> int:
    """Run a campaign and return its exit code. `quiet` leaves out its terminal output.

    Raises LoadProblem, NoLocust, NodeNotInstalled and NodeNotStarted.
    """
    if find_spec("locust") is None:
        raise NoLocust(f"{NoLocust.cause}: {NoLocust.hint}")
    options = campaign.options
    profile = load_profile(options.profile) if options.profile else None
    bundled = options.node_url is None and (profile is None or profile.base_url is None) and not campaign.ready_file
    if bundled:
        require_node("load without --profile or --node-url starts the bundled node")
    starts_here = bundled and not campaign.chaos  # a node that is killed over and over is the other process's
    node: AbstractContextManager[BundledNode | None] = BundledNode() if starts_here else nullcontext()
    with node as started, TemporaryDirectory(prefix="conformance-load-", ignore_cleanup_errors=True) as folder:
        campaign = replace(campaign, folder=Path(folder))
        if started is not None:
            started.wait_until_ready()
            campaign = replace(campaign, ready_file=started.ready_file, node_pid=started.pid)
        return _wait_for(start_process(campaign, quiet=quiet))


def start_process(campaign: Campaign, *, quiet: bool = False) -> subprocess.Popen[bytes]:
    """Start one of Locust's processes."""
    command = [sys.executable, "-m", "conformance.load"]
    output = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output)  # noqa: S603 - our own module
    with process.stdin or nullcontext() as stdin:
        if stdin is not None:
            stdin.write(CAMPAIGN.dump_json(campaign))
    return process


def _wait_for(process: subprocess.Popen[bytes]) -> int:
    """Wait until it ends. Signals are passed on to it: users finish their cases, and results are written."""

    def pass_on(_number: int, _frame: FrameType | None) -> None:
        process.terminate()

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else ExitCode.INTERRUPTED
