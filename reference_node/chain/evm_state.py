"""The accounts of the in-memory chain: plain dicts with an undo log in place of py-evm's tries and database.

Nothing asks this chain for Merkle proofs, so it computes no state roots. Of the past it keeps what open snapshots need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Self

from eth.abc import AccountDatabaseAPI, AtomicDatabaseAPI, MetaWitnessAPI
from eth.constants import EMPTY_SHA3
from eth.db.witness import MetaWitness
from eth.typing import JournalDBCheckpoint
from eth_typing import Address, Hash32
from eth_utils.crypto import keccak

from reference_node.chain.evm_snapshot import Account, KeptValues, SnapshotAccounts

NO_ROOT = Hash32(bytes(32))
"""Stands wherever a state root would: none is computed."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since the last `lock_changes`, as it is now."""

    accounts: Mapping[Address, Account | None]
    """`None`: there is no such account any more."""
    slots: Mapping[tuple[Address, int], int]
    """Slots with their values, 0 for none."""
    emptied: frozenset[Address]
    """Accounts whose slots are all in `slots`: others that were known before are gone."""


class MemoryAccounts(AccountDatabaseAPI):
    """py-evm's account database over a dict. A checkpoint is a length of the undo log."""

    def __init__(self, db: AtomicDatabaseAPI | None = None, state_root: Hash32 = NO_ROOT) -> None:  # noqa: ARG002 - py-evm's signature
        self._accounts: dict[Address, Account] = {}
        self._undo: list[Callable[[], object]] = []
        self._warm: set[Address | tuple[Address, int]] = set()
        self._original: dict[tuple[Address, int], int] = {}
        self._transient: dict[tuple[Address, int], bytes] = {}
        self._changed: set[Address] = set()
        self._emptied: set[Address] = set()
        self._snapshots: tuple[KeptValues, ...] = ()
        self._snapshots_lock = Lock()

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The accounts as they are now, between two transactions. What is done to them there is never seen here."""
        kept = KeptValues()
        with self._snapshots_lock:
            self._snapshots = (*self._snapshots, kept)
        taken = type(self)()
        taken._accounts = SnapshotAccounts(self._accounts, kept)
        try:
            yield taken
        finally:
            with self._snapshots_lock:
                self._snapshots = tuple(other for other in self._snapshots if other is not kept)

    def _keep(self, address: Address, account: Account | None) -> None:
        """Hand an account to the snapshots before it changes."""
        for kept in self._snapshots:
            kept.keep_account(address, account)

    def _keep_slots(self, address: Address, account: Account) -> None:
        """Hand all slots of an account to the snapshots before they go."""
        for kept in self._snapshots:
            for slot, value in account.storage.items():
                kept.keep_slot(address, slot, value)

    def _existing(self, address: Address) -> Account:
        account = self._accounts.get(address)
        self._keep(address, account)
        self._changed.add(address)
        if account is None:
            account = self._accounts[address] = Account()
            self._undo.append(lambda: self._accounts.pop(address))
        return account

    # Roots: none.

    @property
    def state_root(self) -> Hash32:
        """Always `NO_ROOT`."""
        return NO_ROOT

    @state_root.setter
    def state_root(self, value: Hash32) -> None:
        """Nothing to set."""

    def has_root(self, state_root: bytes) -> bool:
        """Only the present state is there."""
        return state_root == NO_ROOT

    def make_state_root(self) -> Hash32:
        """Always `NO_ROOT`."""
        return NO_ROOT

    def persist(self) -> MetaWitnessAPI:
        """Nothing is written anywhere."""
        return MetaWitness(set(), {})

    # Storage.

    def get_storage(self, address: Address, slot: int, from_journal: bool = True) -> int:
        """A slot's value; with `from_journal` false, its value when the transaction began (EIP-2200)."""
        if not from_journal and (address, slot) in self._original:
            return self._original[address, slot]
        account = self._accounts.get(address)
        return account.storage.get(slot, 0) if account else 0

    def set_storage(self, address: Address, slot: int, value: int) -> None:
        """Write a slot; a zero takes it away."""
        storage = self._existing(address).storage
        old = storage.get(slot, 0)
        if old == value:
            return
        for kept in self._snapshots:
            kept.keep_slot(address, slot, old)
        self._original.setdefault((address, slot), old)
        self._undo.append(lambda: _write(storage, slot, old))
        _write(storage, slot, value)

    def delete_storage(self, address: Address) -> None:
        """Forget all slots of an account."""
        account = self._existing(address)
        self._keep_slots(address, account)
        self._emptied.add(address)
        old, account.storage = account.storage, {}
        self._undo.append(lambda: setattr(account, "storage", old))

    def is_storage_warm(self, address: Address, slot: int) -> bool:
        """Whether the transaction has touched this slot (EIP-2929)."""
        return (address, slot) in self._warm

    def mark_storage_warm(self, address: Address, slot: int) -> None:
        """Note that the transaction has touched this slot."""
        self._mark_warm((address, slot))

    def is_address_warm(self, address: Address) -> bool:
        """Whether the transaction has touched this address (EIP-2929)."""
        return address in self._warm

    def mark_address_warm(self, address: Address) -> None:
        """Note that the transaction has touched this address."""
        self._mark_warm(address)

    def _mark_warm(self, item: Address | tuple[Address, int]) -> None:
        if item not in self._warm:
            self._warm.add(item)
            self._undo.append(lambda: self._warm.discard(item))

    def get_transient(self, address: Address, slot: int) -> bytes:
        """A transient slot (EIP-1153), empty where nothing was written."""
        return self._transient.get((address, slot), b"")

    def set_transient(self, address: Address, slot: int, value: bytes) -> None:
        """Write a transient slot."""
        old = self.get_transient(address, slot)
        self._transient[address, slot] = value
        self._undo.append(lambda: self._transient.__setitem__((address, slot), old))

    # Balance, nonce, code.

    def get_balance(self, address: Address) -> int:
        """The balance in wei."""
        account = self._accounts.get(address)
        return account.balance if account else 0

    def set_balance(self, address: Address, balance: int) -> None:
        """Set the balance, in wei."""
        account = self._existing(address)
        old, account.balance = account.balance, balance
        self._undo.append(lambda: setattr(account, "balance", old))

    def get_nonce(self, address: Address) -> int:
        """How many transactions (or creations) an account has made."""
        account = self._accounts.get(address)
        return account.nonce if account else 0

    def set_nonce(self, address: Address, nonce: int) -> None:
        """Set the nonce."""
        account = self._existing(address)
        old, account.nonce = account.nonce, nonce
        self._undo.append(lambda: setattr(account, "nonce", old))

    def increment_nonce(self, address: Address) -> None:
        """Add one to the nonce."""
        self.set_nonce(address, self.get_nonce(address) + 1)

    def get_code(self, address: Address) -> bytes:
        """The runtime code, or nothing."""
        account = self._accounts.get(address)
        return account.code if account else b""

    def get_code_hash(self, address: Address) -> Hash32:
        """keccak256 of the runtime code."""
        account = self._accounts.get(address)
        return account.code_hash if account else EMPTY_SHA3

    def set_code(self, address: Address, code: bytes) -> None:
        """Set the runtime code."""
        account = self._existing(address)
        old, old_hash = account.code, account.code_hash
        account.code, account.code_hash = code, Hash32(keccak(code))

        def undo() -> None:
            account.code, account.code_hash = old, old_hash

        self._undo.append(undo)

    def delete_code(self, address: Address) -> None:
        """Take the runtime code away."""
        self.set_code(address, b"")

    # Accounts as a whole.

    def account_has_code_or_nonce(self, address: Address) -> bool:
        """Whether a creation at this address would collide (EIP-684)."""
        account = self._accounts.get(address)
        return account is not None and bool(account.nonce or account.code)

    def account_exists(self, address: Address) -> bool:
        """Whether there is an account, be it an empty one."""
        return address in self._accounts

    def account_is_empty(self, address: Address) -> bool:
        """Whether there is no account, or an empty one (EIP-161)."""
        account = self._accounts.get(address)
        return account is None or account.is_empty

    def touch_account(self, address: Address) -> None:
        """Make sure that there is an account."""
        self._existing(address)

    def delete_account(self, address: Address) -> None:
        """Remove an account with all it holds."""
        account = self._accounts.get(address)
        if account is not None:
            self._keep(address, account)
            self._keep_slots(address, account)
            self._changed.add(address)
            self._emptied.add(address)
            kept = self._accounts.pop(address)
            self._undo.append(lambda: self._accounts.__setitem__(address, kept))

    # Checkpoints.

    def record(self) -> JournalDBCheckpoint:
        """A checkpoint to come back to."""
        return JournalDBCheckpoint(len(self._undo))

    def discard(self, checkpoint: JournalDBCheckpoint) -> None:
        """Undo all that was done since the checkpoint."""
        while len(self._undo) > checkpoint:
            self._undo.pop()()

    def commit(self, checkpoint: JournalDBCheckpoint) -> None:
        """Nothing to do: an outer checkpoint covers what an inner one kept."""

    def changes(self) -> Changes:
        """What the transaction that ends now has changed, or may have: what was undone is among it."""
        accounts = {address: self._accounts.get(address) for address in self._changed}
        slots = {(address, slot): self.get_storage(address, slot) for address, slot in self._original}
        for address in self._emptied & self._accounts.keys():
            slots |= {(address, slot): value for slot, value in self._accounts[address].storage.items()}
        return Changes(accounts, slots, frozenset(self._emptied))

    def restore(self, accounts: dict[Address, Account]) -> None:
        """Begin with these accounts."""
        self._accounts = accounts

    def lock_changes(self) -> None:
        """A transaction ends: nothing before can be undone, slots and addresses are cold, transient ones empty."""
        self._undo.clear()
        self._changed.clear()
        self._emptied.clear()
        self._transient.clear()
        self._warm.clear()
        self._original.clear()


def _write(storage: dict[int, int], slot: int, value: int) -> None:
    if value:
        storage[slot] = value
    else:
        storage.pop(slot, None)
