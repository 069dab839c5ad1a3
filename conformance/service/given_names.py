"""Names of groups and usage keys: a node may refuse a name that another of the account has.

The specification calls a name a label and says no more. Cases give some names twice, so such a refusal has to be told
from one that a case is about: the request is sent again under another name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import count
from threading import Lock, get_ident

from conformance.endpoints.messages import Answer, AskedAt
from conformance.endpoints.requests import OutgoingRequest
from conformance.values.json_values import member

GROUP, USAGE_KEY = "group", "usage key"
NAMING = {
    "add_group": (GROUP, "group_name"),
    "update_group": (GROUP, "name"),
    "add_usage_api_key": (USAGE_KEY, "name"),
    "update_usage_api_key": (USAGE_KEY, "name"),
    "update_usage_api_key_metadata": (USAGE_KEY, "name"),
}
"""By operation: what it names, and in which member."""
CREATIONS = frozenset({"add_group", "add_usage_api_key"})
KINDS = {
    **{operation: kind for operation, (kind, _) in NAMING.items()},
    "remove_group": GROUP,
    "remove_usage_api_key": USAGE_KEY,
}
"""By operation: which names it gives or frees."""
NAME_TAKEN = frozenset({400, 409, 422})
"""Statuses by which a node may refuse a name."""


class GivenNames:
    """The names that a session has given in each account. Thread-safe."""

    def __init__(self, repeatable: set[str]) -> None:
        """`repeatable` holds the kinds of which the node has taken two of the same name; all sessions share it."""
        self._lock = Lock()
        self._thread = get_ident()
        self._repeatable = repeatable
        self._given: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        """How often, by kind and account key."""
        self._standing: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        """Those of them that something surely still has."""
        self._account_keys: dict[str, str] = {}
        """By usage key."""

    def sending(self, request: OutgoingRequest) -> None:
        """Note the name in a request before it is sent: the same may be sent beside it."""
        if (name := _name(request)) is not None:
            with self._lock:
                self._given[self._place(request)][name] += 1

    def renamed(self, request: OutgoingRequest, answer: Answer) -> OutgoingRequest | None:
        """The request under a name that is new in its account, where the answer may refuse the name; else None."""
        name = _name(request)
        if name is None or answer.status not in NAME_TAKEN:
            return None
        kind, member_name = NAMING[request.operation.name]
        with self._lock:
            given = self._given[self._place(request)]
            if kind in self._repeatable or given[name] == 1:
                return None
            new = next(new for new in (f"{name} {number}" for number in count(2)) if new not in given)
            given[new] += 1
        return request.changed(**{member_name: new})

    def note(self, request: OutgoingRequest, answer: Answer) -> None:
        """Note what a request has named, or that it may have freed a name."""
        is_of_names = request.operation.name in KINDS and request.asked_at is AskedAt.ENDPOINT
        if not is_of_names or not answer.accepted:
            return
        name = _name(request)
        with self._lock:
            place = self._place(request)
            if request.operation.name not in CREATIONS:
                self._standing[place].clear()
            elif name in self._standing[place] and get_ident() == self._thread:
                # Of requests sent at once a node may take two of one name though it takes none after the other.
                self._repeatable.add(place[0])
            if name is not None:
                self._standing[place].add(name)
            if isinstance(made := member(answer.value, "usage_api_key"), str):
                self._account_keys[made] = place[1]

    def _place(self, request: OutgoingRequest) -> tuple[str, str]:
        key = request.credential or ""
        return KINDS[request.operation.name], self._account_keys.get(key, key)


def _name(request: OutgoingRequest) -> str | None:
    """The name that a request to an endpoint gives; None where it gives none, or has a body of its own."""
    naming = NAMING.get(request.operation.name) if request.asked_at is AskedAt.ENDPOINT else None
    name = request.members.get(naming[1]) if naming and request.body is None else None
    return name if isinstance(name, str) else None
