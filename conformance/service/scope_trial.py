"""Tries which operations the six management permissions of a usage key open ("Resources / Usage API key")."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from conformance.endpoints.messages import Answer
from conformance.problems import Mismatch, NotAccepted, SetupFailed, StateChanged, WrongRefusal
from conformance.service.acceptance import must_accept
from conformance.service.actions import Actions
from conformance.service.derivations import hashed_cid
from conformance.service.groups import Groups
from conformance.service.pkps import Pkps, wallet_labels
from conformance.service.refusal import was_accepted
from conformance.service.session import DESCRIPTION, Session
from conformance.service.usage_keys import Permissions, UsageKeys
from conformance.values.ids import GroupId
from conformance.values.json_values import printed, printed_json, same

GATED = {
    "manage_ipfs_ids_in_groups": ("add_action_to_group", "remove_action_from_group"),
    "add_pkp_to_groups": ("add_pkp_to_group",),
    "remove_pkp_from_groups": ("remove_pkp_from_group",),
    "can_delete_groups": ("remove_group",),
    "can_create_groups": ("add_group",),
    "can_create_pkps": ("create_wallet",),
}
"""The operations that each permission opens; `execute_in_groups` opens no management operation."""
ALL_GATED = sorted(operation for operations in GATED.values() for operation in operations)


def opened_by(permissions: Permissions) -> list[str]:
    """The operations that permissions open, where their arrays are empty or hold the wildcard."""
    members = permissions.members
    return sorted(operation for name, operations in GATED.items() if members[name] for operation in operations)


class _Try(NamedTuple):
    operation: str
    members: dict[str, object]
    changes: str
    """The list that shows its effect."""
    adds: int
    """By how many items the list grows."""


class ScopeTrial:
    """Tries keys of one account. What is accepted has to change its list, and what is refused must not.

    A list is read before and after all operations that it shows.
    """

    def __init__(self, session: Session, owner: str) -> None:
        self._session = session
        self._owner = owner
        self._pkp, self._other_pkp = Pkps(session).create_several(owner, 2)
        self._cid, self._other_cid = (Actions(session).sample_cid(name) for name in ("one", "two"))
        self._tried: dict[str, int | None] = {}
        """The number of the exchange in which the newest key tried each operation."""

    def new_group(self) -> GroupId:
        """A group in which a key can be tried once; the permissions of the key may name it."""
        listed = [hashed_cid(self._cid)]
        return Groups(self._session).add(self._owner, "trial", pkp_ids=[self._pkp.id], cid_hashes=listed).id

    def opens(self, key: str, among: Collection[str] = ALL_GATED, group: GroupId | None = None) -> list[str]:
        """The gated operations among these that the key may do, sorted; in a new group, unless one is given.

        Raises Mismatch, or StateChanged where none was accepted: answers and their effect do not agree.
        """
        groups, pkps, actions = Groups(self._session), Pkps(self._session), Actions(self._session)
        trial = self.new_group() if group is None else group
        self._tried = {}
        lists: dict[str, Callable[[], list[object]]] = {
            "the group's actions": lambda: actions.list(self._owner, trial),
            "the group's wallets": lambda: pkps.list(self._owner, trial),
            "the account's groups": lambda: groups.list(self._owner),
            "the account's wallets": lambda: pkps.list(self._owner),
        }
        opened: list[str] = []
        tries = [attempt for attempt in self._tries(trial, hashed_cid(self._cid)) if attempt.operation in among]
        for name, attempts in groupby(tries, key=attrgetter("changes")):
            before = lists[name]()
            accepted = [attempt for attempt in attempts if self._may(key, attempt)]
            after = lists[name]()
            opened += [attempt.operation for attempt in accepted]
            longer = sum(attempt.adds for attempt in accepted)
            if same(before, after) == bool(accepted) or len(after) - len(before) != longer:
                names = " and ".join(attempt.operation for attempt in accepted) or "nothing"
                expected = f"{name}, {printed(before)[:300]}, to change by what was accepted: {names}"
                departure = Mismatch if accepted else StateChanged
                raise departure(expected, printed(after)[:300], self._session.last_exchange)
        return sorted(opened)

    def shown_at(self, opened: Collection[str], expected: Collection[str]) -> int | None:
        """The number of the exchange that granted the newest key what is forbidden, or refused what it may do."""
        wrong = [operation for operation in self._tried if (operation in opened) != (operation in expected)]
        return self._tried[wrong[0]] if wrong else self._session.last_exchange

    def must_open(self, key: str, permissions: Permissions, what: str) -> None:
        """The key may do what these permissions open, and nothing else.

        Raises Mismatch, or SetupFailed where a new key with the same permissions does not open that either: then the
        permissions open something else, whatever happened to this key.
        """
        self.must_open_one_of(key, [permissions], what)

    def must_open_one_of(self, key: str, choices: Sequence[Permissions], what: str) -> None:
        """The same of a key that may have either permissions."""
        expected, opened = list(map(opened_by, choices)), self.opens(key)
        if opened in expected:
            return
        exchange = self.shown_at(opened, expected[0])
        self.must_open_when_new(choices)
        raise Mismatch(f"{what} to be {' or '.join(map(printed_json, expected))}", printed_json(opened), exchange)

    def must_open_when_new(self, choices: Sequence[Permissions]) -> None:
        """Raise SetupFailed unless new keys with these permissions open what these say."""
        for permissions in choices:
            of_new = self.opens(UsageKeys(self._session).add(self._owner, permissions).key)
            if of_new != opened_by(permissions):
                told = f"a new key with these permissions to open {printed_json(opened_by(permissions))}"
                raise SetupFailed(told, printed_json(of_new), self._session.last_exchange)

    def _tries(self, group: int, listed: str) -> list[_Try]:
        label = {"group_name": self._session.label, "group_description": DESCRIPTION}
        wallet = wallet_labels(self._session.target.operation("create_wallet"), self._session.label)
        in_group: dict[str, object] = {"group_id": group}
        return [
            _Try("add_action_to_group", in_group | {"action_ipfs_cid": self._other_cid}, "the group's actions", 1),
            _Try("remove_action_from_group", in_group | {"hashed_cid": listed}, "the group's actions", -1),
            _Try("add_pkp_to_group", in_group | {"pkp_id": self._other_pkp.id}, "the group's wallets", 1),
            _Try("remove_pkp_from_group", in_group | {"pkp_id": self._pkp.id}, "the group's wallets", -1),
            _Try("remove_group", in_group, "the account's groups", -1),
            _Try("add_group", label | {"pkp_ids_permitted": [], "cid_hashes_permitted": []}, "the account's groups", 1),
            _Try("create_wallet", wallet, "the account's wallets", 1),
        ]

    def _may(self, key: str, attempt: _Try) -> bool:
        answer = self._send(key, attempt)
        self._tried[attempt.operation] = self._session.last_exchange
        try:
            return was_accepted(self._session, answer, or_refused=["forbidden", "unauthenticated"])
        except WrongRefusal:
            # A request that the owner may not send either says nothing about the key's permissions.
            try:
                must_accept(self._send(self._owner, attempt))
            except NotAccepted as problem:
                raise SetupFailed.of(problem) from None
            raise

    def _send(self, key: str, attempt: _Try) -> Answer:
        return self._session.send(self._session.request(attempt.operation, key, **attempt.members))
