"""Frames over a socket with an untrusted peer: frames may be too long, slow or incomplete, and it may not read."""

from __future__ import annotations

import select
import socket
import time

from reference_node.sandbox.frames import HEADER, Kind, frame

PIECE_BYTES = 64 * 1024


class Violation(Exception):  # noqa: N818 - of a rule; the run ends, nothing failed
    """The peer sent something that an honest run never sends."""


class TimeUp(Exception):  # noqa: N818 - part of every slow run
    """No complete frame arrived in time."""


class Stream:
    """Buffers frames to send in memory until the peer reads, so that the two can't deadlock."""

    def __init__(self, connected: socket.socket, frame_bytes: int) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._frame_bytes = frame_bytes
        self._received = bytearray()
        self.total = 0
        """Bytes received so far."""
        self._outgoing = bytearray()
        self._poll = select.poll()
        self._poll.register(connected, select.POLLIN)

    def send(self, kind: Kind, text: str) -> None:
        """Send what the socket takes now and buffer the rest."""
        self._outgoing += frame(kind, text.encode())
        self._flush()

    def receive(self, deadline: float) -> tuple[Kind, bytes]:
        """The next frame. Raises `TimeUp` at the deadline (monotonic), `Violation`, `EOFError`."""
        while (arrived := self._whole_frame()) is None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeUp
            self._poll.modify(self._socket, select.POLLIN | (select.POLLOUT if self._outgoing else 0))
            self._poll.poll(remaining * 1000)
            self._flush()
            self._read()
        return arrived

    def _flush(self) -> None:
        try:
            while self._outgoing:
                del self._outgoing[: self._socket.send(self._outgoing)]
        except BlockingIOError:
            pass
        except OSError:  # the peer is gone; the next read reports it
            self._outgoing.clear()

    def _read(self) -> None:
        try:
            piece = self._socket.recv(PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            raise EOFError
        self._received += piece
        self.total += len(piece)

    def _whole_frame(self) -> tuple[Kind, bytes] | None:
        if len(self._received) < HEADER.size:
            return None
        size, kind = HEADER.unpack_from(self._received)
        if size > self._frame_bytes:
            raise Violation("a frame that is too long")
        if len(self._received) < HEADER.size + size:
            return None
        payload = bytes(self._received[HEADER.size : HEADER.size + size])
        del self._received[: HEADER.size + size]
        try:
            return Kind(kind), payload
        except ValueError:
            raise Violation("a frame of no known kind") from None
