"""Attestation, events and the design-level paths: forms that the specification does not show."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.chain import Url
from conformance.profile.section import Section, WireName


class AttestationForms(Section):
    """How the attestation answers are written."""

    tcb_info: Literal["object", "json_string"] = "object"
    quote_json_members: tuple[WireName, ...] = ("quote", "event_log", "report_data", "vm_config")
    """The members of `/evidences/quote.json`."""
    certificate_order: Literal["leaf_first", "single"] = "leaf_first"
    """What the evidence PEM holds: a chain, or the leaf alone."""
    authorisation_rpc_url: str | None = None
    """The JSON-RPC of the chain of the application-authorisation contract. Null: the settlement chain."""


class Attestation(Section):
    """Choices about attestation."""

    forms: AttestationForms | None = AttestationForms()
    """ATT-290."""
    base_url: Url | None = None
    """The HTTPS address whose certificate the evidence is about; the whole API is there. Null: that of the node."""
    gateway_domain: str | None = None
    """The domain whose CAA records name the ACME account."""
    resolver: str | None = None
    """`host:port` of the DNS resolver to ask for them."""
    pccs_url: Url | None = None
    """Where quotes' collateral is fetched, without `/sgx/certification/v4`. Null: the hardware vendor's service."""
    root_certificate: str | None = None
    """PEM of the root that signs the platform's certificates. Null: the hardware vendor's."""


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


class FlowRelationship(Section):
    """How the design-level paths relate to the operations under `/core/v1`."""

    prefix: Annotated[str, Field(pattern=r"^(/[^/\s]+)*$")] = "/core/v1"
    """What stands before `/groups/{id}/actions` and its like, after the base URL."""
    cids: Literal["raw", "hashed"] = "raw"
    """The form of the CIDs in `add` and `remove`."""
    all_or_nothing: bool = True
    """Whether one refused entry refuses the whole request."""


class Flows(Section):
    """Choices about the design-level paths; they count only with the capability `design_flows`."""

    relationship: FlowRelationship | None = FlowRelationship()
    """FLOW-080."""
