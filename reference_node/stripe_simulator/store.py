"""What the simulated account holds: objects by id, by kind and by owner, and what is due to happen to them."""

from __future__ import annotations

import heapq
import random
import string
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from reference_node.stripe_simulator.errors import Object, missing_object

_ALPHABET = string.ascii_letters + string.digits
_RANDOM = random.SystemRandom()


def new_id(prefix: str, length: int = 24) -> str:
    """An id of Stripe's form."""
    return prefix + "".join(_RANDOM.choices(_ALPHABET, k=length))


class SimulatedClock:
    """Unix time, with an offset that the control interface moves."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self.offset_seconds = 0.0

    def now(self) -> float:
        """The present time in seconds."""
        return self._now() + self.offset_seconds


@dataclass(slots=True, kw_only=True)
class Resource:
    """An object of the API. `expandable` names the members that hold the id of another object, or null."""

    name: ClassVar[str]
    prefix: ClassVar[str]
    id_length: ClassVar[int] = 24
    expandable: ClassVar[frozenset[str]] = frozenset()
    lists: ClassVar[dict[str, type[Resource]]] = {}
    """Lists of this object's objects that only an expansion shows."""

    id: str
    created: int
    livemode: bool = False
    sequence: int = field(default=0, repr=False)
    """The order of creation within the store."""

    def view(self) -> Object:
        """The object as the API shows it."""
        raise NotImplementedError

    @property
    def exists(self) -> bool:
        """Whether it can be found by its id."""
        return True


R = TypeVar("R", bound=Resource)


@dataclass(frozen=True, order=True, slots=True)
class Due:
    """Something that happens to the charge of a payment intent at a later time."""

    at: float
    """The simulated Unix time."""
    sequence: int
    what: str
    intent: str
    charge: str


@dataclass(slots=True)
class Changed:
    """What may have changed since it was last cleared."""

    resources: dict[str, Resource] = field(default_factory=dict)
    belonging: list[tuple[str, str]] = field(default_factory=list)
    """Ids of objects and of those that they belong to."""
    due: list[Due] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    """The sequence numbers of what was due and has happened."""

    def __bool__(self) -> bool:
        return bool(self.resources or self.belonging or self.due or self.done)

    def clear(self) -> None:
        """Begin anew."""
        for changes in (self.resources, self.belonging, self.due, self.done):
            changes.clear()


class Store:
    """The objects and their scheduled transitions."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.clock = clock
        self._objects: dict[str, Resource] = {}
        self._by_kind: defaultdict[type[Resource], list[Resource]] = defaultdict(list)
        self._by_owner: defaultdict[tuple[type[Resource], str], dict[str, Resource]] = defaultdict(dict)
        self._due: list[Due] = []
        self._sequence = 0
        self.changed: Changed | None = None
        """Filled where somebody keeps the changes; whoever finds an object by its id may change it."""

    def now(self) -> int:
        """The time for `created`."""
        return int(self.clock.now())

    def add(self, resource: Resource, *owners: str | None) -> None:
        """Keep a new object, which belongs to the objects with these ids."""
        self._sequence += 1
        resource.sequence = self._sequence
        self._objects[resource.id] = resource
        self._by_kind[type(resource)].append(resource)
        self._note(resource)
        for owner in owners:
            self.assign(resource, owner)

    def assign(self, resource: Resource, owner: str | None) -> None:
        """Assign an object to an owner."""
        if owner is not None:
            self._by_owner[type(resource), owner][resource.id] = resource
            if self.changed is not None:
                self.changed.belonging.append((resource.id, owner))

    def find(self, object_id: str) -> Resource | None:
        """The object with this id."""
        resource = self._objects.get(object_id)
        if resource is not None:
            self._note(resource)
        return resource

    def _note(self, resource: Resource) -> None:
        if self.changed is not None:
            self.changed.resources[resource.id] = resource

    def get(self, kind: type[R], object_id: str, param: str, status: int = 404) -> R:
        """The object of this kind and id. Raises `StripeError`."""
        resource = self.find(object_id)
        if not isinstance(resource, kind) or not resource.exists:
            raise missing_object(kind.name, object_id, param, status)
        return resource

    def newest_first(self, kind: type[R], owner: str | None = None) -> Iterator[R]:
        """The objects of a kind, or those of an owner."""
        if owner is None:
            resources = reversed(self._by_kind[kind])
        else:
            mine = self._by_owner.get((kind, owner), {}).values()
            resources = iter(sorted(mine, key=lambda resource: resource.sequence, reverse=True))
        return (resource for resource in resources if isinstance(resource, kind) and resource.exists)

    def later(self, seconds: float, what: str, intent: Resource, charge: Resource) -> None:
        """Schedule a transition after so many seconds."""
        self._sequence += 1
        due = Due(self.clock.now() + seconds, self._sequence, what, intent.id, charge.id)
        heapq.heappush(self._due, due)
        if self.changed is not None:
            self.changed.due.append(due)

    def settle_due(self, carry_out: Callable[[Due], None]) -> None:
        """Carry out the transitions that are due."""
        while self._due and self._due[0].at <= self.clock.now():
            due = heapq.heappop(self._due)
            carry_out(due)
            if self.changed is not None:
                self.changed.done.append(due.sequence)

    def restore(self, resource: Resource, owners: Iterable[str]) -> None:
        """Hold an object that was kept, with its place in the order of creation."""
        self._objects[resource.id] = resource
        self._by_kind[type(resource)].append(resource)
        for owner in owners:
            self._by_owner[type(resource), owner][resource.id] = resource
        self._sequence = max(self._sequence, resource.sequence)

    def restore_due(self, due: Due) -> None:
        """Have something happen that was kept."""
        heapq.heappush(self._due, due)
        self._sequence = max(self._sequence, due.sequence)

    def __len__(self) -> int:
        return len(self._objects)
