"""To which flows the rows of the driver `typed_data` go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.drivers.envelopes.changes import Change
from conformance.drivers.envelopes.driver import dealt, dealt_once, one_of_each_kind
from conformance.drivers.envelopes.forms import PRIMARY_TYPES, EnvelopeRow, Flow
from conformance.drivers.envelopes.requests import Changes
from conformance.drivers.envelopes.rows import Row


def rows(refused: int, accepted: int = 0) -> list[Row]:
    made = [EnvelopeRow(id=f"refused-{index}") for index in range(refused)]
    made += [EnvelopeRow(id=f"accepted-{index}", accepted=True) for index in range(accepted)]
    return [Row(form.id, form, lambda _: Changes([], None), lambda _: None) for form in made]


def flows_of(made: Sequence[Row], flows: Sequence[Flow]) -> dict[str, list[Flow]]:
    sent = dealt(dict.fromkeys(flows, made))
    labels = {flow: [row.label for row in some] for flow, some in sent.items()}
    return {row.label: [flow for flow, some in labels.items() if row.label in some] for row in made}


@pytest.mark.parametrize("count", [3, 4])
def test_each_of_many_refused_rows_goes_to_two_flows_and_each_flow_gets_its_share(count: int) -> None:
    flows = list(PRIMARY_TYPES)[:count]

    sent = flows_of(rows(12), flows)

    assert {len(places) for places in sent.values()} == {2}
    assert {flow: sum(flow in places for places in sent.values()) for flow in flows} == dict.fromkeys(
        flows, 24 // count
    )


def test_few_refused_rows_and_all_accepted_ones_go_to_every_flow() -> None:
    flows = list(PRIMARY_TYPES)

    assert set(map(len, flows_of(rows(3), flows).values())) == {4}
    assert len(flows_of(rows(12, accepted=1), flows)["accepted-0"]) == 4


def test_rows_of_two_flows_go_to_both() -> None:
    assert set(map(len, flows_of(rows(12), list(PRIMARY_TYPES)[:2]).values())) == {2}


def test_a_row_of_two_flows_is_signed_as_sent_in_one_and_over_the_valid_envelope_in_the_other() -> None:
    sent = dealt(dict.fromkeys(PRIMARY_TYPES, rows(12)))

    over = {
        row.label: sorted(str(same.form.over) for some in sent.values() for same in some if same.label == row.label)
        for row in rows(12)
    }

    assert over == {f"refused-{index}": ["changed", "original"] for index in range(12)}


def test_each_flow_gets_rows_that_are_signed_in_either_way() -> None:
    sent = dealt(dict.fromkeys(PRIMARY_TYPES, rows(12)))

    assert [{row.form.over for row in some} for some in sent.values()] == [{"changed", "original"}] * len(PRIMARY_TYPES)


def test_a_row_that_says_what_is_signed_keeps_it() -> None:
    stated = [
        Row(row.label, row.form.model_copy(update={"over": "both"}), row.changes, row.new_admin) for row in rows(12)
    ]

    sent = dealt(dict.fromkeys(PRIMARY_TYPES, stated))

    assert {row.form.over for some in sent.values() for row in some} == {"both"}


def test_a_row_of_one_flow_is_sent_in_both_ways() -> None:
    (flow, *_) = PRIMARY_TYPES

    assert {row.form.over for row in dealt({flow: rows(12)})[flow]} == {None}


def test_in_a_quick_run_each_of_many_refused_rows_is_sent_once_and_each_flow_gets_both_ways() -> None:
    sent = dealt_once(dict.fromkeys(PRIMARY_TYPES, rows(16)))

    assert sorted(row.label for some in sent.values() for row in some) == sorted(row.label for row in rows(16))
    assert [{row.form.over for row in some} for some in sent.values()] == [{"changed", "original"}] * len(PRIMARY_TYPES)


def test_a_row_of_one_flow_is_sent_there_whatever_its_place() -> None:
    others = list(PRIMARY_TYPES)[1:]
    alone = rows(16)[12:]
    sent = dealt({next(iter(PRIMARY_TYPES)): [*rows(12), *alone], **dict.fromkeys(others, rows(12))})

    assert {row.label for row in alone} <= {row.label for row in sent[next(iter(PRIMARY_TYPES))]}


def test_in_a_quick_run_each_of_many_accepted_rows_goes_to_one_flow_as_it_is() -> None:
    sent = dealt_once(dict.fromkeys(PRIMARY_TYPES, rows(0, accepted=8)))

    assert [len(some) for some in sent.values()] == [2] * len(PRIMARY_TYPES)
    assert {row.form.over for some in sent.values() for row in some} == {None}


def test_of_rows_that_differ_in_a_value_alone_the_first_is_of_its_kind() -> None:
    forms = [
        EnvelopeRow(id="one", changes=[Change(set="domain.name", to="a")]),
        EnvelopeRow(id="other-value", changes=[Change(set="domain.name", to="b")]),
        EnvelopeRow(id="other-part", changes=[Change(set="domain.version", to="a")]),
        EnvelopeRow(id="other-way", changes=[Change(delete="domain.name")]),
        EnvelopeRow(id="other-statement", changes=[Change(set="domain.name", to="a")], judges=["ENV-140"]),
        EnvelopeRow(id="accepted", accepted=True, changes=[Change(set="domain.name", to="a")]),
        EnvelopeRow(id="accepted-too", accepted=True, changes=[Change(set="domain.name", to="b")]),
    ]
    made = [Row(form.id, form, lambda _: Changes([], None), lambda _: None) for form in forms]

    kept = one_of_each_kind(dict.fromkeys(PRIMARY_TYPES, made))

    assert {tuple(row.label for row in some) for some in kept.values()} == {
        ("one", "other-part", "other-way", "other-statement", "accepted", "accepted-too")
    }
