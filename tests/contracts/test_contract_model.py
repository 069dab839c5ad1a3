"""AccountConfig beside the model: any sequence of writes has the same outcomes, and leaves the same views."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from account_model import AccountModel
from deployed import Refused, Wallet
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from model_state import GROUP_SCOPES, Group, Refusal
from world import (
    ACCOUNT,
    ADMIN_PAYER,
    CID,
    KEY,
    NEW_CID,
    NEW_KEY,
    NEW_OWNER,
    NEW_PKP,
    OTHER_ACCOUNT,
    OTHER_KEY,
    OTHER_OWNER,
    OTHER_PKP,
    OWNER,
    PAYER,
    PKP,
    POPULATION,
    SECOND_CID,
    SECOND_PAYER,
    STRANGER,
    UNKNOWN,
    WILDCARD,
    own_hash,
    permissions,
    pkp_id,
    populated,
)

ZERO_ADDRESS = "0x" + bytes(20).hex()
SENDERS = (PAYER, ADMIN_PAYER, OWNER, NEW_OWNER, OTHER_OWNER, STRANGER)
OWN_ACCOUNT = own_hash(STRANGER)
ACCOUNTS = (ACCOUNT, OTHER_ACCOUNT, OWN_ACCOUNT)
KEYS = (KEY, NEW_KEY, OTHER_KEY)

usage_keys = st.sampled_from([KEY, NEW_KEY, KEY, NEW_KEY, OTHER_KEY, OTHER_ACCOUNT, ACCOUNT, 0])
acting_keys = st.sampled_from([ACCOUNT, KEY, OTHER_ACCOUNT, OTHER_KEY, NEW_KEY, OWN_ACCOUNT])
owner_keys = st.sampled_from([ACCOUNT, OTHER_ACCOUNT, ACCOUNT, OTHER_ACCOUNT, OWN_ACCOUNT, KEY])
addresses = st.sampled_from([PKP.address, NEW_PKP.address, OTHER_PKP.address, ZERO_ADDRESS])
pkps = st.sampled_from([pkp_id(PKP), pkp_id(NEW_PKP), pkp_id(OTHER_PKP), WILDCARD])
cids = st.sampled_from([CID, SECOND_CID, NEW_CID, WILDCARD])
places = st.integers(-1, 5)
"""Which of an account's groups, modulo their number; -1 is one that it does not have."""
texts = st.sampled_from(["", "a label", "a label longer than the thirty-one bytes of a short one"])
expirations = st.sampled_from([0, 0, 0, 1, 40])
arrays = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3)
granted = st.tuples(st.booleans(), st.booleans(), st.booleans(), arrays, arrays, arrays, arrays)
lists = st.tuples(st.lists(pkps, max_size=2), st.lists(cids, max_size=3))
odd_sender = st.sampled_from([*[None] * 8, *SENDERS])
"""Mostly the wallet that may write (`None`); sometimes any."""


def snake_case(name: str) -> str:
    """The model's name of a contract function."""
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


