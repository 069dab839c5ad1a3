"""How a matrix is drawn, and what results.json says of its cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from made_runs import outcome, results, terminal

from conformance.report import Results, write_results
from conformance.verdict import CellOutcome, CellVerdict, Verdict

GRANTED, REFUSED, WRONG, NOT_TRIED = CellVerdict
CELLS = (
    CellOutcome("account/this/this/1", True, GRANTED, "the group 'this' lists both"),
    CellOutcome("account/this/none/1", False, WRONG, "no group lists the wallet", "status 200"),
    CellOutcome("account/none/this/1", False, NOT_TRIED, "no group lists the action"),
    CellOutcome("account/none/none/1", False, REFUSED, "no group lists the action"),
    CellOutcome("account/this/this/2", True, GRANTED, "the group 'this' lists both"),
    CellOutcome("other/this/this/2", False, REFUSED, "the wallet is another account's"),
)


def tried(*cells: CellOutcome) -> Results:
    """A run of one matrix."""
    return results(replace(outcome("p::m", Verdict.FAIL, "A-010"), cells=cells))


def shown(*cells: CellOutcome) -> list[str]:
    """The lines that the terminal shows of a matrix."""
    return terminal(tried(*cells), width=100).splitlines()


def test_terminal_draws_a_line_for_each_wrong_key_and_a_mark_for_each_number_of_accounts() -> None:
    lines = shown(*CELLS)
    assert "p::m: 5 of 6 cells tried: 2 granted, 2 refused, 1 wrong" in lines
    assert [line.split() for line in lines if line.startswith(("action", "wallet"))] == [
        ["action", "this", "none"],
        ["wallet", "t", "n", "t", "n"],
    ]
    rows = ("account ", "other ")
    assert [line.rstrip() for line in lines if line.startswith(rows)] == ["account  ++ X   .  -"]


def test_terminal_draws_every_key_of_a_matrix_that_was_tried_whole_and_holds() -> None:
    lines = shown(*(cell for cell in CELLS if cell.verdict in {GRANTED, REFUSED}))
    rows = ("account ", "other ")
    assert [line.rstrip() for line in lines if line.startswith(rows)] == ["account  ++        -", "other     -"]


def test_terminal_tells_of_a_wrong_cell_with_reason_and_command() -> None:
    text = "\n".join(shown(*CELLS))
    assert "WRONG account/this/none/1: must be refused (no group lists the wallet); got status 200" in text
    assert "again: service-conformance run --seed 7 --case p::m --cell account/this/none/1" in text


def test_keys_with_which_nothing_was_tried_are_not_drawn() -> None:
    idle = CellOutcome("idle/this/this/1", False, NOT_TRIED, "the key may execute in no group")
    lines = shown(*CELLS, idle)
    assert "p::m: 5 of 7 cells tried: 2 granted, 2 refused, 1 wrong" in lines
    assert not any(line.startswith("idle") for line in lines)


def test_matrix_of_which_nothing_was_tried_is_not_drawn() -> None:
    untried = [replace(cell, verdict=NOT_TRIED) for cell in CELLS]
    assert not any("cells tried" in line for line in shown(*untried))


def test_results_hold_every_cell_with_what_was_expected() -> None:
    cells = {cell.cell: cell for cell in tried(*CELLS).cases[0].cells}
    assert len(cells) == len(CELLS)
    wrong = cells["account/this/none/1"]
    assert (wrong.expected, wrong.verdict, wrong.got) == ("refused", WRONG, "status 200")
    assert wrong.rerun.endswith("--case p::m --cell account/this/none/1")
    right = cells["account/this/this/1"]
    assert (right.expected, right.verdict, right.got, right.rerun) == ("granted", GRANTED, "", "")


def test_folder_gets_the_matrix_as_tables_and_loses_it_with_the_next_run(tmp_path: Path) -> None:
    write_results(tried(*CELLS), tmp_path)
    lines = (tmp_path / "execution_matrix.md").read_text(encoding="utf-8").splitlines()
    assert "| account | granted | **WRONG** |  | refused |" in lines
    assert "| other | refused |  |  |  |" in lines
    assert lines.count("### Accounts: 1") == lines.count("### Accounts: 2") == 1
    assert any(line.startswith("- WRONG `account/this/none/1`: must be refused") for line in lines)
    write_results(tried(), tmp_path)
    assert not (tmp_path / "execution_matrix.md").exists()
