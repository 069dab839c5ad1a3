"""Serves nodes of the self-test on a free port of the loopback, in a thread of this process."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Self

import uvicorn
from pydantic import JsonValue
from starlette.types import ASGIApp

from conformance.endpoints.client import Target
from conformance.endpoints.restart import How, Restarter
from conformance.profile import Profile
from conformance.profile.load import with_addresses
from conformance.selftest.tools.server_faults import ServerFaults
from conformance.selftest.variants.variant import merged
from reference_node.assembly import build_node
from reference_node.node import Node
from reference_node.server import NodeServer, describe
from reference_node.settings import Settings
from reference_node.sockets import NodeSockets, bind
from reference_node.tee.dns_server import DnsSockets

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
"""What a sham claims to offer: all that needs no second server (TLS, DNS) and no further control of the node. No pack
is left out."""

START_SECONDS = 20.0

TICK_SECONDS = 1.0
"""How often the server sets its clock, which answers carry in `Date`."""


@contextmanager
def target_node(
    alter: Callable[[Node], None],
    seed: str,
    profile: dict[str, JsonValue] | None = None,
    faults: ServerFaults | None = None,
    *,
    restarts: bool = False,
) -> Iterator[Target]:
    """Serve a freshly built reference node, altered.

    `profile` is what the node says beside the reference node's profile; `faults` records what breaks inside the node.
    With `restarts` it offers to be restarted; each new process, so to speak, is altered, too.
    """
    with TemporaryDirectory(prefix="conformance-selftest-") as folder:
        state = Path(folder) / "state" if restarts else None
        with ServedNode(alter, faults, state) as node:
            ready = merged(node.ready, {"profile": profile or {}})
            yield from _target(ready, seed, node.restart if restarts else None)


@contextmanager
def served_node(alter: Callable[[Node], None]) -> Iterator[dict[str, JsonValue]]:
    """Serve a freshly built reference node, altered; what its ready file would hold."""
    with ServedNode(alter) as node:
        yield node.ready


class ServedNode:
    """A reference node, altered. Its sockets stay bound while it is restarted."""

    def __init__(
        self, alter: Callable[[Node], None], faults: ServerFaults | None = None, state: Path | None = None
    ) -> None:
        """`state` is the folder that keeps its accounts over restarts."""
        self._alter = alter
        self._faults = ServerFaults() if faults is None else faults
        self._settings = Settings(
            port=0,
            control=True,
            starter_credits=STARTER_CREDITS,
            tls_domain=DOMAIN,
            tls_port=0,
            dns_port=0,
            state=state,
        )

    def __enter__(self) -> Self:
        with ExitStack() as entered:
            self._sockets = entered.enter_context(bind(self._settings))
            self._begin()
            entered.callback(self._stop)
            self.ready = describe(self._node, self._sockets)
            """What its ready file would hold."""
            self._entered = entered.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.close()

    def restart(self, how: How, within: float) -> None:  # noqa: ARG002 - it takes no time worth counting
        """Build the node anew from what it keeps. What it does at an orderly end, it does not where it is killed."""
        self._ends_in_order = how == "stop"
        self._server.lets_requests_end = True
        self._stop()
        try:
            self._begin()
        except BaseException:
            self._sockets.close()  # nobody waits for an answer
            raise

    def _begin(self) -> None:
        with ExitStack() as begun:
            self._node = build_node(self._settings)
            self._ends_in_order = True
            begun.callback(self._close_node)
            self._alter(self._node)
            sockets = begun.enter_context(_again(self._sockets))
            self._server = QuickNodeServer(self._node, sockets)
            begun.enter_context(_serving(self._server, sockets.http, self._faults))
            self._running = begun.pop_all()

    def _stop(self) -> None:
        self._running.close()

    def _close_node(self) -> None:
        if self._ends_in_order:
            self._node.close()
        else:
            Node.close(self._node)  # releases what a process gives back when it is killed, without what was altered


def _again(sockets: NodeSockets) -> NodeSockets:
    """The same sockets once more: closing them leaves the others open."""
    dns = sockets.dns and DnsSockets(sockets.dns.udp.dup(), sockets.dns.tcp.dup())
    return NodeSockets(
        sockets.http.dup(), sockets.https and sockets.https.dup(), dns, sockets.stripe and sockets.stripe.dup()
    )


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
        yield from _target({**facts, "profile": claimed}, seed, lambda _how, _within: None)


def _target(ready: dict[str, JsonValue], seed: str, restarter: Restarter | None) -> Iterator[Target]:
    profile = Profile.model_validate_json(json.dumps(with_addresses(ready)))
    target = Target(str(profile.base_url), profile if restarter is None else profile.offering("restart"), seed=seed)
    target.restarter = restarter
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

    lets_requests_end = False
    """Whether requests under way go on to their end, which nobody hears of: what they wrote is complete."""

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
        if self.lets_requests_end and self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=START_SECONDS)

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