class Machine(RuleBasedStateMachine):
    """One rule for each kind of write. After each, the account written to is compared; at the end, all of them are."""

    @initialize()
    def begin(self) -> None:
        """Two accounts with something in them, one of each mode, and a usage key that may do all that such keys may."""
        self.world = populated()
        self.model = AccountModel([ADMIN_PAYER, PAYER, SECOND_PAYER], self.world.now)
        for function, *arguments in POPULATION:
            self.in_model(str(function))(PAYER, *arguments)
        every = permissions(
            create_groups=True, delete_groups=True, create_pkps=True, manage=[0], add=[0, 1], remove=[0]
        )
        self.write("updateUsageApiKey", ACCOUNT, KEY, "", "", *every, sender=None)
        self.write("convertToChainSecuredAccount", OTHER_ACCOUNT, OTHER_OWNER.address, sender=None)

    def in_model(self, function: str) -> Callable[..., None]:
        """The model's write of this name."""
        return cast(Callable[..., None], getattr(self.model, snake_case(function)))

    def write(self, function: str, *arguments: object, sender: Wallet | None) -> None:
        """Do the same to both and compare what comes of it."""
        if sender is None:
            number = self.model.account_of(cast(int, arguments[0]))
            permitted = [wallet for wallet in SENDERS if number and self.model.permitted_sender(wallet, number)]
            sender = next(iter(permitted), PAYER)
        expected = actual = None
        before = self.world.config.storage()
        try:
            self.in_model(function)(sender, *arguments)
        except Refusal as refusal:
            expected = refusal.named
        try:
            self.world.write(function, *arguments, sender=sender)
        except Refused as refused:
            actual = refused.refusal
        assert actual == expected, f"{function}{arguments}"
        if expected is None:
            self.compare(self.model.account_of(cast(int, arguments[0])))
        else:
            assert self.world.config.storage() == before

    def group_id(self, key: int, place: int) -> int:
        """The group at a place in the list of the key's account."""
        account = self.model.accounts.get(self.model.account_of(key))
        existing = list(account.groups) if account else []
        return existing[place % len(existing)] if existing and place >= 0 else 9

    # ---- writes ----

    @rule(kind=st.integers(0, 5), key=usage_keys, admin=st.sampled_from([*SENDERS, None]), sender=odd_sender)
    def change_accounts(self, kind: int, key: int, admin: Wallet | None, sender: Wallet | None) -> None:
        address = admin.address if admin else ZERO_ADDRESS
        if kind == 0:
            self.write("newChainSecuredAccount", "", "", sender=sender or STRANGER)
        elif kind == 1:
            self.write("convertToChainSecuredAccount", key, address, sender=sender)
        else:
            self.write("newAccount", key, address, "", "", sender=sender or PAYER)

    @rule(owner=st.booleans(), key=acting_keys, address=addresses, path=st.integers(11, 14), sender=odd_sender)
    def register(self, owner: bool, key: int, address: str, path: int, sender: Wallet | None) -> None:
        function = "registerWalletDerivation" if owner else "createWallet"
        self.write(function, key, address, path, "", "", sender=sender)

    @rule(key=owner_keys, usage_key=usage_keys, expiration=expirations, name=texts, granted=granted, sender=odd_sender)
    def set_key(
        self,
        key: int,
        usage_key: int,
        expiration: int,
        name: str,
        granted: tuple[object, ...],
        sender: Wallet | None,
    ) -> None:
        until = expiration and self.world.now + expiration
        self.write("setUsageApiKey", key, usage_key, until, 5, name, "", *granted, sender=sender)

    @rule(key=owner_keys, usage_key=usage_keys, name=texts, granted=granted, sender=odd_sender)
    def update_key(
        self, key: int, usage_key: int, name: str, granted: tuple[object, ...], sender: Wallet | None
    ) -> None:
        self.write("updateUsageApiKey", key, usage_key, name, "", *granted, sender=sender)

    @rule(key=owner_keys, usage_key=usage_keys, name=texts, sender=odd_sender)
    def relabel_key(self, key: int, usage_key: int, name: str, sender: Wallet | None) -> None:
        self.write("updateUsageApiKeyMetadata", key, usage_key, name, "", sender=sender)

    @rule(key=owner_keys, usage_key=usage_keys, sender=odd_sender)
    def remove_key(self, key: int, usage_key: int, sender: Wallet | None) -> None:
        self.write("removeUsageApiKey", key, usage_key, sender=sender)

    @rule(key=acting_keys, name=texts, lists=lists, sender=odd_sender)
    def add_group(self, key: int, name: str, lists: tuple[object, object], sender: Wallet | None) -> None:
        self.write("addGroup", key, name, "", *lists, sender=sender)

    @rule(key=owner_keys, place=places, name=texts, lists=lists, sender=odd_sender)
    def update_group(
        self, key: int, place: int, name: str, lists: tuple[object, object], sender: Wallet | None
    ) -> None:
        self.write("updateGroup", key, self.group_id(key, place), name, "", *lists, sender=sender)

    @rule(key=acting_keys, place=places, sender=odd_sender)
    def remove_group(self, key: int, place: int, sender: Wallet | None) -> None:
        self.write("removeGroup", key, self.group_id(key, place), sender=sender)

    @rule(add=st.booleans(), key=acting_keys, place=places, cid=cids, sender=odd_sender)
    def change_actions(self, add: bool, key: int, place: int, cid: bytes, sender: Wallet | None) -> None:
        function = "addActionToGroup" if add else "removeActionFromGroup"
        self.write(function, key, self.group_id(key, place), cid, sender=sender)

    @rule(add=st.booleans(), key=acting_keys, place=places, pkp=pkps, sender=odd_sender)
    def change_pkps(self, add: bool, key: int, place: int, pkp: bytes, sender: Wallet | None) -> None:
        function = "addPkpToGroup" if add else "removePkpFromGroup"
        self.write(function, key, self.group_id(key, place), pkp, sender=sender)

    @rule(function=st.sampled_from(["addAction", "updateActionMetadata"]), key=owner_keys, cid=cids, name=texts)
    def label_action(self, function: str, key: int, cid: bytes, name: str) -> None:
        self.write(function, key, cid, name, "", sender=None)

    @rule(key=owner_keys, cid=cids, sender=odd_sender)
    def delete_action(self, key: int, cid: bytes, sender: Wallet | None) -> None:
        self.write("deleteAction", key, cid, sender=sender)

    @rule(seconds=st.sampled_from([1, 39, 40]))
    def wait(self, seconds: int) -> None:
        self.world.now += seconds
        self.model.now += seconds

    # ---- comparison ----

    @rule(key=acting_keys, cid=cids, pkp=pkps)
    def ask(self, key: int, cid: bytes, pkp: bytes) -> None:
        self.compare_execution(key, cid, pkp)

    def compare(self, number: int) -> None:
        """All views of one account, and its wallets' execution rule for every key of it."""
        config = self.world.config
        assert config.call("accountExists", number) is (number in self.model.accounts)
        account = self.model.accounts.get(number)
        if account is None:
            return
        assert config.call("getAccount", number) == (account.managed, account.admin, account.name, account.description)
        assert config.rows("listUsageApiKeys", number, 0, 100) == tuple(
            self.key_row(number, key) for key in account.keys
        )
        labels = tuple((group_id, group.name, group.description) for group_id, group in account.groups.items())
        assert config.rows("listGroups", number, 0, 100) == labels
        assert config.rows("listWallets", number, 0, 100) == self.wallet_rows(number, account.wallets)
        assert config.rows("listActions", number, 0, 100) == self.action_rows(number, account.actions)
        for group_id, group in account.groups.items():
            self.compare_group(number, group_id, group)
        for key in (number, *account.keys):
            self.compare_execution(key, CID, pkp_id(PKP))

    def compare_group(self, number: int, group_id: int, group: Group) -> None:
        """Both lists of a group."""
        config = self.world.config
        wallets = config.rows("listWalletsInGroup", number, group_id, 0, 100)
        assert wallets == self.wallet_rows(number, group.pkps)
        actions = config.rows("listActionsInGroup", number, group_id, 0, 100)
        assert actions == self.action_rows(number, group.cids)

    def compare_execution(self, key: int, cid: bytes, pkp: bytes) -> None:
        """The execution rule for one key."""
        assert self.world.config.call("canExecute", key, cid, pkp) is self.model.can_execute(key, cid, pkp)
        assert self.world.config.call("canRun", key, cid) is self.model.can_run(key, cid)

    def key_row(self, number: int, key: int) -> tuple[object, ...]:
        """A usage key as the views give it."""
        record = self.model.accounts[number].keys[key]
        groups = (tuple(sorted(record.groups[scope])) for scope in GROUP_SCOPES)
        return (key, record.expiration, record.balance, record.name, record.description, *record.bools, *groups)

    def wallet_rows(self, number: int, listed: object) -> tuple[tuple[object, ...], ...]:
        """Wallets as the views give them."""
        wallets = self.model.accounts[number].wallets
        ids = cast("list[bytes]", listed)
        return tuple((pkp, *wallets.get(pkp, (ZERO_ADDRESS, 0, "", ""))) for pkp in ids)

    def action_rows(self, number: int, listed: object) -> tuple[tuple[object, ...], ...]:
        """Actions as the views give them."""
        actions = self.model.accounts[number].actions
        return tuple((cid, *actions.get(cid, ("", ""))) for cid in cast("list[bytes]", listed))

    def teardown(self) -> None:
        """Every account once more: no write may have reached another than its own."""
        if not hasattr(self, "model"):
            return
        for number in ACCOUNTS:
            self.compare(number)
        for key in (*ACCOUNTS, *KEYS, UNKNOWN):
            number = self.model.account_of(key)
            account = self.model.accounts.get(number)
            managed = account is not None and account.managed
            record = account.keys.get(key) if account else None
            expected = (number, number == key, managed, record.expiration if record else 0)
            assert self.world.config.call("keyInfo", key) == expected
        for path in range(10, 15):
            assert self.world.config.call("derivationOwner", path) == self.model.first_registrant.get(path, 0)


Machine.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestAccountConfigBesideTheModel = Machine.TestCase
