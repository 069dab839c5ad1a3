"""Faults of the authorisation on the chain: hashes that are not registered, and contracts that say anything."""

from __future__ import annotations

from dataclasses import replace

from conformance.selftest.tools.alter_attestation import become
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.evm import EvmChain
from reference_node.chain.payers import PayerPool
from reference_node.deployment import first_contract_of
from reference_node.node import Node
from reference_node.permission.keys import address_of


@mutant("ATT-260", "ATT-010")
def compose_hash_is_withdrawn(node: Node) -> None:
    """Take the compose hash off the register, and run on."""
    node.attestation.authorisation.withdraw(node.attestation.identity.compose_hash)


OWNER = b"\x07" * 32
"""The key of somebody who deploys contracts."""


def _deploy(node: Node, runtime: str) -> bytes:
    """Deploy a contract of these instructions and return its address, 20 bytes."""
    code = bytes.fromhex(runtime)
    copy = bytes([0x60, len(code), 0x60, 12, 0x60, 0, 0x39, 0x60, len(code), 0x60, 0, 0xF3])
    if isinstance(node.chain, EvmChain):
        node.chain.fund(address_of(OWNER), 10**20)
    PayerPool(node.chain, [OWNER]).submit(b"", copy + code)
    return first_contract_of(address_of(OWNER))


CODES = (
    row("yes-to-all", "600160005260206000f3"),
    row("two", "600260005260206000f3"),
    row("no-to-all", "600060005260206000f3"),
    row("says-nothing", "00"),
    row("one-byte", "600160005360016000f3"),
    row("reverts", "60006000fd"),
)


NO_CONTRACTS = (
    row("of-nobody", b"\x11" * 20),
    row("zero", bytes(20)),
    row("wallet", address_of(OWNER)),
    row("long", b"\x11" * 32, also="VER-050"),
    row("short", b"\x11" * 8, also="VER-050"),
)


@mutant("ATT-250", each=NO_CONTRACTS)
def app_id_is_no_contract(node: Node, app_id: bytes) -> None:
    """Run as an application whose id names no contract, all of it measured and shown."""
    become(node, replace(node.attestation.identity, app_id=app_id), registered=False)
