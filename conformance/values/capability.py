"""What a node can offer: the names that a profile states and that statements and cases need."""

from typing import Literal

Capability = Literal[
    "managed_accounts",
    "openapi",
    "wallet_signed",
    "chain_rpc",
    "funded_wallet",
    "clock_control",
    "credit_control",
    "certificate_control",
    "restart",
    "billing",
    "payment_sandbox",
    "attestation",
    "tls",
    "app_authorisation_contract",
    "caa_dns",
    "design_flows",
]
"""The profile's key `capabilities` says what each of them means."""
