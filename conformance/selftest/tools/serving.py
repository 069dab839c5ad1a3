"""Serves nodes of the self-test on a free port of the loopback, in a thread of this process."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Thread

import uvicorn
from pydantic import JsonValue
from starlette.types import ASGIApp

from conformance.endpoints.client import Target
from conformance.profile import Profile
from conformance.profile.load import with_addresses
from conformance.selftest.tools.server_faults import ServerFaults
from conformance.selftest.variants.variant import merged
from reference_node.assembly import build_node
from reference_node.node import Node
from reference_node.server import NodeServer, describe
from reference_node.settings import Settings
from reference_node.sockets import bind

STARTER_CREDITS = 10**6
"""Cents of each new account: no case comes near it."""

DOMAIN = "node.example"
"""Of the certificates: every node of the self-test offers HTTPS and DNS, as the bundled one does."""

CLAIMED = (
    "managed_accounts",
    "openapi",
    "chain_rpc",
    "clock_control",
    "credit_control",
    "funded_wallet",
    "billing",
    "payment_sandbox",
    "design_flows",
    "wallet_signed",
    "attestation",
)
"""What a sham claims to offer: as much as the reference node, so that no case is left out."""

START_SECONDS = 20.0

TICK_SECONDS = 1.0
"""How often the server sets its clock, which answers carry in `Date`."""


@contextmanager
def target_node(
    alter: Callable[[Node], None],
    seed: str,
    profile: dict[str, JsonValue] | None = None,
    faults: ServerFaults | None = None,
) -> Iterator[Target]:
    """Serve a freshly built reference node, altered.

    `profile` is what the node says beside the reference node's profile; `faults` records what breaks inside the node.
    """
    with served_node(alter, faults) as ready:
        yield from _target(merged(ready, {"profile": profile or {}}), seed)


@contextmanager
def served_node(alter: Callable[[Node], None], faults: ServerFaults | None = None) -> Iterator[dict[str, JsonValue]]:
    """Serve a freshly built reference node, altered; what its ready file would hold."""
    settings = Settings(
        port=0, control=True, starter_credits=STARTER_CREDITS, tls_domain=DOMAIN, tls_port=0, dns_port=0
    )
    node = build_node(settings)
    alter(node)
    with (
        closing(node),
        bind(settings) as listening,
        _serving(QuickNodeServer(node, listening), listening.http, faults),
    ):
        yield describe(node, listening)


@contextmanager
def target_app(app: ASGIApp, seed: str) -> Iterator[Target]:
    """Serve an application that is no reference node, with a profile that claims that it is one."""
    config = uvicorn.Config(app, ws="none", lifespan="off", access_log=False, log_level="critical")
    with _listening() as listening, _serving(QuickServer(config), listening):
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        facts = {"base_url": base_url, "rpc_url": f"{base_url}/rpc", "control_url": f"{base_url}/control"}
        claimed: dict[str, JsonValue] = {
            "capabilities": list(CLAIMED),
            "payments": {"provider_url": f"{base_url}/stripe", "control_url": f"{base_url}/stripe/control"},
        }
        yield from _target({**facts, "profile": claimed}, seed)


def _target(ready: dict[str, JsonValue], seed: str) -> Iterator[Target]:
    profile = Profile.model_validate_json(json.dumps(with_addresses(ready)))
    target = Target(str(profile.base_url), profile, seed=seed)
    try:
        yield target
    finally:
        target.close()


@contextmanager
def _listening() -> Iterator[socket.socket]:
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # asyncio sets TCP_NODELAY by the protocol
        listening.bind(("127.0.0.1", 0))
        listening.listen(512)
        yield listening


class QuickServer(uvicorn.Server):
    """Ends at once when it is told to; uvicorn itself looks for that ten times a second."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        """Serve until `stop` is called."""
        await self.on_tick(0)
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), TICK_SECONDS)
            await self.on_tick(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drop the connections: the clients are done with them."""
        del sockets
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    def stop(self) -> None:
        """End the main loop, from another thread."""
        self._loop.call_soon_threadsafe(self._stopped.set)


class QuickNodeServer(QuickServer, NodeServer):
    """The same for a node, with what it serves beside HTTP."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drop the connections, and take nothing beside HTTP any more."""
        self.close_beside()
        await super().shutdown(sockets)


@contextmanager
def _serving(server: QuickServer, listening: socket.socket, faults: ServerFaults | None = None) -> Iterator[None]:
    recorded = ServerFaults() if faults is None else faults
    config = server.config
    config.app = recorded.watch(config.app)  # type: ignore[arg-type]  # an application, never an import path
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    with recorded.listening():
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield
        finally:
            server.stop()
            thread.join(START_SECONDS)


def _wait_until_started(server: uvicorn.Server, thread: Thread) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("a node of the self-test did not start")
        time.sleep(0.005)
