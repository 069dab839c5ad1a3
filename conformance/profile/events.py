"""Events, of which the specification shows nothing ("Events")."""

from __future__ import annotations

from typing import Literal

from conformance.profile.section import Section


class EventDelivery(Section):
    """Where changes of state are announced."""

    delivery: Literal["contract_logs", "none"] = "contract_logs"
    """Logs of the AccountConfig contract, read with eth_getLogs."""
    every_state_change: bool = True
    """Whether each accepted write emits at least one."""


class Events(Section):
    """Choices about events."""

    kinds_and_delivery: EventDelivery | None = EventDelivery()
    """CHAIN-160."""
