"""The node's listening sockets, bound before anything else starts."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from reference_node.serving.listening import listen, not_listening
from reference_node.settings import Settings
from reference_node.tee.dns_server import DnsSockets, bind_dns


@dataclass(frozen=True)
class NodeSockets:
    """The bound sockets. As a context manager it closes them."""

    http: socket.socket
    https: socket.socket | None
    dns: DnsSockets | None
    stripe: socket.socket | None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all sockets."""
        for listening in (self.http, self.https, self.dns, self.stripe):
            if listening is not None:
                listening.close()


def bind(settings: Settings) -> NodeSockets:
    """Bind the sockets that the settings ask for. Raises `ServingError`."""
    with ExitStack() as bound:
        http = bound.enter_context(listen(settings.host, settings.port))
        https = bound.enter_context(listen(settings.host, settings.tls_port, "--tls-port")) if settings.tls else None
        sells = settings.payments == "simulator"
        stripe = bound.enter_context(listen(settings.host, settings.stripe_port, "--stripe-port")) if sells else None
        dns = None if settings.dns_port is None else _bind_dns(settings.host, settings.dns_port)
        bound.pop_all()
    return NodeSockets(http, https, dns, stripe)


def _bind_dns(host: str, port: int) -> DnsSockets:
    try:
        return bind_dns(host, port)
    except OSError as fault:
        raise not_listening(fault, f"{host}:{port}", "--dns-port") from None
