"""The sockets that a node listens at, bound before anything else starts."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from reference_node.settings import Settings
from reference_node.tee.dns_server import DnsSockets, bind_dns

BACKLOG = 2048


class ServingError(Exception):
    """The node can't start; the message is one line that says why and what to do."""


@dataclass(frozen=True)
class Listening:
    """Sockets that are bound, and closed at the end."""

    http: socket.socket
    https: socket.socket | None
    dns: DnsSockets | None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all of them."""
        for listening in (self.http, self.https, self.dns):
            if listening is not None:
                listening.close()


def listen(settings: Settings) -> Listening:
    """Sockets that listen where the settings say. Raises `ServingError`."""
    with ExitStack() as bound:
        http = bound.enter_context(_listen(settings.host, settings.port, "--port"))
        https = bound.enter_context(_listen(settings.host, settings.tls_port, "--tls-port")) if settings.tls else None
        dns = None if settings.dns_port is None else _listen_for_dns(settings.host, settings.dns_port)
        bound.pop_all()
    return Listening(http, https, dns)


def reachable(listening: socket.socket) -> str:
    """`host:port` at which programs on this machine reach the socket."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listen(host: str, port: int, option: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it every answer takes 40 ms
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as fault:
        listening.close()
        raise _not_listening(fault, f"{host}:{port}", option) from None
    return listening


def _listen_for_dns(host: str, port: int) -> DnsSockets:
    try:
        return bind_dns(host, port)
    except OSError as fault:
        raise _not_listening(fault, f"{host}:{port}", "--dns-port") from None


def _not_listening(fault: OSError, where: str, option: str) -> ServingError:
    if fault.errno == errno.EADDRINUSE:
        return ServingError(f"{where} is in use: stop what listens there, or choose another {option} (0: any)")
    return ServingError(f"can't listen at {where}: {fault.strerror or fault}")
