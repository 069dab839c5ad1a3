"""Simplifies failing requests: leaves out those in the middle, then simplifies each member by member."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import JsonValue

from conformance.drivers.fuzz.examples import Example, Members
from conformance.drivers.fuzz.values import REGISTERED_HASH

MOST_TRIES = 80
"""The most tries for simplifying what fails."""
Requests = tuple[Example, ...]
"""Requests in a row; the last one fails."""


def shrink_all(requests: Requests, plain: Callable[[Example], Members], fails: Callable[[Requests], bool]) -> Requests:
    """The simplest requests found that fail the same way. The first one makes what the others name, so it stays."""
    for index in range(len(requests) - 2, 0, -1):
        fewer = requests[:index] + requests[index + 1 :]
        if fails(fewer):
            requests = fewer
    for index in range(len(requests)):
        requests = _with_simpler(requests, index, plain, fails)
    return requests


def _with_simpler(
    requests: Requests, index: int, plain: Callable[[Example], Members], fails: Callable[[Requests], bool]
) -> Requests:
    before, example, after = requests[:index], requests[index], requests[index + 1 :]
    tries = MOST_TRIES // len(requests)
    return (*before, shrink(example, plain(example), lambda other: fails((*before, other, *after)), tries), *after)


def shrink(example: Example, plain: Members, fails: Callable[[Example], bool], tries: int = MOST_TRIES) -> Example:
    """The simplest request found that fails the same way. `plain` are simple values of the operation's members."""
    left = tries
    best = example
    progress = True
    while progress and left > 0:
        progress = False
        for simpler in _simpler(best, plain):
            left -= 1
            if fails(simpler):
                best, progress = simpler, True
                break
            if left <= 0:
                break
    return best


def _simpler(example: Example, plain: Members) -> Iterator[Example]:
    members = example.members
    for name, value in members.items():
        if name in plain and value != plain[name]:
            yield example.with_members({**members, name: plain[name]})
        elif name not in plain:
            yield example.with_members({other: kept for other, kept in members.items() if other != name})
    for name, value in members.items():
        if name not in plain or value != plain[name]:
            for smaller in _smaller(value):
                yield example.with_members({**members, name: smaller})


def _smaller(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, str) and value != REGISTERED_HASH and not value.startswith("${"):
        yield from (text for text in _smaller_text(value) if "${" not in text.replace("$${", ""))
    elif isinstance(value, list):
        for end in {len(value) // 2, len(value) - 1} - {len(value)}:
            if end >= 0:
                yield value[:end]
                yield value[-end:] if end else []
        for index, entry in enumerate(value[:4]):
            yield from ([*value[:index], simpler, *value[index + 1 :]] for simpler in _smaller(entry))
    elif isinstance(value, dict):
        for name in [*value][:8]:
            yield {other: kept for other, kept in value.items() if other != name}
            yield from ({**value, name: simpler} for simpler in _smaller(value[name]))
    elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
        yield value // 2
        yield value - 1


def _smaller_text(text: str) -> Iterator[str]:
    half = len(text) // 2
    if half:
        yield text[:half]
        yield text[half:]
    if len(text) > 1:
        yield text[:-1]
        yield text[1:]
    if set(text) - {"a"}:
        yield "a" * len(text)
