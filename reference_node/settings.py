"""The operator's settings and their defaults."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Literal

from reference_node.public_address import PublicAddress

ROOT_SECRET_BYTES = 32

DEFAULT_DOMAIN = "node.example"
"""The domain in the evidence by default, reserved by RFC 2606."""


@dataclass(frozen=True)
class StripeKeys:
    """The two API keys of one account at the payment provider."""

    secret: str = field(repr=False)
    publishable: str


@dataclass(frozen=True)
class Settings:
    """The settings of a node. Each field is an option of `reference-node serve` of the same name."""

    host: str = "127.0.0.1"
    port: int = 8000
    """0: a free one."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names by which clients may call the node."""
    allowed_origins: tuple[str, ...] = ()
    """The origins whose web pages may call the node."""
    public_url: PublicAddress | None = None
    """Where clients find the node, behind a proxy; `None`: trusted proxies tell, or it is where it listens."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    """The proxies whose headers tell where clients find the node."""
    chain_id: int = 31337
    """The chain id of the in-memory chain. An external chain reports its own."""
    rpc_url: str | None = None
    """The JSON-RPC address of an external chain; `None`: a chain in memory."""
    contract: bytes | None = None
    """The address of `AccountConfig` on the external chain; `None`: the one this root secret deploys."""
    root_secret: bytes = field(default_factory=lambda: secrets.token_bytes(ROOT_SECRET_BYTES), repr=False)
    """The secret from which every wallet and payer is derived."""
    root_secret_given: bool = False
    """Whether the operator set the root secret. A state folder made with another secret is then refused."""
    state: Path | None = None
    """The folder that keeps everything over restarts; `None`: all ends with the process."""
    payers: int = 4
    """How many payer wallets submit administrative writes in parallel."""
    starter_credits: int = 0
    """Cents that a new account begins with."""
    payments: Literal["simulator", "stripe", "none"] = "simulator"
    """Where credits are bought: at the embedded simulator, at Stripe in its test mode, or nowhere."""
    stripe_port: int = 0
    """The port at which the embedded simulator answers beside `/stripe`; 0: a free one."""
    stripe_keys: StripeKeys | None = None
    """The keys of the account at Stripe, where payments go there."""
    stripe_api_base: str | None = None
    """The address of the provider's API; `None`: Stripe's own."""
    ledger: Path | None = None
    """The ledger file; `None`: credits are kept in memory only."""
    seed_accounts: Path | None = None
    """A file with accounts that the node begins with."""
    preload: tuple[Path, ...] = ()
    """JavaScript libraries that are loaded before every run."""
    insecure_sandbox: bool = False
    """Run actions even when the system has no system-call filter to confine them."""
    compose: Path | None = None
    """The compose file that is measured; `None`: the one that ships with the node."""
    quote_version: Literal[4, 5] = 4
    """The layout of TDX quotes."""
    tls_domain: str | None = None
    """Serve HTTPS too, with a certificate for this domain; `None`: only where `tls_cert` is given, for its domain."""
    tls_port: int = 8443
    """The HTTPS port; 0: a free one."""
    tls_cert: Path | None = None
    """The operator's certificate chain, PEM, leaf first; `None`: one from the simulated issuer."""
    tls_key: Path | None = None
    """The private key of that certificate, PEM."""
    dns_port: int | None = None
    """The UDP and TCP port of the gateway domain's DNS server; 0: a free one; `None`: no server."""
    control: bool = False
    """Serve the test-control interface."""
    control_token: str | None = field(default=None, repr=False)
    """The token that requests to the test control must carry; `None`: none is asked for."""
    ready_file: Path | None = None
    """A file that is written once the node accepts connections."""
    slug: str = "service"
    """The brand name in paths."""
    title: str = "Service"
    """The brand name in titles."""

    @property
    def tls(self) -> bool:
        """Whether HTTPS is served."""
        return self.tls_domain is not None or self.tls_cert is not None
