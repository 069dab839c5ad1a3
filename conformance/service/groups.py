"""Groups, and what they permit ("Endpoints / Groups", "Resources and their fields / Group")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Mismatch
from conformance.profile.wire import ZERO_HASH
from conformance.service.acceptance import Accepted
from conformance.service.lists import read_list
from conformance.service.session import DESCRIPTION, Session
from conformance.values.ids import Cid, GroupId, HashedCid, PkpId
from conformance.values.json_values import MISSING, member, printed, whole_number

ALL_PKPS = PkpId(ZERO_HASH)
"""Among a group's wallets: every wallet of the account."""


@dataclass(frozen=True)
class Group:
    """A group of an account."""

    id: GroupId
    listed_id: object
    """The id as lists show it: an integer or a decimal text."""
    accepted: Accepted
    """The control for refusals of `add_group`."""


class Groups:
    """Operations on groups with an account's key or a permitted usage key."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def all_actions(self) -> object:
        """Among a group's actions: every action, in the first form that the node takes."""
        forms = self._session.profile.wire.group.cid_wildcard_form
        return forms[0] if forms else 0

    def add(
        self,
        key: str,
        name: str = "",
        *,
        pkp_ids: Sequence[object] = (),
        cid_hashes: Sequence[object] = (),
        listed_to: str | None = None,
    ) -> Group:
        """Create a group. Its id is taken from the answer, or else from the last entry of `list_groups`.

        `listed_to` is the key that reads this list, if `key` may not.
        """
        request = self.creation(key, name, pkp_ids=pkp_ids, cid_hashes=cid_hashes)
        answer, accepted = self._session.accept(request)
        listed_id = member(answer.value, "group_id")
        if listed_id is MISSING:
            listed_id = member(member(self.list(listed_to or key), "-1"), "id")
        return Group(group_id(listed_id), listed_id, accepted)

    def creation(
        self, key: str, name: str = "", *, pkp_ids: Sequence[object] = (), cid_hashes: Sequence[object] = ()
    ) -> OutgoingRequest:
        """The request for a new group."""
        labels = {"group_name": self._named(name), "group_description": DESCRIPTION}
        return self._session.request("add_group", key, **labels, **_permitted(pkp_ids, cid_hashes))

    def update(
        self, key: str, group: GroupId, name: str = "", *, pkp_ids: Sequence[object], cid_hashes: Sequence[object]
    ) -> Accepted:
        """Replace a group's labels and lists."""
        labels = {"name": self._named(name), "description": DESCRIPTION}
        permitted = _permitted(pkp_ids, cid_hashes)
        request = self._session.request("update_group", key, group_id=group, **labels, **permitted)
        return self._session.accept(request)[1]

    def remove(self, key: str, group: GroupId) -> Accepted:
        """Remove a group."""
        return self._session.accept(self._session.request("remove_group", key, group_id=group))[1]

    def add_pkp(self, key: str, group: GroupId, pkp: PkpId) -> Accepted:
        """Add a wallet to a group."""
        return self._session.accept(self._session.request("add_pkp_to_group", key, group_id=group, pkp_id=pkp))[1]

    def remove_pkp(self, key: str, group: GroupId, pkp: PkpId) -> Accepted:
        """Remove a wallet from a group."""
        return self._session.accept(self._session.request("remove_pkp_from_group", key, group_id=group, pkp_id=pkp))[1]

    def add_action(self, key: str, group: GroupId, cid: Cid) -> Accepted:
        """Add an action, by its raw CID, to a group."""
        request = self._session.request("add_action_to_group", key, group_id=group, action_ipfs_cid=cid)
        return self._session.accept(request)[1]

    def remove_action(self, key: str, group: GroupId, hashed_cid: HashedCid) -> Accepted:
        """Remove an action from a group."""
        request = self._session.request("remove_action_from_group", key, group_id=group, hashed_cid=hashed_cid)
        return self._session.accept(request)[1]

    def list(self, key: str) -> list[object]:
        """The account's groups as `list_groups` shows them, in creation order."""
        return read_list(self._session, "list_groups", key)

    def _named(self, name: str) -> str:
        return f"{self._session.label} {name}".strip()


def _permitted(pkp_ids: Sequence[object], cid_hashes: Sequence[object]) -> dict[str, object]:
    return {"pkp_ids_permitted": list(pkp_ids), "cid_hashes_permitted": list(cid_hashes)}


def group_id(listed: object) -> GroupId:
    """The id that a list shows as an integer or a decimal text. Raises Mismatch."""
    number = whole_number(listed) if isinstance(listed, str) else listed
    if isinstance(number, bool) or not isinstance(number, int):
        raise Mismatch("the id of a group", printed(listed))
    return GroupId(number)
