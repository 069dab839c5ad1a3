"""The forms of attestation answers that the specification does not show ("Endpoints / Attestation")."""

from __future__ import annotations

from typing import Literal

from conformance.profile.chain import NodeUrl, Url
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
    base_url: NodeUrl | None = None
    """The HTTPS address whose certificate the evidence is about; the whole API is there. Null: that of the node."""
    gateway_domain: str | None = None
    """The domain whose CAA records name the ACME account."""
    resolver: str | None = None
    """`host:port` of the DNS resolver to ask for them."""
    pccs_url: Url | None = None
    """Where quotes' collateral is fetched, without `/sgx/certification/v4`. Null: the hardware vendor's service."""
    root_certificate: str | None = None
    """PEM of the root that signs the platform's certificates. Null: the hardware vendor's."""
