"""The HTTPS listener: handshakes are few and short, so that silent clients keep nobody from the node."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable

MOST_HANDSHAKES = 128
"""Handshakes at once; the one that began first makes room for another."""

HANDSHAKE_SECONDS = 10.0
"""How long a client may take for its part of a handshake."""

PAUSE_SECONDS = 0.2
"""How long nothing is accepted where the system gives the process no more files."""


class HttpsListener:
    """Accepts TLS connections until it is closed."""

    def __init__(
        self, listening: socket.socket, context: ssl.SSLContext, protocol: Callable[[], asyncio.Protocol]
    ) -> None:
        self._listening = listening
        self._context = context
        self._protocol = protocol
        self._handshakes: dict[asyncio.Task[None], None] = {}
        self._accepting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to accept."""
        self._listening.setblocking(False)
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Accept no more, and end the handshakes under way. Connections stay."""
        if self._accepting is not None:
            self._accepting.cancel()
        for handshake in self._handshakes:
            handshake.cancel()
        self._listening.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(self._listening)
            except OSError:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if len(self._handshakes) >= MOST_HANDSHAKES:
                next(iter(self._handshakes)).cancel()
            handshake = loop.create_task(self._shake_hands(client))
            self._handshakes[handshake] = None
            handshake.add_done_callback(self._handshakes.pop)
            await asyncio.sleep(0)  # what is ready to be accepted does not suspend this coroutine

    async def _shake_hands(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):  # of a client that speaks no TLS, is slow, or leaves
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol, client, ssl=self._context, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
