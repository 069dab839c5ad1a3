"""Chooses the cells of the execution matrix that a run tries, and their order, so that few writes are needed.

Left to itself it takes the whole product that EXEC-090 names; of a managed account's own keys every granted cell, and
every refused one where a group lacks one condition alone; of all other keys cells where nothing but the key is wrong;
and as many more as let each two values meet in a cell. Of a ChainSecured account the pairs of values are enough:
the same contract decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from operator import attrgetter

from conformance.drivers.matrix.cells import Arrangement, Cell
from conformance.endpoints.extent import SampleOptions

PRODUCT_ROWS = frozenset({"account", "usage-this", "usage-zero", "usage-other", "usage-none"})
PRODUCT_LISTINGS = frozenset({"this", "wildcard", "none"})
PARTS = ("kind", "groups", "action", "wallet", "accounts")


def chosen(cells: Sequence[Cell], extent: SampleOptions, *, edges: bool = True) -> list[Cell]:
    """The cells to try. Without `edges` these are the pairs alone."""
    if extent.cells:
        named = [cell for cell in cells if extent.names(cell.id)]
        return named + [held for held in controls(named, cells) if held not in set(named)]
    if extent.full:
        return list(cells)
    if not edges:
        return pairwise(cells, (), PARTS)
    needed = [cell for cell in cells if _in_product(cell) or _on_the_edge(cell)]
    needed += pairwise(
        [cell for cell in cells if _lacks_only_the_key(cell)], (), ("row", "action", "wallet", "accounts")
    )
    return needed + pairwise(cells, needed, PARTS)


def _in_product(cell: Cell) -> bool:
    """Whether it is one of the 45 cells of EXEC-090."""
    listings = {cell.action, cell.wallet}
    return cell.row in PRODUCT_ROWS and listings <= PRODUCT_LISTINGS and cell.accounts == 1


def _on_the_edge(cell: Cell) -> bool:
    return cell.counterpart == cell and (cell.decision().granted or cell.breaks_one_condition())


def _lacks_only_the_key(cell: Cell) -> bool:
    return cell.counterpart != cell and cell.counterpart.decision().granted


def pairwise(cells: Sequence[Cell], taken: Iterable[Cell], parts: Sequence[str]) -> list[Cell]:
    """Few cells that, with those taken, contain every pair of values of the cells (pairwise testing)."""
    values = attrgetter(*parts)
    pairs = {cell: frozenset(combinations(enumerate(values(cell)), 2)) for cell in {*cells, *taken}}
    missing = set().union(*(pairs[cell] for cell in cells)).difference(*(pairs[cell] for cell in taken))
    picked: list[Cell] = []
    while missing:
        best = max(cells, key=lambda cell: len(pairs[cell] & missing))
        picked.append(best)
        missing -= pairs[best]
    return picked


def controls(cells: Iterable[Cell], among: Sequence[Cell]) -> list[Cell]:
    """For each refused cell the granted cell that differs least from it with a valid key."""
    granted = [cell for cell in among if cell.decision().granted]
    refused = [cell for cell in cells if not cell.decision().granted]
    return list(dict.fromkeys(min(granted, key=lambda other: distance(cell.counterpart, other)) for cell in refused))


def distance(cell: Cell, other: Cell) -> int:
    """The number of parts, of four, in which two cells differ."""
    return sum(getattr(cell, part) != getattr(other, part) for part in ("row", "action", "wallet", "accounts"))


def in_order(cells: Iterable[Cell]) -> list[tuple[Arrangement, list[Cell]]]:
    """The cells by arrangement, granted ones first. Each change of the arrangement writes this group once."""
    by_arrangement: dict[Arrangement, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: (not cell.decision().granted, cell.id)):
        by_arrangement.setdefault(cell.arrangement, []).append(cell)
    one_account = sorted(arrangement for arrangement in by_arrangement if arrangement.accounts == 1)
    two_accounts = sorted((arrangement for arrangement in by_arrangement if arrangement.accounts > 1), reverse=True)
    return [(arrangement, by_arrangement[arrangement]) for arrangement in (*one_account, *two_accounts)]
