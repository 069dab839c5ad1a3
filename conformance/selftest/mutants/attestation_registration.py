"""Faults of the authorisation on the chain: hashes that are not registered, and contracts that say anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_attestation import become
from conformance.selftest.tools.mutant import mutant, row
from conformance.verify.authorisation import ALLOWED_COMPOSE_HASHES
from reference_node.chain.evm_calls import Call, Execution
from reference_node.node import Node
from reference_node.permission.keys import address_of


@mutant("ATT-260", "ATT-010")
def compose_hash_is_withdrawn(node: Node) -> None:
    """Take the compose hash off the register, and run on."""
    node.attestation.authorisation.withdraw(node.attestation.identity.compose_hash)


@mutant("ATT-260")
def last_20_bytes_of_a_hash_are_compared(node: Node) -> None:
    """Let the contract take any hash that ends in the same 20 bytes as the compose hash for registered."""

    def run(original: Callable[..., Execution], asked: Call, overrides: object = None) -> Execution:
        attestation = node.attestation
        registered = bytes.fromhex(ALLOWED_COMPOSE_HASHES) + attestation.identity.compose_hash
        concerned = asked.to == attestation.authorisation.address and len(asked.data) == len(registered)
        if concerned and (asked.data[:4], asked.data[-20:]) == (registered[:4], registered[-20:]):
            return original(replace(asked, data=registered), overrides)
        return original(asked, overrides)

    wrap(node.chain, "run", run)


OWNER = b"\x07" * 32
"""The key of somebody who deploys contracts."""


NO_CONTRACTS = (
    row("of-nobody", b"\x11" * 20),
    row("wallet", address_of(OWNER)),
    row("short", b"\x11" * 8, also="VER-050"),
)


@mutant("ATT-250", each=NO_CONTRACTS)
def app_id_is_no_contract(node: Node, app_id: bytes) -> None:
    """Run as an application whose id names no contract, all of it measured and shown."""
    become(node, replace(node.attestation.identity, app_id=app_id), registered=False)
