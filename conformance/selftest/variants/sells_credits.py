"""A node whose accounts begin without credit: whoever wants to write has to buy some."""

from __future__ import annotations

from conformance.selftest.variants.variant import Choices
from reference_node.billing import Cents
from reference_node.billing.credits import Credits
from reference_node.node import Node


def _without_starter_credits(node: Node) -> None:
    assert isinstance(node.billing, Credits)  # noqa: S101 - the reference node's own
    node.billing.starter_credits = Cents(0)


sells_credits = Choices(
    profile={
        "accounts": {"credits": "bought"},
        "billing": {"insufficient_credit_behaviour": {"starting_cents": 0}},
    },
    alter=_without_starter_credits,
)
