"""Records what breaks inside a served node: exceptions that no code handled, and answers with status 5xx."""

from __future__ import annotations

import logging
import traceback
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGGERS = ("reference_node", "uvicorn.error", "asyncio")
"""Loggers to which the node, its server and the event loop report exceptions that they catch last."""

PLANTED = "/conformance/selftest/"
"""Part of the path of every file with planted code."""

MESSAGE_LENGTH = 200
"""How many characters of an exception's message are told."""


class ServerFaults(logging.Handler):
    """The faults of one served node, oldest first; several threads may add to it."""

    def __init__(self) -> None:
        super().__init__()
        self._guard = Lock()
        self._faults: list[str] = []

    @property
    def told(self) -> tuple[str, ...]:
        """One line for each fault: the exception and where it was raised, or the request and the status."""
        return tuple(self._faults)

    def emit(self, record: logging.LogRecord) -> None:
        """Record the exception of a log record. One without is no fault, nor is a request that a restart cuts off."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, CancelledError):
            self._add(_line(error))

    def watch(self, app: ASGIApp) -> ASGIApp:
        """The application, its answers with status 5xx recorded, but 503 with Retry-After: it is others' fault."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_fault(message):
                    self._add(f"{scope['method']} {scope['path']} was answered with {message['status']}")
                await send(message)

            await app(scope, receive, noting)

        return watched

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the records of the node's loggers, and keep them off standard error."""
        loggers = [logging.getLogger(name) for name in LOGGERS]
        before = [(logger.handlers, logger.propagate) for logger in loggers]
        for logger in loggers:
            logger.handlers, logger.propagate = [self], False
        try:
            yield
        finally:
            for logger, (handlers, propagate) in zip(loggers, before, strict=True):
                logger.handlers, logger.propagate = handlers, propagate

    def _add(self, fault: str) -> None:
        with self._guard:
            self._faults.append(fault)


def _is_fault(start: Message) -> bool:
    status = start["status"]
    return status >= 500 and not (status == 503 and b"retry-after" in {name.lower() for name, _ in start["headers"]})


def _line(error: BaseException) -> str:
    """The exception, and where planted code raised it; where none is involved, where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    planted = [frame for frame in frames if PLANTED in frame.filename]
    told = f"{type(error).__name__}: {' '.join(str(error).split())[:MESSAGE_LENGTH]}"
    return "".join([told, *(f" at {Path(frame.filename).name}:{frame.lineno}" for frame in (planted or frames)[-1:])])
