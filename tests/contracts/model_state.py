"""The state of the model of AccountConfig, and who may change it (specification, "Resources" and "Authentication")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from deployed import Named, Wallet

GROUP_SCOPES = ("group:manageActions", "group:addPkp", "group:removePkp", "execute")
ACCOUNT_SCOPES = ("group:create", "group:delete", "pkp:create")
MANAGE, ADD, REMOVE, EXECUTE = GROUP_SCOPES
CREATE_GROUP, DELETE_GROUP, CREATE_PKP = ACCOUNT_SCOPES


class Refusal(Exception):  # noqa: N818 - named for what happened
    """The write must be refused with this error and these arguments."""

    def __init__(self, *named: object) -> None:
        super().__init__(named)
        self.named: Named = named


@dataclass
class Group:
    """Specification, "Resources / Group"."""

    name: str
    description: str
    pkps: list[bytes] = field(default_factory=list)
    cids: list[bytes] = field(default_factory=list)


@dataclass
class Key:
    """Specification, "Resources / Usage API key"."""

    expiration: int = 0
    balance: int = 0
    name: str = ""
    description: str = ""
    bools: tuple[bool, ...] = (False, False, False)
    groups: dict[str, set[int]] = field(default_factory=dict)
    """The four arrays by scope."""


@dataclass
class Account:
    """Specification, "Resources / Account", with its children in the order of their creation."""

    managed: bool
    admin: str
    name: str
    description: str
    latest_group: int = 0
    groups: dict[int, Group] = field(default_factory=dict)
    wallets: dict[bytes, tuple[str, int, str, str]] = field(default_factory=dict)
    actions: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    keys: dict[int, Key] = field(default_factory=dict)


class ModelState:
    """All accounts. `now` is the time of the chain in Unix seconds."""

    def __init__(self, payers: Iterable[Wallet], now: int) -> None:
        self.payers = {payer.address for payer in payers}
        self.now = now
        self.accounts: dict[int, Account] = {}
        self.first_registrant: dict[int, int] = {}

    # ---- who may do what: Authentication 2, 3, 8, 9 ----

    def account_of(self, key: int) -> int:
        """The account that a key belongs to, its own hash included; 0 if none. An account comes before a usage key."""
        if key in self.accounts:
            return key
        owners = [number for number, account in self.accounts.items() if key in account.keys]
        return owners[0] if owners else 0

    def permitted_sender(self, sender: Wallet, number: int) -> bool:
        """Whether this wallet may send writes for this account."""
        account = self.accounts[number]
        return sender.address in self.payers if account.managed else sender.address == account.admin

    def expired(self, number: int, key: int) -> bool:
        """Whether a key of this account is past its expiration."""
        record = self.accounts[number].keys.get(key)
        return record is not None and record.expiration != 0 and self.now >= record.expiration

    def _acting(self, sender: Wallet, key: int, unknown: str) -> tuple[int, Account]:
        number = self.account_of(key)
        if number == 0:
            raise Refusal(unknown, key)
        if not self.permitted_sender(sender, number):
            raise Refusal("SenderNotPermitted", number, sender.address)
        if self.expired(number, key):
            raise Refusal("KeyExpired", key, self.accounts[number].keys[key].expiration)
        return number, self.accounts[number]

    def _owner(self, sender: Wallet, key: int) -> Account:
        number, account = self._acting(sender, key, "AccountUnknown")
        if number != key:
            raise Refusal("OwnerOnly", key)
        return account

    def _scope(self, account: Account, key: int, scope: str, group_id: int = 0) -> None:
        record = account.keys.get(key)
        if record is None:
            return
        if scope in GROUP_SCOPES:
            held = bool(record.groups[scope] & {0, group_id})
        else:
            held = record.bools[ACCOUNT_SCOPES.index(scope)]
        if not held:
            raise Refusal("ScopeMissing", key, scope, group_id)

    def _group(self, number: int, group_id: int) -> Group:
        group = self.accounts[number].groups.get(group_id)
        if group is None:
            raise Refusal("GroupUnknown", number, group_id)
        return group
