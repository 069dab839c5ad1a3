"""Records the usage keys and groups that a case created, for clean-up even after a failure."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from conformance.values.ids import AccountHash, Address
from conformance.values.json_values import printed


class CleanupRegistry:
    """The case's existing usage keys and groups, each with the account key that may remove it."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        """Every usage key that the case made, removed ones too, to the account key that made it."""
        self._keys: set[str] = set()
        self._groups: set[tuple[str, str]] = set()
        self._unnamed: set[str] = set()
        """Accounts with groups whose ids the node's answers did not contain."""
        self._admins: dict[AccountHash, Address] = {}
        """Hash of each ChainSecured account to the address of its admin wallet."""
        self._lock = threading.Lock()

    def note_admin(self, account_hash: AccountHash, address: Address) -> None:
        """Record an account that only this wallet can clean up, on the chain."""
        with self._lock:
            self._admins[account_hash] = address

    def hand_over(self, account_key: str) -> None:
        """Forget the objects of a converted account, whose key can't remove them any more."""
        with self._lock:
            self._keys = {key for key in self._keys if self._owners[key] != account_key}
            self._groups = {(owner, group) for owner, group in self._groups if owner != account_key}
            self._unnamed.discard(account_key)

    def admins(self) -> list[tuple[AccountHash, Address]]:
        """Hash and admin wallet of each ChainSecured account."""
        return list(self._admins.items())

    def note(self, operation: str, credential: str | None, members: Mapping[str, object], answer: object) -> None:
        """Record what an accepted call created or removed."""
        if credential is None:
            return
        made = answer if isinstance(answer, dict) else {}
        with self._lock:
            owner = self._owners.get(credential, credential)
            match operation:
                case "add_usage_api_key" if "usage_api_key" in made:
                    key = printed(made["usage_api_key"])
                    self._owners[key] = owner
                    self._keys.add(key)
                case "remove_usage_api_key":
                    self._keys.discard(printed(members.get("usage_api_key")))
                case "add_group" if made.get("group_id") is not None:
                    self._groups.add((owner, printed(made["group_id"])))
                case "add_group":
                    self._unnamed.add(owner)
                case "remove_group":
                    self._groups.discard((owner, printed(members.get("group_id"))))

    def usage_keys(self) -> list[tuple[str, str]]:
        """Account key and usage key of each that still stands."""
        return [(self._owners[key], key) for key in sorted(self._keys)]

    def groups(self) -> list[tuple[str, str]]:
        """Account key and group id of each that still stands and whose id is known."""
        return sorted(self._groups)

    def accounts_to_search(self) -> list[str]:
        """Account keys whose groups must be listed to find those that the case made."""
        return sorted(self._unnamed)
