"""Which cells a run tries, and what they are held against."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from itertools import pairwise as neighbours

import pytest

from conformance.drivers.matrix.cells import GROUPS, LISTINGS, Cell, Kind, all_cells
from conformance.drivers.matrix.plan import chosen, controls, distance, in_order
from conformance.drivers.matrix.scripts import SCRIPTS, scripts_for
from conformance.endpoints.extent import SampleOptions

KINDS: tuple[Kind, ...] = ("account", "usage", "removed", "other_account", "other_usage")
CELLS = all_cells(KINDS)
DEFAULT = chosen(CELLS, SampleOptions())
ALL_SCRIPTS = list(SCRIPTS)
PAIRS = chosen(CELLS, SampleOptions(), edges=False)
GRANTED_BY_HAND = {
    "account": ("+-++-", "-++--", "++++-", "+-++-", "-----"),
    "usage-none": ("-----",) * 5,
    "usage-this": ("+-++-", "-----", "+-++-", "+-++-", "-----"),
    "usage-other": ("-----", "-++--", "-++--", "-----", "-----"),
    "usage-several": ("+-++-", "-++--", "++++-", "+-++-", "-----"),
    "usage-zero": ("+-++-", "-++--", "++++-", "+-++-", "-----"),
}
"""A line for each action (this, other, both, wildcard, none), in it a mark for each wallet in the same order.

