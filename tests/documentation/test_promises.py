"""What README.md says of the suite as a whole."""

from __future__ import annotations

from conformance.resources import scenarios
from conformance.runner import load
from conformance.selftest.mutant import all_mutants


def test_every_requirement_that_checks_prove_is_broken_by_a_faulty_node() -> None:
    proved = {requirement for case in load([scenarios()]) for requirement in case.requirements}
    broken = {requirement for mutant in all_mutants() for requirement in mutant.breaks}
    assert proved - broken == set()
