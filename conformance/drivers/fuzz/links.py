"""Follows links: what an accepted request makes is changed and removed by further ones.

A link is a member of an answer that goes into a request of another operation (OpenAPI 3.1, "Link Object"): those of
the node's description, or the ones that the specification implies ("Groups", "Usage keys") where it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from conformance.drivers.fuzz.examples import Example, Examples, Members, Sort
from conformance.drivers.fuzz.values import LABELS, ValueRules
from conformance.drivers.openapi.description import Description
from conformance.profile import Operation
from conformance.values.json_values import member, printed

BODY = "$response.body#/"
REMOVALS = frozenset({"remove_group", "remove_usage_api_key"})


@dataclass(frozen=True)
class Link:
    """A member of an answer that is a member of a further request, by canonical names."""

    source: str
    given: str
    target: str
    taken: str


IMPLIED = (
    *(Link("add_group", "group_id", target, "group_id") for target in ("update_group", "remove_group")),
    *(
        Link("add_usage_api_key", "usage_api_key", target, "usage_api_key")
        for target in ("update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key")
    ),
)


def links_of(description: Description | None, operations: Mapping[str, Operation]) -> list[Link]:
    """The links between these operations that a description states, or else the implied ones."""
    stated = [] if description is None else list(_stated(description, operations))
    between = [link for link in IMPLIED if {link.source, link.target} <= operations.keys()]
    return stated or between


def _stated(description: Description, operations: Mapping[str, Operation]) -> Iterator[Link]:
    by_id = {
        member(described.value, "operationId"): operation
        for operation in operations.values()
        if (described := description.operations.get((operation.method, operation.path)))
    }
    for source in operations.values():
        described = description.operations.get((source.method, source.path))
        response = description.response(described, 200) if described else None
        links = member(response.value, "links") if response else None
        for link in links.values() if isinstance(links, dict) else ():
            target = by_id.get(member(link, "operationId"))
            if target is not None:
                yield from _members(source, target, link)


def _members(source: Operation, target: Operation, link: object) -> Iterator[Link]:
    body = member(link, "requestBody")
    given = {wire: name for name, wire in source.response.items()}
    taken = {wire: name for name, wire in target.request.items()}
    for wire, expression in body.items() if isinstance(body, dict) else ():
        name = given.get(printed(expression).removeprefix(BODY))
        if name is not None and wire in taken:
            yield Link(source.name, name, target.name, taken[wire])


class Sequences:
    """Makes sequences of requests: one that makes an object, one of each that changes it, and one that removes it."""

    def __init__(self, rules: ValueRules, examples: Examples, random: Random) -> None:
        self._rules, self._examples, self._random = rules, examples, random
        self._number = 0

    def of(self, links: Sequence[Link], operations: Mapping[str, Operation]) -> Iterator[tuple[Example, ...]]:
        """Sequences in which each label of each request has each of its values once, beside plain ones."""
        for source in dict.fromkeys(link.source for link in links):
            own = [link for link in links if link.source == source]
            own.sort(key=lambda link: link.target in REMOVALS)
            rows = [self._rows(operations[name]) for name in (source, *(link.target for link in own))]
            for index in range(max(map(len, rows))):
                made = f"made{self._number}"
                self._number += 1
                first, *others = (row[index % len(row)] for row in rows)
                requests = [Example(source, Sort.VALID, first, made=made, given=own[0].given)]
                for link, members in zip(own, others, strict=True):
                    requests.append(Example(link.target, Sort.VALID, {**members, link.taken: f"${{{made}}}"}))
                yield tuple(requests)

    def _rows(self, operation: Operation) -> list[Members]:
        names = list(operation.request)
        values = {name: self._rules.valid(name) for name in names if name in LABELS}
        for several in values.values():
            self._random.shuffle(several)
        longest = max(map(len, values.values()), default=1)
        return [
            {**self._examples.plain(names), **{name: several[i % len(several)] for name, several in values.items()}}
            for i in range(longest)
        ]
