"""The node's side of the warm process, which starts with the first run and forks a process for each run."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reference_node.sandbox.frames import PROCESS
from reference_node.sandbox.limits import Limits
from reference_node.sandbox.outcome import SandboxBroken, SandboxUnavailable
from reference_node.sandbox.use import Scheduled
from reference_node.sandbox.zygote import REPORT_BYTES, Preparation, Report

START_SECONDS = 30.0
"""How long the warm process may take to become ready, and a process forked from it to show up."""

DEATH_SECONDS = 0.5
"""How long the death of the warm process may take to show after that of a forked one."""

LONG_RUN_NICENESS = 5
"""How far a run that computes for long is behind short ones: these come first, and it gets on beside other programs."""

SPARES = 4
"""Processes forked ahead of the runs that will use them."""


@dataclass(eq=False)
class Forked:
    """A process that waits for code, with a handle (pidfd) that can't refer to another process."""

    connection: socket.socket
    handle: int
    process: int
    _statistics: int | None = field(init=False, default=None)
    _scheduled: Scheduled = field(init=False, default=Scheduled(0.0, 0.0))

    def __post_init__(self) -> None:
        with contextlib.suppress(OSError):  # a kernel without statistics of its scheduler
            self._statistics = os.open(f"/proc/{self.process}/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def scheduled(self) -> Scheduled:
        """The scheduler's statistics of the process; the last known ones once it has ended."""
        if self._statistics is not None:
            with contextlib.suppress(OSError, ValueError):
                computed, delayed = os.pread(self._statistics, 100, 0).split()[:2]
                self._scheduled = Scheduled(int(computed) / 1e9, int(delayed) / 1e9)
        return self._scheduled

    def step_behind(self) -> None:
        """Lower the priority of the process."""
        with contextlib.suppress(OSError):  # it has ended, or the kernel won't
            behind = os.getpriority(os.PRIO_PROCESS, self.process) + LONG_RUN_NICENESS
            os.setpriority(os.PRIO_PROCESS, self.process, behind)

    def close(self) -> None:
        """Kill the process and release its handle."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        os.close(self.handle)
        if self._statistics is not None:
            os.close(self._statistics)
        self.connection.close()


class Zygote:
    """A running warm process."""

    def __init__(self, title: str, limits: Limits, preload: Sequence[tuple[str, str]]) -> None:
        self._lock = threading.Lock()
        self._spares: deque[socket.socket] = deque()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = _start(theirs.fileno())
            except OSError as fault:
                self._control.close()
                raise SandboxUnavailable(f"{sys.executable} can't be run: {fault.strerror}") from None
        preparation: Preparation = {"title": title, "limits": dataclasses.asdict(limits), "preload": list(preload)}
        try:
            self.report = self._prepare(json.dumps(preparation).encode())
        except BaseException:
            self.close()
            raise

    @property
    def process_id(self) -> int:
        """The id of the warm process."""
        return self._process.pid

    def gone(self, within: float = 0.0) -> bool:
        """Whether the process has ended, or does within this time.

        A process that it has just forked may hold its end of the control connection for a moment longer.
        """
        poll = select.poll()
        with self._lock:
            if self._control.fileno() < 0:
                return True
            poll.register(self._control, 0)  # hang-ups are always reported
        return bool(poll.poll(within * 1000)) or self._process.poll() is not None

    def take(self) -> Forked:
        """A process for one run. Raises `SandboxBroken`."""
        with self._lock:
            connection = self._spares.popleft() if self._spares else self._fork()
        connection.settimeout(START_SECONDS)
        try:
            message, descriptors, _, _ = socket.recv_fds(connection, PROCESS.size, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            message, descriptors = b"", []
        if not descriptors:
            connection.close()
            raise SandboxBroken("the warm process forked none for this run")
        return Forked(connection, descriptors[0], *PROCESS.unpack(message))

    def replenish(self) -> None:
        """Fork spares for the next runs."""
        with self._lock, contextlib.suppress(SandboxBroken):
            while len(self._spares) < SPARES:
                self._spares.append(self._fork())

    def close(self) -> None:
        """End the process and every run with it."""
        with self._lock:
            for spare in self._spares:
                spare.close()
            self._spares.clear()
            self._control.close()
        self._process.kill()
        self._process.wait()

    def _fork(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"."], [theirs.fileno()])
            except OSError as fault:
                ours.close()
                raise SandboxBroken("the warm process is gone") from fault
        return ours

    def _prepare(self, preparation: bytes) -> Report:
        assert self._process.stdin is not None  # noqa: S101 - a pipe, see _start
        try:
            with self._process.stdin as pipe:
                pipe.write(preparation)
            self._control.settimeout(START_SECONDS)
            answer = self._control.recv(REPORT_BYTES)
        except TimeoutError:
            raise SandboxUnavailable(f"the sandbox was not ready within {START_SECONDS:g} s") from None
        except OSError as fault:
            raise SandboxBroken("the warm process does not start") from fault
        if not answer:
            raise SandboxBroken("the warm process ended before it was ready")
        report: Report = json.loads(answer)
        if report["fault"] is not None:
            raise SandboxUnavailable(report["fault"])
        return report


def _start(control: int) -> subprocess.Popen[bytes]:
    """Start an interpreter with an empty environment and this interpreter's module path."""
    path = [*filter(None, sys.path), str(Path(__file__).resolve().parents[2])]
    program = f"import sys; sys.path[:] = {path!r}; from reference_node.sandbox.zygote import main; main()"
    return subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-I", "-S", "-c", program, str(control)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(control,),
        env={},
        cwd="/",
        start_new_session=True,  # an interrupt at the terminal is for the node
    )
