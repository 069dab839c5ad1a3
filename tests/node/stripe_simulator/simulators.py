"""Simulators for the tests, whose every answer is held against Stripe's description where that is at hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import description
import stripe

from reference_node.stripe_simulator.access import ApiKeys
from reference_node.stripe_simulator.exchange import Answer, ApiRequest, Exchange
from reference_node.stripe_simulator.in_process import InProcessClient
from reference_node.stripe_simulator.simulator import StripeSimulator
from reference_node.stripe_simulator.store import SimulatedClock

KEYS = ApiKeys("sk_test_secret", "pk_test_publishable")

START = 1_800_000_000

AUTOMATIC = {"enabled": True, "allow_redirects": "never"}


class CheckedSimulator(StripeSimulator):
    """A simulator at a time that stands still, whose answers are checked."""

    def __init__(self) -> None:
        super().__init__(KEYS, SimulatedClock(lambda: START))

    def complete(self, exchange: Exchange) -> Answer | None:
        """Answer, unless the answer is none that Stripe describes."""
        answer = super().complete(exchange)
        if answer is not None and exchange.operation is not None and shutil.which("go"):
            description.check(exchange.operation, answer.status, answer.body)
        return answer


class Caller:
    """Calls a simulator with one of its keys through the official SDK, without waiting between tries."""

    def __init__(self, simulator: StripeSimulator, key: str, tries: int = 1) -> None:
        self.client = stripe.StripeClient(
            key, http_client=InProcessClient(simulator, sleep=lambda _: None), max_network_retries=tries - 1
        )
        self.v1 = self.client.v1

    def intent(self, amount: int = 1000, **members: Any) -> stripe.PaymentIntent:
        """A new payment intent."""
        given: Any = {"amount": amount, "currency": "usd", "automatic_payment_methods": AUTOMATIC, **members}
        return self.v1.payment_intents.create(given)

    def paid(self, amount: int = 1000, **members: Any) -> stripe.PaymentIntent:
        """A payment intent that has succeeded."""
        return self.intent(amount, confirm=True, payment_method="pm_card_visa", **members)

    def confirm(self, intent: stripe.PaymentIntent, method: str = "pm_card_visa", **members: Any) -> Any:
        """The intent as it is once it is confirmed with this payment method."""
        return self.v1.payment_intents.confirm(intent.id, {"payment_method": method, **members})

    def found(self, intent: stripe.PaymentIntent, *expand: str) -> Any:
        """The intent as it now is."""
        return self.v1.payment_intents.retrieve(intent.id, {"expand": [*expand]})


@dataclass(frozen=True)
class RawAnswer:
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The value that it holds."""
        return json.loads(self.text)

    @property
    def error(self) -> dict[str, object]:
        """The error that it tells of."""
        error: dict[str, object] = self.json["error"]
        return error


class Raw:
    """Sends requests of any form."""

    def __init__(self, simulator: StripeSimulator, key: str | None) -> None:
        self._simulator = simulator
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}

    def request(self, method: str, path: str, text: bytes = b"", headers: Mapping[str, str] = {}) -> ApiRequest:
        """A request; the text is its body, or the query of one that has none."""
        query, body = (text, b"") if method == "GET" else (b"", text)
        return ApiRequest(method, path, query, {**self._headers, **headers}, body)

    def send(self, method: str, path: str, text: bytes = b"", headers: Mapping[str, str] = {}) -> RawAnswer:
        """The answer to such a request."""
        answer = self._simulator.complete(self._simulator.begin(self.request(method, path, text, headers)))
        assert answer is not None
        return RawAnswer(answer.status, answer.headers, answer.body.decode())


def refusal(call: Callable[[], object]) -> stripe.StripeError:
    """The error that a call ends with."""
    try:
        call()
    except stripe.StripeError as fault:
        return fault
    raise AssertionError("the call was not refused")
