"""The typed gateway to the `AccountConfig` contract: every view and every payer-submitted write the node makes.

Specification: "What the service does" (item 5) and "States and transitions". The contract is the only home of
accounts, keys, groups, wallets and actions; nothing of them is kept on this side. Hashes of keys are ints (uint256),
PKP ids and hashed CIDs 32 bytes, addresses 20 bytes, times Unix seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from eth_utils.address import to_canonical_address

from reference_node.chain.contract_abi import call_data, event_topic, refusal, results
from reference_node.chain.interface import Address, Chain, Hash, Receipt, Reverted
from reference_node.chain.payers import PayerPool

WILDCARD: Hash = bytes(32)
"""In a group's lists: every wallet of the account, or every action."""


class KeyInfo(NamedTuple):
    """Whose key a hash belongs to. `account_hash` 0: nobody's. `expiration` 0: never."""

    account_hash: int
    is_account_key: bool
    managed: bool
    expiration: int


class Account(NamedTuple):
    """An account's own record."""

    managed: bool
    admin_wallet: Address
    name: str
    description: str


class AccountCreated(NamedTuple):
    """The event of a new account."""

    account_hash: int
    admin_wallet: Address
    managed: bool


class AccountConverted(NamedTuple):
    """The event of an account that went over to a wallet."""

    account_hash: int
    former_admin_wallet: Address
    admin_wallet: Address


class Group(NamedTuple):
    """A group, without its lists."""

    id: int
    name: str
    description: str


class Wallet(NamedTuple):
    """A registered wallet (PKP); all zero and empty for the wildcard entry of a group."""

    id: Hash
    address: Address
    derivation_path: int
    name: str
    description: str


class Action(NamedTuple):
    """An action's metadata, or its bare hash where a group lists one that is not registered."""

    cid_hash: Hash
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a usage key may do, in the order of the specification's table; 0 in an array stands for every group."""

    can_create_groups: bool
    can_delete_groups: bool
    can_create_pkps: bool
    manage_ipfs_ids_in_groups: Sequence[int]
    add_pkp_to_groups: Sequence[int]
    remove_pkp_from_groups: Sequence[int]
    execute_in_groups: Sequence[int]

    def arguments(self) -> tuple[object, ...]:
        """As the contract's functions take them."""
        return (
            self.can_create_groups,
            self.can_delete_groups,
            self.can_create_pkps,
            self.manage_ipfs_ids_in_groups,
            self.add_pkp_to_groups,
            self.remove_pkp_from_groups,
            self.execute_in_groups,
        )


@dataclass(frozen=True, slots=True)
class UsageKey:
    """A usage key's metadata; the key itself is known to its holder alone."""

    key_hash: int
    expiration: int
    balance: int
    name: str
    description: str
    permissions: Permissions


