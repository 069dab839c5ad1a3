"""The contract with two accounts in it, and one row for each administrative write: what it needs and what it emits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from deployed import Deployed, Named, Wallet
from eth_utils.crypto import keccak

from reference_node.chain.evm import EvmChain

START = 1_800_000_000

ADMIN_PAYER = Wallet.numbered(1001)
PAYER = Wallet.numbered(1002)
SECOND_PAYER = Wallet.numbered(1003)
OWNER = Wallet.numbered(1004)
NEW_OWNER = Wallet.numbered(1005)
OTHER_OWNER = Wallet.numbered(1006)
STRANGER = Wallet.numbered(1007)
EVERYONE = (ADMIN_PAYER, PAYER, SECOND_PAYER, OWNER, NEW_OWNER, OTHER_OWNER, STRANGER)


def hash_of(text: str) -> bytes:
    """32 bytes that stand for a hashed CID."""
    return keccak(text=text)


def key_hash(text: str) -> int:
    """A number that stands for a key's hash."""
    return int.from_bytes(hash_of(text), "big")


def pkp_id(wallet: Wallet) -> bytes:
    """The PKP id of a wallet."""
    return keccak(wallet.raw_address)


def own_hash(wallet: Wallet) -> int:
    """The hash of the account that this wallet creates on the chain."""
    return int.from_bytes(pkp_id(wallet))


ACCOUNT = key_hash("account")
KEY = key_hash("usage key")
NEW_KEY = key_hash("new usage key")
OTHER_ACCOUNT = key_hash("other account")
OTHER_KEY = key_hash("other usage key")
UNKNOWN = key_hash("unknown")

PKP, SECOND_PKP, NEW_PKP, OTHER_PKP = (Wallet.numbered(2001 + number) for number in range(4))
CID, SECOND_CID, NEW_CID = hash_of("QmOne"), hash_of("QmTwo"), hash_of("QmNew")
WILDCARD = bytes(32)


def permissions(
    *,
    create_groups: bool = False,
    delete_groups: bool = False,
    create_pkps: bool = False,
    manage: Iterable[int] = (),
    add: Iterable[int] = (),
    remove: Iterable[int] = (),
    execute: Iterable[int] = (),
) -> tuple[object, ...]:
    """The seven permission arguments, none granted unless named."""
    return (create_groups, delete_groups, create_pkps, tuple(manage), tuple(add), tuple(remove), tuple(execute))


NONE = permissions()


class World:
    """A fresh chain with the contract on it, and a clock to be set."""

    def __init__(self) -> None:
        self.now = START
        chain = EvmChain(31337, lambda: self.now, {wallet.raw_address: 10**24 for wallet in EVERYONE})
        payers = [PAYER.address, SECOND_PAYER.address]
        self.config = Deployed(chain, "AccountConfig", (ADMIN_PAYER.address, payers), ADMIN_PAYER)

    def write(self, function: str, *arguments: object, sender: Wallet = PAYER) -> list[Named]:
        """A write by a payer unless said otherwise; its events."""
        return self.config.write(function, *arguments, sender=sender)

    def refusal(self, function: str, *arguments: object, sender: Wallet = PAYER) -> Named:
        """The refusal of a write by a payer unless said otherwise."""
        return self.config.refusal(function, *arguments, sender=sender)

    def gas(self, function: str, *arguments: object, sender: Wallet = PAYER) -> int:
        """Gas of a write that succeeds."""
        receipt = self.config.receipt(function, *arguments, sender=sender)
        assert receipt.succeeded, function
        return receipt.gas_used

    def grant(self, granted: tuple[object, ...], expiration: int = 0) -> None:
        """Replace all values of the usage key."""
        self.write("setUsageApiKey", ACCOUNT, KEY, expiration, 0, "key", "of the account", *granted)


POPULATION: tuple[tuple[object, ...], ...] = (
    ("newAccount", ACCOUNT, OWNER.address, "account", "of the owner"),
    ("createWallet", ACCOUNT, PKP.address, 11, "pkp", "first"),
    ("createWallet", ACCOUNT, SECOND_PKP.address, 12, "second pkp", "second"),
    ("addAction", ACCOUNT, CID, "action", "first"),
    ("addAction", ACCOUNT, SECOND_CID, "second action", "second"),
    ("addGroup", ACCOUNT, "group", "first", [pkp_id(PKP)], [CID]),
    ("addGroup", ACCOUNT, "second group", "second", [], []),
    ("setUsageApiKey", ACCOUNT, KEY, 0, 0, "key", "of the account", *NONE),
    ("newAccount", OTHER_ACCOUNT, OTHER_OWNER.address, "other", ""),
    ("createWallet", OTHER_ACCOUNT, OTHER_PKP.address, 13, "", ""),
    ("addGroup", OTHER_ACCOUNT, "", "", [pkp_id(OTHER_PKP)], [CID]),
    ("setUsageApiKey", OTHER_ACCOUNT, OTHER_KEY, 0, 0, "", "", *NONE),
)
"""The writes, by a payer, that create both accounts: function, then arguments."""


