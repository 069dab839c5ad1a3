"""The application-authorisation contract: which compose hashes the application may run with.

Specification: "Endpoints / Attestation" rule 8. Its address is the `app_id`. It follows from the root secret alone, as
the address of `AccountConfig` does, so a node that is started again finds it.
"""

from __future__ import annotations

import json

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from reference_node import resources
from reference_node.chain.interface import Address, Chain, Hash
from reference_node.chain.payers import PayerPool
from reference_node.deployment import DeploymentError, first_contract_of
from reference_node.permission.keys import address_of

WORD = 32
"""Bytes of an ABI-encoded argument."""


class AppAuthorisation:
    """The contract at `address`; writes are signed with its owner's key."""

    def __init__(self, chain: Chain, address: Address, owner_key: bytes) -> None:
        self.chain = chain
        self.address = address
        self._owner = PayerPool(chain, [owner_key])

    def allows(self, compose_hash: Hash) -> bool:
        """Whether this compose hash is registered."""
        answer = self.chain.call(self.address, _call("allowedComposeHashes", compose_hash))
        return answer == int.to_bytes(1, WORD)

    def register(self, compose_hash: Hash) -> None:
        """Register a compose hash."""
        self._owner.submit(self.address, _call("addComposeHash", compose_hash))

    def withdraw(self, compose_hash: Hash) -> None:
        """Take a compose hash off the register."""
        self._owner.submit(self.address, _call("removeComposeHash", compose_hash))


def obtain_authorisation(chain: Chain, owner_key: bytes, compose_hash: Hash) -> AppAuthorisation:
    """The contract of this owner with this compose hash registered; deployed where it does not exist yet.

    Raises `DeploymentError`.
    """
    owner = address_of(owner_key)
    contract = AppAuthorisation(chain, first_contract_of(owner), owner_key)
    if not chain.code(contract.address):
        if chain.next_nonce(owner):
            raise DeploymentError(
                f"the application's owner {to_checksum_address(owner)} has sent transactions on this chain, but none "
                "that created its contract: use a fresh root secret"
            )
        PayerPool(chain, [owner_key]).submit(b"", _creation_code(owner))
    if not contract.allows(compose_hash):
        contract.register(compose_hash)
    return contract


def _call(function: str, argument: Hash) -> bytes:
    return keccak(text=f"{function}(bytes32)")[:4] + argument


def _creation_code(owner: Address) -> bytes:
    artifact = json.loads((resources.artifacts() / "AppAuthorisation.json").read_text("utf-8"))
    return bytes.fromhex(str(artifact["bytecode"]).removeprefix("0x")) + owner.rjust(WORD, b"\x00")
