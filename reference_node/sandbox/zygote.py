"""The warm process from which runs are forked. It holds no secrets, neither in its environment nor in memory.

Its standard input says how to prepare; the descriptor in its argument brings one socket for each process to fork.
When the other end of that closes, so does this process, and every run with it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
import time
from typing import TypedDict

from reference_node.sandbox.engine import Engine, ScriptError
from reference_node.sandbox.limits import Limits
from reference_node.sandbox.lockdown import Filter, Lockdown, NoSeccomp, build_filter, rehearse, resource_bounds
from reference_node.sandbox.worker import Birth, Connection, run

FAULT_LENGTH = 2000

REPORT_BYTES = 16 * 1024

RUN_NICENESS = 5
"""How far every run is behind the node: many that begin at once would hold up its answers."""


class Preparation(TypedDict):
    """The message that the process reads from standard input."""

    title: str
    limits: dict[str, float]
    preload: list[tuple[str, str]]
    """Name and text of each file."""


class Report(TypedDict):
    """The process's answer once it is warm."""

    no_seccomp: str | None
    fault: str | None


def main() -> None:
    """Prepare the engine, report to the node, and fork a process for each request."""
    os.environ["TZ"] = "UTC0"  # the same time zone for scripts on every machine
    time.tzset()
    control = socket.socket(fileno=int(sys.argv[1]))
    preparation: Preparation = json.load(sys.stdin)
    limits = Limits(**preparation["limits"])  # type: ignore[arg-type] # as the node wrote them
    connection = Connection()
    engine = Engine(preparation["title"], limits, connection.send)
    fault = _preload(engine, preparation["preload"])
    lock, missing = _lock()
    engine.seal()
    os.nice(RUN_NICENESS)
    lockdown = Lockdown(resource_bounds(limits), lock)
    report: Report = {"no_seccomp": missing, "fault": fault or rehearse(lockdown)}
    control.send(json.dumps(report).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps child processes
    gc.collect()
    gc.freeze()
    _serve(control, engine, connection, limits, lockdown)


def _preload(engine: Engine, files: list[tuple[str, str]]) -> str | None:
    for name, text in files:
        try:
            engine.evaluate(text)
            engine.work()
        except ScriptError as error:
            return f"{name} can't be preloaded: {error}"[:FAULT_LENGTH]
    return None


def _lock() -> tuple[Filter | None, str | None]:
    try:
        return build_filter(), None
    except NoSeccomp as fault:
        return None, str(fault)


def _serve(control: socket.socket, engine: Engine, connection: Connection, limits: Limits, lockdown: Lockdown) -> None:
    process = os.getpid()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        for descriptor in descriptors:
            with contextlib.suppress(OSError):  # if the fork fails, the node sees the connection close
                if os.fork() == 0:
                    run(engine, connection, limits, lockdown, Birth(process, descriptor))
            os.close(descriptor)


if __name__ == "__main__":
    main()