@cache
def _populated_storage() -> dict[int, int]:
    world = World()
    for function, *arguments in POPULATION:
        world.write(str(function), *arguments)
    return world.config.storage()


def populated() -> World:
    """A managed account with two groups, two wallets, two actions and a powerless usage key; and a smaller one.

    Group 1 lists the first wallet and the first action, group 2 nothing. They are created once and copied.
    """
    world = World()
    world.config.restore(_populated_storage())
    return world


def snapshot(world: World, account: int) -> tuple[object, ...]:
    """All that the lists say about an account."""
    lists = ("listUsageApiKeys", "listGroups", "listWallets", "listActions")
    groups = [row[0] for row in world.config.rows("listGroups", account, 0, 100)]
    return (
        *(world.config.call(name, account, 0, 100) for name in lists),
        *(world.config.call("listWalletsInGroup", account, group, 0, 100) for group in groups),
        *(world.config.call("listActionsInGroup", account, group, 0, 100) for group in groups),
    )


@dataclass(frozen=True)
class Write:
    """An administrative write that succeeds in a populated world; the acting key's hash comes before `arguments`."""

    function: str
    arguments: tuple[object, ...]
    event: Named


_ALL = permissions(
    create_groups=True, delete_groups=True, create_pkps=True, manage=[1], add=[2], remove=[0], execute=[2, 1]
)

WRITES = (
    Write(
        "registerWalletDerivation",
        (NEW_PKP.address, 14, "new", "pkp"),
        ("WalletRegistered", ACCOUNT, pkp_id(NEW_PKP), NEW_PKP.address, 14, "new", "pkp"),
    ),
    Write(
        "createWallet",
        (NEW_PKP.address, 14, "new", "pkp"),
        ("WalletRegistered", ACCOUNT, pkp_id(NEW_PKP), NEW_PKP.address, 14, "new", "pkp"),
    ),
    Write(
        "setUsageApiKey",
        (NEW_KEY, START + 60, 7, "new", "key", *_ALL),
        ("UsageApiKeySet", ACCOUNT, NEW_KEY, (NEW_KEY, START + 60, 7, "new", "key", *_ALL)),
    ),
    Write(
        "updateUsageApiKey",
        (KEY, "changed", "key", *_ALL),
        ("UsageApiKeyUpdated", ACCOUNT, KEY, (KEY, 0, 0, "changed", "key", *_ALL)),
    ),
    Write(
        "updateUsageApiKeyMetadata",
        (KEY, "changed", "labels"),
        ("UsageApiKeyMetadataUpdated", ACCOUNT, KEY, "changed", "labels"),
    ),
    Write("removeUsageApiKey", (KEY,), ("UsageApiKeyRemoved", ACCOUNT, KEY)),
    Write("addGroup", ("new", "group", [], []), ("GroupAdded", ACCOUNT, 3, "new", "group", (), ())),
    Write(
        "updateGroup",
        (1, "changed", "group", [pkp_id(SECOND_PKP)], [SECOND_CID, WILDCARD]),
        ("GroupUpdated", ACCOUNT, 1, "changed", "group", (pkp_id(SECOND_PKP),), (SECOND_CID, WILDCARD)),
    ),
    Write("removeGroup", (1,), ("GroupRemoved", ACCOUNT, 1)),
    Write("addActionToGroup", (1, SECOND_CID), ("ActionAddedToGroup", ACCOUNT, 1, SECOND_CID)),
    Write("removeActionFromGroup", (1, CID), ("ActionRemovedFromGroup", ACCOUNT, 1, CID)),
    Write("changeActionsOfGroup", (1, [SECOND_CID], []), ("ActionAddedToGroup", ACCOUNT, 1, SECOND_CID)),
    Write("addPkpsToGroup", (1, [pkp_id(SECOND_PKP)]), ("PkpAddedToGroup", ACCOUNT, 1, pkp_id(SECOND_PKP))),
    Write("addPkpToGroup", (1, pkp_id(SECOND_PKP)), ("PkpAddedToGroup", ACCOUNT, 1, pkp_id(SECOND_PKP))),
    Write("removePkpFromGroup", (1, pkp_id(PKP)), ("PkpRemovedFromGroup", ACCOUNT, 1, pkp_id(PKP))),
    Write("addAction", (NEW_CID, "new", "action"), ("ActionAdded", ACCOUNT, NEW_CID, "new", "action")),
    Write(
        "updateActionMetadata", (CID, "changed", "action"), ("ActionMetadataUpdated", ACCOUNT, CID, "changed", "action")
    ),
    Write("deleteAction", (CID,), ("ActionDeleted", ACCOUNT, CID)),
)
