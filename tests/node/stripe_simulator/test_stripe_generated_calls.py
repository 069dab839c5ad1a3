"""Calls drawn at random from what the simulator takes get answers that Stripe's description allows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlencode

import pytest
from simulators import KEYS, Caller, CheckedSimulator, Raw

from reference_node.stripe_simulator.endpoints import OPERATIONS
from reference_node.stripe_simulator.operations import Operation
from reference_node.stripe_simulator.parameters import (
    Boolean,
    Choice,
    Integer,
    Kind,
    Metadata,
    Nested,
    Texts,
)
from reference_node.stripe_simulator.test_methods import TEST_METHODS

SIMULATORS, CALLS = 4, 8
"""So many of each operation at so many simulators."""

WRONG = ("", "x", "-1", "cus_unknown", "é" * 600)
"""What a parameter is now and then, whatever it takes."""

Ids = Mapping[str, Sequence[str]]


def ids_of(simulator: CheckedSimulator) -> Ids:
    """Objects in several states: ids by the last word of the paths and parameters that take one."""
    merchant = Caller(simulator, KEYS.secret)
    customers = [merchant.v1.customers.create({"email": "a@example.com"}).id for _ in range(2)]
    paid = merchant.paid()
    return {
        "customer": customers,
        "payment_intent": [merchant.intent(payment_method="pm_card_visa").id, merchant.intent().id, paid.id],
        "payment_method": [*TEST_METHODS],
        "charge": [str(paid.latest_charge)],
        "refund": [merchant.v1.refunds.create({"payment_intent": paid.id, "amount": 50}).id],
        "currency": ["usd", "eur"],
        "return_url": ["https://example.com"],
        "amount": ["100", "1000"],
        "expand": ["customer", "data.customer", "latest_charge", "amount"],
    }


def members(draw: random.Random, known: Mapping[str, Kind], required: Sequence[str]) -> dict[str, Kind]:
    """The required ones and a few others."""
    return {name: kind for name, kind in known.items() if name in required or draw.randrange(4) == 0}


def drawn(draw: random.Random, ids: Ids, name: str, full: str, kind: Kind) -> Iterator[tuple[str, str]]:
    """Form fields for one parameter, mostly what it takes."""
    if draw.randrange(12) == 0:
        yield full, draw.choice(WRONG)
    elif isinstance(kind, Nested):
        for member, inner in members(draw, kind.members, kind.required).items():
            yield from drawn(draw, ids, member, f"{full}[{member}]", inner)
    elif isinstance(kind, Metadata):
        yield f"{full}[a]", draw.choice(["1", ""])
    elif isinstance(kind, Texts):
        yield f"{full}[]", draw.choice(ids[name])
    elif isinstance(kind, Choice):
        yield full, draw.choice(list(kind.words))
    elif isinstance(kind, Boolean):
        yield full, draw.choice(["true", "false"])
    else:
        usual = ["1", "50", "2000"] if isinstance(kind, Integer) else ["text"]
        yield full, draw.choice(ids.get(name, usual))


def target(operation: Operation) -> str:
    """Which of the objects stands in the path."""
    return operation.path.partition("/{}")[0].rpartition("/")[2].removesuffix("s")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_generated_calls_get_answers_that_are_described(operation: Operation) -> None:
    draw = random.Random(f"{operation.method} {operation.path}")  # noqa: S311 - no secret
    statuses: Counter[int] = Counter()
    for _ in range(SIMULATORS):
        simulator = CheckedSimulator()  # which holds each answer against the description
        ids = ids_of(simulator)
        for _ in range(CALLS):
            path = operation.path.replace("{}", draw.choice(ids[target(operation)]) if "{}" in operation.path else "")
            chosen = members(draw, operation.known, operation.required)
            fields = [field for name, kind in chosen.items() for field in drawn(draw, ids, name, name, kind)]
            answer = Raw(simulator, KEYS.secret).send(operation.method, path, urlencode(fields).encode())
            statuses[answer.status] += 1
    assert statuses[200], statuses
    assert set(statuses) <= {200, 400, 402, 404, 409}, statuses
