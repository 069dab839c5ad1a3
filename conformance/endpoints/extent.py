"""How much a run samples of large sets: cells of a matrix, rows of envelopes, random sequences, lengths of lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

T = TypeVar("T")
FEW = 3
"""How many of many like values a quick run takes."""


@dataclass(frozen=True)
class SampleOptions:
    """The sampling options of the command line."""

    full: bool = False
    """Try every cell, each refused one with every script, and every row of envelopes in every flow."""
    quick: bool = False
    """Send one refused envelope of each kind, and take few of many values that are alike."""
    cells: tuple[str, ...] = ()
    """Globs of cell ids: try these cells and their controls."""
    until_wrong: bool = False
    """Stop a matrix at the first wrong cell, and shrink no failing sequence."""
    budget: int | None = None
    """How many sequences each case of the driver `model` plays, how many histories each of the driver `histories`, and
    how many times 60 requests each of the driver `fuzz` sends; None: as many as the case says."""
    scale: int | None = None
    """The number of items that cases pass in the lists that they fill; None: what the table of sizes says."""

    def some(self, values: Sequence[T], most: int = FEW) -> Sequence[T]:
        """In a quick run so many of the values, from the first to the last; else all of them."""
        if not self.quick or len(values) <= most:
            return values
        last = len(values) - 1
        return [values[place * last // max(most - 1, 1)] for place in range(most)]

    def names(self, cell: str) -> bool:
        """Whether the command line names this cell."""
        return any(fnmatchcase(cell, pattern) for pattern in self.cells)

    def leaves(self, cells: Iterable[str]) -> bool:
        """Whether these cells contain one to try."""
        return not self.cells or any(map(self.names, cells))


def every_other(items: Sequence[T], turn: int) -> Sequence[T]:
    """Every other item, and in the next turn those between: half of the pairs of many values and many operations."""
    return items[turn % 2 :: 2]
