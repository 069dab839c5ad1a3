"""What the simulated account holds: objects by id, by kind and by owner. Nothing outlives the process."""

from __future__ import annotations

import heapq
import random
import string
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
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
    """Lists of what belongs to this object that only an expansion shows."""

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


class Store:
    """The objects, and what is due to happen to them at a later time."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.clock = clock
        self._objects: dict[str, Resource] = {}
        self._by_kind: defaultdict[type[Resource], list[Resource]] = defaultdict(list)
        self._by_owner: defaultdict[tuple[type[Resource], str], dict[str, Resource]] = defaultdict(dict)
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = 0

    def now(self) -> int:
        """The time for `created`."""
        return int(self.clock.now())

    def add(self, resource: Resource, *owners: str | None) -> None:
        """Keep a new object, which belongs to the objects with these ids."""
        self._sequence += 1
        resource.sequence = self._sequence
        self._objects[resource.id] = resource
        self._by_kind[type(resource)].append(resource)
        for owner in owners:
            self.assign(resource, owner)

    def assign(self, resource: Resource, owner: str | None) -> None:
        """Make an object one of those that belong to another."""
        if owner is not None:
            self._by_owner[type(resource), owner][resource.id] = resource

    def find(self, object_id: str) -> Resource | None:
        """The object with this id."""
        return self._objects.get(object_id)

    def get(self, kind: type[R], object_id: str, param: str, status: int = 404) -> R:
        """The object of this kind and id. Raises `StripeError`."""
        resource = self._objects.get(object_id)
        if not isinstance(resource, kind) or not resource.exists:
            raise missing_object(kind.name, object_id, param, status)
        return resource

    def newest_first(self, kind: type[R], owner: str | None = None) -> Iterator[R]:
        """All objects of a kind, or those that belong to another object."""
        if owner is None:
            resources = reversed(self._by_kind[kind])
        else:
            mine = self._by_owner.get((kind, owner), {}).values()
            resources = iter(sorted(mine, key=lambda resource: resource.sequence, reverse=True))
        return (resource for resource in resources if isinstance(resource, kind) and resource.exists)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Have something happen once so much time has passed."""
        self._sequence += 1
        heapq.heappush(self._due, (self.clock.now() + seconds, self._sequence, action))

    def settle_due(self) -> None:
        """Carry out everything that is due."""
        while self._due and self._due[0][0] <= self.clock.now():
            heapq.heappop(self._due)[2]()

    def __len__(self) -> int:
        return len(self._objects)
