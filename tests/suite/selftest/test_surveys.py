"""``init`` is never wrong of correct nodes, and finds most of what is unlike the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.profile import load_profile
from conformance.selftest.tools import surveys
from conformance.selftest.tools.serving import target_node
from conformance.selftest.tools.surveys import REFERENCE, measure
from conformance.selftest.variants import VARIANTS
from conformance.survey import MOST_WRITES, Asker, Notes, read, try_out, written

PAGE = Path(__file__).parents[3] / "docs" / "init.md"
NODES = (REFERENCE, *VARIANTS)


@pytest.mark.parametrize("name", NODES)
def test_survey_without_writes_states_nothing_that_is_wrong(name: str) -> None:
    one = measure(name, tries=False)

    assert (one.wrong, one.writes) == ((), 1), "the one accepted request other than GET computes a CID"


def rows() -> dict[str, list[str]]:
    """The cells of the page's table, by node."""
    return {
        cells[0]: cells
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if (cells := [cell.strip() for cell in line.strip("|").split("|")]) and cells[0] in NODES
    }


@pytest.mark.parametrize("name", NODES)
def test_survey_is_right_keeps_to_its_budget_and_is_what_the_page_tells(name: str) -> None:
    one, row = measure(name, tries=True), rows()[name]

    assert one.wrong == ()
    assert one.writes <= (MOST_WRITES + 10 if name == REFERENCE else 2 * MOST_WRITES), "what it cleans up comes on top"
    assert row[4:6] == [str(len(one.different)), str(len(one.found))]
    right, wrong, *_ = row[2].split(", ")
    assert wrong == "0"
    # A usage key drawn without `+`, `/`, `-` and `_` does not show its alphabet: one key of the profile less.
    assert int(right) - len(one.right) in {0, 1}


def test_survey_finds_most_of_what_is_unlike_the_defaults() -> None:
    different, found = (sum(int(row[at]) for row in rows().values()) for at in (4, 5))

    assert found >= 0.8 * different


def test_file_of_a_survey_is_a_profile_with_a_question_for_each_key_not_seen(tmp_path: Path) -> None:
    notes = Notes()
    with target_node(surveys._as_it_is, "0") as target:
        ask = Asker(target)
        read(ask, notes)
        try_out(ask, notes)
        left = target.profile
    path = tmp_path / "node.yaml"
    path.write_text(written(notes, "http://127.0.0.1:8000", ["from a test"]), encoding="utf-8")

    assert load_profile(path).wire == left.wire
    text = path.read_text(encoding="utf-8")
    assert "# limits.rate? [unlimited] How many requests a second" in text
    assert "\n  slug: service  # POST /get_service_action_ipfs_id answers\n" in text


def test_contradictory_observations_are_a_question() -> None:
    notes = Notes()
    notes.see("limits.page_size_max", 3, "once")
    notes.see("limits.page_size_max", 4, "twice")
    notes.see("limits.page_size_max", 3, "again")

    assert notes.seen == {}
    assert notes.unclear == {"limits.page_size_max": "once: 3; but twice: 4"}
