"""The HTTPS listener. It limits the number and duration of handshakes, so that silent clients do not block others."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable

MOST_HANDSHAKES = 128
"""The most parallel handshakes. At the limit the oldest is dropped for a new one."""

HANDSHAKE_SECONDS = 10.0
"""Seconds in which a client has to complete its part of a handshake."""

PAUSE_SECONDS = 0.2
"""Seconds to pause when the process has no free file descriptors."""


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
        """Stop accepting, and end the handshakes under way. Open connections stay."""
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
            await asyncio.sleep(0)  # a waiting connection is accepted without suspending this coroutine

    async def _shake_hands(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the client does not speak TLS, is too slow, or has left
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol, client, ssl=self._context, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