class AccountConfig:
    """The contract at `address` on `chain`; writes are signed by one of `payers`.

    Every method may raise `contract_abi.ContractRefusal`, and what `Chain` and `PayerPool` raise.
    """

    def __init__(self, chain: Chain, address: Address, payers: PayerPool) -> None:
        self.chain = chain
        self.address = address
        self._payers = payers

    # Accounts

    def new_account(self, account_hash: int, admin_wallet: Address, name: str, description: str) -> None:
        """Create a managed account under the hash of its key."""
        self._write("newAccount", account_hash, admin_wallet, name, description)

    def convert_to_chain_secured(self, account_hash: int, new_admin_wallet: Address) -> None:
        """Hand a managed account over to a wallet, for good."""
        self._write("convertToChainSecuredAccount", account_hash, new_admin_wallet)

    def account_exists(self, account_hash: int) -> bool:
        """Whether an account has this hash, whatever its mode."""
        return bool(self._view("accountExists", account_hash)[0])

    def account(self, account_hash: int) -> Account:
        """The account's record."""
        managed, wallet, name, description = self._view("getAccount", account_hash)
        return Account(managed, to_canonical_address(wallet), name, description)

    def key_info(self, key_hash: int) -> KeyInfo:
        """Whose key this is; never refused."""
        return KeyInfo(*self._view("keyInfo", key_hash))

    # Usage keys

    def set_usage_key(self, acting_key: int, key: UsageKey) -> None:
        """Create a usage key, or replace all of one that this account has."""
        labels = (key.expiration, key.balance, key.name, key.description)
        self._write("setUsageApiKey", acting_key, key.key_hash, *labels, *key.permissions.arguments())

    def update_usage_key(
        self, acting_key: int, key_hash: int, name: str, description: str, permissions: Permissions
    ) -> None:
        """Replace a usage key's labels and permissions; its expiration and balance stay."""
        self._write("updateUsageApiKey", acting_key, key_hash, name, description, *permissions.arguments())

    def update_usage_key_metadata(self, acting_key: int, key_hash: int, name: str, description: str) -> None:
        """Replace a usage key's labels."""
        self._write("updateUsageApiKeyMetadata", acting_key, key_hash, name, description)

    def remove_usage_key(self, acting_key: int, key_hash: int) -> None:
        """Take a usage key away."""
        self._write("removeUsageApiKey", acting_key, key_hash)

    def usage_key(self, account_hash: int, key_hash: int) -> UsageKey:
        """One usage key's metadata."""
        return _usage_key(*self._view("getUsageApiKey", account_hash, key_hash)[0])

    def usage_keys(self, account_hash: int, page: int, size: int) -> list[UsageKey]:
        """A page of the account's usage keys."""
        return [_usage_key(*item) for item in self._view("listUsageApiKeys", account_hash, page, size)[0]]

    # Groups

    def add_group(
        self, acting_key: int, name: str, description: str, pkp_ids: Sequence[Hash], cid_hashes: Sequence[Hash]
    ) -> int:
        """Create a group and return its id."""
        receipt = self._write("addGroup", acting_key, name, description, pkp_ids, cid_hashes)
        created = next(log for log in receipt.logs if log.topics[0] == event_topic("GroupAdded"))
        return int.from_bytes(created.topics[2])

    def update_group(self, acting_key: int, group: Group, pkp_ids: Sequence[Hash], cid_hashes: Sequence[Hash]) -> None:
        """Replace a group's labels and both its lists."""
        self._write("updateGroup", acting_key, group.id, group.name, group.description, pkp_ids, cid_hashes)

    def remove_group(self, acting_key: int, group_id: int) -> None:
        """Remove a group, also from every key's permissions."""
        self._write("removeGroup", acting_key, group_id)

    def add_action_to_group(self, acting_key: int, group_id: int, cid_hash: Hash) -> None:
        """Permit an action in a group."""
        self._write("addActionToGroup", acting_key, group_id, cid_hash)

    def remove_action_from_group(self, acting_key: int, group_id: int, cid_hash: Hash) -> None:
        """Permit an action in a group no longer."""
        self._write("removeActionFromGroup", acting_key, group_id, cid_hash)

    def add_pkp_to_group(self, acting_key: int, group_id: int, pkp_id: Hash) -> None:
        """Permit a wallet in a group."""
        self._write("addPkpToGroup", acting_key, group_id, pkp_id)

    def remove_pkp_from_group(self, acting_key: int, group_id: int, pkp_id: Hash) -> None:
        """Permit a wallet in a group no longer."""
        self._write("removePkpFromGroup", acting_key, group_id, pkp_id)

    def change_actions_of_group(
        self, acting_key: int, group_id: int, added: Sequence[Hash], removed: Sequence[Hash]
    ) -> None:
        """Take some actions out of a group and permit others in it, all or nothing."""
        self._write("changeActionsOfGroup", acting_key, group_id, added, removed)

    def add_pkps_to_group(self, acting_key: int, group_id: int, pkp_ids: Sequence[Hash]) -> None:
        """Permit some wallets in a group, all or nothing."""
        self._write("addPkpsToGroup", acting_key, group_id, pkp_ids)

    def groups(self, account_hash: int, page: int, size: int) -> list[Group]:
        """A page of the account's groups."""
        return [Group(*item) for item in self._view("listGroups", account_hash, page, size)[0]]

    # Wallets and actions

    def create_wallet(
        self, acting_key: int, wallet_address: Address, derivation_path: int, name: str, description: str
    ) -> None:
        """Register a derived wallet to the account."""
        self._write("createWallet", acting_key, wallet_address, derivation_path, name, description)

    def wallet(self, account_hash: int, pkp_id: Hash) -> Wallet:
        """One registered wallet."""
        return _wallet(*self._view("getWallet", account_hash, pkp_id)[0])

    def derivation_owner(self, derivation_path: int) -> int:
        """The hash of the account that registered this path first, 0 for none."""
        return int(self._view("derivationOwner", derivation_path)[0])

    def wallets(self, account_hash: int, page: int, size: int) -> list[Wallet]:
        """A page of the account's wallets."""
        return [_wallet(*item) for item in self._view("listWallets", account_hash, page, size)[0]]

    def wallets_in_group(self, account_hash: int, group_id: int, page: int, size: int) -> list[Wallet]:
        """A page of what a group lists as wallets."""
        return [_wallet(*item) for item in self._view("listWalletsInGroup", account_hash, group_id, page, size)[0]]

    def add_action(self, acting_key: int, cid_hash: Hash, name: str, description: str) -> None:
        """Register an action's metadata."""
        self._write("addAction", acting_key, cid_hash, name, description)

    def update_action_metadata(self, acting_key: int, cid_hash: Hash, name: str, description: str) -> None:
        """Replace an action's metadata."""
        self._write("updateActionMetadata", acting_key, cid_hash, name, description)

    def delete_action(self, acting_key: int, cid_hash: Hash) -> None:
        """Delete an action from the account and all its groups."""
        self._write("deleteAction", acting_key, cid_hash)

    def actions(self, account_hash: int, page: int, size: int) -> list[Action]:
        """A page of the account's registered actions."""
        return [Action(*item) for item in self._view("listActions", account_hash, page, size)[0]]

    def actions_in_group(self, account_hash: int, group_id: int, page: int, size: int) -> list[Action]:
        """A page of what a group lists as actions."""
        return [Action(*item) for item in self._view("listActionsInGroup", account_hash, group_id, page, size)[0]]

    # The execution rule

    def can_run(self, key_hash: int, cid_hash: Hash) -> bool:
        """Whether conditions 1 and 2 of the execution rule hold."""
        return bool(self._view("canRun", key_hash, cid_hash)[0])

    def can_execute(self, key_hash: int, cid_hash: Hash, pkp_id: Hash) -> bool:
        """Whether the whole execution rule holds, the wallet being one of the account's own."""
        return bool(self._view("canExecute", key_hash, cid_hash, pkp_id)[0])

    # Payers

    def api_payers(self) -> list[Address]:
        """The wallets that may submit administrative writes."""
        return [to_canonical_address(payer) for payer in self._view("apiPayers")[0]]

    def admin_api_payer(self) -> Address:
        """The wallet that may change the payers."""
        return to_canonical_address(self._view("adminApiPayer")[0])

    # Events

    def account_events(self, first_block: int, last_block: int) -> Iterator[AccountCreated | AccountConverted]:
        """What became of accounts in these blocks, both included, in the order in which it happened."""
        for log in self.chain.logs(self.address, first_block, last_block):
            topic, account_hash = log.topics[0], int.from_bytes(log.topics[1]) if len(log.topics) > 1 else 0
            if topic == event_topic("AccountCreated"):
                yield AccountCreated(account_hash, log.topics[2][12:], bool(int.from_bytes(log.data[:32])))
            elif topic == event_topic("AccountConverted"):
                yield AccountConverted(account_hash, log.topics[2][12:], log.topics[3][12:])

    def _view(self, function: str, *arguments: object) -> tuple[Any, ...]:
        try:
            returned = self.chain.call(self.address, call_data(function, *arguments))
        except Reverted as reverted:
            raise refusal(reverted) from None
        return results(function, returned)

    def _write(self, function: str, *arguments: object) -> Receipt:
        try:
            return self._payers.submit(self.address, call_data(function, *arguments))
        except Reverted as reverted:
            raise refusal(reverted) from None


def _usage_key(
    key_hash: int, expiration: int, balance: int, name: str, description: str, *permissions: Any
) -> UsageKey:
    return UsageKey(key_hash, expiration, balance, name, description, Permissions(*permissions))


def _wallet(wallet_id: Hash, address: str, derivation_path: int, name: str, description: str) -> Wallet:
    return Wallet(wallet_id, to_canonical_address(address), derivation_path, name, description)
