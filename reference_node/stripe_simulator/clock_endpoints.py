"""The operations on test clocks."""

from __future__ import annotations

from reference_node.stripe_simulator.customers import Customer
from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.operations import Call, Operation
from reference_node.stripe_simulator.paging import CURSORS, Page
from reference_node.stripe_simulator.parameters import Integer, Text
from reference_node.stripe_simulator.store import new_id
from reference_node.stripe_simulator.test_clocks import TestClock

PATH = "/v1/test_helpers/test_clocks"


def _create(call: Call) -> TestClock:
    frozen = call.values.integer("frozen_time") or 0
    clock = TestClock(
        id=new_id(TestClock.prefix), created=call.store.now(), frozen_time=frozen, label=call.values.text("name")
    )
    call.store.add(clock)
    return clock


def _retrieve(call: Call) -> TestClock:
    return call.store.get(TestClock, call.target, "test_clock")


def _advance(call: Call) -> TestClock:
    clock, frozen = _retrieve(call), call.values.integer("frozen_time") or 0
    if frozen <= clock.frozen_time:
        message = f"The time to advance to has to be after the clock's, which is {clock.frozen_time}."
        raise StripeError(400, message, param="frozen_time")
    clock.frozen_time = frozen
    return clock


def _delete(call: Call) -> TestClock:
    clock = _retrieve(call)
    clock.deleted = True
    for customer in list(call.store.newest_first(Customer, clock.id)):
        customer.deleted = True
    return clock


def _list(call: Call) -> Page:
    return call.page_of(call.store.newest_first(TestClock))


OPERATIONS = (
    Operation("POST", PATH, _create, {"frozen_time": Integer(0), "name": Text(300)}, required=("frozen_time",)),
    Operation("GET", PATH, _list, CURSORS),
    Operation("GET", f"{PATH}/{{}}", _retrieve),
    Operation("POST", f"{PATH}/{{}}/advance", _advance, {"frozen_time": Integer(0)}, required=("frozen_time",)),
    Operation("DELETE", f"{PATH}/{{}}", _delete),
)
