"""To which flows the rows of the driver `typed_data` go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.drivers.envelopes.driver import dealt
from conformance.drivers.envelopes.forms import PRIMARY_TYPES, EnvelopeRow, Flow
from conformance.drivers.envelopes.requests import Changes
from conformance.drivers.envelopes.rows import Row


def rows(refused: int, accepted: int = 0) -> list[Row]:
    made = [EnvelopeRow(id=f"refused-{index}") for index in range(refused)]
    made += [EnvelopeRow(id=f"accepted-{index}", accepted=True) for index in range(accepted)]
    return [Row(form.id, form, lambda _: Changes([], None), lambda _: None) for form in made]


def flows_of(made: Sequence[Row], flows: Sequence[Flow]) -> dict[str, list[Flow]]:
    sent = dealt(dict.fromkeys(flows, made))
    return {row.label: [flow for flow, some in sent.items() if row in some] for row in made}


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
