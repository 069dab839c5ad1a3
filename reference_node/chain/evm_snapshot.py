"""Snapshots of the in-memory chain's accounts: calls read one moment of them while transactions go on writing.

Nothing is copied when a snapshot is taken. Whoever changes an account or a slot first hands the old value to every
open snapshot; a snapshot reads the live value first and then looks whether it was handed an older one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eth.constants import EMPTY_SHA3
from eth_typing import Address, Hash32


@dataclass(slots=True)
class Account:
    """One account of the state."""

    balance: int = 0
    nonce: int = 0
    code: bytes = b""
    code_hash: Hash32 = EMPTY_SHA3
    storage: dict[int, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """No nonce, no code, no balance (EIP-161)."""
        return not (self.nonce or self.code or self.balance)


@dataclass(frozen=True, slots=True)
class KeptValues:
    """What a snapshot was handed: accounts and slots as they were when it was taken."""

    accounts: dict[Address, Account | None] = field(default_factory=dict)
    """Their storage is empty here; `None` stands for an account that was not there."""
    slots: dict[tuple[Address, int], int] = field(default_factory=dict)

    def keep_account(self, address: Address, live: Account | None) -> None:
        """Remember an account, unless it has changed before."""
        if address not in self.accounts:
            self.accounts[address] = live and Account(live.balance, live.nonce, live.code, live.code_hash)

    def keep_slot(self, address: Address, slot: int, value: int) -> None:
        """Remember a slot, unless it has changed before."""
        self.slots.setdefault((address, slot), value)


class SnapshotAccounts(dict[Address, Account]):
    """The accounts of one moment, each read when it is first asked for; changes to them stay here."""

    def __init__(self, live: dict[Address, Account], kept: KeptValues) -> None:
        super().__init__()
        self._live = live
        self._kept = kept
        self._absent: set[Address] = set()

    def get(self, address: Address, default: Any = None) -> Any:
        """The account, or `default`."""
        found = super().get(address)
        if found is None and address not in self._absent:
            found = self._read(address)
            if found is None:
                self._absent.add(address)
            else:
                super().__setitem__(address, found)
        return default if found is None else found

    def _read(self, address: Address) -> Account | None:
        live = self._live.get(address)
        read = live and Account(live.balance, live.nonce, live.code, live.code_hash)
        was = self._kept.accounts.get(address, read)  # after the live one: a change in between has been handed over
        storage = SnapshotStorage(address, self._live, self._kept)
        return was and Account(was.balance, was.nonce, was.code, was.code_hash, storage)

    def __contains__(self, address: object) -> bool:
        return self.get(address) is not None  # type: ignore[arg-type]  # what is no address is not there

    def __setitem__(self, address: Address, account: Account) -> None:
        self._absent.discard(address)
        super().__setitem__(address, account)

    def pop(self, address: Address, default: Any = None) -> Any:
        """Remove an account from this snapshot."""
        found = self.get(address, default)
        self._absent.add(address)
        super().pop(address, None)
        return found


class SnapshotStorage(dict[int, int]):
    """The slots of one account at one moment, each read when it is first asked for; changes to them stay here."""

    def __init__(self, address: Address, live: dict[Address, Account], kept: KeptValues) -> None:
        super().__init__()
        self._address = address
        self._live = live
        self._kept = kept.slots

    def get(self, slot: int, default: Any = 0) -> Any:
        """The slot's value, `default` where it is zero."""
        if slot not in self:
            account = self._live.get(self._address)
            value = account.storage.get(slot, 0) if account else 0
            self[slot] = self._kept.get((self._address, slot), value)
        return self[slot] or default

    def pop(self, slot: int, default: Any = None) -> Any:
        """Set the slot to zero: to forget it here would bring the moment's value back."""
        value = self.get(slot, default)
        self[slot] = 0
        return value
