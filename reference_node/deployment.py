"""Deploys the node's contract as the first transaction of its admin payer, or finds it where it was deployed.

Since payers and contract address follow from the root secret alone, a node that is started again with the same secret
on the same chain has all its accounts back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rlp  # type: ignore[import-untyped] # ships no types
from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from reference_node.chain.account_config import AccountConfig
from reference_node.chain.contract_abi import ContractRefusal, call_data, creation_code
from reference_node.chain.interface import Address, Chain, Reverted
from reference_node.chain.payers import PayerPool
from reference_node.permission.keys import KeyDerivation, address_of


class DeploymentError(Exception):
    """The node can't deploy or find its contract; the message says what the operator has to do."""


@dataclass(frozen=True)
class Payers:
    """The private keys of the wallets that pay for the node's transactions."""

    admin_key: bytes
    api_keys: Sequence[bytes]
    owner_key: bytes
    """The key of the wallet that owns the application-authorisation contract."""

    @classmethod
    def derived(cls, keys: KeyDerivation, count: int) -> Payers:
        """Derive the payers from this root secret."""
        return cls(
            keys.admin_payer_key(), [keys.payer_key(index) for index in range(count)], keys.application_owner_key()
        )

    @property
    def admin(self) -> Address:
        """The admin payer's address."""
        return address_of(self.admin_key)

    @property
    def addresses(self) -> list[Address]:
        """Every wallet that needs gas money."""
        return [self.admin, *self.api, address_of(self.owner_key)]

    @property
    def api(self) -> list[Address]:
        """The API payers' addresses."""
        return [address_of(key) for key in self.api_keys]


def first_contract_of(sender: Address) -> Address:
    """The address of the contract that this sender's first transaction creates."""
    return keccak(rlp.encode([sender, 0]))[12:]


def obtain_contract(chain: Chain, payers: Payers, contract: Address | None) -> AccountConfig:
    """The gateway to this node's contract, which is deployed first if it does not exist.

    `contract` names another than the one the root secret leads to. Raises `DeploymentError`.
    """
    address = contract or first_contract_of(payers.admin)
    _require_gas_money(chain, payers)
    if not chain.code(address):
        if contract:
            raise DeploymentError(f"there is no contract at {to_checksum_address(contract)} on this chain")
        _deploy(chain, payers)
    accounts = AccountConfig(chain, address, PayerPool(chain, payers.api_keys))
    _register_payers(chain, payers, accounts)
    return accounts


def _require_gas_money(chain: Chain, payers: Payers) -> None:
    penniless = [to_checksum_address(address) for address in payers.addresses if not chain.balance(address)]
    if penniless:
        raise DeploymentError(f"on chain {chain.chain_id}, fund with gas money: {', '.join(penniless)}")


def _deploy(chain: Chain, payers: Payers) -> None:
    if chain.next_nonce(payers.admin):
        raise DeploymentError(
            f"the admin payer {to_checksum_address(payers.admin)} has sent transactions on this chain, but none that "
            "created the contract: use a fresh root secret, or name the contract with --contract"
        )
    creation = creation_code(payers.admin, payers.api)
    PayerPool(chain, [payers.admin_key]).submit(b"", creation)


def _register_payers(chain: Chain, payers: Payers, accounts: AccountConfig) -> None:
    """Register the payers in the contract if their number has changed since the deployment."""
    try:
        known = accounts.api_payers()
    except (Reverted, ContractRefusal, DecodingError):
        raise DeploymentError(f"what is at {to_checksum_address(accounts.address)} is no AccountConfig") from None
    if set(known) == set(payers.api):
        return
    if accounts.admin_api_payer() != payers.admin:
        raise DeploymentError(
            f"the contract at {to_checksum_address(accounts.address)} does not take this root secret's wallets as "
            "payers: start with the root secret that deployed it"
        )
    PayerPool(chain, [payers.admin_key]).submit(accounts.address, call_data("setApiPayers", payers.api))
