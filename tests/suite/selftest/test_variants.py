"""The correct nodes of the self-test together leave no case out."""

from __future__ import annotations

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import not_offered
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants import VARIANTS
from conformance.selftest.variants.variant import Choices

REFERENCE = Choices({}, lambda _: None)


def test_every_case_is_for_some_correct_node() -> None:
    left = {case.id: case for case in load([scenarios()])}
    for node in (REFERENCE, *VARIANTS.values()):
        with target_node(node.alter, "0", node.profile) as target:
            left = {name: case for name, case in left.items() if not_offered(case, target)}
    assert not left, "no correct node shows that these can pass"
