"""How much a run samples of large sets: cells of a matrix, rows of envelopes, random sequences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class SampleOptions:
    """The sampling options of the command line."""

    full: bool = False
    """Try every cell, each refused one with every script, and every row of envelopes in every flow."""
    quick: bool = False
    """Send each of many refused rows of envelopes once, to one flow."""
    cells: tuple[str, ...] = ()
    """Globs of cell ids: try these cells and their controls."""
    until_wrong: bool = False
    """Stop a matrix at the first wrong cell, and shrink no failing sequence."""
    budget: int | None = None
    """How many sequences each case of the driver `model` plays, and how many times 60 requests each of the driver
    `fuzz` sends; None: as many as the case says."""

    def names(self, cell: str) -> bool:
        """Whether the command line names this cell."""
        return any(fnmatchcase(cell, pattern) for pattern in self.cells)

    def leaves(self, cells: Iterable[str]) -> bool:
        """Whether these cells contain one to try."""
        return not self.cells or any(map(self.names, cells))
