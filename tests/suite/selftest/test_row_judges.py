"""A departure of an envelope's row is charged to the requirements that the row is about."""

from __future__ import annotations

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.mutants.envelope_types import types_are_not_checked
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Verdict

CASES = {case.id: case for case in load([scenarios()], ["envelopes"])}


def test_departure_of_a_row_is_charged_to_what_the_row_judges() -> None:
    with target_node(types_are_not_checked, "0") as target:
        outcome = run_case(CASES["envelopes::fields-of-the-types"], target)

    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert "version-chain-name" in outcome.failure.step, outcome.failure.step
    of_each_row = {"ENV-040", "ENV-050", "ENV-060", "ENV-070", "ENV-080", "ENV-090"}
    assert set(outcome.blamed) == of_each_row
    assert outcome.blamed[0] == "ENV-040", "the first row that failed is about the order of the domain's fields"
