"""A node as a process: its listening socket, its ready file, and how it starts and stops."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
from contextlib import closing
from pathlib import Path

import uvicorn
from eth_utils.address import to_checksum_address

from reference_node.app import PREFIX
from reference_node.assembly import build_node
from reference_node.billing.schema import LedgerError
from reference_node.chain.evm import EvmChain
from reference_node.chain.interface import ChainError
from reference_node.deployment import DeploymentError
from reference_node.node import Node
from reference_node.protocol import ProblemProtocol
from reference_node.sandbox import SandboxError
from reference_node.settings import Settings
from reference_node.strict_json import Json

BACKLOG = 2048

KEEP_ALIVE_SECONDS = 75
"""How long an idle connection stays open: longer than clients keep one, so that none sends into a closing one."""

GRACE_SECONDS = 4
"""How long what is under way may go on once the node is told to stop; then it has a second to say that it was ended."""


class ServingError(Exception):
    """The node can't start; the message is one line that says why and what to do."""


def serve(settings: Settings) -> None:
    """Run a node until it is told to stop. Raises `ServingError`, also when there is nothing to listen at."""
    _remove_stale(settings.ready_file)
    with listen(settings) as listening:
        try:
            node = build_node(settings)
        except (DeploymentError, LedgerError) as fault:
            raise ServingError(str(fault)) from fault
        except ChainError as fault:
            raise ServingError(f"the chain at {settings.rpc_url} fails: {fault}") from fault
        with closing(node):
            _start_sandbox(node)
            Announcing(node, listening).run(sockets=[listening])


def _start_sandbox(node: Node) -> None:
    """Have the sandbox ready before the first action comes, or say why it can't be. Raises `ServingError`."""
    try:
        node.sandbox.start()
    except SandboxError as fault:
        raise ServingError(" ".join(str(fault).split())) from fault  # a script's own words may be many lines


def _remove_stale(ready_file: Path | None) -> None:
    """Take an earlier node's ready file away, and see that another can be written, before anybody waits for it."""
    if ready_file is None:
        return
    try:
        if ready_file.exists() and not ready_file.is_file():  # to take a device or a pipe away could harm others
            raise ServingError(f"the ready file {ready_file} can't be written: it is no regular file")
        ready_file.unlink(missing_ok=True)
        probe = _beside(ready_file)
        probe.touch()
        probe.unlink()
    except OSError as fault:
        raise ServingError(f"the ready file {ready_file} can't be written: {fault.strerror}") from None


def server_config(node: Node) -> uvicorn.Config:
    """How uvicorn serves a node: refusals below HTTP are problem documents as well, and nothing is logged twice."""
    return uvicorn.Config(
        node.app,
        http=ProblemProtocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        access_log=False,
        log_level="warning",
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS + 1,
    )


class Announcing(uvicorn.Server):
    """uvicorn, telling where the node is once it accepts connections."""

    def __init__(self, node: Node, listening: socket.socket) -> None:
        super().__init__(server_config(node))
        self._node = node
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections, then say so."""
        await super().startup(sockets)
        facts = describe(self._node, self._listening)
        _announce(self._node, facts)
        if self._node.settings.ready_file is not None:
            write_atomically(self._node.settings.ready_file, json.dumps(facts, indent=2) + "\n")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let clients have their answers for a while, then end what still runs: the process would wait for it."""
        ending = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._end_what_runs)
        await super().shutdown(sockets)
        ending.cancel()
        self._end_what_runs()

    def _end_what_runs(self) -> None:
        if isinstance(self._node.chain, EvmChain):
            self._node.chain.stop()
        self._node.sandbox.close()


def describe(node: Node, listening: socket.socket) -> dict[str, Json]:
    """What the ready file says: where everything is, and the profile of this node."""
    host, port = listening.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    base_url = f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"
    return {
        "base_url": base_url,
        "rpc_url": f"{base_url}/rpc" if node.rpc is not None else node.settings.rpc_url,
        "chain_id": node.chain.chain_id,
        "contract_address": to_checksum_address(node.accounts.address),
        "control_url": f"{base_url}/control" if node.settings.control else None,
        "profile": vendor_profile(node.settings),
    }


def vendor_profile(settings: Settings) -> dict[str, Json]:
    """Where this node differs from the defaults of a vendor profile, and what it offers."""
    capabilities: list[Json] = ["managed_accounts", "chain_rpc", "openapi", "billing"]
    if settings.control:
        capabilities.append("clock_control")
        if settings.rpc_url is None:
            capabilities.append("funded_wallet")
    profile: dict[str, Json] = {"capabilities": capabilities}
    if (settings.slug, settings.title) != (Settings.slug, Settings.title):
        profile["brand"] = {"slug": settings.slug, "title": settings.title}
    return profile


def _announce(node: Node, facts: dict[str, Json]) -> None:
    lines = [
        f"reference node ready at {facts['base_url']}{PREFIX}",
        f"  viewer    {facts['base_url']}{PREFIX}/swagger-ui",
        f"  contract  {facts['contract_address']} on chain {facts['chain_id']}",
        f"  JSON-RPC  {facts['rpc_url']}",
        f"  credits   a new account begins with {node.settings.starter_credits} cents (--starter-credits)",
    ]
    kept = node.settings.ledger or "in memory: credits end with the process (--ledger FILE keeps them)"
    lines.append(f"  ledger    {kept}")
    if facts["control_url"] is not None:
        lines.append(f"  control   {facts['control_url']}: /clock, /fund and /reset, for anyone who can reach it")
    print("\n".join(lines), flush=True)


def write_atomically(file: Path, text: str) -> None:
    """Write a file that no reader can see half-written."""
    partial = _beside(file)
    partial.write_text(text)
    partial.replace(file)


def _beside(file: Path) -> Path:
    """Another name in the same folder, this process's own."""
    return file.with_name(f".{file.name}.{os.getpid()}")


def listen(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say. Raises `ServingError`."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it every answer takes 40 ms
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError as fault:
        listening.close()
        where = f"{settings.host}:{settings.port}"
        if fault.errno == errno.EADDRINUSE:
            raise ServingError(
                f"{where} is in use: stop what listens there, or choose another --port (0: any)"
            ) from None
        raise ServingError(f"can't listen at {where}: {fault.strerror or fault}") from None
    return listening
