"""What the simulated account holds: objects by id and by kind, and what is due to happen to them."""

from __future__ import annotations

import heapq
import random
import string
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
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
    """An object of the API. It shows its fields but the `hidden` ones, and the members that are `constant`."""

    name: ClassVar[str]
    prefix: ClassVar[str]
    id_length: ClassVar[int] = 24
    constant: ClassVar[Object]
    hidden: ClassVar[frozenset[str]] = frozenset({"sequence"})
    expandable: ClassVar[frozenset[str]] = frozenset()
    """The members that hold the id of another object, or null."""

    id: str
    created: int
    livemode: bool = False
    sequence: int = field(default=0, repr=False)
    """The order of creation within the store."""

    def view(self) -> Object:
        """The object as the API shows it."""
        shown = {member.name: getattr(self, member.name) for member in fields(self) if member.name not in self.hidden}
        return {**self.constant, **shown}

    @property
    def exists(self) -> bool:
        """Whether it can be found by its id."""
        return True


R = TypeVar("R", bound=Resource)


@dataclass(frozen=True, order=True, slots=True)
class Due:
    """The end of the processing of a payment."""

    at: float
    """The simulated Unix time."""
    sequence: int
    intent: str
    charge: str


@dataclass(slots=True)
class Changed:
    """What may have changed since it was last cleared."""

    resources: dict[str, Resource] = field(default_factory=dict)
    due: list[Due] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    """The sequence numbers of what was due and has happened."""

    def __bool__(self) -> bool:
        return bool(self.resources or self.due or self.done)

    def clear(self) -> None:
        """Begin anew."""
        for changes in (self.resources, self.due, self.done):
            changes.clear()


class Store:
    """The objects, and what is due to happen to them."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.clock = clock
        self._objects: dict[str, Resource] = {}
        self._by_kind: defaultdict[type[Resource], list[Resource]] = defaultdict(list)
        self._due: list[Due] = []
        self._sequence = 0
        self.changed: Changed | None = None
        """Filled where somebody keeps the changes; whoever finds an object by its id may change it."""

    def now(self) -> int:
        """The time for `created`."""
        return int(self.clock.now())

    def add(self, resource: Resource) -> None:
        """Keep a new object."""
        resource.sequence = self._sequence + 1
        self.restore(resource)
        self._note(resource)

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

    def newest_first(self, kind: type[R]) -> Iterator[R]:
        """The objects of a kind."""
        resources = reversed(self._by_kind[kind])
        return (resource for resource in resources if isinstance(resource, kind) and resource.exists)

    def later(self, seconds: float, intent: Resource, charge: Resource) -> None:
        """Have the processing of a payment end after so many seconds."""
        due = Due(self.clock.now() + seconds, self._sequence + 1, intent.id, charge.id)
        self.restore_due(due)
        if self.changed is not None:
            self.changed.due.append(due)

    def settle_due(self, carry_out: Callable[[Due], None]) -> None:
        """Carry out what is due."""
        while self._due and self._due[0].at <= self.clock.now():
            due = heapq.heappop(self._due)
            carry_out(due)
            if self.changed is not None:
                self.changed.done.append(due.sequence)

    def restore(self, resource: Resource) -> None:
        """Hold an object that has its place in the order of creation."""
        self._objects[resource.id] = resource
        self._by_kind[type(resource)].append(resource)
        self._sequence = max(self._sequence, resource.sequence)

    def restore_due(self, due: Due) -> None:
        """Have something happen that has its place in the order."""
        heapq.heappush(self._due, due)
        self._sequence = max(self._sequence, due.sequence)
