"""Draws the execution matrices of a run: a row for each key, a column for each listing of action and wallet.

A cell is called `key/action/wallet/accounts`; docs/results.md explains the marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.text import Text

from conformance.report.results import CaseResult, CellResult, Results
from conformance.verdict import CellVerdict

MARKS = {
    CellVerdict.GRANTED: ("+", "green"),
    CellVerdict.REFUSED: ("-", "cyan"),
    CellVerdict.WRONG: ("X", "bold red"),
    CellVerdict.NOT_TRIED: (".", "dim"),
}
LEGEND = "+ granted, - refused, X WRONG, . not tried; wallets: this, other, both, wildcard, none"
SHOWN = 3
"""How many wrong cells the terminal lists."""


class Grid:
    """The cells of one matrix by place, without the keys of which no cell was tried."""

    def __init__(self, cells: Sequence[CellResult]) -> None:
        placed = {tuple(cell.cell.split("/")): cell for cell in cells}
        tried = {place[0] for place, cell in placed.items() if cell.verdict is not CellVerdict.NOT_TRIED}
        self._cells = {place: cell for place, cell in placed.items() if place[0] in tried}
        parts = [dict.fromkeys(place) for place in zip(*self._cells, strict=True)]
        self.rows, self.actions, self.wallets, self.accounts = (list(values) for values in parts)

    def at(self, row: str, action: str, wallet: str, accounts: str) -> CellResult | None:
        """The cell at a place; None where there is none."""
        return self._cells.get((row, action, wallet, accounts))


def matrices(results: Results) -> list[CaseResult]:
    """The cases with a matrix of which at least one cell was tried."""
    return [case for case in results.cases if any(cell.verdict != CellVerdict.NOT_TRIED for cell in case.cells)]


def summary(case: CaseResult) -> str:
    """The number of cells, of tried cells and of each verdict, in words."""
    count = Counter(cell.verdict for cell in case.cells)
    tried = len(case.cells) - count[CellVerdict.NOT_TRIED]
    return (
        f"{tried} of {len(case.cells)} cells tried: {count[CellVerdict.GRANTED]} granted,"
        f" {count[CellVerdict.REFUSED]} refused, {count[CellVerdict.WRONG]} wrong"
    )


def drawn(case: CaseResult) -> Iterable[Text]:
    """The matrix for the terminal, within 100 columns, with one mark for each number of accounts at each place.

    Where a cell is wrong, of the keys that have one; `execution_matrix.md` and the page have the others.
    """
    grid = Grid(case.cells)
    numbers = " and ".join(grid.accounts)
    width = max(map(len, (*grid.rows, "wallet"))) + 2
    yield Text(f"\n{case.case}: {summary(case)}", "bold")
    verdicts = {cell.verdict for cell in case.cells}
    wrong = [cell for cell in case.cells if cell.verdict is CellVerdict.WRONG]
    if CellVerdict.NOT_TRIED in verdicts and not wrong:
        return
    told = {cell.cell.partition("/")[0] for cell in wrong} or set(grid.rows)
    yield Text(f"{LEGEND}; with {numbers} accounts" if len(grid.accounts) > 1 else LEGEND, "dim")
    step = len(grid.accounts) + 1
    block = step * len(grid.wallets) + 1
    yield Text("action".ljust(width) + "".join(action.ljust(block) for action in grid.actions), "dim")
    letters = "".join(wallet[0].ljust(step) for wallet in grid.wallets).ljust(block)
    yield Text("wallet".ljust(width) + letters * len(grid.actions), "dim")
    for row in grid.rows:
        if row in told:
            yield _line(grid, row, width)
    for cell in wrong[:SHOWN]:
        yield Text(f"  WRONG {cell.cell}: must be {cell.expected} ({cell.reason}); got {cell.got}", "red")
    if wrong:
        yield Text(f"        again: {wrong[0].rerun}")
    if len(wrong) > SHOWN:
        yield Text(f"  and {len(wrong) - SHOWN} more", "red")


def _line(grid: Grid, row: str, width: int) -> Text:
    line = Text(row.ljust(width))
    for action in grid.actions:
        for wallet in grid.wallets:
            for accounts in grid.accounts:
                cell = grid.at(row, action, wallet, accounts)
                line.append(*(MARKS[cell.verdict] if cell else (" ", "")))
            line.append(" ")
        line.append(" ")
    return line


def markdown(cases: Iterable[CaseResult]) -> str:
    """The matrices as Markdown: a table for each number of accounts, and a line for each wrong cell."""
    lines = ["# Execution matrix", ""]
    for case in cases:
        grid = Grid(case.cells)
        lines += [f"## {case.case}", "", f"{summary(case)}.", ""]
        for accounts in grid.accounts:
            lines += [f"### Accounts: {accounts}", "", *_table(grid, accounts), ""]
        lines += [
            f"- WRONG `{cell.cell}`: must be {cell.expected} ({cell.reason}). `{cell.rerun}`"
            for cell in case.cells
            if cell.verdict is CellVerdict.WRONG
        ]
    return "\n".join(lines).rstrip() + "\n"


def _table(grid: Grid, accounts: str) -> Iterable[str]:
    columns = [(action, wallet) for action in grid.actions for wallet in grid.wallets]
    yield "| key, by action / wallet | " + " | ".join("/".join(column) for column in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for row in grid.rows:
        cells = [grid.at(row, *column, accounts) for column in columns]
        if any(cells):
            yield f"| {row} | " + " | ".join(_word(cell) for cell in cells) + " |"


def _word(cell: CellResult | None) -> str:
    if cell is None or cell.verdict is CellVerdict.NOT_TRIED:
        return ""
    return "**WRONG**" if cell.verdict is CellVerdict.WRONG else str(cell.verdict)
