"""What AccountConfig has to do, in plain Python, written from the specification: lists are walked, nothing is indexed.

Each write has the contract's name, in snake case, and its arguments, with the sender before them, and raises `Refusal`.
"""

from __future__ import annotations

from collections.abc import Iterable

from deployed import Wallet
from eth_utils.crypto import keccak
from model_state import (
    ADD,
    CREATE_GROUP,
    CREATE_PKP,
    DELETE_GROUP,
    EXECUTE,
    GROUP_SCOPES,
    MANAGE,
    REMOVE,
    Account,
    Group,
    Key,
    ModelState,
    Refusal,
)
from world import WILDCARD, own_hash

ZERO_ADDRESS = "0x" + bytes(20).hex()


class AccountModel(ModelState):
    """All writes, and the execution rule."""

    # ---- accounts: States / Account mode ----

    def new_account(self, sender: Wallet, key: int, admin: str, name: str, description: str) -> None:
        if sender.address not in self.payers:
            raise Refusal("SenderNotPermitted", key, sender.address)
        if key == 0:
            raise Refusal("ZeroHash")
        if admin == ZERO_ADDRESS:
            raise Refusal("ZeroAddress")
        self._create(key, Account(True, admin, name, description))

    def new_chain_secured_account(self, sender: Wallet, name: str, description: str) -> None:
        self._create(own_hash(sender), Account(False, sender.address, name, description))

    def _create(self, key: int, account: Account) -> None:
        if key in self.accounts:
            raise Refusal("AccountExists", key)
        self.accounts[key] = account

    def convert_to_chain_secured_account(self, sender: Wallet, key: int, admin: str) -> None:
        number = self.account_of(key)
        if number == 0:
            raise Refusal("AccountUnknown", key)
        account = self.accounts[number]
        if sender.address not in {*self.payers, account.admin}:
            raise Refusal("SenderNotPermitted", number, sender.address)
        if number != key:
            raise Refusal("OwnerOnly", key)
        if not account.managed:
            raise Refusal("AlreadyChainSecured", key)
        if admin == ZERO_ADDRESS:
            raise Refusal("ZeroAddress")
        account.managed, account.admin = False, admin

    # ---- wallets: Resources / Wallet (PKP) ----

    def register_wallet_derivation(self, sender: Wallet, key: int, address: str, path: int, *labels: str) -> None:
        self._register(key, self._owner(sender, key), address, path, *labels)

    def create_wallet(self, sender: Wallet, key: int, address: str, path: int, *labels: str) -> None:
        number, account = self._acting(sender, key, "KeyUnknown")
        self._scope(account, key, CREATE_PKP)
        self._register(number, account, address, path, *labels)

    def _register(self, number: int, account: Account, address: str, path: int, name: str, description: str) -> None:
        if address == ZERO_ADDRESS:
            raise Refusal("ZeroAddress")
        pkp = keccak(hexstr=address)
        if pkp in account.wallets:
            raise Refusal("WalletExists", number, pkp)
        account.wallets[pkp] = (address, path, name, description)
        self.first_registrant.setdefault(path, number)

    # ---- usage keys: States / Usage key ----

    def set_usage_api_key(
        self,
        sender: Wallet,
        key: int,
        usage_key: int,
        expiration: int,
        balance: int,
        name: str,
        description: str,
        *granted: bool | Iterable[int],
    ) -> None:
        account = self._owner(sender, key)
        if usage_key == 0:
            raise Refusal("ZeroHash")
        if usage_key not in account.keys and self.account_of(usage_key):
            raise Refusal("KeyHashInUse", usage_key)
        account.keys[usage_key] = self._key(key, expiration, balance, name, description, *granted)

    def update_usage_api_key(
        self, sender: Wallet, key: int, usage_key: int, name: str, description: str, *granted: bool | Iterable[int]
    ) -> None:
        account = self._owner(sender, key)
        record = self._usage_key(key, usage_key)
        account.keys[usage_key] = self._key(key, record.expiration, record.balance, name, description, *granted)

    def update_usage_api_key_metadata(
        self, sender: Wallet, key: int, usage_key: int, name: str, description: str
    ) -> None:
        self._owner(sender, key)
        record = self._usage_key(key, usage_key)
        record.name, record.description = name, description

    def remove_usage_api_key(self, sender: Wallet, key: int, usage_key: int) -> None:
        account = self._owner(sender, key)
        self._usage_key(key, usage_key)
        del account.keys[usage_key]

    def _usage_key(self, number: int, usage_key: int) -> Key:
        record = self.accounts[number].keys.get(usage_key)
        if record is None:
            raise Refusal("UsageKeyUnknown", number, usage_key)
        return record

    def _key(
        self, number: int, expiration: int, balance: int, name: str, description: str, *granted: bool | Iterable[int]
    ) -> Key:
        arrays = [tuple(array) for array in granted[3:] if not isinstance(array, bool)]
        for group_id in (group_id for array in arrays for group_id in array if group_id != 0):
            self._group(number, group_id)
        bools = tuple(value is True for value in granted[:3])
        groups = {scope: set(array) for scope, array in zip(GROUP_SCOPES, arrays, strict=True)}
        return Key(expiration, balance, name, description, bools, groups)

    # ---- groups: States / Group ----

    def add_group(
        self, sender: Wallet, key: int, name: str, description: str, pkps: list[bytes], cids: list[bytes]
    ) -> None:
        number, account = self._acting(sender, key, "KeyUnknown")
        self._scope(account, key, CREATE_GROUP)
        if pkps:
            self._scope(account, key, ADD)
        if cids:
            self._scope(account, key, MANAGE)
        self._known_wallets(number, pkps)
        account.latest_group += 1
        account.groups[account.latest_group] = Group(name, description, unique(pkps), unique(cids))

    def update_group(
        self, sender: Wallet, key: int, group_id: int, name: str, description: str, pkps: list[bytes], cids: list[bytes]
    ) -> None:
        account = self._owner(sender, key)
        self._group(key, group_id)
        self._known_wallets(key, pkps)
        account.groups[group_id] = Group(name, description, unique(pkps), unique(cids))

    def remove_group(self, sender: Wallet, key: int, group_id: int) -> None:
        number, account = self._acting(sender, key, "KeyUnknown")
        self._scope(account, key, DELETE_GROUP)
        self._group(number, group_id)
        del account.groups[group_id]
        for record in account.keys.values():
            for array in record.groups.values():
                array.discard(group_id)

    def add_action_to_group(self, sender: Wallet, key: int, group_id: int, cid: bytes) -> None:
        _, group = self._acting_in(sender, key, MANAGE, group_id)
        put(group.cids, cid, group_id)

    def remove_action_from_group(self, sender: Wallet, key: int, group_id: int, cid: bytes) -> None:
        _, group = self._acting_in(sender, key, MANAGE, group_id)
        take(group.cids, cid, group_id)

    def add_pkp_to_group(self, sender: Wallet, key: int, group_id: int, pkp: bytes) -> None:
        number, group = self._acting_in(sender, key, ADD, group_id)
        self._known_wallets(number, [pkp])
        put(group.pkps, pkp, group_id)

    def remove_pkp_from_group(self, sender: Wallet, key: int, group_id: int, pkp: bytes) -> None:
        _, group = self._acting_in(sender, key, REMOVE, group_id)
        take(group.pkps, pkp, group_id)

    def _acting_in(self, sender: Wallet, key: int, scope: str, group_id: int) -> tuple[int, Group]:
        number, account = self._acting(sender, key, "KeyUnknown")
        group = self._group(number, group_id)
        self._scope(account, key, scope, group_id)
        return number, group

    def _known_wallets(self, number: int, pkps: Iterable[bytes]) -> None:
        for pkp in pkps:
            if pkp != WILDCARD and pkp not in self.accounts[number].wallets:
                raise Refusal("WalletUnknown", number, pkp)

    # ---- actions: Resources / Action ----

    def add_action(self, sender: Wallet, key: int, cid: bytes, name: str, description: str) -> None:
        account = self._owner(sender, key)
        if cid == WILDCARD:
            raise Refusal("ZeroHash")
        if cid in account.actions:
            raise Refusal("ActionExists", key, cid)
        account.actions[cid] = (name, description)

    def update_action_metadata(self, sender: Wallet, key: int, cid: bytes, name: str, description: str) -> None:
        self._known_action(sender, key, cid).actions[cid] = (name, description)

    def delete_action(self, sender: Wallet, key: int, cid: bytes) -> None:
        account = self._known_action(sender, key, cid)
        del account.actions[cid]
        for group in account.groups.values():
            group.cids = [listed for listed in group.cids if listed != cid]

    def _known_action(self, sender: Wallet, key: int, cid: bytes) -> Account:
        account = self._owner(sender, key)
        if cid not in account.actions:
            raise Refusal("ActionUnknown", key, cid)
        return account

    # ---- Endpoints / Execution rule ----

    def can_run(self, key: int, cid: bytes) -> bool:
        """Conditions 1 and 2."""
        return bool(self._groups_for(key, cid))

    def can_execute(self, key: int, cid: bytes, pkp: bytes) -> bool:
        """All three, for a wallet of the account."""
        account = self.accounts.get(self.account_of(key))
        if account is None or pkp not in account.wallets:
            return False
        return any({pkp, WILDCARD} & set(group.pkps) for group in self._groups_for(key, cid))

    def _groups_for(self, key: int, cid: bytes) -> list[Group]:
        number = self.account_of(key)
        if number == 0 or self.expired(number, key):
            return []
        account = self.accounts[number]
        named = {0} if key == number else account.keys[key].groups[EXECUTE]
        usable = [group for group_id, group in account.groups.items() if named & {0, group_id}]
        return [group for group in usable if {cid, WILDCARD} & set(group.cids)]


def unique(items: Iterable[bytes]) -> list[bytes]:
    """Each item once, in the order of first mention."""
    return list(dict.fromkeys(items))


def put(items: list[bytes], item: bytes, group_id: int) -> None:
    """Append an item that must not be there."""
    if item in items:
        raise Refusal("AlreadyInGroup", group_id, item)
    items.append(item)


def take(items: list[bytes], item: bytes, group_id: int) -> None:
    """Remove an item that must be there."""
    if item not in items:
        raise Refusal("NotInGroup", group_id, item)
    items.remove(item)
