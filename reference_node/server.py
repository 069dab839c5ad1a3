"""A node as a process: its listening socket, its ready file, and how it starts and stops."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from contextlib import closing
from functools import partial

import uvicorn
from eth_utils.address import to_checksum_address

from reference_node.app import SIMULATOR, AtStripe
from reference_node.assembly import build_node
from reference_node.billing.database import LedgerUnavailable
from reference_node.billing.provider import STRIPE_URL
from reference_node.billing.schema import LedgerError
from reference_node.chain.evm import EvmChain
from reference_node.chain.interface import ChainError
from reference_node.deployment import DeploymentError
from reference_node.keeping.seed_file import SeedError
from reference_node.keeping.seeding import described
from reference_node.kept_file import StateError, StateUnavailable
from reference_node.node import Node
from reference_node.public_address import PREFIX
from reference_node.sandbox import SandboxError
from reference_node.serving.connections import Connections
from reference_node.serving.https import HttpsListener
from reference_node.serving.listening import (
    BACKLOG,
    ServingError,
    base_url,
    is_open,
    reachable,
    remove_stale,
    write_atomically,
)
from reference_node.serving.protocol import GRACE_SECONDS, NodeConfig, NodeProtocol, TimeLimits
from reference_node.settings import Settings
from reference_node.sockets import NodeSockets, bind
from reference_node.strict_json import Json
from reference_node.tee.compose import ComposeError
from reference_node.tee.dns_server import DnsServer
from reference_node.tee.tls import CertificateError, switching_context

OPEN_CONTROL = (
    "reference-node: WARNING: --control is open to everybody who can reach this machine: they can move the clock, make "
    "ether and forget all accounts. Listen at 127.0.0.1, or protect it with --control-token-file."
)


def serve(settings: Settings) -> None:
    """Run a node until it is told to stop. Raises `ServingError`, also when there is nothing to listen at."""
    remove_stale(settings.ready_file)
    with bind(settings) as listening:
        try:
            node = build_node(settings)
        except (
            DeploymentError,
            LedgerError,
            LedgerUnavailable,
            StateError,
            StateUnavailable,
            SeedError,
            ComposeError,
            CertificateError,
        ) as fault:
            raise ServingError(str(fault)) from fault
        except ChainError as fault:
            which = f"the chain at {settings.rpc_url}" if settings.rpc_url else "the node's own chain"
            raise ServingError(f"{which} fails: {fault}") from fault
        with closing(node):
            _start_sandbox(node)
            Announcing(node, listening).run()


def _start_sandbox(node: Node) -> None:
    """Start the sandbox before the first action arrives. Raises `ServingError` with the reason if it cannot start."""
    try:
        node.sandbox.start()
    except SandboxError as fault:
        raise ServingError(" ".join(str(fault).split())) from fault  # a script's own words may be many lines


ANSWER_SECONDS = 0.5
"""Seconds between ending the runs and stopping the chain. A run that called a stopped chain would report its error."""


class NodeServer(uvicorn.Server):
    """uvicorn with a node: over HTTP, and over HTTPS and DNS where there are sockets for them."""

    def __init__(
        self,
        node: Node,
        listening: NodeSockets,
        limits: TimeLimits = TimeLimits(),  # noqa: B008 - it can't be changed
        connections: Connections | None = None,
    ) -> None:
        connections = connections or Connections()
        self._settings = NodeConfig(node.app, limits, connections)
        self._at_stripe = NodeConfig(AtStripe(node.app), limits, connections)
        super().__init__(self._settings)
        self._node = node
        self._listening = listening
        self._dns = DnsServer(lambda: node.attestation.zone)
        self._https: HttpsListener | None = None

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to stop."""
        super().run(sockets or [self._listening.http])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        if self._listening.dns is not None:
            await self._dns.start(self._listening.dns)
        if self._listening.https is not None:
            context = switching_context(lambda: self._node.attestation.evidence.tls)
            self._https = HttpsListener(self._listening.https, context, partial(self._connection, self._settings))
            self._https.start()
        await super().startup(sockets)
        self._listening.http.listen(BACKLOG)  # the system's own queue, which asyncio has made as short as its own
        if self._listening.stripe is not None:
            self._at_stripe.load()
            connection = partial(self._connection, self._at_stripe)
            serve = asyncio.get_running_loop().create_server
            self.servers.append(await serve(connection, sock=self._listening.stripe, backlog=self._at_stripe.backlog))
            self._listening.stripe.listen(BACKLOG)

    def _connection(self, config: NodeConfig) -> NodeProtocol:
        """Create the HTTP protocol of a connection at a further port, as uvicorn does for those at the first."""
        return NodeProtocol(config, self.server_state, self.lifespan.state)

    def close_beside(self) -> None:
        """Stop answering DNS queries and accepting TLS connections."""
        self._dns.close()
        if self._https is not None:
            self._https.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait a bounded time for answers in progress, then end what would keep the process alive."""
        self.close_beside()
        later = asyncio.get_running_loop().call_later
        timers = [later(GRACE_SECONDS, self._end_runs), later(GRACE_SECONDS + ANSWER_SECONDS, self._end_calls)]
        await super().shutdown(sockets)
        for timer in timers:
            timer.cancel()
        self._end_runs()
        self._end_calls()

    def _end_runs(self) -> None:
        self._node.sandbox.close()
        if self._node.payments:
            self._node.payments.give_up()

    def _end_calls(self) -> None:
        if isinstance(self._node.chain, EvmChain):
            self._node.chain.stop()


class Announcing(NodeServer):
    """A server that prints its addresses and writes its ready file once it accepts connections."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections, then print the addresses. Raises `ServingError` if they cannot be written."""
        await super().startup(sockets)
        facts = describe(self._node, self._listening)
        try:
            _announce(self._node, facts)
            if self._node.settings.ready_file is not None:
                write_atomically(
                    self._node.settings.ready_file,
                    json.dumps(facts, indent=2) + "\n",
                    private=self._node.seeds is not None,
                )
        except OSError as fault:
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - flushing the broken stream at exit would fail
            remedy = "give it a standard output that takes lines, and room for its ready file"
            raise ServingError(f"the node can't say where it is: {fault.strerror}: {remedy}") from None