With a wildcard this group lists nothing else; the other group always lists what is `other` and `both`.
"""


def test_there_are_700_cells() -> None:
    assert len(CELLS) == len({cell.id for cell in CELLS}) == 700
    assert Counter(cell.accounts for cell in CELLS) == {1: 11 * 25, 2: 17 * 25}


@pytest.mark.parametrize("accounts", [1, 2])
@pytest.mark.parametrize("row", GRANTED_BY_HAND)
def test_cells_are_granted_as_found_by_hand(row: str, accounts: int) -> None:
    found = {(cell.action, cell.wallet): cell for cell in CELLS if cell.row == row and cell.accounts == accounts}
    for action, line in zip(LISTINGS, GRANTED_BY_HAND[row], strict=True):
        marks = "".join("+" if found[action, wallet].decision().granted else "-" for wallet in LISTINGS)
        assert marks == line, (row, action)


def test_removed_keys_and_those_of_others_are_granted_nothing() -> None:
    dead = [cell for cell in CELLS if cell.row not in GRANTED_BY_HAND]
    assert len(dead) == 400
    assert not [cell.id for cell in dead if cell.decision().granted]


def test_full_run_tries_every_cell() -> None:
    assert chosen(CELLS, SampleOptions(full=True)) == CELLS


def test_default_is_a_part_of_the_cells_without_repetition() -> None:
    assert len(set(DEFAULT)) == len(DEFAULT) < len(CELLS) / 2


def test_default_holds_the_product_of_exec_090() -> None:
    keys = (("account", ""), *(("usage", groups) for groups in ("this", "zero", "other", "none")))
    wanted = {
        Cell(kind, groups, action, wallet, 1)  # type: ignore[arg-type]  # the kinds above
        for kind, groups in keys
        for action in ("this", "wildcard", "none")
        for wallet in ("this", "wildcard", "none")
    }
    assert len(wanted) == 45
    assert wanted <= set(DEFAULT)


def test_default_holds_every_neighbour_that_lacks_one_condition() -> None:
    """Found apart from the plan: a refused cell that a change of key, action or wallet alone makes a granted one."""
    own = [cell for cell in CELLS if cell.kind in {"account", "usage"}]
    granted = [cell for cell in own if cell.decision().granted]
    assert set(granted) <= set(DEFAULT)
    for cell in own:
        near = any(distance(cell, other) == 1 and cell.accounts == other.accounts for other in granted)
        if not cell.decision().granted and near:
            assert cell in DEFAULT, cell.id


def test_default_tries_keys_that_do_not_count_where_nothing_else_is_wrong() -> None:
    for row in [f"{kind}-{groups}" for kind in ("removed", "other_usage") for groups in GROUPS if groups != "none"]:
        telling = [cell for cell in DEFAULT if cell.row == row and cell.counterpart.decision().granted]
        assert len(telling) >= 2, row


@pytest.mark.parametrize("cells", [DEFAULT, PAIRS], ids=["default", "pairs alone"])
@pytest.mark.parametrize("parts", list(combinations(("kind", "groups", "action", "wallet", "accounts"), 2)))
def test_each_two_values_meet_in_a_cell(parts: tuple[str, str], cells: list[Cell]) -> None:
    def values(cells: list[Cell]) -> set[tuple[object, ...]]:
        return {tuple(getattr(cell, part) for part in parts) for cell in cells}

    assert values(cells) == values(CELLS)


def test_pairs_alone_are_few_and_always_the_same() -> None:
    assert len(PAIRS) < 45
    assert chosen(CELLS, SampleOptions(), edges=False) == PAIRS


def test_every_refused_cell_has_a_granted_one_close_by() -> None:
    refused = [cell for cell in DEFAULT if not cell.decision().granted]
    granted = [cell for cell in DEFAULT if cell.decision().granted]
    assert max(min(distance(cell, other) for other in granted) for cell in refused) <= 3
    lacking_one = [cell for cell in refused if cell.counterpart.breaks_one_condition()]
    assert {min(distance(cell, other) for other in granted) for cell in lacking_one} == {1}


def test_named_cells_come_with_what_they_are_held_against() -> None:
    found = chosen(CELLS, SampleOptions(cells=("usage-several/this/other/1",)))
    assert found[0].id == "usage-several/this/other/1"
    held = controls(found[:1], CELLS)
    assert found[1:] == held
    assert held[0].decision().granted
    assert distance(held[0], found[0]) == 1


def test_named_granted_cell_comes_alone() -> None:
    assert [cell.id for cell in chosen(CELLS, SampleOptions(cells=("account/this/this/1",)))] == ["account/this/this/1"]


def test_order_writes_once_from_one_arrangement_to_the_next() -> None:
    order = in_order(DEFAULT)
    arrangements = [arrangement for arrangement, _ in order]
    assert len(arrangements) == len(set(arrangements)) == 8
    assert [arrangement.accounts for arrangement in arrangements] == [1, 1, 1, 1, 2, 2, 2, 2]
    lists = [arrangement.world()["own"].groups["this"] for arrangement in arrangements]
    assert sum(one != other for one, other in neighbours(lists)) == 6
    assert sorted(cell.id for _, cells in order for cell in cells) == sorted(cell.id for cell in DEFAULT)


def test_order_begins_each_arrangement_with_what_is_granted() -> None:
    for _, cells in in_order(DEFAULT):
        granted = [cell.decision().granted for cell in cells]
        assert granted == sorted(granted, reverse=True)
        assert granted[0]


def test_scripts_are_all_used_and_always_the_same() -> None:
    used = {cell: scripts_for(cell, ALL_SCRIPTS, full=False) for cell in DEFAULT}
    assert used == {cell: scripts_for(cell, ALL_SCRIPTS, full=False) for cell in DEFAULT}
    assert all(len(found) == 1 for found in used.values())
    for reason in {cell.decision().reason for cell in DEFAULT if "group 'other'" not in cell.decision().reason}:
        names = {found[0].name for cell, found in used.items() if cell.decision().reason == reason}
        assert len(names) >= 3, reason
    assert not any(found[0].yields for cell, found in used.items() if cell.decision().granted)


def test_full_run_tries_refused_cells_with_every_script() -> None:
    refused = next(cell for cell in CELLS if not cell.decision().granted)
    granted = next(cell for cell in CELLS if cell.decision().granted)
    assert scripts_for(refused, ALL_SCRIPTS, full=True) == ALL_SCRIPTS
    assert len(scripts_for(granted, ALL_SCRIPTS, full=True)) == 1
