"""The process of one run, from its fork to its end."""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import time
from dataclasses import dataclass
from typing import NoReturn

from reference_node.sandbox.engine import Engine, ScriptError, out_of_memory
from reference_node.sandbox.frames import HEADER, PROCESS, Kind, frame
from reference_node.sandbox.limits import Limits
from reference_node.sandbox.lockdown import CONNECTION, Lockdown, drop_rights

LONGEST_WAIT_SECONDS = 3600.0


class Connection:
    """The run's side of the connection to the node. When it closes, the process ends."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def open(self, connected: socket.socket) -> None:
        """Begin to use a socket; until then nothing is sent."""
        self._socket = connected

    def send(self, kind: str, text: str) -> None:
        """Send a frame. The engine calls it too, so it must not raise."""
        if self._socket is None:
            return
        try:
            self._socket.sendall(frame(Kind[kind], text.encode("utf-8", "replace")))
        except (OSError, MemoryError):
            os._exit(1)

    def receive(self) -> str:
        """The text of the next frame."""
        size, _ = HEADER.unpack(self._exactly(HEADER.size))
        return self._exactly(size).decode()

    def wait(self, seconds: float | None) -> bool:
        """Whether a frame arrives within this time."""
        poll = select.poll()
        poll.register(CONNECTION, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1000))

    def linger(self) -> None:
        """Wait for the node to close the connection; until then it can read the process's statistics."""
        assert self._socket is not None  # noqa: S101 - opened before any code runs
        while self._socket.recv(4096):
            pass

    def _exactly(self, size: int) -> bytes:
        assert self._socket is not None  # noqa: S101 - opened before any code runs
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return bytes(data)


@dataclass(frozen=True)
class Birth:
    """What the warm process passes to a run's process at the fork."""

    parent: int
    """The id of the warm process, with which the run's process dies."""
    inherited: int
    """The descriptor of the run's socket."""


def run(engine: Engine, connection: Connection, limits: Limits, lockdown: Lockdown, birth: Birth) -> NoReturn:
    """Run as the process of one run."""
    status = 1
    try:
        gc.disable()
        _enter(connection, lockdown, birth)
        _answer(engine, connection, limits)
        connection.linger()
        status = 0
    finally:
        os._exit(status)


def _enter(connection: Connection, lockdown: Lockdown, birth: Birth) -> None:
    """Send the node a handle to kill this process with, and lock the process down."""
    drop_rights(birth.parent)
    os.dup2(birth.inherited, CONNECTION)
    os.closerange(CONNECTION + 1, os.sysconf("SC_OPEN_MAX"))
    connected = socket.socket(fileno=CONNECTION)
    process = os.getpid()
    handle = os.pidfd_open(process)
    socket.send_fds(connected, [PROCESS.pack(process)], [handle])
    os.close(handle)
    lockdown.put_on()
    connection.open(connected)


def _answer(engine: Engine, connection: Connection, limits: Limits) -> None:
    exhausted = out_of_memory(limits)
    try:
        parameters, code = connection.receive(), connection.receive()
        connection.send("BEGUN", "")
        engine.evaluate(code)
        engine.ask("start", parameters)
        _go_on(engine, connection)
    except ScriptError as error:
        connection.send("ERROR", json.dumps(str(error)[: limits.error_bytes]))
    except MemoryError:
        connection.send("ERROR", json.dumps(exhausted))


def _go_on(engine: Engine, connection: Connection) -> None:
    """Serve promises, timers and host calls until main has settled."""
    engine.work()
    while not engine.ask("settled"):
        delay, calls = engine.ask("delay"), engine.ask("waiting")
        assert isinstance(delay, (int, float))  # noqa: S101 - from our own JavaScript
        if delay < 0 and not calls:
            raise ScriptError(engine.never_settles())
        seconds = min(delay / 1000, LONGEST_WAIT_SECONDS) if delay >= 0 else None
        if calls and connection.wait(seconds):
            engine.ask("answer", connection.receive())
        else:
            time.sleep(seconds or 0)
            engine.ask("fire")
        engine.work()