def describe(node: Node, listening: NodeSockets) -> dict[str, Json]:
    """Return the contents of the ready file: the addresses and the profile of this node."""
    url = base_url(listening.http)
    return {
        "base_url": url,
        "public_url": node.settings.public_url.url if node.settings.public_url else None,
        "rpc_url": f"{url}/rpc" if node.rpc is not None else node.settings.rpc_url,
        "chain_id": node.chain.chain_id,
        "contract_address": to_checksum_address(node.accounts.address),
        "payments_url": payments_url(node.settings, url),
        "stripe_url": None if listening.stripe is None else base_url(listening.stripe),
        "control_url": f"{url}/control" if node.settings.control else None,
        "https_url": _https_url(listening),
        **({"accounts": described(node.seeds, node.keys)} if node.seeds else {}),
        "tls_root_certificate": node.attestation.tls_root_pem if listening.https is not None else None,
        "measurements": node.attestation.measurements,
        "profile": vendor_profile(node.settings)
        | {"attestation": attestation_profile(node, listening)}
        | {"payments": payments_profile(node.settings, url)},
    }


def attestation_profile(node: Node, listening: NodeSockets) -> dict[str, Json]:
    """Return the addresses that a verifier needs and the root certificate that it may trust."""
    profile: dict[str, Json] = {
        "gateway_domain": node.attestation.domain,
        "pccs_url": f"http://{reachable(listening.http)}/pccs",
        "root_certificate": node.attestation.platform.root_pem,
    }
    if listening.https is not None:
        profile["base_url"] = _https_url(listening)
    if listening.dns is not None:
        profile["resolver"] = reachable(listening.dns.udp)
    return profile


def payments_profile(settings: Settings, node_url: str) -> dict[str, Json]:
    """Return the addresses of the payment provider and of its control interface."""
    profile: dict[str, Json] = {"provider_url": payments_url(settings, node_url)}
    if settings.control and settings.payments == "simulator":
        profile["control_url"] = f"{profile['provider_url']}/control"
    return profile


def _https_url(listening: NodeSockets) -> str | None:
    return None if listening.https is None else f"https://{reachable(listening.https)}"


def payments_url(settings: Settings, node_url: str) -> str | None:
    """Return the base address of the provider's API, at which browsers pay; `None` where nothing is sold."""
    if settings.payments == "none":
        return None
    return f"{node_url}{SIMULATOR}" if settings.payments == "simulator" else settings.stripe_api_base or STRIPE_URL


def vendor_profile(settings: Settings) -> dict[str, Json]:
    """Return the capabilities of this node and the profile keys that differ from the defaults."""
    capabilities: list[Json] = [
        "managed_accounts",
        "wallet_signed",
        "chain_rpc",
        "openapi",
        "billing",
        "design_flows",
    ]
    capabilities += ["attestation", "app_authorisation_contract"]
    if settings.tls:
        capabilities.append("tls")
    if settings.dns_port is not None:
        capabilities.append("caa_dns")
    if settings.control:
        capabilities += ["clock_control", "credit_control"]
        if settings.tls and settings.tls_cert is None:
            capabilities.append("certificate_control")
        if settings.rpc_url is None:
            capabilities.append("funded_wallet")
    if settings.payments == "simulator":
        capabilities.append("payment_sandbox")
    profile: dict[str, Json] = {"capabilities": capabilities}
    if settings.starter_credits:
        profile["billing"] = {"insufficient_credit_behaviour": {"starting_cents": settings.starter_credits}}
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
    if is_open(node.settings.host):
        lines.insert(1, f"  listens   at {node.settings.host}, for all who can reach this machine (--host)")
    if facts["public_url"] is not None:
        lines.insert(1, f"  public    {facts['public_url']}{PREFIX}, behind a proxy (--public-url)")
    if facts["https_url"] is not None:
        lines.insert(1, f"  HTTPS     {facts['https_url']}, with a certificate for {node.attestation.domain}")
    lines.append(f"  payments  {facts['payments_url'] or 'no credits are sold'} (--payments)")
    if facts["stripe_url"] is not None:
        lines.append(f"  Stripe    {facts['stripe_url']}: the same for Stripe's SDKs (--stripe-port)")
    if node.settings.state is None:
        kept = node.settings.ledger or "in memory: credits end with the process (--ledger FILE keeps them)"
        lines.append(f"  ledger    {kept}")
    else:
        lines.append(f"  state     {node.settings.state}: accounts, credits and payments outlive the process")
    if node.seeds is not None:
        names = ", ".join(account.name for account in node.seeds.accounts)
        lines.append(f"  accounts  {names} (--seed-accounts); --ready-file tells their keys")
    if facts["control_url"] is not None:
        whom = "can reach it" if node.settings.control_token is None else "have its token"
        lines.append(
            f"  control   {facts['control_url']}: /clock, /fund, /spend, /rotate and /reset, for all who {whom}"
        )
    print("\n".join(lines), flush=True)
    is_unprotected = facts["control_url"] is not None and node.settings.control_token is None
    if is_unprotected and is_open(node.settings.host):
        print(OPEN_CONTROL, file=sys.stderr, flush=True)
