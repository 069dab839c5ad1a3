"""What a run takes of many like values."""

from __future__ import annotations

import pytest

from conformance.endpoints.extent import SampleOptions, every_other


@pytest.mark.parametrize(
    ("count", "most", "taken"), [(7, 3, [0, 3, 6]), (4, 3, [0, 1, 3]), (3, 3, [0, 1, 2]), (5, 1, [0]), (0, 3, [])]
)
def test_a_quick_run_takes_values_from_the_first_to_the_last(count: int, most: int, taken: list[int]) -> None:
    assert list(SampleOptions(quick=True).some(range(count), most)) == taken


def test_other_runs_take_all() -> None:
    assert list(SampleOptions().some(range(7), 1)) == list(range(7))


def test_two_turns_together_take_every_item() -> None:
    assert sorted([*every_other("abcde", 0), *every_other("abcde", 3)]) == list("abcde")
