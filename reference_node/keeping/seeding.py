"""Creates the accounts of `--seed-accounts`, once. In a state that has them they are left as clients changed them."""

from __future__ import annotations

from eth_utils.address import to_checksum_address

from reference_node.billing import Billing, Cents
from reference_node.chain.account_config import AccountConfig, Permissions, UsageKey
from reference_node.keeping.seed_file import Names, SeedAccount, SeedError, SeedFile
from reference_node.keeping.state_folder import StateFolder
from reference_node.permission.cid import cid_hash
from reference_node.permission.keys import KeyDerivation, address_of, key_hash, key_text, pkp_id
from reference_node.strict_json import Json

WILDCARD = bytes(32)

PAGE = 100


def seed_accounts(
    accounts: AccountConfig, billing: Billing, keys: KeyDerivation, seeds: SeedFile, state: StateFolder | None
) -> None:
    """Create the accounts that the node has not created from this file before. Raises `SeedError`."""
    made = set(state.seeded) if state else set()
    for account in seeds.accounts:
        seeding = Seeding(seeds, account, keys)
        if seeding.name not in made:
            seeding.make(accounts, billing)
            made.add(seeding.name)
            if state:
                state.keep_seeded(sorted(made))


def described(seeds: SeedFile, keys: KeyDerivation) -> dict[str, Json]:
    """The accounts for the ready file, by name: keys, wallets and ids of groups as created."""
    return {account.name: Seeding(seeds, account, keys).described for account in seeds.accounts}


class Seeding:
    """The creation of one account, which a later process continues if this one dies."""

    def __init__(self, seeds: SeedFile, account: SeedAccount, keys: KeyDerivation) -> None:
        self._seeds, self._account = seeds, account
        self._secret = seeds.key_of(account)
        self._hash = key_hash(self._secret)
        self._groups = {group.name: index for index, group in enumerate(account.groups, 1)}
        self._wallets = {
            name: address_of(keys.wallet_key(seeds.derivation_path(account, name))) for name in account.wallets
        }

    @property
    def name(self) -> str:
        """The name of the account in a state."""
        return f"{self._hash:064x}"

    @property
    def described(self) -> Json:
        """The description of the account for its clients."""
        return {
            "api_key": key_text(self._secret),
            "wallet_address": to_checksum_address(address_of(self._secret)),
            "wallets": {
                name: {"pkp_id": f"0x{pkp_id(address).hex()}", "wallet_address": to_checksum_address(address)}
                for name, address in self._wallets.items()
            },
            "groups": dict(self._groups),
            "usage_keys": {
                key.name: key_text(self._seeds.key_of(self._account, key)) for key in self._account.usage_keys
            },
        }

    def make(self, accounts: AccountConfig, billing: Billing) -> None:
        """Create the missing objects, in the order of the file. Raises `SeedError`."""
        account, wallet = self._account, address_of(self._secret)
        billing.open_record(wallet, None if account.credits is None else Cents(account.credits))
        if not accounts.account_exists(self._hash):
            accounts.new_account(self._hash, wallet, account.name, account.description)
        for name in account.wallets[len(accounts.wallets(self._hash, 0, PAGE)) :]:
            path = self._seeds.derivation_path(account, name)
            accounts.create_wallet(self._hash, self._wallets[name], path, name, "")
        self._make_groups(accounts)
        self._make_usage_keys(accounts)

    def _make_groups(self, accounts: AccountConfig) -> None:
        account = self._account
        for group in account.groups[len(accounts.groups(self._hash, 0, PAGE)) :]:
            chosen = group.wallets
            pkps = [pkp_id(self._wallets[name]) for name in chosen] if isinstance(chosen, list) else [WILDCARD]
            actions = group.actions
            cids = [cid_hash(cid) for cid in actions] if isinstance(actions, list) else [WILDCARD]
            given = accounts.add_group(self._hash, group.name, group.description, pkps, cids)
            if given != self._groups[group.name]:
                raise SeedError(f"the account {account.name!r} has had other groups: start with another state folder")

    def _make_usage_keys(self, accounts: AccountConfig) -> None:
        account = self._account
        for key in account.usage_keys[len(accounts.usage_keys(self._hash, 0, PAGE)) :]:
            permissions = Permissions(
                can_create_groups=key.can_create_groups,
                can_delete_groups=key.can_delete_groups,
                can_create_pkps=key.can_create_pkps,
                **{name: self._ids(groups) for name, groups in key.groups.items()},
            )
            hashed = key_hash(self._seeds.key_of(account, key))
            accounts.set_usage_key(self._hash, UsageKey(hashed, 0, 0, key.name, key.description, permissions))

    def _ids(self, groups: Names) -> list[int]:
        return [self._groups[name] for name in groups] if isinstance(groups, list) else [0]
