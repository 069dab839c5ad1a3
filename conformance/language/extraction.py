"""Functions of `let` that take a part out of a value: some characters of a text, one item."""

from __future__ import annotations

from conformance.language.functions import function
from conformance.language.scope import Scope
from conformance.problems import Mismatch
from conformance.values.json_values import printed, same


@function
def slice(_: Scope, text: object, start: int, end: int | None = None) -> str:  # noqa: A001 - the name that packs use
    """The characters from start to before end; negative numbers count from the end, a null end is the end."""
    return printed(text)[start:end]


@function
def differs(_: Scope, one: object, other: object) -> bool:
    """Whether two values are not exactly equal."""
    return not same(one, other)


@function
def difference(_: Scope, one: object, other: object) -> int:
    """The first integer less the second."""
    for number in (one, other):
        if not isinstance(number, int) or isinstance(number, bool):
            raise Mismatch("an integer", printed(number))
    return int(str(one)) - int(str(other))
