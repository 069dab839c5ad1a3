"""Histories: which orders explain what was answered at the same time."""

from __future__ import annotations

import pytest

from conformance.service.histories import Answered, left_by, table, unexplained

Items = frozenset[str]
EMPTY: Items = frozenset()


def adds(item: str, begun: float, ended: float) -> Answered[Items]:
    return Answered(f"add {item}", begun, ended, lambda now: now | {item}, writes=True)


def reads(seen: str, begun: float, ended: float) -> Answered[Items]:
    def after(now: Items) -> Items | None:
        return now if now == frozenset(seen) else None

    return Answered(f"read {seen}", begun, ended, after, writes=False)


@pytest.mark.parametrize(
    ("history", "left"),
    [
        ([adds("a", 0, 2), reads("", 1, 3)], {"a"}),
        ([adds("a", 0, 2), reads("a", 1, 3)], {"a"}),
        ([adds("a", 0, 2), reads("", 2.5, 3)], None),
        ([adds("a", 0, 2), adds("b", 1, 3), reads("b", 1, 3)], {"a", "b"}),
        ([adds("a", 0, 2), adds("b", 1, 3), reads("b", 4, 5)], None),
        ([reads("a", 0, 1), reads("", 2, 3), adds("a", 0, 4)], None),
    ],
    ids=["before", "after", "too late", "between", "lost", "seen and gone"],
)
def test_orders_that_explain_the_answers(history: list[Answered[Items]], left: set[str] | None) -> None:
    assert left_by(history, [EMPTY]) == (frozenset() if left is None else {frozenset(left)})


def test_history_may_leave_several_states() -> None:
    def replaces(item: str) -> Answered[Items]:
        return Answered(item, 0, 1, lambda _: frozenset(item), writes=True)

    assert left_by([replaces("a"), replaces("b")], [EMPTY]) == {frozenset("a"), frozenset("b")}


def test_reads_that_are_not_needed_are_left_out() -> None:
    lost = [adds("a", 0, 2), reads("", 0, 1), reads("a", 3, 4), reads("", 5, 6)]
    assert [one.told for one in unexplained(lost, [EMPTY])] == ["add a", "read "]


def test_table_tells_when_each_was_asked_and_answered() -> None:
    assert table([reads("a", 10.5, 10.75), adds("a", 10, 10.25)]) == "0 to 250 ms: add a; 500 to 750 ms: read a"
