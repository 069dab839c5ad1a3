"""Runs the bundled node as a separate process on a free port, and stops it at the end.

Each process of a run gets its own node, since cases on one node would wait for each other.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from conformance.endpoints.parent import end_with_parent
from conformance.endpoints.restart import How
from conformance.problems import NodeNotInstalled, NodeNotStarted, NotRestarted

START_SECONDS = 180.0
STOP_SECONDS = 1.0
"""A node in the midst of a long run ends later by itself, and nobody waits for its answer: it is killed then."""
STARTER_CENTS = 1_000_000
"""Starter credits of new accounts, since management writes cost credit."""

DOMAIN = "node.example"
"""The domain of its certificate. It serves HTTPS beside HTTP for the attestation rules about connections."""


NEEDED = frozenset({"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SYSTEMROOT"})
NEEDED_BEGINNINGS = ("LC_", "LD_", "DYLD_", "PYTHON", "COVERAGE_")

NODE_MODULE = "eth"
"""A module of py-evm, the node's chain, which the extra `node` installs."""


def require_node(purpose: str) -> None:
    """Raise NodeNotInstalled, naming the purpose, if the suite is installed without the node."""
    if find_spec(NODE_MODULE) is None:
        raise NodeNotInstalled(f"{purpose}: pip install 'service-conformance[node]'")


def environment_of_nodes() -> dict[str, str]:
    """The variables of a node that the suite starts: what Python needs, and none that may hold a key of the user."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in NEEDED or name.upper().startswith(NEEDED_BEGINNINGS)
    }


class BundledNode:
    """A reference node that lives as long as the run.

    With `keeps` its accounts outlast its process, so that it can be restarted.
    """

    def __init__(self, *, keeps: bool = False) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-node-")
        folder = Path(self._folder.name)
        self.ready_file = folder / "ready.json"
        """Its addresses and profile, for `conformance.profile.load_ready_file`."""
        self._log = folder / "node.log"
        self._kept = ["--state", str(folder / "state")] if keeps else []
        self._process = self._started(Ports())

    def _started(self, ports: Ports) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "reference_node", "serve", "--host", "127.0.0.1", "--control"]
        command += ["--starter-credits", str(STARTER_CENTS), "--ready-file", str(self.ready_file), *self._kept]
        command += ["--tls-domain", DOMAIN, *ports.options]
        self._told_to_end = False
        is_main = threading.current_thread() is threading.main_thread()  # another one may end before the node
        with self._log.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own module
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment_of_nodes(),
                start_new_session=True,  # Ctrl-C must not end the node while a case that it interrupts still runs
                preexec_fn=end_with_parent if is_main else None,  # noqa: PLW1509 - it calls the kernel alone
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until the node answers. Raises NodeNotStarted, with the end of its output, if it does not start."""
        trouble = self._awaited(seconds)
        if trouble:
            self.stop()
            raise NodeNotStarted(f"the bundled node {trouble}")

    def _awaited(self, seconds: float) -> str:
        """Wait until the node answers; what became of it where it does not."""
        until = time.monotonic() + seconds
        while not self.ready_file.exists():
            if self._process.poll() is not None:
                return f"ended with status {self._process.returncode}: {self._last_words()}"
            if time.monotonic() > until:
                return f"was not ready within {seconds:.0f} s"
            time.sleep(0.02)
        return ""

    def restart(self, how: How, within: float) -> None:
        """End the node and start it again at the same addresses. Raises NotRestarted.

        The new one ends with the process that calls this: of several that judge nodes, the one that judges this node.
        It gets as long as for its first start, whatever a profile says: this machine may be busy with the suite.
        """
        within = max(within, START_SECONDS)
        until = time.monotonic() + within
        ports = Ports.of(self.ready_file)
        if not _ended(self.pid, signal.SIGKILL if how == "kill" else signal.SIGTERM, within):
            raise NotRestarted(f"a bundled node that ends within {within:g} s", "it was still there")
        self._process.wait()
        self.ready_file.unlink(missing_ok=True)
        self._process = self._started(ports)
        if trouble := self._awaited(until - time.monotonic()):
            raise NotRestarted("a bundled node that starts again", f"it {trouble}")

    def terminate(self) -> None:
        """Tell the process once to end, without waiting for it: a second signal would break off its ending."""
        if not self._told_to_end and self._process.poll() is None:
            self._told_to_end = True
            self._process.terminate()

    def stop(self) -> None:
        """End the process. Does nothing when it has ended."""
        if self._process.poll() is None:
            self.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


@dataclass(frozen=True)
class Ports:
    """Where a bundled node listens; 0: at a free port."""

    http: int = 0
    https: int = 0
    dns: int = 0

    @property
    def options(self) -> list[str]:
        """The same as options of the node's command."""
        return ["--port", str(self.http), "--tls-port", str(self.https), "--dns-port", str(self.dns)]

    @classmethod
    def of(cls, ready_file: Path) -> Self:
        """Those of a node, by its ready file."""
        ready = json.loads(ready_file.read_text(encoding="utf-8"))
        resolver = f"//{ready['profile']['attestation']['resolver']}"
        return cls(*(urlsplit(url).port or 0 for url in (ready["base_url"], ready["https_url"], resolver)))


def _ended(pid: int, number: int, seconds: float) -> bool:
    """Send a signal to a process, which need not be a child of this one; whether it ends within the time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        signal.pidfd_send_signal(descriptor, number)
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


class BundledNodes:
    """The bundled nodes of a run, one for each process that runs cases. They start at the same time."""

    def __init__(self, number: int) -> None:
        """Raises NodeNotInstalled."""
        require_node("run without --profile or --node-url starts the bundled node")
        self.all = [BundledNode(keeps=True) for _ in range(number)]

    def wait_until_ready(self) -> None:
        """Wait until all nodes answer. If one does not start, stop all and raise NodeNotStarted."""
        try:
            for node in self.all:
                node.wait_until_ready()
        except NodeNotStarted:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all nodes, side by side."""
        for node in self.all:
            node.terminate()
        for node in self.all:
            node.stop()
