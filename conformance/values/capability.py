"""What a node can offer: a profile claims it (`capabilities`), and a case may need it (`needs`).

A case whose need is not claimed is not offered (`conformance.run.offered`).
"""

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
