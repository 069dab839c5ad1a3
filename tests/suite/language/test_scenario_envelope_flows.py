"""To which flows the rows of the driver `typed_data` go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from conformance.drivers.envelopes.changes import Change
from conformance.drivers.envelopes.driver import dealt, dealt_once, one_of_each_kind
from conformance.drivers.envelopes.forms import PRIMARY_TYPES, EnvelopeRow, Flow
from conformance.drivers.envelopes.requests import Changes
from conformance.drivers.envelopes.rows import Row

FLOWS = list(PRIMARY_TYPES)


def row(**form: Any) -> Row:
    made = EnvelopeRow(**form)
    return Row(made.id, made, lambda _: Changes([], None), lambda _: None)


def rows(refused: int, accepted: int = 0, **form: Any) -> list[Row]:
    made = [row(id=f"refused-{index}", **form) for index in range(refused)]
    return made + [row(id=f"accepted-{index}", accepted=True) for index in range(accepted)]


def flows_of(made: Sequence[Row], flows: Sequence[Flow]) -> dict[str, list[Flow]]:
    sent = dealt(dict.fromkeys(flows, made))
    labels = {flow: [row.label for row in some] for flow, some in sent.items()}
    return {row.label: [flow for flow, some in labels.items() if row.label in some] for row in made}


@pytest.mark.parametrize("count", [2, 3, 4])
def test_each_of_many_refused_rows_goes_to_two_flows_and_each_flow_gets_its_share(count: int) -> None:
    sent = flows_of(rows(12), FLOWS[:count])

    assert {len(places) for places in sent.values()} == {2}
    assert Counter(flow for places in sent.values() for flow in places) == dict.fromkeys(FLOWS[:count], 24 // count)


def test_few_refused_rows_and_all_accepted_ones_go_to_every_flow() -> None:
    assert set(map(len, flows_of(rows(3), FLOWS).values())) == {4}
    assert len(flows_of(rows(12, accepted=1), FLOWS)["accepted-0"]) == 4


def test_a_row_of_two_flows_is_signed_as_sent_in_one_and_over_the_valid_envelope_in_the_other() -> None:
    sent = dealt(dict.fromkeys(FLOWS, rows(12)))

    over = {
        row.label: sorted(str(same.form.over) for some in sent.values() for same in some if same.label == row.label)
        for row in rows(12)
    }

    assert over == {f"refused-{index}": ["changed", "original"] for index in range(12)}


def test_each_flow_gets_rows_that_are_signed_in_either_way() -> None:
    sent = dealt(dict.fromkeys(FLOWS, rows(12)))

    assert [{row.form.over for row in some} for some in sent.values()] == [{"changed", "original"}] * len(FLOWS)


def test_a_row_that_says_what_is_signed_keeps_it() -> None:
    sent = dealt(dict.fromkeys(FLOWS, rows(12, over="both")))

    assert {row.form.over for some in sent.values() for row in some} == {"both"}


def test_a_row_of_one_flow_is_sent_in_both_ways() -> None:
    assert {row.form.over for row in dealt({FLOWS[0]: rows(12)})[FLOWS[0]]} == {None}


def test_in_a_quick_run_each_of_many_refused_rows_is_sent_once_and_each_flow_gets_both_ways() -> None:
    sent = dealt_once(dict.fromkeys(FLOWS, rows(16)))

    assert sorted(row.label for some in sent.values() for row in some) == sorted(row.label for row in rows(16))
    assert [{row.form.over for row in some} for some in sent.values()] == [{"changed", "original"}] * len(FLOWS)


def test_a_row_of_one_flow_is_sent_there_whatever_its_place() -> None:
    first, *others = FLOWS
    alone = rows(16)[12:]

    sent = dealt({first: [*rows(12), *alone], **dict.fromkeys(others, rows(12))})

    assert {row.label for row in alone} <= {row.label for row in sent[first]}


def test_in_a_quick_run_each_of_many_accepted_rows_goes_to_one_flow_as_it_is() -> None:
    sent = dealt_once(dict.fromkeys(FLOWS, rows(0, accepted=8)))

    assert [len(some) for some in sent.values()] == [2] * len(FLOWS)
    assert {row.form.over for some in sent.values() for row in some} == {None}


def test_of_rows_that_differ_in_a_value_alone_the_first_is_of_its_kind() -> None:
    name = Change(set="domain.name", to="a")
    other_value = Change(set="domain.name", to="b")
    made = [
        row(id="one", changes=[name]),
        row(id="other-value", changes=[other_value]),
        row(id="other-part", changes=[Change(set="domain.version", to="a")]),
        row(id="other-way", changes=[Change(delete="domain.name")]),
        row(id="other-statement", changes=[name], judges=["ENV-140"]),
        row(id="accepted", accepted=True, changes=[name]),
        row(id="accepted-too", accepted=True, changes=[other_value]),
    ]

    kept = one_of_each_kind(dict.fromkeys(FLOWS, made))

    assert {tuple(row.label for row in some) for some in kept.values()} == {
        ("one", "other-part", "other-way", "other-statement", "accepted", "accepted-too")
    }
