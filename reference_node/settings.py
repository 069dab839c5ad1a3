"""What an operator may set, and the defaults."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

ROOT_SECRET_BYTES = 32


@dataclass(frozen=True)
class Settings:
    """How a node is to run. Each field is an option of `reference-node serve` of the same name."""

    host: str = "127.0.0.1"
    port: int = 8000
    """0: a free one."""
    chain_id: int = 31337
    """Of the in-memory chain; an external one says its own."""
    rpc_url: str | None = None
    """The JSON-RPC address of an external chain; `None`: a chain in memory."""
    contract: bytes | None = None
    """The address of `AccountConfig` on the external chain; `None`: the one this root secret deploys."""
    root_secret: bytes = field(default_factory=lambda: secrets.token_bytes(ROOT_SECRET_BYTES), repr=False)
    """What every wallet and every payer is derived from."""
    payers: int = 4
    """How many wallets submit administrative writes side by side."""
    starter_credits: int = 0
    """Cents that a new account begins with."""
    ledger: Path | None = None
    """The file of the credits; `None`: they end with the process."""
    preload: tuple[Path, ...] = ()
    """JavaScript libraries that every run finds loaded."""
    insecure_sandbox: bool = False
    """Run actions also where the system offers no system-call filter to lock them up with."""
    control: bool = False
    """Serve the test-control interface."""
    ready_file: Path | None = None
    """Written once the node accepts connections."""
    slug: str = "service"
    """The brand word as paths hold it."""
    title: str = "Service"
    """The brand word as titles hold it."""
