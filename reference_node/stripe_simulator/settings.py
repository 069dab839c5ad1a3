"""The settings of a simulator and their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SECRET_VARIABLE, PUBLISHABLE_VARIABLE = "STRIPE_SIMULATOR_SECRET_KEY", "STRIPE_SIMULATOR_PUBLISHABLE_KEY"
"""Environment variables that give its keys: other users see command lines."""

PROCESSING_SECONDS = 2.0
"""Seconds for which a payment by bank account is processed."""


@dataclass(frozen=True)
class SimulatorSettings:
    """How a simulator is served. Each field is an option of `reference-node stripe-simulator` of the same name."""

    host: str = "127.0.0.1"
    port: int = 12111
    """0: a free one. The default is stripe-mock's."""
    secret_key: str | None = None
    """`None`: a new one."""
    publishable_key: str | None = None
    processing_seconds: float = PROCESSING_SECONDS
    control: bool = False
    ready_file: Path | None = None
