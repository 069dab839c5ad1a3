"""The account of an execution matrix: its wallets, groups and usage keys, made over HTTP with its own key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.problems import Mismatch
from conformance.service.accounts import Accounts
from conformance.service.groups import Group, Groups
from conformance.service.pkps import Pkp, Pkps
from conformance.service.session import Session
from conformance.service.usage_keys import Permissions, UsageKeys
from conformance.values.ids import GroupId, UsageKey
from conformance.values.json_values import member, printed, same

SHOWN = 300
"""Characters of a list that a failure shows."""

OPERATIONS = (
    "new_account",
    "create_wallet",
    "list_wallets",
    "add_group",
    "list_groups",
    "update_group",
    "add_usage_api_key",
    "remove_usage_api_key",
)


@dataclass(frozen=True)
class Lists:
    """What a group permits, as requests have it."""

    pkp_ids: Sequence[object]
    cid_hashes: Sequence[object]


class MatrixAccount:
    """An API-mode account. Raises what the requests raise when one is not accepted."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._groups, self._usage_keys = Groups(session), UsageKeys(session)
        self.key = str(Accounts(session).new("made by the execution matrix").key)
        """The account key."""

    def wallets(self, count: int) -> list[Pkp]:
        """So many new wallets."""
        return Pkps(self._session).create_several(self.key, count)

    def group(self, name: str, lists: Lists) -> Group:
        """A new group, which `list_groups` shows. Mismatch: it does not."""
        made = self._groups.add(self.key, name, pkp_ids=lists.pkp_ids, cid_hashes=lists.cid_hashes)
        listed = self._groups.list(self.key)
        if not any(same(member(item, "id"), made.listed_id) for item in listed):
            raise Mismatch(f"the new group {printed(made.listed_id)} in list_groups", printed(listed)[:SHOWN])
        return made

    def rewrite(self, group: GroupId, name: str, lists: Lists) -> None:
        """Replace the lists of a group."""
        self._groups.update(self.key, group, name, pkp_ids=lists.pkp_ids, cid_hashes=lists.cid_hashes)

    def usage_key(self, name: str, execute_in: Sequence[int]) -> UsageKey:
        """A new usage key that may do nothing but run actions in these groups."""
        return self._usage_keys.add(self.key, Permissions(execute_in_groups=execute_in), name).key

    def before_ending(self, ending: Mapping[str, Sequence[int]]) -> None:
        """Prepare the end of some keys, given with the groups in which each executes; all keys are made by now."""

    def end(self, keys: Sequence[str]) -> None:
        """Remove these keys, so that they count no more."""
        for key in keys:
            self._usage_keys.remove(self.key, key)
