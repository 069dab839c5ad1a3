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
from conformance.values.ids import Cid, GroupId, PkpId, UsageKey
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
    "add_pkp_to_group",
    "add_action_to_group",
    "add_usage_api_key",
    "remove_usage_api_key",
)


@dataclass(frozen=True)
class Lists:
    """The wallets and actions of a group, in the form of requests."""

    pkp_ids: Sequence[object]
    cid_hashes: Sequence[object]
    cids: Mapping[object, Cid]
    """The raw CIDs of the hashes, without the wildcard's."""


class MatrixAccount:
    """An API-mode account. Raises the departures of its requests."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._groups, self._usage_keys = Groups(session), UsageKeys(session)
        self.key = str(Accounts(session).new("made by the execution matrix").key)
        """The account key."""

    def wallets(self, count: int) -> list[Pkp]:
        """Create this many wallets."""
        return Pkps(self._session).create_several(self.key, count)

    def group(self, name: str, lists: Lists) -> Group:
        """Create a group. Mismatch: `list_groups` does not show it."""
        pkp_ids, cid_hashes = self._at_first(lists)
        made = self._groups.add(self.key, name, pkp_ids=pkp_ids, cid_hashes=cid_hashes)
        self._add_others(made.id, lists)
        listed = self._groups.list(self.key)
        if not any(same(member(item, "id"), made.listed_id) for item in listed):
            raise Mismatch(f"the new group {printed(made.listed_id)} in list_groups", printed(listed)[:SHOWN])
        return made

    def rewrite(self, group: GroupId, name: str, lists: Lists) -> None:
        """Replace the lists of a group."""
        pkp_ids, cid_hashes = self._at_first(lists)
        self._groups.update(self.key, group, name, pkp_ids=pkp_ids, cid_hashes=cid_hashes)
        self._add_others(group, lists)

    def _at_first(self, lists: Lists) -> tuple[Sequence[object], Sequence[object]]:
        """The entries of the first write: at most the profile's `limits.entries_per_write`."""
        limit = self._session.profile.limits.entries_per_write
        if limit is None:
            return lists.pkp_ids, lists.cid_hashes
        pkp_ids = lists.pkp_ids[:limit]
        return pkp_ids, lists.cid_hashes[: limit - len(pkp_ids)]

    def _add_others(self, group: GroupId, lists: Lists) -> None:
        """Add the entries that the first write left out, one by one."""
        pkp_ids, cid_hashes = self._at_first(lists)
        for pkp_id in lists.pkp_ids[len(pkp_ids) :]:
            self._groups.add_pkp(self.key, group, PkpId(printed(pkp_id)))
        for hashed in lists.cid_hashes[len(cid_hashes) :]:
            self._groups.add_action(self.key, group, lists.cids[hashed])

    def usage_key(self, name: str, execute_in: Sequence[int]) -> UsageKey:
        """Create a usage key that may only run actions in these groups."""
        return self._usage_keys.add(self.key, Permissions(execute_in_groups=execute_in), name).key

    def before_ending(self, ending: Mapping[str, Sequence[int]]) -> None:
        """Prepare the end of these keys, given with the groups in which each executes. All keys exist by now."""

    def end(self, keys: Sequence[str]) -> None:
        """Remove these keys."""
        for key in keys:
            self._usage_keys.remove(self.key, key)
