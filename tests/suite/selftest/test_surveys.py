"""``init`` is never wrong of correct nodes, and finds most of what is unlike the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.profile import load_profile
from conformance.selftest.tools import surveys
from conformance.selftest.tools.serving import target_node
from conformance.selftest.tools.surveys import REFERENCE, Measure, measure
from conformance.selftest.variants import VARIANTS
from conformance.survey import MOST_WRITES, Asker, Notes, read, try_out, written

PAGE = Path(__file__).parents[3] / "docs" / "init.md"
NODES = (REFERENCE, *VARIANTS)


@pytest.fixture(scope="module")
def measures() -> dict[str, Measure]:
    return {name: measure(name, tries=True) for name in NODES}


def test_survey_states_nothing_that_is_wrong(measures: dict[str, Measure]) -> None:
    assert {name: one.wrong for name, one in measures.items()} == dict.fromkeys(NODES, ())


@pytest.mark.parametrize("name", NODES)
def test_survey_without_writes_states_nothing_that_is_wrong(name: str) -> None:
    one = measure(name, tries=False)

    assert (one.wrong, one.writes) == ((), 1), "the one accepted request other than GET computes a CID"


def test_survey_finds_most_of_what_is_unlike_the_defaults(measures: dict[str, Measure]) -> None:
    different = sum(len(one.different) for one in measures.values())
    found = sum(len(one.found) for one in measures.values())

    assert found >= 0.8 * different, {name: set(one.different) - set(one.found) for name, one in measures.items()}


def test_survey_keeps_to_its_budget(measures: dict[str, Measure]) -> None:
    assert all(one.writes <= 2 * MOST_WRITES for one in measures.values())
    assert measures[REFERENCE].writes <= MOST_WRITES + 10, "what it cleans up comes on top"


def test_table_of_the_page_is_what_was_measured(measures: dict[str, Measure]) -> None:
    rows = {
        cells[0]: cells
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if (cells := [cell.strip() for cell in line.strip("|").split("|")]) and cells[0] in NODES
    }
    for name, one in measures.items():
        told = [*rows[name][2].split(", "), *rows[name][4:6]]
        assert told[1:] == [str(len(one.wrong)), str(len(one.different)), str(len(one.found))]
        # A usage key drawn without `+`, `/`, `-` and `_` does not show its alphabet: one key of the profile less.
        assert int(told[0]) - len(one.right) in {0, 1}, name


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
