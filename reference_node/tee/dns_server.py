"""The simulated DNS on its sockets: UDP, and TCP for answers that do not fit (RFC 7766)."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from reference_node.tee.dns import Zone, respond

IDLE_SECONDS = 10.0
"""How long a TCP client may keep a message waiting."""

TCP_CLIENTS = 64
"""TCP connections at once; further ones are closed."""

ATTEMPTS = 20
"""How many free UDP ports are tried until one is free for TCP as well."""


@dataclass(frozen=True)
class DnsSockets:
    """The two sockets, bound to the same port."""

    udp: socket.socket
    tcp: socket.socket

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, port = self.udp.getsockname()[:2]
        return host, port

    def close(self) -> None:
        """Close both."""
        self.udp.close()
        self.tcp.close()


def bind_dns(host: str, port: int) -> DnsSockets:
    """Sockets at this address; port 0 takes one that is free for both. Raises `OSError`."""
    for attempt in range(ATTEMPTS):
        try:
            return _bind(host, port)
        except OSError as fault:
            if port or fault.errno != errno.EADDRINUSE or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _bind(host: str, port: int) -> DnsSockets:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sockets = DnsSockets(
        socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    )
    try:
        sockets.udp.bind((host, port))
        sockets.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sockets.tcp.bind(sockets.address)
    except OSError:
        sockets.close()
        raise
    sockets.udp.setblocking(False)
    return sockets


class DnsServer:
    """Answers on both sockets from the zone of the moment, until it is closed."""

    def __init__(self, zone: Callable[[], Zone]) -> None:
        self._zone = zone
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None
        self._tcp_clients = 0

    async def start(self, sockets: DnsSockets) -> None:
        """Begin to answer."""
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self._zone), sock=sockets.udp)
        self._tcp = await asyncio.start_server(self._converse, sock=sockets.tcp)

    def close(self) -> None:
        """Answer no more."""
        if self._udp is not None:
            self._udp.close()
        if self._tcp is not None:
            self._tcp.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the messages of one TCP connection, each behind its length in two bytes."""
        self._tcp_clients += 1
        try:
            if self._tcp_clients > TCP_CLIENTS:
                return
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    size = int.from_bytes(await reader.readexactly(2))
                    wire = await reader.readexactly(size)
                answer = respond(self._zone(), wire, tcp=True)
                if answer is None:
                    return
                writer.write(len(answer).to_bytes(2) + answer)
                async with asyncio.timeout(IDLE_SECONDS):
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            return
        finally:
            self._tcp_clients -= 1
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    """Answers each datagram by one."""

    def __init__(self, zone: Callable[[], Zone]) -> None:
        self._zone = zone
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember what answers go through."""
        self._transport = cast("asyncio.DatagramTransport", transport)  # Python 3.11 does not make it an instance

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a message."""
        answer = respond(self._zone(), data, tcp=False)
        if answer is not None and self._transport is not None:
            self._transport.sendto(answer, addr)
