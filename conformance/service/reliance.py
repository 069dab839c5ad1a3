"""Tracks the assumed profile values that a case relies on. A Departure that may stem from one is inconclusive.

A case relies on each assumed key that it reads until an answer of the node confirms the value (docs/profile.md): a
member in an answer confirms its name, and an accepted request confirms its path and members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from conformance.endpoints.client import Target
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import StepProblem
from conformance.profile import Operation
from conformance.values.json_values import MISSING, member, printed

OF_REQUESTS = (
    "brand.",
    "flows.relationship.prefix",
    "wire.account_exists.request_response.key",
    "wire.add_group.",
    "wire.create_wallet.",
    "wire.new_account.",
    "wire.operations.",
)
"""Prefixes of the keys that determine how a request is written."""
OF_ITEMS = ("wire.list_groups.", "wire.list_items.")
"""Prefixes of keys that may be null: items then lack the member, and no case relies on the key."""
LABELS_SHOWN_BY: Mapping[str, str] = {"list_groups": "wire.add_group.fields.", "list_wallets": "wire.create_wallet."}
"""Lists that show whether the labels of a request were understood: a node may ignore members that it does not know."""
CONTAINER = "wire.paging.container."
FIRST_PAGE = "wire.paging.first_page_number"
LARGEST_PAGE = "limits.page_size_max"
GROUP_ID_FORM = "wire.list_groups.id_form"
ERROR_MEMBER = "exec.failure_and_limits.error_member"
SETTLE_TIME = "semantics.settle_time_seconds"


class Reliance:
    """The assumed keys that a case relies on. Several threads of the case may add to it."""

    def __init__(self, target: Target, named: Iterable[str] = ()) -> None:
        self._assumed = target.profile.assumed
        self._named = tuple(named)
        """Keys that the case itself names, the likeliest cause of a Departure."""
        self._borne_out = target.borne_out
        self._believed: set[str] = set()
        """Keys whose value is not in question for this case, though no answer has borne it out."""
        self._read: dict[str, object] = {}
        self._stated: dict[str, object] = {}
        self._sent: dict[str, dict[str, object]] = {}
        """By operation: the keys that a not yet accepted request relies on."""

    def note(self, key: str, value: object) -> None:
        """A key of the profile was read."""
        read = self._read if key in self._assumed else self._stated
        read.pop(key, None)
        read[key] = value

    @property
    def stated(self) -> dict[str, object]:
        """Key to value of all that the profile states and the case read, the newest first."""
        return dict(reversed(list(self._stated.items())))

    @property
    def open(self) -> dict[str, object]:
        """Key to value of all that the case relies on now, the likeliest first: see `_rank`."""
        newest = list(reversed(list(self._read.items())))
        unaccepted = self.unaccepted
        relied_on = {**unaccepted, **dict(newest)}
        return self.still_open(dict(sorted(relied_on.items(), key=lambda item: self._rank(item[0], unaccepted))))

    def _rank(self, key: str, unaccepted: Mapping[str, object]) -> int:
        """What unaccepted requests rely on, what the case names, what was read last, and how soon writes show."""
        if key == SETTLE_TIME:
            return 3
        return 0 if key in unaccepted else 1 if key.startswith(self._named) else 2

    def still_open(self, keys: Mapping[str, object]) -> dict[str, object]:
        """Those of some keys that no answer has borne out since."""
        return {key: value for key, value in keys.items() if key not in self._borne_out | self._believed}

    @contextmanager
    def believing(self, key: str) -> Iterator[None]:
        """Do not question the value of a key within the block."""
        self._believed.add(key)
        try:
            yield
        finally:
            self._believed.discard(key)

    @property
    def named(self) -> dict[str, object]:
        """Of what the case relies on now, the keys that it names itself."""
        return {key: value for key, value in self.open.items() if key.startswith(self._named)}

    @property
    def unaccepted(self) -> dict[str, object]:
        """What the requests that were not accepted rely on."""
        return self.still_open({key: value for keys in self._sent.values() for key, value in keys.items()})

    def remember_at(self, problem: StepProblem) -> None:
        """Store in a problem the keys that the case relied on when it occurred."""
        if problem.assumed is None:
            problem.assumed = self.open

    def sending(self, operation: Operation) -> None:
        """A request of an operation is sent: its outcome relies on how it is written, and on no name in an answer."""
        for key, value in operation.keys.items():
            if key not in self._assumed:
                self.note(key, value)
            elif key.startswith(OF_REQUESTS):
                self._sent.setdefault(operation.name, {})[key] = value

    def accepted(self, request: OutgoingRequest, answer: Answer, label: str) -> None:
        """The request was accepted, which bears out how it is written, and what its answer shows."""
        if not self._assumed:
            return
        operation = request.operation
        self._read_answer(operation, answer)
        for key, value in self._sent.pop(operation.name, {}).items():
            if key.startswith(tuple(LABELS_SHOWN_BY.values())) and value is not None:
                self.note(key, value)
        if answer.readable:
            self._borne_out.update(_shown_by(request, answer.value, label))
            if (
                operation.name == "run_action"
                and member(answer.value, printed(self._read.get(ERROR_MEMBER))) != MISSING
            ):
                self._borne_out.add(ERROR_MEMBER)

    def _read_answer(self, operation: Operation, answer: Answer) -> None:
        """Note how an accepted answer is read. An empty page shows no member of an item; its number may be wrong."""
        is_empty = operation.is_list and answer.readable and answer.value == []
        for key, value in operation.keys.items():
            names_a_member = key.startswith(OF_ITEMS)
            if not key.startswith(OF_REQUESTS) and not (names_a_member and (is_empty or value is None)):
                self.note(key, value)
        if is_empty and FIRST_PAGE in self._read:
            self.note(FIRST_PAGE, self._read[FIRST_PAGE])


def _shown_by(request: OutgoingRequest, value: object, label: str) -> Iterable[str]:
    operation = request.operation
    items = value if operation.is_list and isinstance(value, list) else [value]
    names = operation.response if operation.items is None else operation.items
    for name, wire in names.items():
        if any(member(item, name) is not MISSING for item in items):
            yield from (
                key for key, value in operation.keys.items() if value == wire and not key.startswith(OF_REQUESTS)
            )
    if operation.is_list and isinstance(value, list) and value:
        yield from _shown_by_items(request, value, label)


def _shown_by_items(request: OutgoingRequest, items: list[object], label: str) -> Iterable[str]:
    operation = request.operation
    yield from (key for key in operation.keys if key.startswith(CONTAINER))
    if "page_number" in request.members:
        yield from (FIRST_PAGE, LARGEST_PAGE)
    if any(label in printed(member(item, "name")) for item in items):
        labels = LABELS_SHOWN_BY.get(operation.name)
        yield from () if labels is None else (f"{labels}{name}" for name in ("group_name", "group_description"))
    if operation.name == "list_groups" and all(type(member(item, "id")) is int for item in items):
        yield GROUP_ID_FORM
